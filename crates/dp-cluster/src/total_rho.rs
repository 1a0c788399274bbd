//! The whole budget as zCDP or as Gaussian DP, or why it is none.

use dp_accounting::{Budget, Mu, Rho, budget_to_mu, budget_to_zcdp};

use crate::ClusterError;

/// The largest `rho` that keeps `budget`.
///
/// # Errors
/// [`ClusterError::Setting`] without a delta, and for a budget so small that no `rho` above 0 keeps it.
pub(crate) fn total_rho(budget: Budget) -> Result<Rho, ClusterError> {
    budget_to_zcdp(budget).ok_or_else(|| none_of(budget))
}

/// The largest `mu` whose exact curve keeps `budget`: for a mechanism that has nothing but Gaussian noise.
///
/// # Errors
/// As [`total_rho`].
pub(crate) fn total_mu(budget: Budget) -> Result<Mu, ClusterError> {
    budget_to_mu(budget).ok_or_else(|| none_of(budget))
}

fn none_of(budget: Budget) -> ClusterError {
    let (epsilon, delta) = (budget.epsilon().get(), budget.delta().get());
    let (name, got, want) = if delta > 0.0 {
        ("epsilon", epsilon, "large enough for Gaussian noise of any size")
    } else {
        ("delta", delta, "above 0: the sums have Gaussian noise")
    };
    ClusterError::Setting { name, got, want }
}

#[cfg(test)]
mod tests {
    use dp_geometry::{Points, PublicBall, PublicBox};
    use dp_mechanism::Mechanism as _;

    use super::*;
    use crate::coreset::CoresetFromCentres;
    use crate::dp_lloyd::DpLloyd;
    use crate::dpm::Dpm;
    use crate::em_mc::EmMc;
    use crate::lsh_splits::{self, LshSplits};
    use crate::recentring::DpmRecentred;

    /// Where a delta is nearly 1, nearly everything is possible at no epsilon; a search for the least noise ends there too, and within the budget.
    #[test]
    fn the_largest_deltas_are_calibrated() {
        for delta in [0.9, 0.9999, 1.0 - 1e-9] {
            let budget = Budget::new(1.0, delta).expect("valid");
            let ball = || PublicBall::new(vec![0.0, 0.0], 1.0).expect("valid");
            for split in [None, Some(lsh_splits::BudgetSplit::PAPER)] {
                let builder = LshSplits::builder(ball(), 3, budget);
                let plan = match split {
                    None => builder.build(),
                    Some(split) => builder.split(split).build(),
                };
                let plan = plan.expect("a large delta");
                assert!(plan.receipt().within_budget(), "{}", plan.receipt());
            }
        }
    }

    /// Budgets whose zCDP is below the smallest float, or their noise above the largest: every plan is refused with a reason.
    #[test]
    fn the_smallest_budgets_are_refused() {
        for (epsilon, delta) in [(1e-300, 1e-300), (1e-170, 1e-6), (5e-324, 5e-324)] {
            let budget = Budget::new(epsilon, delta).expect("valid");
            let cube = || PublicBox::new(vec![0.0, 0.0], vec![1.0, 1.0]).expect("valid");
            let ball = || PublicBall::new(vec![0.0, 0.0], 1.0).expect("valid");
            let centres = Points::new(vec![0.5, 0.5], 2).expect("valid");
            let refusals = [
                Dpm::builder(cube(), budget).build().err(),
                DpmRecentred::builder(cube(), budget).build().err(),
                DpLloyd::builder(cube(), 3, budget).build().err(),
                LshSplits::builder(ball(), 3, budget).build().err(),
                LshSplits::builder(ball(), 3, budget)
                    .split(lsh_splits::BudgetSplit::PAPER)
                    .build()
                    .err(),
                EmMc::builder(cube(), 3, budget).build().err(),
                CoresetFromCentres::builder(centres, budget).build().err(),
            ];
            for (i, refusal) in refusals.into_iter().enumerate() {
                // A coreset draws so little that a delta alone can pay for it.
                if i == 6 && delta > 1e-100 {
                    continue;
                }
                let message = refusal.map(|error| error.to_string()).unwrap_or_default();
                assert!(!message.is_empty(), "{i} was built within epsilon {epsilon:e}");
            }
        }
    }
}
