//! Which centre is nearest: the one kernel that seeding, Lloyd and the metrics share.

use dp_geometry::PointsView;
use rayon::prelude::*;

use crate::table::rows_per_task;

/// Centres per block. Eight sums of squares are four registers of the oldest 64-bit machines, which
/// is what a portable build may use; the compiler turns the inner loop into such code by itself.
const LANES: usize = 8;

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
    let rows = rows_per_task(points.len());
    labels
        .par_chunks_mut(rows)
        .zip(squared_distances.par_chunks_mut(rows))
        .zip(points.coords().par_chunks(rows * points.dim()))
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
///
/// What is left over is a narrower block: the few candidates of a seeding should not pay for eight.
pub(crate) struct CentreTable {
    /// `(blocks, dim)` groups of [`LANES`].
    full: Vec<[f64; LANES]>,
    /// `dim` groups of [`rest_width`](Self::rest_width); an unused lane is infinite.
    rest: Vec<f64>,
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
        let mut table =
            Self { full: vec![[0.0; LANES]; len / LANES * dim], rest: vec![], dim, len };
        let width = table.rest_width();
        table.rest = vec![f64::INFINITY; width * dim];
        for (i, row) in centres.rows().enumerate() {
            let (block, lane) = (i / LANES, i % LANES);
            if block < len / LANES {
                let block = &mut table.full[block * dim..][..dim];
                block.iter_mut().zip(row).for_each(|(group, &x)| group[lane] = x);
            } else {
                let groups = table.rest.chunks_exact_mut(width);
                groups.zip(row).for_each(|(group, &x)| group[lane] = x);
            }
        }
        table
    }

    /// Lanes of the last block: two make a register.
    fn rest_width(&self) -> usize {
        (self.len % LANES).next_multiple_of(2)
    }

    /// Number of entries that [`distances`](Self::distances) writes.
    pub(crate) fn padded_len(&self) -> usize {
        self.len.next_multiple_of(2)
    }

    /// Squared distances of each row to all centres, row after row; the padding is infinite.
    ///
    /// Several rows at once have the processor wait for one while it works on another.
    pub(crate) fn distances<const ROWS: usize>(&self, rows: [&[f64]; ROWS], out: &mut [f64]) {
        self.blocks(rows, |start, by_row| {
            for (out, distances) in out.chunks_exact_mut(self.padded_len()).zip(by_row) {
                out[start..][..distances.len()].copy_from_slice(distances);
            }
        });
    }

    /// The nearest and the second nearest centre of `row`; ties go to the lowest index.
    pub(crate) fn two_nearest(&self, row: &[f64]) -> TwoNearest {
        let mut best =
            TwoNearest { label: 0, squared: f64::INFINITY, second_squared: f64::INFINITY };
        let mut label = 0;
        self.blocks([row], |_, [distances]| best.see(&mut label, distances));
        best
    }

    /// Hands over squared distances block by block: the number of the first centre of the block, and
    /// for each row the distances to its centres.
    #[inline]
    fn blocks<const ROWS: usize>(
        &self,
        rows: [&[f64]; ROWS],
        mut take: impl FnMut(usize, [&[f64]; ROWS]),
    ) {
        for (number, block) in self.full.chunks_exact(self.dim).enumerate() {
            let distances = block_distances(rows, block);
            take(number * LANES, distances.each_ref().map(<[f64; LANES]>::as_slice));
        }
        let start = self.len / LANES * LANES;
        match self.rest_width() {
            0 => {}
            2 => self.rest::<ROWS, 2>(rows, |distances| take(start, distances)),
            4 => self.rest::<ROWS, 4>(rows, |distances| take(start, distances)),
            6 => self.rest::<ROWS, 6>(rows, |distances| take(start, distances)),
            _ => self.rest::<ROWS, LANES>(rows, |distances| take(start, distances)),
        }
    }

    #[inline]
    fn rest<const ROWS: usize, const WIDTH: usize>(
        &self,
        rows: [&[f64]; ROWS],
        take: impl FnOnce([&[f64]; ROWS]),
    ) {
        let distances = block_distances(rows, self.rest.as_chunks::<WIDTH>().0);
        take(distances.each_ref().map(<[f64; WIDTH]>::as_slice));
    }
}

impl TwoNearest {
    /// Takes note of the next centres, of which the first is number `label`.
    #[inline]
    fn see(&mut self, label: &mut u32, distances: &[f64]) {
        for &squared in distances {
            if squared < self.second_squared {
                if squared < self.squared {
                    *self = Self { label: *label, squared, second_squared: self.squared };
                } else {
                    self.second_squared = squared;
                }
            }
            *label += 1;
        }
    }
}

#[inline]
fn block_distances<const ROWS: usize, const WIDTH: usize>(
    rows: [&[f64]; ROWS],
    block: &[[f64; WIDTH]],
) -> [[f64; WIDTH]; ROWS] {
    let mut sums = [[0.0; WIDTH]; ROWS];
    let rows = rows.map(|row| &row[..block.len()]);
    for (at, centres) in block.iter().enumerate() {
        for (sums, row) in sums.iter_mut().zip(&rows) {
            for (sum, c) in sums.iter_mut().zip(centres) {
                let difference = row[at] - c;
                *sum += difference * difference;
            }
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

    proptest! {
        /// Widths of 0 to 8 lanes after full blocks, rows alone and together.
        #[test]
        fn tables_of_all_widths_hold_plain_distances(
            dim in 1..5usize,
            coords in prop::collection::vec(-9.0..9.0_f64, 4 * 4..4 * 5),
            centres in prop::collection::vec(-9.0..9.0_f64, 0..96),
        ) {
            let cut = |v: &[f64], rows: usize| Points::new(v[..rows * dim].to_vec(), dim).unwrap();
            let points = cut(&coords, 4);
            let centres = cut(&centres, centres.len() / dim);
            let table = CentreTable::new(centres.view());
            let rows = [0, 1, 2, 3].map(|i| points.view().row(i));
            let mut together = vec![f64::NAN; 4 * table.padded_len()];
            table.distances(rows, &mut together);
            for (number, row) in rows.into_iter().enumerate() {
                let mut alone = vec![f64::NAN; table.padded_len()];
                table.distances([row], &mut alone);
                let mut plain: Vec<f64> =
                    centres.view().rows().map(|c| squared_distance(row, c)).collect();
                plain.resize(table.padded_len(), f64::INFINITY);
                prop_assert_eq!(&alone, &plain);
                prop_assert_eq!(&together[number * plain.len()..][..plain.len()], &plain);
            }
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
