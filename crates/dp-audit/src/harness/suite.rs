//! All claims and mutants of one crate.

use super::{Check, Effort, MutantCheck, claim_line, mutant_line};
use crate::{AuditReport, Claim, Mutant};

/// What a crate claims, and how its checks are checked.
#[derive(Debug)]
pub struct Suite {
    /// `env!("CARGO_PKG_NAME")`.
    pub crate_name: &'static str,
    /// `env!("CARGO_MANIFEST_DIR")`: in its `src`, every type with a release must be named by a check.
    pub folder: &'static str,
    /// One per claim.
    pub checks: Vec<Check>,
    /// Broken forms that checks of the same kind must catch.
    pub mutants: Vec<MutantCheck>,
}

impl Suite {
    /// The ids that [`run`](Self::run) can be asked for: claims, mutants, and numbers of mutants, which stand
    /// for all of their forms.
    pub fn ids(&self) -> Vec<&str> {
        let mut ids: Vec<&str> = self.checks.iter().map(|check| check.id.as_str()).collect();
        for row in self.mutants.iter().map(|mutant| &mutant.row) {
            for name in [row.number(), &row.id] {
                if !ids.contains(&name) {
                    ids.push(name);
                }
            }
        }
        ids
    }

    /// Runs everything, or what `only` names, in order, and tells each result as it comes.
    pub fn run(
        &self,
        effort: Effort,
        only: &[String],
        tell: &mut dyn FnMut(String),
    ) -> AuditReport {
        let wanted = |id: &str| only.is_empty() || only.iter().any(|name| name == id);
        let mut report = AuditReport::default();
        for check in self.checks.iter().filter(|check| wanted(&check.id)) {
            let claim = check.claim(self.crate_name, effort);
            tell(claim_line(&claim));
            report.claims.push(claim);
        }
        for check in self.mutants.iter().filter(|c| wanted(&c.row.id) || wanted(c.row.number())) {
            let mutant = check.mutant(effort);
            tell(mutant_line(&mutant, &check.row, effort));
            report.mutants.push(mutant);
        }
        report
    }
}

/// Why a claim fails as a test.
pub(super) fn complaint_about_claim(claim: &Claim) -> Result<(), String> {
    if claim.pass { Ok(()) } else { Err(claim_line(claim)) }
}

/// Why a mutant fails as a test.
pub(super) fn complaint_about_mutant(mutant: &Mutant, line: String) -> Result<(), String> {
    // A twin with next to no loss would pass any check; samples show less than there is.
    let least = if mutant.layer == "statistical" { 0.1 } else { 0.25 };
    if !(mutant.caught && mutant.twin_passed) {
        Err(line)
    } else if mutant.twin_worst > least {
        Ok(())
    } else {
        Err(format!("a twin that proves little: {line}"))
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Found, mutants};
    use super::*;
    use crate::Method;

    fn seen(claimed: f64, loss: f64) -> Found {
        let mut found = Found::claim(claimed);
        found.see(loss, || "here".to_owned());
        found
    }

    fn suite() -> Suite {
        let check = |id: &str, loss: f64| {
            Check::new(id, "Mine", "add-remove", Method::Exact, move |_| seen(1.0, loss))
        };
        let row = |id: &str| {
            format!(
                "[[mutant]]\nid = \"{id}\"\nwhat = \"x\"\nreference = \"y\"\nlayer = \"exact\"\nexpected = 2.0\nseconds = 1.0\n"
            )
        };
        let table = [row("M1"), row("M1-twice")].concat();
        let code: [super::super::MutantCode; 2] = [
            ("M1", |_| seen(1.0, 2.0), |_| seen(1.0, 1.0)),
            ("M1-twice", |_| seen(1.0, 2.0), |_| seen(1.0, 0.01)),
        ];
        let checks = vec![check("good", 0.5), check("bad", 1.5)];
        Suite { crate_name: "dp-mine", folder: "", checks, mutants: mutants(&table, &code) }
    }

    #[test]
    fn what_is_asked_for_runs_and_is_told() {
        let (suite, mut told) = (suite(), Vec::new());
        assert_eq!(suite.ids(), ["good", "bad", "M1", "M1-twice"]);
        let report = suite.run(Effort::quick(), &[], &mut |line| told.push(line));
        assert_eq!((report.claims.len(), report.mutants.len(), told.len()), (2, 2, 4));
        assert!(told[1].starts_with("BROKEN  bad") && told[1].ends_with("witness: here"));
        assert!(!report.pass());
        let few = suite.run(Effort::quick(), &["M1".to_owned()], &mut |_| {});
        assert_eq!((few.claims.len(), few.mutants.len()), (0, 2));
    }

    /// What is asked for by name is run, be it a claim, a form of a mutant or all of its forms, and nothing else.
    #[test]
    fn each_name_runs_what_it_names() {
        let suite = suite();
        for (name, runs) in [
            ("good", &["good"][..]),
            ("bad", &["bad"]),
            ("M1", &["M1", "M1-twice"]),
            ("M1-twice", &["M1-twice"]),
        ] {
            let report = suite.run(Effort::quick(), &[name.to_owned()], &mut |_| {});
            let claims = report.claims.iter().map(|claim| claim.id.as_str());
            let ran: Vec<&str> =
                claims.chain(report.mutants.iter().map(|one| one.id.as_str())).collect();
            assert_eq!(ran, runs, "{name}");
        }
    }

    /// Lines and the last line of a run say what its report does.
    #[test]
    fn what_is_told_is_what_was_found() {
        use super::super::{MutantCode, summary};
        let code: [MutantCode; 2] = [
            ("M1", |_| seen(1.0, 1.0), |_| seen(1.0, 1.0)),
            ("M1-twice", |_| seen(1.0, 2.0), |_| seen(1.0, 3.0)),
        ];
        let mut suite = suite();
        for (mutant, (_, broken, twin)) in suite.mutants.iter_mut().zip(code) {
            (mutant.mutant, mutant.twin) = (broken, twin);
        }
        let mut told = Vec::new();
        let report = suite.run(Effort::quick(), &[], &mut |line| told.push(line));
        assert!(told[0].starts_with("stands ") && told[1].starts_with("BROKEN "), "{told:?}");
        assert!(told[2].starts_with("MISSED ") && told[2].contains("twin passes"), "{told:?}");
        assert!(told[3].starts_with("caught ") && told[3].contains("TWIN FLAGGED"), "{told:?}");
        let expected = "1 of 2 claims stand, 1 of 2 mutants caught, 1 twins flagged (seed 1)";
        assert_eq!(summary(&report, Effort::quick()), expected);
    }

    #[test]
    fn as_a_test_a_broken_claim_fails_and_so_does_a_twin_that_proves_little() {
        let report = suite().run(Effort::quick(), &[], &mut |_| {});
        assert!(complaint_about_claim(&report.claims[0]).is_ok());
        assert!(complaint_about_claim(&report.claims[1]).is_err());
        let of = |mutant| complaint_about_mutant(mutant, String::new());
        assert!(of(&report.mutants[0]).is_ok());
        assert!(of(&report.mutants[1]).is_err_and(|why| why.starts_with("a twin that proves")));
    }
}
