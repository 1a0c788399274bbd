//! What an audit of a mechanism says.

use std::fmt;

use crate::Method;
use crate::harness::Found;

/// One total of a receipt, and the worst that was found about it.
#[derive(Clone, Debug, PartialEq)]
pub struct Finding {
    /// Of which setting.
    pub setting: String,
    /// In which measure, for example `epsilon` or `rho`.
    pub measure: String,
    /// By the exact law, or by what each draw of a run gives away.
    pub method: Method,
    /// Claimed, worst, where, and how many cases.
    pub found: Found,
}

impl Finding {
    /// How much of the claim is used; 1 means that nothing is wasted.
    pub fn tightness(&self) -> f64 {
        self.found.worst / self.found.claimed
    }

    /// The smallest overspend, as a factor, that these cases would have shown.
    pub fn resolution(&self) -> f64 {
        (self.found.claimed / self.found.worst).max(crate::harness::TOLERANCE)
    }
}

/// What an audit has found about a mechanism in all of its settings.
///
/// Printed, it says everything; [`stands`](Self::stands) is the verdict.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Findings {
    /// Of the mechanism, from its receipt.
    pub mechanism: String,
    /// Between which data sets.
    pub relation: String,
    /// One per setting, measure and method.
    pub findings: Vec<Finding>,
    /// Leaves of receipts that were never drawn: nothing has been shown about them.
    pub unreached_steps: Vec<String>,
    /// Settings in which nothing was compared.
    pub unreached_settings: Vec<String>,
    /// What the audit could not look at, and why.
    pub remarks: Vec<String>,
}

impl Findings {
    /// Whether every claim survives, and everything there is was reached. What was not reached has not passed.
    pub fn stands(&self) -> bool {
        !self.findings.is_empty()
            && self.findings.iter().all(|finding| finding.found.stands())
            && self.unreached_steps.is_empty()
            && self.unreached_settings.is_empty()
    }

    /// As one finding for a [`Check`](crate::harness::Check): the worst of all as a multiple of its claim, infinite
    /// if something was not reached.
    pub fn found(&self) -> Found {
        let mut all = Found::claim(1.0);
        for finding in &self.findings {
            let Found { worst, witness, cases, .. } = finding.found.clone();
            // Of a claim of nothing, any loss is too much; none is fine.
            let share = if worst == 0.0 { 0.0 } else { worst / finding.found.claimed };
            let at = || format!("{} {}: {witness}", finding.setting, finding.measure);
            all.see(share, at);
            all.cases += cases.saturating_sub(1);
            if cases == 0 {
                all.see(f64::INFINITY, || format!("{}: nothing compared", finding.setting));
            }
        }
        for what in self.unreached_steps.iter().chain(&self.unreached_settings) {
            all.see(f64::INFINITY, || format!("never reached: {what}"));
        }
        all
    }
}

impl fmt::Display for Findings {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let verdict = if self.stands() { "stands" } else { "DOES NOT STAND" };
        writeln!(f, "{} under {}: {verdict}", self.mechanism, self.relation)?;
        for finding in &self.findings {
            let Found { claimed, worst, witness, cases } = &finding.found;
            let verdict = if finding.found.stands() { "stands" } else { "BROKEN" };
            writeln!(
                f,
                "  {verdict} {} {} ({:?}): claimed {claimed:.6}, worst {worst:.6}, tightness {:.1} %, resolution {:.3}, {cases} cases",
                finding.setting,
                finding.measure,
                finding.method,
                100.0 * finding.tightness(),
                finding.resolution(),
            )?;
            writeln!(f, "    where: {witness}")?;
        }
        for step in &self.unreached_steps {
            writeln!(f, "  NEVER REACHED: step `{step}`")?;
        }
        for setting in &self.unreached_settings {
            writeln!(f, "  NEVER REACHED: setting `{setting}`")?;
        }
        for remark in &self.remarks {
            writeln!(f, "  {remark}")?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn with(claimed: f64, losses: &[f64]) -> Findings {
        let mut found = Found::claim(claimed);
        for loss in losses {
            found.see(*loss, || "here".to_owned());
        }
        let (setting, measure) = ("plain".to_owned(), "epsilon".to_owned());
        let finding = Finding { setting, measure, method: Method::Exact, found };
        Findings { findings: vec![finding], ..Findings::default() }
    }

    /// One finding for a check is as bad as all of them, and says so in words.
    #[test]
    fn what_does_not_stand_is_no_finding_that_does() {
        let told = || vec!["one".to_owned()];
        let stands = [with(1.0, &[0.5, 1.0]), with(0.0, &[0.0])];
        let broken = [
            Findings::default(),
            with(1.0, &[]),
            with(1.0, &[0.5, 1.1]),
            with(1.0, &[f64::NAN, 0.5]),
            with(0.0, &[1e-9]),
            Findings { unreached_steps: told(), ..with(1.0, &[0.5]) },
            Findings { unreached_settings: told(), ..with(1.0, &[0.5]) },
        ];
        for (findings, expected) in
            stands.iter().map(|one| (one, true)).chain(broken.iter().map(|one| (one, false)))
        {
            assert_eq!([findings.stands(), findings.found().stands()], [expected; 2], "{findings}");
            assert_eq!(findings.to_string().contains(": stands"), expected, "{findings}");
        }
        let half = with(2.0, &[0.5, 1.0]).found();
        assert!((half.worst - 0.5).abs() < 1e-15 && half.cases == 2, "{half:?}");
    }
}
