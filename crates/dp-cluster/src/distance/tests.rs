use dp_accounting::Budget;
use dp_geometry::{Points, PublicBox};
use dp_mechanism::{Mechanism, Nearby};

use super::{NoisedPoints, SoftRecentred, SoftStep};
use crate::ClusterError;
use crate::kmeans::KMeans;
use crate::metrics::squared_inertia;
use crate::testing::{adversarial, blobs, rng};

fn plan(dim: usize, rho: f64, records: u64) -> NoisedPoints {
    let cube = PublicBox::cube(dim, -10.0, 10.0).expect("valid");
    let budget = Budget::new(1.0, 1e-6).expect("valid");
    NoisedPoints::new(cube, Nearby::new(rho).expect("valid"), records, budget).expect("valid")
}

/// 4.2247 times the distance, and never more than for any two records of the box.
#[test]
fn the_noise_is_that_of_the_distance() {
    for (rho, farthest) in [
        (1e-6, 1e-6),
        (0.05, 0.05),
        (3.0, 3.0),
        (800.0_f64.sqrt(), 800.0_f64.sqrt()),
        (1e9, 800.0_f64.sqrt()),
    ] {
        let sd = plan(2, rho, 5).standard_deviation();
        assert!((sd / (4.224_7 * farthest) - 1.0).abs() < 1e-3, "{rho}: {sd}");
    }
    // Squares of 2,000 draws are within 10 % of their mean except for once in 10^9.
    let records = Points::new(vec![0.0; 2_000], 2).expect("rows");
    let noised = plan(2, 0.05, 1_000).simulate(records.view(), &mut rng(1)).expect("fits").output;
    let squares: f64 = noised.points().coords().iter().map(|x| x * x).sum();
    let sd = (squares / 2_000.0).sqrt();
    assert!((sd / (4.224_7 * 0.05) - 1.0).abs() < 0.1, "{sd}");
}

#[test]
fn odd_data_stays_in_twice_the_box() {
    for dim in [1, 3, 50] {
        for (name, points) in adversarial(dim, 30) {
            let plan = plan(dim, 0.5, points.len() as u64);
            let noised = plan.simulate(points.view(), &mut rng(2)).expect("fits").output;
            assert_eq!(noised.len(), points.len(), "{name}");
            assert!(noised.points().coords().iter().all(|x| x.abs() <= 20.0), "{name}");
        }
    }
}

#[test]
fn sizes_that_are_public_must_fit() {
    let none = Points::new(vec![], 2).expect("rows");
    let refused = plan(2, 0.5, 3).simulate(none.view(), &mut rng(1)).expect_err("three missing");
    assert_eq!(refused, ClusterError::Records { expected: 3, got: 0 });
    assert!(plan(2, 0.5, 0).simulate(none.view(), &mut rng(1)).is_ok());
    let receipt = plan(2, 0.5, 0).receipt();
    assert!(receipt.within_budget() && receipt.epsilon().is_some_and(|e| e.get() > 0.999));
}

/// Shuttle-like: nine dimensions, where a vertex grid is out of reach. Rounds do away with most of what noise on every record has lost.
#[test]
fn rounds_improve_on_noised_points() {
    let (points, _) = blobs(4_000, 9, 4, 6.0, 5);
    let cube = || PublicBox::cube(9, -10.0, 10.0).expect("valid");
    let (budget, near) = (Budget::new(1.0, 1e-6).expect("valid"), Nearby::new(0.5).expect("valid"));
    let n = points.len() as u64;
    let solver = KMeans::builder(4).restarts(5).build().expect("valid");
    let best = solver.exact_fit(points.view(), None, &mut rng(1)).expect("finite").squared_inertia;
    let (mut plain, mut soft) = (0.0, 0.0);
    for seed in 0..3 {
        let noised = NoisedPoints::new(cube(), near, n, budget).expect("valid");
        let noised = noised.simulate(points.view(), &mut rng(seed)).expect("fits").output;
        let fit = solver.post_fit(&noised, &mut rng(seed)).expect("finite");
        plain += squared_inertia(points.view(), fit.centres.view()) / best / 3.0;
        let plan = SoftRecentred::new(cube(), near, n, 4, budget, seed).expect("valid");
        let found = plan.simulate(points.view(), &mut rng(seed)).expect("fits").output;
        soft += squared_inertia(points.view(), found.centres.view()) / best / 3.0;
    }
    assert!(soft < plain && soft < 1.3, "{soft} {plain}");
}

#[test]
fn rounds_stand_odd_data_and_bad_settings() {
    let budget = Budget::new(1.0, 1e-6).expect("valid");
    for dim in [1, 2, 5] {
        let cube = || PublicBox::cube(dim, -10.0, 10.0).expect("valid");
        for (name, points) in adversarial(dim, 30) {
            for (rho, k) in [(1e-3, 1), (0.3, 4), (1e6, 50)] {
                let near = Nearby::new(rho).expect("valid");
                let n = points.len() as u64;
                let plan = SoftRecentred::new(cube(), near, n, k, budget, 0).expect("valid");
                let receipt = plan.receipt();
                assert!(
                    receipt.within_budget() && receipt.epsilon().is_some_and(|e| e.get() > 0.999)
                );
                let found = plan.simulate(points.view(), &mut rng(2)).expect("fits").output;
                assert_eq!((found.centres.len(), found.counts.len()), (k, k), "{name}");
                assert!(found.centres.view().rows().all(|c| cube().contains(c)), "{name}");
            }
        }
    }
    let near = Nearby::new(0.5).expect("valid");
    let cube = PublicBox::cube(2, 0.0, 1.0).expect("valid");
    let refused = SoftRecentred::new(cube.clone(), near, 5, 0, budget, 0).expect_err("no cluster");
    assert_eq!(refused.to_string(), "k must be between 1 and 65536, got 0");
    let centres = || Points::new(vec![0.5; 2], 2).expect("rows");
    for bad in [0.0, -1.0, f64::NAN, f64::INFINITY] {
        assert!(SoftStep::new(cube.clone(), centres(), bad, 1.0).is_err());
        assert!(SoftStep::new(cube.clone(), centres(), 1.0, bad).is_err());
    }
    let none = Points::new(vec![], 2).expect("rows");
    assert!(SoftStep::new(cube, none, 1.0, 1.0).is_err());
}
