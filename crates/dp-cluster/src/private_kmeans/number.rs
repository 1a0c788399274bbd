//! How many clusters there are: rounds with as many centres as there may be, what is spread around each, and what of them is one cluster.

use dp_accounting::{Mu, Step};
use dp_geometry::{Points, PublicBox};
use dp_mechanism::passes::{Counted, Next};
use dp_mechanism::{Draws, GaussianSum};
use serde::{Deserialize, Serialize};

use super::parts::{Part, Parts};
use super::spreads::{Spreads, UNITS};
use crate::ClusterError;
use crate::clustering::records;
use crate::passes::Question;
use crate::recentring::{Centres, Recentring, RoundState, Rounds, Start};

/// The step of the receipt that pays for all of it, and the leaf that is not of its rounds.
const STEP: &str = "number of clusters";
const SPREADS: &str = "spreads";

/// What spreads get of what this may spend.
const SPREADS_SHARE: f64 = 0.15;
/// Rounds with as many centres as there may be.
const ROUNDS: usize = 2;
/// A record counts as no further from its centre than this many radii of the last of these rounds.
const REACH: f64 = 1.75;
/// Centres have moved since the start: its counts are off by about this share.
const DRIFT: f64 = 0.1;
/// Parts that are dropped are taken for so many records at most.
const LEAST_LEFT: f64 = 0.5;

/// A checked and calibrated search.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct NumberSearch {
    rounds: Recentring,
    spreads: GaussianSum,
    /// Standard deviation of the noise in a count of the start; infinite where that is not known.
    start_noise: f64,
}

impl NumberSearch {
    /// A search that costs `mu`.
    /// Of what its rounds get, `radii` is for the choice of radii. Counts of the start are known up to `start_noise`.
    pub(super) fn new(
        public_box: PublicBox,
        most: usize,
        radii: f64,
        mu: Mu,
        start_noise: f64,
    ) -> Result<Self, ClusterError> {
        let rest = 1.0 - SPREADS_SHARE;
        let parts = mu.split(&[SPREADS_SHARE, rest * radii, rest * (1.0 - radii)])?;
        let rounds = Rounds::without_splits(ROUNDS);
        let rounds = Recentring::new(public_box, rounds, Some(most), [parts[1], parts[2]])?;
        Ok(Self { rounds, spreads: GaussianSum::rounded(parts[0])?, start_noise })
    }

    /// The itemised cost.
    pub(super) fn spent(&self) -> Step {
        Step::sequential(STEP, vec![self.rounds.spent(), Step::spend(SPREADS, self.spreads.loss())])
    }

    /// What is asked first.
    pub(super) fn first(&self, public_box: &PublicBox, start: Start) -> (NumberState, Question) {
        // Sums of noisy counts, unlike those of rounds, which are no smaller than their noise: with many centres these add up to too many.
        let all = start.counts.iter().map(|&count| count as f64).sum();
        let counts = start.counts.clone();
        let (state, question) = self.rounds.in_box(public_box.clone()).first(start);
        (NumberState { all, counts, at: At::Rounds(state) }, question)
    }

    /// Draws on what was counted. The centres of as many clusters as there are.
    pub(super) fn answer(
        &self,
        public_box: &PublicBox,
        NumberState { all, counts, at }: NumberState,
        counted: &Counted,
        draws: &mut Draws<'_>,
    ) -> Next<NumberState, Question, Start> {
        let draws = &mut draws.within(STEP);
        match at {
            At::Rounds(state) => {
                match self.rounds.in_box(public_box.clone()).answer(state, counted, draws) {
                    Next::Ask(state, question) => {
                        Next::Ask(NumberState { all, counts, at: At::Rounds(state) }, question)
                    }
                    Next::Done(centres) => {
                        let question =
                            Question::spreads(Spreads::within(REACH, &centres, public_box));
                        Next::Ask(NumberState { all, counts, at: At::Spreads(centres) }, question)
                    }
                }
            }
            At::Spreads(centres) => {
                Next::Done(self.found((all, &counts), &centres, counted, draws))
            }
        }
    }

    /// How many records a part has, and the variance of that: what the rounds say, and the start, whose noise is less if it is a map.
    fn together(&self, (count, variance): (f64, f64), before: f64) -> (f64, f64) {
        let drift = DRIFT * count.max(before);
        let weights = [variance, self.start_noise.powi(2) + drift.powi(2)].map(f64::recip);
        let variance = (weights[0] + weights[1]).recip();
        (variance * (weights[0] * count + weights[1] * before), variance)
    }

    fn found(
        &self,
        (all, before): (f64, &[i64]),
        centres: &Centres,
        counted: &Counted,
        draws: &mut Draws<'_>,
    ) -> Start {
        let length_squared = (UNITS * UNITS).unsigned_abs();
        let draw = &mut draws.leaf(SPREADS, 0);
        let spreads = self.spreads.release(&counted.entries, length_squared, draw);
        let dim = centres.view().dim();
        let rows = centres.view().rows().zip(centres.standings()).zip(&spreads);
        let before = before.iter().chain(std::iter::repeat(&0));
        let parts = rows.zip(before).map(|(((row, standing), &spread), &before)| {
            let by_rounds = (standing.count, standing.count_variance);
            let (count, count_variance) = self.together(by_rounds, before as f64);
            let reach = (REACH * standing.radius).powi(2);
            Part {
                at: row.to_vec(),
                count,
                count_variance,
                variance: dim as f64 * standing.variance,
                spread: reach * beyond_reach(spread as f64 / UNITS as f64 / count),
                spread_noise: reach * self.spreads.noise_multiplier() / count,
            }
        });
        let found = Parts::new(parts.collect()).clusters();
        // Records of parts that were dropped are still there, near the centres that are left.
        let left: f64 = found.iter().map(|part| part.count).sum();
        let share = (left / all.max(1.0)).clamp(LEAST_LEFT, 1.0);
        let counts = found.iter().map(|part| records(part.count / share)).collect();
        let centres = found.into_iter().flat_map(|part| part.at).collect();
        Start::at(Points::new(centres, dim).expect("whole rows"), counts)
    }
}

/// Where a search stands between two questions: released values only.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct NumberState {
    /// Noisy number of all records.
    all: f64,
    /// Of the start.
    counts: Vec<i64>,
    at: At,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
enum At {
    Rounds(RoundState),
    Spreads(Centres),
}

/// A mean square as a share of the squared reach, as if nothing had been moved there.
fn beyond_reach(share: f64) -> f64 {
    let share = share.clamp(0.0, 0.95);
    if share > 0.4 { share * 0.6 / (1.0 - share) } else { share }
}
