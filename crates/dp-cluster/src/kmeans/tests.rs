//! The fast solver against plain ones, its fixed rules, and its independence of the threads.

mod plain;

use approx::{assert_abs_diff_eq, assert_relative_eq};
use dp_geometry::Points;
use proptest::prelude::*;
use rand::{Rng, RngExt, SeedableRng, rngs::ChaCha20Rng};

use super::data::WeightedPoints;
use super::lloyd::lloyd;
use super::*;
use crate::error::ClusterError;
use crate::metrics::squared_inertia;

fn rng(seed: u64) -> ChaCha20Rng {
    ChaCha20Rng::seed_from_u64(seed)
}

fn line(coords: &[f64]) -> Points {
    Points::new(coords.to_vec(), 1).unwrap()
}

/// `n` points around `k` centres that are `spread` apart in scale; the noise is uniform.
fn blobs(n: usize, dim: usize, k: usize, spread: f64, seed: u64) -> Points {
    let mut rng = rng(seed);
    let centres: Vec<f64> = (0..k * dim).map(|_| spread * rng.random::<f64>()).collect();
    let coords = (0..n * dim)
        .map(|at| centres[at / dim % k * dim + at % dim] + rng.random::<f64>())
        .collect();
    Points::new(coords, dim).unwrap()
}

fn seeding_of(points: &Points, weights: Option<&[f64]>, k: usize, seed: u64) -> Vec<f64> {
    let settings = KMeansSettings { max_iterations: 0, ..Default::default() };
    let only_seed = KMeans::new(k, settings).unwrap();
    let fit = only_seed.exact_fit(points.view(), weights, &mut rng(seed)).unwrap();
    fit.centres.into_coords()
}

fn assert_lloyd_is_plain(points: &Points, weights: &[f64], k: usize, tolerance: f64, seed: u64) {
    // Up to 1024 points are one chunk, so even the order of the sums is that of the plain loop.
    assert!(points.len() <= 1024);
    let settings =
        KMeansSettings { relative_tolerance: tolerance, max_iterations: 60, ..Default::default() };
    let fit = KMeans::new(k, settings)
        .unwrap()
        .exact_fit(points.view(), Some(weights), &mut rng(seed))
        .unwrap();
    let start = seeding_of(points, Some(weights), k, seed);
    let (centres, cost, iterations) = plain::lloyd(points.view(), weights, start, tolerance, 60);
    assert_eq!(fit.iterations, iterations);
    assert_eq!(fit.squared_inertia.to_bits(), cost.to_bits());
    assert_eq!(fit.centres.into_coords(), centres);
}

#[test]
fn bounds_change_nothing() {
    for (seed, (dim, k, spread)) in
        [(1, 3, 4.0), (2, 8, 3.0), (3, 17, 1.0), (10, 9, 30.0), (10, 30, 0.5), (33, 5, 0.0)]
            .into_iter()
            .enumerate()
    {
        let seed = seed as u64;
        let points = blobs(900, dim, k, spread, seed);
        let weights: Vec<f64> = (0..900).map(|i| 0.25 + f64::from(i % 7)).collect();
        assert_lloyd_is_plain(&points, &weights, k, 1e-6, seed);
        assert_lloyd_is_plain(&points, &weights, k + 4, 0.0, seed + 100);
    }
}

proptest! {
    #[test]
    fn lattice_fits_equal_the_plain_ones(
        rows in prop::collection::vec([-5..5i8, -5..5i8], 20..120),
        weights in prop::collection::vec(1..5u8, 120),
        k in 1..7usize,
        trials in 1..10usize,
        seed in 0..u64::MAX,
    ) {
        // Integers: ties everywhere, and sums that no order of summation can change.
        let points = Points::new(rows.concat().into_iter().map(f64::from).collect(), 2).unwrap();
        let weights: Vec<f64> = weights[..points.len()].iter().map(|&w| f64::from(w)).collect();
        let data = WeightedPoints::new(points.view(), Some(&weights)).unwrap();
        prop_assume!(data.distinct_points_if_at_most(k).is_none());

        let trials_per_step = Some(trials);
        let settings =
            KMeansSettings { trials_per_step, max_iterations: 0, ..Default::default() };
        let fit = KMeans::new(k, settings).unwrap()
            .exact_fit(points.view(), Some(&weights), &mut rng(seed)).unwrap();
        let expected = plain::seed(points.view(), &weights, k, trials, &mut rng(seed));
        prop_assert_eq!(fit.centres.into_coords(), expected);
        assert_lloyd_is_plain(&points, &weights, k, 1e-6, seed);
    }

    #[test]
    fn small_fits_are_near_the_optimum(
        coords in prop::collection::vec(-9..9i8, 7),
        weights in prop::collection::vec(1..4u8, 7),
        k in 2..4usize,
        seed in 0..1000u64,
    ) {
        let points = line(&coords.into_iter().map(f64::from).collect::<Vec<_>>());
        let weights: Vec<f64> = weights.into_iter().map(f64::from).collect();
        let solver = KMeans::new(k, KMeansSettings { restarts: 10, ..Default::default() }).unwrap();
        let fit = solver.exact_fit(points.view(), Some(&weights), &mut rng(seed)).unwrap();
        let optimum = plain::optimum(points.view(), &weights, k);
        prop_assert!(fit.squared_inertia >= optimum - 1e-9);
        prop_assert!(fit.squared_inertia <= 2.0 * optimum + 1e-9, "{fit:?} {optimum}");
    }
}

#[test]
fn number_of_threads_does_not_matter() {
    let points = blobs(9_000, 5, 12, 2.0, 4);
    let weights: Vec<f64> = (0..9_000).map(|i| 1.0 / (1.0 + f64::from(i))).collect();
    let on = |threads| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| {
            let settings = KMeansSettings { restarts: 2, max_iterations: 30, ..Default::default() };
            let solver = KMeans::new(20, settings).unwrap();
            let fit = solver.exact_fit(points.view(), Some(&weights), &mut rng(9)).unwrap();
            let bits: Vec<u64> = fit.centres.view().coords().iter().map(|x| x.to_bits()).collect();
            let inertia = squared_inertia(points.view(), fit.centres.view()).unwrap();
            (bits, fit.squared_inertia.to_bits(), fit.iterations, inertia.to_bits())
        })
    };
    assert_eq!(on(1), on(2));
    assert_eq!(on(1), on(7));
}

#[test]
fn cost_never_rises_and_is_that_of_the_centres() {
    let points = blobs(3_000, 3, 6, 1.5, 2);
    let mut last = f64::INFINITY;
    for limit in 0..25 {
        let settings =
            KMeansSettings { relative_tolerance: 0.0, max_iterations: limit, ..Default::default() };
        let fit =
            KMeans::new(9, settings).unwrap().exact_fit(points.view(), None, &mut rng(3)).unwrap();
        let measured = squared_inertia(points.view(), fit.centres.view()).unwrap();
        assert!((fit.squared_inertia - measured).abs() <= 1e-12 * measured);
        assert!(fit.squared_inertia <= last);
        assert!(fit.iterations <= limit);
        last = fit.squared_inertia;
    }
    let settings =
        KMeansSettings { relative_tolerance: 0.0, max_iterations: 5, ..Default::default() };
    let solver = KMeans::new(9, settings).unwrap();
    let fit = solver.exact_fit(points.view(), None, &mut rng(3)).unwrap();
    assert_eq!((fit.iterations, fit.stop), (5, StopReason::IterationLimit));
}

#[test]
fn restarts_keep_the_best() {
    let points = blobs(500, 2, 15, 4.0, 6);
    let cost = |restarts| {
        let settings = KMeansSettings { trials_per_step: Some(1), restarts, ..Default::default() };
        let fit =
            KMeans::new(15, settings).unwrap().exact_fit(points.view(), None, &mut rng(1)).unwrap();
        fit.squared_inertia
    };
    let costs: Vec<f64> = (1..8).map(cost).collect();
    assert!(costs.is_sorted_by(|a, b| a >= b), "{costs:?}");
    assert!(costs[6] < costs[0]);
}

#[test]
fn far_from_the_origin_nothing_is_lost() {
    let near = blobs(800, 2, 5, 20.0, 1);
    // A power of two below 2^33, so that the shifted coordinates keep 2^-19 of a unit.
    let shift = f64::from(1 << 30) * 4.0;
    let coords = near.view().coords().iter().map(|x| (x * 1024.0).round() / 1024.0);
    let near = Points::new(coords.collect(), 2).unwrap();
    let far = Points::new(near.view().coords().iter().map(|x| x + shift).collect(), 2).unwrap();
    let fit = |points: &Points| {
        KMeans::new(5, KMeansSettings::default())
            .unwrap()
            .exact_fit(points.view(), None, &mut rng(1))
            .unwrap()
    };
    let (near, far) = (fit(&near), fit(&far));
    assert_relative_eq!(near.squared_inertia, far.squared_inertia, max_relative = 1e-9);
    for (x, y) in near.centres.view().coords().iter().zip(far.centres.view().coords()) {
        assert_abs_diff_eq!(x + shift, y, epsilon = 2e-6);
    }
}

#[test]
fn empty_clusters_move_to_the_largest_residuals() {
    let points = line(&[0.0, 1.0, 2.0, 50.0, 90.0]);
    let data = WeightedPoints::new(points.view(), None).unwrap();
    // Three centres at the same place: two of them start without points.
    let solver = KMeans::new(3, KMeansSettings::default()).unwrap();
    let fit = lloyd(&solver, &data, vec![1.0; 3], vec![0; 5]);
    let mut centres = fit.centres.into_coords();
    centres.sort_by(f64::total_cmp);
    assert_eq!(centres, [1.0, 50.0, 90.0]);
    assert_eq!((fit.squared_inertia, fit.stop), (2.0, StopReason::Converged));
}

/// Null: the first centre is drawn with probability proportional to `w`, the second to `w d^2`.
/// Over 20,000 runs a share deviates from its probability by more than 0.0203 with probability below
/// `2 exp(-2 n 0.0203^2) = 1.4e-7` (Hoeffding), for all six below 1e-6. Drawing by `w d` or `d^2` instead
/// shifts at least one share by more than 0.05.
#[test]
fn seeding_draws_by_weight_and_squared_distance() {
    let (coords, weights) = ([0.0, 1.0, 3.0], [1.0, 4.0, 2.0]);
    let settings =
        KMeansSettings { trials_per_step: Some(1), max_iterations: 0, ..Default::default() };
    let solver = KMeans::new(2, settings).unwrap();
    let mut rng = rng(12);
    let runs = 20_000;
    let mut counts = [[0usize; 3]; 3];
    let points = line(&coords);
    for _ in 0..runs {
        let fit = solver.exact_fit(points.view(), Some(&weights), &mut rng).unwrap();
        let chosen = fit.centres.into_coords();
        let index = |x: f64| coords.iter().position(|&y| x == y).unwrap();
        counts[index(chosen[0])][index(chosen[1])] += 1;
    }
    let law = |distance_mass: &dyn Fn(f64, f64) -> f64, i: usize, j: usize| {
        let mass = |j: usize| distance_mass(weights[j], (coords[i] - coords[j]).abs());
        weights[i] / 7.0 * mass(j) / (mass(0) + mass(1) + mass(2))
    };
    let off = |distance_mass: &dyn Fn(f64, f64) -> f64| {
        let share = |i: usize, j: usize| counts[i][j] as f64 / f64::from(runs);
        let pairs = (0..9).map(|at| (at / 3, at % 3));
        pairs.map(|(i, j)| (share(i, j) - law(distance_mass, i, j)).abs()).fold(0.0, f64::max)
    };
    assert!(off(&|w, d| w * d * d) <= 0.0203, "{counts:?}");
    assert!(off(&|w, d| w * d) > 0.0203, "the test can tell `w d`: {counts:?}");
    assert!(off(&|_, d| d * d) > 0.0203, "the test can tell `d^2`: {counts:?}");
}

#[test]
fn few_distinct_points_are_the_centres() {
    let solver = KMeans::new(4, KMeansSettings::default()).unwrap();
    let fit = |points: &Points, weights: Option<&[f64]>| {
        solver.exact_fit(points.view(), weights, &mut rng(1)).unwrap()
    };
    let with_copies = line(&[5.0, -0.0, 5.0, 7.0, 0.0]);
    let fitted = fit(&with_copies, None);
    assert_eq!(fitted.centres.view().coords(), [5.0, 0.0, 7.0, 5.0], "5 and 0 tie, 5 came first");
    assert_eq!((fitted.squared_inertia, fitted.stop), (0.0, StopReason::FewDistinctPoints));
    let weights = [1.0, 1.0, 1.0, 2.5, 1.0];
    assert_eq!(fit(&with_copies, Some(&weights)).centres.view().coords(), [5.0, 0.0, 7.0, 7.0]);
    let dropped = [0.0, 1.0, 0.0, 2.5, 1.0];
    assert_eq!(fit(&with_copies, Some(&dropped)).centres.view().coords(), [0.0, 7.0, 7.0, 7.0]);
    assert_eq!(fit(&with_copies, Some(&[0.0; 5])).centres, line(&[0.0; 4]));
    assert_eq!(fit(&line(&[]), None).centres, line(&[0.0; 4]));
    let exactly_four = line(&[3.0, 1.0, 2.0, 0.0]);
    assert_eq!(fit(&exactly_four, None).centres, exactly_four);
}

#[test]
fn weights_stand_for_copies() {
    let mut rng = rng(5);
    let (once, weights) = (line(&[0.0, 1.0, 4.0, 9.0, 11.0]), [3.0, 1.0, 2.0, 1.0, 2.0]);
    let copies = line(&[0.0, 0.0, 0.0, 1.0, 4.0, 4.0, 9.0, 11.0, 11.0]);
    for k in 1..4 {
        let solver = KMeans::new(k, KMeansSettings { restarts: 20, ..Default::default() }).unwrap();
        let a = solver.exact_fit(once.view(), Some(&weights), &mut rng).unwrap();
        let b = solver.exact_fit(copies.view(), None, &mut rng).unwrap();
        assert_abs_diff_eq!(a.squared_inertia, b.squared_inertia, epsilon = 1e-12);
        let optimum = plain::optimum(once.view(), &weights, k);
        assert_abs_diff_eq!(a.squared_inertia, optimum, epsilon = 1e-12);
    }
    let mean = KMeans::new(1, KMeansSettings::default()).unwrap();
    let fit = mean.exact_fit(once.view(), Some(&weights), &mut rng).unwrap();
    assert_abs_diff_eq!(fit.centres.view().coords()[0], 40.0 / 9.0, epsilon = 1e-14);
}

#[test]
fn extreme_magnitudes_do_not_overflow() {
    let big = MAX_MAGNITUDE;
    let points = line(&[-big, big, 0.0, 5e-324, 1.0, 1e-200, -1e-180, 3e-170]);
    for k in 1..8 {
        let solver = KMeans::new(k, KMeansSettings::default()).unwrap();
        let fit = solver.exact_fit(points.view(), Some(&[big; 8]), &mut rng(2)).unwrap();
        assert_eq!(fit.centres.len(), k);
        assert!(fit.squared_inertia.is_finite());
        assert!(fit.centres.view().coords().iter().all(|x| x.is_finite()));
    }
}

#[test]
fn bad_settings_are_refused() {
    let refused = |solver: Result<KMeans, ClusterError>| solver.unwrap_err().to_string();
    assert_eq!(
        refused(KMeans::new(0, KMeansSettings::default())),
        "the number of clusters must lie between 1 and 16777216, got 0"
    );
    assert!(KMeans::new(KMeans::MAX_CLUSTERS, KMeansSettings::default()).is_ok());
    assert!(KMeans::new(usize::MAX, KMeansSettings::default()).is_err());
    assert_eq!(
        refused(KMeans::new(1, KMeansSettings { restarts: 0, ..Default::default() })),
        "`restarts` must be at least 1, got 0"
    );
    assert_eq!(
        refused(KMeans::new(1, KMeansSettings { trials_per_step: Some(0), ..Default::default() })),
        "`trials_per_step` must be at least 1, got 0"
    );
    for tolerance in [f64::NAN, -1e-9, 1.0, f64::INFINITY, f64::MAX, -5e-324] {
        assert!(
            refused(KMeans::new(
                1,
                KMeansSettings { relative_tolerance: tolerance, ..Default::default() }
            ))
            .contains("below 1, got")
        );
    }
    for tolerance in [0.0, -0.0, 5e-324, 0.999] {
        assert!(
            KMeans::new(1, KMeansSettings { relative_tolerance: tolerance, ..Default::default() })
                .is_ok()
        );
    }
    let trials = |k| KMeans::new(k, KMeansSettings::default()).unwrap().trials_per_step();
    assert_eq!([1, 2, 3, 7, 8, 64].map(trials), [2, 2, 3, 3, 4, 6]);
}

#[test]
fn bad_input_is_refused_without_showing_it() {
    let solver = KMeans::new(2, KMeansSettings::default()).unwrap();
    let fit = |coords: &[f64], weights: Option<&[f64]>| {
        solver.exact_fit(line(coords).view(), weights, &mut rng(1)).map(|_| ())
    };
    for bad in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY, 1e76, -1e76] {
        assert_eq!(fit(&[0.0, bad, 1.0], None), Err(ClusterError::Coordinate));
        assert_eq!(fit(&[0.0, 2.0, 1.0], Some(&[1.0, 1.0, bad])), Err(ClusterError::Weight));
    }
    assert_eq!(fit(&[0.0, 2.0], Some(&[1.0, -5e-324])), Err(ClusterError::Weight));
    assert_eq!(
        fit(&[0.0, 2.0], Some(&[1.0])).unwrap_err().to_string(),
        "there must be one weight per point, got 1 for 2 points"
    );
    assert_eq!(
        ClusterError::Weight.to_string(),
        "every weight must be a number between 0 and 1e75"
    );
    assert_eq!(
        ClusterError::Coordinate.to_string(),
        "every coordinate must be a number between +-1e75"
    );
}

#[test]
fn serialised_settings_are_checked_again() {
    let settings = KMeansSettings { restarts: 3, trials_per_step: Some(2), ..Default::default() };
    let solver = KMeans::new(8, settings).unwrap();
    let json = serde_json::to_string(&solver).unwrap();
    assert_eq!(serde_json::from_str::<KMeans>(&json).unwrap(), solver);
    assert!(serde_json::from_str::<KMeans>(&json.replace("\"k\":8", "\"k\":0")).is_err());
    // The mean of each pair is a short decimal, which text gives back exactly.
    let pairs = line(&[0.0, 1.0, 50.0, 51.0]);
    let fit = KMeans::new(2, KMeansSettings::default()).unwrap().exact_fit(
        pairs.view(),
        None,
        &mut rng(1),
    );
    let fit = fit.unwrap();
    let json = serde_json::to_string(&fit).unwrap();
    assert_eq!(serde_json::from_str::<KMeansFit>(&json).unwrap(), fit);
}

#[test]
fn any_generator_will_do_and_types_can_be_shared() {
    fn assert_send_sync<T: Send + Sync>() {}
    assert_send_sync::<KMeans>();
    assert_send_sync::<KMeansSettings>();
    assert_send_sync::<KMeansFit>();
    let dynamic: &mut dyn Rng = &mut rng(1);
    let points = blobs(50, 2, 3, 5.0, 1);
    let fit = KMeans::new(3, KMeansSettings::default())
        .unwrap()
        .exact_fit(points.view(), None, dynamic)
        .unwrap();
    assert_eq!(fit.centres.len(), 3);
}
