//! A map that has been released, and what is free from then on.

use dp_geometry::{Cloud, NestedGrid, Points, PublicBox};
use rand::Rng;
use serde::{Deserialize, Serialize};

use super::deviation::deviation;
use super::fit::MapFit;
use super::mechanism::MapLevel;
use super::vertices::grid_of;
use crate::clustering::{inside, nearest_weights};
use crate::coreset::PrivateCoreset;
use crate::kmeans::{KMeans, KMeansFit, KMeansSettings, MAX_MAGNITUDE};
use crate::kmedian::{KMedian, KMedianFit, KMedianSettings};
use crate::{ClusterError, Clustering};

/// A released map: a weight for every vertex of its finest level. Everything computed from it is free.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "MapFields")]
pub struct ReleasedMap {
    public_box: PublicBox,
    /// The part of the box where vertices are denser, if any is.
    finer: Option<PublicBox>,
    level: u32,
    total: f64,
    fit: MapFit,
}

/// The serialised form, before it is checked.
#[derive(Deserialize)]
#[serde(rename = "ReleasedMap")]
struct MapFields {
    public_box: PublicBox,
    #[serde(default)]
    finer: Option<PublicBox>,
    level: u32,
    total: f64,
    fit: MapFit,
}

impl TryFrom<MapFields> for ReleasedMap {
    type Error = ClusterError;

    /// # Errors
    /// [`ClusterError::Geometry`] if there are no such vertices, [`ClusterError::WeightsLength`] and [`ClusterError::Weight`].
    fn try_from(fields: MapFields) -> Result<Self, ClusterError> {
        let MapFields { public_box, finer, level, total, fit } = fields;
        let points = Cloud::new(&grid_of(&public_box, finer.as_ref())?, level)?.vertices();
        let weights = fit.weights.len();
        if weights != points {
            return Err(ClusterError::WeightsLength { points, weights });
        }
        if fit.weights.iter().chain([&total]).any(|weight| !(0.0..=MAX_MAGNITUDE).contains(weight))
        {
            return Err(ClusterError::Weight);
        }
        Ok(Self { public_box, finer, level, total, fit })
    }
}

/// The weight of every vertex where there seem to be no records: of all together, less than half a record.
const NOTHING: f64 = 1e-9;

/// Runs of a solver, of which the best is kept.
const RESTARTS: usize = 5;

/// Tries at a better seeding: plain k-means++ loses up to 8 % on a map.
pub(crate) fn local_search_steps(k: usize) -> usize {
    k.saturating_mul(4).clamp(25, 400)
}

impl ReleasedMap {
    pub(super) fn new(grid: &NestedGrid, level: u32, total: f64, fit: MapFit) -> Self {
        let (public_box, finer) = (grid.public_box().clone(), grid.finer().cloned());
        Self { public_box, finer, level, total, fit }
    }

    /// The grids whose vertices it has.
    pub(crate) fn grid(&self) -> NestedGrid {
        grid_of(&self.public_box, self.finer.as_ref()).expect("of a plan")
    }

    /// The number of records: public, or as far as it is known.
    pub fn total(&self) -> f64 {
        self.total
    }

    /// Vertices per dimension.
    pub fn vertices_per_dimension(&self) -> usize {
        (1 << self.level) + 1
    }

    /// The weights, and how good they are certified to be.
    pub fn fit(&self) -> &MapFit {
        &self.fit
    }

    /// How far noise moves the sum of a function over all records, as the map has it; `levels` are its plan's.
    pub(crate) fn deviation(&self, levels: &[MapLevel], function: impl Fn(&[f64]) -> f64) -> f64 {
        let cloud = Cloud::new(&self.grid(), self.level).expect("of a plan");
        let dim = self.public_box.dim();
        let values: Vec<f64> = cloud.places().chunks_exact(dim).map(function).collect();
        let levels = levels.iter().map(|level| (level.number(), level.standard_deviation.powi(2)));
        deviation(dim, levels, &self.fit.weights, &values)
    }

    /// The vertices that have a weight. If none has, since there seem to be no records, all have the same, which is too little to be
    /// counted.
    pub fn coreset(&self) -> PrivateCoreset {
        let cloud = Cloud::new(&self.grid(), self.level).expect("of a plan");
        let dim = self.public_box.dim();
        let places = cloud.places();
        let nothing = !self.fit.weights.iter().any(|weight| *weight > 0.0);
        let (mut coords, mut weights) = (Vec::new(), Vec::new());
        for (place, &weight) in places.chunks_exact(dim).zip(&self.fit.weights) {
            if nothing || weight > 0.0 {
                coords.extend_from_slice(place);
                weights.push(if nothing { NOTHING } else { weight });
            }
        }
        PrivateCoreset::released(Points::new(coords, dim).expect("whole rows"), weights)
    }

    /// Centres for k-means, by k-means++ with local search and Lloyd. `rng` only decides where the search starts.
    ///
    /// With no more than `k` vertices that have a weight, these come back with copies of the heaviest.
    ///
    /// # Errors
    /// [`ClusterError::ClusterCount`].
    pub fn kmeans(
        &self,
        k: usize,
        rng: &mut (impl Rng + ?Sized),
    ) -> Result<KMeansFit, ClusterError> {
        let local_search_steps = local_search_steps(k);
        let settings =
            KMeansSettings { restarts: RESTARTS, local_search_steps, ..Default::default() };
        let solver = KMeans::new(k, settings)?;
        let fit = solver.post_fit(&self.coreset(), rng)?;
        Ok(KMeansFit { centres: inside(fit.centres, &self.public_box), ..fit })
    }

    /// Centres for k-median.
    ///
    /// # Errors
    /// [`ClusterError::ClusterCount`].
    pub fn kmedian(
        &self,
        k: usize,
        rng: &mut (impl Rng + ?Sized),
    ) -> Result<KMedianFit, ClusterError> {
        let local_search_steps = Some(local_search_steps(k));
        let settings =
            KMedianSettings { restarts: RESTARTS, local_search_steps, ..Default::default() };
        let solver = KMedian::new(k, settings)?;
        let fit = solver.post_fit(&self.coreset(), rng)?;
        Ok(KMedianFit { centres: inside(fit.centres, &self.public_box), ..fit })
    }

    /// Centres for k-means with the records of each: a start for [re-centring](crate::recentring).
    ///
    /// # Errors
    /// [`ClusterError::ClusterCount`].
    pub fn clustering(
        &self,
        k: usize,
        rng: &mut (impl Rng + ?Sized),
    ) -> Result<Clustering, ClusterError> {
        let centres = self.kmeans(k, rng)?.centres;
        let counts = nearest_weights(&self.coreset(), centres.view());
        Ok(Clustering::of(centres, counts))
    }
}
