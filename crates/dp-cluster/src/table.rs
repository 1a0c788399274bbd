//! Integer tables over the rows of a data set: the one place where records are added up.
//!
//! Each is a function from records and public state to integers, so that what is released is noise on a table and nothing else.

use dp_geometry::PointsView;
use dp_mechanism::{Cells, Draws, NoisyCount};
use rayon::prelude::*;

/// Rows of one piece of a sum: as many as one thread gets. Few enough for 32-bit counters.
///
/// Everything summed over pieces is an integer, so results do not depend on where they are cut.
pub(crate) fn rows_per_piece(rows: usize) -> usize {
    rows.div_ceil(rayon::current_num_threads()).clamp(1, u32::MAX as usize)
}

/// Rows of one parallel task that looks at each row alone: at most 1024, so that all threads are busy to the end.
pub(crate) fn rows_per_task(rows: usize) -> usize {
    rows_per_piece(rows).min(1024)
}

/// The sum of what the rows add to a table of this size. `add` gets the number of a row, its coordinates and the table, and room to
/// work in that `scratch` makes.
///
/// A piece has fewer than `2^32` rows, so it cannot overflow if a row adds less than `2^31` to an entry. Sums of pieces stop at the
/// ends of `i64`, far beyond the rows that an address space holds.
pub(crate) fn sum_rows<S>(
    points: PointsView<'_>,
    size: usize,
    scratch: impl Fn() -> S + Sync,
    add: impl Fn(&mut S, usize, &[f64], &mut [i64]) + Sync,
) -> Vec<i64> {
    let (dim, rows) = (points.dim(), rows_per_piece(points.len()));
    let piece = |(piece, coords): (usize, &[f64])| {
        let (mut sums, mut scratch) = (vec![0_i64; size], scratch());
        for (number, row) in (piece * rows..).zip(coords.chunks_exact(dim)) {
            add(&mut scratch, number, row, &mut sums);
        }
        sums
    };
    let pieces = points.coords().par_chunks(rows * dim).enumerate().map(piece);
    pieces.reduce_with(add_all).unwrap_or_else(|| vec![0; size])
}

fn add_all(mut sums: Vec<i64>, others: Vec<i64>) -> Vec<i64> {
    for (sum, other) in sums.iter_mut().zip(others) {
        *sum = sum.saturating_add(other);
    }
    sums
}

/// How many rows have each label.
pub(crate) fn count_labels(labels: &[u32], groups: usize) -> Vec<u64> {
    let mut counts = vec![0; groups];
    for &label in labels {
        counts[label as usize] += 1;
    }
    counts
}

/// Every count with noise, zero or not; the leaf pays for one count of each part.
pub(crate) fn noisy_counts(
    counts: &Cells<u64>,
    noise: &NoisyCount,
    leaf: &str,
    draws: &mut Draws<'_>,
) -> Vec<i64> {
    let one = |part: usize| {
        let count = counts.at(part).map(|&count| count);
        noise.release(count, &mut draws.part(leaf, 0, part as u64))
    };
    (0..counts.len()).map(one).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sum_does_not_depend_on_where_rows_are_cut_and_does_not_wrap() {
        let coords: Vec<f64> = (0..22).map(f64::from).collect();
        let rows: Vec<i64> = (0..11).collect();
        let points = PointsView::new(&coords, 2).expect("whole rows");
        for threads in 1..=13 {
            let pool =
                rayon::ThreadPoolBuilder::new().num_threads(threads).build().expect("a pool");
            let sums = pool.install(|| {
                sum_rows(
                    points,
                    3,
                    || (),
                    |(), number, row, sums| {
                        sums[0] += rows[number];
                        sums[1] += i64::from(row == &coords[2 * number..][..2]);
                        sums[2] += 1;
                    },
                )
            });
            assert_eq!(sums, [55, 11, 11]);
        }
        assert_eq!(add_all(vec![i64::MAX, i64::MIN], vec![1, -1]), [i64::MAX, i64::MIN]);
    }

    #[test]
    fn few_rows_make_small_pieces() {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(3).build().expect("a pool");
        let sizes = |rows| pool.install(|| (rows_per_piece(rows), rows_per_task(rows)));
        assert_eq!(
            [sizes(0), sizes(3), sizes(4), sizes(9_000)],
            [(1, 1), (1, 1), (2, 2), (3_000, 1024)]
        );
    }
}
