//! The public settings, and the check that turns them into a plan.

use dp_accounting::Budget;
use dp_geometry::PublicBall;
use serde::{Deserialize, Serialize};

use super::budget::Primitives;
use super::{BudgetSplit, LshSplits};
use crate::ClusterError;
use crate::kmeans::{KMeans, KMeansSettings, MAX_MAGNITUDE};

/// Which departures from the published algorithm are made. All of them are post-processing or
/// change how the same budget is used.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Form {
    /// A part of which one side is too small stays whole and goes on to the next hyperplane; leaf
    /// sizes are released with the sums; leaves that turn out to be empty are dropped.
    #[default]
    Improved,
    /// As published: a side that is too small is dropped with its records, a leaf's size is the count
    /// that its branch got in the tree.
    Published,
}

/// Settings of [`LshSplits`]. Nothing here depends on data.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct LshSplitsSettings {
    /// How the budget is divided between counts and sums. Default: [`BudgetSplit::default`].
    pub split: BudgetSplit,
    /// With or without our departures from the published algorithm. Default: [`Form::Improved`].
    pub form: Form,
    /// Levels of hyperplanes, 1 to [`MAX_DEPTH`](LshSplits::MAX_DEPTH). Default: 20.
    pub depth: usize,
    /// A leaf should hold this many times `sqrt(d) * noise_multiplier` records, which makes the noise
    /// of its centre one over this of the radius; but not more than `n / (2 k)`. Default: 8; published: 10.
    pub least_leaf: f64,
    /// Decides the hyperplanes and the random choices of the final k-means. It hides nothing and may
    /// be published. It must not be chosen by looking at the data. Default: 0.
    pub public_seed: u64,
}

impl Default for LshSplitsSettings {
    fn default() -> Self {
        Self {
            split: BudgetSplit::default(),
            form: Form::default(),
            depth: 20,
            least_leaf: 8.0,
            public_seed: 0,
        }
    }
}

/// What was asked for. The file form of plans, which are read back through their checks.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Asked {
    pub(super) public_ball: PublicBall,
    pub(super) k: usize,
    pub(super) budget: Budget,
    pub(super) settings: LshSplitsSettings,
}

impl LshSplits {
    /// Deepest tree: the sides of one record at all levels are kept in 32 bits.
    pub const MAX_DEPTH: usize = 32;

    /// For points in this public ball, to be put in `k` clusters within this budget.
    ///
    /// Checks every setting and calibrates every step; afterwards nothing can fail.
    ///
    /// # Errors
    /// [`ClusterError`] names the setting, its value and what would be accepted.
    pub fn new(
        public_ball: PublicBall,
        k: usize,
        budget: Budget,
        settings: LshSplitsSettings,
    ) -> Result<Self, ClusterError> {
        let asked = Asked { public_ball, k, budget, settings };
        let refuse = |name, got: f64, want| Err(ClusterError::Setting { name, got, want });
        if !(1..=KMeans::MAX_CLUSTERS).contains(&asked.k) {
            return Err(ClusterError::ClusterCount { got: asked.k });
        }
        if !(1..=Self::MAX_DEPTH).contains(&asked.settings.depth) {
            return refuse("depth", asked.settings.depth as f64, "between 1 and 32");
        }
        if !(asked.settings.least_leaf > 0.0 && asked.settings.least_leaf <= 1e6) {
            return refuse("least_leaf", asked.settings.least_leaf, "above 0 and at most 1e6");
        }
        if asked.budget.delta().get() <= 0.0 {
            return refuse("delta", 0.0, "above 0: the sums have Gaussian noise");
        }
        let ball = &asked.public_ball;
        let farthest = ball.centre().iter().fold(0.0, |far: f64, x| far.max(x.abs()));
        if farthest + ball.radius() > MAX_MAGNITUDE {
            return refuse("the public ball's extent", farthest + ball.radius(), "at most 1e75");
        }
        let primitives = Primitives::calibrate(&asked)?;
        // Few swaps, since each costs a pass over leaves and centres.
        let swaps = (2 * asked.k).min(200);
        let settings =
            KMeansSettings { restarts: 10, local_search_steps: swaps, ..Default::default() };
        let solver = KMeans::new(asked.k, settings)?;
        Ok(Self { asked, primitives, solver })
    }
}
