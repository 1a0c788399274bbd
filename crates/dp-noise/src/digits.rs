//! The binary digits of a geometric variable, a few to a word.
//!
//! If `Pr[X = x]` is proportional to `r^x`, then `r^x` is a product over the binary digits of `x`. So groups of neighbouring digits
//! are independent of each other; a group of `d` digits from digit `i` on is `g` with probability proportional to `r^(2^i g)`, and the first
//! `m` digits alone are the same law cut off at `2^m`. A group is drawn by comparing one uniform real with all `2^d - 1` sums
//! of its probabilities, so that neither the words nor the work depend on what comes out.

use num_bigint::BigUint;

use crate::exp::{Enclosure, Strip, exp_minus, shift_up};
use crate::lazy::{Uniform, coin};
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

    /// The probabilities that the group of `digits` digits from `first` on is below `1, 2, .., 2^digits - 1`.
    fn below(self, first: u32, digits: u32, bits: u64) -> Vec<Enclosure> {
        // Sums of at most 8 powers; every product adds at most two units to the errors of its factors.
        let working = bits + 8;
        let ratio = self.power(first, working);
        let one = BigUint::from(1_u32) << working;
        let mut power = Enclosure { low: one.clone(), high: one };
        let mut sum = power.clone();
        let mut sums = Vec::with_capacity(1 << digits);
        for _ in 1..1_u32 << digits {
            sums.push(sum.clone());
            power.low = (power.low * &ratio.low) >> working;
            power.high = shift_up(power.high * &ratio.high, working);
            sum.low += &power.low;
            sum.high += &power.high;
        }
        // A part of a sum, from the ends that make it least and largest: part / (part + rest).
        let share = |part: &Enclosure| {
            let rest_low = &sum.low - &part.low;
            let rest_high = &sum.high - &part.high;
            let low = (&part.low << bits) / (&part.low + rest_high);
            let high = ((&part.high << bits) / (&part.high + rest_low)) + 1_u32;
            Enclosure { low, high }
        };
        sums.iter().map(share).collect()
    }
}

/// Digits that one word draws.
const GROUP: u32 = 3;
/// Sums that a full group is compared with.
const SUMS: usize = (1 << GROUP) - 1;

/// The first digits of a geometric variable.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Digits {
    decay: Decay,
    count: u32,
    /// Full groups, from the lowest digits on.
    full: Box<[[Strip; SUMS]]>,
    /// What is left of the digits: fewer than [`GROUP`].
    last: Box<[Strip]>,
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
        let strips = |first: u32, digits: u32| -> Vec<Strip> {
            let below = decay.below(first, digits, 64 + GUARD);
            below.iter().map(|enclosure| enclosure.strip(GUARD)).collect()
        };
        let full = (0..count / GROUP)
            .map(|group| strips(GROUP * group, GROUP).try_into().expect("as many as asked for"))
            .collect();
        let left = count % GROUP;
        let last = strips(count - left, left).into();
        let beyond = decay.power(count, 64 + GUARD).strip(GUARD);
        Self { decay, count, full, last, beyond }
    }

    /// As many digits as it takes for `X >= 2^count` to have probability below `2^-129`; `None` if
    /// there are too many.
    pub(crate) fn all_but_impossible(decay: Decay) -> Option<Self> {
        Self::all_but_impossible_of(decay, Self::MAX)
    }

    /// The same with more digits than one word holds, for [`sample_unbounded`](Self::sample_unbounded)
    /// only.
    pub(crate) fn all_but_impossible_wide(decay: Decay) -> Option<Self> {
        Self::all_but_impossible_of(decay, Self::MAX_WIDE)
    }

    fn all_but_impossible_of(decay: Decay, most: u32) -> Option<Self> {
        let negligible = BigUint::from(1_u32 << 11);
        let count = (0..=most).find(|&i| decay.power(i, 140).high <= negligible)?;
        Some(Self::new(decay, count))
    }

    /// Words that the digits take.
    pub(crate) fn words(&self) -> usize {
        self.full.len() + usize::from(!self.last.is_empty())
    }

    /// One word per group, whatever comes out.
    #[inline]
    pub(crate) fn sample<B: Bits + ?Sized>(&self, bits: &mut B) -> u64 {
        let mut x = 0;
        self.each_group(bits, |digits, first| x |= digits << first);
        x
    }

    /// The same for more digits than one word holds.
    fn sample_wide<B: Bits + ?Sized>(&self, bits: &mut B) -> u128 {
        let mut x = 0;
        self.each_group(bits, |digits, first| x |= u128::from(digits) << first);
        x
    }

    /// Hands on the digits of each group and the place of the first of them.
    #[inline]
    fn each_group<B: Bits + ?Sized>(&self, bits: &mut B, mut put: impl FnMut(u64, u32)) {
        let mut first = 0;
        for strips in &self.full {
            put(self.group(bits, first, GROUP, strips), first);
            first += GROUP;
        }
        if !self.last.is_empty() {
            put(self.group(bits, first, self.count - first, &self.last), first);
        }
    }

    #[inline]
    fn group<B: Bits + ?Sized>(
        &self,
        bits: &mut B,
        first: u32,
        digits: u32,
        strips: &[Strip],
    ) -> u64 {
        bits.retry(|bits| {
            let mut uniform = Uniform::draw(bits);
            let (sum, doubt) = uniform.count_at_least::<B>(strips);
            if doubt {
                return Some(self.settle(&mut uniform, bits, first, digits, strips));
            }
            Some(sum)
        })
    }

    /// A group whose word fell into a strip of doubt.
    #[cold]
    #[inline(never)]
    fn settle<B: Bits + ?Sized>(
        &self,
        uniform: &mut Uniform,
        bits: &mut B,
        first: u32,
        digits: u32,
        strips: &[Strip],
    ) -> u64 {
        let mut sum = 0;
        for (i, strip) in strips.iter().enumerate() {
            let refine = |precision| self.decay.below(first, digits, precision).swap_remove(i);
            sum += u64::from(!uniform.is_below(bits, *strip, refine));
        }
        sum
    }

    /// The whole variable: the digits, and `2^count` for every success of one more coin.
    ///
    /// [`words`](Self::words) words and one for the coin, except with probability below `2^-63` when the
    /// digits are [`all_but_impossible`](Self::all_but_impossible) to exceed.
    #[inline]
    pub(crate) fn sample_unbounded<B: Bits + ?Sized>(&self, bits: &mut B) -> u128 {
        let count = self.count;
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
        let count = |b: u128| Digits::all_but_impossible(Decay::Exp(ratio(1, b))).map(|d| d.count);
        assert_eq!(count(1), Some(7));
        assert_eq!(count(1000), Some(17));
        assert_eq!(count(1 << 56), Some(63));
        assert_eq!(count(1 << 57), None);
        assert_eq!(Digits::all_but_impossible(Decay::Exp(ratio(200, 1))).map(|d| d.count), Some(0));
    }
}
