//! How far a record is from its centre, in integers, never longer than a public radius.

use crate::nearest::rounding_slack;

/// Units of the fixed-point grid per radius.
pub(crate) const UNITS: i64 = 1 << 20;

/// `x - c` in units of `radius / UNITS`, scaled back to the radius where it is longer: never longer
/// than [`UNITS`]. `distance` is `|x - c|` up to rounding.
#[inline]
pub(crate) fn clip_residual(x: &[f64], c: &[f64], distance: f64, radius: f64, units: &mut [i32]) {
    let scale = units_per_length(x.len(), distance, radius);
    for (unit, (x, c)) in units.iter_mut().zip(x.iter().zip(c)) {
        *unit = whole((x - c) * scale);
    }
}

/// Adds that to sums, one per coordinate.
#[inline]
pub(crate) fn add_residual(x: &[f64], c: &[f64], distance: f64, radius: f64, sums: &mut [i64]) {
    let scale = units_per_length(x.len(), distance, radius);
    for (sum, (x, c)) in sums.iter_mut().zip(x.iter().zip(c)) {
        *sum += i64::from(whole((x - c) * scale));
    }
}

#[inline]
fn units_per_length(dim: usize, distance: f64, radius: f64) -> f64 {
    // The margin outweighs the rounding of the distance and of the products; rounding towards
    // zero then only shortens.
    UNITS as f64 * (1.0 - rounding_slack(dim)) / distance.max(radius)
}

#[inline]
fn whole(units: f64) -> i32 {
    #[allow(clippy::cast_possible_truncation, reason = "towards zero, at most 2^20")]
    {
        units as i32
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
            let mut sums = vec![5; dim];
            add_residual(&x, &zero, distance, radius, &mut sums);
            assert!(sums.iter().zip(&units).all(|(sum, unit)| *sum == 5 + i64::from(*unit)));
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
