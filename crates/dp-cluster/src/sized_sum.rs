//! Sums of records with the number of records as one more coordinate, in integers.
//!
//! A mean needs both, and one noise on both together costs less than two noises.

use dp_geometry::{PointsView, PublicBall, PublicBox};
use dp_mechanism::{CellsRef, Draws, GaussianSum};

use crate::table::sum_rows;

/// Units of the fixed-point grid per radius.
pub(crate) const UNITS: i64 = 1 << 22;

/// Group of a record that is in no sum.
pub(crate) const NO_GROUP: u32 = u32::MAX;

/// Sums of residuals of length at most `radius`, on a grid of [`UNITS`] per radius.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct SizedSum {
    radius: f64,
    units_per_length: f64,
    dim: usize,
    /// What one record adds to the last coordinate.
    size_units: i64,
}

impl SizedSum {
    /// The size gets the share of the noise that serves means best.
    ///
    /// A size coordinate of `w` radii makes the noise of the sum `sqrt(1 + w^2)` times larger and that
    /// of the size `sqrt(1 + w^2) / w` noise multipliers. For means at `2/3` of the radius from the
    /// centre, the squared error is least at `w^4 = 4 / (9 d)`.
    pub(crate) fn new(dim: usize, radius: f64) -> Self {
        #[allow(clippy::cast_possible_truncation, reason = "at most UNITS")]
        let size_units = (UNITS as f64 * (4.0 / (9.0 * dim as f64)).powf(0.25)) as i64;
        Self { radius, units_per_length: UNITS as f64 / radius, dim, size_units: size_units.max(1) }
    }

    /// Numbers per sum: the coordinates, then the size.
    pub(crate) fn width(&self) -> usize {
        self.dim + 1
    }

    /// A bound on the squared length of what one record adds.
    ///
    /// A residual has length at most `radius (1 + 2^-40)`, and rounding it towards zero makes it no
    /// longer, so its squared length in units is below `UNITS^2 + 2^6`.
    pub(crate) fn length_squared(&self) -> u64 {
        self.length_squared_without_size() + (self.size_units * self.size_units).unsigned_abs()
    }

    /// The same for the coordinates alone.
    #[allow(clippy::unused_self, reason = "the bound belongs to this grid")]
    pub(crate) fn length_squared_without_size(&self) -> u64 {
        (UNITS * UNITS + 64).unsigned_abs()
    }

    /// Adds one record.
    #[inline]
    pub(crate) fn add(&self, residual: &[f64], sum: &mut [i64]) {
        for (sum, r) in sum.iter_mut().zip(residual) {
            #[allow(clippy::cast_possible_truncation, reason = "at most UNITS + 1, towards zero")]
            let units = (r * self.units_per_length) as i32;
            *sum += i64::from(units);
        }
        sum[self.dim] += self.size_units;
    }

    /// One sum per group; records of [`NO_GROUP`] are left out. `residual_of` turns a record into
    /// its residual: a function of that record and public numbers.
    pub(crate) fn sums(
        &self,
        points: PointsView<'_>,
        group_of: impl Fn(usize) -> u32 + Sync,
        groups: usize,
        residual_of: impl Fn(&[f64], &mut [f64]) + Sync,
    ) -> Vec<i64> {
        let residual = || vec![0.0; self.dim];
        sum_rows(points, groups * self.width(), residual, |residual, number, row, sums| {
            let group = group_of(number);
            if group != NO_GROUP {
                residual_of(row, residual);
                self.add(residual, &mut sums[group as usize * self.width()..][..self.width()]);
            }
        })
    }

    /// One sum with noise, empty or not.
    pub(crate) fn release(
        &self,
        sum: CellsRef<'_, i64>,
        noise: &GaussianSum,
        draws: &mut Draws<'_>,
    ) -> Vec<i64> {
        noise.release(sum, self.length_squared(), draws)
    }

    /// The number of records that a sum is made of, if it is made of whole ones.
    pub(crate) fn whole_records(&self, sum: &[i64]) -> Option<u64> {
        let size = sum[self.dim];
        (size >= 0 && size % self.size_units == 0).then(|| self.records(sum))
    }

    /// The number of records that a sum is made of.
    pub(crate) fn records(&self, sum: &[i64]) -> u64 {
        (sum[self.dim] / self.size_units).unsigned_abs()
    }

    /// The size that a released sum carries, in records; it may be negative.
    pub(crate) fn size(&self, released: &[i64]) -> f64 {
        released[self.dim] as f64 / self.size_units as f64
    }

    /// Standard deviation of that size, in records.
    pub(crate) fn size_standard_deviation(&self, noise: &GaussianSum) -> f64 {
        noise.noise_multiplier() * (self.length_squared() as f64).sqrt() / self.size_units as f64
    }

    /// A released coordinate, in units of length.
    pub(crate) fn length(&self, units: i64) -> f64 {
        units as f64 / UNITS as f64 * self.radius
    }
}

/// Records relative to the centre of a ball, inside of it whatever they were.
#[derive(Clone, Copy)]
pub(crate) struct InBall<'a> {
    ball: &'a PublicBall,
    /// A squared length that is at most this when computed is that of a point inside, beyond doubt.
    surely_inside: f64,
}

impl<'a> InBall<'a> {
    pub(crate) fn new(ball: &'a PublicBall) -> Self {
        // A sum of dim rounded squares is off by less than dim + 3 units.
        let slack = (ball.dim() as f64 + 16.0) * f64::EPSILON;
        Self { ball, surely_inside: ball.radius() * ball.radius() * (1.0 - 2.0 * slack) }
    }

    /// `x - centre` after clipping `x` to the ball, where NaN becomes the centre's coordinate.
    #[inline]
    pub(crate) fn residual(&self, row: &[f64], out: &mut [f64]) {
        let squared = self.subtract(row, out);
        // NaN and overflow take the careful way.
        let inside = squared <= self.surely_inside;
        if !inside {
            let mut clipped = row.to_vec();
            self.ball.clip(&mut clipped).expect("as many coordinates");
            self.subtract(&clipped, out);
        }
    }

    /// Returns the squared length, summed over eight lanes.
    #[inline]
    fn subtract(&self, row: &[f64], out: &mut [f64]) -> f64 {
        for (r, (x, c)) in out.iter_mut().zip(row.iter().zip(self.ball.centre())) {
            *r = x - c;
        }
        let (groups, rest) = out.as_chunks::<8>();
        let mut lanes = [0.0; 8];
        for group in groups {
            for (sum, r) in lanes.iter_mut().zip(group) {
                *sum += r * r;
            }
        }
        lanes.iter().sum::<f64>() + rest.iter().map(|r| r * r).sum::<f64>()
    }
}

/// `x - middle` after clipping `x` to the box, where NaN becomes the middle; at most half of the width
/// in absolute value. The last needs to be enforced: far from the origin the middle is rounded by
/// much more than the width is, and a difference to it can be twice as long as it should be.
#[inline]
pub(crate) fn box_residual(public_box: &PublicBox, row: &[f64], out: &mut [f64]) {
    for (i, (r, &x)) in out.iter_mut().zip(row).enumerate() {
        let half = 0.5 * public_box.width(i);
        *r = (public_box.clip_coordinate(i, x) - public_box.middle(i)).clamp(-half, half);
    }
}

/// At least the length of the longest residual of a box, and not a rounding error more than needed.
pub(crate) fn box_radius(public_box: &PublicBox) -> f64 {
    let slack = (public_box.dim() as f64 + 16.0) * f64::EPSILON;
    0.5 * public_box.diagonal() * (1.0 + slack)
}

#[cfg(test)]
mod tests {
    use rand::RngExt;

    use super::*;
    use crate::testing::{adversarial, rng};

    /// The middle of this box is one of its ends, so a plain difference would be twice too long.
    #[test]
    fn far_from_the_origin_the_bound_holds_too() {
        for (min, max) in [(1e16, 1e16 + 2.0), (-1e16 - 2.0, -1e16), (1e9, 1e9 + 1e-6)] {
            let public_box = PublicBox::cube(3, min, max).expect("valid");
            let sized = SizedSum::new(3, box_radius(&public_box));
            for x in [min, max, f64::NAN, f64::INFINITY, f64::NEG_INFINITY, 0.0] {
                let (mut residual, mut sum) = (vec![0.0; 3], vec![0; 4]);
                box_residual(&public_box, &[x; 3], &mut residual);
                sized.add(&residual, &mut sum);
                let squared: i64 = sum.iter().map(|s| s * s).sum();
                assert!(squared.unsigned_abs() <= sized.length_squared(), "{x} in {min}: {sum:?}");
            }
        }
    }

    /// A length that is no number is not below anything: beside a NaN, other coordinates are clipped as ever.
    #[test]
    fn a_coordinate_that_is_no_number_lets_no_other_through() {
        let ball =
            PublicBall::around(&PublicBox::cube(3, -1.0, 1.0).expect("valid")).expect("valid");
        let (sized, in_ball) = (SizedSum::new(3, ball.radius()), InBall::new(&ball));
        for odd in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
            for far in [0.5, -9.0, 1e30, f64::MAX] {
                for row in [[odd, far, -far], [far, odd, 0.0], [far, odd, odd], [0.1, far, odd]] {
                    let (mut residual, mut sum) = (vec![0.0; 3], vec![0; 4]);
                    in_ball.residual(&row, &mut residual);
                    sized.add(&residual, &mut sum);
                    let squared: i64 = sum.iter().map(|s| s * s).sum();
                    assert!(squared.unsigned_abs() <= sized.length_squared(), "{row:?}: {sum:?}");
                }
            }
        }
    }

    /// No record of any kind is longer than the bound, and it is nearly reached.
    #[test]
    fn what_a_record_adds_is_bounded() {
        for dim in [1, 2, 3, 50] {
            let public_box = PublicBox::cube(dim, -10.0, 9.3).expect("valid");
            let ball = PublicBall::around(&public_box).expect("valid");
            let in_ball = InBall::new(&ball);
            let mut rng = rng(31);
            let mut cases: Vec<Vec<f64>> = adversarial(dim, 200)
                .into_iter()
                .flat_map(|(_, points)| {
                    points.view().rows().map(<[f64]>::to_vec).collect::<Vec<_>>()
                })
                .collect();
            cases.extend(
                (0..500).map(|_| (0..dim).map(|_| rng.random_range(-11.0..11.0)).collect()),
            );
            let mut longest = [0_u64; 2];
            for (which, radius) in [ball.radius(), box_radius(&public_box)].into_iter().enumerate()
            {
                let sized = SizedSum::new(dim, radius);
                for row in &cases {
                    let (mut residual, mut sum) = (vec![0.0; dim], vec![0; dim + 1]);
                    if which == 0 {
                        in_ball.residual(row, &mut residual);
                    } else {
                        box_residual(&public_box, row, &mut residual);
                    }
                    sized.add(&residual, &mut sum);
                    let squared: i64 = sum.iter().map(|s| s * s).sum();
                    assert!(squared.unsigned_abs() <= sized.length_squared(), "{row:?}: {sum:?}");
                    longest[which] = longest[which].max(squared.unsigned_abs());
                }
                assert!(longest[which] as f64 > 0.999 * sized.length_squared() as f64);
            }
        }
    }
}
