//! Reference clusterings by a search over the number of clusters.

use dp_geometry::{Points, PointsView};
use rand::Rng;

use super::sample::sample_of;
use super::silhouette::exact_silhouette;
use crate::error::ClusterError;
use crate::kmeans::{KMeans, KMeansSettings};

/// The `keep` k-means fits with the best silhouette, best first. Not private.
///
/// Runs k-means with default settings `runs_per_candidate` times for each number of clusters in
/// `candidates`, in that order, and scores each fit on one sample of the points that is shared by
/// all of them, so that differences are due to the fits. In a tie the earlier fit stays ahead. All
/// fits come back if there are no more than `keep`.
///
/// These are the references for [`kmeans_distance`](super::kmeans_distance); the DPM paper keeps 20.
///
/// # Shapes
/// `points` is `(n_points, dim)`; each result is `(k, dim)` with its own `k` out of `candidates`.
/// `sample` as in [`silhouette`](super::silhouette).
///
/// # Complexity
/// `candidates * runs_per_candidate` fits of
/// [`exact_fit`](KMeans::exact_fit) and silhouettes of `O(sample^2 dim)`; each is parallel.
///
/// # Errors
/// [`ClusterError::ClusterCount`] for a candidate that is 0 or too large (found before any fit), and
/// those of [`KMeans::exact_fit`].
///
/// # Example
/// ```
/// use dp_cluster::metrics::reference_clusterings;
/// use dp_geometry::Points;
/// use rand::{SeedableRng, rngs::ChaCha20Rng};
///
/// // Three pairs: any other number of clusters has a worse silhouette.
/// let points = Points::new(vec![0.0, 1.0, 50.0, 51.0, 100.0, 101.0], 1)?;
/// let mut rng = ChaCha20Rng::seed_from_u64(1);
/// let best = reference_clusterings(points.view(), &[2, 3, 4], 2, 2, 5_000, &mut rng)?;
/// assert!(best.len() == 2 && best.iter().all(|centres| centres.len() == 3));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn reference_clusterings(
    points: PointsView<'_>,
    candidates: &[usize],
    runs_per_candidate: usize,
    keep: usize,
    sample: usize,
    rng: &mut (impl Rng + ?Sized),
) -> Result<Vec<Points>, ClusterError> {
    let solvers: Vec<KMeans> = candidates
        .iter()
        .map(|&k| KMeans::new(k, KMeansSettings::default()))
        .collect::<Result<_, _>>()?;
    let sample = sample_of(points, sample, rng);
    let mut best: Vec<(f64, Points)> = Vec::new();
    for solver in &solvers {
        for _ in 0..runs_per_candidate {
            let centres = solver.exact_fit(points, None, rng)?.centres;
            let score = exact_silhouette(sample.view(), centres.view());
            let place = best.partition_point(|&(other, _)| other >= score);
            best.insert(place, (score, centres));
            best.truncate(keep);
        }
    }
    Ok(best.into_iter().map(|(_, centres)| centres).collect())
}

#[cfg(test)]
mod tests {
    use rand::{SeedableRng, rngs::ChaCha20Rng};

    use super::*;
    use crate::metrics::testing::line;

    fn search(candidates: &[usize], runs: usize, keep: usize) -> Result<Vec<Points>, ClusterError> {
        // Four groups of three, 100 apart.
        let coords: Vec<f64> = (0..12).map(|i| f64::from(i % 3 + i / 3 * 100)).collect();
        let mut rng = ChaCha20Rng::seed_from_u64(11);
        reference_clusterings(line(&coords).view(), candidates, runs, keep, 5_000, &mut rng)
    }

    #[test]
    fn golden_value() {
        let best = search(&[2, 3, 4, 5, 6], 3, 1).unwrap();
        let mut centres = best[0].clone().into_coords();
        centres.sort_by(f64::total_cmp);
        assert_eq!(centres, [1.0, 101.0, 201.0, 301.0]);
    }

    #[test]
    fn best_first_and_no_more_than_asked_for() {
        let all = search(&[2, 4, 6], 2, 100).unwrap();
        assert_eq!(all.len(), 6);
        let coords: Vec<f64> = (0..12).map(|i| f64::from(i % 3 + i / 3 * 100)).collect();
        let points = line(&coords);
        let scores: Vec<f64> =
            all.iter().map(|c| exact_silhouette(points.view(), c.view())).collect();
        assert!(scores.is_sorted_by(|a, b| a >= b), "{scores:?}");
        assert_eq!(search(&[2, 4, 6], 2, 3).unwrap(), all[..3]);
        assert!(search(&[], 2, 3).unwrap().is_empty());
        assert!(search(&[2], 0, 3).unwrap().is_empty());
        assert!(search(&[2], 2, 0).unwrap().is_empty());
    }

    #[test]
    fn bad_candidates_are_refused() {
        assert_eq!(search(&[2, 0], 1, 1), Err(ClusterError::ClusterCount { got: 0 }));
    }
}
