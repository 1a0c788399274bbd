//! Counts of keys that nobody can list: a key is kept if its noisy count reaches a threshold.

use std::collections::BTreeMap;
use std::num::NonZeroU32;

use dp_accounting::{Delta, Loss, Mu, Step, normal_tail};
use dp_noise::RoundedGaussian;

use crate::rational::{mu_of_square, square_at_most, to_f64};
use crate::source::value_of;
use crate::{Draws, MechanismError, Noise, Private};

/// A stability-based histogram: noisy counts of the keys that records bring along, without those below a threshold.
///
/// # Guarantee
/// A change of one record, which moves the counts of at most `keys` keys by 1 each, costs `mu`-Gaussian-DP outside of a mass `delta`
/// ([`Step::outside`]). On keys that both data sets have, the noise is that of the Gaussian mechanism for a vector that changes by a length of
/// `sqrt(keys)`. A key that only one of the two has is there with a count of 1, and shows with probability at most `delta / keys`: give
/// the other data set a draw of the same law for it, which is within `delta / keys` of silence.
///
/// # Utility
/// A kept count is off by [`standard_deviation`](Self::standard_deviation); a key with fewer records than the
/// [`threshold`](Self::threshold) is rarely kept. About `sqrt(2 keys ln(keys / delta)) / mu` records are lost to it.
///
/// # Complexity
/// A draw for each key that some record has.
///
/// # Precision
/// Exact integers: noise is the nearest integer to a normal variable, the variance is rounded up, and the threshold is the least integer
/// whose tail is below `delta / keys`.
///
/// # Source
/// Korolova, Kenthapadi, Mishra, Ntoulas (2009); Bun, Nissim, Stemmer (2016); with Gaussian noise, Wilkins, Kifer, Zhang, Karrer (2024).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct StableHistogram {
    noise: RoundedGaussian,
    mu: Mu,
    delta: Delta,
    threshold: i64,
}

/// A key and its noisy count, which reaches the threshold.
pub type Kept<K> = (K, i64);

impl StableHistogram {
    /// For records that are one key each if `keys` is 1 and neighbours have a record more or less; 2 if a record is replaced.
    ///
    /// # Errors
    /// [`MechanismError`] if `mu` or `delta` is zero, or so small that noise or threshold do not fit an integer.
    pub fn new(mu: Mu, delta: Delta, keys: NonZeroU32) -> Result<Self, MechanismError> {
        if delta == Delta::ZERO {
            return Err(MechanismError::NotPositive { name: "delta of a histogram" });
        }
        let name = "mu of a histogram";
        if mu == Mu::ZERO {
            return Err(MechanismError::NotPositive { name });
        }
        let too_much = MechanismError::TooMuchNoise { name, got: mu.get() };
        let square = square_at_most(mu).ok_or(too_much)?;
        let keys_ratio = dp_noise::Ratio::new(keys.get().into(), 1).map_err(|_| too_much)?;
        let variance = square.recip().and_then(|one| one.checked_mul(keys_ratio));
        let noise =
            variance.and_then(|variance| RoundedGaussian::new(variance).ok()).ok_or(too_much)?;
        // Rounded down by more than the division can go up.
        let each = delta.get() / f64::from(keys.get()) * (1.0 - 4.0 * f64::EPSILON);
        let threshold = threshold(noise, each).ok_or(too_much)?;
        Ok(Self { noise, mu: mu_of_square(square), delta, threshold })
    }

    /// What a receipt says: a step of this name, whose one draw is the leaf `leaf`.
    pub fn step(&self, name: impl Into<String>, leaf: impl Into<String>) -> Step {
        Step::outside(name, self.delta, Step::spend(leaf, self.loss()))
    }

    /// What the counts cost outside of the mass.
    pub fn loss(&self) -> Loss {
        Loss::Gaussian { mu: self.mu }
    }

    /// The least noisy count that is kept.
    pub fn threshold(&self) -> i64 {
        self.threshold
    }

    /// Of a kept count, in records.
    pub fn standard_deviation(&self) -> f64 {
        (to_f64(self.noise.variance()) + 1.0 / 12.0).sqrt()
    }

    /// The keys whose noisy counts reach the threshold, in their order. A count of 0 is none.
    pub fn release<K: Ord + Clone>(
        &self,
        counts: Private<&BTreeMap<K, u64>>,
        draws: &mut Draws<'_>,
    ) -> Vec<Kept<K>> {
        let counts = counts.into_draw();
        let source = draws.charge(self.loss());
        let mut kept = Vec::new();
        for (key, &count) in counts.iter().filter(|(_, count)| **count > 0) {
            let noisy = source.noisy(value_of(count), Noise::Rounded(self.noise));
            if noisy >= self.threshold {
                kept.push((key.clone(), noisy));
            }
        }
        kept
    }
}

/// The least integer that a count of 1 with this noise reaches with probability at most `delta`.
fn threshold(noise: RoundedGaussian, delta: f64) -> Option<i64> {
    const MOST: i64 = 1 << 40;
    // The variance of a ratio with 64-bit parts is off by a few units; a wider noise only raises the threshold.
    let deviation = to_f64(noise.variance()).sqrt() * (1.0 + 8.0 * f64::EPSILON);
    let rare = |at: i64| {
        // 1 + round(x) >= at if and only if x >= at - 3/2, up to ties.
        let z = (at as f64 - 1.5) / deviation;
        normal_tail(z * (1.0 - 8.0 * f64::EPSILON)).get() <= delta
    };
    let (mut low, mut high) = (1, 2);
    while !rare(high) {
        (low, high) = (high, high.checked_mul(2).filter(|high| *high <= MOST)?);
    }
    while high - low > 1 {
        let middle = low + (high - low) / 2;
        if rare(middle) { high = middle } else { low = middle }
    }
    Some(high)
}

#[cfg(test)]
mod tests {
    use dp_noise::ChaCha20Rng;
    use rand::SeedableRng;

    use super::*;
    use crate::SecureSource;

    fn histogram(mu: f64, delta: f64, keys: u32) -> StableHistogram {
        let (mu, delta) = (Mu::new(mu).expect("valid"), Delta::new(delta).expect("valid"));
        StableHistogram::new(mu, delta, NonZeroU32::new(keys).expect("not 0")).expect("in range")
    }

    /// For any number of keys that one record may bring: squares of their changes add up.
    #[test]
    fn noise_is_for_all_keys_of_a_record() {
        for keys in [1, 2, 64, 65, 1_000, 1 << 20] {
            let variance = histogram(0.5, 1e-9, keys).standard_deviation().powi(2) - 1.0 / 12.0;
            let wanted = f64::from(keys) / 0.25;
            assert!((0.0..1e-6).contains(&(variance / wanted - 1.0)), "{keys}: {variance}");
        }
    }

    /// The threshold is where the tail crosses delta: one less would be too low.
    #[test]
    fn thresholds_are_the_least() {
        for (mu, delta, keys) in [(0.2, 1e-7, 1), (0.2, 1e-7, 2), (3.0, 0.1, 1), (1e-3, 1e-12, 50)]
        {
            let histogram = histogram(mu, delta, keys);
            let deviation = f64::from(keys).sqrt() / mu;
            let tail = |at: i64| normal_tail((at as f64 - 1.5) / deviation).get();
            let each = delta / f64::from(keys);
            assert!(tail(histogram.threshold()) <= each * (1.0 + 1e-9), "{mu} {delta}");
            assert!(tail(histogram.threshold() - 1) > each, "{mu} {delta}");
        }
    }

    /// Deltas within the last digits of a tail: each of the three margins alone decides whether the threshold is one higher.
    #[test]
    fn roundings_go_to_the_higher_threshold() {
        const DIGIT: f64 = f64::EPSILON;
        for (mu, keys) in [(0.2, 3), (0.01, 7), (1e-3, 50)] {
            let noise = histogram(mu, 0.1, keys).noise;
            let deviation = to_f64(noise.variance()).sqrt();
            for z in 3..=7 {
                let at = threshold(noise, normal_tail(f64::from(z)).get()).expect("moderate");
                let tail = |less| normal_tail((at as f64 - 1.5) / deviation * (1.0 - less)).get();
                // Deviation and argument give 8 units each; with one of the two the tail would be below this.
                assert_eq!(threshold(noise, tail(12.0 * DIGIT)), Some(at + 1), "{mu} {at}");
                // The least delta per key for which it is this one, and a division that went up.
                let enough = |delta: f64| threshold(noise, delta) == Some(at);
                let mut each = tail(15.0 * DIGIT);
                while !enough(each) {
                    each = each.next_up();
                }
                while enough(each.next_down()) {
                    each = each.next_down();
                }
                let delta = each * f64::from(keys) * (1.0 + 2.0 * DIGIT);
                assert_eq!(histogram(mu, delta, keys).threshold, at + 1, "{mu} {at}");
            }
        }
    }

    /// Neighbours of an empty list are lists of one key, whether or not somebody left a 0 behind.
    #[test]
    fn a_key_of_nobody_is_as_if_it_were_not_there() {
        let mut rng = ChaCha20Rng::seed_from_u64(1);
        let plan = histogram(0.01, 0.5, 1);
        let counts = BTreeMap::from([(1, 0), (2, 0)]);
        let shown = (0..1_000).map(|_| {
            let source = &mut SecureSource::new(&mut rng);
            plan.release(Private::new(&counts), &mut Draws::unplanned(source)).len()
        });
        assert_eq!(shown.sum::<usize>(), 0);
    }

    #[test]
    fn settings_that_cannot_be_kept_are_refused() {
        let build = |mu, delta| {
            let (mu, delta) = (Mu::new(mu).expect("valid"), Delta::new(delta).expect("valid"));
            StableHistogram::new(mu, delta, NonZeroU32::MIN).expect_err("refused").to_string()
        };
        assert_eq!(build(0.0, 0.1), "mu of a histogram must be > 0, got 0");
        assert_eq!(build(0.1, 0.0), "delta of a histogram must be > 0, got 0");
        assert!(build(1e-12, 0.1).contains("mu of a histogram"));
    }
}
