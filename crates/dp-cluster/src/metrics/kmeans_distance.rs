//! How far a set of centres is from reference centres.

use dp_geometry::{Points, PointsView, PublicBox};

use super::inertia::inertia;
use crate::error::ClusterError;

/// Mean over the references of the sum, over the private centres, of the distance to the nearest
/// reference centre. Not private.
///
/// `(1 / l) sum_r sum_c min_y |c - y|` with `c` over the private centres and `y` over the centres of
/// reference `r` of `l`. It grows with the number of private centres;
/// [`normalised_kmeans_distance`] does not.
///
/// `None` when there is nothing to compare: no private centre (a sum of nothing would be the perfect
/// score 0), no reference, or a reference without centres.
///
/// # Shapes
/// `private` is `(k', dim)`; each reference is `(k, dim)` with its own `k`. The result is in data
/// units.
///
/// # Complexity
/// `O(l k' k dim)`.
///
/// # Errors
/// [`ClusterError::CentresDimension`].
///
/// # Source
/// Definition 9 of the DPM paper. It prints `l + 1` sets and a sum over `l` of them; the sum here is
/// over all references, divided by their number.
///
/// # Example
/// ```
/// use dp_cluster::metrics::{kmeans_distance, normalised_kmeans_distance};
/// use dp_geometry::{Points, PublicBox};
///
/// let private = Points::new(vec![1.0, 10.0], 1)?;
/// let references = [Points::new(vec![0.0, 10.0], 1)?, Points::new(vec![4.0], 1)?];
/// let distance = kmeans_distance(private.view(), &references)?;
/// assert_eq!(distance, Some(((1.0 + 0.0) + (3.0 + 6.0)) / 2.0));
///
/// let domain = PublicBox::cube(1, 0.0, 50.0)?;
/// let normalised = normalised_kmeans_distance(private.view(), &references, &domain)?;
/// assert_eq!(normalised, Some(5.0 / 2.0 / 50.0));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn kmeans_distance(
    private: PointsView<'_>,
    references: &[Points],
) -> Result<Option<f64>, ClusterError> {
    let distances = references
        .iter()
        .map(|reference| inertia(private, reference.view()))
        .collect::<Result<Vec<f64>, _>>()?;
    if private.is_empty() || references.is_empty() || references.iter().any(Points::is_empty) {
        return Ok(None);
    }
    Ok(Some(distances.iter().sum::<f64>() / references.len() as f64))
}

/// [`kmeans_distance`] per private centre, as a share of the diagonal of the domain. Not private.
///
/// The diagonal of a cube `[a, b]^d` is `(b - a) sqrt(d)`, the divisor of the DPM paper's tables.
/// At most 1 if all centres lie in the domain. `None` as there.
///
/// # Errors
/// [`ClusterError::CentresDimension`].
pub fn normalised_kmeans_distance(
    private: PointsView<'_>,
    references: &[Points],
    domain: &PublicBox,
) -> Result<Option<f64>, ClusterError> {
    ClusterError::unless_equal(domain.dim(), private.dim())?;
    let distance = kmeans_distance(private, references)?;
    Ok(distance.map(|distance| distance / private.len() as f64 / domain.diagonal()))
}

#[cfg(test)]
mod tests {
    use approx::assert_abs_diff_eq;
    use proptest::prelude::*;

    use super::*;
    use crate::metrics::testing::{lattice, line, plane};

    #[test]
    fn golden_value() {
        let private = plane(&[[0.0, 0.0], [6.0, 8.0], [3.0, 0.0]]);
        // Nearest distances: 5, 5, 4 to the first reference; 0, 10, 3 to the second.
        let references = [plane(&[[3.0, 4.0]]), plane(&[[0.0, 0.0], [-9.0, 0.0]])];
        assert_eq!(kmeans_distance(private.view(), &references).unwrap(), Some(13.5));
        // Three centres; the diagonal of a 30 x 40 box is 50.
        let domain = PublicBox::new(vec![-10.0, 0.0], vec![20.0, 40.0]).unwrap();
        let normalised = normalised_kmeans_distance(private.view(), &references, &domain).unwrap();
        assert_abs_diff_eq!(normalised.unwrap(), 0.09, epsilon = 1e-15);
    }

    #[test]
    fn nothing_to_compare() {
        let (none, some) = (line(&[]), line(&[1.0]));
        let domain = PublicBox::cube(1, 0.0, 1.0).unwrap();
        let one = std::slice::from_ref(&some);
        for (private, references) in
            [(&none, one), (&some, &[]), (&some, &[some.clone(), none.clone()][..])]
        {
            assert_eq!(kmeans_distance(private.view(), references).unwrap(), None);
            assert_eq!(
                normalised_kmeans_distance(private.view(), references, &domain).unwrap(),
                None
            );
        }
        assert_eq!(kmeans_distance(some.view(), one).unwrap(), Some(0.0));
    }

    proptest! {
        #[test]
        fn normalised_lies_between_zero_and_one(
            private in lattice(1, 9),
            references in prop::collection::vec(lattice(1, 5), 1..4),
        ) {
            let domain = PublicBox::cube(2, -6.0, 6.0).unwrap();
            let score = normalised_kmeans_distance(private.view(), &references, &domain).unwrap();
            prop_assert!((0.0..=1.0).contains(&score.unwrap()));
            let with_itself = kmeans_distance(private.view(), std::slice::from_ref(&private)).unwrap();
            prop_assert_eq!(with_itself, Some(0.0));
        }
    }
}
