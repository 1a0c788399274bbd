//! A random index with exponential weights and multiplicities.

use num_bigint::BigUint;

use crate::exp::{Enclosure, exp_minus, exp_strip};
use crate::scaled::{Scaled, multiply_high_wide};
use crate::shares::settle;
use crate::{Bits, NoiseError, Ratio};

/// Candidates that share a score.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Level {
    /// The score of each of them.
    pub score: i64,
    /// How many there are; zero is allowed.
    pub candidates: u64,
}

/// Level `i` with probability proportional to `candidates_i * exp(rate * score_i)`, exactly.
///
/// It is the first half of an exponential choice among far more candidates than could be listed: the
/// second half, a uniform one within the level, is the caller's.
///
/// # Complexity
/// Two words and two passes over the levels if the weights to 64 bits settle it; else, as a rule once,
/// all weights to more bits. Levels that outnumber the best one by more than their weight is smaller
/// are what makes the second case frequent.
///
/// # Precision
/// Exact, as [`choose_exponentially`](crate::choose_exponentially) is, and by the same argument.
///
/// # Errors
/// [`NoiseError::Candidates`]: none, or `2^62` or more in total. Their number is public.
pub fn choose_level<B: Bits + ?Sized>(
    bits: &mut B,
    levels: &[Level],
    rate: Ratio,
) -> Result<usize, NoiseError> {
    let weights = Weights::new(levels, rate)?;
    Ok(bits.retry(|bits| Some(weights.pick(bits))))
}

struct Weights<'a> {
    levels: &'a [Level],
    best: i64,
    rate: Ratio,
    /// One candidate of level `i` weighs `[lows[i], lows[i] + width]`, in units of `2^-64`.
    lows: Vec<u64>,
    width: u64,
}

impl<'a> Weights<'a> {
    fn new(levels: &'a [Level], rate: Ratio) -> Result<Self, NoiseError> {
        let total: u128 = levels.iter().map(|level| u128::from(level.candidates)).sum();
        if total == 0 || total >= 1 << 62 {
            return Err(NoiseError::Candidates { got: total });
        }
        let occupied = levels.iter().filter(|level| level.candidates > 0);
        let best = occupied.map(|level| level.score).max().expect("some level has candidates");
        let near = Scaled::ratio(rate.numerator(), rate.denominator().get());
        let mut width = 1;
        let lows = levels.iter().map(|level| {
            // A level without candidates may be above the best; its weight does not matter.
            let gap = if level.score > best { 0 } else { best.abs_diff(level.score) };
            let gap = Scaled::new(gap.into());
            // At gap or rate zero the weight is one, held as 2^64 - 1 with a width of 1.
            let Some(x) = gap.zip(near).map(|(gap, near)| gap.times(near)) else {
                return u64::MAX;
            };
            let strip = exp_strip(x);
            width = width.max(strip.width);
            strip.low
        });
        let lows = lows.collect();
        Ok(Self { levels, best, rate, lows, width })
    }

    /// Products are below `2^126`, and so are their sums, since all candidates together are.
    fn pick<B: Bits + ?Sized>(&self, bits: &mut B) -> usize {
        let (first, second) = (bits.word(), bits.word());
        let point = u128::from(first) << (128 - B::WORD_BITS)
            | u128::from(second) << (128 - 2 * B::WORD_BITS);
        let last = point | u128::MAX.checked_shr(2 * B::WORD_BITS).unwrap_or(0);
        let parts = || self.levels.iter().zip(&self.lows);
        let (mut total, mut spread) = (0_u128, 0_u128);
        for (level, &low) in parts() {
            total += u128::from(level.candidates) * u128::from(low);
            spread += u128::from(level.candidates) * u128::from(self.width);
        }
        // The point, as a share of the total weight, lies in [lowest, highest).
        let lowest = multiply_high_wide(point, total);
        let highest = multiply_high_wide(last, total + spread) + 2;
        let (mut sum, mut sum_spread, mut edge) = (0_u128, 0_u128, 0_u128);
        for (index, (level, &low)) in parts().enumerate() {
            sum += u128::from(level.candidates) * u128::from(low);
            if sum >= highest {
                if edge <= lowest {
                    return index;
                }
                break;
            }
            sum_spread += u128::from(level.candidates) * u128::from(self.width);
            edge = sum + sum_spread;
        }
        let prefix = point >> (128 - 2 * B::WORD_BITS);
        settle(bits, prefix, self.levels.len(), |i, length| self.weight(i, length))
    }

    /// The weight of a whole level.
    fn weight(&self, index: usize, length: u64) -> Enclosure {
        let Level { score, candidates } = self.levels[index];
        if candidates == 0 {
            return Enclosure { low: BigUint::ZERO, high: BigUint::ZERO };
        }
        let gap = BigUint::from(self.best.abs_diff(score));
        let denominator = BigUint::from(self.rate.denominator().get());
        // More bits than the point has, by as many as the multiplicities take away again.
        let one = exp_minus(&(gap * self.rate.numerator()), &denominator, length + 64);
        Enclosure { low: one.low * candidates, high: one.high * candidates }
    }
}

#[cfg(test)]
mod tests {
    use rand::SeedableRng;
    use rand::rngs::ChaCha20Rng;

    use super::*;
    use crate::SecureBits;
    use crate::shares::index_at;

    /// One level of weight `e^40` against `2^61` candidates of weight 1: about `.093`.
    #[test]
    fn a_huge_level_is_weighed_exactly() {
        let levels = [Level { score: 40, candidates: 1 }, Level { score: 0, candidates: 1 << 61 }];
        let rate = Ratio::new(1, 1).expect("valid");
        let mut rng = ChaCha20Rng::seed_from_u64(11);
        let mut bits = SecureBits::new(&mut rng);
        let n = 40_000;
        let hits = (0..n).filter(|_| choose_level(&mut bits, &levels, rate) == Ok(0)).count();
        let p = 1.0 / (1.0 + (61.0 * 2_f64.ln() - 40.0).exp());
        let (mean, sd) = (f64::from(n) * p, (f64::from(n) * p * (1.0 - p)).sqrt());
        // Five standard deviations: a false alarm in less than 1 of 10^6 seeds, and this one is
        // pinned. A tenth more or less of the weight would be fourteen away.
        assert!((hits as f64 - mean).abs() < 5.0 * sd, "{hits} of {n}, expected {mean}");
    }

    /// As for single candidates: points next to an edge, by two words, against the index at 600 binary digits.
    #[test]
    fn points_next_to_an_edge_of_a_level_are_told_apart() {
        struct Script(Vec<u64>);
        impl Bits for Script {
            fn word(&mut self) -> u64 {
                self.0.pop().unwrap_or(0)
            }
        }
        let level =
            |i: u64| Level { score: (i * 37 % 61).cast_signed(), candidates: 1 + i * i % 7 };
        let levels: Vec<Level> = (0..14).map(level).collect();
        let weights = Weights::new(&levels, Ratio::new(1, 9).expect("valid")).unwrap();
        let all: Vec<Enclosure> = (0..levels.len()).map(|i| weights.weight(i, 600)).collect();
        let total: BigUint = all.iter().map(|weight| &weight.low).sum();
        let mut sum = BigUint::ZERO;
        for weight in &all[..13] {
            sum += &weight.low;
            let edge = u128::try_from((&sum << 128) / &total).expect("below one");
            for distance in (0..76).map(|log| 1_u128 << log) {
                for point in [edge - distance, edge, edge + distance] {
                    let (first, second) = (point >> 64, point & u128::from(u64::MAX));
                    let words = [second, first].map(|word| u64::try_from(word).expect("a word"));
                    let found = weights.pick(&mut Script(words.to_vec()));
                    let truth = index_at(&all, &(BigUint::from(point) << 472), 600);
                    assert_eq!(Some(found), truth, "2^-128 * {distance} from an edge");
                }
            }
        }
    }
}
