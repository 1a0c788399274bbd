//! Public directions in space.

use std::f64::consts::TAU;

use rand::{Rng, RngExt};

/// `count` vectors of independent standard normal numbers, row-major `(count, dim)`, by the method of Box and Muller.
///
/// They are public coins in floating point: good for hashing, never for the noise of a release.
pub fn normal_directions<R: Rng + ?Sized>(count: usize, dim: usize, rng: &mut R) -> Vec<f64> {
    let mut coords = Vec::with_capacity(count * dim + 1);
    while coords.len() < count * dim {
        // 1 - u lies in (0, 1].
        let radius = (-2.0 * (1.0 - rng.random::<f64>()).ln()).sqrt();
        let (sine, cosine) = (TAU * rng.random::<f64>()).sin_cos();
        coords.extend([radius * cosine, radius * sine]);
    }
    coords.truncate(count * dim);
    coords
}
