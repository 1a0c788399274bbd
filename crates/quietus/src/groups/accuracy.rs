//! How far what is released is from the truth, from the noise alone.

use super::{GroupPlan, Noisy};
use dp_accounting::Loss;
use dp_mechanism::GeometricSum;

/// Where the truth is, in 95 of 100 releases at least.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Interval {
    /// From here,
    pub low: f64,
    /// to here, both included.
    pub high: f64,
}

/// A released number.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Estimate {
    /// What was released.
    pub value: f64,
    /// Of its noise.
    pub standard_error: f64,
    /// Around the truth.
    pub interval: Interval,
    /// Whether noise alone does not explain it.
    pub signal: bool,
}

/// How often an interval may miss.
const MISS: f64 = 0.05;

impl GroupPlan {
    /// The standard error of every count, and the distance that its noise exceeds in 5 of 100 releases at most.
    pub fn count_error(&self) -> (f64, f64) {
        let (count, _) = self.noise();
        (count.variance().sqrt(), quantile(&count))
    }

    /// The standard error of the mean of a group of so many records whose numbers lie in the middle of the range.
    pub fn mean_error(&self, records: f64) -> Option<f64> {
        let (grid, sum) = (self.grid()?, self.noise().1?);
        Some(sum.variance().sqrt() / records * grid.cell_width(0) / 2.0)
    }

    /// Every count, group after group.
    pub fn counts(&self, noisy: &Noisy) -> Vec<Estimate> {
        let (standard_error, miss) = self.count_error();
        let estimate = |&count: &i64| {
            let value = count as f64;
            let interval = Interval { low: (value - miss).max(0.0), high: (value + miss).max(0.0) };
            Estimate { value, standard_error, interval, signal: value > miss }
        };
        noisy.counts.iter().map(estimate).collect()
    }

    /// The mean of every group, empty where no mean was asked for.
    ///
    /// A mean is a noisy sum over a noisy count. Its error is that of the first order, and 95 of 100 errors of two-sided exponential noise,
    /// or of a sum of two, lie within 2.12 times that. Where the count is not clearly above its own noise nothing is known about the mean:
    /// the interval is the whole range.
    pub fn means(&self, noisy: &Noisy) -> Vec<Estimate> {
        let (Some(grid), (count, Some(sum))) = (self.grid(), self.noise()) else {
            return Vec::new();
        };
        let (low, high) = (grid.public_box().min(0), grid.public_box().max(0));
        // From steps around the middle to the column's own unit.
        let unit = grid.cell_width(0) / 2.0;
        let middle = grid.public_box().middle(0);
        let (count_sd, sum_sd) = (count.variance().sqrt(), sum.variance().sqrt());
        let estimate = |(&records, &steps): (&i64, &i64)| {
            let signal = records as f64 > CLEARLY * count_sd;
            if !signal {
                let value = middle;
                let standard_error = (high - low) / 2.0;
                return Estimate {
                    value,
                    standard_error,
                    interval: Interval { low, high },
                    signal,
                };
            }
            let records = records as f64;
            let mean = (steps as f64 / records).clamp(-(Self::HALF as f64), Self::HALF as f64);
            let standard_error = sum_sd.hypot(mean * count_sd) / records * unit;
            let value = middle + mean * unit;
            let miss = FACTOR * standard_error + grid.cell_width(0);
            let interval =
                Interval { low: (value - miss).max(low), high: (value + miss).min(high) };
            Estimate { value, standard_error, interval, signal }
        };
        noisy.counts.iter().zip(&noisy.sums).map(estimate).collect()
    }
}

/// A count below this many standard errors says nothing about a mean.
const CLEARLY: f64 = 10.0;

/// `ln 20 / sqrt 2`: the 95 % point of two-sided exponential noise in standard deviations.
const FACTOR: f64 = 2.119;

/// The smallest `t` with `Pr[|Z| > t] = 2 a^(t+1) / (1 + a)` at most 5 %.
fn quantile(noise: &GeometricSum) -> f64 {
    let rate = match noise.loss() {
        Loss::Pure { epsilon } => epsilon.get(),
        _ => unreachable!("geometric noise has a pure loss"),
    };
    let a = (-rate).exp();
    (((MISS * (1.0 + a) / 2.0).ln() / -rate).ceil() - 1.0).max(0.0)
}

#[cfg(test)]
mod tests {
    use super::super::{GroupSettings, Measure};
    use super::*;
    use dp_mechanism::{ChaCha20Rng, Mechanism};
    use rand::SeedableRng;

    fn plan(measure: Measure, epsilon: f64) -> GroupPlan {
        let (by, person, groups) = (None, None, vec![String::new()]);
        GroupPlan::new(GroupSettings { by, person, groups, measure, dates: false, epsilon })
            .unwrap()
    }

    /// The share of 2,000 releases whose interval holds the truth: at 95 % it is within 1.5 of that in all but 1 of 500 seeds.
    fn coverage(
        plan: &GroupPlan,
        values: &[f64],
        truth: f64,
        of: impl Fn(&Noisy) -> Estimate,
    ) -> f64 {
        let mut tally = plan.tally();
        for value in values {
            assert!(plan.add(&mut tally, Some(0), Some(*value)));
        }
        let mut rng = ChaCha20Rng::seed_from_u64(1);
        let held = (0..2_000).filter(|_| {
            let release = plan.simulate(&tally, &mut rng).unwrap();
            let Interval { low, high } = of(&release.output).interval;
            (low..=high).contains(&truth)
        });
        held.count() as f64 / 2_000.0
    }

    #[test]
    fn intervals_hold_their_level() {
        let values: Vec<f64> = (0..500).map(|i| f64::from(i % 80)).collect();
        for epsilon in [0.1, 0.5, 1.0] {
            let count = plan(Measure::Count, epsilon);
            let share = coverage(&count, &values, 500.0, |noisy| count.counts(noisy)[0]);
            assert!((0.93..=0.98).contains(&share), "counts at {epsilon}: {share}");
        }
        let truth = values.iter().sum::<f64>() / 500.0;
        // The middle far from the mean, so that the noise of counts matters too; and near it.
        for bounds in [(0.0, 100.0), (0.0, 1000.0), (-200.0, 80.0)] {
            let mean = plan(Measure::Mean { column: "x".to_owned(), bounds }, 1.0);
            let share = coverage(&mean, &values, truth, |noisy| mean.means(noisy)[0]);
            assert!((0.93..=0.98).contains(&share), "means in {bounds:?}: {share}");
        }
    }

    #[test]
    fn a_small_group_says_nothing_about_its_mean() {
        let plan = plan(Measure::Mean { column: "x".to_owned(), bounds: (0.0, 10.0) }, 1.0);
        let few = plan.means(&Noisy { counts: vec![3], sums: vec![1 << 40] })[0];
        assert_eq!((few.signal, few.interval), (false, Interval { low: 0.0, high: 10.0 }));
        let many = plan.means(&Noisy { counts: vec![1_000], sums: vec![0] })[0];
        assert!(many.signal && (many.value - 5.0).abs() < 1e-9 && many.interval.high < 5.1);
    }

    /// What a plan says is what a release will say, and noise is for all that a record can move a sum by.
    #[test]
    fn a_plan_says_the_error_of_a_mean_as_its_release_does() {
        let plan = plan(Measure::Mean { column: "x".to_owned(), bounds: (0.0, 10.0) }, 1.0);
        let said = plan.mean_error(1_000.0).unwrap();
        let released = plan.means(&Noisy { counts: vec![1_000], sums: vec![0] })[0].standard_error;
        assert!((said / released - 1.0).abs() < 1e-9, "{said} {released}");
        let mut tally = plan.tally();
        plan.add(&mut tally, Some(0), Some(10.0));
        // Of geometric noise for so many steps at three quarters of epsilon.
        let a = (-0.75 / tally.sums[0] as f64).exp();
        let variance = 2.0 * a / (1.0 - a).powi(2);
        let sum = plan.noise().1.unwrap().variance();
        assert!((sum / variance - 1.0).abs() < 1e-3, "{sum} {variance}");
    }

    #[test]
    fn the_quantile_is_where_the_tail_has_five_percent() {
        for epsilon in [0.01, 0.3, 1.0, 5.0] {
            let (_, t) = plan(Measure::Count, epsilon).count_error();
            let a = (-epsilon).exp();
            let tail = |t: f64| 2.0 * a.powf(t + 1.0) / (1.0 + a);
            assert!(tail(t) <= 0.05 * (1.0 + 1e-9));
            assert!(t == 0.0 || tail(t - 1.0) > 0.05, "{epsilon}: {t}");
        }
    }
}
