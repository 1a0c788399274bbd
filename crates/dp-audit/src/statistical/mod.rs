//! Lower bounds from samples alone: for pure claims, for Gaussian ones, one run at a time, and for
//! samplers.

use std::collections::BTreeMap;

use rand::rngs::ChaCha20Rng;
use rand::{RngExt, SeedableRng};

use crate::binomial::{lower_confidence_limit, upper_confidence_limit};

mod gaussian;
mod sampler;
mod sequential;

pub use gaussian::{mu_lower_bound, normal_quantile};
pub use sampler::{dkw_bound, largest_cdf_distance};
pub use sequential::{SequentialTest, Verdict};

/// Probability that an audit of a mechanism that keeps its claim reports more than the claim.
pub const ALPHA: f64 = 1e-6;

/// What samples have shown.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LowerBound {
    /// The true epsilon is above this, except with probability [`ALPHA`]; may be negative.
    pub epsilon: f64,
    /// Hits of the chosen event in the test half, from both data sets.
    pub hits: u64,
    /// Runs in all, both halves.
    pub runs: u64,
}

/// A lower bound on epsilon, from `runs` runs on either of two neighbouring data sets.
///
/// Each run is on the data set that a fair coin picks. If the mechanism is `epsilon`-DP, then
/// `Pr[first data set | event] <= e^epsilon / (1 + e^epsilon)`, so given the hits of an event their
/// share from the first data set is one binomial count: one exact limit, no union bound over rates.
/// The event is chosen on a training half and tested on the other; both directions are tried.
///
/// `run(first, rng)` makes one run and returns its output, or a summary of it.
pub fn epsilon_lower_bound<O: Ord + Clone>(
    runs: u64,
    seed: u64,
    run: impl Fn(bool, &mut ChaCha20Rng) -> O,
) -> LowerBound {
    let mut rng = ChaCha20Rng::seed_from_u64(seed);
    let mut sample = || {
        let mut counts: Counts<O> = BTreeMap::new();
        for _ in 0..runs / 2 {
            let first = rng.random::<bool>();
            let output = run(first, &mut rng);
            counts.entry(output).or_default()[usize::from(!first)] += 1;
        }
        counts
    };
    let (training, test) = (sample(), sample());
    let bound = |side: usize| {
        let event = best_event(&training, side);
        let [hits, others] = event
            .iter()
            .filter_map(|output| test.get(output))
            .fold([0, 0], |[hits, others], counts| {
                [hits + counts[side], others + counts[1 - side]]
            });
        let share = lower_confidence_limit(hits, hits + others, ALPHA / 2.0);
        LowerBound { epsilon: (share / (1.0 - share)).ln(), hits: hits + others, runs }
    };
    let (forward, backward) = (bound(0), bound(1));
    if forward.epsilon >= backward.epsilon { forward } else { backward }
}

/// A lower bound on epsilon from one event that is known beforehand, for example from the exact law
/// of the choice behind it: no half of the runs is spent on finding it, and only one direction is
/// tried, so the whole of [`ALPHA`] goes to it.
///
/// `hit(first, rng)` makes one run on the data set that a fair coin picks and says whether the event
/// happened; the bound is on how much likelier it is on the first.
pub fn epsilon_lower_bound_of_event(
    runs: u64,
    seed: u64,
    hit: impl Fn(bool, &mut ChaCha20Rng) -> bool,
) -> LowerBound {
    let mut rng = ChaCha20Rng::seed_from_u64(seed);
    let mut hits = [0, 0];
    for _ in 0..runs {
        let first = rng.random::<bool>();
        hits[usize::from(!first)] += u64::from(hit(first, &mut rng));
    }
    let share = lower_confidence_limit(hits[0], hits[0] + hits[1], ALPHA);
    LowerBound { epsilon: (share / (1.0 - share)).ln(), hits: hits[0] + hits[1], runs }
}

/// Per output, how often it came from the first and from the second data set.
type Counts<O> = BTreeMap<O, [u64; 2]>;

/// The set of outputs, by falling ratio of the two counts, with the best limit on the training half.
fn best_event<O: Ord + Clone>(training: &Counts<O>, side: usize) -> Vec<O> {
    let outputs: Vec<(&O, &[u64; 2])> = training.iter().collect();
    let counts = outputs.iter().map(|(_, counts)| [counts[side], counts[1 - side]]);
    best_places(&counts.collect::<Vec<_>>())
        .into_iter()
        .map(|place| outputs[place].0.clone())
        .collect()
}

/// The places in such a list of counts from here and from there.
fn best_places(counts: &[[u64; 2]]) -> Vec<usize> {
    let ratio = |place: usize| (counts[place][0] as f64 + 0.5) / (counts[place][1] as f64 + 0.5);
    let mut places: Vec<usize> = (0..counts.len()).collect();
    places.sort_by(|a, b| ratio(*b).total_cmp(&ratio(*a)));
    let (mut hits, mut others) = (0, 0);
    let limits = places.iter().map(|&place| {
        (hits, others) = (hits + counts[place][0], others + counts[place][1]);
        wilson(hits, others)
    });
    let best = limits.enumerate().max_by(|a, b| a.1.total_cmp(&b.1)).map_or(0, |(i, _)| i + 1);
    places.truncate(best);
    places
}

/// A cheap stand-in for the exact limit, to rank events by: Wilson's at about five sigma.
fn wilson(hits: u64, others: u64) -> f64 {
    let (n, z) = ((hits + others) as f64, 4.9);
    let p = hits as f64 / n;
    let margin = z * (p * (1.0 - p) / n + z * z / (4.0 * n * n)).sqrt();
    (p + z * z / (2.0 * n) - margin) / (1.0 + z * z / n)
}

/// A lower bound on delta at this epsilon for one event: `hits` of it in `runs` runs on the first
/// data set, `others` in as many on the second. Holds except with probability [`ALPHA`].
pub fn delta_lower_bound(hits: u64, others: u64, runs: u64, epsilon: f64) -> f64 {
    let here = lower_confidence_limit(hits, runs, ALPHA / 2.0);
    let there = upper_confidence_limit(others, runs, ALPHA / 2.0);
    (here - epsilon.exp() * there).max(0.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Randomised response that lies with probability `1 / (1 + e^epsilon)`.
    fn response(epsilon: f64) -> impl Fn(bool, &mut ChaCha20Rng) -> bool {
        move |truth, rng| truth == rng.random_bool(epsilon.exp() / (1.0 + epsilon.exp()))
    }

    /// Among 5,000 outputs that say nothing some come from one data set only: an event that was chosen on them must be tested on others.
    #[test]
    fn an_event_is_not_tested_on_what_it_was_chosen_on() {
        let nothing = |_: bool, rng: &mut ChaCha20Rng| rng.random_range(0..5_000_u32);
        let bound = epsilon_lower_bound(20_000, 3, nothing);
        assert!(bound.epsilon <= 0.0 && bound.hits > 100, "{bound:?}");
    }

    /// With about 10,000 hits of an event of odds `e`, the limit at `5e-7` lies about `.1` below the
    /// truth; so a claim of 1 survives a true 1 and falls to a true 1.25.
    #[test]
    fn an_honest_response_passes_and_an_overspent_one_is_caught() {
        let honest = epsilon_lower_bound(40_000, 1, response(1.0));
        let broken = epsilon_lower_bound(40_000, 1, response(1.25));
        assert!(honest.epsilon <= 1.0 && honest.epsilon > 0.8, "{honest:?}");
        assert!(broken.epsilon > 1.0, "{broken:?}");
    }

    /// An event that hardly comes from one of the two data sets, whichever it is.
    #[test]
    fn a_loss_in_either_direction_is_seen() {
        for rare in [true, false] {
            let run = |first: bool, rng: &mut ChaCha20Rng| first != rare && rng.random_bool(0.5);
            let bound = epsilon_lower_bound(4_000, 1, run);
            assert!(bound.epsilon > 3.0, "{rare}: {bound:?}");
        }
    }

    /// How much likelier it is on the first, not on the second.
    #[test]
    fn the_bound_of_an_event_has_a_side() {
        let honest = epsilon_lower_bound_of_event(40_000, 1, response(1.0));
        assert!(honest.epsilon <= 1.0 && honest.epsilon > 0.9, "{honest:?}");
        let lies = |first: bool, rng: &mut ChaCha20Rng| !response(1.0)(first, rng);
        let back = epsilon_lower_bound_of_event(40_000, 1, lies);
        assert!(back.epsilon < -0.9, "{back:?}");
    }

    #[test]
    fn a_hole_in_the_support_shows_as_delta() {
        assert!(delta_lower_bound(90, 0, 200, 1.0) > 0.05);
        assert!(delta_lower_bound(0, 0, 200, 1.0) <= 0.0);
    }

    #[test]
    fn no_runs_show_nothing() {
        assert!(epsilon_lower_bound(0, 1, response(1.0)).epsilon <= 0.0);
    }
}
