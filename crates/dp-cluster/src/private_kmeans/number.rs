//! How many clusters there are: rounds with as many centres as there may be, what is spread around each, and what of them is one cluster.

use dp_accounting::{Mu, Step};
use dp_geometry::{PointsView, PublicBox};
use dp_mechanism::{Draws, GaussianSum, Private};

use super::parts::{Part, Parts};
use crate::ClusterError;
use crate::clustering::records;
use crate::located::Located;
use crate::recentring::{Centres, Recentring, Rounds, Start};
use crate::table::sum_rows;

/// The step of the receipt that pays for all of it, and the leaf that is not of its rounds.
const STEP: &str = "number of clusters";
const SPREADS: &str = "spreads";

/// What spreads get of what this may spend.
const SPREADS_SHARE: f64 = 0.15;
/// Rounds with as many centres as there may be.
const ROUNDS: usize = 2;
/// A record counts as no further from its centre than this many radii of the last of these rounds.
const REACH: f64 = 1.75;
/// Parts that are dropped are taken for so many records at most.
const LEAST_LEFT: f64 = 0.5;
/// What a record adds to the spread around its centre, at most.
const UNITS: i64 = 1 << 20;

/// A checked and calibrated search.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct NumberSearch {
    rounds: Recentring,
    spreads: GaussianSum,
}

impl NumberSearch {
    /// A search that costs `mu`.
    /// Of what its rounds get, `radii` is for the choice of radii.
    pub(super) fn new(
        public_box: PublicBox,
        most: usize,
        radii: f64,
        mu: Mu,
    ) -> Result<Self, ClusterError> {
        let rest = 1.0 - SPREADS_SHARE;
        let parts = mu.split(&[SPREADS_SHARE, rest * radii, rest * (1.0 - radii)])?;
        let rounds = Rounds::without_splits(ROUNDS);
        let rounds = Recentring::new(public_box, rounds, Some(most), [parts[1], parts[2]])?;
        Ok(Self { rounds, spreads: GaussianSum::rounded(parts[0])? })
    }

    /// The itemised cost.
    pub(super) fn spent(&self) -> Step {
        Step::sequential(STEP, vec![self.rounds.spent(), Step::spend(SPREADS, self.spreads.loss())])
    }

    /// The centres of as many clusters as there are.
    pub(super) fn run(
        &self,
        points: Private<PointsView<'_>>,
        public_box: &PublicBox,
        start: Start,
        draws: &mut Draws<'_>,
    ) -> Start {
        let draws = &mut draws.within(STEP);
        // Sums of noisy counts, unlike those of rounds, which are no smaller than their noise: with many centres these add up to too many.
        let all: f64 = start.counts.iter().map(|&count| count as f64).sum();
        let centres = self.rounds.in_box(public_box.clone()).settle(points, start, draws);
        let exact = points.map(|points| exact_spreads(points, public_box, &centres));
        let exact = exact.cells(centres.standings().len());
        let length_squared = (UNITS * UNITS).unsigned_abs();
        let spreads = self.spreads.release(&exact, length_squared, &mut draws.leaf(SPREADS, 0));
        let dim = public_box.dim();
        let rows = centres.view().rows().zip(centres.standings()).zip(&spreads);
        let parts = rows.map(|((row, standing), &spread)| {
            let reach = (REACH * standing.radius).powi(2);
            Part {
                at: row.to_vec(),
                count: standing.count,
                count_variance: standing.count_variance,
                variance: dim as f64 * standing.variance,
                spread: reach * beyond_reach(spread as f64 / UNITS as f64 / standing.count),
                spread_noise: reach * self.spreads.noise_multiplier() / standing.count,
            }
        });
        let found = Parts::new(parts.collect()).clusters();
        // Records of parts that were dropped are still there, near the centres that are left.
        let left: f64 = found.iter().map(|part| part.count).sum();
        let share = (left / all.max(1.0)).clamp(LEAST_LEFT, 1.0);
        let counts = found.iter().map(|part| records(part.count / share)).collect();
        let centres = found.into_iter().flat_map(|part| part.at).collect();
        let centres = dp_geometry::Points::new(centres, dim).expect("whole rows");
        Start { centres, counts, tree: None, reach: None }
    }
}

/// A mean square as a share of the squared reach, as if nothing had been moved there.
fn beyond_reach(share: f64) -> f64 {
    let share = share.clamp(0.0, 0.95);
    if share > 0.4 { share * 0.6 / (1.0 - share) } else { share }
}

/// The sum of squared distances to each centre, as shares of its squared reach.
fn exact_spreads(points: PointsView<'_>, public_box: &PublicBox, centres: &Centres) -> Vec<i64> {
    let mut located = Located::at(points, vec![0; points.len()]);
    located.update(public_box, centres.view(), true);
    let standings = centres.standings();
    sum_rows(
        points,
        standings.len(),
        || (),
        |(), number, _, sums| {
            let label = located.labels[number] as usize;
            let reach = REACH * standings[label].radius;
            let share = (located.distances[number] / reach).min(1.0).powi(2);
            #[allow(clippy::cast_possible_truncation, reason = "towards zero, at most UNITS")]
            {
                sums[label] += (share * UNITS as f64) as i64;
            }
        },
    )
}
