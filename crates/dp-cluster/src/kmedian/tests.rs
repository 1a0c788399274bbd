//! Medians with their certificates, and the alternation.

use approx::assert_relative_eq;
use dp_geometry::Points;
use rand::RngExt;

use super::{KMedian, KMedianSettings, exact_geometric_median};
use crate::kmeans::StopReason;
use crate::local_search::{LocalSearch, LocalSearchSettings, Objective};
use crate::metrics::inertia;
use crate::testing::{adversarial, blobs, rng};

fn points(coords: &[f64], dim: usize) -> Points {
    Points::new(coords.to_vec(), dim).expect("whole rows")
}

#[test]
fn on_a_line_it_is_the_weighted_median() {
    let median = |coords: &[f64], weights: Option<&[f64]>| {
        let found = exact_geometric_median(points(coords, 1).view(), weights, 10).expect("valid");
        (found.centre[0], found.cost)
    };
    assert_eq!(median(&[5.0, 1.0, 9.0], None), (5.0, 8.0));
    assert_eq!(median(&[5.0, 1.0, 9.0, 7.0], None), (5.0, 10.0)); // the smaller of two medians
    assert_eq!(median(&[5.0, 1.0, 9.0], Some(&[1.0, 1.0, 3.0])), (9.0, 12.0));
    assert_eq!(median(&[2.0, 2.0], None), (2.0, 0.0));
    assert_eq!(median(&[], None), (0.0, 0.0));
}

#[test]
fn medians_that_are_known() {
    let median = |coords: &[f64], weights: Option<&[f64]>| {
        exact_geometric_median(points(coords, 2).view(), weights, 1_000).expect("valid")
    };
    let near =
        |found: &[f64], want: [f64; 2]| found.iter().zip(want).all(|(a, b)| (a - b).abs() < 1e-6);
    // The Fermat point of an equilateral triangle is its middle.
    let high = 3_f64.sqrt();
    assert!(near(&median(&[-1.0, 0.0, 1.0, 0.0, 0.0, high], None).centre, [0.0, high / 3.0]));
    // A square: where the diagonals meet.
    assert!(near(&median(&[0.0, 0.0, 2.0, 0.0, 2.0, 2.0, 0.0, 2.0], None).centre, [1.0, 1.0]));
    // On a segment: the middle one of three, which is a point of the data.
    assert_eq!(median(&[0.0, 0.0, 1.0, 1.0, 5.0, 5.0], None).centre, [1.0, 1.0]);
    // More than half of the weight in one place holds the median there.
    let held = median(&[0.0, 0.0, 3.0, 4.0, 9.0, 1.0], Some(&[5.0, 2.0, 2.0]));
    assert_eq!((held.centre, held.cost), (vec![0.0, 0.0], 10.0 + 2.0 * 82_f64.sqrt()));
    assert!(held.certificate <= 0.0);
    let equal = median(&[4.0, 4.0, 4.0, 4.0], None);
    assert_eq!((equal.centre, equal.cost), (vec![4.0, 4.0], 0.0));
}

/// The certificate bounds the distance to the best, by convexity.
#[test]
fn every_median_is_certified() {
    for (seed, n) in (0..30).zip(2_usize..) {
        let mut rng = rng(seed);
        let dim = 2 + n % 4;
        let coords: Vec<f64> = (0..n * dim).map(|_| rng.random_range(-9.0..9.0)).collect();
        let weights: Vec<f64> = (0..n).map(|_| rng.random_range(0.01..3.0)).collect();
        let data = points(&coords, dim);
        let found = exact_geometric_median(data.view(), Some(&weights), 5_000).expect("valid");
        assert!(found.certificate < 1e-6, "{seed}: {found:?}");
        for _ in 0..50 {
            let other: Vec<f64> =
                found.centre.iter().map(|x| x + rng.random_range(-0.3..0.3)).collect();
            let cost: f64 = data
                .view()
                .rows()
                .zip(&weights)
                .map(|(row, w)| w * crate::nearest::squared_distance(row, &other).sqrt())
                .sum();
            assert!(cost >= found.cost * (1.0 - 1e-9), "{seed}");
        }
    }
}

#[test]
fn the_alternation_improves_on_the_best_data_points() {
    let (data, _) = blobs(600, 3, 5, 30.0, 3);
    let settings = KMedianSettings { restarts: 3, ..Default::default() };
    let fit = KMedian::new(5, settings).expect("valid");
    let fit = fit.exact_fit(data.view(), None, &mut rng(1)).expect("valid");
    assert_eq!(fit.stop, StopReason::Converged);
    assert_relative_eq!(
        fit.inertia,
        inertia(data.view(), fit.centres.view()).unwrap(),
        max_relative = 1e-12
    );
    let search =
        LocalSearch::new(5, Objective::KMedian, LocalSearchSettings::default()).expect("valid");
    let swaps = search.exact_fit(data.view(), None, data.view(), &mut rng(1)).expect("valid");
    assert!(fit.inertia < swaps.cost && fit.inertia > 0.8 * swaps.cost);
    let settings = KMedianSettings { max_iterations: 0, ..Default::default() };
    let limited = KMedian::new(5, settings).expect("valid");
    let limited = limited.exact_fit(data.view(), None, &mut rng(1)).expect("valid");
    assert_eq!((limited.stop, limited.iterations), (StopReason::IterationLimit, 0));
}

#[test]
fn odd_input_is_handled_or_refused() {
    for dim in [1, 3] {
        let solver = KMedian::new(4, KMedianSettings::default()).expect("valid");
        for (name, data) in adversarial(dim, 200) {
            match solver.exact_fit(data.view(), None, &mut rng(1)) {
                Ok(fit) => {
                    assert_eq!(fit.centres.len(), 4, "{name}");
                    assert!(fit.inertia.is_finite(), "{name}");
                }
                Err(error) => {
                    let want = "every coordinate must be a number between +-1e75";
                    assert_eq!(error.to_string(), want, "{name}");
                }
            }
        }
    }
    assert!(KMedian::new(0, KMedianSettings::default()).is_err());
    assert!(KMedian::new(1, KMedianSettings { restarts: 0, ..Default::default() }).is_err());
    assert!(
        KMedian::new(1, KMedianSettings { relative_tolerance: 1.0, ..Default::default() }).is_err()
    );
}

#[test]
fn threads_do_not_matter() {
    let (data, _) = blobs(3_000, 4, 5, 8.0, 8);
    let solver = KMedian::new(5, KMedianSettings::default()).expect("valid");
    let with = |threads| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().expect("threads");
        pool.install(|| solver.exact_fit(data.view(), None, &mut rng(9)).expect("valid"))
    };
    assert_eq!(with(1), with(3));
}
