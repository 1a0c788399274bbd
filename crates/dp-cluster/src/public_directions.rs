//! Randomness that everybody may know: it hides nothing, and is part of the settings.

use std::f64::consts::TAU;

use rand::rngs::ChaCha20Rng;
use rand::{Rng, RngExt, SeedableRng};

/// Public randomness for one purpose. Streams keep the purposes apart, and apart from the stream that a
/// generator starts with, so that it never runs along with that of a release, however it was seeded.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Purpose {
    Hyperplanes = 0x7075_6201,
    LshSolver,
    LloydStart,
    Projection,
    Grids,
    EmMcSolver,
    RingPlanes,
    RingSolver,
    MapSolver,
}

/// The public generator for a purpose.
pub(crate) fn public_generator(public_seed: u64, purpose: Purpose) -> ChaCha20Rng {
    let mut rng = ChaCha20Rng::seed_from_u64(public_seed);
    rng.set_stream(purpose as u64);
    rng
}

/// `count` vectors of independent standard normal numbers, row-major `(count, dim)`.
///
/// They are public randomness: they come from a seed that is part of the settings and hide nothing.
pub(crate) fn normal_directions<R: Rng + ?Sized>(
    count: usize,
    dim: usize,
    rng: &mut R,
) -> Vec<f64> {
    let mut coords = Vec::with_capacity(count * dim + 1);
    while coords.len() < count * dim {
        // Box and Muller; 1 - u lies in (0, 1].
        let radius = (-2.0 * (1.0 - rng.random::<f64>()).ln()).sqrt();
        let (sine, cosine) = (TAU * rng.random::<f64>()).sin_cos();
        coords.extend([radius * cosine, radius * sine]);
    }
    coords.truncate(count * dim);
    coords
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn directions_have_the_moments_of_the_normal_law() {
        let coords = normal_directions(1_001, 99, &mut ChaCha20Rng::seed_from_u64(5));
        let n = coords.len() as f64;
        assert_eq!(coords.len(), 1_001 * 99);
        let moment = |power| coords.iter().map(|x| x.powi(power)).sum::<f64>() / n;
        // Five standard errors: the variances of x, x^2 and x^4 are 1, 2 and 96. The seed is pinned.
        assert!(moment(1).abs() < 5.0 / n.sqrt());
        assert!((moment(2) - 1.0).abs() < 5.0 * (2.0 / n).sqrt());
        assert!((moment(4) - 3.0).abs() < 5.0 * (96.0 / n).sqrt());
    }
}
