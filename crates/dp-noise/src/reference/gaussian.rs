//! Discrete Gaussian noise.

use num_bigint::{BigInt, BigUint};

use super::DiscreteLaplace;
use super::coin::{bernoulli_exp, bernoulli_exp_big};
use crate::{Bits, NoiseError, Ratio};

/// `Pr[Z = z]` proportional to `exp(-z^2 / (2 v))` over the integers, with rational `v`.
///
/// # Utility
/// `E[Z] = 0`, `Var[Z] <= v`, and equal to it within `1e-7` relative from `v = 1` on.
///
/// # Complexity
/// About 20 uniform draws on average (32 at `v = 1`). Not timing-safe.
///
/// # Source
/// Canonne, Kamath, Steinke (2020), Algorithm 3.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DiscreteGaussian {
    variance: Ratio,
    /// `floor(sqrt(variance)) + 1`, the scale of the proposal.
    t: u128,
    proposal: DiscreteLaplace,
}

impl DiscreteGaussian {
    /// Discrete Gaussian noise with variance parameter `v`.
    ///
    /// # Errors
    /// If `v` is zero.
    pub fn new(variance: Ratio) -> Result<Self, NoiseError> {
        if variance.numerator() == 0 {
            return Err(NoiseError::Zero { what: "variance" });
        }
        let t = (variance.numerator() / variance.denominator()).isqrt() + 1;
        let proposal = DiscreteLaplace::new(Ratio::new(t, 1)?)?;
        Ok(Self { variance, t, proposal })
    }

    /// The variance parameter `v`.
    pub fn variance(self) -> Ratio {
        self.variance
    }

    /// One draw.
    pub fn sample<B: Bits + ?Sized>(self, bits: &mut B) -> i128 {
        bits.retry(|bits| {
            let candidate = self.proposal.sample(bits);
            accept(bits, self.variance, self.t, candidate.unsigned_abs()).then_some(candidate)
        })
    }
}

/// True with probability `exp(-(y - v/t)^2 / (2 v))`, which for `v = a/b` is
/// `exp(-(y t b - a)^2 / (2 a b t^2))`.
pub(crate) fn accept<B: Bits + ?Sized>(bits: &mut B, variance: Ratio, t: u128, y: u128) -> bool {
    let (a, b) = (variance.numerator(), variance.denominator().get());
    if let Some((numerator, denominator)) = exponent(a, b, t, y) {
        let denominator = denominator.try_into().expect("2 a b t^2 > 0 because a > 0");
        return bernoulli_exp(bits, numerator, denominator);
    }
    // Beyond 128 bits: a very large variance or a very long draw.
    let [a, b, t, y] = [a, b, t, y].map(BigUint::from);
    let centred = BigInt::from(&y * &t * &b) - BigInt::from(a.clone());
    let numerator = centred.magnitude() * centred.magnitude();
    bernoulli_exp_big(bits, &numerator, &(BigUint::from(2_u32) * a * b * &t * &t))
}
fn exponent(a: u128, b: u128, t: u128, y: u128) -> Option<(u128, u128)> {
    let centred = y.checked_mul(t)?.checked_mul(b)?.abs_diff(a);
    let denominator = a.checked_mul(2)?.checked_mul(b)?.checked_mul(t)?.checked_mul(t)?;
    Some((centred.checked_mul(centred)?, denominator))
}
