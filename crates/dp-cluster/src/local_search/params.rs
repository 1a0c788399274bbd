//! The settings of the search, checked once.

use serde::{Deserialize, Serialize};

use super::Objective;
use crate::ClusterError;
use crate::kmeans::KMeans;

/// A local search whose settings have been checked. See the [module](super).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "LocalSearchBuilder", into = "LocalSearchBuilder")]
pub struct LocalSearch {
    pub(super) settings: LocalSearchBuilder,
}

/// Collects the settings of a [`LocalSearch`]; made by [`LocalSearch::builder`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct LocalSearchBuilder {
    pub(super) k: usize,
    pub(super) objective: Objective,
    pub(super) double_swaps: bool,
    pub(super) tolerance: f64,
    pub(super) max_swaps: usize,
}

impl LocalSearch {
    /// Most candidates that double swaps are tried on: each pass tries all pairs of them.
    pub const MAX_DOUBLE_CANDIDATES: usize = 200;

    /// Starts with single swaps, a tolerance of `1e-3` and at most 10,000 swaps.
    pub fn builder(k: usize, objective: Objective) -> LocalSearchBuilder {
        LocalSearchBuilder { k, objective, double_swaps: false, tolerance: 1e-3, max_swaps: 10_000 }
    }
}

impl LocalSearchBuilder {
    /// Whether two centres may be swapped at once when no single swap helps any more; only with up to
    /// [`LocalSearch::MAX_DOUBLE_CANDIDATES`] candidates and two centres or more.
    #[must_use]
    pub fn double_swaps(mut self, double_swaps: bool) -> Self {
        self.double_swaps = double_swaps;
        self
    }

    /// A swap must lower the cost by the factor `1 - tolerance / k`, which makes their number
    /// polynomial: at most `(k / tolerance) ln(cost at the start / cost at the end)`.
    #[must_use]
    pub fn tolerance(mut self, tolerance: f64) -> Self {
        self.tolerance = tolerance;
        self
    }

    /// Most swaps.
    #[must_use]
    pub fn max_swaps(mut self, max_swaps: usize) -> Self {
        self.max_swaps = max_swaps;
        self
    }

    /// Checks the settings.
    ///
    /// # Errors
    /// `k` outside of 1 to [`KMeans::MAX_CLUSTERS`], or a tolerance that is not in `[0, 1)`.
    pub fn build(self) -> Result<LocalSearch, ClusterError> {
        if !(1..=KMeans::MAX_CLUSTERS).contains(&self.k) {
            return Err(ClusterError::ClusterCount { got: self.k });
        }
        if !(0.0..1.0).contains(&self.tolerance) {
            return Err(ClusterError::RelativeTolerance { got: self.tolerance });
        }
        Ok(LocalSearch { settings: self })
    }
}

impl TryFrom<LocalSearchBuilder> for LocalSearch {
    type Error = ClusterError;

    fn try_from(settings: LocalSearchBuilder) -> Result<Self, ClusterError> {
        settings.build()
    }
}

impl From<LocalSearch> for LocalSearchBuilder {
    fn from(search: LocalSearch) -> Self {
        search.settings
    }
}
