//! Every coordinate as one byte: its half-interval.

use dp_geometry::{FixedPointGrid, PointsView};
use rayon::prelude::*;

use crate::table::rows_per_piece;

/// Cells of the fixed-point grid per dimension: the multiple of the half-intervals by a power of
/// two that lies above `2^16` and not above `2^17`.
pub(super) fn cells_per_dimension(intervals: usize) -> u32 {
    let half_intervals = u32::try_from(2 * intervals).expect("at most 256");
    half_intervals << (17 - half_intervals.ilog2() - u32::from(!half_intervals.is_power_of_two()))
}

/// The half-interval of every coordinate, row-major like the points: one byte each.
#[derive(Debug)]
pub(super) struct Bins {
    bytes: Vec<u8>,
    pub(super) dim: usize,
    /// Per dimension; twice the number of intervals.
    pub(super) half_intervals: usize,
}

impl Bins {
    /// One pass over the points. Whatever lies outside of the box falls in its outermost bins.
    pub(super) fn new(points: PointsView<'_>, grid: &FixedPointGrid, intervals: usize) -> Self {
        let dim = points.dim();
        let half_intervals = 2 * intervals;
        let cells_per_bin = cells_per_bin(grid, half_intervals);
        let shift = cells_per_bin.ilog2();
        let mut bytes = vec![0; points.coords().len()];
        let rows_per_piece = rows_per_piece(points.len());
        bytes
            .par_chunks_mut(rows_per_piece * dim)
            .zip(points.coords().par_chunks(rows_per_piece * dim))
            .for_each(|(bytes, coords)| {
                for (bytes, row) in bytes.chunks_exact_mut(dim).zip(coords.chunks_exact(dim)) {
                    for (i, (byte, &x)) in bytes.iter_mut().zip(row).enumerate() {
                        *byte = u8::try_from(grid.cell(i, x) >> shift).expect("at most 256 bins");
                    }
                }
            });
        Self { bytes, dim, half_intervals }
    }

    pub(super) fn len(&self) -> usize {
        self.bytes.len() / self.dim
    }

    pub(super) fn row(&self, i: usize) -> &[u8] {
        &self.bytes[i * self.dim..(i + 1) * self.dim]
    }

    /// Rows `first..` in pieces, one per thread, as `(first row, bytes)`.
    pub(super) fn rows(&self, first: usize, count: usize) -> impl Iterator<Item = &[u8]> {
        self.bytes[first * self.dim..(first + count) * self.dim].chunks_exact(self.dim)
    }
}

pub(crate) fn cells_per_bin(grid: &FixedPointGrid, half_intervals: usize) -> u32 {
    grid.cells() / u32::try_from(half_intervals).expect("at most 256")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_grid_is_fine_and_divides_into_half_intervals() {
        for intervals in 2..=128 {
            let cells = cells_per_dimension(intervals);
            assert!(cells > 1 << 16 && cells <= 1 << 17, "{intervals}: {cells}");
            let per_bin = cells / (2 * u32::try_from(intervals).expect("small"));
            assert!(per_bin.is_power_of_two() && per_bin >= 2);
        }
    }

    /// So that a pass need not look at the cells of the grid.
    #[test]
    fn a_half_interval_as_a_cell_holds_the_cells_that_are_in_it() {
        use dp_geometry::PublicBox;
        for (min, max) in [(-1.0, 1.0), (0.1, 0.3), (-8e307, 8e307), (1e16, 1e16 + 64.0)] {
            for intervals in [2, 3, 5, 60, 64, 127, 128] {
                let public_box = PublicBox::cube(1, min, max).expect("valid");
                let cells = cells_per_dimension(intervals);
                let grid = FixedPointGrid::new(public_box.clone(), cells).expect("valid");
                let half_intervals = u32::try_from(2 * intervals).expect("small");
                let bins = FixedPointGrid::new(public_box, half_intervals).expect("valid");
                let shift = cells_per_bin(&grid, 2 * intervals).ilog2();
                let edges = (0..=half_intervals).map(|edge| bins.coordinate(0, edge.into()));
                let near = edges.flat_map(|x| [x.next_down(), x, x.next_up()]);
                for x in near.chain([f64::NAN, f64::INFINITY, f64::NEG_INFINITY, f64::MAX, 0.0]) {
                    assert_eq!(bins.cell(0, x), grid.cell(0, x) >> shift, "{x} of {intervals}");
                }
            }
        }
    }
}
