//! Share of points that carry the majority label of their cluster.

use dp_geometry::PointsView;

use crate::error::ClusterError;
use crate::nearest::assign;

/// Share of points whose label is the most frequent one of their cluster. Not private.
///
/// Each point belongs to its nearest centre; each cluster counts the points of its most frequent
/// label; the result is the sum of these counts over the number of points. More centres never hurt
/// it much, so compare runs with about as many centres. 0 without points or without centres:
/// nothing was got right.
///
/// # Shapes
/// `points` is `(n_points, dim)`, `labels` is `(n_points,)` with any values, `centres` is
/// `(k, dim)`. The result lies in `[0, 1]`.
///
/// # Complexity
/// `O(n k dim + n log n)`, parallel.
///
/// # Errors
/// [`ClusterError::CentresDimension`], [`ClusterError::LabelsLength`].
///
/// # Source
/// Definition 12 of the DPM paper.
///
/// # Example
/// ```
/// use dp_cluster::metrics::accuracy;
/// use dp_geometry::Points;
///
/// let points = Points::new(vec![0.0, 1.0, 2.0, 10.0], 1)?;
/// let centres = Points::new(vec![1.0, 10.0], 1)?;
/// assert_eq!(accuracy(points.view(), &[7, 7, 3, 3], centres.view())?, 0.75);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn accuracy(
    points: PointsView<'_>,
    labels: &[u32],
    centres: PointsView<'_>,
) -> Result<f64, ClusterError> {
    ClusterError::unless_alike(points, centres)?;
    if labels.len() != points.len() {
        return Err(ClusterError::LabelsLength { points: points.len(), labels: labels.len() });
    }
    if points.is_empty() || centres.is_empty() {
        return Ok(0.0);
    }
    // Sorted pairs put equal labels of one cluster next to each other.
    let clusters = assign(points, centres).labels;
    let mut pairs: Vec<(u32, u32)> = clusters.into_iter().zip(labels.iter().copied()).collect();
    pairs.sort_unstable();
    let right: usize = pairs
        .chunk_by(|a, b| a.0 == b.0)
        .map(|cluster| cluster.chunk_by(|a, b| a == b).map(<[_]>::len).max().unwrap_or(0))
        .sum();
    Ok(right as f64 / points.len() as f64)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use proptest::prelude::*;

    use super::*;
    use crate::metrics::testing::{lattice, line};

    #[test]
    fn golden_value() {
        // First cluster 1 1 2, second 2 2, third 1 3: 2 + 2 + 1 of 7 are right.
        let points = line(&[0.0, 1.0, 2.0, 10.0, 11.0, 20.0, 21.0]);
        let centres = line(&[0.0, 10.0, 20.0]);
        let labels = [1, 1, 2, 2, 2, 1, 3];
        assert_eq!(accuracy(points.view(), &labels, centres.view()).unwrap(), 5.0 / 7.0);
    }

    #[test]
    fn nothing_to_measure() {
        let (none, some) = (line(&[]), line(&[1.0]));
        assert_eq!(accuracy(none.view(), &[], some.view()).unwrap(), 0.0);
        assert_eq!(accuracy(some.view(), &[1], none.view()).unwrap(), 0.0);
        assert_eq!(accuracy(some.view(), &[u32::MAX], some.view()).unwrap(), 1.0);
    }

    #[test]
    fn labels_must_match() {
        let found = accuracy(line(&[1.0]).view(), &[1, 2], line(&[1.0]).view());
        assert_eq!(found, Err(ClusterError::LabelsLength { points: 1, labels: 2 }));
    }

    proptest! {
        #[test]
        fn equals_counting(
            points in lattice(1, 40),
            centres in lattice(1, 6),
            labels in prop::collection::vec(0..4u32, 40),
        ) {
            let labels = &labels[..points.len()];
            let mut counts: BTreeMap<u32, BTreeMap<u32, usize>> = BTreeMap::new();
            let clusters = assign(points.view(), centres.view()).labels;
            for (cluster, &label) in clusters.into_iter().zip(labels) {
                *counts.entry(cluster).or_default().entry(label).or_default() += 1;
            }
            let right: usize = counts.values().filter_map(|c| c.values().max()).sum();
            let expected = right as f64 / points.len() as f64;
            prop_assert_eq!(accuracy(points.view(), labels, centres.view()).unwrap(), expected);
        }
    }
}
