//! The public settings, and the check that turns them into a plan.

use dp_accounting::Budget;
use dp_geometry::PublicBall;
use serde::{Deserialize, Serialize};

use super::budget::Primitives;
use super::{BudgetSplit, LshSplits};
use crate::ClusterError;
use crate::kmeans::{KMeans, MAX_MAGNITUDE};

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

/// Public settings of [`LshSplits`]; made by [`LshSplits::builder`].
///
/// Serialises as plain settings; a plan is read back through [`build`](Self::build), so that a file
/// cannot bypass its checks.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct LshSplitsBuilder {
    pub(super) public_ball: PublicBall,
    pub(super) k: usize,
    pub(super) budget: Budget,
    pub(super) split: BudgetSplit,
    pub(super) form: Form,
    pub(super) depth: usize,
    pub(super) least_leaf: f64,
    pub(super) public_seed: u64,
}

impl LshSplitsBuilder {
    /// Deepest tree: the sides of one record at all levels are kept in 32 bits.
    pub const MAX_DEPTH: usize = 32;

    pub(super) fn new(public_ball: PublicBall, k: usize, budget: Budget) -> Self {
        Self {
            public_ball,
            k,
            budget,
            split: BudgetSplit::default(),
            form: Form::default(),
            depth: 20,
            least_leaf: 8.0,
            public_seed: 0,
        }
    }

    /// How the budget is divided between counts and sums. Default: [`BudgetSplit::default`].
    #[must_use]
    pub fn split(mut self, split: BudgetSplit) -> Self {
        self.split = split;
        self
    }

    /// With or without our departures from the published algorithm.
    #[must_use]
    pub fn form(mut self, form: Form) -> Self {
        self.form = form;
        self
    }

    /// Levels of hyperplanes, 1 to [`MAX_DEPTH`](Self::MAX_DEPTH). Default: 20.
    #[must_use]
    pub fn depth(mut self, depth: usize) -> Self {
        self.depth = depth;
        self
    }

    /// A leaf should hold this many times `sqrt(d) * noise_multiplier` records, which makes the noise
    /// of its centre one over this of the radius; but not more than `n / (2 k)`. Default: 8; published: 10.
    #[must_use]
    pub fn least_leaf(mut self, least_leaf: f64) -> Self {
        self.least_leaf = least_leaf;
        self
    }

    /// Decides the hyperplanes and the random choices of the final k-means. It hides nothing and may
    /// be published. It must not be chosen by looking at the data. Default: 0.
    #[must_use]
    pub fn public_seed(mut self, public_seed: u64) -> Self {
        self.public_seed = public_seed;
        self
    }

    /// Checks every setting and calibrates every step; afterwards nothing can fail.
    ///
    /// # Errors
    /// [`ClusterError`] names the setting, its value and what would be accepted.
    pub fn build(self) -> Result<LshSplits, ClusterError> {
        let refuse = |name, got: f64, want| Err(ClusterError::Setting { name, got, want });
        if !(1..=KMeans::MAX_CLUSTERS).contains(&self.k) {
            return Err(ClusterError::ClusterCount { got: self.k });
        }
        if !(1..=Self::MAX_DEPTH).contains(&self.depth) {
            return refuse("depth", self.depth as f64, "between 1 and 32");
        }
        if !(self.least_leaf > 0.0 && self.least_leaf <= 1e6) {
            return refuse("least_leaf", self.least_leaf, "above 0 and at most 1e6");
        }
        if self.budget.delta().get() <= 0.0 {
            return refuse("delta", 0.0, "above 0: the sums have Gaussian noise");
        }
        let ball = &self.public_ball;
        let farthest = ball.centre().iter().fold(0.0, |far: f64, x| far.max(x.abs()));
        if farthest + ball.radius() > MAX_MAGNITUDE {
            return refuse("the public ball's extent", farthest + ball.radius(), "at most 1e75");
        }
        let primitives = Primitives::calibrate(&self)?;
        // Few swaps, since each costs a pass over leaves and centres.
        let swaps = (2 * self.k).min(200);
        let solver = KMeans::builder(self.k).restarts(10).local_search_steps(swaps).build()?;
        Ok(LshSplits { settings: self, primitives, solver })
    }
}
