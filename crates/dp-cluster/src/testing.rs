//! Data that tests of several algorithms share.

use dp_geometry::{Points, PointsView};
use dp_mechanism::ChaCha20Rng;
use rand::{RngExt, SeedableRng};

use crate::{CentreError, Clustering, nearest};

pub(crate) fn rng(seed: u64) -> ChaCha20Rng {
    ChaCha20Rng::seed_from_u64(seed)
}

/// Standard normal.
pub(crate) fn normal(rng: &mut ChaCha20Rng) -> f64 {
    let radius = (-2.0 * (1.0 - rng.random::<f64>()).ln()).sqrt();
    radius * (std::f64::consts::TAU * rng.random::<f64>()).cos()
}

/// `n` points with unit normal noise around `k` centres uniform in `[-range, range]^dim`, and the
/// centres.
pub(crate) fn blobs(n: usize, dim: usize, k: usize, range: f64, seed: u64) -> (Points, Points) {
    let mut rng = rng(seed);
    let centres: Vec<f64> = (0..k * dim).map(|_| rng.random_range(-range..range)).collect();
    let coords =
        (0..n * dim).map(|i| centres[(i / dim) % k * dim + i % dim] + normal(&mut rng)).collect();
    let points = |coords| Points::new(coords, dim).expect("whole rows");
    (points(coords), points(centres))
}

/// Data that breaks algorithms: for the domain `[-10, 10]^dim`.
pub(crate) fn adversarial(dim: usize, n: usize) -> Vec<(&'static str, Points)> {
    let mut rng = rng(99);
    let per_row = |value: &mut dyn FnMut(usize) -> f64| -> Vec<f64> {
        (0..n).flat_map(|i| vec![value(i); dim]).collect()
    };
    let cases: Vec<(&'static str, Vec<f64>)> = vec![
        ("nothing", vec![]),
        ("one point", vec![0.1; dim]),
        ("all equal", vec![7.0; n * dim]),
        ("all in the middle", vec![0.0; n * dim]),
        ("two far points", per_row(&mut |i| if i % 2 == 0 { -10.0 } else { 10.0 })),
        ("on every boundary", per_row(&mut |i| (i % 33) as f64 * 0.625 - 10.0)),
        ("outliers in a corner", per_row(&mut |i| if i % 10 == 0 { 10.0 } else { 0.01 })),
        ("integers", (0..n * dim).map(|_| f64::from(rng.random_range(-10..=10))).collect()),
        ("outside", (0..n * dim).map(|i| i as f64 * 1e6).collect()),
        ("huge", (0..n * dim).map(|i| if i % 2 == 0 { f64::MAX } else { f64::MIN }).collect()),
        ("not numbers", vec![f64::NAN; n * dim]),
        ("infinite", per_row(&mut |i| [f64::INFINITY, f64::NEG_INFINITY, -0.0, 5e-324][i % 4])),
    ];
    let points = |coords| Points::new(coords, dim).expect("whole rows");
    cases.into_iter().map(|(name, coords)| (name, points(coords))).collect()
}

/// Of each centre, by how many of its errors it is off the mean of the records nearest to it, in the first coordinate, and its count off
/// their number.
pub(crate) fn off_by_errors(points: PointsView<'_>, found: &Clustering) -> Vec<[f64; 2]> {
    let labels = nearest(points, found.centres.view()).unwrap().labels;
    let off = |(centre, error): (usize, &CentreError)| {
        let own = points.rows().zip(&labels).filter(|(_, label)| **label as usize == centre);
        let (sum, number) =
            own.fold((0.0, 0.0), |(sum, number), (row, _)| (sum + row[0], number + 1.0));
        let place = found.centres[centre][0] - sum / number;
        let count = found.counts[centre] as f64 - number;
        [place.abs() / error.at[0], count.abs() / error.count]
    };
    found.errors.iter().flatten().enumerate().map(off).collect()
}
