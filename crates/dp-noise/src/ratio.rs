//! Positive rationals, the parameters of all samplers.

use std::num::NonZero;

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

    /// The ratio in lowest terms; `None` if the denominator is zero or a part in lowest terms is
    /// not below [`Ratio::LIMIT`]. Nothing is rounded, here or in any sampler; whoever turns a real
    /// parameter into a ratio decides which way is safe.
    pub fn new(numerator: u128, denominator: u128) -> Option<Self> {
        let divisor = greatest_common_divisor(numerator, denominator);
        let denominator = NonZero::new(denominator.checked_div(divisor)?)?;
        let numerator = numerator / divisor;
        (numerator < Self::LIMIT && denominator.get() < Self::LIMIT)
            .then_some(Self { numerator, denominator })
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
        let a = Self::new(self.numerator, other.denominator.get())?;
        let b = Self::new(other.numerator, self.denominator.get())?;
        Self::new(
            a.numerator.checked_mul(b.numerator)?,
            a.denominator.get().checked_mul(b.denominator.get())?,
        )
    }

    /// One over it; `None` for zero.
    pub fn recip(self) -> Option<Self> {
        Self::new(self.denominator.get(), self.numerator)
    }
}

fn greatest_common_divisor(mut a: u128, mut b: u128) -> u128 {
    while b != 0 {
        (a, b) = (b, a % b);
    }
    a
}

#[cfg(test)]
mod tests {
    use super::Ratio;

    fn parts(numerator: u128, denominator: u128) -> Option<(u128, u128)> {
        Ratio::new(numerator, denominator).map(|r| (r.numerator(), r.denominator().get()))
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
        assert_eq!(big.checked_mul(half), Ratio::new(1 << 94, 3));
        assert_eq!(big.checked_mul(big), None);
        assert_eq!(half.recip(), Ratio::new(2, 1));
        assert_eq!(Ratio::new(0, 1).and_then(Ratio::recip), None);
    }
}
