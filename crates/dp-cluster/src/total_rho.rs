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
    use crate::coreset::{CoresetFromCentres, CoresetFromCentresSettings};
    use crate::dp_lloyd::{DpLloyd, DpLloydSettings};
    use crate::dpm::{Dpm, DpmSettings};
    use crate::em_mc::{EmMc, EmMcSettings};
    use crate::lsh_splits::{self, LshSplits, LshSplitsSettings};
    use crate::recentring::{DpmRecentred, DpmRecentredSettings};

    /// Where a delta is nearly 1, nearly everything is possible at no epsilon; a search for the least noise ends there too, and within the budget.
    #[test]
    fn the_largest_deltas_are_calibrated() {
        for delta in [0.9, 0.9999, 1.0 - 1e-9] {
            let budget = Budget::new(1.0, delta).expect("valid");
            let ball = || PublicBall::new(vec![0.0, 0.0], 1.0).expect("valid");
            for split in [lsh_splits::BudgetSplit::default(), lsh_splits::BudgetSplit::PAPER] {
                let settings = LshSplitsSettings { split, ..Default::default() };
                let plan = LshSplits::new(ball(), 3, budget, settings).expect("a large delta");
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
            let split = lsh_splits::BudgetSplit::PAPER;
            let published = LshSplitsSettings { split, ..Default::default() };
            let refusals = [
                Dpm::new(cube(), budget, DpmSettings::default()).err(),
                DpmRecentred::new(cube(), budget, DpmRecentredSettings::default()).err(),
                DpLloyd::new(cube(), 3, budget, DpLloydSettings::default()).err(),
                LshSplits::new(ball(), 3, budget, LshSplitsSettings::default()).err(),
                LshSplits::new(ball(), 3, budget, published).err(),
                EmMc::new(cube(), 3, budget, EmMcSettings::default()).err(),
                CoresetFromCentres::new(centres, budget, CoresetFromCentresSettings::default())
                    .err(),
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
