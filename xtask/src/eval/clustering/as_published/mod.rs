//! What is published under the names of our algorithms and does not keep its promise, for comparison
//! only: never in a library, never private.
//!
//! Written from the papers and from descriptions of the public code, in plain floating point; where
//! a constant was not known it was chosen to be kind to the published method. `docs/errata.md` says
//! what is wrong with each.

mod dp_lloyd;
mod dpm;

pub(crate) use dp_lloyd::DpLloyd;
pub(crate) use dpm::Dpm;

use rand::{Rng, RngExt};

/// The integer part of a small number; negative ones become 0.
#[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "saturates")]
fn whole(value: f64) -> usize {
    value as usize
}

/// Laplace noise by the inverse of its distribution function, as textbooks have it.
fn laplace<R: Rng + ?Sized>(scale: f64, rng: &mut R) -> f64 {
    let u: f64 = rng.random::<f64>() - 0.5;
    -scale * u.signum() * (1.0 - 2.0 * u.abs()).max(f64::MIN_POSITIVE).ln()
}

/// An index with probability proportional to `exp(log_weights[i])`.
fn choose<R: Rng + ?Sized>(log_weights: &[f64], rng: &mut R) -> usize {
    let largest = log_weights.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let weights: Vec<f64> = log_weights.iter().map(|weight| (weight - largest).exp()).collect();
    let mut left = rng.random::<f64>() * weights.iter().sum::<f64>();
    for (index, weight) in weights.iter().enumerate() {
        left -= weight;
        if left < 0.0 {
            return index;
        }
    }
    weights.len() - 1
}
