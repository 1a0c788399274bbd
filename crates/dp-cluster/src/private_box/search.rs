//! Rounds of nested boxes: the calibrated draws, and what follows from them.

use dp_accounting::{Mu, Step};
use dp_geometry::PublicBox;
use dp_mechanism::passes::{Counted, Next, StateError, TableError};
use dp_mechanism::{Draws, GaussianSum, NoisyCount};
use serde::{Deserialize, Serialize};

use super::FoundBox;
use super::nest::{BOXES, Nest, UNITS, half_width};
use crate::ClusterError;
use crate::kmeans::MAX_MAGNITUDE;
use crate::passes::{LARGEST, Question, are_in, asks, is_there};

/// The step of the receipt that pays for all of it, and its leaves.
const STEP: &str = "private box";
const TOTAL: &str = "number of records";
const COUNTS: &str = "counts of nested boxes";
const MEAN: &str = "mean of a box";

/// Looks at the records, each around the mean of the one before.
const ROUNDS: usize = 4;
/// What the number of all records gets, where each count of a round and each mean gets 1: the sum of a round's counts, which is free, has the noise of
/// all of them, ten times that of one, and every decision and mean depends on it.
const TOTAL_WEIGHT: f64 = 0.25;
/// And all together.
const WEIGHT: f64 = TOTAL_WEIGHT + (2 * ROUNDS - 1) as f64;
/// Of so many coordinates the squared length of a sum is still a number: a bound that saturates would be too small.
const MOST_DIMENSIONS: usize = 1 << 20;
/// How sure a search has to be.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Surely {
    /// A ring between two boxes has records if it seems to have so many standard deviations of its noise.
    deviations: f64,
    /// Noise may hide this part of all records.
    hidden: f64,
}

impl Surely {
    /// Noise alone makes a ring look as if it had records, of 96 rings and as many sums in each round, in two runs of a thousand; a box so found is
    /// wider than it could be.
    pub(crate) const WELL: Self = Self { deviations: 4.5, hidden: 0.05 };
    /// Where records outside of the box are seen as well, if not as well as those in it, and a box far too wide would lose all.
    pub(crate) const ROUGHLY: Self = Self { deviations: 3.7, hidden: 0.4 };
}

/// Counts of an earlier round are of the same ring, about, if its middle was no further than that from where it is now, in halves of the box in the ring.
const NEAR: f64 = 0.2;
/// For each factor of two that the public box is too wide beyond [`FITS`], so many times more may be hidden, up to [`MOST_HIDDEN`].
const HIDDEN_PER_OCTAVE: f64 = 0.5;
const FITS: f64 = 0.25;
const MOST_HIDDEN: f64 = 0.5;

/// A checked and calibrated search.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct BoxSearch {
    total: NoisyCount,
    counts: GaussianSum,
    mean: GaussianSum,
    surely: Surely,
}

impl BoxSearch {
    /// A search that costs `mu`.
    pub(crate) fn new(
        public_box: &PublicBox,
        mu: Mu,
        surely: Surely,
    ) -> Result<Self, ClusterError> {
        let diagonal = public_box.diagonal();
        if !(1.0 / MAX_MAGNITUDE..=MAX_MAGNITUDE).contains(&diagonal) {
            let (name, want) = ("diagonal of the public box", "between 1e-75 and 1e75");
            return Err(ClusterError::Setting { name, got: diagonal, want });
        }
        let dim = public_box.dim();
        if dim > MOST_DIMENSIONS {
            let (name, want) = ("dimension of the public box", "at most 2^20");
            return Err(ClusterError::Setting { name, got: dim as f64, want });
        }
        let parts = mu.split(&[vec![TOTAL_WEIGHT], vec![1.0; 2 * ROUNDS - 1]].concat())?;
        let [counts, mean] = [parts[1], parts[2]].map(GaussianSum::rounded);
        Ok(Self { total: NoisyCount::rounded(parts[0])?, counts: counts?, mean: mean?, surely })
    }

    /// Which share of the square of `mu` makes the noise in a count of a ring so many records.
    pub(crate) fn share_for_noise(records: f64, mu: Mu) -> f64 {
        WEIGHT / (records * mu.get()).powi(2)
    }

    /// Which share a search should get to be sure of a box [well](Surely::WELL), wherever so many records are in it, with a quarter more than
    /// needed on average.
    pub(crate) fn share_to_be_sure(records: f64, mu: Mu) -> f64 {
        let Surely { deviations, hidden } = Surely::WELL;
        Self::share_for_noise(hidden * records / (1.25 * deviations), mu)
    }

    /// The itemised cost.
    pub(crate) fn spent(&self) -> Step {
        let total = vec![Step::spend(TOTAL, self.total.loss())];
        let counts = vec![Step::spend(COUNTS, self.counts.loss()); ROUNDS];
        let means = vec![Step::spend(MEAN, self.mean.loss()); ROUNDS - 1];
        Step::sequential(STEP, [total, counts, means].concat())
    }

    /// What is asked first.
    pub(crate) fn first(public_box: &PublicBox) -> (BoxState, Question) {
        let nest = Nest::new(public_box);
        let state = BoxState {
            round: 0,
            nest: nest.clone(),
            total: None,
            of_mean: None,
            looks: Vec::new(),
        };
        (state, Question::nest(nest))
    }

    /// That a run in this box can have got here, and asks this.
    pub(crate) fn fits(
        public_box: &PublicBox,
        state: &BoxState,
        question: &Question,
    ) -> Result<(), TableError> {
        let within = StateError::unless_within;
        // The last round asks for no mean.
        let last = ROUNDS - 1 - usize::from(state.of_mean.is_some());
        within("number of the round", state.round as f64, [0.0, last as f64])?;
        let Nest { public_box: of_nest, middle, .. } = &state.nest;
        is_there("the box of the plan", of_nest == public_box)?;
        StateError::unless_equal("dimension of a middle", middle.len(), public_box.dim())?;
        are_in(middle, public_box)?;
        let narrowest = half_width(BOXES - 1);
        let is_begun = state.round > 0 || state.of_mean.is_some();
        is_there("the number of records", state.total.is_some() == is_begun)?;
        let looks = state.round + usize::from(state.of_mean.is_some());
        StateError::unless_equal("number of looks", state.looks.len(), looks)?;
        state.looks.iter().try_for_each(|look| {
            StateError::unless_equal("dimension of a middle", look.middle.len(), middle.len())?;
            are_in(&look.middle, public_box)?;
            StateError::unless_equal("number of boxes", look.counts.len(), BOXES)?;
            let counts = look.counts.iter().map(|&count| count as f64);
            StateError::unless_all_within("count of a ring", counts, [-LARGEST, LARGEST])
        })?;
        let Some(OfMean { half, is_sure }) = state.of_mean else {
            return asks(question, &Question::nest(state.nest.clone()));
        };
        within("half of a box", half, [narrowest, 1.0])?;
        let least = if is_sure { 1.0 } else { -LARGEST };
        StateError::unless_all_within("number of records", state.total, [least, LARGEST])?;
        asks(question, &Question::nest(Nest { half: Some(half), ..state.nest.clone() }))
    }

    /// Draws on what was counted. The box found, if it has at most `widest` times the width of the public one, and that if not.
    pub(crate) fn answer(
        &self,
        mut state: BoxState,
        widest: f64,
        counted: &Counted,
        draws: &mut Draws<'_>,
    ) -> Next<BoxState, Question, FoundBox> {
        let draws = &mut draws.within(STEP);
        let round = state.round;
        let total = state
            .total
            .unwrap_or_else(|| self.total.release(counted.rows, &mut draws.leaf(TOTAL, 0)) as f64);
        state.total = Some(total);
        if let Some(OfMean { half, is_sure }) = state.of_mean.take() {
            let length_squared = length_squared(state.nest.dim());
            let draw = &mut draws.leaf(MEAN, round);
            let sums = self.mean.release(&counted.entries, length_squared, draw);
            if is_sure {
                state.nest.move_by(half, |i| sums[i] as f64 / UNITS as f64 / total);
            }
            state.round += 1;
            let question = Question::nest(state.nest.clone());
            return Next::Ask(state, question);
        }
        let noise = self.counts.noise_multiplier();
        let counts = self.counts.release(&counted.entries, 1, &mut draws.leaf(COUNTS, round));
        let Surely { deviations, hidden } = self.surely;
        state.looks.push(Look { middle: state.nest.middle.clone(), counts: counts.clone() });
        let ring = outermost(&state.by_shift(), noise, deviations);
        let half = half_width(ring);
        let octaves_too_wide = (FITS / (2.0 * half)).log2().max(0.0);
        let hidden = (hidden * (1.0 + HIDDEN_PER_OCTAVE * octaves_too_wide)).min(MOST_HIDDEN);
        let is_sure = deviations * noise <= hidden * total;
        if round + 1 < ROUNDS {
            let question = Question::nest(Nest { half: Some(half), ..state.nest.clone() });
            state.of_mean = Some(OfMean { half, is_sure });
            return Next::Ask(state, question);
        }
        let found = (is_sure && 2.0 * half <= widest).then(|| {
            let beyond = counts[..ring].iter().map(|&count| count as f64).sum::<f64>();
            let share_outside = (beyond / total).clamp(0.0, 1.0);
            state.nest.cut(half).map(|public_box| FoundBox { public_box, share_outside })
        });
        Next::Done(
            found
                .flatten()
                .unwrap_or(FoundBox { public_box: state.nest.public_box, share_outside: 0.0 }),
        )
    }
}

/// What a search has found out between two questions: released values only.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct BoxState {
    /// From 0.
    round: usize,
    nest: Nest,
    /// Noisy number of all records, from the first round on.
    total: Option<f64>,
    /// While the mean is asked for that the next round goes around.
    of_mean: Option<OfMean>,
    /// Noisy counts of all rounds so far.
    looks: Vec<Look>,
}

/// The noisy counts of a round.
#[derive(Clone, Debug, Serialize, Deserialize)]
struct Look {
    middle: Vec<f64>,
    counts: Vec<i64>,
}

impl BoxState {
    /// Whether nothing has been released yet.
    pub(crate) fn is_first(&self) -> bool {
        self.total.is_none()
    }

    /// How far the middle of each round is from where it is now, in widths of the public box, and its counts.
    fn by_shift(&self) -> Vec<(f64, &[i64])> {
        let Nest { public_box, middle, .. } = &self.nest;
        let shift = |look: &Look| {
            let steps = look.middle.iter().zip(middle).enumerate();
            let steps = steps.map(|(i, (then, now))| (then - now).abs() / public_box.width(i));
            steps.fold(0.0, f64::max)
        };
        self.looks.iter().map(|look| (shift(look), &*look.counts)).collect()
    }
}

/// The box that a mean is of.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
struct OfMean {
    half: f64,
    is_sure: bool,
}

/// Squared length of what a record adds to a sum, at most.
pub(super) fn length_squared(dim: usize) -> u64 {
    (UNITS * UNITS).unsigned_abs() * dim as u64
}

/// The widest ring that surely has records, alone or with all beyond it, by all rounds whose middle was about where it is now.
///
/// Of each round: how far off its middle was, and its counts. A record that is far outside is in the same rings of all such rounds, so that less noise hides it.
fn outermost(looks: &[(f64, &[i64])], noise: f64, deviations: f64) -> usize {
    let mut beyond = vec![0.0; looks.len()];
    let surely = (0..BOXES).position(|ring| {
        let (mut here, mut all, mut number) = (0.0, 0.0, 0.0);
        for ((shift, counts), beyond) in looks.iter().zip(&mut beyond) {
            let count = counts[ring] as f64;
            *beyond += count;
            if *shift <= NEAR * half_width(ring + 1) {
                (here, all, number) = (here + count, all + *beyond, number + 1.0);
            }
        }
        let least = deviations * noise * f64::sqrt(number);
        here > least || all > least * f64::sqrt(ring as f64 + 1.0)
    });
    surely.unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_box_ends_where_records_surely_are() {
        let with = |places: &[(usize, i64)]| {
            let mut counts = vec![0; BOXES];
            for &(ring, count) in places {
                counts[ring] = count;
            }
            outermost(&[(0.0, &counts)], 10.0, Surely::WELL.deviations)
        };
        assert_eq!(with(&[]), 0);
        assert_eq!(with(&[(20, 46), (40, 900)]), 20);
        // Not enough by itself, nor with all rings beyond it.
        assert_eq!(with(&[(20, 44), (40, 900)]), 40);
        // Many rings that have a few each.
        assert_eq!(with(&[(0, 40), (1, 40), (2, 40)]), 1);
    }

    /// Three rounds that saw the same, less than one would have to: as sure as one that sees root three times as much, unless the middle was elsewhere.
    #[test]
    fn rounds_around_about_the_same_middle_count_together() {
        let mut counts = vec![0; BOXES];
        (counts[6], counts[40]) = (30, 900);
        let with = |shifts: [f64; 3]| {
            outermost(&shifts.map(|shift| (shift, &*counts)), 10.0, Surely::WELL.deviations)
        };
        assert_eq!(with([0.0; 3]), 6);
        // The box in that ring is half of an eleventh of the public one.
        assert_eq!(with([0.0, 0.01, 0.017]), 6);
        assert_eq!(with([0.0, 0.01, 0.018]), 40);
        assert_eq!(with([0.5, 0.5, 0.0]), 40);
    }
}
