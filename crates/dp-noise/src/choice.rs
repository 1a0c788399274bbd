//! A random index with exponentially weighted probabilities, among candidates that are listed or only counted.

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
    let best = scores.iter().copied().max().ok_or(NoiseError::NoScores)?;
    Ok(Weights::new(scores, best, rate).index(bits))
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
/// Exact, as [`choose_exponentially`] is: it is the same procedure, of which that is the case of one
/// candidate per level.
///
/// # Errors
/// [`NoiseError::Candidates`]: none, or `2^62` or more in total. Their number is public.
pub fn choose_level<B: Bits + ?Sized>(
    bits: &mut B,
    levels: &[Level],
    rate: Ratio,
) -> Result<usize, NoiseError> {
    let total: u128 = levels.iter().map(|level| u128::from(level.candidates)).sum();
    let occupied = levels.iter().filter(|level| level.candidates > 0);
    match occupied.map(|level| level.score).max() {
        Some(best) if total < 1 << 62 => Ok(Weights::new(levels, best, rate).index(bits)),
        _ => Err(NoiseError::Candidates { got: total }),
    }
}

/// A level, or a score that stands for a level of one candidate.
trait Candidates: Copy {
    fn level(self) -> Level;
}

impl Candidates for Level {
    fn level(self) -> Level {
        self
    }
}

impl Candidates for i64 {
    fn level(self) -> Level {
        Level { score: self, candidates: 1 }
    }
}

/// How much each level weighs, all candidates together being fewer than `2^62`.
struct Weights<'a, C> {
    levels: &'a [C],
    /// The highest score that some candidate has.
    best: i64,
    rate: Ratio,
    /// One candidate of level `i` weighs `[lows[i], lows[i] + width]`, in units of `2^-64`.
    lows: Vec<u64>,
    width: u64,
}

impl<'a, C: Candidates> Weights<'a, C> {
    fn new(levels: &'a [C], best: i64, rate: Ratio) -> Self {
        let near = Scaled::ratio(rate.numerator(), rate.denominator().get());
        let mut width = 1;
        let lows = levels.iter().map(|level| {
            // A level without candidates may be above the best; its weight does not matter.
            let gap = best.abs_diff(level.level().score.min(best));
            // At gap or rate zero the weight is one, held as 2^64 - 1 with a width of 1.
            let Some(x) = Scaled::new(gap.into()).zip(near).map(|(gap, near)| gap.times(near))
            else {
                return u64::MAX;
            };
            let strip = exp_strip(x);
            width = width.max(strip.width);
            strip.low
        });
        let lows = lows.collect();
        Self { levels, best, rate, lows, width }
    }

    fn index<B: Bits + ?Sized>(&self, bits: &mut B) -> usize {
        bits.retry(|bits| Some(self.pick(bits)))
    }

    /// How many candidates each level has, and the least that one of them weighs.
    fn parts(&self) -> impl Iterator<Item = (u64, u64)> {
        let levels = self.levels.iter().zip(&self.lows);
        levels.map(|(level, &low)| (level.level().candidates, low))
    }

    /// Products are below `2^126`, and so are their sums, since all candidates together are.
    fn pick<B: Bits + ?Sized>(&self, bits: &mut B) -> usize {
        let (first, second) = (bits.word(), bits.word());
        let point = u128::from(first) << (128 - B::WORD_BITS)
            | u128::from(second) << (128 - 2 * B::WORD_BITS);
        let last = point | u128::MAX.checked_shr(2 * B::WORD_BITS).unwrap_or(0);
        let (mut all, mut total) = (0, 0_u128);
        for (candidates, low) in self.parts() {
            all += candidates;
            total += product(candidates, low);
        }
        let spread = |candidates| product(candidates, self.width);
        // The point, as a share of the total weight, lies in [lowest, highest).
        let lowest = multiply_high_wide(point, total);
        let highest = multiply_high_wide(last, total + spread(all)) + 2;
        // The index is of the level whose weights the point's upper end is among; `before` candidates,
        // which weigh `edge` and up to a spread more, come ahead of it. No branch: all levels are looked at.
        let (mut index, mut sum, mut edge, mut before) = (0, 0_u128, 0_u128, 0);
        for (candidates, low) in self.parts() {
            sum += product(candidates, low);
            let passed = sum < highest;
            index += usize::from(passed);
            edge = if passed { sum } else { edge };
            before += if passed { candidates } else { 0 };
        }
        if index < self.levels.len() && edge + spread(before) <= lowest {
            return index;
        }
        let prefix = point >> (128 - 2 * B::WORD_BITS);
        settle(bits, prefix, self.levels.len(), |i, length| self.weight(i, length))
    }

    /// The weight of a whole level.
    fn weight(&self, index: usize, length: u64) -> Enclosure {
        let Level { score, candidates } = self.levels[index].level();
        if candidates == 0 {
            return Enclosure { low: BigUint::ZERO, high: BigUint::ZERO };
        }
        let gap = BigUint::from(self.best.abs_diff(score));
        let denominator = BigUint::from(self.rate.denominator().get());
        // More bits than the point has, so that the point is what is in doubt, and as many again as
        // the multiplicities take away.
        let one = exp_minus(&(gap * self.rate.numerator()), &denominator, length + 64);
        Enclosure { low: one.low * candidates, high: one.high * candidates }
    }
}

fn product(candidates: u64, weight: u64) -> u128 {
    u128::from(candidates) * u128::from(weight)
}

#[cfg(test)]
mod tests {
    use rand::SeedableRng;
    use rand::rngs::ChaCha20Rng;

    use super::*;
    use crate::SecureBits;
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
    fn points_next_to_an_edge_are_told_apart<C: Candidates>(levels: &[C], best: i64) {
        let weights = Weights::new(levels, best, Ratio::new(1, 9).expect("valid"));
        let all: Vec<Enclosure> = (0..levels.len()).map(|i| weights.weight(i, 600)).collect();
        let total: BigUint = all.iter().map(|weight| &weight.low).sum();
        let mut sum = BigUint::ZERO;
        let mut near_misses = 0;
        for weight in &all {
            sum += &weight.low;
            if sum == BigUint::ZERO || sum == total {
                continue;
            }
            let edge = u128::try_from((&sum << 128) / &total).expect("below one");
            for distance in (0..76).map(|log| 1_u128 << log) {
                let (below, above) = (edge.checked_sub(distance), edge.checked_add(distance));
                for point in [below, Some(edge), above].into_iter().flatten() {
                    let (first, second) = (point >> 64, point & u128::from(u64::MAX));
                    let words = [second, first].map(|word| u64::try_from(word).expect("a word"));
                    let found = weights.pick(&mut Script(words.to_vec()));
                    let truth = index_at(&all, &(BigUint::from(point) << 472), 600);
                    assert_eq!(Some(found), truth, "2^-128 * {distance} from an edge");
                    // What a single look at the lower sums would have said.
                    let lower: Vec<u128> =
                        weights.parts().map(|(many, low)| product(many, low)).collect();
                    let share = multiply_high_wide(point, lower.iter().sum());
                    let sums = lower.iter().scan(0, |sum, &low| {
                        *sum += low;
                        Some(*sum)
                    });
                    near_misses +=
                        usize::from(sums.take_while(|&sum| sum <= share).count() != found);
                }
            }
        }
        assert!(near_misses > 0, "the points were too far away to show anything");
    }

    #[test]
    fn points_next_to_an_edge_between_scores_are_told_apart() {
        let scores: Vec<i64> = (0..14).map(|i| (i * 37) % 61).collect();
        points_next_to_an_edge_are_told_apart(&scores, 59);
        // One next to nothing at either end has a strip of its own width.
        let far = [vec![-1_000], scores, vec![-1_000]].concat();
        points_next_to_an_edge_are_told_apart(&far, 59);
    }

    /// A third of the levels have no candidate, among them the one of the highest score.
    #[test]
    fn points_next_to_an_edge_between_levels_are_told_apart() {
        let level =
            |i: u64| Level { score: (i * 37 % 61).cast_signed(), candidates: i * i % 7 % 3 };
        let levels: Vec<Level> =
            (0..14).map(level).chain([Level { score: 99, candidates: 0 }]).collect();
        let best =
            levels.iter().filter(|level| level.candidates > 0).map(|level| level.score).max();
        points_next_to_an_edge_are_told_apart(&levels[1..14], best.expect("there are some"));
        points_next_to_an_edge_are_told_apart(&levels, best.expect("there are some"));
    }

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
}
