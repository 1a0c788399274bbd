//! Why a sampler cannot be had.

use crate::Ratio;

/// What is wrong with a parameter, with the value and the limit.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum NoiseError {
    /// Nothing can be divided by zero.
    #[error("the denominator of a ratio must not be zero, got {numerator}/0")]
    ZeroDenominator {
        /// The part above the line.
        numerator: u128,
    },
    /// A [`Ratio`] holds less than 96 bits on either side of the line.
    #[error(
        "both parts of a ratio in lowest terms must be below 2^96, got {numerator}/{denominator}"
    )]
    RatioTooLong {
        /// In lowest terms.
        numerator: u128,
        /// In lowest terms.
        denominator: u128,
    },
    /// Noise of scale or variance zero would be no noise.
    #[error("the {what} must be positive, got 0")]
    Zero {
        /// The parameter.
        what: &'static str,
    },
    /// The arithmetic of the sampler has no room for more.
    #[error("the {what} must be at most {most}, got {got}")]
    TooLarge {
        /// The parameter.
        what: &'static str,
        /// The largest that is allowed.
        most: u64,
        /// What was given.
        got: Ratio,
    },
    /// A probability so small that gaps between hits have more digits than are kept.
    #[error("a positive probability must be at least about 2^-56, got {got}")]
    TooRare {
        /// The probability, or the exponent `x` of `1 - exp(-x)`.
        got: Ratio,
    },
    /// Somebody has to win.
    #[error("there must be at least one score to choose from, got 0")]
    NoScores,
    /// Candidates are counted in 62 bits.
    #[error("there must be at least one candidate and fewer than 2^62, got {got}")]
    Candidates {
        /// How many there are.
        got: u128,
    },
}
