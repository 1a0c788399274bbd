//! Counts of non-empty cells only, protected by a threshold.

use dp_audit::{Window, exact_law};
use dp_mechanism::{Ratio, Source};

use dp_audit::harness::toys::{count, for_each_one_more};
use dp_audit::harness::{Effort, Found};

const EPSILON: f64 = 1.0;
/// The noise is Laplace noise cut off at this many counts.
const REACH: i64 = 4;
const CELLS: usize = 2;

/// The most that shifted noise can show of itself: the probability of its last value.
fn delta() -> f64 {
    let weight = |z: i64| (-EPSILON * z.unsigned_abs() as f64).exp();
    weight(REACH) / (-REACH..=REACH).map(weight).sum::<f64>()
}

/// `(1/epsilon) ln(1/delta)`, times a constant that was lost or chosen too small.
pub(super) fn half_the_logarithm() -> f64 {
    0.5 / EPSILON * (1.0 / delta()).ln()
}

/// As far as the noise reaches: an empty cell with noise would never pass, so leaving it out makes
/// no difference.
pub(super) fn reach_of_the_noise() -> f64 {
    REACH as f64
}

/// The hockey-stick divergence at `EPSILON` over all data sets, against `delta`.
pub(super) fn released_counts(effort: Effort, threshold: fn() -> f64) -> Found {
    #[allow(clippy::cast_possible_truncation, reason = "a small number")]
    let threshold = threshold().floor() as i64;
    let mut found = Found::claim(delta());
    let law = |records: &[usize]| {
        exact_law(Window::none(), |draws| {
            let cell = |cell| count(records, |&&record| record == cell);
            (0..CELLS)
                .map(|index| Some(cell(index)).filter(|&n| n > 0).map(|n| n + noise(draws)))
                .map(|noisy| noisy.filter(|&noisy| noisy > threshold))
                .collect::<Vec<_>>()
        })
        .without_receipt()
    };
    for_each_one_more((CELLS, effort.of(2, 3)), law, |without, with, witness| {
        let delta = with.delta(without, EPSILON).max(without.delta(with, EPSILON));
        found.see(delta, || witness.to_owned());
    });
    found
}

/// Truncated Laplace noise is an exponential choice among its values.
fn noise(draws: &mut dyn Source) -> i64 {
    let scores: Vec<i64> = (-REACH..=REACH).map(|z| -z.abs()).collect();
    let index = draws.choose(&scores, Ratio::new(1, 1).expect("valid"));
    i64::try_from(index).expect("small") - REACH
}
