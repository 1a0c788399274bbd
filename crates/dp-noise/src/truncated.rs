//! Discrete Laplace noise on a bounded interval.

use std::num::NonZero;

use crate::{Bits, DiscreteLaplace, NoiseError, Ratio, bernoulli_exp};

/// `Pr[Z = z]` proportional to `e^(-|z|/b)` on `-m..=m`, with rational scale `b`.
///
/// # Utility
/// Never beyond `m`; otherwise [`DiscreteLaplace`] given that it is not.
///
/// # Complexity
/// At most 1.6 draws of [`DiscreteLaplace`] on average if `m >= b`; otherwise at most 2.8 rounds of
/// two words. Not timing-safe.
///
/// # Precision
/// Exact. Scale and bound are used as given.
///
/// # What it costs
/// Outputs at one end are impossible from a value at the other: a sampler with bounded support is
/// for approximate guarantees only.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TruncatedLaplace {
    bound: u64,
    laplace: DiscreteLaplace,
}

impl TruncatedLaplace {
    /// Noise of exactly this scale on `-bound..=bound`. A bound of zero is allowed and gives zero.
    ///
    /// # Errors
    /// Those of [`DiscreteLaplace::new`].
    pub fn new(scale: Ratio, bound: u64) -> Result<Self, NoiseError> {
        DiscreteLaplace::new(scale).map(|laplace| Self { bound, laplace })
    }

    /// The largest value.
    pub fn bound(self) -> u64 {
        self.bound
    }

    /// The scale `b`.
    pub fn scale(self) -> Ratio {
        self.laplace.scale()
    }

    /// One draw.
    pub fn sample<B: Bits + ?Sized>(self, bits: &mut B) -> i128 {
        let bound = i128::from(self.bound);
        let (t, s) = (self.scale().numerator(), self.scale().denominator().get());
        // m >= t/s, without forming a product that might not fit.
        if u128::from(self.bound) >= t.div_ceil(s) {
            return bits.retry(|bits| {
                Some(self.laplace.sample(bits)).filter(|z| z.unsigned_abs() <= bound.unsigned_abs())
            });
        }
        // The law is nearly flat: thin a uniform integer by e^(-|z|/b) >= e^-1.
        let width = NonZero::new(2 * u128::from(self.bound) + 1).expect("odd");
        let t = NonZero::new(t).expect("the scale is positive");
        bits.retry(|bits| {
            let z = bits.below(width).cast_signed() - bound;
            // |z| s < t, so the product fits.
            bernoulli_exp(bits, z.unsigned_abs() * s, t).then_some(z)
        })
    }
}
