//! A sum of integer vectors with two-sided geometric noise.

use std::num::NonZeroU64;

use dp_accounting::{Epsilon, Loss};
use dp_noise::{DiscreteLaplace, Ratio};

use crate::rational::{ratio_at_most, to_f64};
use crate::{CellsRef, Draws, MechanismError, Noise};

/// Adds two-sided geometric noise to an integer vector of which neighbours differ by a bounded absolute sum.
///
/// # Guarantee
/// If neighbours change the vector by at most `length` in sum of absolute values, the release is `epsilon`-DP: with scale
/// `b = length / epsilon` and `a = e^(-1/b)`, every coordinate gets `Pr[Z = z] = (1 - a)/(1 + a) a^|z|`, and the
/// likelihoods of one output under two neighbours differ by a factor of at most `a^(-length) = e^epsilon`.
///
/// # Utility
/// Unbiased; [`variance`](Self::variance) is `2a/(1 - a)^2` in every coordinate, close to `2 b^2`.
///
/// # Complexity
/// One draw per coordinate.
///
/// # Precision
/// Exact integers. The loss is rounded down to 32 bits when built and reported as rounded; the scale is rounded up.
///
/// # Source
/// Ghosh, Roughgarden, Sundararajan (2009); Dwork, McSherry, Nissim, Smith (2006), Proposition 1, for the sum over coordinates.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct GeometricSum {
    noise: DiscreteLaplace,
    epsilon: Epsilon,
}

impl GeometricSum {
    /// Noise of scale `length / epsilon`.
    ///
    /// # Errors
    /// [`MechanismError`] if `epsilon` is zero or so small that the scale leaves the range of the samplers; `2^-31` always fits.
    pub fn new(epsilon: Epsilon, length: NonZeroU64) -> Result<Self, MechanismError> {
        let name = "epsilon of a sum";
        if epsilon.get() <= 0.0 {
            return Err(MechanismError::NotPositive { name });
        }
        let too_much = MechanismError::TooMuchNoise { name, got: epsilon.get() };
        let rounded = ratio_at_most(epsilon.get()).ok_or(too_much)?;
        let scale = quotient_at_least(length, rounded).ok_or(too_much)?;
        let noise = DiscreteLaplace::new(scale).map_err(|_| too_much)?;
        let epsilon = Epsilon::new(to_f64(rounded)).expect("rounded down from a valid one");
        Ok(Self { noise, epsilon })
    }

    /// What one release costs.
    pub fn loss(&self) -> Loss {
        Loss::Pure { epsilon: self.epsilon }
    }

    /// Of the noise in each coordinate.
    pub fn variance(&self) -> f64 {
        let rate = -to_f64(self.noise.scale()).recip();
        2.0 * rate.exp() / rate.exp_m1().powi(2)
    }

    /// The sum with noise in every coordinate.
    pub fn release<'s>(
        &self,
        sum: impl Into<CellsRef<'s, i64>>,
        draws: &mut Draws<'_>,
    ) -> Vec<i64> {
        let source = draws.charge(self.loss());
        let sum = sum.into().0.iter();
        sum.map(|&value| source.noisy(value, Noise::Laplace(self.noise))).collect()
    }
}

/// `length / epsilon` in at most 64 bits, rounded up; `epsilon` is at least `2^-60` and of 32 bits.
fn quotient_at_least(length: NonZeroU64, epsilon: Ratio) -> Option<Ratio> {
    let product = u128::from(length.get()).checked_mul(epsilon.denominator().get())?;
    let divisor = epsilon.numerator();
    // A quotient below 2^32 gets 32 significant bits; its product is then below 2^64, so that the shift fits.
    let shift = (product / divisor).leading_zeros().saturating_sub(u128::BITS - 32);
    Ratio::new((product << shift).div_ceil(divisor), 1 << shift).ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use approx::{assert_abs_diff_eq, assert_relative_eq};

    fn sum(epsilon: f64, length: u64) -> Result<GeometricSum, MechanismError> {
        GeometricSum::new(
            Epsilon::new(epsilon).expect("valid"),
            NonZeroU64::new(length).expect("above 0"),
        )
    }

    #[test]
    fn the_scale_is_the_length_over_the_loss_and_never_less() {
        for length in [1, 2, 3, 53, 3_144, u64::from(u32::MAX)] {
            for epsilon in [2_f64.powi(-31), 1e-6, 0.1, 1.0 / 3.0, 1.0, 20.0] {
                let sum = sum(epsilon, length).expect("in range");
                let exact = length as f64 / epsilon;
                let scale = to_f64(sum.noise.scale());
                assert!(scale >= exact * (1.0 - 1e-15), "{epsilon} {length}: {scale}");
                assert!(scale <= exact * (1.0 + 1e-9), "{epsilon} {length}: {scale}");
                assert!(sum.epsilon.get() <= epsilon);
            }
        }
        assert!(sum(0.02, 1 << 40).is_ok());
    }

    /// The formula, at scales where it is easy to see: 2 b^2 for large ones, next to nothing for small ones.
    #[test]
    fn the_variance_is_that_of_the_law() {
        let variance = |epsilon| sum(epsilon, 1).expect("in range").variance();
        assert_relative_eq!(variance(1e-4), 2e8, max_relative = 1e-6);
        let a = (-1_f64).exp();
        assert_abs_diff_eq!(variance(1.0), 2.0 * a / (1.0 - a).powi(2), epsilon = 1e-12);
        assert!(variance(40.0) < 1e-16);
    }

    #[test]
    fn losses_out_of_range_are_refused() {
        assert_eq!(
            sum(0.0, 1).expect_err("zero").to_string(),
            "epsilon of a sum must be > 0, got 0"
        );
        let got = 2_f64.powi(-61);
        let error = sum(got, 1).expect_err("too small");
        assert_eq!(error, MechanismError::TooMuchNoise { name: "epsilon of a sum", got });
        assert!(sum(2_f64.powi(-31), u64::MAX).is_err(), "the scale would be 2^95");
    }
}
