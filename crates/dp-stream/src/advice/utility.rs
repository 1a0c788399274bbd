//! What can be promised about counts, in `f64`: for planning, never for a release.

use dp_accounting::Budget;

use crate::baselines::{CellMethod, scales};
use crate::{ItemOrder, StreamError};

/// From so many users on, a sample is taken for normal: that changes a probability of 1e-6 by a hundredth,
/// and the count that has it by less than one in a million.
const MANY: u64 = 1 << 24;

/// Sizes of a sample are taken together to so many ranges.
const SAMPLE_SIZES: usize = 40;
/// The order of a step is looked at in so many places.
const PLACES: u32 = 32;

/// How many items users show in a step, and how many of them count.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Crowd {
    pub(crate) shown: u32,
    pub(crate) counted: u32,
    pub(crate) order: ItemOrder,
}

impl Crowd {
    /// The share of its users who count for an item that this share of all items comes before, if their other items are as
    /// good as random: those of whose other items fewer come before it than count.
    fn share(self, before: f64) -> f64 {
        let others = f64::from(self.shown.saturating_sub(1));
        let mut probability = (1.0 - before).powf(others);
        let mut share = 0.0;
        for earlier in 0..self.counted {
            share += probability;
            let earlier = f64::from(earlier);
            probability *= (others - earlier) / (earlier + 1.0) * before / (1.0 - before);
        }
        share.clamp(0.0, 1.0)
    }
}

/// How a monitor reports one count.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Reporting {
    pub(crate) threshold: i64,
    /// Loss per report.
    pub(crate) each: f64,
    /// Of sampling.
    pub(crate) rate: f64,
    pub(crate) two_sided: bool,
}

impl Reporting {
    /// The probability that a count of sampled users is *not* reported.
    fn missed_sampled(&self, count: f64) -> f64 {
        let gap = self.threshold as f64 - count;
        let decay = (-self.each * gap.abs()).exp();
        let a = (-self.each).exp();
        match (self.two_sided, gap > 0.0) {
            (false, true) => -(-self.each * gap).exp_m1(),
            (false, false) => 0.0,
            (true, true) => 1.0 - decay / (1.0 + a),
            (true, false) => decay * a / (1.0 + a),
        }
    }

    /// The probability that a count of users is not reported.
    pub(crate) fn missed(&self, count: u64) -> f64 {
        match count {
            _ if self.rate >= 1.0 => self.missed_sampled(count as f64),
            0..MANY => self.missed_binomial(count as f64),
            _ => self.missed_normal(count as f64),
        }
    }

    /// As if the sample of so many users were normal: the mean of `(1 - e^(each (w - threshold)))+`.
    fn missed_normal(&self, n: f64) -> f64 {
        let deviation = (n * self.rate * (1.0 - self.rate)).sqrt();
        let z = (self.threshold as f64 - n * self.rate) / deviation;
        let tilt = self.each * deviation;
        let below = |z: f64| 0.5 * erfc(-z / std::f64::consts::SQRT_2);
        // e^((y^2 - z^2) / 2) Phi(y) for y = z - tilt, without large factors far below 0.
        let y = z - tilt;
        let reported = if y > -2.0 {
            (tilt * (0.5 * tilt - z)).exp() * below(y)
        } else {
            let root = std::f64::consts::TAU.sqrt();
            (-0.5 * z * z).exp() * mills(-y) / root
        };
        (below(z) - reported).clamp(0.0, 1.0)
    }

    fn missed_binomial(&self, n: f64) -> f64 {
        // The binomial from its mode outwards, so that no term underflows before it matters.
        let odds = self.rate / (1.0 - self.rate);
        let mode = ((n + 1.0) * self.rate).floor().min(n);
        let (mut total, mut missed) = (0.0, 0.0);
        for up in [true, false] {
            let (mut weight, mut w) = (1.0, mode);
            loop {
                if up || w < mode {
                    total += weight;
                    missed += weight * self.missed_sampled(w);
                }
                weight *= if up { (n - w) / (w + 1.0) * odds } else { w / (n - w + 1.0) / odds };
                w += if up { 1.0 } else { -1.0 };
                if weight < 1e-30 || w < 0.0 || w > n {
                    break;
                }
            }
        }
        missed / total
    }

    /// The probability that an item of `count` users is in no report of so many steps, in each of which all of
    /// them show it: an upper bound, close enough to read off what to expect.
    pub(crate) fn missed_within(&self, count: u64, steps: u64, crowd: Crowd) -> f64 {
        let repeats = steps as f64;
        let sampled = |kept: u64| self.missed_of_sample(kept, crowd).powf(repeats);
        if self.rate >= 1.0 {
            return sampled(count);
        }
        // The sample is drawn once, so steps are independent given it. More users are not missed more often, so a
        // range of sizes is missed at most as often as its smallest.
        let n = count as f64;
        if count >= MANY {
            let deviation = (n * self.rate * (1.0 - self.rate)).sqrt();
            #[allow(
                clippy::cast_possible_truncation,
                clippy::cast_sign_loss,
                reason = "from 0 to the count"
            )]
            return sampled((n * self.rate - 9.0 * deviation) as u64);
        }
        let sizes = self.sizes(n);
        let total: f64 = sizes.iter().map(|(_, weight)| weight).sum();
        let range = |sizes: &[(u64, f64)]| {
            let weight: f64 = sizes.iter().map(|(_, weight)| weight).sum();
            weight * sampled(sizes[0].0)
        };
        sizes.chunks(sizes.len().div_ceil(SAMPLE_SIZES)).map(range).sum::<f64>() / total
    }

    /// The least probability that an item of so many users is reported within so many steps from the first of a stream on, whatever else its users show:
    /// none of them may have run out of reports in these steps.
    ///
    /// Where all items count, and where every user has an order of their own, other items change nothing. Where all users share one order, they decide
    /// together: the share of users for whom the item comes early enough can be anything whose mean over orders is `counted / shown`. What is reported is not
    /// convex in that share, so that the bound is the largest convex function below, at the mean. It is of the first step alone, as items that have been
    /// reported come before all others afterwards.
    pub(crate) fn found_whatever(&self, count: u64, steps: u64, crowd: Crowd) -> f64 {
        if crowd.shown <= crowd.counted || crowd.order == ItemOrder::Spread {
            return 1.0 - self.missed_within(count, steps, crowd);
        }
        let mean = f64::from(crowd.counted) / f64::from(crowd.shown);
        let share = |place: u32| f64::from(place) / f64::from(PLACES);
        // Between two places at least as many are found as at the lower one.
        let found = |place: u32| match place.saturating_sub(1) {
            0 => 0.0,
            lower => {
                #[allow(
                    clippy::cast_possible_truncation,
                    clippy::cast_sign_loss,
                    reason = "at most the count"
                )]
                let of_share = (share(lower) * count as f64).floor() as u64;
                1.0 - self.missed(of_share)
            }
        };
        let points: Vec<(f64, f64)> =
            (0..=PLACES).map(|place| (share(place), found(place))).collect();
        let (below, above): (Vec<_>, Vec<_>) = points.into_iter().partition(|(at, _)| *at <= mean);
        let between = |&(a, of_a): &(f64, f64), &(b, of_b): &(f64, f64)| {
            of_a + (mean - a) / (b - a) * (of_b - of_a)
        };
        below
            .iter()
            .flat_map(|a| above.iter().map(move |b| between(a, b)))
            .fold(1.0, f64::min)
            .clamp(0.0, 1.0)
    }

    /// How large a sample of so many users is: sizes in order with their weights, but for those of a billionth of the largest and
    /// less, which are left out.
    fn sizes(&self, n: f64) -> Vec<(u64, f64)> {
        let odds = self.rate / (1.0 - self.rate);
        let mode = ((n + 1.0) * self.rate).floor().min(n);
        let from_mode = |up: bool| {
            std::iter::successors(Some((mode, 1.0)), move |&(size, weight): &(f64, f64)| {
                let next = if up {
                    (size + 1.0, weight * (n - size) / (size + 1.0) * odds)
                } else {
                    (size - 1.0, weight * size / (n - size + 1.0) / odds)
                };
                (next.1 > 1e-9).then_some(next)
            })
        };
        #[allow(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "from 0 to the count"
        )]
        let whole = |(size, weight): (f64, f64)| (size as u64, weight);
        let mut sizes: Vec<(u64, f64)> = from_mode(false).skip(1).map(whole).collect();
        sizes.reverse();
        sizes.extend(from_mode(true).map(whole));
        sizes
    }

    /// The probability that an item of so many sampled users, who all show it, is not reported in one step, on average over
    /// where it comes in the order of the step.
    fn missed_of_sample(&self, kept: u64, crowd: Crowd) -> f64 {
        if crowd.shown <= crowd.counted {
            return self.missed_sampled(kept as f64);
        }
        let missed_at = |share| Self { rate: share, ..*self }.missed(kept);
        let missed =
            |place: u32| missed_at(crowd.share((f64::from(place) + 0.5) / f64::from(PLACES)));
        match crowd.order {
            ItemOrder::ReportedFirst => (0..PLACES).map(missed).sum::<f64>() / f64::from(PLACES),
            // The items that count of each user are a sample of those shown.
            ItemOrder::Spread => missed_at(f64::from(crowd.counted) / f64::from(crowd.shown)),
        }
    }

    /// The smallest count that is missed with probability at most `miss` within so many steps; `u64::MAX` if there is none.
    pub(crate) fn smallest_count_within(&self, steps: u64, crowd: Crowd, miss: f64) -> u64 {
        let found = |count| self.missed_within(count, steps, crowd) <= miss;
        if miss > 0.0 { smallest(found) } else { u64::MAX }
    }

    /// The smallest count that is missed with probability at most `miss`; `u64::MAX` if there is none.
    pub(crate) fn smallest_count(&self, miss: f64) -> u64 {
        if miss > 0.0 { smallest(|count| self.missed(count) <= miss) } else { u64::MAX }
    }
}

/// The upper tail of symmetric noise, as if it were continuous.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Tail {
    /// Of this standard deviation.
    Gaussian(f64),
    /// Sum of Laplace noises: one of the first scale, so many of the second.
    Laplace(f64, f64, u8),
}

impl Tail {
    pub(crate) fn of(
        method: CellMethod,
        budget: Budget,
        k: u8,
        steps: u64,
    ) -> Result<Self, StreamError> {
        let (own, other) = scales(budget, method, k, steps)?;
        Ok(match method {
            CellMethod::KaplanStyle { spread: 0 } => Self::Laplace(own, own, 0),
            CellMethod::KaplanStyle { .. } => Self::Laplace(own, other, 2),
            CellMethod::GaussianHistograms => Self::Gaussian(own),
            CellMethod::SparseVector { .. } => Self::Laplace(own, other, 1),
        })
    }

    /// `Pr[noise >= x]` for `x >= 0`.
    ///
    /// Sums of Laplace noises by partial fractions of `1 / ((1 + a^2 u) (1 + b^2 u)^n)`. Scales that
    /// are (nearly) equal are taken apart by a thousandth, which changes the tail by as little.
    pub(crate) fn above(self, x: f64) -> f64 {
        match self {
            Self::Gaussian(deviation) => 0.5 * erfc(x / deviation / std::f64::consts::SQRT_2),
            Self::Laplace(a, b, others) => {
                let b = if (a / b - 1.0).abs() < 1e-3 { a * 1.001 } else { b };
                let (p, q) = (a * a, b * b);
                let one = |scale: f64| 0.5 * (-x / scale).exp();
                let two = |scale: f64| 0.25 * (2.0 + x / scale) * (-x / scale).exp();
                match others {
                    0 => one(a),
                    1 => (p * one(a) - q * one(b)) / (p - q),
                    _ => {
                        let first = (p / (p - q)).powi(2);
                        let double = -q / (p - q);
                        first * one(a) + (1.0 - first - double) * one(b) + double * two(b)
                    }
                }
            }
        }
    }

    /// The smallest whole number that the noise reaches with probability at most `p`.
    pub(crate) fn quantile(self, p: f64) -> i64 {
        i64::try_from(smallest(|x| self.above(x as f64) <= p)).unwrap_or(i64::MAX)
    }
}

/// The complementary error function by its continued fraction, or the series below 2.
fn erfc(x: f64) -> f64 {
    if x < 0.0 {
        return 2.0 - erfc(-x);
    }
    let square = x * x;
    if x < 2.0 {
        let (mut term, mut sum, mut n) = (x, x, 0.0);
        while term.abs() > 1e-17 {
            n += 1.0;
            term *= -square / n;
            sum += term / (2.0 * n + 1.0);
        }
        return 1.0 - sum * std::f64::consts::FRAC_2_SQRT_PI;
    }
    let fraction = (1..=60).rev().fold(0.0, |tail, n| f64::from(n) / 2.0 / (x + tail));
    (-square).exp() / (std::f64::consts::PI.sqrt() * (x + fraction))
}

/// The upper tail of the normal law over its density, from 2 on.
fn mills(x: f64) -> f64 {
    let fraction = (1..=80).rev().fold(0.0, |tail, n| f64::from(n) / (x + tail));
    (x + fraction).recip()
}

/// The smallest number that satisfies a monotone condition; `u64::MAX` if none up to 2^61 does.
pub(crate) fn smallest(holds: impl Fn(u64) -> bool) -> u64 {
    let mut high = 1_u64;
    while !holds(high) {
        if high > u64::MAX / 8 {
            return u64::MAX;
        }
        high *= 2;
    }
    let mut low = 0;
    while low < high {
        let middle = low + (high - low) / 2;
        if holds(middle) { high = middle } else { low = middle + 1 }
    }
    low
}

#[cfg(test)]
mod tests {
    use super::*;
    use approx::{assert_abs_diff_eq, assert_relative_eq};

    #[test]
    fn without_noise_a_count_is_missed_as_often_as_its_sample_falls_short() {
        let exact = Reporting { threshold: 3, each: 1e3, rate: 0.5, two_sided: false };
        assert_abs_diff_eq!(exact.missed(4), 11.0 / 16.0, epsilon = 1e-12);
        assert_abs_diff_eq!(exact.missed(2), 1.0, epsilon = 1e-12);
        let all = Reporting { rate: 1.0, ..exact };
        assert_eq!((all.missed(3), all.smallest_count(1e-6)), (0.0, 3));
    }

    /// Against sums of the laws themselves, in steps of a sixteenth of a unit.
    #[test]
    fn tails_are_those_of_the_convolutions() {
        let unit = 16.0;
        let laplace = |scale: f64| -> Vec<f64> {
            (-1600..=1600).map(|z: i32| (-f64::from(z.abs()) / unit / scale).exp()).collect()
        };
        let normal = |law: Vec<f64>| -> Vec<f64> {
            let total: f64 = law.iter().sum();
            law.into_iter().map(|p| p / total).collect()
        };
        let convolve = |a: &[f64], b: &[f64]| -> Vec<f64> {
            let mut sum = vec![0.0; a.len() + b.len() - 1];
            for (i, p) in a.iter().enumerate() {
                for (j, q) in b.iter().enumerate() {
                    sum[i + j] += p * q;
                }
            }
            sum
        };
        let (one, two) = (normal(laplace(1.0)), normal(laplace(3.0)));
        let both = convolve(&one, &two);
        let three = convolve(&both, &two);
        for (law, tail) in [
            (&one, Tail::Laplace(1.0, 1.0, 0)),
            (&both, Tail::Laplace(1.0, 3.0, 1)),
            (&three, Tail::Laplace(1.0, 3.0, 2)),
        ] {
            for x in [0_u32, 2, 7, 20] {
                let middle = law.len() / 2;
                let from = middle + 16 * x as usize;
                let summed: f64 = law[from + 1..].iter().sum::<f64>() + law[from] / 2.0;
                let found = tail.above(f64::from(x));
                assert!((found / summed - 1.0).abs() < 5e-3, "{tail:?} at {x}: {found} {summed}");
            }
        }
    }

    /// Where both are at hand, the normal form against the sum over the binomial.
    #[test]
    fn large_samples_are_nearly_normal() {
        for (threshold, each, rate) in
            [(600_000_i64, 0.3, 0.6), (90_000, 1e-3, 0.09), (5_000, 1e-4, 0.5)]
        {
            let law = Reporting { threshold, each, rate, two_sided: false };
            let smallest_by = |missed: &dyn Fn(f64) -> f64, miss: f64| {
                smallest(|count| count > 0 && missed(count as f64) <= miss) as f64
            };
            for miss in [0.3, 1e-3, 1e-6] {
                let exact = smallest_by(&|n| law.missed_binomial(n), miss);
                let normal = smallest_by(&|n| law.missed_normal(n), miss);
                assert!((normal / exact - 1.0).abs() < 1e-4, "{law:?}: {normal} {exact}");
            }
        }
    }

    /// One step and no more items than count: the same question in two ways.
    #[test]
    fn found_within_one_step_is_found_in_a_step() {
        let alone = Crowd { shown: 1, counted: 1, order: ItemOrder::ReportedFirst };
        for (threshold, each, rate) in
            [(12, 1.3, 0.63), (4, 4.0, 0.98), (200, 0.1, 0.63), (9, 0.5, 1.0)]
        {
            let law = Reporting { threshold, each, rate, two_sided: false };
            for count in [1, 2, 5, 12, 30, 400] {
                let (exact, bound) = (law.missed(count), law.missed_within(count, 1, alone));
                let close = bound >= exact - 1e-8 && bound <= 1.5 * exact + 1e-2;
                assert!(close, "{law:?} of {count}: {bound} for {exact}");
            }
            let smallest = law.smallest_count_within(1, alone, 0.05);
            assert!((smallest as f64) <= 1.1 * law.smallest_count(0.05) as f64 + 1.0);
            assert!(law.smallest_count_within(3, alone, 0.05) <= smallest);
        }
    }

    #[test]
    fn shares_of_a_crowd_are_binomial() {
        let crowd = Crowd { shown: 4, counted: 2, order: ItemOrder::ReportedFirst };
        // None or one of three others below .25.
        assert_abs_diff_eq!(crowd.share(0.25), 0.421_875 + 0.421_875, epsilon = 1e-12);
        assert_abs_diff_eq!(crowd.share(1e-9), 1.0, epsilon = 1e-6);
        assert!(Crowd { shown: 3, counted: 3, ..crowd }.share(0.9) > 1.0 - 1e-12);
    }

    /// An item that is among the first of half of its users and the last of all others is found as often as it is counted, at least; one of nearly
    /// no users never.
    #[test]
    fn what_is_found_whatever_others_do_is_between_nothing_and_the_share_that_is_counted() {
        let crowd = Crowd { shown: 4, counted: 2, order: ItemOrder::ReportedFirst };
        let law = Reporting { threshold: 12, each: 1.3, rate: 1.0, two_sided: false };
        let found = [1, 20, 100, 10_000].map(|count| law.found_whatever(count, 1, crowd));
        assert!(found[0] < 1e-3 && found.is_sorted(), "{found:?}");
        assert!(found[2] > 0.4 && (0.48..=0.5).contains(&found[3]), "{found:?}");
        let spread = Crowd { order: ItemOrder::Spread, ..crowd };
        assert!(law.found_whatever(100, 1, spread) > 1.0 - 1e-9);
    }

    #[test]
    fn gaussian_tails_match_known_values() {
        for (x, p) in [(0.0, 0.5), (1.0, 0.158_655_254), (3.0, 1.349_898e-3), (6.0, 9.865_876e-10)]
        {
            assert_relative_eq!(Tail::Gaussian(2.0).above(2.0 * x), p, max_relative = 1e-6);
        }
        assert_eq!(Tail::Gaussian(1.0).quantile(1e-9), 6);
    }

    #[test]
    fn two_sided_noise_at_the_threshold_misses_less_than_half() {
        let each = 2_f64.ln();
        let tests = Reporting { threshold: 10, each, rate: 1.0, two_sided: true };
        // a = 1/2: silence at the threshold has probability a / (1 + a) = 1/3, below it 1 - 1/3 * ...
        assert_abs_diff_eq!(tests.missed(10), 1.0 / 3.0, epsilon = 1e-12);
        assert_abs_diff_eq!(tests.missed(9), 1.0 - 0.5 / 1.5, epsilon = 1e-12);
        assert_eq!(smallest(|n| n >= 1000), 1000);
        assert_eq!(smallest(|n| n >= 1), 1);
        assert_eq!((smallest(|_| true), smallest(|_| false)), (0, u64::MAX));
    }
}
