//! The plan and its one code path.

use dp_accounting::{AddRemove, Receipt, Step};
use dp_geometry::{Cloud, NestedGrid, PointsView, PublicBox};
use dp_mechanism::passes::{ByPasses, Counted, Next, TableError};
use dp_mechanism::{Algorithm, Cells, Change, Draws, GaussianSum, NoisyCount, Private};
use serde::{Deserialize, Serialize};

use super::fit::{Measured, fit};
use super::params::Asked;
use super::relation::MapRelation;
use super::released::ReleasedMap;
use super::vertices::Vertices;
use crate::ClusterError;
use crate::passes::{Question, asks, in_memory};

/// From this level on a part has vertices at its ends.
const LEAST_FINER: u32 = 4;
/// The steps of the receipt that pay for one level, and for the number of records where it is private.
const LEVEL: &str = "sums of one level";
const COUNT: &str = "number of records";

/// A checked and calibrated plan of a map. See the [module](super).
///
/// # Complexity
/// `O(n 2^d)` per level for the sums, then some hundred steps of the fit, each linear in the vertices. Memory does not depend on `n`: 8 bytes
/// per vertex and thread.
///
/// # Shapes and units
/// Records `(n, d)` in the units of the box, up to [`Cloud::MAX_DIM`] dimensions; a map has a weight in records for every vertex of its
/// finest level.
///
/// # Bad records
/// A coordinate outside of the box counts as on its boundary, which takes no two records further apart; NaN counts as the middle of its side.
/// Whether a release succeeds does not depend on the data, which may be empty.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "Asked<R>", into = "Asked<R>", bound = "R: MapRelation")]
pub struct PrivateMap<R: MapRelation> {
    pub(super) asked: Asked<R>,
    pub(super) grid: NestedGrid,
    pub(super) levels: Vec<Level>,
    pub(super) count: Option<NoisyCount>,
}

/// One level: where its sums are, and what they are released with.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Level {
    pub(super) cloud: Cloud,
    pub(super) change: Change,
    pub(super) noise: GaussianSum,
}

impl Level {
    /// Standard deviation of the noise of a vertex, in records.
    fn standard_deviation(&self) -> f64 {
        let change = (self.change.squared.max(1) as f64).sqrt() / Cloud::UNITS as f64;
        self.noise.noise_multiplier() * change
    }
}

/// What a plan says about one of its levels.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct MapLevel {
    /// Vertices per dimension, `2^level + 1`.
    pub vertices_per_dimension: u32,
    /// How much one record changes the sums of the level between neighbours, in squared units of `1 / `[`Cloud::UNITS`] of a record, and which
    /// bound that is: under `Within`, the smaller one.
    pub change: Change,
    /// Standard deviation of the noise of every vertex, in records.
    pub standard_deviation: f64,
}

impl MapLevel {
    /// There are two to the power of this cells per side.
    pub(crate) fn number(&self) -> u32 {
        (self.vertices_per_dimension - 1).trailing_zeros()
    }
}

impl<R: MapRelation> PrivateMap<R> {
    /// The levels, the coarsest first.
    pub fn levels(&self) -> Vec<MapLevel> {
        let level = |level: &Level| MapLevel {
            vertices_per_dimension: (1 << level.cloud.level()) + 1,
            change: level.change,
            standard_deviation: level.standard_deviation(),
        };
        self.levels.iter().map(level).collect()
    }

    /// The sums of all levels, one after the other.
    pub(super) fn vertices_asked(&self) -> Vertices {
        let levels = self.levels.iter().map(|level| level.cloud.level()).collect();
        Vertices::new(&self.grid, levels)
    }

    /// Of all levels together.
    pub(super) fn vertices(&self) -> usize {
        self.levels.iter().map(|level| level.cloud.vertices()).sum()
    }

    /// The number of records: public, or the mean of its noisy counts, the sum of every level being one, weighted by their variances.
    fn total(&self, levels: &[Measured], count: Option<i64>) -> f64 {
        let (Some(counted), Some(noise)) = (count, &self.count) else {
            return self.asked.records.unwrap_or(0) as f64;
        };
        let mut weight = noise.standard_deviation().powi(-2);
        let mut sum = weight * counted as f64;
        for level in levels {
            let one = level.precision / level.sums.len() as f64;
            weight += one;
            sum += one * level.sums.iter().sum::<f64>();
        }
        (sum / weight).max(0.0)
    }
}

impl PrivateMap<AddRemove> {
    /// The same map, finer in a part of its box, or, where it has too few vertices for that, of the part alone. What a record adds to a level does not depend on
    /// where its cells are, so that neither does the noise.
    pub(crate) fn finer_in(&self, part: &PublicBox) -> Self {
        let mut map = self.clone();
        let public_box = self.grid.public_box();
        if part == public_box {
            return map;
        }
        let grid = if self.finest() < LEAST_FINER {
            NestedGrid::new(part.clone())
        } else {
            NestedGrid::finer_in(public_box.clone(), part.clone())
        };
        if let Ok(grid) = grid {
            for level in &mut map.levels {
                level.cloud = Cloud::new(&grid, level.cloud.level()).expect("as before");
            }
            map.grid = grid;
        }
        map
    }
}

impl<R: MapRelation> Algorithm for PrivateMap<R> {
    type Relation = R;
    type Data<'a> = PointsView<'a>;
    type Shape = R::Shape;
    type Output = ReleasedMap;
    type Error = ClusterError;

    fn cost(&self) -> Receipt<R> {
        let mut steps: Vec<Step> =
            self.levels.iter().map(|level| Step::spend(LEVEL, level.noise.loss())).collect();
        steps.extend(self.count.iter().map(|count| Step::spend(COUNT, count.loss())));
        let spent = Step::sequential("map", steps);
        Receipt::new("private-map", self.asked.relation, self.asked.budget, spent)
    }

    fn shape(points: &PointsView<'_>) -> R::Shape {
        R::shape(*points)
    }

    /// # Errors
    /// [`ClusterError::Dimension`] if the records do not have the dimension of the public box, [`ClusterError::Records`] if their number is
    /// public and another one.
    fn check(&self, shape: &R::Shape) -> Result<(), ClusterError> {
        R::check(shape, self.grid.dim(), self.asked.records)
    }

    fn run(&self, points: Private<PointsView<'_>>, draws: &mut Draws<'_>) -> ReleasedMap {
        in_memory(points, self.first(), |(), counted| self.answer((), counted, draws))
    }
}

/// One pass.
impl<R: MapRelation> ByPasses for PrivateMap<R> {
    type Question = Question;
    type State = ();

    fn identity(&self) -> impl Serialize {
        self.hash()
    }

    fn public_rows(&self) -> Option<u64> {
        self.asked.records
    }

    fn shape_of(&self, question: &Question, rows: u64) -> R::Shape {
        R::shape_of(question.dim(), rows)
    }

    fn fits(&self, (): &(), question: &Question) -> Result<(), TableError> {
        asks(question, &self.first().1)
    }

    fn first(&self) -> ((), Question) {
        ((), Question::vertices(self.vertices_asked()))
    }

    fn answer(
        &self,
        (): (),
        counted: &Counted,
        draws: &mut Draws<'_>,
    ) -> Next<(), Question, ReleasedMap> {
        Next::Done(self.release_sums(&counted.entries, counted.rows, draws))
    }
}

impl<R: MapRelation> PrivateMap<R> {
    /// The one code path, from the sums of all levels.
    pub(crate) fn release_sums(
        &self,
        sums: &Cells<i64>,
        records: Private<u64>,
        draws: &mut Draws<'_>,
    ) -> ReleasedMap {
        let mut start = 0;
        let mut measured = Vec::with_capacity(self.levels.len());
        for (number, level) in self.levels.iter().enumerate() {
            let vertices = start..start + level.cloud.vertices();
            start = vertices.end;
            let draw = &mut draws.leaf(LEVEL, number);
            let noisy = level.noise.release(sums.range(vertices), level.change.squared, draw);
            let records = |units: i64| units as f64 / Cloud::UNITS as f64;
            measured.push(Measured {
                level: level.cloud.level(),
                sums: noisy.into_iter().map(records).collect(),
                precision: level.standard_deviation().powi(-2),
            });
        }
        let count =
            self.count.as_ref().map(|count| count.release(records, &mut draws.leaf(COUNT, 0)));
        let total = self.total(&measured, count);
        let fitted = fit(self.grid.dim(), &measured, total, self.asked.settings.fit_steps);
        ReleasedMap::new(&self.grid, self.finest(), total, fitted)
    }

    fn finest(&self) -> u32 {
        self.levels.last().map_or(0, |level| level.cloud.level())
    }
}

impl<R: MapRelation> TryFrom<Asked<R>> for PrivateMap<R> {
    type Error = ClusterError;

    fn try_from(asked: Asked<R>) -> Result<Self, ClusterError> {
        Self::new(asked)
    }
}

impl<R: MapRelation> From<PrivateMap<R>> for Asked<R> {
    fn from(plan: PrivateMap<R>) -> Self {
        plan.asked
    }
}
