//! A random index with exponentially weighted probabilities.

use num_bigint::BigUint;

use crate::exp::{Enclosure, exp_minus, exp_strip};
use crate::scaled::{Scaled, multiply_high_wide};
use crate::shares::settle;
use crate::{Bits, NoiseError, Ratio};

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
/// # Errors
/// [`NoiseError::NoScores`]. Their number is public.
///
/// # Source
/// McSherry, Talwar (2007) for the law; the evaluation is ours. The plain form is
/// [`reference::choose_exponentially`](crate::reference::choose_exponentially).
pub fn choose_exponentially<B: Bits + ?Sized>(
    bits: &mut B,
    scores: &[i64],
    rate: Ratio,
) -> Result<usize, NoiseError> {
    let weights = Weights::new(scores, rate)?;
    Ok(bits.retry(|bits| Some(weights.pick(bits))))
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
    fn new(scores: &'a [i64], rate: Ratio) -> Result<Self, NoiseError> {
        let best = scores.iter().copied().max().ok_or(NoiseError::NoScores)?;
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
        Ok(Self { scores, best, rate, lows, width })
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
        let prefix = point >> (128 - 2 * B::WORD_BITS);
        settle(bits, prefix, self.scores.len(), |i, length| self.weight(i, length))
    }

    fn weight(&self, index: usize, length: u64) -> Enclosure {
        let gap = BigUint::from(self.best.abs_diff(self.scores[index]));
        let denominator = BigUint::from(self.rate.denominator().get());
        // A few bits more than the point has, so that the point is what is in doubt.
        exp_minus(&(gap * self.rate.numerator()), &denominator, length + 16)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::shares::index_at;

    /// Words given beforehand, then zeros.
    struct Script(Vec<u64>);

    impl Bits for Script {
        fn word(&mut self) -> u64 {
            self.0.pop().unwrap_or(0)
        }
    }

    /// Short words are too coarse to see the error of 64-bit weights, so it is met head-on: at full
    /// word size, points on both sides of every edge, from one unit of `2^-128` away to far beyond
    /// the error, must give the index that the procedure with 600 bits gives.
    #[test]
    fn points_next_to_an_edge_are_told_apart() {
        let scores: Vec<i64> = (0..14).map(|i| (i * 37) % 61).collect();
        let weights = Weights::new(&scores, Ratio::new(1, 9).expect("valid")).unwrap();
        let exact: Vec<BigUint> = (0..14).map(|i| weights.weight(i, 600).low).collect();
        let total: BigUint = exact.iter().sum();
        let mut sum = BigUint::ZERO;
        let mut near_misses = 0;
        for weight in &exact[..13] {
            sum += weight;
            let edge = u128::try_from((&sum << 128) / &total).expect("below one");
            for distance in (0..76).map(|log| 1_u128 << log) {
                for point in [edge - distance, edge, edge + distance] {
                    let (first, second) = (point >> 64, point & u128::from(u64::MAX));
                    let words = [second, first].map(|word| u64::try_from(word).expect("a word"));
                    let found = weights.pick(&mut Script(words.to_vec()));
                    let all: Vec<Enclosure> =
                        (0..weights.scores.len()).map(|i| weights.weight(i, 600)).collect();
                    let truth = index_at(&all, &(BigUint::from(point) << 472), 600);
                    assert_eq!(Some(found), truth, "2^-128 * {distance} from an edge");
                    // What a single look at the lower sums would have said.
                    let share = multiply_high_wide(
                        point,
                        weights.lows.iter().map(|&low| u128::from(low)).sum(),
                    );
                    let sums = weights.lows.iter().scan(0_u128, |sum, &low| {
                        *sum += u128::from(low);
                        Some(*sum)
                    });
                    near_misses +=
                        usize::from(sums.take_while(|sum| *sum <= share).count() != found);
                }
            }
        }
        assert!(near_misses > 0, "the points were too far away to show anything");
    }
}
