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

/// Settings of [`PrivateLocalSearch`]. Nothing here depends on data.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct PrivateLocalSearchSettings {
    /// What is minimised. Default: [`Objective::KMeans`].
    pub objective: Objective,
    /// How many swaps, 1 to 100,000. Default: `3 k`, or 100,000 if that is less. The papers' guarantees ask for about `2 k ln n` and more, which costs more than it finds.
    pub rounds: Option<usize>,
    /// The numbers of `k` different candidates to start from, which must not be chosen by looking at the records. Default: each as far as possible from those
    /// before.
    pub start: Option<Vec<usize>>,
}

impl Default for PrivateLocalSearchSettings {
    fn default() -> Self {
        Self { objective: Objective::KMeans, rounds: None, start: None }
    }
}

/// What was asked for. The file form of plans, which are read back through their checks.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Asked {
    pub(super) candidates: Points,
    pub(super) public_box: PublicBox,
    pub(super) k: usize,
    pub(super) budget: Budget,
    pub(super) settings: PrivateLocalSearchSettings,
}

/// What the noisy sizes of the clusters get of the budget.
pub(crate) const SIZES: f64 = 0.05;

impl PrivateLocalSearch {
    /// For choosing `k` of these candidates, which must be public or released already, for records in this public box.
    ///
    /// Checks every setting and calibrates every step; afterwards nothing can fail.
    ///
    /// # Errors
    /// [`ClusterError`] names the setting, its value and what would be accepted.
    pub fn new(
        candidates: Points,
        public_box: PublicBox,
        k: usize,
        budget: Budget,
        settings: PrivateLocalSearchSettings,
    ) -> Result<Self, ClusterError> {
        if !(1..=KMeans::MAX_CLUSTERS).contains(&k) {
            return Err(ClusterError::ClusterCount { got: k });
        }
        ClusterError::unless_equal(public_box.dim(), candidates.dim())?;
        if candidates.is_empty() {
            return Err(ClusterError::ZeroSetting { name: "candidates" });
        }
        if !candidates.view().coords().iter().all(|x| x.abs() <= MAX_MAGNITUDE) {
            return Err(ClusterError::Coordinate);
        }
        let start = match &settings.start {
            None => farthest_first(candidates.view(), &public_box, k),
            Some(start) => {
                let refuse = |got: usize, want| {
                    Err(ClusterError::Setting { name: "start", got: got as f64, want })
                };
                if start.len() != k {
                    return refuse(start.len(), "k numbers of candidates");
                }
                let mut taken = vec![false; candidates.len()];
                for &i in start {
                    match taken.get_mut(i) {
                        None => return refuse(i, "k numbers of candidates"),
                        Some(true) => return refuse(i, "k numbers of candidates, each once"),
                        Some(taken) => *taken = true,
                    }
                }
                start.clone()
            }
        };
        let rounds = settings.rounds.unwrap_or((3 * k).min(SwapPlan::MAX_ROUNDS));
        let shares = [1.0 - SIZES, SIZES];
        let (spending, sizes) = if budget.delta().get() == 0.0 {
            // The last digits are for the rounding of the sum.
            let whole = budget.epsilon().get() * (1.0 - 1e-12);
            let parts = dp_accounting::Epsilon::new(whole)?.split(&shares)?;
            (Spending::Pure(parts[0]), NoisyCount::geometric(parts[1])?)
        } else {
            let whole = total_rho(budget)?.get() * (1.0 - 1e-12);
            let parts = dp_accounting::Rho::new(whole)?.split(&shares)?;
            (Spending::Zcdp(parts[0]), NoisyCount::gaussian(parts[1])?)
        };
        let plan = SwapPlan::new(public_box.clone(), settings.objective, k, rounds, spending)?;
        Ok(Self {
            start,
            plan,
            sizes,
            asked: Asked { candidates, public_box, k, budget, settings },
        })
    }
}
