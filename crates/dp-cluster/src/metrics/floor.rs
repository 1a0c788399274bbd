//! What knowing everything but the centres would still cost.

use dp_accounting::Mu;
use dp_geometry::PointsView;

use crate::error::ClusterError;
use crate::nearest::assign;

/// What one Gaussian release of all sums at `mu` would add to the [`squared_inertia`](super::squared_inertia) of these centres, if it were known whose
/// record is whose, how many there are and how far four fifths of each cluster reach. Not private: what a private clustering loses is
/// at least about that, so it says whether a loss is one of the method or of the budget.
///
/// A sum of records that are at most `r` from their centre gets noise with standard deviation `r / mu` in each of `dim` coordinates; divided by `n`
/// records, that moves the centre by `dim (r / (mu n))^2` squared, and each of the `n` pays for it: `dim r^2 / (mu^2 n)` for a cluster. 0 without points or
/// centres.
///
/// # Complexity
/// `O(n k dim)`, parallel.
///
/// # Errors
/// [`ClusterError::CentresDimension`].
///
/// # Example
/// ```
/// use dp_cluster::metrics::information_floor;
/// use dp_accounting::Mu;
/// use dp_geometry::Points;
///
/// let points = Points::new(vec![-2.0, 2.0, -2.0, 2.0], 1)?;
/// let centre = Points::new(vec![0.0], 1)?;
/// // One column, four records 2 away, noise of one radius.
/// assert_eq!(information_floor(points.view(), centre.view(), Mu::new(1.0)?)?, 1.0);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn information_floor(
    points: PointsView<'_>,
    centres: PointsView<'_>,
    mu: Mu,
) -> Result<f64, ClusterError> {
    ClusterError::unless_alike(points, centres)?;
    let found = assign(points, centres);
    let mut clusters = vec![Vec::new(); centres.len()];
    for (label, squared) in found.labels.iter().zip(&found.squared_distances) {
        if let Some(cluster) = clusters.get_mut(*label as usize) {
            cluster.push(*squared);
        }
    }
    let of_cluster = |squared: &mut Vec<f64>| {
        squared.sort_by(f64::total_cmp);
        // The rest would be clipped to the ball around these.
        let kept = (4 * squared.len()).div_ceil(5);
        let radius_squared = squared[..kept].last().copied().unwrap_or(0.0);
        radius_squared / squared.len().max(1) as f64
    };
    let sum: f64 = clusters.iter_mut().map(of_cluster).sum();
    Ok(centres.dim() as f64 * sum / (mu.get() * mu.get()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::metrics::testing::{line, plane};

    #[test]
    fn golden_values() {
        // A fifth of the records of the first cluster is far away, and clipped.
        let points =
            plane(&[[3.0, 4.0], [-3.0, 4.0], [3.0, -4.0], [-5.0, 0.0], [60.0, 80.0], [0.0, 205.0]]);
        let centres = plane(&[[0.0, 0.0], [0.0, 200.0]]);
        let all = information_floor(points.view(), centres.view(), Mu::new(2.0).unwrap()).unwrap();
        assert_eq!(all, 2.0 * (25.0 / 5.0 + 25.0) / 4.0);
    }

    #[test]
    fn nothing_to_lose() {
        let (none, some, mu) = (line(&[]), line(&[1.0]), Mu::new(1.0).unwrap());
        for (points, centres) in [(&none, &some), (&none, &none), (&some, &none), (&some, &some)] {
            assert_eq!(information_floor(points.view(), centres.view(), mu).unwrap(), 0.0);
        }
    }
}
