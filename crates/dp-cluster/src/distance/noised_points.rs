//! Noise on every record.

use dp_accounting::{Budget, Mu, Receipt, Step, Within};
use dp_geometry::{Points, PointsView, PublicBox};
use dp_mechanism::{Algorithm, Change, Coordinates, Draws, GaussianSum, Modulus, Nearby, Private};
use rayon::prelude::*;

use crate::ClusterError;
use crate::coreset::PrivateCoreset;
use crate::kmeans::{MAX_MAGNITUDE, farthest};
use crate::map::{MapRelation, PublicSize};
use crate::table::rows_per_task;
use crate::total_rho::total_mu;

/// The step of the receipt that pays.
const POINTS: &str = "all points";

/// Releases every record with Gaussian noise. See the [module](super).
///
/// # Guarantee
/// `(epsilon, delta)`-DP under [`Within`] for the budget given, by the exact curve of the Gaussian mechanism: all records are one vector, of which
/// a neighbour's differs by a length of `rho`. From the diagonal of the box on that is the diagonal.
///
/// # Utility
/// Noise of standard deviation `rho / mu` on every coordinate of every record, whatever their number: 4.2 `rho` at epsilon 1 and delta 1e-6.
///
/// # Complexity
/// `O(n d)` draws, and as many numbers in memory.
///
/// # Shapes and units
/// `n` records `(n, d)`; `n` points of weight 1, in the box of twice the size around the public box.
///
/// # Bad records
/// A coordinate outside of the box counts as on its boundary, which takes no two records further apart; NaN counts as the middle of its side.
#[derive(Clone, Debug, PartialEq)]
pub struct NoisedPoints {
    public_box: PublicBox,
    relation: Within,
    records: u64,
    budget: Budget,
    units_per_length: f64,
    change: Change,
    noise: GaussianSum,
}

/// Units of the grid per `rho`, and most of them per side.
const UNITS: f64 = (1_u64 << 24) as f64;
const MOST_UNITS: f64 = (1_u64 << 40) as f64;

impl NoisedPoints {
    /// For a public number of records in this public box.
    ///
    /// # Errors
    /// [`ClusterError`] names the setting: a budget without a delta, a box whose coordinates are above `1e75`.
    pub fn new(
        public_box: PublicBox,
        nearby: Nearby<Coordinates>,
        records: u64,
        budget: Budget,
    ) -> Result<Self, ClusterError> {
        Self::at(public_box, nearby, records, budget, total_mu(budget)?)
    }

    /// The same for this part of the budget.
    pub(super) fn at(
        public_box: PublicBox,
        nearby: Nearby<Coordinates>,
        records: u64,
        budget: Budget,
        mu: Mu,
    ) -> Result<Self, ClusterError> {
        let dim = public_box.dim();
        let farthest = farthest(&public_box);
        let diagonal = public_box.diagonal();
        if farthest > MAX_MAGNITUDE || diagonal < 1.0 / MAX_MAGNITUDE {
            let (name, want) =
                ("the public box's extent", "at most 1e75, with a diagonal of at least 1e-75");
            return Err(ClusterError::Setting { name, got: farthest, want });
        }
        let units_per_length = (UNITS / nearby.rho().min(diagonal)).min(MOST_UNITS / diagonal);
        // A floor moves each coordinate by up to one unit; twice, in opposite directions at most by one in all, and a little for the product.
        let slack = (dim as f64).sqrt() * (1.0 + 1.0 / 256.0);
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "saturates where it does not matter"
        )]
        let replaced = (diagonal * units_per_length + slack).powi(2).ceil() as u64;
        let modulus = Modulus::new(units_per_length, slack, replaced, replaced)?;
        let noise = GaussianSum::rounded(mu)?;
        let change = modulus.moved(nearby);
        let relation = nearby.within();
        Ok(Self { public_box, relation, records, budget, units_per_length, change, noise })
    }

    /// Standard deviation of the noise of every coordinate, in the units of the box.
    pub fn standard_deviation(&self) -> f64 {
        self.noise.noise_multiplier() * (self.change.squared as f64).sqrt() / self.units_per_length
    }

    /// All coordinates in units from the lower bounds: a function of each alone.
    fn units(&self, points: PointsView<'_>) -> Vec<i64> {
        let dim = points.dim();
        let mut units = vec![0; points.len() * dim];
        let rows = rows_per_task(points.len());
        let tasks = units.par_chunks_mut(rows * dim).zip(points.coords().par_chunks(rows * dim));
        tasks.for_each(|(units, coords)| {
            for (at, (unit, x)) in units.iter_mut().zip(coords).enumerate() {
                let i = at % dim;
                let from_min = self.public_box.clip_coordinate(i, *x) - self.public_box.min(i);
                #[expect(clippy::cast_possible_truncation, reason = "at most 2^40")]
                let floor = (from_min * self.units_per_length).floor() as i64;
                *unit = floor;
            }
        });
        units
    }
}

impl Algorithm for NoisedPoints {
    type Relation = Within;
    type Data<'a> = PointsView<'a>;
    type Shape = PublicSize;
    type Output = PrivateCoreset;
    type Error = ClusterError;

    fn cost(&self) -> Receipt<Within> {
        let spent = Step::spend(POINTS, self.noise.loss());
        Receipt::new("noised-points", self.relation, self.budget, spent)
    }

    fn shape(points: &PointsView<'_>) -> PublicSize {
        Within::shape(*points)
    }

    /// # Errors
    /// [`ClusterError::Dimension`], [`ClusterError::Records`].
    fn check(&self, shape: &PublicSize) -> Result<(), ClusterError> {
        Within::check(shape, self.public_box.dim(), Some(self.records))
    }

    fn run(&self, points: Private<PointsView<'_>>, draws: &mut Draws<'_>) -> PrivateCoreset {
        let dim = self.public_box.dim();
        let records = usize::try_from(self.records).unwrap_or(usize::MAX);
        let units = points.map(|points| self.units(points)).cells(records.saturating_mul(dim));
        let noisy = self.noise.release(&units, self.change.squared, &mut draws.leaf(POINTS, 0));
        let coordinate = |(at, units): (usize, i64)| {
            let (i, half) = (at % dim, 0.5 * self.public_box.width(at % dim));
            let from_min = (units as f64 + 0.5) / self.units_per_length;
            self.public_box.min(i) + from_min.clamp(-half, 3.0 * half)
        };
        let coords = noisy.into_iter().enumerate().map(coordinate).collect();
        let points = Points::new(coords, dim).expect("whole rows");
        let weights = vec![1.0; points.len()];
        PrivateCoreset::released(points, weights)
    }
}
