//! Settings, odd data, receipts, and what is found.

use std::ops::RangeInclusive;

use dp_accounting::{Budget, Epsilon};
use dp_geometry::{Points, PublicBox};
use dp_mechanism::Mechanism;
use rand::RngExt;

use super::{Payment, PrivateCentres, PrivateCentresSettings};
use crate::nearest;
use crate::testing::{adversarial, blobs, rng};
use crate::{ClusterError, Clustering};

const PAYMENTS: [Payment; 2] = [Payment::AllRecords, Payment::Subsamples];

fn cube(dim: usize) -> PublicBox {
    PublicBox::cube(dim, -10.0, 10.0).expect("valid")
}

fn planned(
    dim: usize,
    epsilon: f64,
    settings: PrivateCentresSettings,
) -> Result<PrivateCentres, ClusterError> {
    PrivateCentres::new(cube(dim), 3, Budget::new(epsilon, 1e-6).expect("valid"), settings)
}

#[test]
fn settings_out_of_range_are_refused_with_their_value() {
    let pure = Budget::new(1.0, 0.0).expect("valid");
    let flat = PublicBox::cube(1, 0.0, 1e-80).expect("valid");
    let budget = Budget::new(1.0, 1e-6).expect("valid");
    let of = |settings| planned(2, 1.0, settings);
    let d = PrivateCentresSettings::default;
    for (plan, want) in [
        (
            of(PrivateCentresSettings { levels: RangeInclusive::new(4, 3), ..d() }),
            "levels must be at most 20, and at least the first, got 3",
        ),
        (
            of(PrivateCentresSettings { levels: 1..=21, ..d() }),
            "levels must be at most 20, and at least the first, got 21",
        ),
        (
            of(PrivateCentresSettings { repetitions: 0, ..d() }),
            "repetitions must be between 1 and 1000, got 0",
        ),
        (
            PrivateCentres::new(cube(1), 0, budget, d()),
            "the number of clusters must lie between 1 and 16777216, got 0",
        ),
        (
            PrivateCentres::new(cube(1), 1, pure, d()),
            "delta must be above 0: the sums have Gaussian noise, got 0",
        ),
        (
            PrivateCentres::new(flat, 1, budget, d()),
            "diagonal of the public box must be between 1e-75 and 1e75, got ",
        ),
    ] {
        let got = plan.expect_err("out of range").to_string();
        assert!(got.starts_with(&want[..want.len().min(60)]), "{got}");
    }
}

#[test]
fn odd_data_is_released_like_any_other_and_a_file_holds_a_plan() {
    for dim in [1, 2, 7] {
        for payment in PAYMENTS {
            for epsilon in [1.0, 100.0] {
                let settings = PrivateCentresSettings {
                    levels: 1..=3,
                    repetitions: 2,
                    payment,
                    ..Default::default()
                };
                let plan = planned(dim, epsilon, settings).expect("valid");
                for (name, points) in adversarial(dim, 500) {
                    let found = plan.simulate(points.view(), &mut rng(3)).expect("fits").output;
                    assert!(found.points().rows().all(|c| cube(dim).contains(c)), "{name}");
                    let threshold = plan.threshold();
                    assert!(found.counts().iter().all(|&count| count >= threshold), "{name}");
                    let clustering = Clustering::from(found.clone());
                    assert!(clustering.centres.len() <= 3, "{name}");
                    assert_eq!(found.post_select(2).len(), found.points().len().min(2), "{name}");
                }
                let text = serde_json::to_string(&plan).expect("serialises");
                assert_eq!(serde_json::from_str::<PrivateCentres>(&text).expect("valid"), plan);
            }
        }
    }
}

/// The same seed gives the same bytes for any number of threads.
#[test]
fn threads_do_not_matter() {
    let (points, _) = blobs(5_000, 3, 3, 8.0, 1);
    for payment in PAYMENTS {
        let settings = PrivateCentresSettings { payment, ..Default::default() };
        let plan = planned(3, 10.0, settings).expect("valid");
        let with = |threads| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build();
            let run = || plan.simulate(points.view(), &mut rng(5)).expect("fits").output;
            pool.expect("a pool").install(run)
        };
        let one = with(1);
        assert!(!one.points().is_empty());
        assert!(one == with(2) && one == with(7));
    }
}

#[test]
fn receipts_stay_within_the_budget() {
    let mut rng = rng(2);
    for i in 0..200 {
        let epsilon = 10_f64.powf(rng.random_range(-1.0..2.0));
        let delta = 10_f64.powf(rng.random_range(-12.0..-1.0));
        let budget = Budget::new(epsilon, delta).expect("valid");
        let settings = PrivateCentresSettings {
            payment: PAYMENTS[i % 2],
            repetitions: 1 + i % 5,
            ..Default::default()
        };
        let receipt = PrivateCentres::new(cube(2), 2, budget, settings).expect("valid").receipt();
        let spent = receipt.epsilon().map_or(f64::INFINITY, Epsilon::get);
        assert!(receipt.within_budget() && spent > 0.99 * epsilon, "{epsilon} {delta}: {spent}");
    }
}

/// Five balls, a hundred thousand records, four dimensions, epsilon 1: every ball has a candidate within the diagonal of the finest cell that
/// would hold a ball uncut half of the time, whose side is 4 d radii; ten seeds.
#[test]
fn every_planted_ball_has_a_candidate() {
    let dim = 4;
    let (public_box, budget) = (PublicBox::cube(dim, -1.0, 1.0), Budget::new(1.0, 1e-6));
    let (public_box, budget) = (public_box.expect("valid"), budget.expect("valid"));
    for (seed, payment) in (0..4).zip(PAYMENTS.into_iter().cycle()) {
        let mut rng = rng(seed);
        let centres: Vec<f64> = (0..5 * dim).map(|_| rng.random_range(-0.8..0.8)).collect();
        let radius = 0.02;
        let coords = (0..100_000 * dim).map(|at| {
            let ball = at / dim % 5;
            centres[ball * dim + at % dim] + rng.random_range(-radius..radius) / 2.0
        });
        let points = Points::new(coords.collect(), dim).expect("rows");
        let settings = PrivateCentresSettings { payment, public_seed: seed, ..Default::default() };
        let plan = PrivateCentres::new(public_box.clone(), 5, budget, settings).expect("valid");
        let found = plan.simulate(points.view(), &mut rng).expect("fits").output;
        let centres = Points::new(centres, dim).expect("rows");
        let far = nearest(centres.view(), found.points()).unwrap().squared_distances;
        // 4 d radii are 0.32: level 3 has sides of 0.5, and level 4 of 0.25.
        let stated = plan.cell_diagonal(4);
        assert!(far.iter().all(|d| d.sqrt() <= stated), "{seed}: {far:?} against {stated}");
    }
}
