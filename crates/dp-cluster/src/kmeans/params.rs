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
/// use dp_cluster::kmeans::{KMeans, KMeansSettings};
///
/// let solver = KMeans::new(64, KMeansSettings { restarts: 10, ..Default::default() })?;
/// assert_eq!((solver.k(), solver.trials_per_step()), (64, 6)); // 2 + floor(ln 64)
/// assert!(KMeans::new(0, KMeansSettings::default()).is_err());
/// # Ok::<(), dp_cluster::ClusterError>(())
/// ```
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "Asked", into = "Asked")]
pub struct KMeans {
    pub(super) asked: Asked,
}

/// Settings of [`KMeans`]. Nothing here depends on data.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct KMeansSettings {
    /// Independent runs, of which the cheapest is kept, at least 1. Default: 1.
    pub restarts: usize,
    /// Most updates of the centres per run, up to [`KMeans::MAX_ITERATIONS`]. 0 returns the seeding as it is. Default: 300.
    pub max_iterations: usize,
    /// A run stops when an update lowers the cost by this share or less.
    ///
    /// It is relative to the cost, unlike the tolerance of some other libraries, which is a
    /// squared shift relative to the variance of the data. 0 runs until nothing improves. Default: `1e-6`.
    pub relative_tolerance: f64,
    /// Candidates per step of the seeding, of which the best is kept.
    ///
    /// `Some(1)` is plain k-means++; `None`, the default, means `2 + floor(ln k)`.
    pub trials_per_step: Option<usize>,
    /// Tries at a better seeding, each with a point drawn like a further centre, which replaces the
    /// centre that is missed least if that lowers the cost. A constant factor of the optimum, in
    /// expectation, takes `O(k log log k)` of them; `2 k` is plenty in practice. Each takes one pass
    /// over the points, and one over points and centres when it succeeds. At most
    /// [`KMeans::MAX_LOCAL_SEARCH_STEPS`]. Default: 0.
    ///
    /// # Source
    /// Lattanzi and Sohler (ICML 2019).
    pub local_search_steps: usize,
}

impl Default for KMeansSettings {
    fn default() -> Self {
        Self {
            restarts: 1,
            max_iterations: 300,
            relative_tolerance: 1e-6,
            trials_per_step: None,
            local_search_steps: 0,
        }
    }
}

/// What was asked for. The file form of plans, which are read back through their checks.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Asked {
    pub(super) k: usize,
    pub(super) settings: KMeansSettings,
}

impl KMeans {
    /// Most clusters that can be asked for.
    pub const MAX_CLUSTERS: usize = 1 << 24;
    /// Most updates of the centres per run.
    pub const MAX_ITERATIONS: usize = 1 << 20;
    /// Most tries at a better seeding: four for each of the most clusters.
    pub const MAX_LOCAL_SEARCH_STEPS: usize = 4 * Self::MAX_CLUSTERS;

    /// For `k` clusters.
    ///
    /// # Errors
    /// `k` outside of 1 to [`MAX_CLUSTERS`](Self::MAX_CLUSTERS), no restart, no trial, a tolerance that is
    /// not in `[0, 1)`, more iterations or tries than their limits.
    pub fn new(k: usize, settings: KMeansSettings) -> Result<Self, ClusterError> {
        let KMeansSettings { restarts, max_iterations, relative_tolerance, .. } = settings;
        check(k, restarts, max_iterations, relative_tolerance, settings.local_search_steps)?;
        if settings.trials_per_step == Some(0) {
            return Err(ClusterError::ZeroSetting { name: "trials_per_step" });
        }
        Ok(Self { asked: Asked { k, settings } })
    }

    /// Number of centres of every fit.
    pub fn k(&self) -> usize {
        self.asked.k
    }

    /// Candidates per step of the seeding: as set, or `2 + floor(ln k)`.
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "the logarithm of a number from 1 to 2^24 lies between 0 and 17"
    )]
    pub fn trials_per_step(&self) -> usize {
        self.asked
            .settings
            .trials_per_step
            .unwrap_or_else(|| 2 + (self.asked.k as f64).ln() as usize)
    }
}

/// What k-means and k-median have in common.
pub(crate) fn check(
    k: usize,
    restarts: usize,
    max_iterations: usize,
    relative_tolerance: f64,
    local_search_steps: usize,
) -> Result<(), ClusterError> {
    if !(1..=KMeans::MAX_CLUSTERS).contains(&k) {
        return Err(ClusterError::ClusterCount { got: k });
    }
    if restarts == 0 {
        return Err(ClusterError::ZeroSetting { name: "restarts" });
    }
    if max_iterations > KMeans::MAX_ITERATIONS {
        let (name, got) = ("max_iterations", max_iterations as f64);
        return Err(ClusterError::Setting { name, got, want: "at most 1048576" });
    }
    if !(0.0..1.0).contains(&relative_tolerance) {
        return Err(ClusterError::RelativeTolerance { got: relative_tolerance });
    }
    if local_search_steps > KMeans::MAX_LOCAL_SEARCH_STEPS {
        let (name, got) = ("local_search_steps", local_search_steps as f64);
        return Err(ClusterError::Setting { name, got, want: "at most 67108864" });
    }
    Ok(())
}

impl TryFrom<Asked> for KMeans {
    type Error = ClusterError;

    fn try_from(asked: Asked) -> Result<Self, ClusterError> {
        Self::new(asked.k, asked.settings)
    }
}

impl From<KMeans> for Asked {
    fn from(solver: KMeans) -> Self {
        solver.asked
    }
}
