//! The public settings of DPM, and the check that turns them into a plan.

use dp_accounting::Budget;
use dp_geometry::PublicBox;
use serde::{Deserialize, Serialize};

use super::plan::{COUNTERS, TreeSettings};
use super::{BudgetSplit, CutWeights, Dpm, IntervalSize};
use crate::ClusterError;
use crate::total_rho::total_rho;

/// Settings of [`Dpm`]. Nothing here depends on data.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct DpmSettings {
    /// How the budget is divided among the steps. Default: [`BudgetSplit::default`].
    pub split: BudgetSplit,
    /// How wide the intervals are in whose middles cuts may lie. Default: 32 per dimension.
    pub interval_size: IntervalSize,
    /// Levels of cuts, 1 to [`MAX_DEPTH`](Dpm::MAX_DEPTH), so at most `2^max_depth` clusters.
    /// Default: 7.
    pub max_depth: usize,
    /// Smallest share of all points that a cluster may hold, above 0 and below 1.
    /// Default: `2^-max_depth`.
    pub minimum_share: Option<f64>,
    /// What makes a good cut. Default: the paper's `t = 0.3`, `q = 1/12`, `alpha = 5`.
    pub weights: CutWeights,
    /// Entries of histograms that one pass over the points may count, per thread: fewer take less memory and more passes. No
    /// release depends on it, and files do not hold it. Default: `2^22`, which are 16 MiB.
    #[serde(skip)]
    pub counters: usize,
}

impl Default for DpmSettings {
    fn default() -> Self {
        Self {
            split: BudgetSplit::default(),
            interval_size: IntervalSize::default(),
            max_depth: 7,
            minimum_share: None,
            weights: CutWeights::default(),
            counters: COUNTERS,
        }
    }
}

/// What was asked for. The file form of plans, which are read back through their checks.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Asked {
    pub(super) public_box: PublicBox,
    pub(super) budget: Budget,
    pub(super) settings: DpmSettings,
}

impl Dpm {
    /// Deepest tree: the leaves of one level must fit in 15 bits.
    pub const MAX_DEPTH: usize = 14;
    /// Most intervals per dimension: a half-interval is kept in one byte.
    pub const MAX_INTERVALS: usize = 128;

    /// For points in this public box, to be clustered within this budget.
    ///
    /// Checks every setting and calibrates every step; afterwards nothing can fail.
    ///
    /// # Errors
    /// [`ClusterError`] names the setting, its value and what would be accepted.
    pub fn new(
        public_box: PublicBox,
        budget: Budget,
        settings: DpmSettings,
    ) -> Result<Self, ClusterError> {
        let asked = Asked { public_box, budget, settings };
        asked.tree().checked()?;
        let total = total_rho(budget)?;
        Self::calibrate(asked, total)
    }
}

impl Asked {
    /// What of it decides the tree.
    pub(super) fn tree(&self) -> TreeSettings {
        let DpmSettings { interval_size, max_depth, minimum_share, weights, counters, .. } =
            self.settings;
        let public_box = self.public_box.clone();
        TreeSettings { public_box, interval_size, max_depth, minimum_share, weights, counters }
    }
}
