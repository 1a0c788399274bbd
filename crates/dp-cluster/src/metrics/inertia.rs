//! Sum of distances to the nearest centre.

use dp_geometry::PointsView;

use crate::error::ClusterError;
use crate::nearest::nearest;

/// Partial sums are this long, which keeps the rounding of a sum over many points small.
const CHUNK: usize = 1024;

/// Sum over all points of the **squared** distance to the nearest centre. Not private.
///
/// This is the k-means cost, and what the tables of the papers hold. 0 without points; infinite
/// with points but without centres.
///
/// # Shapes
/// `points` is `(n_points, dim)`, `centres` is `(k, dim)`. The result is in squared data units.
///
/// # Complexity
/// `O(n k dim)`, parallel.
///
/// # Errors
/// [`ClusterError::CentresDimension`].
///
/// # Example
/// ```
/// use dp_cluster::metrics::{inertia, squared_inertia};
/// use dp_geometry::Points;
///
/// let points = Points::new(vec![0.0, 3.0, 10.0], 1)?;
/// let centres = Points::new(vec![0.0, 12.0], 1)?;
/// assert_eq!(squared_inertia(points.view(), centres.view())?, 0.0 + 9.0 + 4.0);
/// assert_eq!(inertia(points.view(), centres.view())?, 0.0 + 3.0 + 2.0);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn squared_inertia(
    points: PointsView<'_>,
    centres: PointsView<'_>,
) -> Result<f64, ClusterError> {
    Ok(sum_of(&nearest(points, centres)?.squared_distances, |squared| squared))
}

/// Sum over all points of the distance, **not squared**, to the nearest centre. Not private.
///
/// Definition 10 of the DPM paper prints this form although its tables hold
/// [`squared_inertia`]. Conventions and complexity as there; the result is in data units.
///
/// # Errors
/// [`ClusterError::CentresDimension`].
pub fn inertia(points: PointsView<'_>, centres: PointsView<'_>) -> Result<f64, ClusterError> {
    Ok(sum_of(&nearest(points, centres)?.squared_distances, f64::sqrt))
}

fn sum_of(squared_distances: &[f64], term: impl Fn(f64) -> f64) -> f64 {
    squared_distances.chunks(CHUNK).map(|chunk| chunk.iter().map(|&d| term(d)).sum::<f64>()).sum()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::metrics::testing::{lattice, line, plane};

    #[test]
    fn golden_value() {
        // Two points at (3, 4) from the first centre, one at (0, 1) from the second.
        let points = plane(&[[3.0, 4.0], [-3.0, -4.0], [20.0, 21.0]]);
        let centres = plane(&[[0.0, 0.0], [20.0, 20.0]]);
        assert_eq!(squared_inertia(points.view(), centres.view()).unwrap(), 51.0);
        assert_eq!(inertia(points.view(), centres.view()).unwrap(), 11.0);
    }

    #[test]
    fn nothing_to_measure() {
        let (none, some) = (line(&[]), line(&[1.0]));
        for f in [squared_inertia, inertia] {
            assert_eq!(f(none.view(), some.view()), Ok(0.0));
            assert_eq!(f(none.view(), none.view()), Ok(0.0));
            assert_eq!(f(some.view(), none.view()), Ok(f64::INFINITY));
        }
    }

    proptest! {
        #[test]
        fn equals_the_definition(points in lattice(0, 40), centres in lattice(1, 9)) {
            let distances = points.view().rows().map(|x| {
                let to = |c: &[f64]| (x[0] - c[0]).hypot(x[1] - c[1]);
                centres.view().rows().map(to).fold(f64::INFINITY, f64::min)
            });
            let (mut plain, mut squared) = (0.0, 0.0);
            distances.for_each(|d| {
                plain += d;
                squared += d * d;
            });
            prop_assert!((inertia(points.view(), centres.view()).unwrap() - plain).abs() < 1e-9);
            prop_assert!((squared_inertia(points.view(), centres.view()).unwrap() - squared).abs() < 1e-9);
        }
    }
}
