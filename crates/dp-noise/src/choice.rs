//! A random index with exponentially weighted probabilities.

use num_bigint::BigUint;

use crate::exp::{Enclosure, exp_minus, exp_strip, shift_up};
use crate::scaled::{Scaled, multiply_high_wide};
use crate::{Bits, Ratio};

/// Index `i` with probability proportional to `exp(rate * scores[i])`, exactly.
///
/// # Utility
/// With probability `1 - beta` the score is within `ln(n / beta) / rate` of the best of `n`.
///
/// # Complexity
/// Two words and two passes over all `n` scores, whatever they are: the pass that forms the
/// weights computes each to 64 bits, the pass that finds the index does not stop at it. Only with
/// probability below `n^2 2^-58` is the uniform real too close to an edge between two indexes to
/// tell; then all weights are computed again to more bits. Memory: 8 bytes per score.
///
/// # Precision
/// Exact: the edges are enclosed, and a uniform real in doubt is extended until it is in none.
/// The rate is used as given.
///
/// # Panics
/// If `scores` is empty. Its length is public.
///
/// # Source
/// McSherry, Talwar (2007) for the law; the evaluation is ours. The plain form is
/// [`reference::choose_exponentially`](crate::reference::choose_exponentially).
pub fn choose_exponentially<B: Bits + ?Sized>(bits: &mut B, scores: &[i64], rate: Ratio) -> usize {
    let weights = Weights::new(scores, rate);
    bits.retry(|bits| Some(weights.pick(bits)))
}

struct Weights<'a> {
    scores: &'a [i64],
    best: i64,
    rate: Ratio,
    /// Weight `i` is in `[lows[i], lows[i] + width]`, in units of `2^-64`.
    lows: Vec<u64>,
    width: u64,
}

impl<'a> Weights<'a> {
    fn new(scores: &'a [i64], rate: Ratio) -> Self {
        let best = scores.iter().copied().max().expect("at least one candidate");
        let near = Scaled::ratio(rate.numerator(), rate.denominator().get());
        let mut width = 1;
        let lows = scores.iter().map(|score| {
            let gap = Scaled::new(best.abs_diff(*score).into());
            // At gap or rate zero the weight is one, held as 2^64 - 1 with a width of 1.
            let Some(x) = gap.zip(near).map(|(gap, near)| gap.times(near)) else {
                return u64::MAX;
            };
            let strip = exp_strip(x);
            width = width.max(strip.width);
            strip.low
        });
        let lows = lows.collect();
        Self { scores, best, rate, lows, width }
    }

    fn pick<B: Bits + ?Sized>(&self, bits: &mut B) -> usize {
        let (first, second) = (bits.word(), bits.word());
        let point = u128::from(first) << (128 - B::WORD_BITS)
            | u128::from(second) << (128 - 2 * B::WORD_BITS);
        let last = point | u128::MAX.checked_shr(2 * B::WORD_BITS).unwrap_or(0);
        let total: u128 = self.lows.iter().map(|&low| u128::from(low)).sum();
        let spread = |n: usize| n as u128 * u128::from(self.width);
        // The point, as a share of the total weight, lies in [lowest, highest).
        let lowest = multiply_high_wide(point, total);
        let highest = multiply_high_wide(last, total + spread(self.lows.len())) + 2;
        let (mut sum, mut index, mut edge) = (0_u128, 0_usize, 0_u128);
        for &low in &self.lows {
            sum += u128::from(low);
            let passed = sum < highest;
            index += usize::from(passed);
            edge = if passed { sum } else { edge };
        }
        if index < self.lows.len() && edge + spread(index) <= lowest {
            return index;
        }
        self.settle(bits, point >> (128 - 2 * B::WORD_BITS))
    }

    /// The same with more and more digits of the point and of the weights.
    #[cold]
    fn settle<B: Bits + ?Sized>(&self, bits: &mut B, prefix: u128) -> usize {
        let mut point = BigUint::from(prefix);
        let mut length = u64::from(2 * B::WORD_BITS);
        loop {
            if let Some(index) = self.index_at(&point, length) {
                return index;
            }
            point = (point << B::WORD_BITS) | BigUint::from(bits.word());
            length += u64::from(B::WORD_BITS);
        }
    }

    /// The index of a uniform real with these first digits, if they decide it.
    fn index_at(&self, point: &BigUint, length: u64) -> Option<usize> {
        let weights: Vec<Enclosure> =
            (0..self.scores.len()).map(|i| self.weight(i, length)).collect();
        let total_low: BigUint = weights.iter().map(|weight| &weight.low).sum();
        let total_high: BigUint = weights.iter().map(|weight| &weight.high).sum();
        let lowest = (point * total_low) >> length;
        let highest = shift_up((point + 1_u32) * total_high, length);
        let (mut sum, mut edge) = (BigUint::ZERO, BigUint::ZERO);
        for (index, weight) in weights.iter().enumerate() {
            sum += &weight.low;
            if sum >= highest {
                return (edge <= lowest).then_some(index);
            }
            edge += &weight.high;
        }
        None
    }

    fn weight(&self, index: usize, length: u64) -> Enclosure {
        let gap = BigUint::from(self.best.abs_diff(self.scores[index]));
        let denominator = BigUint::from(self.rate.denominator().get());
        // A few bits more than the point has, so that the point is what is in doubt.
        exp_minus(&(gap * self.rate.numerator()), &denominator, length + 16)
    }
}
