//! Per centre, the sum of clipped residuals and two counts: one integer vector per centre.

use super::questions::Sums;
use crate::inside::Inside;
use crate::located::Located;
use crate::residual::{UNITS, add_residual};
use crate::table::sum_rows;

/// What one point adds to a count, in the same units: 0.3 radii.
pub(super) const COUNT_UNITS: i64 = UNITS * 3 / 10;
/// Squared length of what one point adds to the vector of its centre, at most: a residual of one
/// radius, and one of the two counts.
pub(super) const LENGTH_SQUARED: u64 = (UNITS * UNITS + COUNT_UNITS * COUNT_UNITS).unsigned_abs();
/// Entries of the vector after the coordinates: points near the centre, points far beyond the radius.
pub(super) const COUNTS: usize = 2;

/// Adds up all points, one vector of `dim + COUNTS` entries per centre, from where they have been located.
pub(crate) fn exact_sums(located: &Located<'_>, inside: &Inside, asked: &Sums) -> Vec<i64> {
    let Located { points, labels, distances } = located;
    let (dim, width, centres) = (points.dim(), asked.width(), asked.labels.centres());
    let room = || vec![0.0; dim];
    sum_rows(*points, asked.entries(), room, |room, number, row, sums| {
        let label = labels[number] as usize;
        let at = (&centres[label], distances[number], [asked.clip[label], asked.far[label]]);
        add_row(inside.point(number, row, room), at, &mut sums[label * width..][..width]);
    })
}

/// Adds a point of the box to the vector of its centre, which is at this distance: its residual clipped to a length, and whether it is `far`.
#[inline]
pub(super) fn add_row(
    clipped: &[f64],
    (centre, distance, [clip, far]): (&[f64], f64, [f64; 2]),
    vector: &mut [i64],
) {
    let (residual, counts) = vector.split_at_mut(clipped.len());
    add_residual(clipped, centre, distance, clip, residual);
    counts[usize::from(distance > far)] += COUNT_UNITS;
}
