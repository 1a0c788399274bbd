//! A sum of integers with two-sided geometric noise.

use dp_accounting::{Epsilon, Loss};
use dp_noise::{DiscreteLaplace, Ratio};

use crate::rational::{ratio_at_most, to_f64};
use crate::{Draws, MechanismError, Noise};

/// Adds two-sided geometric noise to an integer that one record changes by at most a public bound.
///
/// # Guarantee
/// For `|s(D) - s(D')| <= sensitivity`: `epsilon`-DP. With `a = e^(-epsilon / sensitivity)`,
/// `Pr[Z = z] = (1 - a)/(1 + a) a^|z|`, and a shift by `sensitivity` changes that by a factor of at
/// most `e^epsilon`.
///
/// # Utility
/// Unbiased, standard deviation about `sqrt(2) sensitivity / epsilon`.
///
/// # Precision
/// Exact integers. `epsilon` is rounded down to 32 bits when built and reported so; the scale is
/// rounded up.
///
/// # Source
/// Ghosh, Roughgarden, Sundararajan (2009).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LaplaceSum {
    noise: DiscreteLaplace,
    epsilon: Epsilon,
}

impl LaplaceSum {
    /// For a sum with this sensitivity, in its own integer units.
    ///
    /// # Errors
    /// [`MechanismError`] if `epsilon` or `sensitivity` is zero, or their quotient is too small.
    pub fn new(epsilon: Epsilon, sensitivity: u64) -> Result<Self, MechanismError> {
        let name = "epsilon of a sum";
        if epsilon.get() <= 0.0 {
            return Err(MechanismError::NotPositive { name });
        }
        if sensitivity == 0 {
            return Err(MechanismError::NotPositive { name: "sensitivity of a sum" });
        }
        let too_much = MechanismError::TooMuchNoise { name, got: epsilon.get() };
        let rounded = ratio_at_most(epsilon.get()).ok_or(too_much)?;
        // A whole scale keeps the samplers on their 64-bit path; rounding up is noisier. Small ones
        // keep 16 bits after the point.
        let denominator = rounded.denominator().get();
        let product = u128::from(sensitivity).checked_mul(denominator).ok_or(too_much)?;
        let scale = match product / rounded.numerator() {
            0..65_536 if product < 1 << 111 => {
                Ratio::new((product << 16).div_ceil(rounded.numerator()), 1 << 16)
            }
            _ => Ratio::new(product.div_ceil(rounded.numerator()), 1),
        };
        let noise = scale.and_then(DiscreteLaplace::new).ok_or(too_much)?;
        Ok(Self { noise, epsilon: Epsilon::new(to_f64(rounded)).expect("rounded down") })
    }

    /// What one release costs.
    pub fn loss(&self) -> Loss {
        Loss::Pure { epsilon: self.epsilon }
    }

    /// Of the noise, in the units of the sum.
    pub fn standard_deviation(&self) -> f64 {
        let inverse = to_f64(self.noise.scale()).recip();
        // sqrt(2a) / (1 - a) with a = e^-inverse.
        (2.0 * (-inverse).exp()).sqrt() / -(-inverse).exp_m1()
    }

    /// The noisy sum.
    pub fn release(&self, sum: i64, draws: &mut dyn Draws) -> i64 {
        draws.noisy(sum, Noise::Laplace(self.noise))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_scale_is_sensitivity_over_epsilon() {
        let epsilon = Epsilon::new(0.25).expect("valid");
        let sum = LaplaceSum::new(epsilon, 1 << 40).expect("in range");
        assert_eq!(sum.noise.scale(), Ratio::new(1 << 42, 1).expect("valid"));
        assert_eq!(sum.loss(), Loss::Pure { epsilon });
        let expected = 2_f64.sqrt() * 2_f64.powi(42);
        assert!((sum.standard_deviation() / expected - 1.0).abs() < 1e-9);
    }

    #[test]
    fn what_cannot_be_calibrated_is_refused() {
        let epsilon = |x| Epsilon::new(x).expect("valid");
        assert!(LaplaceSum::new(epsilon(0.0), 1).is_err());
        assert!(LaplaceSum::new(epsilon(1.0), 0).is_err());
        assert!(LaplaceSum::new(epsilon(1e-300), 1).is_err());
    }
}
