//! How many clusters there are: rounds with as many centres as there may be, what is spread around each, and what of them is one cluster.

use dp_accounting::{Mu, Step};
use dp_geometry::{Points, PublicBox};
use dp_mechanism::passes::{Counted, Next, StateError, TableError};
use dp_mechanism::{Draws, GaussianSum};
use serde::{Deserialize, Serialize};

use super::parts::{Part, Parts};
use super::spreads::{Spreads, UNITS};
use crate::ClusterError;
use crate::clustering::records;
use crate::passes::{LARGEST, Question, asks};
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
/// Parts that are dropped are taken for so many records at most.
const LEAST_LEFT: f64 = 0.5;

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

    /// What is asked first.
    pub(super) fn first(&self, public_box: &PublicBox, start: Start) -> (NumberState, Question) {
        // Sums of noisy counts, unlike those of rounds, which are no smaller than their noise: with many centres these add up to too many.
        let all = start.counts.iter().map(|&count| count as f64).sum();
        let (state, question) = self.rounds.in_box(public_box.clone()).first(start);
        (NumberState { all, at: At::Rounds(state) }, question)
    }

    /// That a run in this box can have got here, and asks this.
    pub(super) fn fits(
        &self,
        public_box: &PublicBox,
        state: &NumberState,
        question: &Question,
    ) -> Result<(), TableError> {
        StateError::unless_within("number of records", state.all, [-LARGEST, LARGEST])?;
        match &state.at {
            At::Rounds(state) => self.rounds.in_box(public_box.clone()).fits(state, question),
            At::Spreads(centres) => {
                centres.fits(public_box)?;
                let spreads = Spreads::within(REACH, centres, public_box);
                asks(question, &Question::spreads(spreads))
            }
        }
    }

    /// Draws on what was counted. The centres of as many clusters as there are.
    pub(super) fn answer(
        &self,
        public_box: &PublicBox,
        NumberState { all, at }: NumberState,
        counted: &Counted,
        draws: &mut Draws<'_>,
    ) -> Next<NumberState, Question, Start> {
        let draws = &mut draws.within(STEP);
        match at {
            At::Rounds(state) => {
                match self.rounds.in_box(public_box.clone()).answer(state, counted, draws) {
                    Next::Ask(state, question) => {
                        Next::Ask(NumberState { all, at: At::Rounds(state) }, question)
                    }
                    Next::Done(centres) => {
                        let question =
                            Question::spreads(Spreads::within(REACH, &centres, public_box));
                        Next::Ask(NumberState { all, at: At::Spreads(centres) }, question)
                    }
                }
            }
            At::Spreads(centres) => Next::Done(self.found(all, &centres, counted, draws)),
        }
    }

    fn found(
        &self,
        all: f64,
        centres: &Centres,
        counted: &Counted,
        draws: &mut Draws<'_>,
    ) -> Start {
        let length_squared = (UNITS * UNITS).unsigned_abs();
        let draw = &mut draws.leaf(SPREADS, 0);
        let spreads = self.spreads.release(&counted.entries, length_squared, draw);
        let dim = centres.view().dim();
        let rows = centres.view().rows().zip(centres.standings()).zip(&spreads);
        let parts = rows.map(|((row, standing), &spread)| {
            // A filter leans towards counts of before, of other parts.
            let (count, count_variance) = (standing.counted, standing.counted_variance);
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
