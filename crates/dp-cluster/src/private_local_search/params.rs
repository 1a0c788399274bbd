//! The public settings, and the check that turns them into a plan.

use dp_accounting::Budget;
use dp_geometry::{Points, PublicBox};
use dp_mechanism::NoisyCount;
use serde::{Deserialize, Serialize};

use super::PrivateLocalSearch;
use super::choices::{Spending, SwapPlan, farthest_first};
use crate::ClusterError;
use crate::kmeans::{KMeans, MAX_MAGNITUDE};
use crate::local_search::Objective;
use crate::total_rho::total_rho;

/// Public settings of [`PrivateLocalSearch`]; made by [`PrivateLocalSearch::builder`].
///
/// Serialises as plain settings; a plan is read back through [`build`](Self::build), so that a file
/// cannot bypass its checks.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct PrivateLocalSearchBuilder {
    pub(super) candidates: Points,
    pub(super) public_box: PublicBox,
    pub(super) k: usize,
    pub(super) budget: Budget,
    pub(super) objective: Objective,
    pub(super) rounds: Option<usize>,
    pub(super) start: Option<Vec<usize>>,
}

/// What the noisy sizes of the clusters get of the budget.
pub(crate) const SIZES: f64 = 0.05;

impl PrivateLocalSearchBuilder {
    pub(super) fn new(candidates: Points, public_box: PublicBox, k: usize, budget: Budget) -> Self {
        let objective = Objective::KMeans;
        Self { candidates, public_box, k, budget, objective, rounds: None, start: None }
    }

    /// What is minimised. Default: [`Objective::KMeans`].
    #[must_use]
    pub fn objective(mut self, objective: Objective) -> Self {
        self.objective = objective;
        self
    }

    /// How many swaps, 1 to 100,000. Default: `3 k`, or 100,000 if that is less. The papers' guarantees ask for about `2 k ln n` and more, which costs more than it finds.
    #[must_use]
    pub fn rounds(mut self, rounds: usize) -> Self {
        self.rounds = Some(rounds);
        self
    }

    /// The `k` candidates to start from, which must not be chosen by looking at the records. Default: each as far as possible from those
    /// before.
    #[must_use]
    pub fn start(mut self, start: Vec<usize>) -> Self {
        self.start = Some(start);
        self
    }

    /// Checks every setting and calibrates every step; afterwards nothing can fail.
    ///
    /// # Errors
    /// [`ClusterError`] names the setting, its value and what would be accepted.
    pub fn build(self) -> Result<PrivateLocalSearch, ClusterError> {
        if !(1..=KMeans::MAX_CLUSTERS).contains(&self.k) {
            return Err(ClusterError::ClusterCount { got: self.k });
        }
        ClusterError::unless_equal(self.public_box.dim(), self.candidates.dim())?;
        if self.candidates.is_empty() {
            return Err(ClusterError::ZeroSetting { name: "candidates" });
        }
        if !self.candidates.view().coords().iter().all(|x| x.abs() <= MAX_MAGNITUDE) {
            return Err(ClusterError::Coordinate);
        }
        let start = match &self.start {
            None => farthest_first(self.candidates.view(), &self.public_box, self.k),
            Some(start) => {
                let wrong = start.iter().find(|i| **i >= self.candidates.len());
                let want = "k numbers of candidates";
                if let Some(&wrong) = wrong {
                    return Err(ClusterError::Setting { name: "start", got: wrong as f64, want });
                }
                if start.len() != self.k {
                    let got = start.len() as f64;
                    return Err(ClusterError::Setting { name: "start", got, want });
                }
                start.clone()
            }
        };
        let rounds = self.rounds.unwrap_or((3 * self.k).min(SwapPlan::MAX_ROUNDS));
        let shares = [1.0 - SIZES, SIZES];
        let (spending, sizes) = if self.budget.delta().get() == 0.0 {
            // The last digits are for the rounding of the sum.
            let whole = self.budget.epsilon().get() * (1.0 - 1e-12);
            let parts = dp_accounting::Epsilon::new(whole)?.split(&shares)?;
            (Spending::Pure(parts[0]), NoisyCount::geometric(parts[1])?)
        } else {
            let whole = total_rho(self.budget)?.get() * (1.0 - 1e-12);
            let parts = dp_accounting::Rho::new(whole)?.split(&shares)?;
            (Spending::Zcdp(parts[0]), NoisyCount::gaussian(parts[1])?)
        };
        let plan =
            SwapPlan::new(self.public_box.clone(), self.objective, self.k, rounds, spending)?;
        Ok(PrivateLocalSearch { start, plan, sizes, settings: self })
    }
}
