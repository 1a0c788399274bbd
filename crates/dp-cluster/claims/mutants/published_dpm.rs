//! DPM as published: something is put between the real code and its draws, or a score is taken as
//! it was printed.

use std::num::NonZero;

use crate::neighbours::one_more;
use dp_accounting::{AnyRelation, Budget};
use dp_audit::harness::{Effort, Found, MutantCode};
use dp_audit::{choice_log_probabilities, compare, statistical};
use dp_cluster::Clustering;
use dp_cluster::dpm::{Dpm, DpmSettings};
use dp_geometry::{Points, PublicBox};
use dp_mechanism::{
    ChaCha20Rng, DiscreteGaussian, Geometric, Law, Mechanism, Noise, Ratio, SecureSource, Source,
};
use rand::SeedableRng;

use crate::dpm::{gaps, splits};
use crate::rings;

pub(crate) fn code() -> [MutantCode; 5] {
    [
        (
            "M1",
            |effort| splits::worst_cut(effort, 2, with_printed_sensitivity),
            |effort| splits::worst_cut(effort, 2, splits::honest),
        ),
        (
            "M1-sampled",
            |effort| {
                splits::sampled_cut(effort, with_printed_sensitivity, with_printed_sensitivity)
            },
            |effort| splits::sampled_cut(effort, splits::honest, with_printed_sensitivity),
        ),
        (
            "M2",
            |effort| gaps::estimated_interval(effort, gaps::averaged_by_position),
            |effort| gaps::estimated_interval(effort, splits::honest),
        ),
        (
            "M3",
            |effort| empty_leaves(effort, without_noise_when_empty),
            |effort| empty_leaves(effort, splits::honest),
        ),
        (
            "M4",
            |_| clamp_mismatch(|noisy_count| noisy_count),
            |_| clamp_mismatch(|noisy_count| noisy_count.max(1.0)),
        ),
    ]
}

/// The printed calibration divides by the sensitivity `t/q + alpha` where the range
/// `2 t/q + alpha` belongs, so every choice is steeper by `12.2 / 8.6`.
pub(crate) fn with_printed_sensitivity(
    dpm: &Dpm,
    points: &Points,
    draws: &mut dyn Source,
) -> Clustering {
    struct Steeper<'a>(&'a mut dyn Source);
    impl Source for Steeper<'_> {
        fn promised(&mut self, relation: Option<AnyRelation>) {
            self.0.promised(relation);
        }

        fn draw(&mut self, law: Law<'_>) -> i64 {
            self.0.draw(match law {
                Law::Choice { scores, rate } => {
                    let factor = Ratio::new(122, 86).expect("valid");
                    let rate = rate.checked_mul(factor).expect("in range");
                    Law::Choice { scores, rate }
                }
                other => other,
            })
        }
        fn noisy_vector(&mut self, values: &mut [i64], noise: DiscreteGaussian) {
            self.0.noisy_vector(values, noise);
        }

        fn noisy_max(&mut self, scores: &[i64], noise: Geometric) -> (usize, i64) {
            self.0.noisy_max(scores, noise)
        }
    }
    dpm.replay(points.view(), &mut Steeper(draws)).0
}

/// The published code returns exactly zero for a leaf without points.
fn without_noise_when_empty(dpm: &Dpm, points: &Points, draws: &mut dyn Source) -> Clustering {
    struct Lazy<'a>(&'a mut dyn Source);
    impl Source for Lazy<'_> {
        fn promised(&mut self, relation: Option<AnyRelation>) {
            self.0.promised(relation);
        }

        fn draw(&mut self, law: Law<'_>) -> i64 {
            if is_of_sum(law) && matches!(law, Law::Noisy { value: 0, .. }) {
                return 0;
            }
            self.0.draw(law)
        }
        fn noisy_vector(&mut self, values: &mut [i64], noise: DiscreteGaussian) {
            self.0.noisy_vector(values, noise);
        }

        fn noisy_max(&mut self, scores: &[i64], noise: Geometric) -> (usize, i64) {
            self.0.noisy_max(scores, noise)
        }
    }
    dpm.replay(points.view(), &mut Lazy(draws)).0
}

/// Whether this is a number of the sum of a leaf.
fn is_of_sum(law: Law<'_>) -> bool {
    matches!(law, Law::Noisy { noise: Noise::Rounded(noise), .. } if rings::is_of_sum(noise))
}

/// Copies of one point, with and without a far one: do the runs draw alike? And if not, how often
/// does the far point alone make a second centre come out with noise?
fn empty_leaves(effort: Effort, through: splits::Through) -> Found {
    const N: usize = 1_000;
    let public_box = PublicBox::cube(1, -10.0, 10.0).expect("valid");
    let budget = Budget::new(1.0, (N as f64).powf(-1.5)).expect("valid");
    let dpm = Dpm::new(public_box, budget, DpmSettings::default()).expect("valid settings");
    let copies = vec![-8.1; N];
    let with = [copies.as_slice(), &[9.3]].concat();
    let [copies, with] = [copies, with].map(|coords| Points::new(coords, 1).expect("whole rows"));
    let mut rng = effort.rng(50);
    let mut found = Found::claim(dpm.receipt().zcdp().expect("all steps are zCDP").get());
    let runs = effort.of(200, 2_000);
    for _ in 0..runs {
        let run = |points: &Points, draws: &mut dyn Source| through(&dpm, points, draws);
        let comparison =
            compare(&one_more(), run, &with, &copies, &mut SecureSource::new(&mut rng));
        found.see(comparison.rho(), || "1,000 copies and one far point".to_owned());
    }
    if found.worst.is_infinite() {
        // The size of the hole: two noisy leaves cannot come from copies of one point.
        let hits = |points: &Points| {
            let seeds = (0..runs).map(|i| effort.seed ^ i << 20);
            seeds.filter(|&seed| noisy_leaves(&dpm, points, seed) >= 2).count() as u64
        };
        let delta = statistical::delta_lower_bound(hits(&with), hits(&copies), runs, 1.0);
        found.witness = format!("{}: delta is at least {delta:.3}", found.witness);
    }
    found
}

/// How many leaves have points, and so get noise, in one run of the mutant.
fn noisy_leaves(dpm: &Dpm, points: &Points, seed: u64) -> usize {
    struct Counting<'a> {
        draws: &'a mut dyn Source,
        noisy: usize,
    }
    impl Source for Counting<'_> {
        fn promised(&mut self, relation: Option<AnyRelation>) {
            self.draws.promised(relation);
        }

        fn draw(&mut self, law: Law<'_>) -> i64 {
            // On a line, a sum is one number.
            self.noisy += usize::from(is_of_sum(law));
            self.draws.draw(law)
        }
        fn noisy_vector(&mut self, values: &mut [i64], noise: DiscreteGaussian) {
            self.draws.noisy_vector(values, noise);
        }

        fn noisy_max(&mut self, scores: &[i64], noise: Geometric) -> (usize, i64) {
            self.draws.noisy_max(scores, noise)
        }
    }
    let mut rng = ChaCha20Rng::seed_from_u64(seed);
    let mut counting = Counting { draws: &mut SecureSource::new(&mut rng), noisy: 0 };
    without_noise_when_empty(dpm, points, &mut counting);
    counting.noisy
}

/// The printed score of a cut at small real noisy counts, for one point more in an empty node; the
/// range it is divided by always takes the count as at least 1, the score as `counted` says.
fn clamp_mismatch(counted: fn(f64) -> f64) -> Found {
    const EPSILON: f64 = 1.0;
    let mut found = Found::claim(EPSILON);
    let (slope, alpha) = (0.3 * 12.0, 5.0);
    let range = |noisy_count: f64| (2.0 * slope + alpha) / noisy_count.max(1.0);
    for tenths in 1..=20 {
        let noisy_count = f64::from(tenths) / 10.0;
        let n = counted(noisy_count);
        // Three cuts in two dimensions: left of the new point, around it, right of it. Beyond the
        // noisy count the outer line of centreness goes on below zero, as printed.
        let score =
            |rank: f64, inside: f64| slope * rank.min(n - rank) / n + alpha * (1.0 - inside / n);
        let without = [score(0.0, 0.0); 3];
        let with = [score(0.0, 0.0), score(1.0, 1.0), score(1.0, 0.0)];
        let units = 1_i64 << 30;
        #[allow(clippy::cast_possible_truncation, reason = "scores are below a thousand")]
        let integer = |scores: [f64; 3]| scores.map(|score| (score * units as f64).round() as i64);
        let denominator = (range(noisy_count) * units as f64).ceil();
        #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "positive")]
        let rate = Ratio::new(1, NonZero::new(denominator as u128).expect("positive").get());
        let loss = choice_loss(&integer(without), &integer(with), rate.expect("in range"));
        found.see(loss, || format!("noisy count {noisy_count}, no point against one"));
    }
    found
}

/// Largest log ratio, either way, of two choices with weights `exp(rate * score)`.
fn choice_loss(scores: &[i64], others: &[i64], rate: Ratio) -> f64 {
    let here = choice_log_probabilities(scores, rate);
    let there = choice_log_probabilities(others, rate);
    here.iter().zip(&there).map(|(p, q)| (p - q).abs()).fold(0.0, f64::max)
}
