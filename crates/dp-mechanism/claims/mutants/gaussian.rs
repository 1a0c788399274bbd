//! Counts per region with Gaussian noise for one region.

use dp_audit::{Law, Window, exact_law};
use dp_mechanism::{DiscreteGaussian, Ratio, Source};

use super::regions::{counts, moves};
use dp_audit::harness::{Effort, Found};

/// The claim is `EPSILON` at this `DELTA`.
const DELTA: f64 = 1e-6;
const EPSILON: f64 = 1.0;

/// The least variance for a change of length one, in tenths; the continuous Gaussian needs 17.85,
/// and on integers the last digits differ.
const TENTHS: u128 = 179;

/// The least epsilon at `DELTA` of both counts, for records that move by one place;
/// `squared_length` is how far the counts are said to move.
pub(super) fn counts_of_both(effort: Effort, squared_length: u128) -> Found {
    let variance = Ratio::new(TENTHS * squared_length, 10).expect("in range");
    let noise = DiscreteGaussian::new(variance).expect("positive");
    let mut found = Found::claim(EPSILON);
    for (here, there) in moves(effort.of(1, 2)) {
        let law = |records: &[usize]| -> Law<[i64; 2]> {
            // Beyond ten standard deviations on either side there is less than 1e-20.
            exact_law(Window::new(-60, 62), |draws: &mut dyn Source| {
                let mut both = counts(records);
                draws.noisy_vector(&mut both, noise);
                both
            })
        };
        // A record that stays in its region changes nothing.
        let epsilon = if counts(&here) == counts(&there) {
            0.0
        } else {
            least_epsilon(&law(&here), &law(&there))
        };
        found.see(epsilon, || format!("{here:?} and {there:?}, border between 1 and 2"));
    }
    found
}

/// By bisection, from above.
fn least_epsilon(here: &Law<[i64; 2]>, there: &Law<[i64; 2]>) -> f64 {
    let (mut low, mut high) = (0.0, 4.0 * EPSILON);
    for _ in 0..24 {
        let middle = f64::midpoint(low, high);
        let enough = here.delta(there, middle) <= DELTA;
        (low, high) = if enough { (low, middle) } else { (middle, high) };
    }
    high
}
