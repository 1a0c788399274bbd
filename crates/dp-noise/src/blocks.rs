//! Proposals for wide normal noise: integers by blocks of neighbours, at the price of one look-up.

use std::num::NonZero;

use num_bigint::BigUint;

use crate::Bits;
use crate::exp::{BLOCKS_PER_DEVIATION, exp_minus, exp_strip, first_block, up_to_block};
use crate::lazy::Uniform;
use crate::scaled::Scaled;
use crate::table::half_line;

/// Signed integers `y`, two of which are 0, with weights `exp(-y^2 / 2w)`, for a rational `w`.
///
/// # How
/// `t` neighbours are a block, with `t` as small as `16 t >= sqrt(w)` lets it be. The number of a block has weights `exp(-i^2 / 512)`, whatever `w`, so that a table
/// of it is made once and for all. Every integer of a block is as likely as any other, and `y = i t + r` stays with probability `exp(-e)`, where
/// `e = y^2 / 2w - i^2 / 512 = i^2 (256 t^2 - w) / 512 w + r (2 i t + r) / 2w` is at least 0. Most stay without a look at `e`, which is small all over a block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Blocks {
    /// `w = numerator / denominator`.
    numerator: u128,
    denominator: u128,
    /// The length `t` of a block,
    length: u128,
    /// and how much more than `w` its square times 256 is, as a multiple of `512 w`: nothing if they are equal.
    excess: Option<Scaled>,
    /// `1 / 2w`.
    step: Scaled,
    /// The excess in units of `2^-64`, rounded up;
    most_excess: u64,
    /// and so `t^2 / 2w`.
    most_step: u64,
}

/// A sign and an integer.
pub(crate) type Signed = (bool, u128);

impl Blocks {
    /// `w = a / b` with `a` below `2^118`, `b` below `2^96` and `a` at least `b`.
    pub(crate) fn new(a: u128, b: u128) -> Self {
        const SQUARE: u128 = (BLOCKS_PER_DEVIATION * BLOCKS_PER_DEVIATION) as u128;
        let least = a.div_ceil(SQUARE * b);
        let root = least.isqrt();
        let length = if root * root < least { root + 1 } else { root };
        let positive = |x| Scaled::new(x).expect("checked by whoever makes it");
        let excess = Scaled::ratio(SQUARE * length * length * b - a, 2 * SQUARE * a);
        let step = positive(b).times(positive(2 * a).recip());
        let square = positive(length * length);
        Self {
            numerator: a,
            denominator: b,
            length,
            excess,
            step,
            most_excess: excess.map_or(0, Scaled::fraction_above),
            most_step: step.times(square).fraction_above(),
        }
    }

    #[cfg(test)]
    pub(crate) fn length(&self) -> u128 {
        self.length
    }

    /// One proposal, if it stays.
    #[inline]
    pub(crate) fn propose<B: Bits + ?Sized>(&self, bits: &mut B) -> Option<Signed> {
        let block = block(bits);
        let places = NonZero::new(2 * self.length).expect("a block has a length");
        let place = bits.below(places);
        let (negative, place) = (place % 2 == 1, place / 2);
        let stays = self.stays(bits, block, place);
        stays.then(|| (negative, u128::from(block) * self.length + place))
    }

    /// True with probability `exp(-e)` for this place in this block.
    #[inline]
    fn stays<B: Bits + ?Sized>(&self, bits: &mut B, block: u64, place: u128) -> bool {
        bits.retry(|bits| {
            let mut uniform = Uniform::draw(bits);
            // All over the block `exp(-e) >= 1 - e` is more than this.
            let lost = (block.saturating_mul(block).saturating_mul(self.most_excess))
                .saturating_add((2 * block + 1).saturating_mul(self.most_step));
            let (_, highest) = uniform.range::<B>();
            Some(highest < u64::MAX - lost || self.settle(bits, &mut uniform, block, place))
        })
    }

    #[inline(never)]
    fn settle<B: Bits + ?Sized>(
        &self,
        bits: &mut B,
        uniform: &mut Uniform,
        block: u64,
        place: u128,
    ) -> bool {
        let square = u128::from(block) * u128::from(block);
        let within = place * (2 * u128::from(block) * self.length + place);
        let excess = self.excess.zip(Scaled::new(square)).map(|(one, n)| one.times(n));
        let within_near = Scaled::new(within).map(|n| n.times(self.step));
        let Some(near) = excess.into_iter().chain(within_near).reduce(Scaled::plus) else {
            return true;
        };
        uniform.is_below(bits, exp_strip(near), |precision| {
            let [a, b] = [self.numerator, self.denominator].map(BigUint::from);
            let blocks = BigUint::from(BLOCKS_PER_DEVIATION * BLOCKS_PER_DEVIATION);
            let length = BigUint::from(self.length);
            let excess = (&length * &length * &blocks * &b - &a) * square;
            exp_minus(&(excess + within * &blocks * &b), &(a * blocks * 2_u32), precision)
        })
    }
}

/// The number of a block: `i = 0, 1, ..` with weights `exp(-i^2 / 512)`.
#[inline]
fn block<B: Bits + ?Sized>(bits: &mut B) -> u64 {
    bits.retry(|bits| {
        let mut uniform = Uniform::draw(bits);
        let mut block = first_block(uniform.range::<B>().0);
        while !uniform.is_below(bits, up_to_block(block), |precision| half_line(block, precision)) {
            block += 1;
        }
        Some(block)
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::exact::{Interval, ONE, Tape, enumerate, exp_minus as truth};

    fn holds(p: Interval, found: u128, unresolved: u128) -> bool {
        found <= p.high && p.low <= found + unresolved
    }

    #[test]
    fn blocks_have_their_law() {
        let weights: Vec<Interval> = (0..150).map(|i| truth(i * i, 512)).collect();
        let all = weights.iter().fold(0, |sum, weight| sum + weight.high / 32);
        let law = enumerate(24, |tape: &mut Tape<4>| block(tape));
        assert!(law.unresolved < ONE >> 15 && law.found.len() > 60, "{:e}", law.unresolved_share());
        for (&block, &found) in &law.found {
            let Interval { low, high } = weights[usize::try_from(block).expect("small")];
            let share = |weight: u128| weight / 32 * ONE / all;
            let p = Interval { low: share(low) - 9, high: share(high) + 9 };
            assert!(holds(p, found, law.unresolved), "{block}");
        }
    }

    /// Of blocks of 1 to 64 cells, longer than they have to be and as long.
    const VARIANCES: [(u128, u128); 6] =
        [(64, 1), (256, 1), (257, 1), (7 << 10, 3), ((1 << 20) + 5, 1), (1 << 20, 1)];

    #[test]
    fn proposals_stay_as_often_as_they_should() {
        for (a, b) in VARIANCES {
            let blocks = Blocks::new(a, b);
            let length = blocks.length;
            assert!(256 * length * length * b >= a && 256 * (length - 1).pow(2) * b < a);
            for (block, place) in [(0, 0), (0, 1), (1, 0), (3, 2), (17, 1), (40, 63), (90, 40)] {
                let (number, place) = (u128::from(block), place % length);
                let y = number * length + place;
                // 512 a (y^2 b / 2a - i^2 / 512)
                let p = truth(256 * y * y * b - number * number * a, 512 * a);
                let agrees = |law: crate::exact::Law<bool>| {
                    assert!(law.unresolved < ONE >> 20);
                    holds(p, law.found.get(&true).copied().unwrap_or(0), law.unresolved)
                };
                let stays = |block, place| {
                    enumerate(30, move |tape: &mut Tape<3>| blocks.stays(tape, block, place))
                };
                assert!(agrees(stays(block, place)), "{a}/{b}, {block}, {place}");
                let seen = p.low > ONE >> 8;
                assert!(!seen || !agrees(stays(block + 1, place + 1)), "{a}/{b}, {block}, {place}");
                let longer = enumerate(30, |tape: &mut Tape<6>| blocks.stays(tape, block, place));
                assert!(agrees(longer), "{a}/{b}, {block}, {place}");
            }
        }
    }

    /// A source of one word.
    struct Once(Option<u64>);

    impl Bits for Once {
        fn word(&mut self) -> u64 {
            self.0.take().expect("one word settles it")
        }
    }

    /// Words of few digits do not see what is off by less than one of them. Here `exp(-e)` is known to 64 digits: the word below it stays, and the
    /// word above does not, whether or not a second look is taken. In long blocks the bound of a block is hardly more than what its last place needs.
    #[test]
    fn words_next_to_the_probability_fall_on_their_side_of_it() {
        let long = [((1 << 97) + 1, 1), ((1 << 97) + 1, 3), ((1 << 117) + 3, (1 << 95) - 1)];
        let mut seen = 0;
        for (a, b) in VARIANCES.into_iter().chain(long) {
            let blocks = Blocks::new(a, b);
            let last = blocks.length - 1;
            let numbers = [0, 1, 2, 3, 5, 10, 17, 31, 40, 64, 90, 127, 128, 147, 150];
            for (block, place) in numbers.iter().flat_map(|&i| [0, last / 2, last].map(|r| (i, r)))
            {
                let number = u128::from(block);
                let y = BigUint::from(number * blocks.length + place);
                let big = BigUint::from(a);
                // 512 a (y^2 b / 2a - i^2 / 512)
                let e = &y * &y * 256_u32 * b - &big * number * number;
                let p = exp_minus(&e, &(big << 9_u32), 64);
                let stays = |word: &BigUint| {
                    let word = u64::try_from(word).ok()?;
                    Some(blocks.stays(&mut Once(Some(word)), block, place))
                };
                let name = format!("{a}/{b}, {block}, {place}");
                assert_ne!(stays(&p.high), Some(true), "{name}");
                if p.low > BigUint::ZERO {
                    assert_eq!(stays(&(p.low - 1_u32)), Some(true), "{name}");
                    seen += 1;
                }
            }
        }
        assert!(seen > 250, "{seen}");
    }

    /// Else many would take a second look, or be thrown away.
    #[test]
    fn most_proposals_stay_without_a_second_look() {
        for (a, b) in [(1 << 20, 1), ((1 << 20) + 1, 1), ((1 << 117) + 3, (1 << 95) - 1)] {
            let blocks = Blocks::new(a, b);
            // A unit of the bound at the mean of the squares, and of the numbers, of blocks.
            let lost = 256 * u128::from(blocks.most_excess) + 27 * u128::from(blocks.most_step);
            assert!(lost >> 56 < 20, "{} of 256", lost >> 56);
        }
    }

    #[test]
    fn both_signs_and_all_places_are_proposed() {
        let blocks = Blocks::new(3 << 10, 1);
        let law = enumerate(16, |tape: &mut Tape<6>| blocks.propose(tape));
        for y in 0..100 {
            let of = |negative| law.found.get(&Some((negative, y))).copied().unwrap_or(0);
            assert!(of(true) > 0 && of(true) == of(false), "{y}");
        }
    }
}
