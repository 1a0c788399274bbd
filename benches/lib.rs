//! Shared inputs of the benchmarks. They measure speed and assert nothing.

use dp_geometry::Points;
use rand::rngs::ChaCha20Rng;
use rand::{Rng, RngExt, SeedableRng};
use rand_distr::{Distribution, StandardNormal};

/// `n` points of 64 unit Gaussians with centres uniform in `[-100, 100]^dim`, from a fixed seed.
///
/// # Panics
/// If `dim` is zero.
pub fn blobs(n: usize, dim: usize) -> Points {
    const CLUSTERS: usize = 64;
    let mut rng = ChaCha20Rng::seed_from_u64(0);
    let centres: Vec<f64> = (0..CLUSTERS * dim).map(|_| rng.random_range(-100.0..100.0)).collect();
    let coords = (0..n * dim)
        .map(|i| centres[i / dim % CLUSTERS * dim + i % dim] + normal(&mut rng))
        .collect();
    Points::new(coords, dim).expect("whole rows")
}

fn normal(rng: &mut impl Rng) -> f64 {
    StandardNormal.sample(rng)
}
