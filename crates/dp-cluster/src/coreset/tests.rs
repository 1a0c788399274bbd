//! The mechanism and what its coresets are good for.

use dp_accounting::{Budget, Epsilon};
use dp_geometry::Points;
use dp_mechanism::Mechanism;
use rand::RngExt;

use super::{CoresetFromCentres, CoresetFromCentresSettings, PrivateCoreset, WeightRule};
use crate::metrics::{inertia, squared_inertia};
use crate::nearest;
use crate::testing::{adversarial, blobs, rng};

fn points(coords: Vec<f64>, dim: usize) -> Points {
    Points::new(coords, dim).expect("whole rows")
}

#[test]
fn every_centre_gets_a_weight_whatever_the_records() {
    for dim in [1, 3, 784] {
        let centres = points((0..5 * dim).map(|i| (i % 7) as f64 - 3.0).collect(), dim);
        for rule in [WeightRule::Clamp, WeightRule::Threshold, WeightRule::Simplex] {
            for delta in [0.0, 1e-6] {
                let budget = Budget::new(0.5, delta).expect("valid");
                let settings = CoresetFromCentresSettings { weight_rule: rule };
                let plan =
                    CoresetFromCentres::new(centres.clone(), budget, settings).expect("valid");
                for (name, records) in adversarial(dim, 300) {
                    let coreset = plan.simulate(records.view(), &mut rng(1)).expect("fits").output;
                    assert_eq!(coreset.points().coords(), centres.view().coords(), "{name}");
                    assert_eq!((coreset.len(), coreset.is_empty()), (5, false), "{name}");
                    assert!(coreset.weights().iter().all(|&w| (0.0..1e4).contains(&w)), "{name}");
                }
            }
        }
    }
}

#[test]
fn receipts_stay_within_the_budget() {
    let mut rng = rng(2);
    for i in 0..1_000 {
        let epsilon = 10_f64.powf(rng.random_range(-3.0..2.0));
        let delta = if i % 3 == 0 { 0.0 } else { 10_f64.powf(rng.random_range(-15.0..-1.0)) };
        let budget = Budget::new(epsilon, delta).expect("valid");
        let receipt = CoresetFromCentres::new(
            points(vec![0.0], 1),
            budget,
            CoresetFromCentresSettings::default(),
        )
        .expect("valid")
        .receipt();
        let spent = receipt.epsilon().map_or(f64::INFINITY, Epsilon::get);
        assert!(receipt.within_budget() && spent > 0.99 * epsilon, "{epsilon} {delta}: {spent}");
    }
}

#[test]
fn settings_are_checked_also_when_read_from_a_file() {
    let budget = Budget::new(1.0, 0.0).expect("valid");
    let build = |coords| {
        CoresetFromCentres::new(points(coords, 1), budget, CoresetFromCentresSettings::default())
    };
    assert_eq!(build(vec![]).expect_err("none").to_string(), "`centres` must be at least 1, got 0");
    assert!(build(vec![f64::NAN]).is_err() && build(vec![1e80]).is_err());
    let plan = build(vec![1.0, 2.0]).expect("valid");
    let text = serde_json::to_string(&plan).expect("serialises");
    assert_eq!(serde_json::from_str::<CoresetFromCentres>(&text).expect("valid"), plan);
    assert!(serde_json::from_str::<CoresetFromCentres>(&text.replace("1.0,2.0", "")).is_err());

    let coreset = PrivateCoreset::assume_public(points(vec![1.0], 1), vec![2.0]).expect("valid");
    let text = serde_json::to_string(&coreset).expect("serialises");
    assert_eq!(serde_json::from_str::<PrivateCoreset>(&text).expect("valid"), coreset);
    assert!(serde_json::from_str::<PrivateCoreset>(&text.replace("2.0", "-2.0")).is_err());
    assert!(PrivateCoreset::assume_public(points(vec![1.0], 1), vec![]).is_err());
    assert!(PrivateCoreset::assume_public(points(vec![f64::NAN], 1), vec![1.0]).is_err());
    let two = points(vec![0.0; 4], 2);
    assert!(plan.simulate(two.view(), &mut rng(1)).is_err());
}

/// The inequalities of the documentation, with exact weights, for random records, centres and
/// solutions.
#[test]
fn costs_on_the_coreset_bound_costs_on_the_records() {
    for seed in 0..300 {
        let (records, _) = blobs(60, 2, 3, 5.0, seed);
        let mut rng = rng(seed);
        let mut random =
            |n: usize| points((0..2 * n).map(|_| rng.random_range(-8.0..8.0)).collect(), 2);
        let (centres, solution) = (random(6), random(3));
        let mut weights = vec![0.0; 6];
        for label in nearest(records.view(), centres.view()).unwrap().labels {
            weights[label as usize] += 1.0;
        }
        let distances = nearest(centres.view(), solution.view()).unwrap().squared_distances;
        let on = |z: i32| -> f64 {
            distances.iter().zip(&weights).map(|(d, w)| w * d.sqrt().powi(z)).sum()
        };
        let at_most = |a: f64, b: f64| assert!(a <= b * (1.0 + 1e-9), "{seed}: {a} above {b}");
        let [far, near] = [&solution, &centres].map(|c| inertia(records.view(), c.view()).unwrap());
        at_most((on(1) - far).abs(), near);
        let [far, near] =
            [&solution, &centres].map(|c| squared_inertia(records.view(), c.view()).unwrap());
        for g in [0.1, 1.0, 3.0] {
            at_most(on(2), (1.0 + g) * far + (1.0 + 1.0 / g) * near);
            at_most(far, (1.0 + g) * on(2) + (1.0 + 1.0 / g) * near);
        }
    }
}

/// A thousand empty centres: clamping makes up records, the other rules do not.
#[test]
fn empty_centres_add_up_only_when_clamped() {
    let centres = points((0..1_000).map(f64::from).collect(), 1);
    let records = points(vec![], 1);
    let total = |rule| {
        let settings = CoresetFromCentresSettings { weight_rule: rule };
        let plan = CoresetFromCentres::new(
            centres.clone(),
            Budget::new(0.1, 0.0).expect("valid"),
            settings,
        )
        .expect("valid");
        plan.simulate(records.view(), &mut rng(3)).expect("fits").output.total_weight()
    };
    // E max(Z, 0) is about 1 / (2 epsilon) = 5 each, with standard deviation about 8.7.
    let clamped = total(WeightRule::Clamp);
    assert!((clamped - 5_000.0).abs() < 5.0 * 8.7 * 1_000_f64.sqrt(), "{clamped}");
    assert!(total(WeightRule::Threshold) < 200.0);
    // The sum of a thousand noises has standard deviation 447.
    assert!(total(WeightRule::Simplex) < 5.0 * 447.0);
}
