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

#[cfg(test)]
mod tests {
    use approx::assert_abs_diff_eq;
    use dp_accounting::{AddOnly, AddRemove, Budget, Delta, Epsilon, Loss, Mu, Rho, Step};

    use super::*;
    use crate::promises::Promises;
    use crate::{DrawKind, StepLoss};

    fn receipt<L: Relation>(relation: L, asked: f64, loss: Loss) -> Receipt<L> {
        let budget = Budget::new(asked, 1e-9).expect("valid");
        Receipt::new("x", relation, budget, Step::spend("x", loss))
    }

    fn epsilon(x: f64) -> Epsilon {
        Epsilon::new(x).expect("valid")
    }

    /// The worst that was found in each measure, by name.
    fn worst(totals: Totals) -> Vec<(String, f64)> {
        let (findings, _) = totals.into_findings("plain");
        findings.into_iter().map(|one| (one.measure, one.found.worst)).collect()
    }

    fn seen(relation: dp_accounting::AnyRelation, failed: bool) -> Comparison {
        Comparison {
            relation,
            refused: None,
            steps: vec![StepLoss { kind: DrawKind::Noisy, forward: 0.2, backward: 0.5, rho: 0.08 }],
            diverged: None,
            overdrawn: None,
            outputs_equal: !failed,
        }
    }

    /// All that a receipt claims is tried, each in its own measure: pure loss in the direction of the relation.
    #[test]
    fn a_transcript_is_held_against_every_total() {
        fn of<L: Relation>(relation: L, loss: Loss, failed: bool) -> Vec<(String, f64)> {
            let mut totals = Totals::of(&receipt(relation, 9.0, loss));
            totals.see_transcript(&seen(relation.any(), failed), "here");
            worst(totals)
        }
        let pure = Loss::Pure { epsilon: epsilon(0.5) };
        let zcdp = Loss::Zcdp { rho: Rho::new(0.1).expect("valid") };
        let gaussian = Loss::Gaussian { mu: Mu::new(0.5).expect("valid") };
        let delta = Delta::new(1e-9).expect("valid");
        let approximate = Loss::Approximate { epsilon: epsilon(0.5), delta };
        let rho = ("rho by transcripts", 0.08);
        let mu = ("mu by transcripts", 0.4);
        let eps = |loss| ("epsilon by transcripts", loss);
        for (found, expected) in [
            (of(AddRemove, pure, false), vec![eps(0.5), rho, mu]),
            (of(AddOnly, pure, false), vec![eps(0.2), rho]),
            (of(AddRemove, zcdp, false), vec![rho]),
            (of(AddRemove, gaussian, false), vec![rho, mu]),
            (
                of(AddRemove, approximate, false),
                vec![("delta at epsilon 0.500000 by transcripts", 0.0)],
            ),
        ] {
            let names =
                |all: &[(String, f64)]| all.iter().map(|one| one.0.clone()).collect::<Vec<_>>();
            let expected: Vec<(String, f64)> =
                expected.into_iter().map(|(name, loss)| (name.to_owned(), loss)).collect();
            assert_eq!(names(&found), names(&expected));
            for (found, expected) in found.iter().zip(&expected) {
                assert_abs_diff_eq!(found.1, expected.1, epsilon = 1e-12);
            }
        }
        for loss in [pure, zcdp, gaussian, approximate] {
            let found = of(AddRemove, loss, true);
            assert!(!found.is_empty() && found.iter().all(|one| one.1.is_infinite()), "{found:?}");
        }
    }

    /// Two runs that drew nothing and released the same have shown nothing. If they parted before the first draw, or released other things,
    /// they have shown everything.
    #[test]
    fn runs_that_part_before_they_draw_are_a_loss() {
        let nothing = Comparison { steps: Vec::new(), ..seen(AddRemove.any(), false) };
        let parted = Comparison { diverged: Some(0), ..nothing.clone() };
        let unequal = Comparison { outputs_equal: false, ..nothing.clone() };
        for (comparison, shown) in [(nothing, false), (parted, true), (unequal, true)] {
            let pure = Loss::Pure { epsilon: epsilon(0.5) };
            let mut totals = Totals::of(&receipt(AddRemove, 9.0, pure));
            totals.see_transcript(&comparison, "here");
            let found = worst(totals);
            assert_eq!(!found.is_empty(), shown, "{comparison:?}: {found:?}");
            assert!(found.iter().all(|one| one.1.is_infinite()), "{comparison:?}: {found:?}");
        }
    }

    /// In the order of the pair, and with all that the window does not hold.
    #[test]
    fn laws_are_held_against_every_total_that_they_have() {
        let law = |paths: [(i32, f64, bool); 3]| Law::from_paths(paths, Promises::default());
        let p = law([(0, 0.5, false), (1, 0.49, false), (2, 0.01, true)]);
        let q = law([(0, 0.2, false), (1, 0.79, false), (2, 0.01, true)]);
        let of = |loss: Loss, p: &Law<i32>, q: &Law<i32>| {
            let mut totals = Totals::of(&receipt(AddOnly, 9.0, loss));
            totals.see_laws(p, q, "here");
            worst(totals)
        };
        let pure = Loss::Pure { epsilon: epsilon(0.5) };
        for (a, b) in [(&p, &q), (&q, &p)] {
            let found = of(pure, a, b);
            assert_eq!(found.len(), 2, "{found:?}");
            assert_abs_diff_eq!(found[0].1, a.pure_loss(b), epsilon = 1e-12);
            assert_abs_diff_eq!(found[1].1, a.zcdp(b), epsilon = 1e-12);
        }
        let delta = Delta::new(1e-9).expect("valid");
        let found = of(Loss::Approximate { epsilon: epsilon(2.0), delta }, &p, &q);
        assert_abs_diff_eq!(found[0].1, 0.01, epsilon = 1e-12);
    }

    /// However the rest stands: a receipt that spends more than was asked for is not one for that budget.
    #[test]
    fn a_receipt_beyond_its_budget_does_not_stand() {
        for (asked, stands) in [(0.4, false), (0.5, true), (0.6, true)] {
            let receipt = receipt(AddRemove, asked, Loss::Pure { epsilon: epsilon(0.5) });
            let mut totals = Totals::of(&receipt);
            totals.see_transcript(&seen(AddRemove.any(), false), "here");
            let (findings, _) = totals.into_findings("plain");
            let broken: Vec<&str> = findings
                .iter()
                .filter(|one| !one.found.stands())
                .map(|one| one.measure.as_str())
                .collect();
            assert_eq!(broken, if stands { vec![] } else { vec!["what was asked for"] });
        }
    }
}
