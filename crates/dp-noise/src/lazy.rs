//! Comparing a uniform real with a threshold, one word at a time.
//!
//! A probability that is not a fraction has infinitely many binary digits. One word of the uniform
//! real settles the comparison except in the strip where the threshold is uncertain; there, and
//! only there, more words are drawn and the threshold is computed to as many digits. The answer
//! has exactly the stated probability, although almost every draw reads a single word.

use num_bigint::BigUint;

use crate::Bits;
use crate::exp::{Enclosure, Strip, exp_minus, exp_strip};
use crate::scaled::Scaled;

/// A uniform real in `[0, 1)`, of which a prefix of the binary digits has been drawn.
#[derive(Debug)]
pub(crate) struct Uniform {
    /// The first word, its digits moved to the top.
    first: u64,
    /// All digits, once there are more than one word of them.
    more: Option<Box<Digits>>,
}

#[derive(Debug)]
struct Digits {
    value: BigUint,
    length: u64,
}

impl Digits {
    fn extend<B: Bits + ?Sized>(&mut self, bits: &mut B) {
        self.value = (&self.value << B::WORD_BITS) | BigUint::from(bits.word());
        self.length += u64::from(B::WORD_BITS);
    }
}

impl Uniform {
    #[inline]
    pub(crate) fn draw<B: Bits + ?Sized>(bits: &mut B) -> Self {
        Self { first: bits.word() << (64 - B::WORD_BITS), more: None }
    }

    /// The smallest and the largest value of the first 64 digits, given the first word.
    #[inline]
    pub(crate) fn range<B: Bits + ?Sized>(&self) -> (u64, u64) {
        (self.first, self.first | u64::MAX.checked_shr(B::WORD_BITS).unwrap_or(0))
    }

    /// Whether this real is below the threshold that lies in `strip`, and in `refine(bits)`, in
    /// units of `2^-bits`, for any number of bits.
    #[inline]
    pub(crate) fn is_below<B: Bits + ?Sized>(
        &mut self,
        bits: &mut B,
        strip: Strip,
        refine: impl Fn(u64) -> Enclosure,
    ) -> bool {
        let (lowest, highest) = self.range::<B>();
        // In doubt iff [lowest, highest] meets [low, low + width): one test, so that no branch is
        // taken on which side the word falls; the time must not tell. Where the difference wraps
        // around, the test may see a doubt that is none, and the second look settles it.
        let span = highest - lowest;
        let offset = lowest.wrapping_sub(strip.low).wrapping_add(span);
        if offset < strip.width.saturating_add(span) {
            return self.settle(bits, refine);
        }
        lowest < strip.low
    }

    /// How many of the thresholds this real is not below, by its first word; and whether it is in doubt for any. Every threshold
    /// is looked at, and no branch is taken.
    #[inline]
    pub(crate) fn count_at_least<B: Bits + ?Sized>(&self, strips: &[Strip]) -> (u64, bool) {
        let (lowest, highest) = self.range::<B>();
        let span = highest - lowest;
        let (mut count, mut doubt) = (0, false);
        for strip in strips {
            let offset = lowest.wrapping_sub(strip.low);
            doubt |= offset.wrapping_add(span) < strip.width.saturating_add(span);
            count += u64::from(lowest >= strip.low);
        }
        (count, doubt)
    }

    #[cold]
    #[inline(never)]
    fn settle<B: Bits + ?Sized>(
        &mut self,
        bits: &mut B,
        refine: impl Fn(u64) -> Enclosure,
    ) -> bool {
        let value = self.first >> (64 - B::WORD_BITS);
        let digits = self.more.get_or_insert_with(|| {
            Box::new(Digits { value: value.into(), length: B::WORD_BITS.into() })
        });
        loop {
            let threshold = refine(digits.length);
            if digits.value < threshold.low {
                return true;
            }
            if digits.value >= threshold.high {
                return false;
            }
            digits.extend(bits);
        }
    }
}

/// True with a probability that lies in `strip` and in every `refine(bits)`.
#[inline]
pub(crate) fn coin<B: Bits + ?Sized>(
    bits: &mut B,
    strip: Strip,
    refine: impl Fn(u64) -> Enclosure,
) -> bool {
    bits.retry(|bits| Some(Uniform::draw(bits).is_below(bits, strip, &refine)))
}

/// True with probability `exp(-x)`, where `x` is enclosed by `near` and is the quotient `exact()`.
#[inline]
pub(crate) fn exp_coin<B: Bits + ?Sized>(
    bits: &mut B,
    near: Scaled,
    exact: impl Fn() -> (BigUint, BigUint),
) -> bool {
    coin(bits, exp_strip(near), |precision| {
        let (numerator, denominator) = exact();
        exp_minus(&numerator, &denominator, precision)
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::exact::{Interval, ONE, Tape, enumerate, exp_minus as truth};

    /// A coin of probability `exp(-a/b)` whose refinement is shifted by `slip` units.
    fn deviation<const W: u32>(a: u32, b: u32, slip: u32, at_most: bool) -> Option<Interval> {
        let law = enumerate(40, |tape: &mut Tape<W>| {
            let near = Scaled::ratio(a.into(), b.into()).expect("positive");
            let mut uniform = Uniform::draw(tape);
            if at_most {
                let low = exp_strip(near).low;
                return uniform.range::<Tape<W>>().0 <= low; // no second look
            }
            uniform.is_below(tape, exp_strip(near), |bits| {
                let exact = exp_minus(&a.into(), &b.into(), bits);
                Enclosure { low: exact.low + slip, high: exact.high + slip }
            })
        });
        let heads = law.found.get(&true).copied().unwrap_or(0);
        let p = truth(a.into(), b.into());
        assert!(law.unresolved <= ONE >> 24);
        let agrees = heads <= p.high && p.low <= heads + law.unresolved;
        (!agrees).then_some(Interval { low: heads, high: heads + law.unresolved })
    }

    fn both<const W: u32>() {
        for (a, b) in [(1, 1), (1, 7), (5, 2), (1, 100), (9, 1)] {
            assert!(deviation::<W>(a, b, 0, false).is_none(), "exp(-{a}/{b}) in words of {W}");
            assert!(deviation::<W>(a, b, 1, false).is_some(), "a slip in the refinement");
            assert!(deviation::<W>(a, b, 0, true).is_some(), "no refinement, `<=` for `<`");
        }
    }

    #[test]
    fn refinement_is_exact_for_words_of_one_to_six_bits_and_slips_are_seen() {
        both::<1>();
        both::<2>();
        both::<3>();
        both::<4>();
        both::<5>();
        both::<6>();
    }
}
