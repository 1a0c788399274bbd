//! A start, then rounds that move its centres with soft steps.

use dp_accounting::{Budget, Mu, Receipt, Step, Within};
use dp_geometry::{Points, PointsView, PublicBox};
use dp_mechanism::{
    Algorithm, ChaCha20Rng, Coordinates, Draws, GaussianSum, Nearby, Private, Rule,
};
use rand::SeedableRng;

use super::NoisedPoints;
use super::soft_step::SoftStep;
use crate::clustering::{inside, records};
use crate::coreset::PrivateCoreset;
use crate::kmeans::{KMeans, KMeansSettings};
use crate::map::{MapRelation, PrivateMap, PrivateMapSettings, PublicSize};
use crate::nearest::assign;
use crate::table::sum_rows;
use crate::total_rho::total_mu;
use crate::{CentreError, ClusterError, Clustering};

/// Steps of the receipt.
const START: &str = "start";
const ROUND: &str = "sums of one round";

/// Dimensions up to which a map is the start.
const MAP_DIMENSIONS: usize = 3;

/// What the start gets of the square of `mu`: all but a fine adjustment, after a map.
const MAP_SHARE: f64 = 0.7;
const NOISED_SHARE: f64 = 0.4;

/// The radius holds this share of the start's points.
const QUANTILE: f64 = 0.95;

/// Radii over the softness: at 8, centres of soft steps cost 0.1 to 3 % more than those of hard ones.
const RADII_PER_SOFTNESS: f64 = 8.0;

/// Private k-means for records that are hidden up to a distance. See the [module](super).
///
/// The start is a [map](crate::map) in up to three dimensions, [noised points](NoisedPoints) above; then every round releases one [`SoftStep`]. Where a step
/// would change faster with the record's move than with any replacement, it sends every record to its nearest centre instead.
///
/// # Guarantee
/// `(epsilon, delta)`-DP under [`Within`] for the budget given, by the exact curve of one Gaussian mechanism over start and rounds: radii, softness and
/// centres of a round follow from what was released before it.
///
/// # Utility
/// A round moves a centre of `m` records with noise of `rho L / mu` over `m`, with `L` about 6.6 at the default softness: the noise of the
/// start does not stay, and becomes less with more records.
/// That noise is in the [errors](CentreError) of the centres, with that of the counts; that records are shared is not.
///
/// But the rounds begin where noised points put the centres, and above three dimensions that noise grows: where `rho` is not far below the clusters'
/// size, hiding whole records costs less: [`NearbyKMeans`](super::NearbyKMeans) chooses.
///
/// # Complexity
/// `O(n k d)` per round, beside the start.
///
/// # Shapes, units, bad records
/// `n` records `(n, d)`; `k` centres in the public box with noisy counts. A coordinate outside of the box counts as on its boundary, NaN as the middle.
///
/// # Source
/// Ours; rounds as in [re-centring](crate::recentring).
#[derive(Clone, Debug, PartialEq)]
pub struct SoftRecentred {
    public_box: PublicBox,
    nearby: Nearby<Coordinates>,
    records: u64,
    k: usize,
    budget: Budget,
    start: Start,
    rounds: Vec<GaussianSum>,
    public_seed: u64,
}

#[derive(Clone, Debug, PartialEq)]
enum Start {
    Map(Box<PrivateMap<Within>>),
    Noised(NoisedPoints),
}

impl SoftRecentred {
    /// For a public number of records in this public box, to be put in `k` clusters. `public_seed` decides where the solver of the start begins; it
    /// hides nothing.
    ///
    /// # Errors
    /// [`ClusterError`] names the setting, its value and what would be accepted.
    pub fn new(
        public_box: PublicBox,
        nearby: Nearby<Coordinates>,
        records: u64,
        k: usize,
        budget: Budget,
        public_seed: u64,
    ) -> Result<Self, ClusterError> {
        if !(1..=1 << 16).contains(&k) {
            let want = "between 1 and 65536";
            return Err(ClusterError::Setting { name: "k", got: k as f64, want });
        }
        let by_map = public_box.dim() <= MAP_DIMENSIONS;
        let (share, rounds) = if by_map { (MAP_SHARE, 2_usize) } else { (NOISED_SHARE, 3) };
        let mut shares = vec![(1.0 - share) / rounds as f64; 1 + rounds];
        shares[0] = share;
        let losses = total_mu(budget)?.split(&shares)?;
        let start = if by_map {
            let settings = PrivateMapSettings { spend: Some(losses[0]), ..Default::default() };
            let map = PrivateMap::within(public_box.clone(), nearby, records, budget, settings)?;
            Start::Map(Box::new(map))
        } else {
            Start::Noised(NoisedPoints::at(public_box.clone(), nearby, records, budget, losses[0])?)
        };
        let sum = |mu: &Mu| GaussianSum::rounded(*mu).map_err(ClusterError::from);
        let rounds = losses[1..].iter().map(sum).collect::<Result<_, _>>()?;
        Ok(Self { public_box, nearby, records, k, budget, start, rounds, public_seed })
    }

    /// Centres of the start, and the released points that they were made from, with the variance of their noise.
    fn begin(
        &self,
        points: Private<PointsView<'_>>,
        draws: &mut Draws<'_>,
    ) -> (PrivateCoreset, f64) {
        match &self.start {
            Start::Map(map) => (map.run(points, draws).coreset(), 0.0),
            Start::Noised(noised) => {
                let noise = self.public_box.dim() as f64 * noised.standard_deviation().powi(2);
                (noised.run(points, draws), noise)
            }
        }
    }

    /// The distance from its centre within which most of the points lie, less what their noise explains.
    fn radius(&self, coreset: &PrivateCoreset, centres: &Points, noise: f64) -> f64 {
        let squared = assign(coreset.points(), centres.view()).squared_distances;
        let mut far: Vec<(f64, f64)> =
            squared.into_iter().zip(coreset.weights().iter().copied()).collect();
        far.sort_by(|a, b| a.0.total_cmp(&b.0));
        let total: f64 = coreset.weights().iter().sum();
        let mut below = 0.0;
        let within = far.iter().find(|(_, weight)| {
            below += weight;
            below >= QUANTILE * total
        });
        let diagonal = self.public_box.diagonal();
        let squared = within.map_or(0.0, |(squared, _)| squared - noise).max(0.0);
        squared.sqrt().clamp(diagonal / 1_000.0, diagonal)
    }
}

impl Algorithm for SoftRecentred {
    type Relation = Within;
    type Data<'a> = PointsView<'a>;
    type Shape = PublicSize;
    type Output = Clustering;
    type Error = ClusterError;

    fn cost(&self) -> Receipt<Within> {
        let start = match &self.start {
            Start::Map(map) => map.cost(),
            Start::Noised(noised) => noised.cost(),
        };
        let mut steps = vec![Step::sequential(START, vec![start.spent().clone()])];
        steps.extend(self.rounds.iter().map(|round| Step::spend(ROUND, round.loss())));
        let spent = Step::sequential("all steps", steps);
        Receipt::new("soft-recentred", self.nearby.within(), self.budget, spent)
    }

    fn shape(points: &PointsView<'_>) -> PublicSize {
        Within::shape(*points)
    }

    /// # Errors
    /// [`ClusterError::Dimension`], [`ClusterError::Records`].
    fn check(&self, shape: &PublicSize) -> Result<(), ClusterError> {
        Within::check(shape, self.public_box.dim(), Some(self.records))
    }

    fn run(&self, points: Private<PointsView<'_>>, draws: &mut Draws<'_>) -> Clustering {
        let (coreset, noise) = self.begin(points, &mut draws.within(START));
        let mut rng = ChaCha20Rng::seed_from_u64(self.public_seed);
        let settings =
            KMeansSettings { restarts: 3, local_search_steps: 4 * self.k, ..Default::default() };
        let solver = KMeans::new(self.k, settings).expect("k has been checked");
        let fit = solver.post_fit(&coreset, &mut rng).expect("released points are finite");
        let radius = self.radius(&coreset, &fit.centres, noise);
        let mut centres = inside(fit.centres, &self.public_box);
        let (mut counts, mut errors) = (Vec::new(), Vec::new());
        for (number, round) in self.rounds.iter().enumerate() {
            let softness = radius / RADII_PER_SOFTNESS;
            let soft = SoftStep::new(self.public_box.clone(), centres, radius, softness);
            let mut step = soft.expect("released centres, and a radius above 0");
            let modulus = step.modulus().expect("eight radii are finite");
            let change = modulus.moved(self.nearby);
            if change.rule == Rule::Replaced {
                step = step.hard();
            }
            let sums = points.map(|points| {
                sum_rows(
                    points,
                    step.width(),
                    || step.scratch(),
                    |scratch, _, row, sums| {
                        step.add(row, scratch, sums);
                    },
                )
            });
            let sums = sums.cells(step.width());
            let released = round.release(&sums, change.squared, &mut draws.leaf(ROUND, number));
            // Below this, a mean would be mostly noise.
            let sd = round.noise_multiplier() * (change.squared as f64).sqrt();
            let least = 2.0 * sd / (SoftStep::KAPPA * SoftStep::UNITS);
            (centres, counts) = step.moved(&released, least);
            let (dim, of_count) = (centres.dim(), sd / (SoftStep::KAPPA * SoftStep::UNITS));
            let error = |&count: &f64| {
                let moved = sd / SoftStep::UNITS * radius / count;
                // One that was not moved is where the start has put it.
                let variance =
                    if count > least { moved * moved } else { radius * radius / dim as f64 };
                CentreError::of_noise(
                    dim,
                    (variance, radius),
                    (count.max(1.0), of_count * of_count),
                )
            };
            errors = counts.iter().map(error).collect();
        }
        let clustering = Clustering::of(centres, counts.into_iter().map(records).collect());
        Clustering { errors: Some(errors), ..clustering }
    }
}
