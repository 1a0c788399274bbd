//! The settings of the solver, checked once.

use serde::{Deserialize, Serialize};

use crate::error::ClusterError;

/// A k-means solver whose settings have been checked.
///
/// # Guarantee
/// None of privacy. Of quality: one plain run is within `8 (ln k + 2)` of the optimum in
/// expectation before Lloyd improves it (Arthur and Vassilvitskii, 2007); the greedy choice keeps
/// `O(log k)` up to further logarithmic factors.
///
/// # Example
/// ```
/// use dp_cluster::kmeans::KMeans;
///
/// let solver = KMeans::builder(64).restarts(10).build()?;
/// assert_eq!((solver.k(), solver.trials_per_step()), (64, 6)); // 2 + floor(ln 64)
/// assert!(KMeans::builder(0).build().is_err());
/// # Ok::<(), dp_cluster::ClusterError>(())
/// ```
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "KMeansBuilder")]
pub struct KMeans {
    k: usize,
    restarts: usize,
    max_iterations: usize,
    relative_tolerance: f64,
    trials_per_step: Option<usize>,
    #[serde(default)]
    local_search_steps: usize,
}

/// Collects the settings of a [`KMeans`]; made by [`KMeans::builder`].
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(rename = "KMeans")]
#[must_use = "call `build` to get the solver"]
pub struct KMeansBuilder {
    k: usize,
    restarts: usize,
    max_iterations: usize,
    relative_tolerance: f64,
    trials_per_step: Option<usize>,
    #[serde(default)]
    local_search_steps: usize,
}

impl TryFrom<KMeansBuilder> for KMeans {
    type Error = ClusterError;

    fn try_from(builder: KMeansBuilder) -> Result<Self, ClusterError> {
        builder.build()
    }
}

impl KMeans {
    /// Most clusters that can be asked for.
    pub const MAX_CLUSTERS: usize = 1 << 24;

    /// Starts with `k` clusters, 1 restart, 300 iterations, a tolerance of `1e-6` and greedy
    /// seeding.
    pub fn builder(k: usize) -> KMeansBuilder {
        KMeansBuilder {
            k,
            restarts: 1,
            max_iterations: 300,
            relative_tolerance: 1e-6,
            trials_per_step: None,
            local_search_steps: 0,
        }
    }

    /// Number of centres of every fit.
    pub fn k(&self) -> usize {
        self.k
    }

    /// Independent runs, of which the cheapest is kept.
    pub fn restarts(&self) -> usize {
        self.restarts
    }

    /// Most updates of the centres per run.
    pub fn max_iterations(&self) -> usize {
        self.max_iterations
    }

    /// Relative decrease of the cost at which a run stops.
    pub fn relative_tolerance(&self) -> f64 {
        self.relative_tolerance
    }

    /// Candidates per step of the seeding: as set, or `2 + floor(ln k)`.
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "the logarithm of a number from 1 to 2^24 lies between 0 and 17"
    )]
    pub fn trials_per_step(&self) -> usize {
        self.trials_per_step.unwrap_or_else(|| 2 + (self.k as f64).ln() as usize)
    }
}

impl KMeans {
    /// Tries at a better seeding after it was made.
    pub fn local_search_steps(&self) -> usize {
        self.local_search_steps
    }
}

impl KMeansBuilder {
    /// Independent runs, of which the cheapest is kept. At least 1.
    pub fn restarts(mut self, restarts: usize) -> Self {
        self.restarts = restarts;
        self
    }

    /// Most updates of the centres per run. 0 returns the seeding as it is.
    pub fn max_iterations(mut self, max_iterations: usize) -> Self {
        self.max_iterations = max_iterations;
        self
    }

    /// A run stops when an update lowers the cost by this share or less.
    ///
    /// It is relative to the cost, unlike the tolerance of some other libraries, which is a
    /// squared shift relative to the variance of the data. 0 runs until nothing improves.
    pub fn relative_tolerance(mut self, relative_tolerance: f64) -> Self {
        self.relative_tolerance = relative_tolerance;
        self
    }

    /// Candidates per step of the seeding, of which the best is kept.
    ///
    /// `Some(1)` is plain k-means++; `None`, the default, means `2 + floor(ln k)`.
    pub fn trials_per_step(mut self, trials_per_step: Option<usize>) -> Self {
        self.trials_per_step = trials_per_step;
        self
    }

    /// Tries at a better seeding, each with a point drawn like a further centre, which replaces the
    /// centre that is missed least if that lowers the cost. A constant factor of the optimum, in
    /// expectation, takes `O(k log log k)` of them; `2 k` is plenty in practice. Each takes one pass
    /// over the points, and one over points and centres when it succeeds. Default: 0.
    ///
    /// # Source
    /// Lattanzi and Sohler (ICML 2019).
    pub fn local_search_steps(mut self, local_search_steps: usize) -> Self {
        self.local_search_steps = local_search_steps;
        self
    }

    /// Checks the settings.
    ///
    /// # Errors
    /// `k` outside of 1 to [`KMeans::MAX_CLUSTERS`], no restart, no trial, or a tolerance that is not
    /// in `[0, 1)`.
    pub fn build(self) -> Result<KMeans, ClusterError> {
        let Self {
            k,
            restarts,
            max_iterations,
            relative_tolerance,
            trials_per_step,
            local_search_steps,
        } = self;
        if !(1..=KMeans::MAX_CLUSTERS).contains(&k) {
            return Err(ClusterError::ClusterCount { got: k });
        }
        if restarts == 0 {
            return Err(ClusterError::ZeroSetting { name: "restarts" });
        }
        if trials_per_step == Some(0) {
            return Err(ClusterError::ZeroSetting { name: "trials_per_step" });
        }
        if !(0.0..1.0).contains(&relative_tolerance) {
            return Err(ClusterError::RelativeTolerance { got: relative_tolerance });
        }
        Ok(KMeans {
            k,
            restarts,
            max_iterations,
            relative_tolerance,
            trials_per_step,
            local_search_steps,
        })
    }
}
