//! Normal noise, rounded to an integer.

use std::num::NonZero;

use crate::gaussian::Thinning;
use crate::poisson::poisson;
use crate::{Bits, Geometric, NoiseError, Ratio, bernoulli};

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
/// About 10 words on average, whatever the variance. Construction costs two divisions. Not
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
/// The first factor is that of [`DiscreteGaussian`](crate::DiscreteGaussian), from the same
/// proposal. The second is a coin with rational probabilities only. Throw marks, uniform on
/// `[0, 1]`, in Poisson numbers: single ones with mean `2j / 2w`, pairs with mean `1 / 2w`. No
/// single mark lies below `s` with probability `exp(-2j s / 2w)`, and of no pair both lie below `s` with
/// probability `exp(-s^2 / 2w)`. So `A_j` is the probability that neither happens for a uniform
/// `s`, and for that only the order of `s` and the marks counts, which is a random permutation.
///
/// # Source
/// For exact normal deviates by lazily drawn digits: Karney (2016). Proposal and first factor:
/// Canonne, Kamath, Steinke (2020), Algorithm 3. The marks in place of digits are our own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RoundedGaussian {
    variance: Ratio,
    /// `log2(g)`.
    splits: u32,
    proposal: Geometric,
    /// At the variance `w`.
    thinning: Thinning,
}

impl RoundedGaussian {
    /// With at least 4 cells to a standard deviation few marks are thrown, and most proposals stay.
    const LEAST_FINE_VARIANCE: u128 = 16;

    /// Rounded normal noise with exactly the variance `v` before rounding.
    ///
    /// # Errors
    /// If `v` is zero, and if `4v`, or from `v = 16` downwards the first `4^i v` that is at
    /// least 64, has parts that no [`Ratio`] holds.
    pub fn new(variance: Ratio) -> Result<Self, NoiseError> {
        let (mut a, b) = (variance.numerator(), variance.denominator().get());
        if a == 0 {
            return Err(NoiseError::Zero { what: "variance" });
        }
        let mut splits = 0;
        // Below 2^98 after one round, and after more below 4 * 64 * 2^96.
        while splits == 0 || a / Self::LEAST_FINE_VARIANCE < b {
            a <<= 2;
            splits += 1;
        }
        let too_long = |_| NoiseError::VarianceTooLong { got: variance, power: splits };
        let thinning = Thinning::new(Ratio::new(a, b).map_err(too_long)?)?;
        let proposal = Geometric::new(Ratio::new(thinning.scale(), 1)?)?;
        Ok(Self { variance, splits, proposal, thinning })
    }

    /// The variance `v` before rounding.
    pub fn variance(self) -> Ratio {
        self.variance
    }

    /// One draw.
    #[inline]
    pub fn sample<B: Bits + ?Sized>(self, bits: &mut B) -> i128 {
        let negative = bernoulli(bits, 1, NonZero::new(2).expect("not zero"));
        let cell = bits.retry(|bits| {
            let cell = self.proposal.sample(bits);
            (self.thinning.accept(bits, cell) && self.keep(bits, cell)).then_some(cell)
        });
        // The nearest integer to every point of the cell. A proposal of 2^127 would take more than
        // 2^60 successes of exp(-1) in a row.
        let nearest = (cell >> (self.splits - 1)).div_ceil(2);
        let magnitude = i128::try_from(nearest).unwrap_or(i128::MAX);
        if negative { -magnitude } else { magnitude }
    }

    /// True with the probability `A_j` for the cell `j`.
    #[inline]
    fn keep<B: Bits + ?Sized>(self, bits: &mut B, cell: u128) -> bool {
        bits.retry(|bits| Some(self.no_mark_below(bits, cell)))
    }

    #[inline]
    fn no_mark_below<B: Bits + ?Sized>(self, bits: &mut B, cell: u128) -> bool {
        let fine = self.thinning.variance();
        // Cells where these overflow pass the first factor with probability below exp(-2^60).
        let odd = cell.saturating_mul(2).saturating_add(1);
        let mean = odd.saturating_mul(fine.denominator().get());
        let twice = NonZero::new(2 * fine.numerator()).expect("a positive variance");
        let thrown = poisson(bits, mean, twice);
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
    use super::*;
    use crate::exact::{Interval, ONE, Tape, enumerate};

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
}
