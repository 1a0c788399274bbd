//! A sum of integer vectors with Gaussian noise.

use dp_accounting::{Loss, Rho};
use dp_noise::{DiscreteGaussian, Ratio};

use crate::rational::{ratio_at_most, to_f64};
use crate::{Draws, MechanismError};

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
    /// Sums released at this loss.
    ///
    /// # Errors
    /// [`MechanismError`] if `rho` is zero or below `2^-61`.
    pub fn new(rho: Rho) -> Result<Self, MechanismError> {
        let name = "rho of a sum";
        if rho.get() <= 0.0 {
            return Err(MechanismError::NotPositive { name });
        }
        let twice_rho = ratio_at_most(2.0 * rho.get())
            .ok_or(MechanismError::TooMuchNoise { name, got: rho.get() })?;
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

    /// Replaces the sum by its noisy version. A bound of zero is taken as one.
    ///
    /// # Panics
    /// If `length_squared` is `2^60` or more; it is public.
    pub fn release(&self, sum: &mut [i64], length_squared: u64, draws: &mut dyn Draws) {
        draws.noisy_vector(sum, self.noise(length_squared));
    }

    fn noise(&self, length_squared: u64) -> DiscreteGaussian {
        assert!(length_squared < 1 << 60, "the length bound is far beyond any fixed-point grid");
        // A coarser variance keeps the samplers on their 64-bit path; rounding up is noisier.
        let exact = u128::from(length_squared.max(1)) * self.twice_rho.denominator().get();
        let twice_rho = self.twice_rho.numerator();
        let variance = match exact / twice_rho {
            0..65_536 => Ratio::new((exact << 16).div_ceil(twice_rho), 1 << 16),
            _ => Ratio::new(exact.div_ceil(twice_rho), 1),
        };
        DiscreteGaussian::new(variance.expect("in range")).expect("positive")
    }
}
