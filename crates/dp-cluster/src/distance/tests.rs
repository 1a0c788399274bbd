use dp_accounting::Budget;
use dp_geometry::{Points, PublicBox};
use dp_mechanism::{Mechanism, Nearby};

use super::NoisedPoints;
use crate::ClusterError;
use crate::testing::{adversarial, rng};

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
