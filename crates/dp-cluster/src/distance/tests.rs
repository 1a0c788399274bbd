use dp_accounting::{Budget, Mu, budget_to_mu};
use dp_geometry::{Points, PublicBox};
use dp_mechanism::{Mechanism, Nearby};
use rand::seq::SliceRandom as _;

use super::{
    NearbyKMeans, NoisedPoints, RegionCoreset, RegionCoresetSettings, RegionRule, SoftRecentred,
    SoftStep, Way,
};
use crate::ClusterError;
use crate::kmeans::{KMeans, KMeansSettings};
use crate::kmedian::{KMedian, KMedianSettings};
use crate::map::{PrivateMap, PrivateMapSettings};
use crate::metrics::squared_inertia;
use crate::testing::{adversarial, blobs, off_by_errors, rng};

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
    let settings = KMeansSettings { restarts: 5, ..Default::default() };
    let solver = KMeans::new(4, settings).expect("valid");
    let best = solver.exact_fit(points.view(), None, &mut rng(1)).expect("finite").squared_inertia;
    let (mut plain, mut soft) = (0.0, 0.0);
    for seed in 0..3 {
        let noised = NoisedPoints::new(cube(), near, n, budget).expect("valid");
        let noised = noised.simulate(points.view(), &mut rng(seed)).expect("fits").output;
        let fit = solver.post_fit(&noised, &mut rng(seed)).expect("finite");
        plain += squared_inertia(points.view(), fit.centres.view()).unwrap() / best / 3.0;
        let plan = SoftRecentred::new(cube(), near, n, 4, budget, seed).expect("valid");
        let found = plan.simulate(points.view(), &mut rng(seed)).expect("fits").output;
        soft += squared_inertia(points.view(), found.centres.view()).unwrap() / best / 3.0;
    }
    assert!(soft < plain && soft < 1.3, "{soft} {plain}");
}

/// Of separate clusters, 95 of 100 intervals hold the mean of their records, and their number.
#[test]
fn errors_of_rounds_are_as_released() {
    let cube = PublicBox::cube(4, -100.0, 100.0).expect("valid");
    let (budget, near) = (Budget::new(1.0, 1e-6).expect("valid"), Nearby::new(0.5).expect("valid"));
    let (mut places, mut counts, mut all) = (0, 0, 0);
    for seed in 0..60 {
        // Of standard deviation 1, at places far apart.
        let (mut points, _) = blobs(3_000, 4, 1, 1e-9, seed);
        let mut coords = points.into_coords();
        for (row, coords) in coords.chunks_exact_mut(4).enumerate() {
            coords[row % 3] += 60.0;
        }
        points = Points::new(coords, 4).expect("rows");
        let plan = SoftRecentred::new(cube.clone(), near, 3_000, 3, budget, seed).expect("valid");
        let output = plan.simulate(points.view(), &mut rng(seed)).expect("fits").output;
        assert!(output.errors.iter().flatten().all(|error| error.signal));
        for [place, count] in off_by_errors(points.view(), &output) {
            places += usize::from(place < 1.96);
            counts += usize::from(count < 1.96);
            all += 1;
        }
    }
    // Of 180 intervals, four standard deviations are 6.5 %; errors twice as long would hold all but one in 10,000.
    assert!(
        all == 180 && [places, counts].iter().all(|held| (159..180).contains(held)),
        "{places} {counts}"
    );
}

#[test]
fn rounds_stand_odd_data_and_bad_settings() {
    let budget = Budget::new(1.0, 1e-6).expect("valid");
    for dim in [1, 2, 50] {
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

/// What a record adds follows from where it is in the box, also where it is outside or no number.
#[test]
fn soft_steps_clip_records() {
    let cube = PublicBox::cube(2, -10.0, 10.0).expect("valid");
    let centres = Points::new(vec![-5.0, 0.0, 6.0, 3.0, 9.5, 9.5], 2).expect("rows");
    let soft = SoftStep::new(cube.clone(), centres, 2.5, 0.7).expect("valid");
    for step in [soft.clone(), soft.hard()] {
        for row in [[10.1, 0.0], [-1e9, 1e300], [f64::NAN, 3.0], [f64::INFINITY, f64::NAN]] {
            let mut clipped = row;
            cube.clip(&mut clipped).unwrap();
            let [outside, inside] = [row, clipped].map(|row| {
                let mut sums = vec![0; step.width()];
                step.add(&row, &mut step.scratch(), &mut sums);
                sums
            });
            assert_eq!(outside, inside, "{row:?}");
        }
    }
}

const RULES: [RegionRule; 2] = [RegionRule::NoisedPoint, RegionRule::TruePoint];

fn regions(
    dim: usize,
    rho: f64,
    records: usize,
    k: usize,
    settings: RegionCoresetSettings,
) -> Result<RegionCoreset, ClusterError> {
    let cube = PublicBox::cube(dim, -10.0, 10.0).expect("valid");
    let (near, budget) = (Nearby::new(rho).expect("valid"), Budget::new(1.0, 1e-6).expect("valid"));
    RegionCoreset::new(cube, near, records as u64, k, budget, settings)
}

/// With noise as wide as the box, counts of records still find clusters, for both objectives.
#[test]
fn regions_improve_on_noised_points() {
    let (points, _) = blobs(20_000, 2, 4, 8.0, 6);
    let settings = KMeansSettings { restarts: 5, ..Default::default() };
    let solver = KMeans::new(4, settings).expect("valid");
    let best = solver.exact_fit(points.view(), None, &mut rng(1)).expect("finite").squared_inertia;
    let ratio = |coreset: &crate::coreset::PrivateCoreset| {
        let fit = solver.post_fit(coreset, &mut rng(2)).expect("finite");
        squared_inertia(points.view(), fit.centres.view()).unwrap() / best
    };
    let noised = plan(2, 5.0, 20_000).simulate(points.view(), &mut rng(3)).expect("fits").output;
    let noised = ratio(&noised);
    for rule in RULES {
        let settings = RegionCoresetSettings { rule, ..Default::default() };
        let plan = regions(2, 5.0, 20_000, 4, settings).expect("valid");
        let coreset = plan.simulate(points.view(), &mut rng(3)).expect("fits").output;
        assert!((coreset.total_weight() / 20_000.0 - 1.0).abs() < 0.2, "{rule:?}");
        let found = ratio(&coreset);
        assert!(found < 0.3 * noised, "{rule:?}: {found} {noised}");
        let medians = KMedian::new(4, KMedianSettings::default()).expect("valid");
        let fit = medians.post_fit(&coreset, &mut rng(2)).expect("finite");
        let medians = squared_inertia(points.view(), fit.centres.view()).unwrap() / best;
        assert!(medians < 0.3 * noised, "{rule:?}: {medians} {noised}");
    }
}

#[test]
fn regions_stand_odd_data_and_spend_the_budget() {
    for (dim, rule) in [1, 3, 50].into_iter().flat_map(|dim| RULES.map(|rule| (dim, rule))) {
        for (name, points) in adversarial(dim, 30).into_iter().filter(|(_, all)| !all.is_empty()) {
            for (rho, k) in [(1e-6, 1), (0.3, 4), (1e6, 50)] {
                let settings = RegionCoresetSettings { rule, ..Default::default() };
                let plan = regions(dim, rho, points.len(), k, settings).expect("valid");
                let receipt = plan.receipt();
                assert!(receipt.within_budget());
                assert!(receipt.epsilon().is_some_and(|epsilon| epsilon.get() > 0.99), "{rule:?}");
                let found = plan.simulate(points.view(), &mut rng(2)).expect("fits").output;
                assert!(found.points().coords().iter().all(|x| x.abs() <= 20.0), "{name}");
                assert!(found.weights().iter().all(|w| *w > 0.0), "{name}");
            }
        }
    }
}

/// From a distance of the diagonal on, nothing changes any more; and bytes do not depend on threads.
#[test]
fn far_distances_and_threads_do_not_matter() {
    let (points, _) = blobs(3_000, 2, 3, 8.0, 4);
    for rule in RULES {
        let run = |rho: f64| {
            let settings = RegionCoresetSettings { rule, ..Default::default() };
            let plan = regions(2, rho, 3_000, 3, settings).expect("valid");
            plan.simulate(points.view(), &mut rng(5)).expect("fits").output
        };
        let diagonal = 800.0_f64.sqrt();
        assert_eq!(run(diagonal), run(1e9));
        let reference = run(0.2);
        for threads in [1, 2, 7] {
            let pool =
                rayon::ThreadPoolBuilder::new().num_threads(threads).build().expect("a pool");
            assert_eq!(pool.install(|| run(0.2)), reference);
        }
    }
}

/// Derived settings follow the noise, and what is given instead is kept.
#[test]
fn thresholds_of_regions_are_derived_or_given() {
    let plan = regions(2, 0.1, 1_000, 3, RegionCoresetSettings::default()).expect("valid");
    let again = regions(2, 0.2, 1_000, 3, RegionCoresetSettings::default()).expect("valid");
    assert!((again.far() / plan.far() - 2.0).abs() < 1e-4, "{} {}", plan.far(), again.far());
    assert_eq!(plan.least_cell(), plan.thresholds()[1].unsigned_abs());
    // Fifty cells of quadtrees change, two of regions, at the same loss.
    let [trees, cells] = plan.thresholds().map(|threshold| threshold as f64);
    assert!((trees / cells) > 5.0 && (trees / cells) < 7.0, "{trees} {cells}");
    let settings = RegionCoresetSettings {
        far: Some(0.25),
        least_cell: Some(7),
        coarse_level: Some(3),
        finest_level: Some(4),
        repetitions: 1,
        ..Default::default()
    };
    let given = regions(2, 0.1, 1_000, 3, settings).expect("valid");
    assert_eq!((given.far(), given.least_cell()), (0.25, 7));
    assert!(given.thresholds()[0] < plan.thresholds()[0]);
    let message = |plan: Result<RegionCoreset, ClusterError>| plan.expect_err("bad").to_string();
    let d = RegionCoresetSettings { coarse_level: Some(5), ..Default::default() };
    for (finest, want) in [
        (5, "finest_level must be at most 20, and above the coarse one, got 5"),
        (21, "finest_level must be at most 20, and above the coarse one, got 21"),
    ] {
        let settings = RegionCoresetSettings { finest_level: Some(finest), ..d };
        assert_eq!(message(regions(2, 0.1, 9, 3, settings)), want);
    }
    assert_eq!(
        message(regions(2, 0.1, 9, 3, RegionCoresetSettings { repetitions: 0, ..d })),
        "repetitions must be between 1 and 100, got 0"
    );
    assert_eq!(message(regions(2, 0.1, 0, 3, d)), "`records` must be at least 1, got 0");
    for far in [0.0, -1.0, f64::NAN, f64::INFINITY] {
        let message = |settings| message(regions(2, 0.1, 9, 3, settings));
        let refused = message(RegionCoresetSettings { far: Some(far), ..d });
        assert!(refused.starts_with("far must be finite and > 0"));
        let refused = message(RegionCoresetSettings { spacing: Some(far), ..d });
        assert!(refused.starts_with("spacing must be finite and > 0"));
    }
    assert!(message(regions(2, 0.1, 9, 0, d)).contains("number of clusters"));
    let none = Points::new(vec![], 2).expect("rows");
    let plan = regions(2, 0.1, 9, 3, d).expect("valid");
    let refused = plan.simulate(none.view(), &mut rng(1));
    assert_eq!(refused.expect_err("nine missing"), ClusterError::Records { expected: 9, got: 0 });
}

/// The instance of the lower bound: of `2 k` places within half the distance of a point, `k` have a record each, and `k` centres could cost nothing. Any two
/// places are neighbours, so whether a centre is near a place hardly depends on whether a record is there: the cost is at least
/// `k (spacing / 2)^2 (1 - delta) / (1 + e^epsilon)` on average over all choices.
#[test]
fn nobody_costs_less_than_the_lower_bound() {
    let (k, epsilon, delta) = (8, 0.1, 1e-6);
    let places = |rho: f64| -> (Vec<[f64; 2]>, f64) {
        // Four by four; the diagonal of all is the distance.
        let spacing = 0.999 * rho / (3.0 * std::f64::consts::SQRT_2);
        let at = |i: usize| (i as f64 - 1.5) * spacing;
        ((0..16).map(|i| [at(i % 4), at(i / 4)]).collect(), spacing)
    };
    let subset = |rho: f64, seed: u64| {
        let mut order: Vec<[f64; 2]> = places(rho).0;
        order.shuffle(&mut rng(seed));
        Points::new(order[..k].concat(), 2).expect("rows")
    };
    let runs = 40;
    let solver = KMeans::new(k, KMeansSettings::default()).expect("valid");
    let mean = |rho: f64, centres: &dyn Fn(&Points, u64) -> Points| {
        let cost = |seed: u64| {
            let records = subset(rho, seed);
            squared_inertia(records.view(), centres(&records, seed).view()).unwrap()
        };
        (0..runs).map(cost).sum::<f64>() / runs as f64
    };
    let cube = || PublicBox::cube(2, -10.0, 10.0).expect("valid");
    let near = |rho| Nearby::new(rho).expect("valid");
    let budget = Budget::new(epsilon, delta).expect("valid");
    let noised = |rho: f64, budget: Budget| {
        mean(rho, &|records, seed| {
            let plan = NoisedPoints::new(cube(), near(rho), 8, budget).expect("valid");
            let noised = plan.simulate(records.view(), &mut rng(seed)).expect("fits").output;
            solver.post_fit(&noised, &mut rng(seed)).expect("finite").centres
        })
    };
    let map = |rho: f64| {
        let settings =
            PrivateMapSettings { levels: Some(1..=4), fit_steps: 30, ..Default::default() };
        let plan = PrivateMap::within(cube(), near(rho), 8, budget, settings).expect("valid");
        mean(rho, &|records, seed| {
            let map = plan.simulate(records.view(), &mut rng(seed)).expect("fits").output;
            map.kmeans(k, &mut rng(seed)).expect("valid").centres
        })
    };
    let regions = |rho: f64, rule| {
        let settings = RegionCoresetSettings { rule, ..Default::default() };
        let plan = RegionCoreset::new(cube(), near(rho), 8, k, budget, settings).expect("valid");
        mean(rho, &|records, seed| {
            let coreset = plan.simulate(records.view(), &mut rng(seed)).expect("fits").output;
            solver.post_fit(&coreset, &mut rng(seed)).expect("finite").centres
        })
    };
    for rho in [0.5, 0.01] {
        let (all, spacing) = places(rho);
        let bound = k as f64 * (0.5 * spacing).powi(2) * (1.0 - delta) / (1.0 + epsilon.exp());
        for found in [noised(rho, budget), map(rho), regions(rho, RULES[0]), regions(rho, RULES[1])]
        {
            assert!(found >= bound, "{rho}: {found} {bound}");
        }
        // Who looks at no record and takes every second place is within a factor of five; who looks at all of them, below.
        let half: Vec<f64> = all
            .iter()
            .enumerate()
            .filter(|(i, _)| (i + i / 4) % 2 == 0)
            .flat_map(|(_, p)| *p)
            .collect();
        let half = Points::new(half, 2).expect("rows");
        let blind = mean(rho, &|_, _| half.clone());
        assert!(blind >= bound && blind < 5.0 * bound, "{rho}: {blind} {bound}");
        let open = mean(rho, &|records, _| records.clone());
        assert!(open < bound);
    }
    // What is lost follows the square of the distance: that of a fourth is a sixteenth.
    let budget = Budget::new(1.0, delta).expect("valid");
    let falls = noised(0.4, budget) / noised(0.1, budget);
    assert!((8.0..32.0).contains(&falls), "{falls}");
}

/// A map in few dimensions. Above, a record's noise of a millionth of the box costs less than hiding whole records does, and that of a tenth more; the
/// receipt says which, whole records are hidden at half the `mu`, and both find the clusters.
#[test]
fn a_plan_chooses_by_public_numbers() {
    let budget = Budget::new(1.0, 1e-6).expect("valid");
    let most = budget_to_mu(budget).expect("has a delta").get();
    for (dim, rho, way, step) in [
        (2, 0.5, Way::Map, "map"),
        (6, 1e-4, Way::Soft, "noised points and soft re-centring"),
        (6, 1.0, Way::Whole, "whole records hidden"),
    ] {
        let (points, _) = blobs(6_000, dim, 4, 6.0, 5);
        let cube = PublicBox::cube(dim, -10.0, 10.0).expect("valid");
        let (near, n) = (Nearby::new(rho).expect("valid"), points.len() as u64);
        let plan = NearbyKMeans::new(cube, near, n, 4, budget, 1).expect("valid");
        let receipt = plan.receipt();
        assert_eq!(plan.way(), way, "{receipt:#}");
        assert!(format!("{receipt:#}").contains(step), "{receipt:#}");
        let spent = receipt.gaussian().expect("Gaussian").get();
        assert!(receipt.within_budget() && spent > 0.999_9 * most, "{receipt:#}");
        let solver = KMeans::new(4, KMeansSettings { restarts: 5, ..Default::default() });
        let best = solver.expect("valid").exact_fit(points.view(), None, &mut rng(1));
        let found = plan.simulate(points.view(), &mut rng(3)).expect("fits").output;
        let cost = squared_inertia(points.view(), found.centres.view()).unwrap();
        let cost = cost / best.expect("finite").squared_inertia;
        assert!(cost < 1.1, "{way:?}: {cost}");
    }
}

#[test]
fn a_choosing_plan_stands_odd_data_and_bad_settings() {
    let budget = Budget::new(1.0, 1e-6).expect("valid");
    let cube = |dim| PublicBox::cube(dim, -10.0, 10.0).expect("valid");
    for dim in [1, 4, 50] {
        for (name, points) in adversarial(dim, 30) {
            for (rho, k) in [(1e-3, 1), (0.3, 4), (1e6, 50)] {
                let (near, n) = (Nearby::new(rho).expect("valid"), points.len() as u64);
                let plan = NearbyKMeans::new(cube(dim), near, n, k, budget, 0).expect("valid");
                let found = plan.simulate(points.view(), &mut rng(2)).expect("fits").output;
                assert_eq!(found.centres.len(), found.counts.len(), "{name}");
                assert!(!found.centres.is_empty() && found.centres.len() <= k, "{name}");
                assert!(found.centres.view().rows().all(|c| cube(dim).contains(c)), "{name}");
            }
        }
    }
    let near = Nearby::new(0.5).expect("valid");
    let refused = NearbyKMeans::new(cube(5), near, 5, 0, budget, 0).expect_err("no cluster");
    assert_eq!(refused, ClusterError::ClusterCount { got: 0 });
    let pure = Budget::new(1.0, 0.0).expect("valid");
    for dim in [2, 5] {
        let refused = NearbyKMeans::new(cube(dim), near, 5, 2, pure, 0).expect_err("no delta");
        assert!(refused.to_string().starts_with("delta"), "{refused}");
    }
    let plan = NearbyKMeans::new(cube(5), near, 5, 2, budget, 0).expect("valid");
    let none = Points::new(vec![], 5).expect("rows");
    let refused = plan.simulate(none.view(), &mut rng(1)).expect_err("five missing");
    assert_eq!(refused, ClusterError::Records { expected: 5, got: 0 });
}

/// With a large delta, half of the budget needs no epsilon; a plan hides whole records all the same, and spends most of it.
#[test]
fn a_choosing_plan_stands_a_large_delta() {
    let cube = PublicBox::cube(5, 0.0, 100.0).expect("valid");
    let near = Nearby::new(1_000.0).expect("valid");
    for (epsilon, delta) in [(1.0, 0.3), (0.1, 0.05), (1e-3, 0.9), (1.0, 1e-9)] {
        for records in [0, 1, 100, 1_000_000] {
            let budget = Budget::new(epsilon, delta).expect("valid");
            let plan = NearbyKMeans::new(cube.clone(), near, records, 3, budget, 0);
            let plan = plan.expect("public numbers that can be met");
            if records == 1_000_000 {
                assert_eq!(plan.way(), Way::Whole);
            }
            let receipt = plan.receipt();
            assert!(receipt.within_budget(), "{receipt}");
            let spent = receipt.gaussian().map_or(1.0, Mu::get);
            let most = budget_to_mu(budget).expect("valid").get();
            assert!(spent > 0.9 * most || plan.way() == Way::Soft, "{spent} of {most}: {receipt}");
        }
    }
}
