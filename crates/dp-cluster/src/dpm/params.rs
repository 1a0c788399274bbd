//! The public settings of DPM, and the check that turns them into a plan.

use dp_accounting::Budget;
use dp_geometry::PublicBox;
use serde::{Deserialize, Serialize};

use super::plan::TreeSettings;
use super::{BudgetSplit, CutWeights, Dpm, IntervalSize};
use crate::ClusterError;
use crate::total_rho::total_rho;

/// Public settings of [`Dpm`]; made by [`Dpm::builder`].
///
/// Serialises as plain settings; a [`Dpm`] is read back through [`build`](Self::build), so that a
/// file cannot bypass its checks.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct DpmBuilder {
    pub(super) budget: Budget,
    pub(super) split: BudgetSplit,
    #[serde(flatten)]
    pub(super) tree: TreeSettings,
}

impl DpmBuilder {
    /// Deepest tree: the leaves of one level must fit in 15 bits.
    pub const MAX_DEPTH: usize = 14;
    /// Most intervals per dimension: a half-interval is kept in one byte.
    pub const MAX_INTERVALS: usize = 128;

    pub(super) fn new(public_box: PublicBox, budget: Budget) -> Self {
        Self { budget, split: BudgetSplit::default(), tree: TreeSettings::new(public_box) }
    }

    /// How the budget is divided among the steps. Default: [`BudgetSplit::default`].
    #[must_use]
    pub fn split(mut self, split: BudgetSplit) -> Self {
        self.split = split;
        self
    }

    /// How wide the intervals are in whose middles cuts may lie. Default: 32 per dimension.
    #[must_use]
    pub fn interval_size(mut self, interval_size: IntervalSize) -> Self {
        self.tree.interval_size = interval_size;
        self
    }

    /// Levels of cuts, 1 to [`MAX_DEPTH`](Self::MAX_DEPTH), so at most `2^max_depth` clusters.
    /// Default: 7.
    #[must_use]
    pub fn max_depth(mut self, max_depth: usize) -> Self {
        self.tree.max_depth = max_depth;
        self
    }

    /// Smallest share of all points that a cluster may hold, above 0 and below 1.
    /// Default: `2^-max_depth`.
    #[must_use]
    pub fn minimum_share(mut self, share: f64) -> Self {
        self.tree.minimum_share = Some(share);
        self
    }

    /// What makes a good cut. Default: the paper's `t = 0.3`, `q = 1/12`, `alpha = 5`.
    #[must_use]
    pub fn weights(mut self, weights: CutWeights) -> Self {
        self.tree.weights = weights;
        self
    }

    /// Entries of histograms that one pass over the points may count, per thread: fewer take less memory and more passes. No
    /// release depends on it, and files do not hold it. Default: `2^22`, which are 16 MiB.
    #[must_use]
    pub fn counters(mut self, counters: usize) -> Self {
        self.tree.counters = counters;
        self
    }

    /// Checks every setting and calibrates every step; afterwards nothing can fail.
    ///
    /// # Errors
    /// [`ClusterError`] names the setting, its value and what would be accepted.
    pub fn build(self) -> Result<Dpm, ClusterError> {
        self.tree.checked()?;
        let total = total_rho(self.budget)?;
        Dpm::calibrate(self, total)
    }
}
