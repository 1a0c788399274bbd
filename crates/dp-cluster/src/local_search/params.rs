//! The settings of the search, checked once.

use serde::{Deserialize, Serialize};

use super::Objective;
use crate::ClusterError;
use crate::kmeans::KMeans;

/// A local search whose settings have been checked. See the [module](super).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "Asked", into = "Asked")]
pub struct LocalSearch {
    pub(super) asked: Asked,
}

/// Settings of [`LocalSearch`]. Nothing here depends on data.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct LocalSearchSettings {
    /// Whether two centres may be swapped at once when no single swap helps any more; only with up to
    /// [`LocalSearch::MAX_DOUBLE_CANDIDATES`] candidates and two centres or more. Default: no.
    pub double_swaps: bool,
    /// A swap must lower the cost by the factor `1 - tolerance / k`, which makes their number
    /// polynomial: at most `(k / tolerance) ln(cost at the start / cost at the end)`. Default: `1e-3`.
    pub tolerance: f64,
    /// Most swaps. Default: 10,000.
    pub max_swaps: usize,
}

impl Default for LocalSearchSettings {
    fn default() -> Self {
        Self { double_swaps: false, tolerance: 1e-3, max_swaps: 10_000 }
    }
}

/// What was asked for. The file form of plans, which are read back through their checks.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Asked {
    pub(super) k: usize,
    pub(super) objective: Objective,
    pub(super) settings: LocalSearchSettings,
}

impl LocalSearch {
    /// Most candidates that double swaps are tried on: each pass tries all pairs of them.
    pub const MAX_DOUBLE_CANDIDATES: usize = 200;

    /// For `k` centres and this objective.
    ///
    /// # Errors
    /// `k` outside of 1 to [`KMeans::MAX_CLUSTERS`], or a tolerance that is not in `[0, 1)`.
    pub fn new(
        k: usize,
        objective: Objective,
        settings: LocalSearchSettings,
    ) -> Result<Self, ClusterError> {
        if !(1..=KMeans::MAX_CLUSTERS).contains(&k) {
            return Err(ClusterError::ClusterCount { got: k });
        }
        if !(0.0..1.0).contains(&settings.tolerance) {
            return Err(ClusterError::RelativeTolerance { got: settings.tolerance });
        }
        Ok(Self { asked: Asked { k, objective, settings } })
    }
}

impl TryFrom<Asked> for LocalSearch {
    type Error = ClusterError;

    fn try_from(asked: Asked) -> Result<Self, ClusterError> {
        Self::new(asked.k, asked.objective, asked.settings)
    }
}

impl From<LocalSearch> for Asked {
    fn from(search: LocalSearch) -> Self {
        search.asked
    }
}
