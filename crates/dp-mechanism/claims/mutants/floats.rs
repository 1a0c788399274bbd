//! Laplace noise by the textbook formula in floating point.

use dp_audit::{Window, exact_law};
use dp_mechanism::{ChaCha20Rng, SecureSource, Source};
use rand::RngExt;

use dp_audit::harness::toys::laplace;
use dp_audit::harness::{Effort, Found};

const EPSILON: f64 = 1.0;
/// Uniform numbers are multiples of this.
const STEP: f64 = 1.0 / (1_u64 << 53) as f64;

/// A released number, and the probability (up to a common factor) that this count releases it.
#[derive(Clone, Copy)]
pub(super) struct Sampler {
    release: fn(f64, &mut ChaCha20Rng) -> f64,
    mass: fn(f64, f64) -> f64,
}

/// `count - sign ln u`. Not through `Source`, which has no floating-point noise for this reason.
pub(super) const TEXTBOOK: Sampler = Sampler {
    release: |count, rng| {
        let sign = if rng.random::<bool>() { 1.0 } else { -1.0 };
        textbook(count, sign, rng.random_range(1..=1 << 53))
    },
    // Every uniform number that leads there: they lie around `e^-|noise|`, a few steps at most from
    // where exact arithmetic puts them, since a unit in the last place of the sum or difference
    // moves `u` by less than eight steps.
    mass: |released, count| {
        let noise = released - count;
        #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "at most 2^53")]
        let centre = ((-noise.abs()).exp() / STEP).round() as u64;
        let near = centre.saturating_sub(64).max(1)..=(centre + 64).min(1 << 53);
        let leads = |u: &u64| {
            let lands = |sign| textbook(count, sign, *u).to_bits() == released.to_bits();
            lands(1.0) || lands(-1.0)
        };
        near.filter(leads).count() as f64
    },
};

/// Integer noise from the sampler of every release.
pub(super) const INTEGERS: Sampler = Sampler {
    release: |count, rng| {
        #[allow(clippy::cast_possible_truncation, reason = "a small integer")]
        let noisy = SecureSource::new(rng).noisy(count as i64, laplace(EPSILON));
        noisy as f64
    },
    mass: |released, count| {
        #[allow(clippy::cast_possible_truncation, reason = "small integers")]
        let (released, count) = (released as i64, count as i64);
        // Only the middle of the window stands for itself; the ends stand for what is beyond.
        let law = exact_law(Window::new(released - 1, released + 1), |draws| {
            draws.noisy(count, laplace(EPSILON))
        })
        .without_receipt();
        law.probability(&released)
    },
};

fn textbook(count: f64, sign: f64, u: u64) -> f64 {
    count - sign / EPSILON * (u as f64 * STEP).ln()
}

/// The exact loss at released values, for counts of zero and one.
pub(super) fn released_values(effort: Effort, sampler: Sampler) -> Found {
    let mut found = Found::claim(EPSILON);
    let mut rng = effort.rng(62);
    for _ in 0..effort.of(500, 50_000) {
        for (here, there) in [(0.0, 1.0), (1.0, 0.0)] {
            let released = (sampler.release)(here, &mut rng);
            let mass = |count| (sampler.mass)(released, count);
            // Not a number, and so a failure, if a value is released that should be impossible.
            let loss = if mass(here) > 0.0 { (mass(here) / mass(there)).ln() } else { f64::NAN };
            found.see(loss, || format!("{released:?} from a count of {here}, never from {there}"));
        }
    }
    found
}
