//! Discrete Gaussian noise from a table: one word and one look-up.

mod tails;

use crate::exp::Strip;
use crate::lazy::Uniform;
use crate::{Bits, NoiseError, Ratio};
pub(crate) use tails::half_line;
use tails::{GUARD, tail, tails};

/// The law of [`DiscreteGaussian`](crate::DiscreteGaussian), for `v <= 10^6`, by inverting a table
/// of its distribution function.
///
/// # Utility
/// As [`DiscreteGaussian`](crate::DiscreteGaussian).
///
/// # Complexity
/// One word, whatever comes out, except with probability below `22 sqrt(v) 2^-63`. Construction
/// takes time and memory in proportion to `sqrt(v)`: about 15 ms and 200 KiB at `v = 10^6`. Share
/// one table among many draws.
///
/// # Precision
/// Exact. The variance is used as given; the table holds 64 digits of the distribution function,
/// and a word that falls on the last digit of an entry makes the draw compute further digits.
///
/// # What is not protected
/// The number of words is fixed, but which part of the table is read depends on the value: an
/// adversary who shares the cache can learn it.
///
/// # Source
/// Inversion by a table with a guide: Chen, Asau (1974).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TableGaussian {
    variance: Ratio,
    /// `Pr[Z <= z]` for `z = -reach, ..., reach - 1`: lower ends of strips, in units of `2^-64`.
    lows: Box<[u64]>,
    width: u64,
    reach: i64,
    /// For every value of the first digits of a word, the first entry above all words before it.
    guide: Box<[u32]>,
}

const GUIDE_BITS: u32 = 12;

impl TableGaussian {
    /// The largest variance that a table is made for.
    pub const MAX_VARIANCE: u32 = 1_000_000;

    /// Discrete Gaussian noise with exactly the variance parameter `v`.
    ///
    /// # Errors
    /// If `v` is zero or above [`TableGaussian::MAX_VARIANCE`].
    pub fn new(variance: Ratio) -> Result<Self, NoiseError> {
        let limit = u128::from(Self::MAX_VARIANCE) * variance.denominator().get();
        if variance.numerator() == 0 {
            return Err(NoiseError::Zero { what: "variance" });
        }
        if variance.numerator() > limit {
            let (what, most) = ("variance", Self::MAX_VARIANCE.into());
            return Err(NoiseError::TooLarge { what, most, got: variance });
        }
        // Pr[Z <= -j] for j = 1, 2, ..., and Pr[Z <= j - 1] = 1 - Pr[Z <= -j] by symmetry.
        let lower: Vec<Strip> =
            tails(variance, 64 + GUARD).iter().map(|tail| tail.strip(GUARD)).collect();
        let width = lower.iter().map(|strip| strip.width).max().unwrap_or(1);
        let upper = lower.iter().map(|strip| (u64::MAX - strip.low) - (strip.width - 1));
        let lows: Box<[u64]> = lower.iter().rev().map(|strip| strip.low).chain(upper).collect();
        let guide = (0..1 << GUIDE_BITS).map(|first_digits: u64| {
            let smallest = first_digits << (64 - GUIDE_BITS);
            u32::try_from(lows.partition_point(|&low| low <= smallest)).expect("a short table")
        });
        let guide = guide.chain([u32::try_from(lows.len()).expect("a short table")]).collect();
        let reach = i64::try_from(lower.len()).expect("a short table");
        Ok(Self { variance, lows, width, reach, guide })
    }

    /// The variance parameter `v`.
    pub fn variance(&self) -> Ratio {
        self.variance
    }

    /// One draw.
    #[inline]
    pub fn sample<B: Bits + ?Sized>(&self, bits: &mut B) -> i64 {
        bits.retry(|bits| {
            let uniform = Uniform::draw(bits);
            let (lowest, highest) = uniform.range::<B>();
            let index = self.first_above(highest);
            let before = index.checked_sub(1).and_then(|before| self.lows.get(before));
            // Certainly below entry `index`, and certainly not below the one before it?
            let certain = before.is_some_and(|low| lowest - (*low).min(lowest) >= self.width);
            Some(if certain && index < self.lows.len() {
                self.value(index)
            } else {
                self.settle(bits, uniform, self.value(index))
            })
        })
    }

    fn value(&self, index: usize) -> i64 {
        i64::try_from(index).expect("a short table") - self.reach
    }

    /// The first entry that `word` is below.
    #[inline]
    fn first_above(&self, word: u64) -> usize {
        let first_digits = usize::try_from(word >> (64 - GUIDE_BITS)).expect("twelve bits");
        let from = self.guide[first_digits] as usize;
        let to = self.guide[first_digits + 1] as usize;
        from + self.lows[from..to].partition_point(|&low| low <= word)
    }

    /// The smallest `z` with the uniform real below `Pr[Z <= z]`, searched from a value close by.
    #[cold]
    fn settle<B: Bits + ?Sized>(&self, bits: &mut B, mut uniform: Uniform, near: i64) -> i64 {
        let mut is_at_most = |z: i64| {
            uniform.is_below(bits, self.strip(z), |precision| tail(self.variance, z, precision))
        };
        let mut z = near;
        while is_at_most(z - 1) {
            z -= 1;
        }
        while !is_at_most(z) {
            z += 1;
        }
        z
    }

    /// Where `Pr[Z <= z]` lies.
    fn strip(&self, z: i64) -> Strip {
        let index = usize::try_from(z + self.reach).ok();
        match index.map(|index| self.lows.get(index)) {
            Some(Some(&low)) => Strip { low, width: self.width },
            // Beyond the table, where less than two units are left.
            Some(None) => Strip { low: u64::MAX - 2, width: 3 },
            None => Strip { low: 0, width: 2 },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tables_are_sorted_symmetric_and_short() {
        for (a, b, reach) in [(1, 4, 9), (1, 1, 13), (2, 1, 18), (1_000_000, 1, 12_000)] {
            let table = TableGaussian::new(Ratio::new(a, b).expect("valid")).expect("in range");
            assert!(table.lows.is_sorted() && table.reach <= reach, "{}", table.reach);
            assert!(table.width <= 2, "{}", table.width);
            for z in 1..table.reach {
                let (below, above) = (table.strip(-z).low, table.strip(z - 1).low);
                assert!(u64::MAX - (below + above) <= 2, "Pr[Z <= -z] + Pr[Z <= z - 1] = 1");
            }
            for z in [-table.reach - 1, table.reach + 1] {
                let (strip, truth) = (table.strip(z), tail(table.variance, z, 80));
                let (low, high) =
                    (u128::from(strip.low), u128::from(strip.low) + u128::from(strip.width));
                assert!(
                    truth.low >= (low << 16).into() && truth.high <= (high << 16).into(),
                    "{z}"
                );
            }
            assert!(table.lows[0] <= 1 && *table.lows.last().expect("not empty") >= u64::MAX - 3);
        }
    }
}
