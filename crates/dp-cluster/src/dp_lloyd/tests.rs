//! Settings, odd data, receipts, and an iteration without noise against a plain one.

use dp_accounting::{Budget, Epsilon};
use dp_geometry::{Points, PublicBox};
use dp_mechanism::{DiscreteGaussian, Geometric, Law, Mechanism, Source};
use rand::RngExt;

use super::{BudgetSplit, DpLloyd, DpLloydSettings};
use crate::ClusterError;
use crate::nearest;
use crate::testing::{adversarial, blobs, rng};

fn cube(dim: usize) -> PublicBox {
    PublicBox::cube(dim, -10.0, 10.0).expect("valid")
}

fn budget(epsilon: f64) -> Budget {
    Budget::new(epsilon, 1e-6).expect("valid")
}

fn planned(dim: usize, k: usize, settings: DpLloydSettings) -> Result<DpLloyd, ClusterError> {
    DpLloyd::new(cube(dim), k, budget(1.0), settings)
}

#[test]
fn settings_out_of_range_are_refused_with_their_value() {
    let none = Budget::new(1.0, 0.0).expect("a pure budget");
    let start = |coords: Vec<f64>| Points::new(coords, 2).expect("whole rows");
    for (plan, want) in [
        (planned(2, 0, DpLloydSettings::default()), "k must be between 1 and 65536, got 0"),
        (
            planned(2, 65_537, DpLloydSettings::default()),
            "k must be between 1 and 65536, got 65537",
        ),
        (
            planned(2, 2, DpLloydSettings { iterations: Some(0), ..Default::default() }),
            "iterations must be between 1 and 1000, got 0",
        ),
        (
            DpLloyd::new(cube(2), 2, none, DpLloydSettings::default()),
            "delta must be above 0: the sums have Gaussian noise, unless the split is `Pure`, got 0",
        ),
        (
            planned(
                2,
                2,
                DpLloydSettings { start: Some(start(vec![0.0; 6])), ..Default::default() },
            ),
            "start must be k centres, got 3",
        ),
        (
            planned(
                2,
                1,
                DpLloydSettings { start: Some(start(vec![11.0, 0.0])), ..Default::default() },
            ),
            "every coordinate must be a number between +-1e75",
        ),
        (
            planned(
                3,
                1,
                DpLloydSettings { start: Some(start(vec![1.0, 0.0])), ..Default::default() },
            ),
            "the points have 2 coordinates each, the public domain has 3 dimensions",
        ),
    ] {
        assert_eq!(plan.expect_err("out of range").to_string(), want);
    }
    assert!(
        DpLloyd::new(
            cube(2),
            2,
            none,
            DpLloydSettings { split: BudgetSplit::Pure, ..Default::default() }
        )
        .is_ok()
    );
}

/// Whatever the records, `k` centres come out, all of them in the box.
#[test]
fn odd_data_is_released_like_any_other() {
    for dim in [1, 2, 7] {
        for settings in [
            planned(dim, 3, DpLloydSettings::default()),
            planned(dim, 1_500, DpLloydSettings { iterations: Some(2), ..Default::default() }),
            planned(dim, 5, DpLloydSettings { split: BudgetSplit::Pure, ..Default::default() }),
            DpLloyd::new(cube(dim), 8, budget(100.0), DpLloydSettings::default()),
            DpLloyd::new(
                cube(dim),
                8,
                Budget::new(1e-4, 1e-12).expect("valid"),
                DpLloydSettings::default(),
            ),
        ] {
            let plan = settings.expect("valid");
            for (name, points) in adversarial(dim, 1_000) {
                let output = plan.simulate(points.view(), &mut rng(3)).expect("it fits").output;
                assert_eq!(output.centres.len(), plan.asked.k, "{name}");
                assert_eq!(output.counts.len(), plan.asked.k, "{name}");
                assert!(output.centres.view().rows().all(|c| cube(dim).contains(c)), "{name}");
                assert!(output.counts.iter().all(|&count| count >= 0), "{name}");
            }
        }
    }
    let plan = planned(784, 10, DpLloydSettings::default()).expect("valid");
    for (name, points) in adversarial(784, 60) {
        let output = plan.simulate(points.view(), &mut rng(4)).expect("it fits").output;
        assert!(output.centres.view().rows().all(|c| cube(784).contains(c)), "{name}");
    }
}

/// The receipt stays within the budget to the last digit and uses it, whatever the settings.
#[test]
fn receipts_stay_within_the_budget() {
    let mut rng = rng(5);
    for i in 0..1_000_usize {
        let epsilon = 10_f64.powf(rng.random_range(-2.0..2.0));
        let delta = 10_f64.powf(rng.random_range(-15.0..-1.0));
        let split = if i % 2 == 0 { BudgetSplit::Joint } else { BudgetSplit::Pure };
        let delta = if split == BudgetSplit::Pure && i % 3 == 0 { 0.0 } else { delta };
        let settings =
            DpLloydSettings { split, iterations: Some(1 + i % 12), ..Default::default() };
        let plan = DpLloyd::new(
            cube(1 + i % 9),
            1 + i % 4,
            Budget::new(epsilon, delta).expect("valid"),
            settings,
        )
        .expect("valid settings");
        let receipt = plan.receipt();
        let spent = receipt.epsilon().map_or(f64::INFINITY, Epsilon::get);
        assert!(receipt.within_budget(), "{epsilon} {delta} {split:?}: {spent}");
        let pure = receipt.pure().map_or(0.0, Epsilon::get);
        assert!(spent.max(pure) > 0.99 * epsilon, "{epsilon} {delta} {split:?}: {spent}");
    }
}

/// All iterations are one Gaussian mechanism, whose noise the exact curve allows to be 4.2247 sensitivities; zCDP would ask for 4.531.
#[test]
fn the_budget_is_that_of_one_gaussian_mechanism() {
    for iterations in [1, 7] {
        let budget = Budget::new(1.0, 1e-6).expect("valid");
        let settings = DpLloydSettings { iterations: Some(iterations), ..Default::default() };
        let plan = DpLloyd::new(cube(2), 4, budget, settings);
        let mu = plan.expect("valid").receipt().gaussian().expect("nothing but sums").get();
        assert!((1.0 / mu - 4.224_678_889).abs() < 1e-6, "{iterations}: {}", 1.0 / mu);
    }
}

/// A source of draws that adds nothing.
struct Silent;

impl Source for Silent {
    fn draw(&mut self, law: Law<'_>) -> i64 {
        let Law::Noisy { value, .. } = law else { unreachable!("only sizes and sums are drawn") };
        value
    }

    fn noisy_vector(&mut self, _values: &mut [i64], _noise: DiscreteGaussian) {}

    fn noisy_max(&mut self, _: &[i64], _: Geometric) -> (usize, i64) {
        unreachable!("nothing draws a noisy maximum")
    }
}

/// Without noise it is Lloyd's iteration, up to the grid.
#[test]
fn without_noise_it_is_lloyd() {
    let (points, _) = blobs(3_000, 3, 4, 6.0, 6);
    for split in [BudgetSplit::Joint, BudgetSplit::Pure] {
        let settings = DpLloydSettings { split, iterations: Some(3), ..Default::default() };
        let plan = planned(3, 4, settings).expect("valid");
        let output = plan.replay(points.view(), &mut Silent).0;
        let mut centres = plan.start.clone();
        for _ in 0..3 {
            let least = 2.0 * plan.primitives.size_standard_deviation();
            centres = plain_iteration(&points, &centres, least);
        }
        let pairs = output.centres.view().coords().iter().zip(centres.view().coords());
        assert!(pairs.clone().all(|(a, b)| (a - b).abs() < 1e-4), "{pairs:?}");
        assert!(output.counts.iter().sum::<i64>() == 3_000);
    }
}

fn plain_iteration(points: &Points, centres: &Points, least: f64) -> Points {
    // The noisy form clips first, as it must.
    let coords = points.view().coords().iter().map(|x| x.clamp(-10.0, 10.0)).collect();
    let points = Points::new(coords, centres.dim()).expect("whole rows");
    let labels = nearest(points.view(), centres.view()).unwrap().labels;
    let mut coords = Vec::new();
    for (j, old) in (0..).zip(centres.view().rows()) {
        let members: Vec<&[f64]> =
            points.view().rows().zip(&labels).filter(|m| *m.1 == j).map(|m| m.0).collect();
        let size = members.len() as f64;
        for (i, old) in old.iter().enumerate() {
            let sum: f64 = members.iter().map(|row| row[i]).sum();
            // Fewer than this are within the noise of a size: the centre stays.
            coords.push(if size < least { *old } else { sum / size });
        }
    }
    Points::new(coords, centres.dim()).expect("whole rows")
}

#[test]
fn threads_do_not_matter() {
    let (points, _) = blobs(3_000, 9, 5, 8.0, 8);
    let plan = planned(9, 5, DpLloydSettings::default()).expect("valid");
    let with = |threads| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().expect("threads");
        pool.install(|| plan.simulate(points.view(), &mut rng(9)).expect("it fits").output)
    };
    assert_eq!(with(1), with(3));
}

#[test]
fn a_plan_is_read_back_through_its_checks() {
    let settings =
        DpLloydSettings { public_seed: 9, split: BudgetSplit::Pure, ..Default::default() };
    let plan = planned(2, 4, settings).expect("valid");
    let text = serde_json::to_string(&plan).expect("serialises");
    assert_eq!(serde_json::from_str::<DpLloyd>(&text).expect("valid"), plan);
    let broken = text.replace("\"k\":4", "\"k\":0");
    assert_ne!(broken, text);
    assert!(serde_json::from_str::<DpLloyd>(&broken).is_err());
}

#[test]
fn the_number_of_iterations_follows_public_numbers() {
    let iterations = |records, epsilon| {
        let settings = DpLloydSettings { expected_records: Some(records), ..Default::default() };
        DpLloyd::new(cube(2), 4, budget(epsilon), settings).expect("valid").iterations()
    };
    assert_eq!(planned(2, 4, DpLloydSettings::default()).expect("valid").iterations(), 5);
    assert_eq!((iterations(100, 1.0), iterations(1_000_000, 1.0)), (2, 7));
    assert!(iterations(1_000, 0.1) <= iterations(1_000, 10.0));
}

#[test]
fn starts_are_spread_out_and_do_not_look_at_the_data() {
    let plan = planned(2, 9, DpLloydSettings::default()).expect("valid");
    let start = plan.start().view();
    let closest = (0..9)
        .flat_map(|i| (0..i).map(move |j| (i, j)))
        .map(|(i, j)| crate::nearest::squared_distance(&start[i], &start[j]).sqrt())
        .fold(f64::INFINITY, f64::min);
    // Nine places on a grid would be 20/3 apart; uniform ones are within about 1 of each other.
    assert!(closest > 3.0, "{closest}");
    let settings = DpLloydSettings { public_seed: 1, ..Default::default() };
    let other = planned(2, 9, settings).expect("valid");
    assert_ne!(plan.start(), other.start());
}
