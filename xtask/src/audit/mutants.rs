//! Deliberately broken variants, most of them as published, each with its corrected twin.
//!
//! A mutant is made by putting something between the real code and its draws, or by a score as it
//! was printed. Nothing here can be reached from a library crate.

use std::num::NonZero;

use dp_accounting::Budget;
use dp_audit::{compare, statistical};
use dp_cluster::dpm::{Clustering, Dpm};
use dp_geometry::{Points, PublicBox};
use dp_mechanism::{ChaCha20Rng, DiscreteGaussian, Draws, Law, Mechanism, Ratio, SecureDraws};
use rand::SeedableRng;

use super::check::{Effort, Found, MutantCheck};
use super::primitives::choice_loss;
use super::{gaps, splits};

pub(super) fn all() -> Vec<MutantCheck> {
    vec![
        MutantCheck {
            id: "M1",
            what: "DPM cuts with exp(eps f / sensitivity), as printed",
            layer: "exact",
            expected: 1.4186,
            mutant: |effort| splits::worst_cut(effort, 2, with_printed_sensitivity),
            twin: |effort| splits::worst_cut(effort, 2, splits::honest),
        },
        MutantCheck {
            id: "M1-sampled",
            what: "the same by 60,000 samples, on the pair with the most evidence per run",
            layer: "statistical",
            expected: 1.29,
            mutant: |effort| {
                splits::sampled_cut(effort, with_printed_sensitivity, with_printed_sensitivity)
            },
            twin: |effort| splits::sampled_cut(effort, splits::honest, with_printed_sensitivity),
        },
        MutantCheck {
            id: "M2",
            what: "DPM interval size from gaps averaged position by position, as published",
            layer: "range",
            expected: 8.46,
            mutant: gaps::averaged_by_position,
            twin: gaps::estimated_interval,
        },
        MutantCheck {
            id: "M3",
            what: "DPM with an exact zero for the sum of an empty leaf, as in the published code",
            layer: "exact",
            expected: f64::INFINITY,
            mutant: |effort| empty_leaves(effort, without_noise_when_empty),
            twin: |effort| empty_leaves(effort, splits::honest),
        },
        MutantCheck {
            id: "M4",
            what: "DPM cuts with a noisy count clamped in the range but not in the score",
            layer: "range",
            expected: 1.88,
            mutant: |_| clamp_mismatch(|noisy_count| noisy_count),
            twin: |_| clamp_mismatch(|noisy_count| noisy_count.max(1.0)),
        },
    ]
}

/// The printed calibration divides by the sensitivity `t/q + alpha` where the range
/// `2 t/q + alpha` belongs, so every choice is steeper by `12.2 / 8.6`.
pub(super) fn with_printed_sensitivity(
    dpm: &Dpm,
    points: &Points,
    draws: &mut dyn Draws,
) -> Clustering {
    struct Steeper<'a>(&'a mut dyn Draws);
    impl Draws for Steeper<'_> {
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
    }
    dpm.run(points.view(), &mut Steeper(draws))
}

/// The published code returns exactly zero for a leaf without points.
fn without_noise_when_empty(dpm: &Dpm, points: &Points, draws: &mut dyn Draws) -> Clustering {
    struct Lazy<'a>(&'a mut dyn Draws);
    impl Draws for Lazy<'_> {
        fn draw(&mut self, law: Law<'_>) -> i64 {
            self.0.draw(law)
        }
        fn noisy_vector(&mut self, values: &mut [i64], noise: DiscreteGaussian) {
            if values.iter().any(|value| *value != 0) {
                self.0.noisy_vector(values, noise);
            }
        }
    }
    dpm.run(points.view(), &mut Lazy(draws))
}

/// Copies of one point, with and without a far one: do the runs draw alike? And if not, how often
/// does the far point alone make a second centre come out with noise?
fn empty_leaves(effort: Effort, through: splits::Through) -> Found {
    const N: usize = 1_000;
    let public_box = PublicBox::cube(1, -10.0, 10.0).expect("valid");
    let budget = Budget::new(1.0, (N as f64).powf(-1.5)).expect("valid");
    let dpm = Dpm::builder(public_box, budget).build().expect("valid settings");
    let copies = vec![-8.1; N];
    let with = [copies.as_slice(), &[9.3]].concat();
    let [copies, with] = [copies, with].map(|coords| Points::new(coords, 1).expect("whole rows"));
    let mut rng = effort.rng(50);
    let mut found = Found::claim(dpm.receipt().zcdp().expect("all steps are zCDP").get());
    let runs = effort.of(200, 2_000);
    for _ in 0..runs {
        let run = |points: &Points, draws: &mut dyn Draws| through(&dpm, points, draws);
        let comparison = compare(run, &with, &copies, &mut SecureDraws::new(&mut rng));
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
        draws: &'a mut dyn Draws,
        noisy: usize,
    }
    impl Draws for Counting<'_> {
        fn draw(&mut self, law: Law<'_>) -> i64 {
            self.draws.draw(law)
        }
        fn noisy_vector(&mut self, values: &mut [i64], noise: DiscreteGaussian) {
            self.noisy += 1;
            self.draws.noisy_vector(values, noise);
        }
    }
    let mut rng = ChaCha20Rng::seed_from_u64(seed);
    let mut counting = Counting { draws: &mut SecureDraws::new(&mut rng), noisy: 0 };
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
