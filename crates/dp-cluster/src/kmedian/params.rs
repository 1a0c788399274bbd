//! The settings of the solver, checked once.

use serde::{Deserialize, Serialize};

use crate::ClusterError;
use crate::kmeans::params::check;

/// A k-median solver whose settings have been checked. See the [module](super).
///
/// # Guarantee
/// None of privacy. Of quality: the seeding is within `O(log k)` of the optimum in expectation; the
/// alternation never makes it worse.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "Asked", into = "Asked")]
pub struct KMedian {
    pub(super) asked: Asked,
}

/// Settings of [`KMedian`]. Nothing here depends on data.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct KMedianSettings {
    /// Independent runs, of which the cheapest is kept, at least 1. Default: 1.
    pub restarts: usize,
    /// Most updates of the centres per run. 0 returns the seeding as it is. Limit as
    /// [for k-means](crate::kmeans::KMeansSettings::max_iterations). Default: 100.
    pub max_iterations: usize,
    /// A run stops when an update lowers the cost by this share or less. Default: `1e-6`.
    pub relative_tolerance: f64,
    /// Tries at a better seeding, as
    /// [for k-means](crate::kmeans::KMeansSettings::local_search_steps). Default: `2 k`.
    pub local_search_steps: Option<usize>,
}

impl Default for KMedianSettings {
    fn default() -> Self {
        Self {
            restarts: 1,
            max_iterations: 100,
            relative_tolerance: 1e-6,
            local_search_steps: None,
        }
    }
}

/// What was asked for. The file form of plans, which are read back through their checks.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Asked {
    pub(super) k: usize,
    pub(super) settings: KMedianSettings,
}

impl KMedian {
    /// For `k` clusters.
    ///
    /// # Errors
    /// `k` outside of 1 to [`KMeans::MAX_CLUSTERS`](crate::kmeans::KMeans::MAX_CLUSTERS), no restart, a
    /// tolerance not in `[0, 1)`, more iterations or tries than k-means may have.
    pub fn new(k: usize, settings: KMedianSettings) -> Result<Self, ClusterError> {
        let KMedianSettings { restarts, max_iterations, relative_tolerance, .. } = settings;
        let asked = Asked { k, settings };
        check(k, restarts, max_iterations, relative_tolerance, asked.local_search_steps())?;
        Ok(Self { asked })
    }
}

impl Asked {
    pub(super) fn local_search_steps(&self) -> usize {
        self.settings.local_search_steps.unwrap_or_else(|| self.k.saturating_mul(2))
    }
}

impl TryFrom<Asked> for KMedian {
    type Error = ClusterError;

    fn try_from(asked: Asked) -> Result<Self, ClusterError> {
        Self::new(asked.k, asked.settings)
    }
}

impl From<KMedian> for Asked {
    fn from(solver: KMedian) -> Self {
        solver.asked
    }
}
