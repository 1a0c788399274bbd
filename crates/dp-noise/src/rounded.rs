//! Normal noise, rounded to an integer.

use std::num::NonZero;

use crate::blocks::Blocks;
use crate::poisson::poisson;
use crate::{Bits, NoiseError, Ratio, bernoulli};

/// `round(N)` for `N` from the continuous normal law of mean 0 and rational variance `v`:
/// `Pr[Z = z] = Phi((z + 1/2) / sqrt(v)) - Phi((z - 1/2) / sqrt(v))`.
///
/// For an integer `q`, `q + round(N)` is `round(q + N)`: what is computed from a value with
/// continuous normal noise. So it keeps every guarantee of continuous noise, in any dimension.
///
/// # Utility
/// `E[Z] = 0`, and `Var[Z] = v + 1/12` within `1e-7` from `v = 1` on: `N` and the rounding.
///
/// # Complexity
/// About 4 words on average, whatever the variance. Construction costs a root and two divisions. Not
/// timing-safe.
///
/// # Precision
/// Exact. The variance is used as given, and no real number is drawn: what would be the digits of
/// `N` below the integer is integrated out.
///
/// # How
/// The half-line is cut into cells of width `1/g`, with `g` a power of two from 2 on, so that every
/// cell lies on one side of each half-integer. In units of a cell the variance is `w = g^2 v`, and
/// `|N|` lies in cell `j` with probability in proportion to
/// `exp(-j^2 / 2w) A_j`, where `A_j` is the mean of `exp(-(2j s + s^2) / 2w)` over `s` in `[0, 1]`.
/// The first factor comes from a table of blocks of cells, which is the same for all variances. The second is a coin with rational probabilities only. Throw marks, uniform on
/// `[0, 1]`, in Poisson numbers: single ones with mean `2j / 2w`, pairs with mean `1 / 2w`. No
/// single mark lies below `s` with probability `exp(-2j s / 2w)`, and of no pair both lie below `s` with
/// probability `exp(-s^2 / 2w)`. So `A_j` is the probability that neither happens for a uniform
/// `s`, and for that only the order of `s` and the marks counts, which is a random permutation. With a thousand cells to a standard deviation there are hardly ever any marks.
///
/// # Source
/// For exact normal deviates by lazily drawn digits: Karney (2016). The blocks, and the marks in place of digits, are our own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RoundedGaussian {
    variance: Ratio,
    /// `log2(g)`.
    splits: u32,
    /// `2w = twice / denominator`.
    twice: NonZero<u128>,
    denominator: u128,
    blocks: Blocks,
}

impl RoundedGaussian {
    /// With at least `2^10` cells to a standard deviation, a block has 64 cells or more: then one more hardly makes it longer than it need be.
    const FINE_VARIANCE: u128 = 1 << 20;

    /// Rounded normal noise with exactly the variance `v` before rounding.
    ///
    /// # Errors
    /// If `v` is zero.
    pub fn new(variance: Ratio) -> Result<Self, NoiseError> {
        Self::with_cells(variance, Self::FINE_VARIANCE)
    }

    /// With at least so large a variance in cells.
    fn with_cells(variance: Ratio, least: u128) -> Result<Self, NoiseError> {
        let (mut a, b) = (variance.numerator(), variance.denominator().get());
        let mut splits = 0;
        // Below `2^98` after one round, and after more below `4 least b`, which is below `2^118`.
        let twice = loop {
            a <<= 2;
            splits += 1;
            let twice = NonZero::new(2 * a).ok_or(NoiseError::Zero { what: "variance" })?;
            if a / least >= b {
                break twice;
            }
        };
        Ok(Self { variance, splits, twice, denominator: b, blocks: Blocks::new(a, b) })
    }

    /// The variance `v` before rounding.
    pub fn variance(self) -> Ratio {
        self.variance
    }

    /// One draw.
    #[inline]
    pub fn sample<B: Bits + ?Sized>(self, bits: &mut B) -> i128 {
        bits.retry(|bits| {
            let (negative, cell) = self.blocks.propose(bits)?;
            // The nearest integer to every point of the cell. A cell of 2^127 would take a block of more than 2^75.
            let nearest = (cell >> (self.splits - 1)).div_ceil(2);
            let magnitude = i128::try_from(nearest).unwrap_or(i128::MAX);
            self.keep(bits, cell).then_some(if negative { -magnitude } else { magnitude })
        })
    }

    /// True with the probability `A_j` for the cell `j`.
    #[inline]
    fn keep<B: Bits + ?Sized>(&self, bits: &mut B, cell: u128) -> bool {
        bits.retry(|bits| Some(self.no_mark_below(bits, cell)))
    }

    #[inline]
    fn no_mark_below<B: Bits + ?Sized>(&self, bits: &mut B, cell: u128) -> bool {
        // Cells where these overflow are proposed with probability below exp(-2^20).
        let odd = cell.saturating_mul(2).saturating_add(1);
        let thrown = poisson(bits, odd.saturating_mul(self.denominator), self.twice);
        if thrown == 0 {
            return true;
        }
        let odd = NonZero::new(odd).expect("odd");
        let pairs: u64 =
            bits.retry(|bits| Some((0..thrown).map(|_| u64::from(bernoulli(bits, 1, odd))).sum()));
        first_of_its_pairs(bits, thrown, pairs)
    }
}

/// True if `s` comes before every single mark and before the second mark of every pair, when `s` and all marks of `thrown` single ones and
/// pairs, of which `pairs` are pairs, are in random order.
#[inline]
fn first_of_its_pairs<B: Bits + ?Sized>(bits: &mut B, thrown: u64, pairs: u64) -> bool {
    let marks = u128::from(thrown) + u128::from(pairs);
    // How many come before `s`?
    let before = bits.below(NonZero::new(marks + 1).expect("positive"));
    (0..before).all(|i| {
        // So far one each of `i` pairs; any mark of the other pairs may come next.
        let left = NonZero::new(marks - i).expect("fewer before than there are");
        bernoulli(bits, 2 * u128::from(pairs).saturating_sub(i), left)
    })
}

#[cfg(test)]
mod tests {
    use num_bigint::{BigInt, BigUint};
    use rand::Rng;

    use super::*;
    use crate::exact::{Interval, ONE, Tape, enumerate, exp_minus};
    use crate::rounded_law::{BITS, integral, rounded_law};
    use crate::{DiscreteGaussian, SecureBits, insecure_reproducible};

    /// By definition: over all sets of marks that may come before `s`, each as likely as any other of its size.
    fn truth(singles: u32, pairs: u32) -> Interval {
        let marks = singles + 2 * pairs;
        let (mut good, mut all) = (vec![0; 10], vec![0; 10]);
        for set in 0..1_u32 << marks {
            let (single, paired) = (set & ((1 << singles) - 1), set >> singles);
            let whole = (0..pairs).any(|pair| (paired >> (2 * pair)) & 3 == 3);
            let size = set.count_ones() as usize;
            all[size] += 1;
            good[size] += u128::from(single == 0 && !whole);
        }
        let shares = (0..=marks as usize)
            .map(|size| Interval::ratio(good[size], all[size] * (u128::from(marks) + 1)));
        shares.reduce(Interval::plus).expect("s comes somewhere")
    }

    #[test]
    fn s_comes_first_as_often_as_in_a_random_order() {
        // Two pairs are rarely thrown, so what enumeration sees of whole draws is blind to most of this.
        for (singles, pairs) in (0..=3).flat_map(|singles| (0..=3).map(move |p| (singles, p))) {
            let thrown = u64::from(singles + pairs);
            let law =
                enumerate(50, |tape: &mut Tape<3>| first_of_its_pairs(tape, thrown, pairs.into()));
            assert!(law.unresolved < ONE >> 40, "{singles} {pairs}");
            let (found, truth) =
                (law.found.get(&true).copied().unwrap_or(0), truth(singles, pairs));
            assert!(
                found <= truth.high && truth.low <= found + law.unresolved,
                "{singles} {pairs}"
            );
        }
    }

    /// Parts of all lengths, up to the longest: nothing overflows, cells are as many as they should be, and draws are of the size of the deviation.
    #[test]
    fn every_variance_has_its_cells_and_blocks() {
        let mut rng = insecure_reproducible(5);
        let mut part = || {
            let wide = u128::from(rng.next_u64()) << 64 | u128::from(rng.next_u64());
            let part = wide >> (32 + rng.next_u32() % 96);
            [part, part + 1, (part + 1).next_power_of_two(), Ratio::LIMIT - 1]
                [rng.next_u32() as usize % 4]
        };
        let mut draws = insecure_reproducible(6);
        let mut bits = SecureBits::new(&mut draws);
        for _ in 0..20_000 {
            let Ok(v) = Ratio::new(part(), part()) else { continue };
            let Ok(noise) = RoundedGaussian::new(v) else { continue };
            let (a, b, t) = (v.numerator(), v.denominator().get(), noise.blocks.length());
            let [big_a, big_b] = [a, b].map(BigUint::from);
            // 2w = 2 g^2 v, and w is enough but not four times that, unless two cells to an integer are more.
            let w = big_a << (2 * noise.splits);
            assert_eq!(
                BigUint::from(noise.twice.get()) * &big_b,
                &w * 2_u32 * noise.denominator,
                "{v}"
            );
            let least = &big_b << 20_u32;
            assert!(w >= least && (noise.splits == 1 || w < &least << 2_u32), "{v}");
            let square = |t: u128| BigUint::from(t * t) * &big_b * 256_u32;
            assert!(square(t) >= w && square(t - 1) < w, "{v}");
            let z = BigUint::from(noise.sample(&mut bits).unsigned_abs());
            // Nine deviations, and one for the rounding.
            let less = if z == BigUint::ZERO { z } else { z - 1_u32 };
            assert!(&less * &less * big_b <= v.numerator() * BigUint::from(81_u32), "{v}");
        }
    }

    /// `A_j` is the integral of `exp(-x^2 / 2w)` over the cell, over its value at the near end. What few cells to a standard deviation there are makes it far from 1.
    #[test]
    fn cells_are_kept_as_often_as_they_should() {
        for (a, b) in [(3, 1), (9, 4), (5, 3)] {
            let noise = RoundedGaussian::with_cells(Ratio::new(a, b).expect("valid"), 1);
            let noise = noise.expect("positive");
            // w = 4^splits a / b.
            let a = a << (2 * noise.splits);
            for cell in 0..3 {
                let law = enumerate(26, |tape: &mut Tape<3>| noise.keep(tape, cell));
                assert!(law.unresolved < ONE >> 18, "{:e}", law.unresolved_share());
                let mass = integral(2 * cell + 2, a, b) - integral(2 * cell, a, b);
                let mass = u128::try_from((mass * BigInt::from(ONE)) >> BITS).expect("positive");
                let near = exp_minus(cell * cell * b, 2 * a);
                let p = Interval { low: mass, high: mass + 1 }.divided_by(near);
                let found = law.found.get(&true).copied().unwrap_or(0);
                assert!(found <= p.high && p.low <= found + law.unresolved, "{a}/{b}, {cell}");
            }
        }
    }

    /// Whether every value that enumeration finds has its probability, down to `2^-8`: its parts are enumerated deeper, each for itself.
    fn agrees<const W: u32>(
        sampler: impl Fn(&mut Tape<W>) -> i128,
        law: impl Fn(i128) -> Interval,
    ) -> bool {
        let found = enumerate(18, sampler);
        assert!(found.unresolved <= ONE >> 8, "{:e}", found.unresolved_share());
        found.found.iter().all(|(&z, &mass)| {
            let p = law(z);
            mass <= p.high && p.low <= mass + found.unresolved
        })
    }

    /// With so few cells that a block has one or two.
    fn coarse(a: u128, b: u128) -> RoundedGaussian {
        RoundedGaussian::with_cells(Ratio::new(a, b).expect("valid"), 144).expect("positive")
    }

    /// Of one to eight integers to a standard deviation.
    #[test]
    fn rounded_noise_has_its_law() {
        for (a, b, length) in [(9, 1, 1), (9, 4, 1), (65, 1, 2)] {
            let noise = coarse(a, b);
            assert_eq!(noise.blocks.length(), length, "{a}/{b}");
            let law = rounded_law(a, b);
            assert!(agrees(|tape: &mut Tape<3>| noise.sample(tape), law), "{a}/{b}");
        }
        let (noise, law) = (coarse(1, 1), rounded_law(1, 1));
        assert!(agrees(|tape: &mut Tape<6>| noise.sample(tape), law));
    }

    #[test]
    fn other_laws_are_told_apart() {
        let one = &rounded_law(1, 1);
        let agrees = |sampler: &dyn Fn(&mut Tape) -> i128| agrees(sampler, one);
        assert!(agrees(&|tape| coarse(1, 1).sample(tape)));
        // Of this variance with that of the rounding, the discrete law still differs.
        let discrete = DiscreteGaussian::new(Ratio::new(13, 12).expect("valid")).expect("positive");
        assert!(!agrees(&|tape| discrete.sample(tape)));
        assert!(!agrees(&|tape| coarse(16, 17).sample(tape)));
        assert!(!agrees(&|tape| coarse(1, 1).sample(tape) + 1));
        // Rounded down in place of to the nearest: half of the cells of every integer move.
        assert!(!agrees(&|tape| coarse(4, 1).sample(tape).div_euclid(2)));
    }
}
