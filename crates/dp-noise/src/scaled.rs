//! Positive reals known to about 63 bits, always from below.
//!
//! A 64-bit significand with an exponent, in integers: enough range for `d^2 / (2 a b t^2)` with
//! 96-bit `a` and `b`, without a wide division in a sampler. How far a value may lie above what is
//! stored travels with it, so every enclosure made from it is proved by construction.

/// A real `x` with `v <= x <= v (1 + slack 2^-63)`, where `v = significand 2^(exponent - 63)`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Scaled {
    /// The top bit is set.
    significand: u64,
    exponent: i32,
    slack: u32,
}

impl Scaled {
    /// `None` for zero, which has no significand.
    pub(crate) fn new(n: u128) -> Option<Self> {
        if let Ok(small) = u64::try_from(n) {
            let zeros = small.checked_ilog2().map(|log| 63 - log)?;
            return Some(Self {
                significand: small << zeros,
                exponent: 63 - zeros.cast_signed(),
                slack: 0,
            });
        }
        let zeros = n.leading_zeros();
        // Cutting 64 bits loses less than one unit of the significand, at most 2^-63 of it.
        Some(Self {
            significand: high_half(n << zeros),
            exponent: 127 - zeros.cast_signed(),
            slack: 1,
        })
    }

    /// `numerator / denominator`; `None` if either is zero.
    pub(crate) fn ratio(numerator: u128, denominator: u128) -> Option<Self> {
        Some(Self::new(numerator)?.times(Self::new(denominator)?.recip()))
    }

    pub(crate) fn times(self, other: Self) -> Self {
        let product = u128::from(self.significand) * u128::from(other.significand);
        let carry = product >> 127 == 1;
        // (1 + a e)(1 + b e)(1 + e) <= 1 + (a + b + 2) e for the small a, b met here.
        Self {
            significand: high_half(if carry { product } else { product << 1 }),
            exponent: self.exponent + other.exponent + i32::from(carry),
            slack: self.slack + other.slack + 2,
        }
    }

    pub(crate) fn recip(self) -> Self {
        // At most 2^64 - 1, and below the true quotient 2^127 / significand by less than 2.
        let quotient = ((1 << 127) - 1) / u128::from(self.significand);
        let quotient = u64::try_from(quotient).expect("the significand is at least 2^63");
        // One over a number up to slack 2^-63 larger: below by at most 2 slack units.
        let lowered = quotient - 2 * u64::from(self.slack);
        let zeros = lowered.leading_zeros();
        Self {
            significand: lowered << zeros,
            exponent: -1 - self.exponent - zeros.cast_signed(),
            slack: 4 * self.slack + 6,
        }
    }

    pub(crate) fn plus(self, other: Self) -> Self {
        let (large, small) =
            if self.exponent >= other.exponent { (self, other) } else { (other, self) };
        let shift = large.exponent.abs_diff(small.exponent);
        let sum = u128::from(large.significand)
            + u128::from(small.significand.checked_shr(shift).unwrap_or(0));
        let carry = sum >> 64 == 1;
        let sum = if carry { sum >> 1 } else { sum };
        // Each shift cuts less than a unit of the sum.
        Self {
            significand: u64::try_from(sum).expect("halved if it is longer"),
            exponent: large.exponent + i32::from(carry),
            slack: self.slack.max(other.slack) + 3,
        }
    }

    pub(crate) fn slack(self) -> u32 {
        self.slack
    }

    /// The stored value in units of `2^-64`, rounded down; `None` from 64 on.
    pub(crate) fn fixed_point(self) -> Option<u128> {
        let wide = u128::from(self.significand);
        match self.exponent + 1 {
            shift if shift > 6 => None,
            shift if shift >= 0 => Some(wide << shift),
            shift => Some(wide.checked_shr(shift.unsigned_abs()).unwrap_or(0)),
        }
    }

    /// At least the real, in units of `2^-64`; the largest number if that is about 1 or more.
    pub(crate) fn fraction_above(self) -> u64 {
        // What was cut off, and up to `slack 2^-63` of less than 1.
        let more = 2 * u128::from(self.slack) + 2;
        let above = self.fixed_point().map(|fixed| fixed + more);
        above.and_then(|above| u64::try_from(above).ok()).unwrap_or(u64::MAX)
    }
}

/// The upper 64 bits.
#[allow(clippy::cast_possible_truncation, reason = "128 - 64 bits are left")]
pub(crate) const fn high_half(wide: u128) -> u64 {
    (wide >> 64) as u64
}

/// `floor(a b / 2^64)`.
pub(crate) const fn multiply_high(a: u64, b: u64) -> u64 {
    high_half(a as u128 * b as u128)
}

/// `floor(a b / 2^128)`.
pub(crate) const fn multiply_high_wide(a: u128, b: u128) -> u128 {
    const LOW: u128 = u64::MAX as u128;
    let (a_high, a_low, b_high, b_low) = (a >> 64, a & LOW, b >> 64, b & LOW);
    let inner = a_high * b_low + ((a_low * b_low) >> 64);
    let outer = a_low * b_high + (inner & LOW);
    a_high * b_high + (inner >> 64) + (outer >> 64)
}

#[cfg(test)]
mod tests {
    use num_bigint::BigUint;
    use rand::{Rng, SeedableRng, rngs::ChaCha20Rng};

    use super::*;

    /// `v <= numerator / denominator <= v (1 + slack 2^-63)`, cross-multiplied.
    fn encloses(x: Scaled, numerator: &BigUint, denominator: &BigUint) -> bool {
        let unit = BigUint::from(1_u32) << 63;
        let (mut low, mut high) = (BigUint::from(x.significand) * denominator, numerator.clone());
        match x.exponent - 63 {
            shift if shift >= 0 => low <<= shift.unsigned_abs(),
            shift => high <<= shift.unsigned_abs(),
        }
        low <= high && high * &unit <= low * (unit + x.slack)
    }

    /// Whatever lies between what is stored and what the slack allows, and not only what is usual: both ends of two operands are enclosed by what is made of them.
    #[test]
    fn slack_of_the_operands_is_passed_on() {
        let mut rng = ChaCha20Rng::seed_from_u64(4);
        let mut any = || Scaled {
            significand: rng.next_u64() | 1 << 63,
            exponent: (rng.next_u32() % 80).cast_signed() - 76,
            slack: rng.next_u32() % 60,
        };
        // In units of 2^-206, so that the smallest exponent leaves a whole number.
        let unit = BigUint::from(1_u32) << 206_u32;
        let ends = |x: Scaled| {
            let at = |slack: u32| {
                let wide =
                    BigUint::from(x.significand) * ((BigUint::from(1_u32) << 63_u32) + slack);
                wide << (x.exponent + 80).unsigned_abs()
            };
            [at(0), at(x.slack)]
        };
        for _ in 0..5_000 {
            let (x, y) = (any(), any());
            for (a, b) in ends(x).iter().flat_map(|a| ends(y).map(|b| (a.clone(), b))) {
                assert!(encloses(x.times(y), &(&a * &b), &(&unit * &unit)), "{x:?} {y:?}");
                assert!(encloses(x.plus(y), &(&a + &b), &unit), "{x:?} {y:?}");
                assert!(encloses(x.recip(), &unit, &a), "{x:?}");
                let above = x.fraction_above();
                assert!(above == u64::MAX || BigUint::from(above) << 142_u32 >= a, "{x:?}");
            }
        }
    }

    #[test]
    fn what_is_stored_encloses_the_value() {
        let mut rng = ChaCha20Rng::seed_from_u64(3);
        let mut number = || {
            let wide = (u128::from(rng.next_u64()) << 64) | u128::from(rng.next_u64());
            (wide >> (rng.next_u32() % 128)).max(1)
        };
        let edges = [1, 2, 3, u64::MAX.into(), 1 << 64, (1 << 64) + 1, u128::MAX, 1 << 127];
        let edges = edges.iter().flat_map(|&a| edges.iter().map(move |&b| (a, b)));
        let cases: Vec<_> = edges.chain((0..20_000).map(|_| (number(), number()))).collect();
        for (a, b) in cases {
            let (big_a, big_b) = (BigUint::from(a), BigUint::from(b));
            assert_eq!(BigUint::from(multiply_high_wide(a, b)), (&big_a * &big_b) >> 128);
            let [x, y] = [a, b].map(|n| Scaled::new(n).expect("positive"));
            assert!(encloses(x, &big_a, &1_u32.into()), "{a}");
            assert!(encloses(x.times(y), &(&big_a * &big_b), &1_u32.into()), "{a} * {b}");
            assert!(encloses(x.times(y.recip()), &big_a, &big_b), "{a} / {b}");
            let product = x.times(x).times(y).recip();
            assert!(encloses(product, &1_u32.into(), &(&big_a * &big_a * &big_b)), "{a} {b}");
            let sum = x.plus(y);
            assert!(encloses(sum, &(&big_a + &big_b), &1_u32.into()), "{a} + {b}");
            assert!(encloses(
                sum.times(x).plus(y),
                &(&big_a * (&big_a + &big_b) + &big_b),
                &1_u32.into()
            ));
            // No less than a / b, in units of 2^-64, and hardly more.
            let above = BigUint::from(x.times(y.recip()).fraction_above());
            let truth = &big_a << 64_u32;
            assert!(above == u64::MAX.into() || &above * &big_b >= truth, "{a} / {b}");
            assert!(above * &big_b <= truth + 100_u32 * big_b, "{a} / {b}");
        }
        assert_eq!(Scaled::new(0), None);
        assert_eq!(Scaled::ratio(1, 0), None);
    }
}
