//! Where draws come from: exact samplers in a release, an examiner in an audit.

use std::num::NonZero;

use dp_accounting::{AnyRelation, Loss};
use dp_noise::{
    Bits, DiscreteGaussian, DiscreteLaplace, Geometric, RareHits, Ratio, RoundedGaussian,
    SecureBits, bernoulli, bernoulli_exp, bernoulli_exp_scaled, choose_exponentially,
    noisy_max_with_value, permute_and_flip,
};
use rand::CryptoRng;

use crate::reports::{ReportNoise, Reported, ThresholdReports, Touched};
use crate::{JumpSizes, SelectionRule, SparseScores};

const CANDIDATES: &str = "a choice without candidates is refused before it is drawn";

/// The law of one draw, with the private value that it hides.
///
/// The value goes in and the noisy value comes out: nobody holds raw noise. That is what
/// lets an audit line up two runs on neighbouring data sets by what they *release*.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub enum Law<'a> {
    /// An index `i` with probability proportional to `exp(rate * scores[i])`. Released.
    Choice {
        /// One score per candidate; their number is public.
        scores: &'a [i64],
        /// The factor in the exponent, at least zero.
        rate: Ratio,
    },
    /// An index by permute-and-flip: the first, in random order, whose coin of probability
    /// `exp(rate * (scores[i] - best))` comes up. Released.
    Flip {
        /// One score per candidate; their number is public.
        scores: &'a [i64],
        /// The factor in the exponent, at least zero.
        rate: Ratio,
    },
    /// A candidate of `0..candidates` with probability proportional to `exp(rate * score)`. Released.
    SparseChoice {
        /// Scores of the candidates that are listed; all others have zero.
        scores: &'a SparseScores,
        /// The factor in the exponent, at least zero.
        rate: Ratio,
    },
    /// `value` plus noise. Released.
    Noisy {
        /// The private integer.
        value: i64,
        /// What is added to it.
        noise: Noise,
    },
    /// 1 if `value` plus noise is above `threshold`, else 0. Only the bit is released.
    Exceeds {
        /// The private integer.
        value: i64,
        /// Public.
        threshold: i64,
        /// What is added to the value before comparing.
        noise: Noise,
    },
    /// `value` plus noise if that is at least `threshold`, else `threshold - 1`. Released.
    Report {
        /// The private integer.
        value: i64,
        /// Public.
        threshold: i64,
        /// What is added to the value.
        noise: ReportNoise,
    },
    /// 1 with the probability of the coin, else 0. Secret: the mechanism may act on it but must
    /// never let it out, so an audit sums over it instead of comparing it.
    Keep {
        /// The probability of 1.
        coin: Coin,
    },
}

/// The shape and size of additive integer noise.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Noise {
    /// Two-sided geometric.
    Laplace(DiscreteLaplace),
    /// Discrete Gaussian.
    Gaussian(DiscreteGaussian),
    /// The nearest integer to a continuous normal variable. Coordinate by coordinate this is the Gaussian mechanism of a vector.
    Rounded(RoundedGaussian),
}

/// The probability of a secret coin.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Coin {
    /// The ratio itself, capped at 1.
    Rational(Ratio),
    /// `1 - exp(-ratio)`.
    OneMinusExp(Ratio),
    /// `2^shift exp(-numerator / denominator)`, capped at 1.
    ScaledExp {
        /// Of the power of 2.
        shift: u32,
        /// Of the exponent.
        numerator: u128,
        /// Of the exponent.
        denominator: NonZero<u128>,
    },
    /// `1 / (1 + exp(-ratio))`.
    Logistic(Ratio),
}

/// A source of draws, which sees the private values that go into them.
///
/// Mechanisms do not: they hold [`Draws`](crate::Draws) and call primitives, which open private values on the way here. A source implements
/// the first three methods, and [`reports`](Self::reports) if it can do better than go through a grid cell by cell.
pub trait Source {
    /// One draw from `law`: an index, a value, or a bit as 0 or 1.
    fn draw(&mut self, law: Law<'_>) -> i64;

    /// Adds independent noise to every coordinate. Released. As one call, because its privacy loss
    /// follows from the Euclidean length of a change of the whole vector.
    fn noisy_vector(&mut self, values: &mut [i64], noise: DiscreteGaussian);

    /// The index of the largest of `scores[i]` plus noise, the lowest of a tie, and that noisy score.
    /// Both released. There is at least one score.
    fn noisy_max(&mut self, scores: &[i64], noise: Geometric) -> (usize, i64);

    /// Between which data sets the receipt of what follows speaks, said when a plan begins; `None` when it ends, since no receipt stands
    /// behind what is drawn beside plans. A release takes no note of it, an audit compares nothing else. A source that passes draws on to
    /// another passes this on.
    fn promised(&mut self, _: Option<AnyRelation>) {}

    /// What the draws that follow cost together by their own leaf of the receipt; `None` if nothing says. A release takes no note of it,
    /// an audit may compare.
    fn charged(&mut self, _: Option<Loss>) {}

    /// An index with probability proportional to `exp(rate * scores[i])`, released.
    ///
    /// # Panics
    /// If there are no scores. Their number is public.
    fn choose(&mut self, scores: &[i64], rate: Ratio) -> usize {
        usize::try_from(self.draw(Law::Choice { scores, rate })).expect("an index")
    }

    /// An index by permute-and-flip, released.
    ///
    /// # Panics
    /// If there are no scores. Their number is public.
    fn flip(&mut self, scores: &[i64], rate: Ratio) -> usize {
        usize::try_from(self.draw(Law::Flip { scores, rate })).expect("an index")
    }

    /// A candidate with probability proportional to `exp(rate * score)`, released.
    fn choose_sparse(&mut self, scores: &SparseScores, rate: Ratio) -> u64 {
        u64::try_from(self.draw(Law::SparseChoice { scores, rate })).expect("a candidate")
    }

    /// A choice by this rule among so many candidates that all have the score 0. As one among listed zeros, which is the definition;
    /// a release need not go through them.
    fn choose_among_zeros(&mut self, candidates: usize, rule: SelectionRule, rate: Ratio) -> usize {
        let scores = vec![0; candidates];
        match rule {
            SelectionRule::PermuteAndFlip => self.flip(&scores, rate),
            SelectionRule::Exponential | SelectionRule::NoisyMax => self.choose(&scores, rate),
        }
    }

    /// `value` plus noise, released; saturates at the ends of `i64`, which is post-processing.
    fn noisy(&mut self, value: i64, noise: Noise) -> i64 {
        self.draw(Law::Noisy { value, noise })
    }

    /// Whether `value` plus noise is above `threshold`; only the answer is released.
    fn exceeds(&mut self, value: i64, threshold: i64, noise: Noise) -> bool {
        self.draw(Law::Exceeds { value, threshold, noise }) == 1
    }

    /// Which cells of a grid pass a threshold with noise, and their noisy counts. Released.
    ///
    /// The grid is that of `steps` equal steps, of which only the last has counts that are not 0. One
    /// draw for every cell, as here, is the definition; a release jumps over the cells without a
    /// count, with the same law.
    fn reports(
        &mut self,
        touched: Touched<'_>,
        steps: u64,
        threshold: i64,
        law: &ThresholdReports,
    ) -> Vec<Reported> {
        law.cell_by_cell(touched, steps, threshold, self)
    }

    /// A secret coin, for sampling records.
    fn keep(&mut self, coin: Coin) -> bool {
        self.draw(Law::Keep { coin }) == 1
    }

    /// How many of so many cells come before the next hit, all of them if there is none. One secret coin for every cell, as here, is
    /// the definition.
    fn gap(&mut self, hits: &RareHits, cells: u128) -> u128 {
        let hit = Ratio::new(1, 1 << hits.exponent()).expect("above 2^-96");
        (0..cells).find(|_| self.keep(Coin::Rational(hit))).unwrap_or(cells)
    }
}

/// Draws of a release: exact samplers on a cryptographic generator.
#[derive(Debug)]
pub struct SecureSource<'a, R: CryptoRng + ?Sized> {
    bits: SecureBits<'a, R>,
}

impl<'a, R: CryptoRng + ?Sized> SecureSource<'a, R> {
    /// Draws from `rng` for as long as the borrow lasts.
    pub fn new(rng: &'a mut R) -> Self {
        Self { bits: SecureBits::new(rng) }
    }
}

impl<R: CryptoRng + ?Sized> Source for SecureSource<'_, R> {
    fn draw(&mut self, law: Law<'_>) -> i64 {
        let bits = &mut self.bits;
        match law {
            Law::Choice { scores, rate } => {
                i64::try_from(choose_exponentially(bits, scores, rate).expect(CANDIDATES))
                    .expect("an index fits")
            }
            Law::Flip { scores, rate } => {
                i64::try_from(permute_and_flip(bits, scores, rate).expect(CANDIDATES))
                    .expect("an index fits")
            }
            Law::SparseChoice { scores, rate } => {
                i64::try_from(scores.choose(bits, rate)).expect("below 2^62")
            }
            Law::Noisy { value, noise } => add(value, noise.sample(bits)),
            Law::Exceeds { value, threshold, noise } => {
                i64::from(i128::from(value).saturating_add(noise.sample(bits)) > threshold.into())
            }
            Law::Report { value, threshold, noise } => {
                noise.noisy(value, bits).max(threshold.saturating_sub(1))
            }
            Law::Keep { coin } => i64::from(coin.toss(bits)),
        }
    }

    fn reports(
        &mut self,
        touched: Touched<'_>,
        steps: u64,
        threshold: i64,
        law: &ThresholdReports,
    ) -> Vec<Reported> {
        law.by_jumps(touched, steps, threshold, JumpSizes::default(), self)
    }

    fn gap(&mut self, hits: &RareHits, cells: u128) -> u128 {
        hits.gap(&mut self.bits).min(cells)
    }

    fn choose_among_zeros(&mut self, candidates: usize, _: SelectionRule, rate: Ratio) -> usize {
        let scores = SparseScores::new(candidates as u64, []);
        usize::try_from(self.choose_sparse(&scores, rate)).expect("below a usize")
    }

    fn noisy_max(&mut self, scores: &[i64], noise: Geometric) -> (usize, i64) {
        let (index, value) = noisy_max_with_value(&mut self.bits, scores, noise).expect(CANDIDATES);
        (index, add(0, value))
    }

    fn noisy_vector(&mut self, values: &mut [i64], noise: DiscreteGaussian) {
        for value in values {
            *value = add(*value, noise.sample(&mut self.bits));
        }
    }
}

/// A count as a value to add noise to, cut at the end of `i64`: a cut moves by no more than the count does.
pub(crate) fn value_of(count: u64) -> i64 {
    i64::try_from(count).unwrap_or(i64::MAX)
}

/// The sum, cut at the ends of `i64`.
pub(crate) fn add(value: i64, noise: i128) -> i64 {
    let sum = i128::from(value).saturating_add(noise);
    i64::try_from(sum).unwrap_or(if sum < 0 { i64::MIN } else { i64::MAX })
}

impl Noise {
    fn sample<B: Bits + ?Sized>(self, bits: &mut B) -> i128 {
        match self {
            Self::Laplace(laplace) => laplace.sample(bits),
            Self::Gaussian(gaussian) => gaussian.sample(bits),
            Self::Rounded(rounded) => rounded.sample(bits),
        }
    }
}

impl Coin {
    fn toss<B: Bits + ?Sized>(self, bits: &mut B) -> bool {
        let parts = |r: Ratio| -> (u128, NonZero<u128>) { (r.numerator(), r.denominator()) };
        match self {
            Self::Rational(p) => bernoulli(bits, parts(p).0, parts(p).1),
            Self::OneMinusExp(x) => !bernoulli_exp(bits, parts(x).0, parts(x).1),
            Self::ScaledExp { shift, numerator, denominator } => {
                bernoulli_exp_scaled(bits, shift, numerator, denominator)
            }
            // Of two alternating coins, of 1/2 and of the exponential, the first that decides is the first one.
            Self::Logistic(x) => bits.retry(|bits| {
                let half = bits.below(NonZero::new(2).expect("not zero")) == 0;
                if half {
                    Some(true)
                } else {
                    bernoulli_exp(bits, parts(x).0, parts(x).1).then_some(false)
                }
            }),
        }
    }
}

#[cfg(test)]
mod tests {
    use dp_noise::ChaCha20Rng;
    use rand::SeedableRng;

    use super::*;

    /// A value that wrapped around would move by everything when its count moves by 1.
    #[test]
    fn values_stop_at_the_ends() {
        let end = i64::MAX as u64;
        assert_eq!(
            [end - 1, end, end + 1, u64::MAX].map(value_of),
            [i64::MAX - 1, i64::MAX, i64::MAX, i64::MAX]
        );
        for (value, noise, sum) in [
            (i64::MAX, 1, i64::MAX),
            (i64::MAX, -1, i64::MAX - 1),
            (i64::MIN, -1, i64::MIN),
            (3, i128::MAX, i64::MAX),
            (-3, i128::MIN, i64::MIN),
            (3, -5, -2),
        ] {
            assert_eq!(add(value, noise), sum, "{value} and {noise}");
        }
    }

    /// How far below the threshold a silent value is, nobody learns.
    #[test]
    fn silence_is_one_value() {
        let mut rng = ChaCha20Rng::seed_from_u64(1);
        let mut source = SecureSource::new(&mut rng);
        let scale = Ratio::new(3, 1).expect("valid");
        let noise = ReportNoise::TwoSided(DiscreteLaplace::new(scale).expect("positive"));
        let drawn: std::collections::BTreeSet<i64> =
            (0..500).map(|_| source.draw(Law::Report { value: 4, threshold: 6, noise })).collect();
        assert!(drawn.len() > 3 && drawn.first() == Some(&5), "{drawn:?}");
    }
}
