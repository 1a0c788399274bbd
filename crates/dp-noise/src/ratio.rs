//! Positive rationals, the parameters of all samplers.

use std::fmt;
use std::num::NonZero;

use crate::NoiseError;

/// A rational `numerator / denominator >= 0` in lowest terms.
///
/// Both parts are below `2^96`, which leaves the samplers room to form products in 128 bits on
/// their fast path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ratio {
    numerator: u128,
    denominator: NonZero<u128>,
}

impl Ratio {
    /// Both parts of a ratio in lowest terms are below this.
    pub const LIMIT: u128 = 1 << 96;

    /// The ratio in lowest terms. Nothing is rounded, here or in any sampler; whoever turns a real
    /// parameter into a ratio decides which way is safe.
    ///
    /// # Errors
    /// If the denominator is zero, or a part in lowest terms is not below [`Ratio::LIMIT`].
    pub fn new(numerator: u128, denominator: u128) -> Result<Self, NoiseError> {
        let Some(given) = NonZero::new(denominator) else {
            return Err(NoiseError::ZeroDenominator { numerator });
        };
        let divisor = greatest_common_divisor(given, numerator);
        let numerator = numerator / divisor;
        NonZero::new(given.get() / divisor)
            .filter(|part| numerator.max(part.get()) < Self::LIMIT)
            .map(|denominator| Self { numerator, denominator })
            .ok_or(NoiseError::RatioTooLong { numerator, denominator: given.get() / divisor })
    }

    /// The part above the line, in lowest terms.
    pub fn numerator(self) -> u128 {
        self.numerator
    }

    /// The part below the line, in lowest terms; never zero.
    pub fn denominator(self) -> NonZero<u128> {
        self.denominator
    }

    /// The product, if it can be held.
    pub fn checked_mul(self, other: Self) -> Option<Self> {
        // Cross-reduce first, so that an overflow means that the result does not fit.
        let a = Self::new(self.numerator, other.denominator.get()).ok()?;
        let b = Self::new(other.numerator, self.denominator.get()).ok()?;
        Self::new(
            a.numerator.checked_mul(b.numerator)?,
            a.denominator.get().checked_mul(b.denominator.get())?,
        )
        .ok()
    }

    /// One over it; `None` for zero.
    pub fn recip(self) -> Option<Self> {
        Self::new(self.denominator.get(), self.numerator).ok()
    }
}

impl fmt::Display for Ratio {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.denominator.get() {
            1 => write!(f, "{}", self.numerator),
            denominator => write!(f, "{}/{denominator}", self.numerator),
        }
    }
}

fn greatest_common_divisor(a: NonZero<u128>, b: u128) -> u128 {
    let (mut a, mut b) = (a.get(), b);
    while b != 0 {
        (a, b) = (b, a % b);
    }
    a
}

#[cfg(test)]
mod tests {
    use super::Ratio;

    fn parts(numerator: u128, denominator: u128) -> Option<(u128, u128)> {
        Ratio::new(numerator, denominator).ok().map(|r| (r.numerator(), r.denominator().get()))
    }

    #[test]
    fn ratios_are_kept_in_lowest_terms() {
        assert_eq!(parts(6, 4), Some((3, 2)));
        assert_eq!(parts(0, 7), Some((0, 1)));
        assert_eq!(parts(1 << 100, 1 << 99), Some((2, 1)));
    }

    #[test]
    fn what_cannot_be_held_is_refused() {
        assert_eq!(parts(1, 0), None);
        assert_eq!(parts(0, 0), None);
        assert_eq!(parts(Ratio::LIMIT, 1), None);
        assert_eq!(parts(1, Ratio::LIMIT), None);
        assert!(parts(Ratio::LIMIT - 1, 1).is_some());
    }

    #[test]
    fn products_and_inverses() {
        let half = Ratio::new(1, 2).expect("valid");
        let big = Ratio::new(1 << 95, 3).expect("valid");
        assert_eq!(big.checked_mul(half), Ratio::new(1 << 94, 3).ok());
        assert_eq!(big.checked_mul(big), None);
        assert_eq!(half.recip(), Ratio::new(2, 1).ok());
        assert_eq!(Ratio::new(0, 1).ok().and_then(Ratio::recip), None);
        assert_eq!((half.to_string().as_str(), big.to_string().ends_with("/3")), ("1/2", true));
    }
}
