//! A uniform sample without replacement.

use std::collections::BTreeSet;

use dp_geometry::{Points, PointsView};
use rand::{Rng, RngExt};

/// `size` of the points, every subset equally likely, in their order; all of them if there are no
/// more, and then nothing is drawn.
///
/// Floyd's method (Bentley and Floyd, 1987): `size` draws, memory for the sample alone.
pub(super) fn sample_of<R: Rng + ?Sized>(
    points: PointsView<'_>,
    size: usize,
    rng: &mut R,
) -> Points {
    let n = points.len();
    if size >= n {
        return points.to_points();
    }
    let mut chosen = BTreeSet::new();
    for last in n - size..n {
        if !chosen.insert(rng.random_range(0..=last)) {
            chosen.insert(last);
        }
    }
    let coords = chosen.into_iter().flat_map(|i| &points[i]).copied().collect();
    Points::new(coords, points.dim()).expect("whole rows were copied")
}

#[cfg(test)]
mod tests {
    use rand::{SeedableRng, rngs::ChaCha20Rng};

    use super::*;
    use crate::metrics::testing::line;

    #[test]
    fn all_points_when_there_are_few() {
        let points = line(&[3.0, 1.0, 2.0]);
        let mut rng = ChaCha20Rng::seed_from_u64(1);
        assert_eq!(sample_of(points.view(), 3, &mut rng), points);
        assert_eq!(sample_of(points.view(), usize::MAX, &mut rng), points);
        assert!(sample_of(points.view(), 0, &mut rng).is_empty());
    }

    /// Null: each of the 10 subsets of 2 of 5 has probability 1/10. Over 100,000 samples a count has
    /// standard deviation 95, and 5.5 of them (523) are exceeded by any of the ten with probability
    /// below 1e-6. Dropping or doubling one index shifts a count by thousands.
    #[test]
    fn subsets_are_equally_likely() {
        let points = line(&[0.0, 1.0, 2.0, 3.0, 4.0]);
        let mut rng = ChaCha20Rng::seed_from_u64(5);
        let mut counts = std::collections::BTreeMap::new();
        for _ in 0..100_000 {
            let sample = sample_of(points.view(), 2, &mut rng).into_coords();
            assert!(sample[0] < sample[1], "distinct and in order");
            *counts.entry(format!("{sample:?}")).or_insert(0i32) += 1;
        }
        assert_eq!(counts.len(), 10);
        assert!(counts.values().all(|&count| (count - 10_000).abs() <= 523), "{counts:?}");
    }
}
