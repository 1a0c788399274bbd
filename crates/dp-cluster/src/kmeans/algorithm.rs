//! Restarts, and what comes out of them.

use dp_geometry::{Points, PointsView};
use rand::Rng;
use serde::{Deserialize, Serialize};

use super::data::WeightedPoints;
use super::lloyd::lloyd;
use super::pairs::Pairs;
use super::params::KMeans;
use super::restarts::cheapest;
use super::seeding::seed;
use crate::coreset::PrivateCoreset;
use crate::error::ClusterError;
use crate::local_search::{Objective, improve_seeding};

/// The best run of [`KMeans::exact_fit`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct KMeansFit {
    /// The centres, shape `(k, dim)`.
    pub centres: Points,
    /// `sum w |x - c|^2` over the points and their nearest centres.
    pub squared_inertia: f64,
    /// Updates of the centres that led here, in the run that was kept.
    pub iterations: usize,
    /// Why that run stopped.
    pub stop: StopReason,
}

/// Why a run stopped. None of these is an error.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum StopReason {
    /// The cost is zero, or an update lowered it by no more than the tolerance.
    Converged,
    /// The limit on iterations came first.
    IterationLimit,
    /// There are no more than `k` distinct points, and they are the centres.
    FewDistinctPoints,
}

impl KMeans {
    /// [`exact_fit`](Self::exact_fit) on what has been released: post-processing, free of charge.
    ///
    /// # Errors
    /// None in practice: a coreset has been checked when it was made.
    pub fn post_fit(
        &self,
        coreset: &PrivateCoreset,
        rng: &mut (impl Rng + ?Sized),
    ) -> Result<KMeansFit, ClusterError> {
        self.exact_fit(coreset.points(), Some(coreset.weights()), rng)
    }

    /// Lloyd alone, from these `k` centres, on what has been released.
    ///
    /// # Errors
    /// None in practice: a coreset has been checked when it was made.
    pub(crate) fn post_improve(
        &self,
        coreset: &PrivateCoreset,
        centres: Points,
    ) -> Result<KMeansFit, ClusterError> {
        let data = WeightedPoints::new(coreset.points(), Some(coreset.weights()))?;
        let labels = vec![0; data.points().len()];
        Ok(lloyd(self, &data, centres.into_coords(), labels))
    }

    /// Runs seeding and Lloyd on the points as they are, and keeps the cheapest of all restarts.
    ///
    /// **Not private.** Give it a private release, or data that needs no protection.
    ///
    /// Points of weight zero are dropped. There are always `k` centres: with at most `k` distinct
    /// points these come back in the order of their first appearance, followed by copies of the
    /// heaviest (the earliest of equals); without any point, all centres are the origin.
    ///
    /// # Shapes
    /// `points` is `(n_points, dim)`; `weights`, if given, `(n_points,)`, each 1 if not.
    ///
    /// # Complexity
    /// Seeding `O(n k dim trials)` and `O(n k dim)` per iteration at worst; the triangle
    /// inequality skips most of it on clustered data. Memory `O(n trials + k dim)` for each run at the time, beside the input, and a
    /// copy of it if there are weights of zero, or with local search; at most 8 MiB of distances for each run if there are few points. Parallel over the threads of the current pool,
    /// with the same result, bit for bit, for every number of threads.
    ///
    /// # Precision
    /// Direct differences throughout. The seeding and the order of the points determine the
    /// result. Distances below about `1e-160` square to zero and count as equal.
    ///
    /// # Errors
    /// [`ClusterError::WeightsLength`]; [`ClusterError::Weight`] and [`ClusterError::Coordinate`] if
    /// one is NaN, infinite or above [`MAX_MAGNITUDE`](super::MAX_MAGNITUDE), or a weight is
    /// negative. Missing convergence is no error but a [`StopReason`].
    ///
    /// # Source
    /// Seeding: Arthur and Vassilvitskii (SODA 2007), with the greedy choice of its section 7.
    /// Iteration: Lloyd (1982). Bounds: Hamerly (SDM 2010), Algorithm 1.
    ///
    /// # Example
    /// ```
    /// use dp_cluster::kmeans::{KMeans, KMeansSettings, StopReason};
    /// use dp_geometry::Points;
    /// use rand::{SeedableRng, rngs::ChaCha20Rng};
    ///
    /// let coreset = Points::new(vec![0.0, 0.0, 4.0, 0.0, 0.0, 90.0], 2)?;
    /// let weights = [3.0, 1.0, 10.0];
    /// let mut rng = ChaCha20Rng::seed_from_u64(1);
    /// let fit = KMeans::new(2, KMeansSettings::default())?.exact_fit(coreset.view(), Some(&weights), &mut rng)?;
    /// assert!(fit.centres.view().rows().any(|c| c == [1.0, 0.0])); // (3 * 0 + 1 * 4) / 4
    /// assert_eq!((fit.squared_inertia, fit.stop), (12.0, StopReason::Converged));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn exact_fit(
        &self,
        points: PointsView<'_>,
        weights: Option<&[f64]>,
        rng: &mut (impl Rng + ?Sized),
    ) -> Result<KMeansFit, ClusterError> {
        let data = WeightedPoints::new(points, weights)?;
        if let Some(centres) = data.distinct_points_if_at_most(self.k()) {
            let stop = StopReason::FewDistinctPoints;
            return Ok(KMeansFit { centres, squared_inertia: 0.0, iterations: 0, stop });
        }
        let run = |rng: &mut dyn Rng| {
            let pairs = &mut Pairs::new(data.points());
            let mut seeding = seed(&data, pairs, self.k(), self.trials_per_step(), rng);
            let steps = self.asked.settings.local_search_steps;
            let centres = &mut seeding.centres;
            improve_seeding(&data, pairs, centres, Objective::KMeans, steps, rng);
            lloyd(self, &data, seeding.centres, seeding.labels)
        };
        Ok(cheapest(self.asked.settings.restarts, rng, run, |fit| fit.squared_inertia))
    }
}
