//! The settings of the solver, checked once.

use serde::{Deserialize, Serialize};

use crate::ClusterError;
use crate::kmeans::KMeans;

/// A k-median solver whose settings have been checked. See the [module](super).
///
/// # Guarantee
/// None of privacy. Of quality: the seeding is within `O(log k)` of the optimum in expectation; the
/// alternation never makes it worse.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "KMedianBuilder", into = "KMedianBuilder")]
pub struct KMedian {
    pub(super) settings: KMedianBuilder,
}

/// Collects the settings of a [`KMedian`]; made by [`KMedian::builder`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct KMedianBuilder {
    pub(super) k: usize,
    pub(super) restarts: usize,
    pub(super) max_iterations: usize,
    pub(super) relative_tolerance: f64,
    pub(super) local_search_steps: usize,
}

impl KMedian {
    /// Starts with `k` clusters, 1 restart, 100 iterations, a tolerance of `1e-6` and `2 k` tries of
    /// local search after the seeding.
    pub fn builder(k: usize) -> KMedianBuilder {
        KMedianBuilder {
            k,
            restarts: 1,
            max_iterations: 100,
            relative_tolerance: 1e-6,
            local_search_steps: k.saturating_mul(2),
        }
    }
}

impl KMedianBuilder {
    /// Independent runs, of which the cheapest is kept. At least 1.
    #[must_use]
    pub fn restarts(mut self, restarts: usize) -> Self {
        self.restarts = restarts;
        self
    }

    /// Most updates of the centres per run. 0 returns the seeding as it is.
    #[must_use]
    pub fn max_iterations(mut self, max_iterations: usize) -> Self {
        self.max_iterations = max_iterations;
        self
    }

    /// A run stops when an update lowers the cost by this share or less.
    #[must_use]
    pub fn relative_tolerance(mut self, relative_tolerance: f64) -> Self {
        self.relative_tolerance = relative_tolerance;
        self
    }

    /// Tries at a better seeding, as
    /// [for k-means](crate::kmeans::KMeansBuilder::local_search_steps).
    #[must_use]
    pub fn local_search_steps(mut self, local_search_steps: usize) -> Self {
        self.local_search_steps = local_search_steps;
        self
    }

    /// Checks the settings.
    ///
    /// # Errors
    /// `k` outside of 1 to [`KMeans::MAX_CLUSTERS`], no restart, or a tolerance not in `[0, 1)`.
    pub fn build(self) -> Result<KMedian, ClusterError> {
        if !(1..=KMeans::MAX_CLUSTERS).contains(&self.k) {
            return Err(ClusterError::ClusterCount { got: self.k });
        }
        if self.restarts == 0 {
            return Err(ClusterError::ZeroSetting { name: "restarts" });
        }
        if !(0.0..1.0).contains(&self.relative_tolerance) {
            return Err(ClusterError::RelativeTolerance { got: self.relative_tolerance });
        }
        Ok(KMedian { settings: self })
    }
}

impl TryFrom<KMedianBuilder> for KMedian {
    type Error = ClusterError;

    fn try_from(settings: KMedianBuilder) -> Result<Self, ClusterError> {
        settings.build()
    }
}

impl From<KMedian> for KMedianBuilder {
    fn from(solver: KMedian) -> Self {
        solver.settings
    }
}
