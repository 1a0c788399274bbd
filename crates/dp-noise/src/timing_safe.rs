//! Integer noise whose time does not depend on its value.

use std::num::NonZero;

use crate::digits::{Decay, Digits};
use crate::{Bits, NoiseError, Ratio, bernoulli};

/// The law of [`Geometric`](crate::Geometric), drawn by its binary digits, three to a word.
///
/// # Complexity
/// Always [`words`](Self::words) words, about `(log2(b) + 7) / 3 + 1`, and seven comparisons to each, whatever
/// comes out; more only with probability below `words 2^-60`. Construction computes one
/// exponential per word in big integers, about 0.1 ms at scale 1000: build once, draw often.
///
/// # Precision
/// Exact. The scale is used as given; the table holds 64 digits of each probability, and a draw
/// that falls on the last one computes further digits.
///
/// # What is not protected
/// The number of words and operations is fixed (tested), the source branches on no digit and reads the whole table in order.
/// Whether the compiler keeps it so is not checked; `benches/timing.rs` reports what a clock sees.
///
/// # Source
/// The independence of the digits is classical; Google's library uses it with rounded
/// probabilities.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TimingSafeGeometric {
    scale: Ratio,
    digits: Digits,
}

impl TimingSafeGeometric {
    /// Geometric noise of exactly this scale.
    ///
    /// # Errors
    /// If the scale is zero or above about `2^56`.
    pub fn new(scale: Ratio) -> Result<Self, NoiseError> {
        let too_large = NoiseError::TooLarge { what: "scale", most: 1 << 56, got: scale };
        let digits = Digits::all_but_impossible(exponential(scale)?).ok_or(too_large)?;
        Ok(Self { scale, digits })
    }

    /// The scale `b`.
    pub fn scale(&self) -> Ratio {
        self.scale
    }

    /// Words that a draw reads.
    pub fn words(&self) -> usize {
        self.digits.words() + 1
    }

    /// One draw.
    #[inline]
    pub fn sample<B: Bits + ?Sized>(&self, bits: &mut B) -> u128 {
        self.digits.sample_unbounded(bits)
    }
}

/// The law of [`DiscreteLaplace`](crate::DiscreteLaplace), by a sign and binary digits.
///
/// # Complexity
/// Rounds of [`words_per_round`](Self::words_per_round) words. A round is redone when it yields a
/// negative zero, so their number does not depend on the value returned; it is below 2 on average
/// and close to 1 for scales of 10 or more. Construction as for [`TimingSafeGeometric`].
///
/// # Precision
/// As [`TimingSafeGeometric`].
///
/// # Source
/// As [`TimingSafeGeometric`], and Canonne, Kamath, Steinke (2020), Algorithm 2, for the sign.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TimingSafeLaplace {
    magnitude: TimingSafeGeometric,
}

impl TimingSafeLaplace {
    /// Discrete Laplace noise of exactly this scale.
    ///
    /// # Errors
    /// If the scale is zero or above about `2^56`.
    pub fn new(scale: Ratio) -> Result<Self, NoiseError> {
        TimingSafeGeometric::new(scale).map(|magnitude| Self { magnitude })
    }

    /// The scale `b`.
    pub fn scale(&self) -> Ratio {
        self.magnitude.scale()
    }

    /// Words that a round reads.
    pub fn words_per_round(&self) -> usize {
        self.magnitude.words() + 1
    }

    /// One draw.
    #[inline]
    pub fn sample<B: Bits + ?Sized>(&self, bits: &mut B) -> i128 {
        bits.retry(|bits| {
            let negative = bernoulli(bits, 1, NonZero::new(2).expect("not zero"));
            let magnitude = i128::try_from(self.magnitude.sample(bits)).unwrap_or(i128::MAX);
            // The sign without a branch; only the redo of a negative zero is one.
            let signed = magnitude * (1 - 2 * i128::from(negative));
            let negative_zero = negative && magnitude == 0;
            (!negative_zero).then_some(signed)
        })
    }
}

/// `Pr[X = x]` proportional to `e^(-x/b)` on `0..2^j`: a geometric variable cut off, without a
/// loop of any kind.
///
/// # Complexity
/// Exactly `ceil(j / 3)` words, except with probability below `j 2^-60`. Timing-safe as
/// [`TimingSafeGeometric`] is.
///
/// # Precision
/// Exact; the scale is used as given.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TruncatedGeometric {
    digits: Digits,
}

impl TruncatedGeometric {
    /// Geometric noise of exactly this scale on `0..2^digits`.
    ///
    /// # Errors
    /// If the scale is zero or there are more than 63 digits.
    pub fn new(scale: Ratio, digits: u32) -> Result<Self, NoiseError> {
        let decay = exponential(scale)?;
        if digits > Digits::MAX {
            let (what, most) = ("number of digits", Digits::MAX.into());
            return Err(NoiseError::TooLarge { what, most, got: Ratio::new(digits.into(), 1)? });
        }
        Ok(Self { digits: Digits::new(decay, digits) })
    }

    /// One draw, below `2^j`.
    #[inline]
    pub fn sample<B: Bits + ?Sized>(&self, bits: &mut B) -> u64 {
        self.digits.sample(bits)
    }
}

/// The decay `exp(-1 / scale)` from one value to the next.
fn exponential(scale: Ratio) -> Result<Decay, NoiseError> {
    scale.recip().map(Decay::Exp).ok_or(NoiseError::Zero { what: "scale" })
}
