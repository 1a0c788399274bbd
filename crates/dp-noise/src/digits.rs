//! The binary digits of a geometric variable, which are independent.
//!
//! If `Pr[X = x]` is proportional to `r^x`, then `r^x` is a product over the binary digits of `x`,
//! so digit `i` is one with probability `r^(2^i) / (1 + r^(2^i))` whatever the others are, and the
//! first `m` digits alone are the same law cut off at `2^m`.

use num_bigint::BigUint;

use crate::exp::{Enclosure, Strip, exp_minus, shift_up};
use crate::lazy::coin;
use crate::{Bits, Ratio};

/// The ratio `r` between neighbouring probabilities, in `(0, 1)`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Decay {
    /// `exp(-x)` with `x > 0`.
    Exp(Ratio),
    /// The ratio itself, with `0 < x < 1`.
    Power(Ratio),
}

impl Decay {
    /// `r^(2^i)` in units of `2^-bits`.
    fn power(self, i: u32, bits: u64) -> Enclosure {
        let (Self::Exp(x) | Self::Power(x)) = self;
        let numerator = BigUint::from(x.numerator());
        let denominator = BigUint::from(x.denominator().get());
        if let Self::Exp(_) = self {
            return exp_minus(&(numerator << i), &denominator, bits);
        }
        // A squaring at most doubles an absolute error and adds one unit.
        let working = bits + u64::from(i) + 8;
        let mut low = (numerator << working) / denominator;
        let mut high = &low + 1_u32;
        for _ in 0..i {
            low = (&low * &low) >> working;
            high = shift_up(&high * &high, working);
        }
        let cut = working - bits;
        Enclosure { low: low >> cut, high: shift_up(high, cut) }
    }

    /// The probability that digit `i` is one. It grows with the power, so ends go to ends.
    fn digit(self, i: u32, bits: u64) -> Enclosure {
        let Enclosure { low, high } = self.power(i, bits);
        let one = BigUint::from(1_u32) << bits;
        let high = ((&high << bits) / (&one + high)) + 1_u32;
        Enclosure { low: (&low << bits) / (one + low), high }
    }
}

/// The first digits of a geometric variable.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Digits {
    decay: Decay,
    /// The probability that digit `i` is one.
    ones: Box<[Strip]>,
    /// The probability of going beyond the digits.
    beyond: Strip,
}

/// Bits beyond a word that tables are computed to, so that a strip is hardly wider than its unit.
const GUARD: u64 = 16;

impl Digits {
    /// Digits are held in one word.
    pub(crate) const MAX: u32 = 63;

    /// Digits beyond those of one word, for variables as rare as a cell of a huge grid.
    const MAX_WIDE: u32 = 120;

    /// The first `count` digits, at most [`MAX`](Self::MAX) of them for [`sample`](Self::sample).
    pub(crate) fn new(decay: Decay, count: u32) -> Self {
        debug_assert!(count <= Self::MAX_WIDE);
        let strip = |enclosure: Enclosure| enclosure.strip(GUARD);
        let ones = (0..count).map(|i| strip(decay.digit(i, 64 + GUARD))).collect();
        Self { decay, ones, beyond: strip(decay.power(count, 64 + GUARD)) }
    }

    /// As many digits as it takes for `X >= 2^count` to have probability below `2^-129`; `None` if
    /// there are too many.
    pub(crate) fn all_but_impossible(decay: Decay) -> Option<Self> {
        Self::all_but_impossible_of(decay, Self::MAX)
    }

    /// The same with more digits than one word holds, for [`sample_unbounded`](Self::sample_unbounded) only.
    pub(crate) fn all_but_impossible_wide(decay: Decay) -> Option<Self> {
        Self::all_but_impossible_of(decay, Self::MAX_WIDE)
    }

    fn all_but_impossible_of(decay: Decay, most: u32) -> Option<Self> {
        let negligible = BigUint::from(1_u32 << 11);
        let count = (0..=most).find(|&i| decay.power(i, 140).high <= negligible)?;
        Some(Self::new(decay, count))
    }

    pub(crate) fn len(&self) -> usize {
        self.ones.len()
    }

    /// One word per digit, whatever comes out.
    #[inline]
    pub(crate) fn sample<B: Bits + ?Sized>(&self, bits: &mut B) -> u64 {
        let mut x = 0;
        for (i, &strip) in (0..).zip(&self.ones) {
            let one = coin(bits, strip, |precision| self.decay.digit(i, precision));
            x |= u64::from(one) << i;
        }
        x
    }

    /// The same for more digits than one word holds.
    fn sample_wide<B: Bits + ?Sized>(&self, bits: &mut B) -> u128 {
        let mut x = 0;
        for (i, &strip) in (0..).zip(&self.ones) {
            let one = coin(bits, strip, |precision| self.decay.digit(i, precision));
            x |= u128::from(one) << i;
        }
        x
    }

    /// The whole variable: the digits, and `2^count` for every success of one more coin.
    ///
    /// One word per digit and one for the coin, except with probability below `2^-63` when the
    /// digits are [`all_but_impossible`](Self::all_but_impossible) to exceed.
    #[inline]
    pub(crate) fn sample_unbounded<B: Bits + ?Sized>(&self, bits: &mut B) -> u128 {
        let count = u32::try_from(self.len()).expect("at most 120");
        bits.retry(|bits| {
            let mut x = if count <= Self::MAX {
                u128::from(self.sample(bits))
            } else {
                self.sample_wide(bits)
            };
            while coin(bits, self.beyond, |precision| self.decay.power(count, precision)) {
                x = x.saturating_add(1 << count);
            }
            Some(x)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::exact::{Interval, ONE, Tape, enumerate, exp_minus as truth};

    fn ratio(a: u128, b: u128) -> Ratio {
        Ratio::new(a, b).expect("valid")
    }

    /// Too few digits on purpose, so that the enumeration meets the coin beyond them.
    fn worst_excess(decay: Decay, count: u32, power: impl Fn(u128) -> Interval) -> i128 {
        let digits = Digits::new(decay, count);
        let law = enumerate(34, |tape: &mut Tape<3>| digits.sample_unbounded(tape));
        assert!(law.unresolved <= ONE >> 20 && law.found.len() > 2 << count);
        let excess = law.found.iter().map(|(&x, &found)| {
            let p = power(x).times(power(1).complement());
            let too_likely = found.cast_signed() - p.high.cast_signed();
            let too_rare = p.low.cast_signed() - (found + law.unresolved).cast_signed();
            too_likely.max(too_rare)
        });
        excess.max().expect("not empty")
    }

    #[test]
    fn digits_and_the_coin_beyond_them_make_a_geometric_variable() {
        for (a, b) in [(1, 1), (1, 2), (5, 3)] {
            let decay = Decay::Exp(ratio(a, b));
            assert!(worst_excess(decay, 2, |x| truth(x * a, b)) <= 0);
            // The control: the powers of another ratio.
            assert!(worst_excess(decay, 2, |x| truth(x * (a + 1), b)) > 0);
        }
        for (a, b) in [(1, 2), (2, 3), (1, 5), (3, 4)] {
            let decay = Decay::Power(ratio(a, b));
            let power = |a: u128, b: u128| {
                move |x: u128| {
                    (0..x).fold(Interval::ratio(1, 1), |p, _| p.times(Interval::ratio(a, b)))
                }
            };
            assert!(worst_excess(decay, 2, power(a, b)) <= 0);
            assert!(worst_excess(decay, 2, power(a, b + 1)) > 0);
        }
    }

    #[test]
    fn tables_have_the_length_that_the_range_needs() {
        // 2^m / b > 89.4 for scale b.
        let count = |b: u128| Digits::all_but_impossible(Decay::Exp(ratio(1, b))).map(|d| d.len());
        assert_eq!(count(1), Some(7));
        assert_eq!(count(1000), Some(17));
        assert_eq!(count(1 << 56), Some(63));
        assert_eq!(count(1 << 57), None);
        assert_eq!(Digits::all_but_impossible(Decay::Exp(ratio(200, 1))).map(|d| d.len()), Some(0));
    }
}
