//! Where re-centring starts after a map: released values only.

use dp_geometry::{Points, PublicBox};
use dp_mechanism::ChaCha20Rng;

use super::PrivateKMeansSettings;
use super::mixture::{Cluster, Explained, Resolution, Weighted};
use crate::clustering::{nearest_weights, records};
use crate::coreset::PrivateCoreset;
use crate::kmeans::{KMeans, KMeansSettings};
use crate::map::{MapLevel, ReleasedMap};
use crate::public_coins::{Purpose, public_generator};
use crate::recentring::Start;

/// Of so many clusters, a mixture is found in about the time that the map takes, and says better than the map where they are; of a hundred it is
/// worse, and takes five times as long.
const MOST_IN_A_MODEL: usize = 48;
/// Nor is a mixture of so many vertices times the square of clusters worth its time, which grows with that: about two seconds.
const MOST_WORK: usize = 40_000_000;
/// It begins with twice as many parts as clusters are wanted, or with as many as there may be, and so many more.
const MORE_PARTS: usize = 3;
/// Runs on what it says, which is a few points for each of them, and tries at a better seeding.
const RUNS: usize = 5;
const LOCAL_SEARCH_STEPS: usize = 50;

/// A map, and how good each of its levels is.
pub(super) struct OnMap<'a> {
    map: &'a ReleasedMap,
    coreset: PrivateCoreset,
    levels: Vec<Resolution>,
    public_box: &'a PublicBox,
}

impl<'a> OnMap<'a> {
    pub(super) fn new(
        map: &'a ReleasedMap,
        levels: Vec<MapLevel>,
        public_box: &'a PublicBox,
    ) -> Self {
        let dim = public_box.dim();
        let widths: Vec<f64> = (0..dim).map(|i| public_box.width(i)).collect();
        let levels = levels.into_iter().map(|level| {
            let steps = f64::from(level.vertices_per_dimension - 1);
            Resolution {
                side: widths.iter().fold(0.0, |longest: f64, width| longest.max(width / steps)),
                volume: widths.iter().map(|width| width / steps).product(),
                noise: level.standard_deviation.powi(2),
            }
        });
        Self { map, coreset: map.coreset(), levels: levels.collect(), public_box }
    }

    /// As many centres as wanted, or, where the number is to be found, as there are clusters, at most so many.
    pub(super) fn start(self, k: usize, settings: PrivateKMeansSettings) -> Start {
        let mut rng = public_generator(settings.public_seed, Purpose::MapSolver);
        let takes_long = k > MOST_IN_A_MODEL || self.coreset.len() * k * k > MOST_WORK;
        if takes_long && !settings.finds_k {
            return self.of_map(k, &mut rng);
        }
        let parts = if takes_long {
            k
        } else if settings.finds_k {
            k + MORE_PARTS
        } else {
            2 * k + MORE_PARTS
        };
        let parts = self.map.kmeans(parts, &mut rng).expect("k was checked");
        let map = self.weighted();
        match Explained::new(&map, parts.centres.view().coords(), k) {
            Ok(explained) if settings.finds_k => self.at(&explained.clusters()),
            Ok(explained) => match explained.exactly(k) {
                Some(clusters) => self.at(clusters),
                None => self.of_model(&explained.without_noise(self.public_box), k, &mut rng),
            },
            Err(one) if settings.finds_k => self.at(&one),
            Err(_) => self.of_map(k, &mut rng),
        }
    }

    fn at(&self, clusters: &[Cluster]) -> Start {
        let counts = clusters.iter().map(|one| records(one.count)).collect();
        let centres = clusters.iter().flat_map(|one| one.at.iter().copied()).collect();
        Start::at(Points::new(centres, self.public_box.dim()).expect("whole rows"), counts)
    }

    fn of_map(&self, k: usize, rng: &mut ChaCha20Rng) -> Start {
        let found = self.map.clustering(k, rng).expect("k was checked");
        Start::at(found.centres, found.counts)
    }

    /// By k-means on a mixture that explains the map. One of fewer clusters says nothing about so many.
    fn of_model(&self, model: &PrivateCoreset, k: usize, rng: &mut ChaCha20Rng) -> Start {
        if model.len() < k {
            return self.of_map(k, rng);
        }
        let local_search_steps = LOCAL_SEARCH_STEPS;
        let settings = KMeansSettings { restarts: RUNS, local_search_steps, ..Default::default() };
        let solver = KMeans::new(k, settings).expect("few");
        let fit = solver.post_fit(model, rng).expect("released points are finite");
        let centres = self.map.inside(fit.centres).expect("released points are of its box");
        let counts = nearest_weights(model, centres.view());
        Start::at(centres, counts)
    }

    fn weighted(&self) -> Weighted<'_> {
        Weighted {
            places: self.coreset.points().coords(),
            weights: self.coreset.weights(),
            dim: self.public_box.dim(),
            levels: self.levels.clone(),
        }
    }
}
