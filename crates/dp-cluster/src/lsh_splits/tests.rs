//! Settings, odd data, receipts, and the tree against a plain one.
#![allow(clippy::disallowed_methods, reason = "a test may look")]

use dp_accounting::{Budget, Epsilon};
use dp_geometry::{Points, PublicBall};
use dp_mechanism::{Draws, Mechanism, Private, SecureSource};
use rand::RngExt;

use super::codes::Codes;
use super::tree::Records;
use super::{BudgetSplit, Form, LshSplits, LshSplitsSettings};
use crate::ClusterError;
use crate::metrics::squared_inertia;
use crate::sized_sum::NO_GROUP;
use crate::testing::{adversarial, blobs, rng};

fn ball(dim: usize, radius: f64) -> PublicBall {
    PublicBall::new(vec![0.0; dim], radius).expect("valid")
}

fn budget(epsilon: f64) -> Budget {
    Budget::new(epsilon, 1e-6).expect("valid")
}

fn planned(dim: usize, k: usize, settings: LshSplitsSettings) -> Result<LshSplits, ClusterError> {
    LshSplits::new(ball(dim, 10.0 * (dim as f64).sqrt()), k, budget(1.0), settings)
}

#[test]
fn settings_out_of_range_are_refused_with_their_value() {
    let gaussian = |counts| BudgetSplit::Gaussian { counts, sums: 1.0 };
    let pure = Budget::new(1.0, 0.0).expect("a pure budget");
    let d = LshSplitsSettings::default();
    let of = |settings| planned(2, 2, settings);
    for (plan, want) in [
        (planned(2, 0, d), "the number of clusters must lie between 1 and 16777216, got 0"),
        (of(LshSplitsSettings { depth: 0, ..d }), "depth must be between 1 and 32, got 0"),
        (of(LshSplitsSettings { depth: 33, ..d }), "depth must be between 1 and 32, got 33"),
        (
            of(LshSplitsSettings { least_leaf: -0.0, ..d }),
            "least_leaf must be above 0 and at most 1e6, got -0",
        ),
        (
            of(LshSplitsSettings { least_leaf: f64::NAN, ..d }),
            "least_leaf must be above 0 and at most 1e6, got NaN",
        ),
        (
            of(LshSplitsSettings { split: gaussian(0.0), ..d }),
            "counts must be a finite share above 0, got 0",
        ),
        (
            of(LshSplitsSettings { split: gaussian(f64::INFINITY), ..d }),
            "counts must be a finite share above 0, got inf",
        ),
        (
            of(LshSplitsSettings { split: BudgetSplit::Joint { count_noise: f64::NAN }, ..d }),
            "count_noise must be between 0.01 and 1e6, got NaN",
        ),
        (
            LshSplits::new(ball(2, 1.0), 2, pure, d),
            "delta must be above 0: the sums have Gaussian noise, got 0",
        ),
        (
            LshSplits::new(ball(2, 1e80), 2, budget(1.0), d),
            "the public ball's extent must be at most 1e75, \
             got 1e80",
        ),
    ] {
        assert_eq!(plan.expect_err("out of range").to_string(), want);
    }
    let plan = planned(3, 2, LshSplitsSettings::default()).expect("valid");
    let two = Points::new(vec![0.0; 4], 2).expect("whole rows");
    let error = plan.simulate(two.view(), &mut rng(1)).expect_err("wrong shape");
    let want = "the points have 2 coordinates each, the public domain has 3 dimensions";
    assert_eq!(error.to_string(), want);
}

/// Whatever the records, at most `k` centres come out, all of them in the ball.
#[test]
fn odd_data_is_released_like_any_other() {
    for dim in [1, 2, 7] {
        for settings in [
            planned(dim, 3, LshSplitsSettings::default()),
            planned(dim, 5_000, LshSplitsSettings::default()),
            planned(
                dim,
                40,
                LshSplitsSettings {
                    form: Form::Published,
                    split: BudgetSplit::PAPER,
                    depth: 32,
                    ..Default::default()
                },
            ),
            LshSplits::new(
                ball(dim, 10.0),
                8,
                budget(100.0),
                LshSplitsSettings { least_leaf: 1e-6, ..Default::default() },
            ),
            LshSplits::new(
                ball(dim, 1e-140),
                8,
                Budget::new(1e-3, 1e-12).expect("valid"),
                LshSplitsSettings::default(),
            ),
        ] {
            let plan = settings.expect("valid");
            let (domain, k) = (plan.asked.public_ball.clone(), plan.asked.k);
            for (name, points) in adversarial(dim, 1_000) {
                let output = plan.simulate(points.view(), &mut rng(3)).expect("it fits").output;
                let centres = output.centres.view();
                assert!((1..=k).contains(&centres.len()), "{name}: {}", centres.len());
                assert!(centres.rows().all(|centre| domain.contains(centre)), "{name}");
                assert!(
                    output
                        .coreset
                        .as_ref()
                        .expect("there is one")
                        .points()
                        .rows()
                        .all(|leaf| domain.contains(leaf)),
                    "{name}"
                );
                assert!(
                    output
                        .coreset
                        .as_ref()
                        .expect("there is one")
                        .weights()
                        .iter()
                        .all(|&w| w >= 1.0),
                    "{name}"
                );
            }
        }
    }
}

#[test]
fn many_dimensions_and_far_away_balls() {
    let plan = planned(784, 10, LshSplitsSettings::default()).expect("valid");
    for (name, points) in adversarial(784, 60) {
        let output = plan.simulate(points.view(), &mut rng(4)).expect("it fits").output;
        assert!(output.centres.view().rows().all(|c| plan.asked.public_ball.contains(c)), "{name}");
    }
    let far = PublicBall::new(vec![1e9, -1e9], 3.0).expect("valid");
    let plan =
        LshSplits::new(far.clone(), 2, budget(1.0), LshSplitsSettings::default()).expect("valid");
    let coords = (0..20_000).map(|i| if i % 2 == 0 { 1e9 + 1.0 } else { -1e9 - 1.0 }).collect();
    let points = Points::new(coords, 2).expect("whole rows");
    let output = plan.simulate(points.view(), &mut rng(4)).expect("it fits").output;
    assert!(output.centres.view().rows().all(|c| far.contains(c)));
    assert!(squared_inertia(points.view(), output.centres.view()).unwrap() < 10_000.0 * 0.1);
}

/// The receipt stays within the budget to the last digit, whatever the settings.
#[test]
fn receipts_stay_within_the_budget() {
    let mut rng = rng(5);
    for i in 0..1_000_usize {
        let epsilon = 10_f64.powf(rng.random_range(-2.0..2.0));
        let delta = 10_f64.powf(rng.random_range(-15.0..-1.0));
        let split = if i % 20 == 0 {
            BudgetSplit::Joint { count_noise: rng.random_range(3.0..40.0) }
        } else {
            BudgetSplit::Gaussian {
                counts: rng.random_range(0.01..1.0),
                sums: rng.random_range(0.01..1.0),
            }
        };
        let budget = Budget::new(epsilon, delta).expect("valid");
        let settings = LshSplitsSettings { split, depth: 1 + i % 32, ..Default::default() };
        let plan =
            LshSplits::new(ball(1 + i % 5, 1.0), 2, budget, settings).expect("valid settings");
        let receipt = plan.receipt();
        let spent = receipt.epsilon().map_or(f64::INFINITY, Epsilon::get);
        assert!(receipt.within_budget(), "{epsilon} {delta} {split:?}: {spent}");
        assert!(spent > 0.99 * epsilon, "{epsilon} {delta} {split:?}: {spent} leaves much unused");
    }
}

/// Noise multipliers of the published form that a public implementation is known to reach
/// (4.34, 5.02 and 5.64 for `n = 1e4, 1e5, 1e6`, `epsilon = 1`, `delta = n^-1.5`, depth 20).
#[test]
fn joint_calibration_gives_the_known_noise() {
    for (n, want) in [(1e4_f64, 4.34), (1e5, 5.02), (1e6, 5.64)] {
        let budget = Budget::new(1.0, n.powf(-1.5)).expect("valid");
        let settings = LshSplitsSettings { split: BudgetSplit::PAPER, ..Default::default() };
        let got = LshSplits::new(ball(2, 1.0), 2, budget, settings)
            .expect("valid")
            .sum_noise_multiplier();
        assert!((got - want).abs() < 0.01, "{n}: {got}");
    }
}

/// The same tree by filtering lists of records, one hyperplane at a time.
#[test]
fn the_tree_equals_a_plain_one() {
    let (points, _) = blobs(5_000, 3, 6, 8.0, 6);
    for form in [Form::Improved, Form::Published] {
        let plan = planned(3, 6, LshSplitsSettings { form, ..Default::default() }).expect("valid");
        let codes = Codes::new(plan.asked.public_ball.clone(), 20, 0).of(points.view());
        let plain = plain_tree(&plan, &codes, 7);
        let (mut rng, records) = (rng(7), Private::owned(Records::of_codes(&codes, 20)));
        let tree = plan.grow(records, &mut Draws::unplanned(&mut SecureSource::new(&mut rng)));
        assert!(tree.noisy_counts.len() > 10);
        let leaf_of: Vec<u32> = codes.iter().map(|&code| tree.fates.leaf(code)).collect();
        assert_eq!((&leaf_of, tree.noisy_counts, tree.least_count), (&plain.0, plain.1, plain.2));
        let dropped = leaf_of.iter().filter(|&&leaf| leaf == NO_GROUP).count();
        assert_eq!(form == Form::Improved, dropped == 0, "{dropped} records in no leaf");
    }
}

fn plain_tree(plan: &LshSplits, codes: &[u32], seed: u64) -> (Vec<u32>, Vec<i64>, i64) {
    let mut rng = rng(seed);
    let mut draws = SecureSource::new(&mut rng);
    let mut count = |level: usize, records: &[usize]| {
        plan.primitives.counts[level]
            .release(records.len() as u64, &mut Draws::unplanned(&mut draws))
    };
    let all: Vec<usize> = (0..codes.len()).collect();
    let total = count(0, &all);
    let least_count = plan.least_count(total);
    let (mut open, mut leaves) = (vec![(all, total)], Vec::new());
    for level in 0..plan.asked.settings.depth {
        let mut next = Vec::new();
        for (records, size) in open {
            if size < 3 * least_count {
                leaves.push((records, size));
                continue;
            }
            let (right, left): (Vec<usize>, Vec<usize>) =
                records.iter().partition(|&&i| codes[i] >> level & 1 == 1);
            let (left_size, right_size) = (count(level + 1, &left), count(level + 1, &right));
            match (left_size >= least_count, right_size >= least_count) {
                (true, true) => next.extend([(left, left_size), (right, right_size)]),
                (false, false) => leaves.push((records, size)),
                _ if plan.asked.settings.form == Form::Improved => next.push((records, size)),
                (true, false) => next.push((left, left_size)),
                (false, true) => next.push((right, right_size)),
            }
        }
        open = next;
    }
    leaves.extend(open);
    let mut leaf_of = vec![NO_GROUP; codes.len()];
    for (leaf, (records, _)) in (0..).zip(&leaves) {
        for &i in records {
            leaf_of[i] = leaf;
        }
    }
    (leaf_of, leaves.into_iter().map(|leaf| leaf.1).collect(), least_count)
}

#[test]
fn threads_do_not_matter() {
    let (points, _) = blobs(3_000, 9, 5, 8.0, 8);
    let plan = planned(9, 5, LshSplitsSettings::default()).expect("valid");
    let with = |threads| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().expect("threads");
        pool.install(|| plan.simulate(points.view(), &mut rng(9)).expect("it fits").output)
    };
    assert_eq!(with(1), with(3));
}

#[test]
fn a_plan_is_read_back_through_its_checks() {
    let settings =
        LshSplitsSettings { public_seed: 9, split: BudgetSplit::PAPER, ..Default::default() };
    let plan = planned(2, 4, settings).expect("valid");
    let text = serde_json::to_string(&plan).expect("serialises");
    assert_eq!(serde_json::from_str::<LshSplits>(&text).expect("valid"), plan);
    let broken = text.replace("\"k\":4", "\"k\":0");
    assert_ne!(broken, text);
    assert!(serde_json::from_str::<LshSplits>(&broken).is_err());
}

/// Ten well-separated clusters: the improved form is near their own spread (each point's
/// coordinates have variance 1, so 4 per point), the published one far above it.
#[test]
fn clusters_are_found_and_the_improvements_help() {
    let (points, _) = blobs(30_000, 4, 10, 10.0, 10);
    let inertia = |form, split| -> f64 {
        let one = |seed| {
            let settings =
                LshSplitsSettings { form, split, public_seed: seed, ..Default::default() };
            let plan = planned(4, 10, settings).expect("valid");
            let output = plan.simulate(points.view(), &mut rng(seed)).expect("it fits").output;
            squared_inertia(points.view(), output.centres.view()).unwrap()
        };
        (0..5).map(one).sum::<f64>() / 5.0
    };
    let improved = inertia(Form::Improved, BudgetSplit::default());
    let published = inertia(Form::Published, BudgetSplit::PAPER);
    assert!(improved < 3.0 * 120_000.0, "{improved:.3e}");
    assert!(published > 1.2 * improved, "{published:.3e} against {improved:.3e}");
}
