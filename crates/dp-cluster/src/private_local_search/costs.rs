//! What all swaps would cost, in one pass over the records.

use dp_geometry::{PointsView, PublicBox};
use rayon::prelude::*;

use crate::local_search::Objective;
use crate::located::clip_into;
use crate::table::rows_per_piece;

/// Units of the largest cost of one record: that of the box's diagonal.
pub(crate) const UNITS: i32 = 1 << 20;

/// Records whose costs add up to less than `2^31`.
const BLOCK: usize = 2_000;

/// The candidates, coordinate by coordinate, so that one record meets all of them in a row.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Table {
    public_box: PublicBox,
    objective: Objective,
    /// `(d, m)`: all first coordinates, then all second ones.
    columns: Vec<f64>,
    len: usize,
    units_per_cost: f64,
}

impl Table {
    pub(crate) fn new(public_box: PublicBox, objective: Objective, rows: PointsView<'_>) -> Self {
        let (dim, len) = (rows.dim(), rows.len());
        let mut columns = vec![0.0; dim * len];
        for (j, row) in rows.rows().enumerate() {
            for (i, &x) in row.iter().enumerate() {
                columns[i * len + j] = public_box.clip_coordinate(i, x);
            }
        }
        let most = objective.of_squared(public_box.diagonal().powi(2));
        Self { public_box, objective, columns, len, units_per_cost: f64::from(UNITS) / most }
    }

    pub(crate) fn len(&self) -> usize {
        self.len
    }

    /// The cost of one record at every candidate, each from 0 to [`UNITS`]: a function of this record and public values.
    fn of_record(&self, row: &[f64], squares: &mut [f64], units: &mut [i32]) {
        /// Adding it leaves the nearest integer in the last bits.
        const TO_INTEGER: f64 = (1_u64 << 52) as f64;
        squares.fill(0.0);
        for (&x, column) in row.iter().zip(self.columns.chunks_exact(self.len)) {
            for (square, y) in squares.iter_mut().zip(column) {
                *square += (x - y) * (x - y);
            }
        }
        if self.objective == Objective::KMedian {
            for square in squares.iter_mut() {
                *square = square.sqrt();
            }
        }
        for (unit, cost) in units.iter_mut().zip(squares) {
            #[allow(clippy::cast_possible_truncation, reason = "below 2^21")]
            let near = (*cost * self.units_per_cost + TO_INTEGER).to_bits() as i32;
            *unit = if near < UNITS { near } else { UNITS };
        }
    }

    /// For each of the chosen, taken out, and each candidate, put in: the cost of what results. Row-major `(k, m)`.
    ///
    /// Putting in what was taken out is no swap. One record moves each cost by 0 to [`UNITS`].
    pub(crate) fn swaps(&self, points: PointsView<'_>, chosen: &[usize]) -> Vec<i64> {
        self.swaps_by_blocks(points, chosen, BLOCK)
    }

    /// The same with so many records in a block, at most [`BLOCK`].
    pub(super) fn swaps_by_blocks(
        &self,
        points: PointsView<'_>,
        chosen: &[usize],
        block: usize,
    ) -> Vec<i64> {
        let (dim, len) = (points.dim(), self.len);
        let rows = rows_per_piece(points.len());
        let pieces = points.coords().par_chunks(rows * dim).map(|piece| {
            let mut sums = vec![0_i64; (1 + chosen.len()) * len];
            for block in piece.chunks(block * dim) {
                for (sum, block) in sums.iter_mut().zip(self.block(block, chosen)) {
                    *sum += i64::from(block);
                }
            }
            sums
        });
        let none = || vec![0; (1 + chosen.len()) * len];
        let sums = pieces.reduce(none, |mut sums, others| {
            for (sum, other) in sums.iter_mut().zip(others) {
                *sum = sum.saturating_add(other);
            }
            sums
        });
        let (all, more) = sums.split_at(len);
        let rows = more.chunks_exact(len.max(1));
        rows.flat_map(|more| all.iter().zip(more).map(|(all, more)| all + more)).collect()
    }

    /// The same for at most [`BLOCK`] records: first what the swaps would cost all others, then by how much more it is for those to whom the
    /// one taken out was nearest.
    fn block(&self, coords: &[f64], chosen: &[usize]) -> Vec<i32> {
        let (dim, len) = (self.public_box.dim(), self.len);
        let (mut row, mut squares, mut units) = (vec![0.0; dim], vec![0.0; len], vec![0; len]);
        let mut sums = vec![0_i32; (1 + chosen.len()) * len];
        let (all, more) = sums.split_at_mut(len);
        for raw in coords.chunks_exact(dim) {
            clip_into(&self.public_box, raw, &mut row);
            self.of_record(&row, &mut squares, &mut units);
            let (owner, first, second) = two_nearest(&units, chosen);
            let more = &mut more[owner * len..][..len];
            for ((all, more), &unit) in all.iter_mut().zip(more).zip(&units) {
                let with = if unit < first { unit } else { first };
                let without = if unit < second { unit } else { second };
                // A block is short enough that nothing wraps.
                *all = all.wrapping_add(with);
                *more = more.wrapping_add(without - with);
            }
        }
        sums
    }
}

/// Which of the chosen is nearest, its cost, and that of the second nearest; [`UNITS`] if there is none.
fn two_nearest(units: &[i32], chosen: &[usize]) -> (usize, i32, i32) {
    let (mut owner, mut first, mut second) = (0, UNITS, UNITS);
    for (place, &candidate) in chosen.iter().enumerate() {
        let cost = units[candidate];
        if cost < first {
            (owner, first, second) = (place, cost, first);
        } else {
            second = second.min(cost);
        }
    }
    (owner, first, second)
}
