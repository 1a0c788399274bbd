//! What comes out: candidates with where they come from.

use dp_geometry::{Points, PointsView};
use serde::{Deserialize, Serialize};

use super::candidates::Origin;
use crate::Clustering;
use crate::clustering::nearest_weights;
use crate::coreset::PrivateCoreset;
use crate::kmeans::{KMeans, KMeansSettings};
use crate::public_coins::{Purpose, public_generator};

/// Candidate centres: released values, free to compute with.
///
/// # Shapes and units
/// Points `(m, d)` in the units of the records, inside the public box; a level and a noisy number of records for each.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Candidates {
    points: Points,
    levels: Vec<u32>,
    counts: Vec<i64>,
    repetitions: usize,
    k: usize,
    public_seed: u64,
}

/// The finest level is taken whose kept cells hold this share of what those of the fullest level do.
const NEARLY_ALL: f64 = 0.8;

impl Candidates {
    pub(crate) fn new(
        (points, origins): (Points, Vec<Origin>),
        repetitions: usize,
        k: usize,
        public_seed: u64,
    ) -> Self {
        let levels = origins.iter().map(|origin| origin.level).collect();
        let counts = origins.iter().map(|origin| origin.count).collect();
        Self { points, levels, counts, repetitions, k, public_seed }
    }

    /// The candidates.
    pub fn points(&self) -> PointsView<'_> {
        self.points.view()
    }

    /// The level of the grid of each.
    pub fn levels(&self) -> &[u32] {
        &self.levels
    }

    /// The noisy number of records in the cell of each. A record is in one cell of every grid, so cells of several grids hold the same
    /// records.
    pub fn counts(&self) -> &[i64] {
        &self.counts
    }

    /// At most so many candidates: those with the largest counts at each level, as many from each as there are.
    pub fn post_select(&self, most: usize) -> Points {
        let mut by_level: Vec<usize> = (0..self.levels.len()).collect();
        by_level.sort_by_key(|&i| (self.levels[i], std::cmp::Reverse(self.counts[i]), i));
        let mut ranked: Vec<(usize, usize)> = by_level
            .chunk_by(|&a, &b| self.levels[a] == self.levels[b])
            .flat_map(|level| level.iter().copied().enumerate())
            .collect();
        ranked.sort_unstable();
        ranked.truncate(most);
        let rows = ranked.iter().flat_map(|&(_, i)| self.points[i].iter().copied());
        Points::new(rows.collect(), self.points.dim()).expect("whole rows")
    }

    /// The cells of the finest level that still hold nearly all records that any level holds, as a coreset: what is lost below it is too
    /// little for a threshold, and what is above it mixes clusters.
    pub fn post_coreset(&self) -> PrivateCoreset {
        let held = |level: u32| {
            let of_level = self.levels.iter().zip(&self.counts).filter(|(l, _)| **l == level);
            of_level.map(|(_, count)| *count as f64).sum::<f64>()
        };
        let most = self.levels.iter().map(|&level| held(level)).fold(0.0, f64::max);
        let enough = |level: &&u32| held(**level) >= NEARLY_ALL * most;
        let finest = self.levels.iter().filter(enough).max().copied();
        let (mut coords, mut weights) = (Vec::new(), Vec::new());
        for ((row, &level), &count) in self.points.view().rows().zip(&self.levels).zip(&self.counts)
        {
            if Some(level) == finest {
                coords.extend_from_slice(row);
                weights.push(count.max(0) as f64 / self.repetitions as f64);
            }
        }
        let points = Points::new(coords, self.points.dim()).expect("whole rows");
        PrivateCoreset::released(points, weights)
    }
}

/// k-means on the [coreset](Candidates::post_coreset): post-processing with public randomness.
impl From<Candidates> for Clustering {
    fn from(candidates: Candidates) -> Self {
        let coreset = candidates.post_coreset();
        if coreset.len() <= candidates.k {
            let counts = coreset.weights().iter().map(|&w| crate::clustering::records(w)).collect();
            return Clustering::of(coreset.points().to_points(), counts);
        }
        let settings = KMeansSettings {
            restarts: 5,
            local_search_steps: 2 * candidates.k,
            ..Default::default()
        };
        let solver = KMeans::new(candidates.k, settings);
        let mut rng = public_generator(candidates.public_seed, Purpose::BucketSolver);
        let fit = solver.and_then(|solver| solver.post_fit(&coreset, &mut rng));
        let centres = fit.expect("k was checked, and released points are finite").centres;
        let counts = nearest_weights(&coreset, centres.view());
        Clustering::of(centres, counts)
    }
}
