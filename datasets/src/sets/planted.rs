//! Clusters planted in the cube `[-1, 1]^d`, with centres at least .5 apart.

use crate::Error;
use crate::files;
use crate::seed::named_rng;
use dp_geometry::{Points, PublicBox};
use dp_mechanism::ChaCha20Rng;
use rand::RngExt;
use rand_distr::{Distribution as _, Exp1, StandardNormal};

const APART: f64 = 0.5;

/// How the records of a cluster lie around its centre, and how many there are.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Shape {
    /// Gaussian, all clusters of one width; record `i` belongs to cluster `i mod k`.
    InTurn,
    /// Gaussian, all clusters of one width; each record belongs to any cluster.
    Equal,
    /// Gaussian, sizes 1 : 1/2 : ... : 1/k.
    Unequal,
    /// Two-sided exponential, widths from a half to twice: not what anything was tuned on.
    HeavyTails,
}

/// A set that can be generated.
#[derive(Clone, Debug, PartialEq)]
pub struct Set {
    /// Its name.
    pub id: String,
    /// The suite that its stream of randomness is named after.
    pub suite: &'static str,
    /// Records.
    pub n: usize,
    /// Coordinates.
    pub dim: usize,
    /// Clusters.
    pub k: usize,
    /// Of the records of a cluster.
    pub shape: Shape,
    /// Standard deviation of a coordinate, or mean distance.
    pub width: f64,
    /// Half the side of the cube that the centres are in.
    pub within: f64,
}

/// A set in memory.
#[derive(Clone, Debug)]
pub struct Planted {
    /// Their records, clipped to the cube.
    pub records: Points,
    /// The mean record of each cluster; its centre if there is none.
    pub means: Points,
    /// The cube.
    pub public_box: PublicBox,
    /// SHA-256 of all coordinates.
    pub checksum: String,
}

impl Set {
    /// The set, in memory.
    ///
    /// # Errors
    /// Without a coordinate.
    pub fn generate(&self) -> Result<Planted, Error> {
        let &Self { n, dim, k, .. } = self;
        let mut rng = named_rng(&[self.suite, &self.id]);
        let mut centres: Vec<f64> = Vec::new();
        while centres.len() < k * dim {
            let within = -self.within..self.within;
            let new: Vec<f64> = (0..dim).map(|_| rng.random_range(within.clone())).collect();
            let squared = |centre: &[f64]| -> f64 {
                centre.iter().zip(&new).map(|(x, y)| (x - y) * (x - y)).sum()
            };
            if centres.chunks_exact(dim).all(|centre| squared(centre) >= APART * APART) {
                centres.extend(new);
            }
        }
        let mut coords = Vec::with_capacity(n * dim);
        let (mut sums, mut sizes) = (vec![0.0; k * dim], vec![0_u32; k]);
        for record in 0..n {
            let cluster = self.cluster(record, &mut rng);
            sizes[cluster] += 1;
            for place in cluster * dim..(cluster + 1) * dim {
                let x = (centres[place] + self.noise(cluster, &mut rng)).clamp(-1.0, 1.0);
                sums[place] += x;
                coords.push(x);
            }
        }
        let mean = |(place, sum): (usize, f64)| match sizes[place / dim] {
            0 => centres[place],
            size => sum / f64::from(size),
        };
        let means = sums.into_iter().enumerate().map(mean).collect();
        let bytes: Vec<u8> = coords.iter().flat_map(|x| x.to_le_bytes()).collect();
        let points =
            |coords| Points::new(coords, dim).map_err(|error| Error::library("points", &error));
        let public_box = PublicBox::cube(dim, -1.0, 1.0);
        Ok(Planted {
            records: points(coords)?,
            means: points(means)?,
            public_box: public_box.map_err(|error| Error::library("the cube", &error))?,
            checksum: files::sha256_hex(&bytes),
        })
    }

    fn cluster(&self, record: usize, rng: &mut ChaCha20Rng) -> usize {
        let size = |at: usize| match self.shape {
            Shape::Unequal => 1.0 / (at + 1) as f64,
            _ => 1.0,
        };
        if self.shape == Shape::InTurn {
            return record % self.k;
        }
        let mut left = rng.random_range(0.0..(0..self.k).map(size).sum());
        let hit = (0..self.k).find(|at| {
            left -= size(*at);
            left < 0.0
        });
        hit.unwrap_or(0)
    }

    fn noise(&self, cluster: usize, rng: &mut ChaCha20Rng) -> f64 {
        if self.shape == Shape::HeavyTails {
            let width = self.width * 2_f64.powf(2.0 * cluster as f64 / (self.k - 1) as f64 - 1.0);
            let size: f64 = Exp1.sample(rng);
            return if rng.random() { width * size } else { -width * size };
        }
        let normal: f64 = StandardNormal.sample(rng);
        self.width * normal
    }
}

#[cfg(test)]
mod tests {
    use super::{Set, Shape};

    #[test]
    fn records_are_around_centres_that_are_apart() {
        for shape in [Shape::InTurn, Shape::Equal, Shape::Unequal, Shape::HeavyTails] {
            let (id, suite) = ("a".to_owned(), "planted");
            let set = Set { id, suite, n: 4_000, dim: 2, k: 4, shape, width: 0.01, within: 0.8 };
            let made = set.generate().unwrap();
            assert_eq!((made.records.len(), made.means.len()), (4_000, 4));
            let squared = |a: &[f64], b: &[f64]| -> f64 {
                a.iter().zip(b).map(|(x, y)| (x - y) * (x - y)).sum()
            };
            let nearest = |row: &[f64]| {
                let of = |at: &usize| squared(row, &made.means[*at]);
                (0..4).min_by(|a, b| of(a).total_cmp(&of(b))).unwrap()
            };
            let mut sizes = [0; 4];
            made.records.view().rows().for_each(|row| sizes[nearest(row)] += 1);
            let first = if shape == Shape::Unequal { 1_850..2_000 } else { 900..1_100 };
            assert!(first.contains(&sizes[0]), "{shape:?}: {sizes:?}");
            assert_eq!(made.checksum, set.generate().unwrap().checksum);
        }
    }
}
