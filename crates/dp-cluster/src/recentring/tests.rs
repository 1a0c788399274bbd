//! Settings, odd data, receipts, and what re-centring finds.

use dp_accounting::{Budget, Epsilon};
use dp_geometry::{Points, PublicBall, PublicBox};
use dp_mechanism::Mechanism;
use rand::RngExt;

use super::{DpmRecentred, DpmRecentredSettings, Recentred, RecentredSplit, Rounds, part_of};
use crate::ClusterError;
use crate::Clustering;
use crate::dpm::{Dpm, DpmSettings, IntervalSize};
use crate::lsh_splits::{LshSplits, LshSplitsSettings};
use crate::metrics::{distinct_clusters_found, squared_inertia};
use crate::testing::{adversarial, blobs, rng};

fn cube(dim: usize) -> PublicBox {
    PublicBox::cube(dim, -10.0, 10.0).expect("valid")
}

fn budget(epsilon: f64) -> Budget {
    Budget::new(epsilon, 1e-6).expect("valid")
}

fn planned(dim: usize, settings: DpmRecentredSettings) -> Result<DpmRecentred, ClusterError> {
    DpmRecentred::new(cube(dim), budget(1.0), settings)
}

#[test]
fn settings_out_of_range_are_refused_with_their_value() {
    let split = RecentredSplit::default();
    let rounds = Rounds::default();
    let d = DpmRecentredSettings::default;
    let two = |settings| planned(2, settings);
    for (plan, want) in [
        (
            two(DpmRecentredSettings { max_depth: 0, ..d() }),
            "max_depth must be between 1 and 14, got 0",
        ),
        (
            two(DpmRecentredSettings { max_depth: 11, ..d() }),
            "max_depth must be between 1 and 10, got 11",
        ),
        (
            two(DpmRecentredSettings { minimum_share: Some(f64::NAN), ..d() }),
            "minimum_share must be above 0 and below 1, got NaN",
        ),
        (
            two(DpmRecentredSettings { clusters: Some(0), ..d() }),
            "the number of clusters must lie between 1 and 16777216, got 0",
        ),
        (
            two(DpmRecentredSettings { split: RecentredSplit { radii: 0.0, ..split }, ..d() }),
            "radii must be a finite share above 0, got 0",
        ),
        (
            two(DpmRecentredSettings {
                split: RecentredSplit { cuts: f64::INFINITY, ..split },
                ..d()
            }),
            "cuts must be a finite share above 0, got inf",
        ),
        (
            two(DpmRecentredSettings {
                interval_size: IntervalSize::Estimated,
                split: RecentredSplit { interval: -1.0, ..split },
                ..d()
            }),
            "interval must be a finite share above 0, got -1",
        ),
        (
            two(DpmRecentredSettings {
                rounds: Rounds { shares: vec![], ..rounds.clone() },
                ..d()
            }),
            "rounds must be between 1 and 100, got 0",
        ),
        (
            two(DpmRecentredSettings {
                rounds: Rounds { shares: vec![1.0, f64::NAN], ..rounds.clone() },
                ..d()
            }),
            "share of a round must be finite and above 0, got NaN",
        ),
        (
            two(DpmRecentredSettings { rounds: Rounds { quantile: 1.0, ..rounds }, ..d() }),
            "quantile must be above 0 and below 1, got 1",
        ),
        (
            DpmRecentred::new(cube(2), Budget::new(1.0, 0.0).expect("a pure budget"), d()),
            "delta must be above 0: the sums have Gaussian noise, got 0",
        ),
    ] {
        assert_eq!(plan.expect_err("out of range").to_string(), want);
    }
    for width in [1e-120, 1e120] {
        let public_box = PublicBox::cube(2, 0.0, width).expect("valid");
        let error = DpmRecentred::new(public_box, budget(1.0), DpmRecentredSettings::default())
            .expect_err("extreme");
        assert!(error.to_string().contains("between 1e-100 and 1e100"), "{error}");
    }
    for share in [0.0, -1.0, 1.1, f64::NAN] {
        assert!(part_of(budget(1.0), share).is_err(), "{share}");
    }
}

#[test]
fn a_start_that_leaves_nothing_is_refused() {
    let start = || Dpm::new(cube(2), budget(1.0), DpmSettings::default()).expect("valid");
    let error = Recentred::new(start(), cube(2), budget(0.9), Rounds::default(), None);
    let message = error.expect_err("the start has spent more").to_string();
    assert!(
        message.starts_with("cost of the start must be an epsilon below that of the budget"),
        "{message}"
    );
    assert!(Recentred::new(start(), cube(2), budget(1.5), Rounds::default(), None).is_ok());
}

#[test]
fn points_of_another_dimension_are_refused() {
    let plan = planned(3, DpmRecentredSettings::default()).expect("valid");
    let points = Points::new(vec![0.0; 4], 2).expect("whole rows");
    let error = plan.simulate(points.view(), &mut rng(1)).expect_err("wrong shape");
    assert_eq!(error, ClusterError::Dimension { expected: 3, got: 2 });
}

/// One to a thousand clusters asked for, more than there are points or leaves; few and many
/// dimensions; large and tiny budgets.
#[test]
fn odd_data_is_released_like_any_other() {
    for (dim, n) in [(1, 300), (2, 600), (784, 20)] {
        for (k, epsilon) in [(None, 1.0), (Some(1), 100.0), (Some(5), 0.05), (Some(1_000), 1.0)] {
            let settings = DpmRecentredSettings { max_depth: 4, clusters: k, ..Default::default() };
            let plan = DpmRecentred::new(cube(dim), budget(epsilon), settings).expect("valid");
            for (name, points) in adversarial(dim, n) {
                let release = plan.simulate(points.view(), &mut rng(3)).expect("the shape fits");
                check(&release.output, &cube(dim), k, name);
            }
        }
    }
}

fn check(clustering: &Clustering, public_box: &PublicBox, k: Option<usize>, name: &str) {
    assert!(!clustering.counts.is_empty(), "{name}");
    assert_eq!(clustering.centres.len(), clustering.counts.len(), "{name}");
    assert!(clustering.centres.len() <= k.unwrap_or(usize::MAX), "{name}");
    assert!(clustering.centres.view().rows().all(|c| public_box.contains(c)), "{name}");
    assert!(clustering.counts.iter().all(|&count| count >= 1), "{name}");
}

#[test]
fn receipts_stay_within_the_budget_to_the_last_digit() {
    let mut rng = rng(4);
    for i in 0..1_000 {
        let epsilon = 10_f64.powf(rng.random_range(-2.0..2.0));
        let delta = 10_f64.powf(rng.random_range(-15.0..-1.0));
        // At a large delta a small part of the budget is worth an epsilon of 0, which is refused.
        let delta = if i % 4 == 0 { delta * 1e-6 } else { delta };
        let budget = Budget::new(epsilon, delta).expect("valid");
        let rounds = 1 + i % 9;
        let mut share = || rng.random_range(0.01..0.3);
        let rounds = Rounds { shares: (0..rounds).map(|_| share()).collect(), ..Rounds::default() };
        let public_box = cube(1 + i % 5);
        let receipt = if i % 4 == 0 {
            let part = part_of(budget, share()).expect("valid");
            let settings = DpmSettings { max_depth: 1 + i % 7, ..Default::default() };
            let start = Dpm::new(public_box.clone(), part, settings);
            Recentred::new(start.expect("valid"), public_box, budget, rounds, None)
                .expect("the start leaves something")
                .receipt()
        } else {
            let split = RecentredSplit {
                interval: share(),
                counts: share(),
                cuts: share(),
                radii: share(),
                sums: share(),
            };
            let size = [IntervalSize::Estimated, IntervalSize::default()][i % 2];
            let settings = DpmRecentredSettings {
                split,
                interval_size: size,
                max_depth: 1 + i % 10,
                rounds,
                ..Default::default()
            };
            DpmRecentred::new(public_box, budget, settings).expect("valid").receipt()
        };
        assert!(receipt.within_budget(), "{receipt}");
        let spent = receipt.epsilon().map_or(0.0, Epsilon::get);
        assert!(spent > 0.999_99 * epsilon, "{receipt}");
    }
}

#[test]
fn the_answer_does_not_depend_on_the_number_of_threads() {
    let (points, _) = blobs(9_000, 3, 9, 9.0, 5);
    let settings = DpmRecentredSettings { clusters: Some(9), ..Default::default() };
    let plan = planned(3, settings).expect("valid");
    let release = |threads| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().expect("a pool");
        let release = pool.install(|| plan.simulate(points.view(), &mut rng(6)));
        serde_json::to_string(&release.expect("the shape fits")).expect("serialisable")
    };
    assert_eq!(release(1), release(2));
    assert_eq!(release(1), release(7));
}

#[test]
fn plans_survive_a_file_and_a_file_cannot_bypass_the_checks() {
    let settings = DpmRecentredSettings { clusters: Some(3), max_depth: 5, ..Default::default() };
    let plan = planned(2, settings).expect("valid");
    let json = serde_json::to_string(&plan).expect("serialisable");
    assert_eq!(serde_json::from_str::<DpmRecentred>(&json).expect("own output"), plan);
    let smuggled = json.replace("\"quantile\":0.8", "\"quantile\":8.0");
    let error = serde_json::from_str::<DpmRecentred>(&smuggled).expect_err("checked on reading");
    assert!(error.to_string().contains("quantile must be above 0 and below 1, got 8"), "{error}");
}

/// With next to no noise the rounds are Lloyd's iteration, and every blob is found.
#[test]
fn clear_clusters_are_found_as_well_as_without_privacy() {
    for (dim, k) in [(2, 5), (5, 12), (20, 12)] {
        let (points, truth) = blobs(6_000, dim, k, 90.0, 7);
        let public_box = PublicBox::cube(dim, -100.0, 100.0).expect("valid");
        let settings = DpmRecentredSettings { clusters: Some(k), ..Default::default() };
        let plan = DpmRecentred::new(public_box, budget(20.0), settings).expect("valid");
        let best = squared_inertia(points.view(), truth.view()).unwrap();
        for seed in 0..5 {
            let release = plan.simulate(points.view(), &mut rng(seed)).expect("the shape fits");
            let centres = release.output.centres;
            assert_eq!(
                distinct_clusters_found(centres.view(), truth.view()).unwrap(),
                k,
                "{dim}, {seed}"
            );
            let ratio = squared_inertia(points.view(), centres.view()).unwrap() / best;
            assert!(ratio < 1.01, "{dim} dimensions, seed {seed}: {ratio}");
        }
    }
}

/// Without k the number of clusters follows from released values.
#[test]
fn the_number_of_clear_clusters_need_not_be_given() {
    let (points, truth) = blobs(8_000, 4, 8, 90.0, 8);
    let public_box = PublicBox::cube(4, -100.0, 100.0).expect("valid");
    let plan = DpmRecentred::new(public_box, budget(10.0), DpmRecentredSettings::default())
        .expect("valid");
    for seed in 0..5 {
        let release = plan.simulate(points.view(), &mut rng(seed)).expect("the shape fits");
        assert_eq!(release.output.centres.len(), 8, "seed {seed}");
        let found = distinct_clusters_found(release.output.centres.view(), truth.view()).unwrap();
        assert_eq!(found, 8, "seed {seed}");
    }
}

/// Re-centring makes both starts better: the same data and the same whole budget.
#[test]
fn any_start_gets_better() {
    let (points, _) = blobs(20_000, 6, 8, 90.0, 9);
    let public_box = PublicBox::cube(6, -100.0, 100.0).expect("valid");
    let ball = PublicBall::new(vec![0.0; 6], 245.0).expect("valid");
    let inertia = |centres: &Points| squared_inertia(points.view(), centres.view()).unwrap();
    let whole = budget(1.0);
    let part = part_of(whole, 0.4).expect("valid");

    let dpm = |budget| {
        Dpm::new(public_box.clone(), budget, DpmSettings { max_depth: 4, ..Default::default() })
    };
    let lsh = |budget| {
        let settings = LshSplitsSettings { public_seed: 5, ..Default::default() };
        LshSplits::new(ball.clone(), 8, budget, settings)
    };
    let rounds = Rounds::default;
    let plans = (
        Recentred::new(dpm(part).expect("valid"), public_box.clone(), whole, rounds(), Some(8))
            .expect("valid"),
        Recentred::new(lsh(part).expect("valid"), public_box.clone(), whole, rounds(), Some(8))
            .expect("valid"),
    );
    assert_eq!(plans.0.receipt().mechanism(), "dpm-recentred");
    assert_eq!(plans.1.receipt().mechanism(), "lsh-splits-recentred");
    for seed in 0..3 {
        let plain = dpm(whole).expect("valid").simulate(points.view(), &mut rng(seed));
        let better = plans.0.simulate(points.view(), &mut rng(seed));
        let (plain, better) = (plain.expect("fits").output, better.expect("fits").output);
        assert!(inertia(&better.centres) < inertia(&plain.centres), "dpm, seed {seed}");
        check(&better, &public_box, Some(8), "dpm");

        let plain = lsh(whole).expect("valid").simulate(points.view(), &mut rng(seed));
        let better = plans.1.simulate(points.view(), &mut rng(seed));
        let (plain, better) = (plain.expect("fits").output, better.expect("fits").output);
        assert!(inertia(&better.centres) < inertia(&plain.centres), "lsh, seed {seed}");
        check(&better, &public_box, Some(8), "lsh");
    }
}
