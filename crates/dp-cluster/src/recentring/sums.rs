//! Per centre, the sum of clipped residuals and two counts: one integer vector per centre.

use dp_geometry::PublicBox;

use super::centres::Centres;
use super::locate::{Located, clip_into};
use crate::nearest::rounding_slack;
use crate::table::sum_rows;

/// Units of the fixed-point grid per radius.
pub(super) const UNITS: i64 = 1 << 20;
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

/// `x - c` in units of `radius / UNITS`, scaled back to the radius where it is longer: never longer
/// than [`UNITS`]. `distance` is `|x - c|` up to rounding.
#[inline]
fn clip_residual(x: &[f64], c: &[f64], distance: f64, radius: f64, units: &mut [i32]) {
    // The margin outweighs the rounding of the distance and of the products below; rounding towards
    // zero then only shortens.
    let scale = UNITS as f64 * (1.0 - rounding_slack(x.len())) / distance.max(radius);
    for (unit, (x, c)) in units.iter_mut().zip(x.iter().zip(c)) {
        #[allow(clippy::cast_possible_truncation, reason = "towards zero, at most 2^20")]
        {
            *unit = ((x - c) * scale) as i32;
        }
    }
}

#[cfg(test)]
mod tests {
    use dp_mechanism::ChaCha20Rng;
    use rand::{RngExt, SeedableRng};

    use super::*;
    use crate::nearest::squared_distance;

    /// Inside, on and beyond the radius, in few and many dimensions, at every scale.
    #[test]
    fn no_clipped_residual_is_longer_than_a_radius() {
        let mut rng = ChaCha20Rng::seed_from_u64(1);
        let mut longest = 0.0_f64;
        for round in 0..3_000 {
            let dim = [1, 2, 3, 10, 100, 784][round % 6];
            let radius = 10_f64.powf(rng.random_range(-90.0..90.0));
            let factor = [1e-3, 0.5, 1.0, 1.0 + 1e-15, 3.0, 1e9][round / 6 % 6];
            let axis_parallel = round % 5 == 0;
            let mut x: Vec<f64> = (0..dim).map(|_| rng.random_range(-1.0..1.0)).collect();
            if axis_parallel {
                x[1..].fill(0.0);
            }
            let zero = vec![0.0; dim];
            let stretch = factor * radius / squared_distance(&x, &zero).sqrt();
            for x in &mut x {
                *x *= stretch;
            }
            let distance = squared_distance(&x, &zero).sqrt();
            let mut units = vec![0; dim];
            clip_residual(&x, &zero, distance, radius, &mut units);
            let squared: i64 = units.iter().map(|&u| i64::from(u) * i64::from(u)).sum();
            assert!(squared <= UNITS * UNITS, "dim {dim}, radius {radius}, factor {factor}");
            longest = longest.max(squared as f64 / (UNITS * UNITS) as f64);
        }
        assert!(longest > 0.99999, "the bound is nearly attained: {longest}");
    }

    #[test]
    fn a_residual_that_is_no_number_counts_as_none() {
        let mut units = vec![7; 2];
        clip_residual(&[0.0, 0.0], &[0.0, 0.0], 0.0, 1e-90, &mut units);
        assert_eq!(units, [0, 0]);
        clip_residual(&[1e300, -1e300], &[0.0, 0.0], f64::INFINITY, 1.0, &mut units);
        assert_eq!(units, [0, 0]);
    }
}
