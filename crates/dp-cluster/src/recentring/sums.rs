//! Per centre, the sum of clipped residuals and two counts: one integer vector per centre.

use dp_geometry::PublicBox;

use super::centres::Centres;
use crate::located::{Located, clip_into};
use crate::residual::{UNITS, clip_residual};
use crate::table::sum_rows;

/// What one point adds to a count, in the same units: 0.3 radii.
pub(super) const COUNT_UNITS: i64 = UNITS * 3 / 10;
/// Squared length of what one point adds to the vector of its centre, at most: a residual of one
/// radius, and one of the two counts.
pub(super) const LENGTH_SQUARED: u64 = (UNITS * UNITS + COUNT_UNITS * COUNT_UNITS).unsigned_abs();
/// Entries of the vector after the coordinates: points near the centre, points far beyond the radius.
pub(super) const COUNTS: usize = 2;

/// A point counts as far beyond the radius from this many radii on.
const FAR: f64 = 2.0;

/// Adds up all points, one vector of `dim + COUNTS` entries per centre.
pub(super) fn exact_sums(
    located: &Located<'_>,
    public_box: &PublicBox,
    centres: &Centres,
) -> Vec<i64> {
    let Located { points, labels, distances } = located;
    let dim = points.dim();
    let width = dim + COUNTS;
    let scratch = || (vec![0.0; dim], vec![0_i32; dim]);
    sum_rows(*points, centres.len() * width, scratch, |(clipped, units), number, row, sums| {
        clip_into(public_box, row, clipped);
        let (label, distance) = (labels[number] as usize, distances[number]);
        let radius = centres.standings[label].radius;
        clip_residual(clipped, centres.row(label), distance, radius, units);
        let (residual, counts) = sums[label * width..][..width].split_at_mut(dim);
        for (sum, &unit) in residual.iter_mut().zip(&*units) {
            *sum += i64::from(unit);
        }
        counts[usize::from(distance > FAR * radius)] += COUNT_UNITS;
    })
}
