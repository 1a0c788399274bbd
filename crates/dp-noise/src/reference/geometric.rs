//! One-sided geometric noise, the integer form of exponential noise.

use std::num::NonZero;

use super::coin::{bernoulli_exp, bernoulli_exp_one};
use crate::{Bits, NoiseError, Ratio};

/// `Pr[X = x] = (1 - e^(-1/b)) e^(-x/b)` for `x = 0, 1, 2, ...`, with rational scale `b`.
///
/// # Utility
/// `E[X] = 1 / (e^(1/b) - 1)`, close to `b - 1/2` for large `b`.
///
/// # Complexity
/// About 13 uniform draws on average, whatever the scale. Not timing-safe.
///
/// # Source
/// Canonne, Kamath, Steinke (2020), Algorithm 2, without the sign.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Geometric {
    scale: Ratio,
}

impl Geometric {
    /// Geometric noise of this scale.
    ///
    /// # Errors
    /// Those of [`Geometric::new`](crate::Geometric::new).
    pub fn new(scale: Ratio) -> Result<Self, NoiseError> {
        crate::Geometric::new(scale).map(|_| Self { scale })
    }

    /// The scale `b`.
    pub fn scale(self) -> Ratio {
        self.scale
    }

    /// One draw.
    pub fn sample<B: Bits + ?Sized>(self, bits: &mut B) -> u128 {
        // With b = t/s, draw Y geometric of scale t as U + tV: U in 0..t thinned by exp(-U/t), V
        // the number of successes of exp(-1). Then floor(Y/s) is geometric of scale t/s.
        let t = NonZero::new(self.scale.numerator()).expect("checked at construction");
        let u = bits.retry(|bits| {
            let u = bits.below(t);
            bernoulli_exp(bits, u, t).then_some(u)
        });
        let mut v = 0_u64;
        while bernoulli_exp_one(bits) {
            v += 1;
        }
        // t <= 2^64 - 1 and v < 2^64, so u + t v < 2^128.
        (u + t.get() * u128::from(v)) / self.scale.denominator()
    }
}
