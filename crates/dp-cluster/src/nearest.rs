//! Which centre is nearest: the one kernel that seeding, Lloyd and the metrics share.

use dp_geometry::PointsView;
use rayon::prelude::*;

/// Centres per block. Eight sums of squares are four registers of the oldest 64-bit machines, which
/// is what a portable build may use; the compiler turns the inner loop into such code by itself.
const LANES: usize = 8;

/// Points per parallel task. Fixed, so that nothing depends on the number of threads.
const CHUNK: usize = 1024;

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
/// # Panics
/// If the dimensions differ.
///
/// # Example
/// ```
/// use dp_cluster::nearest;
/// use dp_geometry::Points;
///
/// let points = Points::new(vec![0.0, 4.0, 5.0, 9.0], 1)?;
/// let centres = Points::new(vec![0.0, 10.0], 1)?;
/// let assignment = nearest(points.view(), centres.view());
/// assert_eq!(assignment.labels, [0, 0, 0, 1]); // 5 is a tie
/// assert_eq!(assignment.squared_distances, [0.0, 16.0, 25.0, 1.0]);
/// # Ok::<(), dp_geometry::GeometryError>(())
/// ```
pub fn nearest(points: PointsView<'_>, centres: PointsView<'_>) -> Assignment {
    assert_eq!(points.dim(), centres.dim(), "points and centres must have the same dimension");
    let table = CentreTable::new(centres);
    let mut labels = vec![0; points.len()];
    let mut squared_distances = vec![f64::INFINITY; points.len()];
    labels
        .par_chunks_mut(CHUNK)
        .zip(squared_distances.par_chunks_mut(CHUNK))
        .zip(points.coords().par_chunks(CHUNK * points.dim()))
        .for_each(|((labels, squared), rows)| {
            let rows = rows.chunks_exact(points.dim());
            for ((label, squared), row) in labels.iter_mut().zip(squared).zip(rows) {
                let two = table.two_nearest(row);
                (*label, *squared) = (two.label, two.squared);
            }
        });
    Assignment { labels, squared_distances }
}

/// Squared distance of two points, summed in the order of the dimensions.
#[inline]
pub(crate) fn squared_distance(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).fold(0.0, |sum, (x, y)| sum + (x - y) * (x - y))
}

/// A relative margin that covers the rounding of a few squared distances in `dim` dimensions.
///
/// One of them is off by a factor of at most `1 +- (dim + 2) 2^-53`. A shortcut through the triangle
/// inequality that leaves this margin cannot change which centre the plain computation picks.
pub(crate) fn rounding_slack(dim: usize) -> f64 {
    4.0 * (dim as f64 + 16.0) * f64::EPSILON
}

/// Centres in blocks of [`LANES`], coordinate by coordinate inside of a block.
///
/// One coordinate of a point is then compared with the same coordinate of eight centres at once.
/// Direct differences, not `|x|^2 - 2 x c + |c|^2`: the latter loses all digits of a small
/// distance between points that are far from the origin.
pub(crate) struct CentreTable {
    /// `(blocks, dim)` groups of [`LANES`]; the unused lanes of the last block are infinite.
    lanes: Vec<[f64; LANES]>,
    dim: usize,
    len: usize,
}

/// The nearest centre, and how far away the runner-up is.
pub(crate) struct TwoNearest {
    pub(crate) label: u32,
    pub(crate) squared: f64,
    pub(crate) second_squared: f64,
}

impl CentreTable {
    pub(crate) fn new(centres: PointsView<'_>) -> Self {
        let (dim, len) = (centres.dim(), centres.len());
        let mut lanes = vec![[f64::INFINITY; LANES]; len.div_ceil(LANES) * dim];
        for (i, row) in centres.rows().enumerate() {
            let block = &mut lanes[i / LANES * dim..][..dim];
            for (group, &x) in block.iter_mut().zip(row) {
                group[i % LANES] = x;
            }
        }
        Self { lanes, dim, len }
    }

    /// Number of entries that [`distances`](Self::distances) writes.
    pub(crate) fn padded_len(&self) -> usize {
        self.len.next_multiple_of(LANES)
    }

    /// Squared distances of `row` to all centres; the padding is infinite.
    pub(crate) fn distances(&self, row: &[f64], out: &mut [f64]) {
        let (out, _) = out.as_chunks_mut::<LANES>();
        for (out, block) in out.iter_mut().zip(self.lanes.chunks_exact(self.dim)) {
            *out = block_distances(row, block);
        }
    }

    /// The nearest and the second nearest centre of `row`; ties go to the lowest index.
    pub(crate) fn two_nearest(&self, row: &[f64]) -> TwoNearest {
        let mut best =
            TwoNearest { label: 0, squared: f64::INFINITY, second_squared: f64::INFINITY };
        let mut label = 0;
        for block in self.lanes.chunks_exact(self.dim) {
            for squared in block_distances(row, block) {
                if squared < best.second_squared {
                    if squared < best.squared {
                        best = TwoNearest { label, squared, second_squared: best.squared };
                    } else {
                        best.second_squared = squared;
                    }
                }
                label += 1;
            }
        }
        best
    }
}

#[inline]
fn block_distances(row: &[f64], block: &[[f64; LANES]]) -> [f64; LANES] {
    let mut sums = [0.0; LANES];
    for (x, centres) in row.iter().zip(block) {
        for (sum, c) in sums.iter_mut().zip(centres) {
            let difference = x - c;
            *sum += difference * difference;
        }
    }
    sums
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
            prop_assert_eq!(
                nearest(points.view(), centres.view()),
                plain(points.view(), centres.view())
            );
        }
    }

    #[test]
    fn runner_up_counts_equal_centres() {
        let centres = Points::new(vec![1.0, 5.0, 1.0, 9.0], 1).unwrap();
        let two = CentreTable::new(centres.view()).two_nearest(&[2.0]);
        assert_eq!((two.label, two.squared, two.second_squared), (0, 1.0, 1.0));
        let alone = CentreTable::new(PointsView::new(&[3.0], 1).unwrap()).two_nearest(&[2.0]);
        assert_eq!((alone.squared, alone.second_squared), (1.0, f64::INFINITY));
    }

    #[test]
    fn no_centre_and_no_number_is_infinitely_far() {
        let points = Points::new(vec![f64::NAN, f64::INFINITY, 1.0], 1).unwrap();
        let none = Points::new(vec![], 1).unwrap();
        let far = nearest(points.view(), none.view());
        assert_eq!(far.labels, [0, 0, 0]);
        assert!(far.squared_distances.iter().all(|d| d.is_infinite()));
        let one = Points::new(vec![0.0, 1.0], 1).unwrap();
        let some = nearest(points.view(), one.view());
        assert_eq!(some.labels, [0, 0, 1]);
        assert_eq!(some.squared_distances, [f64::INFINITY, f64::INFINITY, 0.0]);
    }
}
