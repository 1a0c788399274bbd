//! Planted clusters of equal size in the cube `[-1, 1]^d`: normal, of width .05, with centres at least .5 apart.

use crate::error::Error;
use crate::eval::settings::Effort;
use dp_geometry::{Points, PublicBox};
use quietus_datasets::files;
use quietus_datasets::seed::named_rng;
use rand::RngExt;
use rand_distr::{Distribution as _, StandardNormal};

const WIDTH: f64 = 0.05;
const APART: f64 = 0.5;

/// A set that can be generated.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Set {
    pub(super) n: usize,
    pub(super) dim: usize,
    pub(super) k: usize,
}

impl Set {
    pub(super) fn id(self) -> String {
        format!("stable-n{}-d{}-k{}", self.n, self.dim, self.k)
    }
}

/// By the number of records, of clusters and of dimensions.
pub(super) fn sets(effort: Effort) -> Vec<Set> {
    let of = |n, dim, k| Set { n, dim, k };
    let mut all = vec![of(10_000, 4, 8)];
    if effort != Effort::Quick {
        all.extend([of(100_000, 4, 8), of(1_000_000, 4, 8)]);
        all.extend([of(100_000, 4, 2), of(100_000, 4, 32), of(100_000, 2, 8), of(100_000, 10, 8)]);
    }
    if effort == Effort::Full {
        all.push(of(10_000_000, 4, 8));
    }
    all
}

/// A set in memory.
pub(super) struct Planted {
    pub(super) records: Points,
    /// Of the records of each cluster.
    pub(super) means: Points,
    pub(super) public_box: PublicBox,
    /// SHA-256 of all coordinates.
    pub(super) checksum: String,
}

pub(super) fn generate(set: Set) -> Result<Planted, Error> {
    let Set { n, dim, k } = set;
    let mut rng = named_rng(&["stable", &set.id()]);
    let mut centres: Vec<f64> = Vec::new();
    while centres.len() < k * dim {
        let new: Vec<f64> = (0..dim).map(|_| rng.random_range(-0.8..0.8)).collect();
        let squared = |centre: &[f64]| -> f64 {
            centre.iter().zip(&new).map(|(x, y)| (x - y) * (x - y)).sum()
        };
        if centres.chunks_exact(dim).all(|centre| squared(centre) >= APART * APART) {
            centres.extend(new);
        }
    }
    let mut coords = Vec::with_capacity(n * dim);
    let mut means = vec![0.0; k * dim];
    for record in 0..n {
        let first = record % k * dim;
        for place in first..first + dim {
            let normal: f64 = StandardNormal.sample(&mut rng);
            let x = (centres[place] + WIDTH * normal).clamp(-1.0, 1.0);
            means[place] += x;
            coords.push(x);
        }
    }
    for (place, sum) in means.iter_mut().enumerate() {
        let cluster = place / dim;
        *sum /= (n / k + usize::from(cluster < n % k)) as f64;
    }
    let bytes: Vec<u8> = coords.iter().flat_map(|x| x.to_le_bytes()).collect();
    let checksum = files::sha256_hex(&bytes);
    let points =
        |coords| Points::new(coords, dim).map_err(|error| Error::library("stable", &error));
    let public_box = PublicBox::cube(dim, -1.0, 1.0);
    Ok(Planted {
        records: points(coords)?,
        means: points(means)?,
        public_box: public_box.map_err(|error| Error::library("stable", &error))?,
        checksum,
    })
}
