//! The public settings of DPM with re-centring.

use dp_accounting::{AddRemove, Budget, Receipt, Step};
use dp_geometry::PublicBox;
use serde::{Deserialize, Serialize};

use super::plan::Recentring;
use super::{DpmRecentred, Rounds};
use crate::ClusterError;
use crate::dpm::{
    AfterAMiss, COUNTERS, CutWeights, IntervalSize, TreeLosses, TreePlan, TreeSettings,
};
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

/// Settings of [`DpmRecentred`]. Nothing here depends on data.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct DpmRecentredSettings {
    /// The number of clusters, a public number from 1 to
    /// [`KMeans::MAX_CLUSTERS`](crate::kmeans::KMeans::MAX_CLUSTERS). There may come out fewer.
    ///
    /// Without it, centres are joined that are closer than one radius, and the number of what is
    /// left follows from released values alone.
    pub clusters: Option<usize>,
    /// How the budget is divided among the steps. Default: [`RecentredSplit::default`].
    pub split: RecentredSplit,
    /// How many rounds there are and what each gets. Default: [`Rounds::default`].
    pub rounds: Rounds,
    /// How wide the intervals are in whose middles cuts may lie. Default: 32 per dimension.
    pub interval_size: IntervalSize,
    /// Levels of cuts, 1 to [`MAX_DEPTH`](DpmRecentred::MAX_DEPTH). Default: 7, for up to 64 clusters or so.
    pub max_depth: usize,
    /// Smallest share of all points that a leaf may hold, above 0 and below 1.
    /// Default: `2^-max_depth`.
    pub minimum_share: Option<f64>,
    /// What makes a good cut. Default: the DPM paper's.
    pub weights: CutWeights,
}

impl Default for DpmRecentredSettings {
    fn default() -> Self {
        Self {
            clusters: None,
            split: RecentredSplit::default(),
            rounds: Rounds::default(),
            interval_size: IntervalSize::default(),
            max_depth: 7,
            minimum_share: None,
            weights: CutWeights::default(),
        }
    }
}

/// What was asked for. The file form of plans, which are read back through their checks.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Asked {
    pub(super) public_box: PublicBox,
    pub(super) budget: Budget,
    pub(super) settings: DpmRecentredSettings,
}

impl DpmRecentred {
    /// Deepest tree: joining centres takes time quadratic in the number of leaves.
    pub const MAX_DEPTH: usize = 10;

    /// For points in this public box, to be clustered within this budget.
    ///
    /// Checks every setting and calibrates every step; afterwards nothing can fail.
    ///
    /// # Errors
    /// [`ClusterError`] names the setting, its value and what would be accepted.
    pub fn new(
        public_box: PublicBox,
        budget: Budget,
        settings: DpmRecentredSettings,
    ) -> Result<Self, ClusterError> {
        let DpmRecentredSettings { interval_size, max_depth, minimum_share, weights, .. } =
            settings;
        let tree = TreeSettings {
            public_box: public_box.clone(),
            interval_size,
            max_depth,
            minimum_share,
            weights,
            counters: COUNTERS,
        };
        tree.checked()?;
        if max_depth > Self::MAX_DEPTH {
            let got = max_depth as f64;
            return Err(ClusterError::Setting { name: "max_depth", got, want: "between 1 and 10" });
        }
        let split = settings.split;
        let losses = split.tree_losses(&tree, budget)?;
        let tree = TreePlan::new(tree, losses, AfterAMiss::TryAgain)?;
        let spent = Step::sequential("tree", tree.spent());
        let spent = Receipt::new("tree", AddRemove, budget, spent);
        let left = spent.mu_left(budget).ok_or(ClusterError::Setting {
            name: "radii + sums",
            got: split.radii + split.sums,
            want: "large enough to leave something after the tree",
        })?;
        let parts = left.split(&[split.radii, split.sums])?;
        let (rounds, shares) = (settings.rounds.clone(), [parts[0], parts[1]]);
        let recentring = Recentring::new(public_box.clone(), rounds, settings.clusters, shares)?;
        Ok(Self { asked: Asked { public_box, budget, settings }, tree, recentring })
    }
}

impl RecentredSplit {
    /// What the tree gets of the budget, in these proportions.
    fn tree_losses(self, tree: &TreeSettings, budget: Budget) -> Result<TreeLosses, ClusterError> {
        let Self { interval, counts, cuts, radii, sums } = self;
        let interval = if tree.is_estimated() { Some(interval) } else { None };
        let named = [("counts", counts), ("cuts", cuts), ("radii", radii), ("sums", sums)];
        for (name, got) in named.into_iter().chain(interval.map(|share| ("interval", share))) {
            if !(got.is_finite() && got > 0.0) {
                return Err(ClusterError::Setting { name, got, want: "a finite share above 0" });
            }
        }
        let total = total_rho(budget)?;
        let parts = total.split(&[interval.unwrap_or(0.0), counts, cuts, radii + sums])?;
        TreeLosses::zcdp(tree.max_depth, parts[0], parts[1], parts[2])
    }
}
