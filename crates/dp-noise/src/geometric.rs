//! One-sided geometric noise, the integer form of exponential noise.

use std::num::NonZero;

use crate::exp::{exp_minus, exp_minus_one_powers};
use crate::lazy::{Uniform, exp_coin};
use crate::scaled::Scaled;
use crate::{Bits, NoiseError, Ratio};

/// `Pr[X = x] = (1 - e^(-1/b)) e^(-x/b)` for `x = 0, 1, 2, ...`, with rational scale `b`.
///
/// # Utility
/// `E[X] = 1 / (e^(1/b) - 1)`, close to `b - 1/2` for large `b`.
///
/// # Complexity
/// About 4.2 words on average, whatever the scale. Not timing-safe: the number of words varies
/// with the value. [`TimingSafeGeometric`](crate::TimingSafeGeometric) is.
///
/// # Precision
/// Exact. The scale is used as given, nothing is rounded.
///
/// # Source
/// Canonne, Kamath, Steinke (2020), Algorithm 2, without the sign; its coins are replaced by
/// comparisons with a lazily drawn uniform real.
/// [`reference::Geometric`](crate::reference::Geometric) is the plain form.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Geometric {
    scale: Ratio,
    /// One over the numerator of the scale.
    step: Scaled,
}

impl Geometric {
    /// The largest numerator of a scale in lowest terms.
    pub const MAX_NUMERATOR: u128 = u64::MAX as u128;

    /// Geometric noise of exactly this scale.
    ///
    /// # Errors
    /// If the scale is zero, or its numerator, in lowest terms, above [`Geometric::MAX_NUMERATOR`].
    pub fn new(scale: Ratio) -> Result<Self, NoiseError> {
        if scale.numerator() > Self::MAX_NUMERATOR {
            let what = "numerator of the scale";
            return Err(NoiseError::TooLarge { what, most: u64::MAX, got: scale });
        }
        let numerator = Scaled::new(scale.numerator()).ok_or(NoiseError::Zero { what: "scale" })?;
        Ok(Self { scale, step: numerator.recip() })
    }

    /// The scale `b`.
    pub fn scale(self) -> Ratio {
        self.scale
    }

    /// One draw.
    #[inline]
    pub fn sample<B: Bits + ?Sized>(self, bits: &mut B) -> u128 {
        bits.retry(|bits| Some(self.draw(bits)))
    }

    /// With `b = t/s`, draw `Y` geometric of scale `t` as `U + tV`: `U` in `0..t` thinned by
    /// `exp(-U/t)`, `V` geometric of scale 1. Then `floor(Y/s)` is geometric of scale `t/s`.
    #[inline]
    fn draw<B: Bits + ?Sized>(self, bits: &mut B) -> u128 {
        let t = NonZero::new(self.scale.numerator()).expect("checked at construction");
        let u = bits.retry(|bits| {
            let u = bits.below(t);
            let accept = match Scaled::new(u) {
                None => true,
                Some(u_near) => {
                    exp_coin(bits, u_near.times(self.step), || (u.into(), t.get().into()))
                }
            };
            accept.then_some(u)
        });
        // t <= 2^64 - 1 and v < 2^64, so u + t v < 2^128.
        divide(u + t.get() * u128::from(unit_geometric(bits)), self.scale.denominator())
    }
}

/// Geometric of scale 1: the number of `k >= 1` with `exp(-k)` above one uniform real.
#[inline]
fn unit_geometric<B: Bits + ?Sized>(bits: &mut B) -> u64 {
    bits.retry(|bits| {
        let mut uniform = Uniform::draw(bits);
        let mut v = 0_u32;
        loop {
            let strip = exp_minus_one_powers(v as usize + 1);
            let refine = |precision| exp_minus(&(v + 1).into(), &1_u32.into(), precision);
            if !uniform.is_below(bits, strip, refine) {
                return Some(v.into());
            }
            v += 1;
        }
    })
}

/// A wide division is slow; most are by one, and most of the others are narrow.
#[inline]
fn divide(y: u128, s: NonZero<u128>) -> u128 {
    if s.get() == 1 {
        return y;
    }
    match (u64::try_from(y), NonZero::<u64>::try_from(s)) {
        (Ok(y), Ok(s)) => (y / s).into(),
        _ => y / s,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quotients_are_rounded_down_whatever_their_width() {
        let wide = 1_u128 << 64;
        for y in [0, 1, 7, wide - 1, wide, wide + 3, (wide << 33) + 5, u128::MAX] {
            for s in [1, 2, 3, 1 << 33, wide - 1, wide + 1] {
                let quotient = divide(y, NonZero::new(s).expect("above 0"));
                assert!(quotient * s <= y && y - quotient * s < s, "{y} / {s}: {quotient}");
            }
        }
    }
}
