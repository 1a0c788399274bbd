//! The two kinds of numbers that probabilities are computed in.

use std::ops::{Add, Div, Mul, Sub};

use dp_mechanism::{DiscreteGaussian, Ratio, RoundedGaussian};
use num_rational::BigRational;

/// A probability with the four operations.
pub(crate) trait Probability:
    Clone
    + PartialOrd
    + Add<Output = Self>
    + Sub<Output = Self>
    + Mul<Output = Self>
    + Div<Output = Self>
{
}

impl Probability for f64 {}
impl Probability for BigRational {}

/// A way to compute probabilities.
pub(crate) trait Numbers {
    type P: Probability;

    fn ratio(&self, x: Ratio) -> Self::P;

    /// `e^-x`.
    fn exp_minus(&self, x: Ratio) -> Self::P;

    /// Whether a positive probability can come out as zero.
    const UNDERFLOWS: bool;

    /// Probabilities of `0, 1, 2, ...` of this noise, until they vanish.
    fn gaussian_half(&self, noise: DiscreteGaussian) -> Vec<Self::P>;

    /// The same of rounded noise.
    fn rounded_half(&self, noise: RoundedGaussian) -> Vec<Self::P>;

    fn integer(&self, n: u32) -> Self::P {
        self.ratio(Ratio::new(n.into(), 1).expect("small"))
    }
}

/// Floating-point probabilities, good to about 1e-12.
pub(crate) struct Floats;

impl Numbers for Floats {
    type P = f64;
    const UNDERFLOWS: bool = true;

    fn ratio(&self, x: Ratio) -> f64 {
        ratio_to_f64(x)
    }

    fn exp_minus(&self, x: Ratio) -> f64 {
        (-ratio_to_f64(x)).exp()
    }

    fn gaussian_half(&self, noise: DiscreteGaussian) -> Vec<f64> {
        let variance = ratio_to_f64(noise.variance());
        let weight = |z: f64| (-z * z / (2.0 * variance)).exp();
        // Weights underflow to zero before 39 standard deviations.
        let reach = (40.0 * variance.sqrt()).ceil() + 2.0;
        let positions = std::iter::successors(Some(0.0), |z| Some(z + 1.0));
        let weights: Vec<f64> = positions.take_while(|z| *z < reach).map(weight).collect();
        let total = weights[0] + 2.0 * weights[1..].iter().rev().sum::<f64>();
        weights.into_iter().map(|w| w / total).collect()
    }

    fn rounded_half(&self, noise: RoundedGaussian) -> Vec<f64> {
        // Pr[N >= x] by its own function, so that small probabilities keep their digits.
        let unit = 1.0 / (2.0 * ratio_to_f64(noise.variance())).sqrt();
        let beyond = |x: f64| 0.5 * libm::erfc(x * unit);
        let positions = std::iter::successors(Some(1.0), |z| Some(z + 1.0));
        let others = positions.map(|z| beyond(z - 0.5) - beyond(z + 0.5)).take_while(|p| *p > 0.0);
        std::iter::once(libm::erf(0.5 * unit)).chain(others).collect()
    }
}

/// Rational probabilities: `e^unit` is taken to be the integer `odds`, and every exponent that
/// comes up must be a multiple of `unit`.
///
/// A mechanism whose privacy proof works for every epsilon must pass it at this one, and here
/// nothing is rounded.
pub(crate) struct Rationals {
    pub(crate) unit: Ratio,
    pub(crate) odds: u32,
}

impl Numbers for Rationals {
    type P = BigRational;
    const UNDERFLOWS: bool = false;

    fn ratio(&self, x: Ratio) -> BigRational {
        BigRational::new(x.numerator().into(), x.denominator().get().into())
    }

    fn exp_minus(&self, x: Ratio) -> BigRational {
        let steps = self.unit.recip().and_then(|per_unit| x.checked_mul(per_unit));
        let steps = steps
            .filter(|steps| steps.denominator().get() == 1)
            .and_then(|steps| i32::try_from(steps.numerator()).ok())
            .expect("exponents must be small multiples of the unit");
        BigRational::new(1.into(), self.odds.into()).pow(steps)
    }

    fn gaussian_half(&self, _: DiscreteGaussian) -> Vec<BigRational> {
        panic!("Gaussian probabilities are not rational; use the law in floats")
    }

    fn rounded_half(&self, _: RoundedGaussian) -> Vec<BigRational> {
        panic!("Gaussian probabilities are not rational; use the law in floats")
    }
}

pub(crate) fn ratio_to_f64(ratio: Ratio) -> f64 {
    ratio.numerator() as f64 / ratio.denominator().get() as f64
}

/// The larger of two losses. What is no number must not pass for a small one.
pub(crate) fn worse(a: f64, b: f64) -> f64 {
    if a.is_nan() || b.is_nan() { f64::INFINITY } else { a.max(b) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn of_two_losses_the_larger_counts_and_what_is_no_number_is_the_largest() {
        assert!(
            worse(0.5, -1.0).total_cmp(&0.5).is_eq() && worse(-1.0, 0.5).total_cmp(&0.5).is_eq()
        );
        for (a, b) in [(f64::NAN, 1.0), (1.0, f64::NAN), (f64::NAN, f64::NAN)] {
            assert!(worse(a, b).is_infinite(), "{a} {b}");
        }
    }
}
