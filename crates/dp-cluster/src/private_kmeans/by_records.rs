//! A plan that counts its records first, and has a way for every number of them.
//!
//! How much a search for a box, a start and radii should get, and whether there is anything to find, follows from the number of records. A noisy count
//! says it well enough for a hundredth to a twentieth of what there is, where a guess can be wrong. Each factor of 1.4, up to the number beyond which nothing
//! changes, has a way of its own. All of them spend what the count leaves: it decides how the budget is spent, not how much of it.

use dp_accounting::Mu;
use dp_mechanism::NoisyCount;

use super::even::Even;
use super::params::{Asked, HIDING_SIGNAL, Start};
use super::way::Way;
use crate::ClusterError;

/// From a way to the next: choices for records in the middle are as good for all between.
const STEP: f64 = std::f64::consts::SQRT_2;
/// Noise in the count, in numbers of records below which noise hides every cluster,
const NOISE: f64 = 1.0 / 3.0;
/// and no more than so many deviations of what the whole budget would put on it, as a few times that many records say where they are together,
const MOST_NOISE: f64 = 10.0;
/// unless that costs more than this of the square of `mu`.
const MOST_SHARE: f64 = 0.05;

impl Asked {
    fn may_be_even(&self) -> bool {
        let own = self.settings.start.is_some() || self.settings.finds_k;
        self.k <= Even::MOST && !own
    }

    /// The count, and what follows it. No count if all numbers of records go the same way.
    pub(super) fn counted_ways(
        &self,
        whole: Mu,
    ) -> Result<(Option<NoisyCount>, Vec<Way>), ClusterError> {
        let per_record = self.signal_of(1, whole);
        // A standard deviation of the count is 1 / mu records over the root of its share.
        let noise = (whole.get() * NOISE * HIDING_SIGNAL / per_record).min(MOST_NOISE);
        let share = noise.powi(-2).min(MOST_SHARE);
        let [count, rest] = whole.split(&[share, 1.0 - share])?[..] else {
            unreachable!("two shares, two parts")
        };
        let hidden = HIDING_SIGNAL / self.signal_of(1, rest);
        let mut least = hidden;
        let mut ways: Vec<Way> = Vec::new();
        loop {
            let typical = records(least * STEP.sqrt());
            let way = Way::new(self, rest, Some(typical), self.settings.start)?;
            let is_last = way.choices.are_settled(self, typical, rest) || typical == u64::MAX;
            if !ways.last().is_some_and(|last| last.does_as(&way)) {
                ways.push(Way { least: records(least), ..way });
            }
            if is_last {
                break;
            }
            least *= STEP;
        }
        if self.may_be_even() {
            let mut least = hidden;
            loop {
                let way = Way::new(self, rest, Some(records(least)), Some(Start::Even))?;
                let is_last = !way.choices.together || least <= 1.0;
                least /= STEP;
                ways.insert(0, Way { least: records(least), ..way });
                if is_last {
                    break;
                }
            }
        }
        ways[0].least = 0;
        let ways = told_apart(ways);
        let count = if ways.len() > 1 { Some(NoisyCount::rounded(count)?) } else { None };
        Ok((count, ways))
    }
}

/// Without those that no number of records leads to: where a large budget sees single records, several begin at one number. A receipt tells ways apart by that.
fn told_apart(ways: Vec<Way>) -> Vec<Way> {
    let mut kept: Vec<Way> = Vec::with_capacity(ways.len());
    for way in ways {
        kept.pop_if(|last| last.least == way.least);
        kept.push(way);
    }
    kept
}

/// So many, at least one.
#[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "saturates")]
fn records(number: f64) -> u64 {
    number.ceil().max(1.0) as u64
}
