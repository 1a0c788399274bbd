//! The public settings of DPM, and the check that turns them into a plan.

use dp_accounting::{Budget, budget_to_zcdp};
use dp_geometry::{FixedPointGrid, PublicBox};
use serde::{Deserialize, Serialize};

use super::bins::cells_per_dimension;
use super::budget::Primitives;
use super::{BudgetSplit, CutWeights, Dpm, IntervalSize};
use crate::ClusterError;

/// Public settings of [`Dpm`]; made by [`Dpm::builder`].
///
/// Serialises as plain settings; a [`Dpm`] is read back through [`build`](Self::build), so that a
/// file cannot bypass its checks.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct DpmBuilder {
    pub(super) public_box: PublicBox,
    pub(super) budget: Budget,
    pub(super) split: BudgetSplit,
    pub(super) interval_size: IntervalSize,
    pub(super) max_depth: usize,
    pub(super) minimum_share: Option<f64>,
    pub(super) weights: CutWeights,
}

impl DpmBuilder {
    /// Deepest tree: the leaves of one level must fit in 15 bits.
    pub const MAX_DEPTH: usize = 14;
    /// Most intervals per dimension: a half-interval is kept in one byte.
    pub const MAX_INTERVALS: usize = 128;

    pub(super) fn new(public_box: PublicBox, budget: Budget) -> Self {
        Self {
            public_box,
            budget,
            split: BudgetSplit::default(),
            interval_size: IntervalSize::default(),
            max_depth: 7,
            minimum_share: None,
            weights: CutWeights::default(),
        }
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
        self.interval_size = interval_size;
        self
    }

    /// Levels of cuts, 1 to [`MAX_DEPTH`](Self::MAX_DEPTH), so at most `2^max_depth` clusters.
    /// Default: 7.
    #[must_use]
    pub fn max_depth(mut self, max_depth: usize) -> Self {
        self.max_depth = max_depth;
        self
    }

    /// Smallest share of all points that a cluster may hold, above 0 and below 1.
    /// Default: `2^-max_depth`.
    #[must_use]
    pub fn minimum_share(mut self, share: f64) -> Self {
        self.minimum_share = Some(share);
        self
    }

    /// What makes a good cut. Default: the paper's `t = 0.3`, `q = 1/12`, `alpha = 5`.
    #[must_use]
    pub fn weights(mut self, weights: CutWeights) -> Self {
        self.weights = weights;
        self
    }

    /// Checks every setting and calibrates every step; afterwards nothing can fail.
    ///
    /// # Errors
    /// [`ClusterError`] names the setting, its value and what would be accepted.
    pub fn build(self) -> Result<Dpm, ClusterError> {
        let refuse = |name, got: f64, want| Err(ClusterError::Setting { name, got, want });
        if !(1..=Self::MAX_DEPTH).contains(&self.max_depth) {
            return refuse("max_depth", self.max_depth as f64, "between 1 and 14");
        }
        let share = self.least_share();
        if !(share > 0.0 && share < 1.0) {
            return refuse("minimum_share", share, "above 0 and below 1");
        }
        let intervals = self.interval_size.largest();
        if !(2..=Self::MAX_INTERVALS).contains(&intervals) {
            return refuse("intervals", intervals as f64, "between 2 and 128");
        }
        if self.budget.delta().get() <= 0.0 {
            return refuse("delta", 0.0, "above 0: the sums have Gaussian noise");
        }
        let weights = self.weights.checked()?;
        // Every number of intervals has a grid of the same fineness, so one check serves all.
        FixedPointGrid::new(self.public_box.clone(), cells_per_dimension(Self::MAX_INTERVALS))?;
        let total = budget_to_zcdp(self.budget).expect("delta is positive");
        let primitives = Primitives::calibrate(&self, &weights, total)?;
        Ok(Dpm { settings: self, weights, primitives })
    }

    pub(super) fn least_share(&self) -> f64 {
        // Unchecked settings may ask for any depth; a checked one is at most 14.
        let deepest = i32::try_from(self.max_depth).unwrap_or(i32::MAX);
        self.minimum_share.unwrap_or_else(|| 0.5_f64.powi(deepest).max(f64::MIN_POSITIVE))
    }
}
