//! A sum of integer vectors with Gaussian noise.

use dp_accounting::{Loss, Rho};
use dp_noise::{DiscreteGaussian, Ratio};

use crate::rational::{ratio_at_most, to_f64};
use crate::{CellsRef, Draws, MechanismError};

/// Adds discrete Gaussian noise to a sum of integer vectors, one vector per record.
///
/// The noise is fitted to a public bound on the squared length of one record's vector, which may
/// differ from sum to sum (a smaller cell, a smaller bound) at the same privacy loss.
///
/// # Guarantee
/// If one record changes the sum by an integer vector of squared length at most `length_squared`,
/// the release is `rho`-zCDP with `v = length_squared / (2 rho)` per coordinate.
///
/// # Utility
/// Unbiased, standard deviation `sqrt(v)` in every coordinate, in the units of the vectors.
///
/// # Precision
/// Exact integers; `v` is rounded up.
///
/// # Source
/// Canonne, Kamath, Steinke (2020), Theorem 14 (multivariate form).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct GaussianSum {
    /// `2 rho`, rounded down.
    twice_rho: Ratio,
    rho: Rho,
}

impl GaussianSum {
    /// A squared length bound must be below this, which is far beyond any fixed-point grid.
    pub const MAX_LENGTH_SQUARED: u64 = 1 << 60;

    /// Smallest loss: with the longest vectors its variance is `2^94`, which still fits a [`Ratio`].
    const LEAST_RHO: f64 = 1.0 / (1_u64 << 35) as f64;

    /// Sums released at this loss.
    ///
    /// # Errors
    /// [`MechanismError`] if `rho` is zero or below `2^-35`.
    pub fn new(rho: Rho) -> Result<Self, MechanismError> {
        let name = "rho of a sum";
        if rho.get() <= 0.0 {
            return Err(MechanismError::NotPositive { name });
        }
        let too_much = MechanismError::TooMuchNoise { name, got: rho.get() };
        if rho.get() < Self::LEAST_RHO {
            return Err(too_much);
        }
        let twice_rho = ratio_at_most(2.0 * rho.get()).ok_or(too_much)?;
        let rho = Rho::new(to_f64(twice_rho) / 2.0).expect("rounded down from a valid one");
        Ok(Self { twice_rho, rho })
    }

    /// What one release costs.
    pub fn loss(&self) -> Loss {
        Loss::Zcdp { rho: self.rho }
    }

    /// Standard deviation of the noise as a multiple of the length bound.
    pub fn noise_multiplier(&self) -> f64 {
        (2.0 * self.rho.get()).sqrt().recip()
    }

    /// The sum with noise in every coordinate. A bound of zero is taken as one.
    ///
    /// # Panics
    /// If `length_squared`, a public number, is not below [`MAX_LENGTH_SQUARED`](Self::MAX_LENGTH_SQUARED).
    pub fn release<'s>(
        &self,
        sum: impl Into<CellsRef<'s, i64>>,
        length_squared: u64,
        draws: &mut Draws<'_>,
    ) -> Vec<i64> {
        let mut sum = sum.into().0.to_vec();
        draws.charge(self.loss()).noisy_vector(&mut sum, self.noise(length_squared));
        sum
    }

    fn noise(&self, length_squared: u64) -> DiscreteGaussian {
        assert!(length_squared < Self::MAX_LENGTH_SQUARED, "the length bound is out of range");
        // v = length^2 / (2 rho). With rho >= 2^-35 the denominator of 2 rho is at most 2^65, so
        // the product is below 2^125.
        let twice_rho = self.twice_rho.numerator();
        let product = u128::from(length_squared.max(1)) * self.twice_rho.denominator().get();
        // A whole variance keeps the samplers on their 64-bit path; rounding up is noisier. Small
        // ones keep 16 bits after the point, or rounding would cost too much.
        let variance = match product / twice_rho {
            0..65_536 => Ratio::new((product << 16).div_ceil(twice_rho), 1 << 16),
            _ => Ratio::new(product.div_ceil(twice_rho), 1),
        };
        DiscreteGaussian::new(variance.expect("below 2^95")).expect("positive")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// From the smallest loss with the longest vectors to the largest loss with the shortest, the
    /// variance is what the formula says and never below it.
    #[test]
    fn the_noise_is_never_too_small() {
        let lengths = [0, 1, 7, 1 << 20, (1 << 59) + 12_345, GaussianSum::MAX_LENGTH_SQUARED - 1];
        for rho in [2_f64.powi(-35), 1.7e-9, 1e-4, 0.03, 1.0, 77.0, 1e9] {
            let sum = GaussianSum::new(Rho::new(rho).expect("valid")).expect("in range");
            for length_squared in lengths {
                let ratio = sum.noise(length_squared).variance();
                let variance = ratio.numerator() as f64 / ratio.denominator().get() as f64;
                let exact = length_squared.max(1) as f64 / (2.0 * rho);
                assert!(variance >= exact * (1.0 - 1e-15), "{rho} {length_squared}: {variance}");
                let slack = exact * 1e-4 + 2_f64.powi(-16);
                assert!(variance <= exact + slack, "{rho} {length_squared}: {variance}");
            }
        }
    }

    #[test]
    fn losses_too_small_to_keep_are_refused() {
        for rho in [2_f64.powi(-36), 1e-15, f64::MIN_POSITIVE] {
            let error = GaussianSum::new(Rho::new(rho).expect("valid")).expect_err("too small");
            assert_eq!(error, MechanismError::TooMuchNoise { name: "rho of a sum", got: rho });
        }
        let zero = GaussianSum::new(Rho::new(0.0).expect("valid")).expect_err("zero");
        assert_eq!(zero.to_string(), "rho of a sum must be > 0, got 0");
    }
}
