//! The algorithms of the suite with their settings.

use crate::error::Error;
use crate::eval::distance::sources::distances;
use crate::eval::family::Label;
use dp_accounting::Budget;
use dp_cluster::distance::{
    NearbyKMeans, NoisedPoints, RegionCoreset, RegionCoresetSettings, RegionRule, SoftRecentred,
};
use dp_cluster::kmeans::{KMeans, KMeansSettings};
use dp_cluster::map::{PrivateMap, PrivateMapSettings};
use dp_cluster::private_kmeans::{PrivateKMeans, PrivateKMeansSettings};
use dp_cluster::recentring::{DpmRecentred, DpmRecentredSettings};
use dp_geometry::Points;
use dp_mechanism::{ChaCha20Rng, Mechanism, Nearby};
use quietus_datasets::sets::distance::{Scaled, Source};
use rand::RngExt;

/// Of the paper.
const DELTA: f64 = 1e-6;

/// One algorithm at one setting.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Method {
    algorithm: &'static str,
    how: How,
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum How {
    /// Not private.
    KMeans,
    /// Looks at no record.
    Uniform,
    DpmRecentred,
    PrivateKMeans,
    MapAddRemove,
    MapReplaceOne,
    Map {
        rho: f64,
    },
    Noised {
        rho: f64,
    },
    Regions {
        rho: f64,
        rule: RegionRule,
    },
    Soft {
        rho: f64,
    },
    /// The one that chooses.
    Nearby {
        rho: f64,
    },
}

/// Starts of what is not private: its best is what others are compared with.
const STARTS: usize = 10;

/// Starts on what has been released, and on so many records that one start takes half a minute.
const FREE_STARTS: usize = 5;
const FREE_STARTS_OF_MANY: usize = 1;
const MANY: usize = 50_000;

/// Dimensions up to which there is a map.
const MAP_DIMENSIONS: usize = 3;

/// All that runs on this source.
pub(super) fn all(source: &Source) -> Vec<Method> {
    let method = |algorithm, how| Method { algorithm, how };
    let mut all = vec![
        method("kmeans++", How::KMeans),
        method("public-uniform", How::Uniform),
        method("dpm-recentred", How::DpmRecentred),
        method("private-kmeans", How::PrivateKMeans),
    ];
    let has_map = source.dim() <= MAP_DIMENSIONS;
    if has_map {
        all.push(method("map-add-remove", How::MapAddRemove));
        all.push(method("map-replace-one", How::MapReplaceOne));
    }
    for &rho in distances(source) {
        all.push(method("noised-points", How::Noised { rho }));
        let regions = |rule| How::Regions { rho, rule };
        all.push(method("region-coreset", regions(RegionRule::NoisedPoint)));
        all.push(method("region-coreset-true", regions(RegionRule::TruePoint)));
        all.push(method("soft-recentred", How::Soft { rho }));
        if has_map {
            all.push(method("map", How::Map { rho }));
        } else {
            all.push(method("nearby-kmeans", How::Nearby { rho }));
        }
    }
    all
}

impl Method {
    pub(super) fn label(self) -> Label {
        let rho = match self.how {
            How::Map { rho }
            | How::Noised { rho }
            | How::Regions { rho, .. }
            | How::Soft { rho }
            | How::Nearby { rho } => Some(rho),
            _ => None,
        };
        let variant = rho.map_or("default".to_owned(), |rho| format!("ρ {rho}"));
        let relation = match self.how {
            How::KMeans => None,
            How::Uniform | How::DpmRecentred | How::PrivateKMeans | How::MapAddRemove => {
                Some("add-remove")
            }
            How::MapReplaceOne => Some("replace-one"),
            How::Map { .. }
            | How::Noised { .. }
            | How::Regions { .. }
            | How::Soft { .. }
            | How::Nearby { .. } => Some("within"),
        };
        let has_epsilon = !matches!(self.how, How::KMeans | How::Uniform);
        let (algorithm, once) = (self.algorithm, !has_epsilon);
        let delta = has_epsilon.then_some(DELTA);
        let params = rho.map(|rho| ("rho", rho.into())).into_iter().collect();
        Label { algorithm, variant, relation, has_epsilon, delta, once, params }
    }

    /// Its centres.
    pub(super) fn run(
        self,
        data: &Scaled,
        epsilon: f64,
        rng: &mut ChaCha20Rng,
    ) -> Result<Points, Error> {
        let (k, points, public_box) = (data.source.k, data.points.view(), data.public_box.clone());
        let (n, budget) = (points.len() as u64, Budget::new(epsilon, DELTA)?);
        let solver = |restarts| {
            let settings =
                KMeansSettings { restarts, local_search_steps: 2 * k, ..Default::default() };
            KMeans::new(k, settings)
        };
        let map = match self.how {
            How::KMeans => {
                return Ok(solver(STARTS)?.exact_fit(points, None, rng)?.centres);
            }
            How::Uniform => {
                let dim = points.dim();
                let anywhere = (0..2_000 * dim).map(|_| rng.random_range(-1.0..1.0)).collect();
                let anywhere = Points::new(anywhere, dim).expect("whole rows");
                return Ok(solver(1)?.exact_fit(anywhere.view(), None, rng)?.centres);
            }
            How::DpmRecentred => {
                let settings = DpmRecentredSettings { clusters: Some(k), ..Default::default() };
                let plan = DpmRecentred::new(public_box, budget, settings)?;
                return Ok(plan.simulate(points, rng)?.output.centres);
            }
            How::PrivateKMeans => {
                let settings = PrivateKMeansSettings {
                    expected_records: Some(n),
                    public_seed: rng.random(),
                    ..Default::default()
                };
                let plan = PrivateKMeans::new(public_box, k, budget, settings)?;
                return Ok(plan.simulate(points, rng)?.output.centres);
            }
            How::Noised { rho } => {
                let plan = NoisedPoints::new(public_box, Nearby::new(rho)?, n, budget)?;
                let noised = plan.simulate(points, rng)?.output;
                let starts = if points.len() > MANY { FREE_STARTS_OF_MANY } else { FREE_STARTS };
                return Ok(solver(starts)?.post_fit(&noised, rng)?.centres);
            }
            How::Regions { rho, rule } => {
                let settings = RegionCoresetSettings { rule, ..Default::default() };
                let coreset =
                    RegionCoreset::new(public_box, Nearby::new(rho)?, n, k, budget, settings)?
                        .simulate(points, rng)?
                        .output;
                return Ok(solver(FREE_STARTS)?.post_fit(&coreset, rng)?.centres);
            }
            How::Soft { rho } => {
                let (nearby, public_seed) = (Nearby::new(rho)?, rng.random());
                let plan = SoftRecentred::new(public_box, nearby, n, k, budget, public_seed)?;
                return Ok(plan.simulate(points, rng)?.output.centres);
            }
            How::Nearby { rho } => {
                let (nearby, public_seed) = (Nearby::new(rho)?, rng.random());
                let plan = NearbyKMeans::new(public_box, nearby, n, k, budget, public_seed)?;
                return Ok(plan.simulate(points, rng)?.output.centres);
            }
            How::MapAddRemove => {
                let settings =
                    PrivateMapSettings { expected_records: Some(n), ..Default::default() };
                let plan = PrivateMap::add_remove(public_box, budget, settings)?;
                plan.simulate(points, rng)?.output
            }
            How::MapReplaceOne => {
                let plan =
                    PrivateMap::replace_one(public_box, n, budget, PrivateMapSettings::default())?;
                plan.simulate(points, rng)?.output
            }
            How::Map { rho } => {
                let plan = PrivateMap::within(
                    public_box,
                    Nearby::new(rho)?,
                    n,
                    budget,
                    PrivateMapSettings::default(),
                )?;
                plan.simulate(points, rng)?.output
            }
        };
        Ok(map.kmeans(k, rng)?.centres)
    }
}
