//! The public settings of DPM with re-centring.

use dp_accounting::{AddRemove, Budget, Receipt, Step};
use dp_geometry::PublicBox;
use serde::{Deserialize, Serialize};

use super::plan::Recentring;
use super::{DpmRecentred, Rounds};
use crate::ClusterError;
use crate::dpm::{AfterAMiss, CutWeights, IntervalSize, TreeLosses, TreePlan, TreeSettings};
use crate::total_rho::total_rho;

/// How [`DpmRecentred`] divides its zero-concentrated budget, in proportions that need not add up
/// to 1. The `interval` share is only spent if the interval size is estimated. Radii and sums share all that the tree leaves, whatever way of
/// adding up finds most.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RecentredSplit {
    /// Choosing the interval size.
    pub interval: f64,
    /// Counting the nodes of all levels of the tree.
    pub counts: f64,
    /// Choosing the cuts of all levels.
    pub cuts: f64,
    /// Choosing the radii of all rounds.
    pub radii: f64,
    /// The sums and counts of all rounds.
    pub sums: f64,
}

impl Default for RecentredSplit {
    /// Measured best over the data sets of the evaluation at epsilon 0.1 to 1.
    fn default() -> Self {
        Self { interval: 0.01, counts: 0.15, cuts: 0.25, radii: 0.03, sums: 0.57 }
    }
}

/// Public settings of [`DpmRecentred`]; made by [`DpmRecentred::builder`].
///
/// Serialises as plain settings; a plan is read back through [`build`](Self::build), so that a file
/// cannot bypass its checks.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct DpmRecentredBuilder {
    pub(super) budget: Budget,
    pub(super) split: RecentredSplit,
    pub(super) clusters: Option<usize>,
    pub(super) rounds: Rounds,
    #[serde(flatten)]
    pub(super) tree: TreeSettings,
}

impl DpmRecentredBuilder {
    /// Deepest tree: joining centres takes time quadratic in the number of leaves.
    pub const MAX_DEPTH: usize = 10;

    pub(super) fn new(public_box: PublicBox, budget: Budget) -> Self {
        Self {
            budget,
            split: RecentredSplit::default(),
            clusters: None,
            rounds: Rounds::default(),
            tree: TreeSettings::new(public_box),
        }
    }

    /// The number of clusters, a public number from 1 to
    /// [`KMeans::MAX_CLUSTERS`](crate::kmeans::KMeans::MAX_CLUSTERS). There may come out fewer.
    ///
    /// Without it, centres are joined that are closer than one radius, and the number of what is
    /// left follows from released values alone.
    #[must_use]
    pub fn clusters(mut self, k: usize) -> Self {
        self.clusters = Some(k);
        self
    }

    /// How the budget is divided among the steps. Default: [`RecentredSplit::default`].
    #[must_use]
    pub fn split(mut self, split: RecentredSplit) -> Self {
        self.split = split;
        self
    }

    /// How many rounds there are and what each gets. Default: [`Rounds::default`].
    #[must_use]
    pub fn rounds(mut self, rounds: Rounds) -> Self {
        self.rounds = rounds;
        self
    }

    /// How wide the intervals are in whose middles cuts may lie. Default: 32 per dimension.
    #[must_use]
    pub fn interval_size(mut self, interval_size: IntervalSize) -> Self {
        self.tree.interval_size = interval_size;
        self
    }

    /// Levels of cuts, 1 to [`MAX_DEPTH`](Self::MAX_DEPTH). Default: 7, for up to 64 clusters or so.
    #[must_use]
    pub fn max_depth(mut self, max_depth: usize) -> Self {
        self.tree.max_depth = max_depth;
        self
    }

    /// Smallest share of all points that a leaf may hold, above 0 and below 1.
    /// Default: `2^-max_depth`.
    #[must_use]
    pub fn minimum_share(mut self, share: f64) -> Self {
        self.tree.minimum_share = Some(share);
        self
    }

    /// What makes a good cut. Default: the DPM paper's.
    #[must_use]
    pub fn weights(mut self, weights: CutWeights) -> Self {
        self.tree.weights = weights;
        self
    }

    /// Checks every setting and calibrates every step; afterwards nothing can fail.
    ///
    /// # Errors
    /// [`ClusterError`] names the setting, its value and what would be accepted.
    pub fn build(self) -> Result<DpmRecentred, ClusterError> {
        self.tree.checked()?;
        if self.tree.max_depth > Self::MAX_DEPTH {
            let got = self.tree.max_depth as f64;
            return Err(ClusterError::Setting { name: "max_depth", got, want: "between 1 and 10" });
        }
        let tree = TreePlan::new(self.tree.clone(), self.tree_losses()?, AfterAMiss::TryAgain)?;
        let spent = Step::sequential("tree", tree.spent());
        let spent = Receipt::new("tree", AddRemove, self.budget, spent);
        let left = spent.mu_left(self.budget).ok_or(ClusterError::Setting {
            name: "radii + sums",
            got: self.split.radii + self.split.sums,
            want: "large enough to leave something after the tree",
        })?;
        let parts = left.split(&[self.split.radii, self.split.sums])?;
        let public_box = self.tree.public_box.clone();
        let rounds = self.rounds.clone();
        let recentring = Recentring::new(public_box, rounds, self.clusters, [parts[0], parts[1]])?;
        Ok(DpmRecentred { settings: self, tree, recentring })
    }

    /// What the tree gets of the budget, in the proportions of the split.
    fn tree_losses(&self) -> Result<TreeLosses, ClusterError> {
        let RecentredSplit { interval, counts, cuts, radii, sums } = self.split;
        let interval = if self.tree.is_estimated() { Some(interval) } else { None };
        let named = [("counts", counts), ("cuts", cuts), ("radii", radii), ("sums", sums)];
        for (name, got) in named.into_iter().chain(interval.map(|share| ("interval", share))) {
            if !(got.is_finite() && got > 0.0) {
                return Err(ClusterError::Setting { name, got, want: "a finite share above 0" });
            }
        }
        let total = total_rho(self.budget)?;
        let parts = total.split(&[interval.unwrap_or(0.0), counts, cuts, radii + sums])?;
        TreeLosses::zcdp(self.tree.max_depth, parts[0], parts[1], parts[2])
    }
}
