//! Gaussian blobs around uniform centres, from a generator that the caller names.

use rand::{Rng, RngExt};
use rand_distr::StandardNormal;

/// What to generate: `n` points in `d` dimensions around `k` centres uniform in the range.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct BlobSpec {
    /// Points.
    pub n: usize,
    /// Dimension.
    pub d: usize,
    /// Clusters.
    pub k: usize,
    /// Of the coordinates of centres.
    pub range: (f64, f64),
}

/// Generated points with the truth behind them; all row-major.
#[derive(Clone, Debug, PartialEq)]
pub struct Blobs {
    /// Points, one after the other.
    pub points: Vec<f64>,
    /// The centre of each.
    pub labels: Vec<u32>,
    /// Centres, one after the other.
    pub centres: Vec<f64>,
}

/// Draws `k` centres, then gives point `i` to centre `i mod k` with unit normal noise: cluster sizes
/// differ by at most one and the clusters come interleaved. A point may leave the declared range by
/// a few units, as real records do; algorithms have to clip it.
pub fn blobs<R: Rng + ?Sized>(spec: &BlobSpec, rng: &mut R) -> Blobs {
    let (low, high) = spec.range;
    let centres: Vec<f64> = (0..spec.k * spec.d).map(|_| rng.random_range(low..high)).collect();
    let mut points = Vec::with_capacity(spec.n * spec.d);
    let mut labels = Vec::with_capacity(spec.n);
    for (centre, label) in centres.chunks_exact(spec.d).zip(0u32..).cycle().take(spec.n) {
        labels.push(label);
        points.extend(centre.iter().map(|&c| c + rng.sample::<f64, _>(StandardNormal)));
    }
    Blobs { points, labels, centres }
}

#[cfg(test)]
mod tests {
    use super::{BlobSpec, Blobs, blobs};
    use crate::seed::named_rng;

    const SPEC: BlobSpec = BlobSpec { n: 1001, d: 3, k: 4, range: (-100.0, 100.0) };

    fn example() -> Blobs {
        blobs(&SPEC, &mut named_rng(&["test"]))
    }

    #[test]
    fn sizes_are_as_even_as_possible() {
        let made = example();
        assert_eq!((made.points.len(), made.labels.len(), made.centres.len()), (3003, 1001, 12));
        let mut sizes = [0; 4];
        made.labels.iter().for_each(|&label| sizes[label as usize] += 1);
        assert_eq!(sizes, [251, 250, 250, 250]);
    }

    #[test]
    fn noise_is_standard_normal_around_the_true_centres() {
        let made = example();
        let residuals: Vec<f64> = made
            .points
            .chunks_exact(3)
            .zip(&made.labels)
            .flat_map(|(point, &label)| {
                let centre = &made.centres[label as usize * 3..][..3];
                point.iter().zip(centre).map(|(x, c)| x - c).collect::<Vec<_>>()
            })
            .collect();
        let n = residuals.len() as f64;
        let mean = residuals.iter().sum::<f64>() / n;
        let variance = residuals.iter().map(|r| r * r).sum::<f64>() / n;
        // Five standard errors: of a mean 1/sqrt(n), of a variance sqrt(2/n). The seed is pinned.
        assert!(mean.abs() < 5.0 / n.sqrt(), "{mean}");
        assert!((variance - 1.0).abs() < 5.0 * (2.0 / n).sqrt(), "{variance}");
    }

    #[test]
    fn the_same_name_gives_the_same_points_and_another_does_not() {
        assert_eq!(example(), example());
        assert_ne!(example(), blobs(&SPEC, &mut named_rng(&["other"])));
    }

    #[test]
    fn fewer_points_than_centres_still_works() {
        let made = blobs(&BlobSpec { n: 2, ..SPEC }, &mut named_rng(&["test"]));
        assert_eq!(made.labels, [0, 1]);
    }
}
