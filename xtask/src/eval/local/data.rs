//! Generated clusters in the cube `[-1, 1]^d`, one record per client.

use crate::error::Error;
use crate::eval::settings::Effort;
use dp_geometry::{Points, PublicBox};
use dp_mechanism::ChaCha20Rng;
use quietus_datasets::files;
use quietus_datasets::seed::named_rng;
use rand::RngExt;
use rand_distr::{Distribution as _, Exp1, StandardNormal};

/// The number of clusters of all sets.
pub(super) const K: usize = 8;

/// How the records of a cluster lie around its centre.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Shape {
    /// Gaussian, all clusters of one width and size.
    Equal,
    /// Gaussian, sizes 1 : 1/2 : ... : 1/8.
    Unequal,
    /// Two-sided exponential, widths from a half to twice: not what anything was tuned on.
    HeavyTails,
}

/// A set that can be generated.
#[derive(Clone, Debug)]
pub(crate) struct Set {
    pub(super) id: String,
    pub(super) n: usize,
    pub(super) dim: usize,
    pub(super) shape: Shape,
    width: f64,
}

/// All sets, of as many clients as there is time for.
pub(super) fn sets(effort: Effort) -> Vec<Set> {
    let n = match effort {
        Effort::Quick => 100_000,
        Effort::Standard | Effort::Full => 1_000_000,
    };
    let of = |dim, width, shape, name: &str| {
        let id = format!("local-{name}-d{dim}-n{n}");
        Set { id, n, dim, shape, width }
    };
    let mut all = vec![
        of(2, 0.06, Shape::Equal, "planted"),
        of(3, 0.12, Shape::Equal, "planted"),
        of(4, 0.08, Shape::Equal, "planted"),
        of(4, 0.08, Shape::Unequal, "unequal"),
        of(3, 0.06, Shape::HeavyTails, "heavy-tails"),
        of(10, 0.05, Shape::Equal, "planted"),
    ];
    if effort == Effort::Quick {
        all.truncate(1);
    }
    all
}

/// The cube.
pub(super) fn domain(dim: usize) -> Result<PublicBox, Error> {
    PublicBox::cube(dim, -1.0, 1.0).map_err(|error| Error::library("domain", &error))
}

/// The records, and their SHA-256.
pub(super) fn generate(set: &Set) -> Result<(Points, String), Error> {
    let mut rng = named_rng(&["local", &set.id]);
    let dim = set.dim;
    let mut centres: Vec<f64> = Vec::new();
    while centres.len() < K * dim {
        let new: Vec<f64> = (0..dim).map(|_| rng.random_range(-0.9..0.9)).collect();
        let squared = |centre: &[f64]| -> f64 {
            centre.iter().zip(&new).map(|(x, y)| (x - y) * (x - y)).sum()
        };
        if centres.chunks_exact(dim).all(|centre| squared(centre) >= 0.25) {
            centres.extend(new);
        }
    }
    let size = |at: usize| {
        if set.shape == Shape::Unequal { 1.0 / (at + 1) as f64 } else { 1.0 }
    };
    let total: f64 = (0..K).map(size).sum();
    let mut coords = Vec::with_capacity(set.n * dim);
    for _ in 0..set.n {
        let mut left = rng.random_range(0.0..total);
        let hit = (0..K).find(|at| {
            left -= size(*at);
            left < 0.0
        });
        let at = hit.unwrap_or(0);
        for centre in &centres[at * dim..(at + 1) * dim] {
            let away = noise(set, at, &mut rng);
            coords.push((centre + away).clamp(-1.0, 1.0));
        }
    }
    let bytes: Vec<u8> = coords.iter().flat_map(|x| x.to_le_bytes()).collect();
    let checksum = files::sha256_hex(&bytes);
    let points = Points::new(coords, dim).map_err(|error| Error::library("records", &error))?;
    Ok((points, checksum))
}

fn noise(set: &Set, at: usize, rng: &mut ChaCha20Rng) -> f64 {
    if set.shape == Shape::HeavyTails {
        let width = set.width * 2_f64.powf(2.0 * at as f64 / (K - 1) as f64 - 1.0);
        let size: f64 = Exp1.sample(rng);
        return if rng.random() { width * size } else { -width * size };
    }
    let normal: f64 = StandardNormal.sample(rng);
    set.width * normal
}
