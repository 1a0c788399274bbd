//! The totals of a receipt, and the worst seen of each.

use dp_accounting::{Receipt, Relation};

use super::report::Finding;
use crate::harness::Found;
use crate::{Comparison, Law, Method};

/// What a receipt claims in one measure.
#[derive(Clone, Copy)]
enum Measure {
    Pure,
    Zcdp,
    Gaussian,
    /// Delta, at this epsilon.
    Approximate(f64),
}

struct Total {
    measure: Measure,
    by_law: Found,
    by_transcript: Found,
}

pub(super) struct Totals {
    two_sided: bool,
    claims: Vec<Total>,
    /// What is spent against what was asked for.
    budget: Found,
}

impl Totals {
    pub(super) fn of<L: Relation>(receipt: &Receipt<L>) -> Self {
        let mut claims = Vec::new();
        claims.extend(receipt.pure().map(|epsilon| (Measure::Pure, epsilon.get())));
        claims.extend(receipt.zcdp().map(|rho| (Measure::Zcdp, rho.get())));
        claims.extend(receipt.gaussian().map(|mu| (Measure::Gaussian, mu.get())));
        let delta = receipt.budget().delta().get();
        if let (true, Some(epsilon)) = (claims.is_empty(), receipt.epsilon()) {
            claims.push((Measure::Approximate(epsilon.get()), delta));
        }
        let total = |(measure, claimed)| {
            let (by_law, by_transcript) = (Found::claim(claimed), Found::claim(claimed));
            Total { measure, by_law, by_transcript }
        };
        let asked = receipt.budget().epsilon().get();
        let mut budget = Found::claim(asked);
        let spent = receipt.epsilon().map_or(f64::INFINITY, dp_accounting::Epsilon::get);
        let within = receipt.within_budget();
        budget.see(if within { spent.min(asked) } else { f64::INFINITY }, || {
            format!("epsilon of {spent} at a delta of {delta}")
        });
        Self { two_sided: L::TWO_SIDED, claims: claims.into_iter().map(total).collect(), budget }
    }

    /// The law on the first data set of a pair, and on the second.
    pub(super) fn see_laws<O: Ord>(&mut self, p: &Law<O>, q: &Law<O>, how: &str) {
        for total in &mut self.claims {
            let loss = match total.measure {
                Measure::Pure => p.pure_loss(q),
                Measure::Zcdp => p.zcdp(q),
                Measure::Approximate(epsilon) => p.charged_delta(q, epsilon),
                // A law has no distance in standard deviations; transcripts do.
                Measure::Gaussian => continue,
            };
            total.by_law.see(loss.max(0.0), || how.to_owned());
        }
    }

    pub(super) fn see_transcript(&mut self, comparison: &Comparison, how: &str) {
        let failed = comparison.failed();
        if comparison.steps.is_empty() && !failed {
            return; // neither drew, and both released the same
        }
        for total in &mut self.claims {
            let loss = match total.measure {
                Measure::Pure if self.two_sided => comparison.pure_loss(),
                Measure::Pure => comparison.forward_loss(),
                Measure::Zcdp => comparison.rho(),
                Measure::Gaussian => (2.0 * comparison.rho()).sqrt(),
                // Losses of steps do not add up to a delta; that nothing else depends on the data is seen.
                Measure::Approximate(_) if failed => f64::INFINITY,
                Measure::Approximate(_) => 0.0,
            };
            let what = if let Some(why) = &comparison.refused {
                why.to_string()
            } else if !comparison.outputs_equal {
                "other outputs for the same draws".to_owned()
            } else if let Some(draw) = comparison.diverged {
                format!("draw number {draw} has no counterpart")
            } else {
                format!("{} draws", comparison.steps.len())
            };
            total.by_transcript.see(loss.max(0.0), || format!("{how}: {what}"));
        }
    }

    /// Something that costs everything.
    pub(super) fn see_failure(&mut self, how: &str) {
        for total in &mut self.claims {
            total.by_transcript.see(f64::INFINITY, || how.to_owned());
        }
    }

    /// One finding for each measure and method that saw something.
    pub(super) fn into_findings(self, setting: &str) -> (Vec<Finding>, Option<String>) {
        let none = self.claims.is_empty().then(|| format!("{setting} receipt states no total"));
        let finding = |measure: String, method, found| {
            let setting = setting.to_owned();
            Finding { setting, measure, method, found }
        };
        let mut findings = Vec::new();
        for total in self.claims {
            let name = match total.measure {
                Measure::Pure => "epsilon".to_owned(),
                Measure::Zcdp => "rho".to_owned(),
                Measure::Gaussian => "mu".to_owned(),
                Measure::Approximate(epsilon) => format!("delta at epsilon {epsilon:.6}"),
            };
            for (how, found) in [("law", total.by_law), ("transcripts", total.by_transcript)] {
                if found.cases > 0 {
                    findings.push(finding(format!("{name} by {how}"), Method::Exact, found));
                }
            }
        }
        if !self.budget.stands() {
            findings.push(finding("what was asked for".to_owned(), Method::Ledger, self.budget));
        }
        (findings, none)
    }
}
