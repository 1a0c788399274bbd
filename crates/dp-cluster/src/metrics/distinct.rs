//! How many known clusters got a centre.

use dp_geometry::PointsView;

use crate::error::ClusterError;
use crate::nearest::assign;

/// Number of true centres that are the nearest true centre of at least one given centre. Not
/// private.
///
/// For generated data, where the true centres are known: "64 of 64" means that no cluster was
/// missed. 0 if either set is empty; a given centre with a NaN counts for the first true centre.
///
/// # Shapes
/// `centres` is `(k', dim)`, `true_centres` is `(k, dim)`.
///
/// # Complexity
/// `O(k' k dim)`.
///
/// # Errors
/// [`ClusterError::CentresDimension`].
///
/// # Example
/// ```
/// use dp_cluster::metrics::distinct_clusters_found;
/// use dp_geometry::Points;
///
/// let found = Points::new(vec![0.1, -0.2, 9.0], 1)?;
/// let truth = Points::new(vec![0.0, 5.0, 10.0], 1)?;
/// assert_eq!(distinct_clusters_found(found.view(), truth.view())?, 2);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn distinct_clusters_found(
    centres: PointsView<'_>,
    true_centres: PointsView<'_>,
) -> Result<usize, ClusterError> {
    ClusterError::unless_alike(centres, true_centres)?;
    if true_centres.is_empty() {
        return Ok(0);
    }
    let mut found = assign(centres, true_centres).labels;
    found.sort_unstable();
    found.dedup();
    Ok(found.len())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::metrics::testing::{lattice, line, plane};

    #[test]
    fn golden_value() {
        let truth = plane(&[[0.0, 0.0], [10.0, 0.0], [0.0, 10.0], [10.0, 10.0]]);
        // The first two are nearest to (0, 0), then (10, 10) twice, then (10, 0).
        let found = plane(&[[1.0, 1.0], [4.0, 4.0], [9.0, 9.0], [99.0, 99.0], [8.0, 2.0]]);
        assert_eq!(distinct_clusters_found(found.view(), truth.view()).unwrap(), 3);
        assert_eq!(distinct_clusters_found(truth.view(), truth.view()).unwrap(), 4);
    }

    #[test]
    fn nothing_to_find() {
        let (none, some) = (line(&[]), line(&[1.0]));
        assert_eq!(distinct_clusters_found(none.view(), some.view()).unwrap(), 0);
        assert_eq!(distinct_clusters_found(some.view(), none.view()).unwrap(), 0);
    }

    proptest! {
        #[test]
        fn never_more_than_either_set(centres in lattice(0, 9), truth in lattice(0, 9)) {
            let found = distinct_clusters_found(centres.view(), truth.view()).unwrap();
            prop_assert!(found <= centres.len().min(truth.len()));
            let mut distinct: Vec<&[f64]> = truth.view().rows().collect();
            distinct.sort_by(|a, b| a.partial_cmp(b).unwrap());
            distinct.dedup();
            prop_assert_eq!(distinct_clusters_found(truth.view(), truth.view()).unwrap(), distinct.len());
        }
    }
}
