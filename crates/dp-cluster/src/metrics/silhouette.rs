//! Mean silhouette of a sample.

use dp_geometry::{Points, PointsView};
use rand::Rng;
use rayon::prelude::*;

use super::sample::sample_of;
use crate::error::ClusterError;
use crate::nearest::{CentreTable, assign};

/// Sample size of the published evaluations, from where on the mean hardly moves.
pub const SILHOUETTE_SAMPLE: usize = 5_000;

/// Points per parallel task.
const CHUNK: usize = 32;

/// Mean silhouette of a uniform sample without replacement. Not private.
///
/// Clusters are formed by the nearest centre. With `a` the mean distance of a point to the other
/// sampled points of its cluster and `b` the least mean distance to the sampled points of another
/// cluster, its silhouette is `(b - a) / max(a, b)`; 0 if it is alone in its cluster or if
/// `a = b = 0`. With fewer than two clusters in the sample the result is -1, the worst value.
///
/// # Shapes
/// `points` is `(n_points, dim)`, `centres` is `(k, dim)`; `sample` is the number of points to
/// draw, all points if there are no more. [`SILHOUETTE_SAMPLE`] is the usual choice. The result lies
/// in `[-1, 1]`.
///
/// # Complexity
/// `O(s^2 dim + s k dim)` for a sample of `s`, parallel; memory `O(s dim)`, and `O(s)` per thread.
///
/// # Errors
/// [`ClusterError::CentresDimension`].
///
/// # Source
/// Rousseeuw (1987).
///
/// # Example
/// ```
/// use dp_cluster::metrics::{SILHOUETTE_SAMPLE, silhouette};
/// use dp_geometry::Points;
/// use rand::{SeedableRng, rngs::ChaCha20Rng};
///
/// let points = Points::new(vec![0.0, 1.0, 100.0, 101.0], 1)?;
/// let centres = Points::new(vec![0.5, 100.5], 1)?;
/// let mut rng = ChaCha20Rng::seed_from_u64(1);
/// let score = silhouette(points.view(), centres.view(), SILHOUETTE_SAMPLE, &mut rng)?;
/// assert!((score - 0.98999975).abs() < 1e-8); // (1 - 1/100.5 + 1 - 1/99.5) / 2
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn silhouette(
    points: PointsView<'_>,
    centres: PointsView<'_>,
    sample: usize,
    rng: &mut (impl Rng + ?Sized),
) -> Result<f64, ClusterError> {
    ClusterError::unless_alike(points, centres)?;
    Ok(exact_silhouette(sample_of(points, sample, rng).view(), centres))
}

/// Mean silhouette of all points.
pub(super) fn exact_silhouette(points: PointsView<'_>, centres: PointsView<'_>) -> f64 {
    let (sorted, sizes) = sort_by_cluster(points, centres);
    if sizes.len() < 2 {
        return -1.0;
    }
    let sorted = sorted.view();
    let table = CentreTable::new(sorted);
    let own: Vec<usize> =
        sizes.iter().enumerate().flat_map(|(c, &size)| std::iter::repeat_n(c, size)).collect();
    let mut scores = vec![0.0; sorted.len()];
    scores.par_chunks_mut(CHUNK).enumerate().for_each(|(chunk, scores)| {
        let mut distances = vec![0.0; table.padded_len()];
        for (i, score) in (chunk * CHUNK..).zip(scores) {
            table.distances([&sorted[i]], &mut distances);
            for distance in &mut distances {
                *distance = distance.sqrt();
            }
            *score = score_of(&distances, &sizes, own[i]);
        }
    });
    scores.iter().sum::<f64>() / scores.len() as f64
}

/// Silhouette of one point of cluster `own`, from its distances to the points of one cluster after
/// the other.
fn score_of(distances: &[f64], sizes: &[usize], own: usize) -> f64 {
    if sizes[own] == 1 {
        return 0.0;
    }
    let mut rest = distances;
    let (mut a, mut b) = (0.0, f64::INFINITY);
    for (cluster, &size) in sizes.iter().enumerate() {
        let (these, others) = rest.split_at(size);
        rest = others;
        let sum: f64 = these.iter().sum();
        if cluster == own {
            a = sum / (size - 1) as f64; // its distance to itself is 0
        } else {
            b = b.min(sum / size as f64);
        }
    }
    let larger = a.max(b);
    if larger > 0.0 && larger.is_finite() { (b - a) / larger } else { 0.0 }
}

/// The points cluster by cluster, and the sizes of the clusters that are not empty.
fn sort_by_cluster(points: PointsView<'_>, centres: PointsView<'_>) -> (Points, Vec<usize>) {
    let labels = assign(points, centres).labels;
    let mut order: Vec<usize> = (0..points.len()).collect();
    order.sort_by_key(|&i| labels[i]);
    let sizes = order.chunk_by(|&i, &j| labels[i] == labels[j]).map(<[_]>::len).collect();
    let coords = order.iter().flat_map(|&i| &points[i]).copied().collect();
    (Points::new(coords, points.dim()).expect("whole rows were copied"), sizes)
}

#[cfg(test)]
mod tests {
    use approx::assert_abs_diff_eq;
    use proptest::prelude::*;
    use rand::{SeedableRng, rngs::ChaCha20Rng};

    use super::*;
    use crate::metrics::testing::{lattice, line};

    fn all(points: &Points, centres: &Points) -> f64 {
        exact_silhouette(points.view(), centres.view())
    }

    #[test]
    fn golden_value() {
        // Clusters {0, 2} and {6, 7, 11}. By hand, a and b of each point:
        // 0: 2, 8 -> 3/4; 2: 2, 6 -> 2/3; 6: 3, 5 -> 2/5; 7: 5/2, 6 -> 7/12; 11: 9/2, 10 -> 11/20.
        let score = all(&line(&[0.0, 6.0, 2.0, 11.0, 7.0]), &line(&[1.0, 8.0]));
        let by_hand = (3.0 / 4.0 + 2.0 / 3.0 + 2.0 / 5.0 + 7.0 / 12.0 + 11.0 / 20.0) / 5.0;
        assert_abs_diff_eq!(score, by_hand, epsilon = 1e-15);
    }

    #[test]
    fn conventions() {
        let two = line(&[0.0, 10.0]);
        // Alone in the cluster: 0. The other two: 1 - 1/10 and 1 - 1/9.
        let score = all(&line(&[0.0, 9.0, 10.0]), &two);
        assert_abs_diff_eq!(
            score,
            (0.0 + (1.0 - 1.0 / 9.0) + (1.0 - 1.0 / 10.0)) / 3.0,
            epsilon = 1e-15
        );
        assert_eq!(all(&line(&[1.0, 2.0, 3.0]), &two), -1.0, "one cluster is not empty");
        assert_eq!(all(&line(&[]), &two), -1.0);
        assert_eq!(all(&line(&[1.0, 9.0]), &line(&[])), -1.0);
        assert_eq!(all(&line(&[0.0, 0.0, 10.0, 10.0]), &two), 1.0);
        // Equal points share a cluster, so a = b = 0 needs points whose distances square to zero.
        let close = line(&[-1e-163, -1e-163, 1e-163, 1e-163]);
        assert_eq!(all(&close, &line(&[-1e-155, 1e-155])), 0.0);
    }

    #[test]
    fn sample_is_close_to_the_whole() {
        // 4 clusters of 500 consecutive integers, 1000 apart.
        let coords: Vec<f64> = (0..2000).map(|i| f64::from(i + (i / 500) * 1000)).collect();
        let (points, centres) = (line(&coords), line(&[250.0, 1750.0, 3250.0, 4750.0]));
        let mut rng = ChaCha20Rng::seed_from_u64(3);
        let sampled = silhouette(points.view(), centres.view(), 600, &mut rng).unwrap();
        assert!((sampled - all(&points, &centres)).abs() < 0.02);
    }

    #[test]
    fn number_of_threads_does_not_matter() {
        let coords: Vec<f64> = (0..3000).map(|i| f64::from(i * i % 1009).sqrt()).collect();
        let (points, centres) =
            (Points::new(coords, 3).unwrap(), vec![5.0, 9.0, 7.0, 20.0, 11.0, 25.0]);
        let centres = Points::new(centres, 3).unwrap();
        let on = |threads| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            let mut rng = ChaCha20Rng::seed_from_u64(8);
            pool.install(|| silhouette(points.view(), centres.view(), 700, &mut rng).unwrap())
        };
        assert_eq!(on(1).to_bits(), on(2).to_bits());
        assert_eq!(on(1).to_bits(), on(7).to_bits());
    }

    fn by_definition(points: &Points, centres: &Points) -> f64 {
        let (points, labels) = (points.view(), assign(points.view(), centres.view()).labels);
        let mean_to = |i: usize, cluster: u32| {
            let distances: Vec<f64> = (0..points.len())
                .filter(|&j| j != i && labels[j] == cluster)
                .map(|j| {
                    let (x, y) = (&points[i], &points[j]);
                    (x[0] - y[0]).hypot(x[1] - y[1])
                })
                .collect();
            (!distances.is_empty()).then(|| distances.iter().sum::<f64>() / distances.len() as f64)
        };
        let clusters: std::collections::BTreeSet<u32> = labels.iter().copied().collect();
        if clusters.len() < 2 {
            return -1.0;
        }
        let score = |i: usize| {
            let Some(a) = mean_to(i, labels[i]) else { return 0.0 };
            let others = clusters.iter().filter(|&&c| c != labels[i]);
            let b = others.filter_map(|&c| mean_to(i, c)).fold(f64::INFINITY, f64::min);
            if a.max(b) == 0.0 { 0.0 } else { (b - a) / a.max(b) }
        };
        (0..points.len()).map(score).sum::<f64>() / points.len() as f64
    }

    proptest! {
        #[test]
        fn equals_the_definition(points in lattice(1, 60), centres in lattice(1, 6)) {
            let score = all(&points, &centres);
            prop_assert!((-1.0..=1.0).contains(&score));
            prop_assert!((score - by_definition(&points, &centres)).abs() < 1e-12);
        }
    }
}
