//! Settings, odd data, and what ring rounds find.

use dp_accounting::Budget;
use dp_geometry::{Points, PublicBox};
use dp_mechanism::Mechanism;

use super::{RingRounds, RingRoundsSettings};
use crate::ClusterError;
use crate::metrics::distinct_clusters_found;
use crate::testing::{adversarial, blobs, rng};

fn cube(dim: usize, half: f64) -> PublicBox {
    PublicBox::cube(dim, -half, half).expect("valid")
}

fn budget(epsilon: f64) -> Budget {
    Budget::new(epsilon, 1e-6).expect("valid")
}

fn planned(
    dim: usize,
    k: usize,
    epsilon: f64,
    settings: RingRoundsSettings,
) -> Result<RingRounds, ClusterError> {
    RingRounds::new(cube(dim, 10.0), k, budget(epsilon), settings)
}

#[test]
fn settings_out_of_range_are_refused_with_their_value() {
    let two = |settings| planned(2, 3, 1.0, settings);
    let pure = Budget::new(1.0, 0.0).expect("a pure budget");
    let d = RingRoundsSettings::default();
    for (plan, want) in [
        (planned(2, 0, 1.0, d), "the number of clusters must lie between 1 and 16777216, got 0"),
        (two(RingRoundsSettings { rounds: 0, ..d }), "rounds must be between 1 and 20, got 0"),
        (two(RingRoundsSettings { rounds: 21, ..d }), "rounds must be between 1 and 20, got 21"),
        (
            two(RingRoundsSettings { most_planes: 11, ..d }),
            "most_planes must be at most 10, got 11",
        ),
        (
            two(RingRoundsSettings { count_weight: Some(0.0), ..d }),
            "count_weight must be between 0.01 and 100, got 0",
        ),
        (
            two(RingRoundsSettings { count_weight: Some(f64::NAN), ..d }),
            "count_weight must be between 0.01 and 100, got NaN",
        ),
        (
            RingRounds::new(cube(2, 1e80), 3, budget(1.0), d),
            "the public box's extent must be at most 1e75, with a diagonal of at least 1e-75, got \
             1e80",
        ),
        (
            RingRounds::new(cube(2, 10.0), 3, pure, d),
            "delta must be above 0: the sums have Gaussian noise, got 0",
        ),
    ] {
        assert_eq!(plan.expect_err("out of range").to_string(), want);
    }
}

#[test]
fn points_of_another_dimension_are_refused() {
    let plan = planned(3, 2, 1.0, RingRoundsSettings::default()).expect("valid");
    let points = Points::new(vec![0.0; 4], 2).expect("whole rows");
    let error = plan.simulate(points.view(), &mut rng(1)).expect_err("wrong shape");
    assert_eq!(error, ClusterError::Dimension { expected: 3, got: 2 });
}

/// Wide clusters leave many records in cells that noise hides; the counts are those of all records all the same.
#[test]
fn counts_add_up_to_all_records() {
    for (dim, k, half) in [(2, 3, 10.0), (5, 4, 12.0)] {
        let (points, _) = blobs(3_000, dim, k, 9.0, 8);
        let plan = RingRounds::new(cube(dim, half), k, budget(0.7), RingRoundsSettings::default())
            .expect("valid");
        for seed in 0..4 {
            let output = plan.simulate(points.view(), &mut rng(seed)).expect("fits").output;
            let all: i64 = output.counts.iter().sum();
            // The noise of the number of records has a standard deviation of some 70.
            assert!((2_700..3_300).contains(&all), "{dim} dimensions, seed {seed}: {all}");
        }
    }
}

/// Whatever the records, there is a centre, at most `k` are, and all of them are in the box.
#[test]
fn odd_data_is_released_like_any_other() {
    for (dim, n) in [(1, 300), (2, 600), (784, 20)] {
        for (k, epsilon) in [(1, 100.0), (5, 0.05), (1_000, 1.0)] {
            for rounds in [1, 3] {
                let settings = RingRoundsSettings { rounds, ..Default::default() };
                let plan = planned(dim, k, epsilon, settings).expect("valid");
                for (name, points) in adversarial(dim, n) {
                    let output = plan.simulate(points.view(), &mut rng(3)).expect("fits").output;
                    assert!((1..=k).contains(&output.centres.len()), "{name}");
                    assert_eq!(output.centres.len(), output.counts.len(), "{name}");
                    let inside = |c: &[f64]| cube(dim, 10.0).contains(c);
                    assert!(output.centres.view().rows().all(inside), "{name}");
                }
            }
        }
    }
}

#[test]
fn plans_survive_a_file_and_a_file_cannot_bypass_the_checks() {
    let settings = RingRoundsSettings { rounds: 4, ..Default::default() };
    let plan = planned(2, 3, 1.0, settings).expect("valid");
    let json = serde_json::to_string(&plan).expect("serialisable");
    assert_eq!(serde_json::from_str::<RingRounds>(&json).expect("own output"), plan);
    let smuggled = json.replace("\"rounds\":4", "\"rounds\":400");
    let error = serde_json::from_str::<RingRounds>(&smuggled).expect_err("checked on reading");
    assert!(error.to_string().contains("rounds must be between 1 and 20, got 400"), "{error}");
}

#[test]
fn the_answer_does_not_depend_on_the_number_of_threads() {
    let (points, _) = blobs(9_000, 3, 9, 9.0, 5);
    let plan = planned(3, 9, 1.0, RingRoundsSettings::default()).expect("valid");
    let release = |threads| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().expect("a pool");
        let release = pool.install(|| plan.simulate(points.view(), &mut rng(6)));
        serde_json::to_string(&release.expect("the shape fits")).expect("serialisable")
    };
    assert_eq!(release(1), release(2));
    assert_eq!(release(1), release(7));
}

/// Radii are shares of the diagonal, so powers of two pass through to the last bit.
#[test]
fn a_box_and_data_on_another_scale_give_the_same_release_on_that_scale() {
    let (points, _) = blobs(4_000, 3, 6, 9.0, 8);
    let released = |factor: f64| {
        let scaled = points.view().coords().iter().map(|x| x * factor).collect();
        let scaled = Points::new(scaled, 3).expect("whole rows");
        let plan =
            RingRounds::new(cube(3, 10.0 * factor), 6, budget(2.0), RingRoundsSettings::default());
        let output =
            plan.expect("valid").simulate(scaled.view(), &mut rng(7)).expect("fits").output;
        let back = output.centres.view().coords().iter().map(|x| x / factor);
        (back.collect::<Vec<f64>>(), output.counts)
    };
    assert_eq!(released(1.0), released(1_024.0));
    assert_eq!(released(1.0), released(1.0 / 4_096.0));
}

/// In a box that fits and in one a thousand times too wide, with clusters of a fiftieth of the largest: all of them are found, in each of ten sets. Where a group
/// of noise at the far end of the box was as good as another, 14 of 160 clusters of such sets were lost.
#[test]
fn neither_the_box_nor_small_clusters_matter() {
    let dim = 5;
    let plans = [100.0, 1e5].map(|half| {
        RingRounds::new(cube(dim, half), 4, budget(1.0), RingRoundsSettings::default())
            .expect("valid")
    });
    for seed in 0..10 {
        let (mut coords, mut truth) = (Vec::new(), Vec::new());
        for (size, number) in [20_000, 20_000, 400, 400].into_iter().zip(0..) {
            let (points, centre) = blobs(size, dim, 1, 90.0, 20 + 4 * seed + number);
            coords.extend_from_slice(points.view().coords());
            truth.extend_from_slice(centre.view().coords());
        }
        let [points, truth] = [coords, truth].map(|x| Points::new(x, dim).expect("whole rows"));
        for (plan, box_is) in plans.iter().zip(["right", "wide"]) {
            let output = plan.simulate(points.view(), &mut rng(seed)).expect("fits").output;
            let found = distinct_clusters_found(output.centres.view(), truth.view()).unwrap();
            assert_eq!(found, 4, "box {box_is}, set {seed}");
        }
    }
}

/// Many clusters of so few records that in some round noise hides one: it stays where the round before has seen it. Of the 3,000 here, 63 are
/// lost, and 143 were with what each round itself shows.
#[test]
fn clusters_that_a_round_has_seen_stay() {
    let (dim, k) = (10, 20);
    let settings = RingRoundsSettings { rounds: 5, ..Default::default() };
    let plan = RingRounds::new(cube(dim, 100.0), k, budget(0.26), settings).expect("valid");
    let mut missed = 0;
    for seed in 0..150 {
        let (points, truth) = blobs(300 * k, dim, k, 90.0, 500 + seed);
        let output = plan.simulate(points.view(), &mut rng(seed)).expect("fits").output;
        let found = distinct_clusters_found(output.centres.view(), truth.view()).expect("alike");
        missed += k - found;
    }
    assert!(missed < 100, "{missed}");
}

/// A tight cluster has all of its records in groups, wide ones have not: what is missing is theirs, and not its.
#[test]
fn a_tight_cluster_is_counted_as_it_is() {
    let dim = 2;
    let (mut tight, mut runs) = (0.0, 0);
    for seed in 0..30 {
        let (wide, truth) = blobs(6_000, dim, 3, 15.0, 40 + seed);
        let coords = wide.view().coords().iter().map(|x| 6.0 * x).collect::<Vec<f64>>();
        let (point, at) = blobs(2_000, dim, 1, 90.0, 60 + seed);
        let far = |row: &[f64]| crate::nearest::squared_distance(row, &at[0]) > 2_500.0;
        if !truth.view().rows().all(|row| far(&[6.0 * row[0], 6.0 * row[1]])) {
            continue;
        }
        let coords = [&coords, point.view().coords()].concat();
        let points = Points::new(coords, dim).expect("whole rows");
        let plan = RingRounds::new(cube(dim, 120.0), 4, budget(0.3), RingRoundsSettings::default())
            .expect("valid");
        let output = plan.simulate(points.view(), &mut rng(seed)).expect("fits").output;
        let nearest = crate::nearest(at.view(), output.centres.view()).unwrap().labels[0] as usize;
        let own = crate::nearest(points.view(), output.centres.view()).unwrap().labels;
        let own = own.iter().filter(|label| **label as usize == nearest).count();
        tight += output.counts[nearest] as f64 / own as f64;
        runs += 1;
    }
    let tight = tight / f64::from(runs);
    assert!(runs >= 8 && (0.85..1.1).contains(&tight), "{tight} in {runs} runs");
}
