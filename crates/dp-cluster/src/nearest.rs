//! Which centre is nearest to each of many points.

use dp_geometry::PointsView;
pub(crate) use dp_geometry::nearest::{
    CentreTable, CentreTree, HintedTable, NearestCentre, four_squared_distances, rounding_slack,
    squared_distance,
};
use rayon::prelude::*;

use crate::error::ClusterError;
use crate::table::rows_per_task;

/// The nearest centre of each point and the squared distance to it.
#[derive(Clone, Debug, PartialEq)]
pub struct Assignment {
    /// Index of the nearest centre, the lowest one in a tie. Shape `(n_points,)`.
    pub labels: Vec<u32>,
    /// Squared distance to that centre. Shape `(n_points,)`.
    pub squared_distances: Vec<f64>,
}

/// Assigns each point to its nearest centre; ties go to the lowest index.
///
/// Not private: it looks at the points as they are. A private algorithm may use the label of one
/// record relative to public centres, and nothing else of what this returns.
///
/// Without centres every label is 0 and every distance infinite; the same holds for a point with a
/// NaN or infinite coordinate.
///
/// # Shapes
/// `points` is `(n_points, dim)`, `centres` is `(k, dim)`.
///
/// # Complexity
/// `O(n k dim)`, spread over the threads of the current pool. The result is the same, bit for bit,
/// for every number of threads: each distance is one sum in the order of the dimensions.
///
/// # Errors
/// [`ClusterError::CentresDimension`].
///
/// # Example
/// ```
/// use dp_cluster::nearest;
/// use dp_geometry::Points;
///
/// let points = Points::new(vec![0.0, 4.0, 5.0, 9.0], 1)?;
/// let centres = Points::new(vec![0.0, 10.0], 1)?;
/// let assignment = nearest(points.view(), centres.view())?;
/// assert_eq!(assignment.labels, [0, 0, 0, 1]); // 5 is a tie
/// assert_eq!(assignment.squared_distances, [0.0, 16.0, 25.0, 1.0]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn nearest(
    points: PointsView<'_>,
    centres: PointsView<'_>,
) -> Result<Assignment, ClusterError> {
    ClusterError::unless_alike(points, centres)?;
    Ok(assign(points, centres))
}

/// [`nearest`], where both are known to have the same dimension.
pub(crate) fn assign(points: PointsView<'_>, centres: PointsView<'_>) -> Assignment {
    assign_from(points, centres, tree_from(centres.dim()))
}

/// The same with a tree from so many centres on, and with a table of fewer: a test sets this to a few.
pub(crate) fn assign_from(
    points: PointsView<'_>,
    centres: PointsView<'_>,
    tree_from: usize,
) -> Assignment {
    assert_eq!(points.dim(), centres.dim(), "points and centres must have the same dimension");
    // Building a tree is work for all centres, searching it saves some per point.
    if centres.len() >= tree_from && points.len() >= centres.len() {
        assign_by(points, &CentreTree::new(centres))
    } else {
        assign_by(points, &CentreTable::new(centres))
    }
}

/// From how many centres on a tree of them is faster than a table, as measured. Both give the same bytes.
pub(crate) fn tree_from(dim: usize) -> usize {
    if dim <= CentreTree::MAX_DIM { (64 << dim).max(256) } else { usize::MAX }
}

fn assign_by(points: PointsView<'_>, centres: &(impl NearestCentre + Sync)) -> Assignment {
    let mut labels = vec![0; points.len()];
    let mut squared_distances = vec![f64::INFINITY; points.len()];
    let rows = rows_per_task(points.len());
    labels
        .par_chunks_mut(rows)
        .zip(squared_distances.par_chunks_mut(rows))
        .zip(points.coords().par_chunks(rows * points.dim()))
        .for_each(|((labels, squared), rows)| {
            let rows = rows.chunks_exact(points.dim());
            for ((label, squared), row) in labels.iter_mut().zip(squared).zip(rows) {
                let two = centres.two_nearest(row);
                (*label, *squared) = (two.label, two.squared);
            }
        });
    Assignment { labels, squared_distances }
}

#[cfg(test)]
mod tests {
    use dp_geometry::Points;
    use proptest::prelude::*;

    use super::*;

    fn plain(points: PointsView<'_>, centres: PointsView<'_>) -> Assignment {
        let (labels, squared_distances) = points
            .rows()
            .map(|row| {
                let mut best = (0, f64::INFINITY);
                for (j, c) in centres.rows().enumerate() {
                    let squared = squared_distance(row, c);
                    if squared < best.1 {
                        best = (u32::try_from(j).unwrap(), squared);
                    }
                }
                best
            })
            .unzip();
        Assignment { labels, squared_distances }
    }

    proptest! {
        #[test]
        fn equals_the_plain_loop_bit_for_bit(
            dim in 1..6usize,
            coords in prop::collection::vec(-8..8i8, 0..200),
            centres in prop::collection::vec(-8..8i8, 0..120),
            shift in prop_oneof![Just(0.0), Just(1e9 + 0.1)],
        ) {
            // Few distinct coordinates, so that ties and equal centres are common.
            let cut = |v: Vec<i8>| {
                let keep = v.len() / dim * dim;
                let coords = v[..keep].iter().map(|&x| f64::from(x) / 3.0 + shift).collect();
                Points::new(coords, dim).unwrap()
            };
            let (points, centres) = (cut(coords), cut(centres));
            let plain = plain(points.view(), centres.view());
            prop_assert_eq!(&assign(points.view(), centres.view()), &plain);
            for tree_from in [1, 2, 3, usize::MAX] {
                let found = assign_from(points.view(), centres.view(), tree_from);
                prop_assert_eq!(&found, &plain, "a tree from {} centres on", tree_from);
            }
        }
    }

    /// The size that a release has, on both sides.
    #[test]
    fn a_tree_and_a_table_agree_where_one_takes_over() {
        for dim in [1, 2] {
            let from = tree_from(dim);
            assert_eq!(from, 256);
            let place = |i: usize| ((i * 7_919) % 1_009) as f64;
            let points = Points::new((0..300 * dim).map(place).collect(), dim).unwrap();
            for k in [from - 1, from] {
                let centres =
                    Points::new((0..k * dim).map(|i| place(i + 5)).collect(), dim).unwrap();
                let found = assign(points.view(), centres.view());
                assert_eq!(found, plain(points.view(), centres.view()), "{k} centres");
            }
        }
        assert_eq!((tree_from(8), tree_from(9)), (64 << 8, usize::MAX));
    }

    #[test]
    fn no_centre_and_no_number_is_infinitely_far() {
        let points = Points::new(vec![f64::NAN, f64::INFINITY, 1.0], 1).unwrap();
        let none = Points::new(vec![], 1).unwrap();
        let far = assign(points.view(), none.view());
        assert_eq!(far.labels, [0, 0, 0]);
        assert!(far.squared_distances.iter().all(|d| d.is_infinite()));
        let one = Points::new(vec![0.0, 1.0], 1).unwrap();
        let some = assign(points.view(), one.view());
        assert_eq!(some.labels, [0, 0, 1]);
        assert_eq!(some.squared_distances, [f64::INFINITY, f64::INFINITY, 0.0]);
    }
}
