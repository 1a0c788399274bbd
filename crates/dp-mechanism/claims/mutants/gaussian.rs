//! Gaussian noise for too short a change, and of the wrong law.

use dp_accounting::{Epsilon, gaussian_delta};
use dp_audit::{Law, Window, exact_law};
use dp_mechanism::{DiscreteGaussian, Noise, Ratio, RoundedGaussian, Source};

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
            .without_receipt()
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

/// A count with this noise of variance 1, which the exact curve of the Gaussian mechanism is claimed for: deltas over the claimed ones.
pub(super) fn count_by_the_curve(effort: Effort, noise: fn(Ratio) -> Noise) -> Found {
    let noise = noise(Ratio::new(1, 1).expect("one"));
    let law = |count| {
        exact_law(Window::new(-40, 41), |draws| draws.noisy(count, noise)).without_receipt()
    };
    let (here, there) = (law(0), law(1));
    let mut found = Found::claim(1.0);
    for step in 0..effort.of(111_u32, 1101) {
        let epsilon = 5.5 * f64::from(step) / effort.of(110.0, 1100.0);
        let claimed = gaussian_delta(1.0, Epsilon::new(epsilon).expect("valid")).get();
        let delta = here.delta(&there, epsilon).max(there.delta(&here, epsilon));
        found.see(delta / claimed, || format!("counts 0 and 1, epsilon {epsilon}"));
    }
    found
}

pub(super) fn discrete(variance: Ratio) -> Noise {
    Noise::Gaussian(DiscreteGaussian::new(variance).expect("positive"))
}

pub(super) fn rounded(variance: Ratio) -> Noise {
    Noise::Rounded(RoundedGaussian::new(variance).expect("positive"))
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
