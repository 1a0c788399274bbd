//! Discrete Laplace (two-sided geometric) noise.

use std::num::NonZero;

use super::Geometric;
use crate::{Bits, NoiseError, Ratio, bernoulli};

/// `Pr[Z = z] = (1 - a) / (1 + a) a^|z|` over the integers, `a = e^(-1/b)`, with rational scale `b`.
///
/// # Utility
/// `E[Z] = 0`, `Var[Z] = 2a / (1 - a)^2`, close to `2 b^2` for large `b`.
///
/// # Complexity
/// About 15 uniform draws on average. Not timing-safe.
///
/// # Source
/// Ghosh, Roughgarden, Sundararajan (STOC 2009) for the law; Canonne, Kamath, Steinke (2020),
/// Algorithm 2, for the sampler.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DiscreteLaplace {
    magnitude: Geometric,
}

impl DiscreteLaplace {
    /// Discrete Laplace noise of this scale.
    ///
    /// # Errors
    /// Those of [`Geometric::new`].
    pub fn new(scale: Ratio) -> Result<Self, NoiseError> {
        Geometric::new(scale).map(|magnitude| Self { magnitude })
    }

    /// The scale `b`.
    pub fn scale(self) -> Ratio {
        self.magnitude.scale()
    }

    /// One draw.
    pub fn sample<B: Bits + ?Sized>(self, bits: &mut B) -> i128 {
        bits.retry(|bits| {
            let negative = bernoulli(bits, 1, NonZero::new(2).expect("not zero"));
            // Reaching 2^127 would take more than 2^60 successes of exp(-1) in a row.
            let magnitude = i128::try_from(self.magnitude.sample(bits)).unwrap_or(i128::MAX);
            match (negative, magnitude) {
                (true, 0) => None, // zero has one sign only, or it would come up twice as often
                (true, _) => Some(-magnitude),
                (false, _) => Some(magnitude),
            }
        })
    }
}
