//! Settings, odd data, receipts, and swaps against plain costs.

use dp_accounting::{Budget, Epsilon};
use dp_geometry::{Points, PublicBox};
use dp_mechanism::Mechanism;
use rand::RngExt;

use super::costs::{Table, UNITS};
use super::{PrivateLocalSearch, PrivateLocalSearchSettings};
use crate::ClusterError;
use crate::local_search::Objective;
use crate::metrics::{inertia, squared_inertia};
use crate::nearest;
use crate::testing::{adversarial, blobs, rng};

fn cube(dim: usize) -> PublicBox {
    PublicBox::cube(dim, -10.0, 10.0).expect("valid")
}

fn planned(
    candidates: Points,
    k: usize,
    epsilon: f64,
    delta: f64,
    settings: PrivateLocalSearchSettings,
) -> Result<PrivateLocalSearch, ClusterError> {
    let public_box = cube(candidates.dim());
    PrivateLocalSearch::new(
        candidates,
        public_box,
        k,
        Budget::new(epsilon, delta).expect("valid"),
        settings,
    )
}

fn random(n: usize, dim: usize, seed: u64) -> Points {
    let mut rng = rng(seed);
    let coords = (0..n * dim).map(|_| rng.random_range(-11.0..11.0)).collect();
    Points::new(coords, dim).expect("rows")
}

/// Everybody as far away as can be, in one piece: sums of one block fit, and each block counts once.
#[test]
fn costs_of_many_records_at_a_corner_do_not_wrap() {
    const MANY: usize = 200_000;
    let candidates = Points::new(vec![-10.0, -10.0], 1).expect("rows");
    let table = Table::new(cube(1), Objective::KMeans, candidates.view());
    let points = Points::new(vec![10.0; MANY], 1).expect("rows");
    let all = i64::from(UNITS) * i64::try_from(MANY).expect("few");
    let one = rayon::ThreadPoolBuilder::new().num_threads(1).build().expect("a pool");
    assert_eq!(one.install(|| table.swaps(points.view(), &[0])), [all, all]);
}

/// What one pass computes for all swaps is what each costs by itself, up to the rounding of every record's cost.
#[test]
fn all_swaps_cost_what_each_costs_alone() {
    for (seed, objective) in [(1, Objective::KMeans), (2, Objective::KMedian)] {
        for dim in [1, 3] {
            let (points, candidates) = (random(60, dim, seed), random(9, dim, seed + 10));
            let clip = |points: &Points| {
                let mut coords = points.view().coords().to_vec();
                coords.chunks_exact_mut(dim).for_each(|row| cube(dim).clip(row).unwrap());
                Points::new(coords, dim).expect("rows")
            };
            let table = Table::new(cube(dim), objective, candidates.view());
            let (points, candidates) = (clip(&points), clip(&candidates));
            let chosen = vec![2, 5, 7];
            let swaps = table.swaps(points.view(), &chosen);
            for block in [1, 2, 7] {
                assert_eq!(table.swaps_by_blocks(points.view(), &chosen, block), swaps, "{block}");
            }
            let most = objective.of_squared(cube(dim).diagonal().powi(2));
            for (place, cost) in swaps.iter().enumerate() {
                let mut set = chosen.clone();
                set[place / 9] = place % 9;
                let rows = set.iter().flat_map(|&i| candidates[i].to_vec()).collect();
                let centres = Points::new(rows, dim).expect("rows");
                let plain: f64 = nearest(points.view(), centres.view())
                    .unwrap()
                    .squared_distances
                    .iter()
                    .map(|d| objective.of_squared(*d))
                    .sum();
                let plain = plain / most * f64::from(UNITS);
                assert!((*cost as f64 - plain).abs() <= 31.0, "{place}: {cost} {plain}");
            }
        }
    }
}

/// One record moves the cost of every swap by 0 to [`UNITS`], whatever it holds, and there are records that move one by all of it.
#[test]
fn a_record_is_worth_at_most_the_diagonal() {
    let dim = 2;
    let corners = Points::new(vec![-10.0, -10.0, 10.0, 10.0, 10.0, -10.0], dim).expect("rows");
    for objective in [Objective::KMeans, Objective::KMedian] {
        let table = Table::new(cube(dim), objective, corners.view());
        let mut largest = 0;
        for (_, points) in adversarial(dim, 1) {
            for chosen in [vec![0], vec![0, 1], vec![1, 2]] {
                let costs = table.swaps(points.view(), &chosen);
                let most = if points.is_empty() { 0 } else { i64::from(UNITS) };
                assert!(costs.iter().all(|cost| (0..=most).contains(cost)), "{costs:?}");
                largest = largest.max(costs.into_iter().max().unwrap_or(0));
            }
        }
        assert!(largest > i64::from(UNITS) / 4);
    }
}

#[test]
fn settings_out_of_range_are_refused_with_their_value() {
    let some = |k, settings| planned(random(5, 2, 1), k, 1.0, 1e-6, settings);
    let of = |start: &[usize]| {
        let start = Some(start.to_vec());
        some(2, PrivateLocalSearchSettings { start, ..Default::default() })
    };
    let none = Points::new(vec![], 2).expect("none");
    let d = PrivateLocalSearchSettings::default;
    for (plan, want) in [
        (planned(none, 1, 1.0, 1e-6, d()), "`candidates` must be at least 1, got 0"),
        (some(0, d()), "the number of clusters must lie between 1 and 16777216, got 0"),
        (
            some(2, PrivateLocalSearchSettings { rounds: Some(0), ..d() }),
            "rounds must be between 1 and 100000, got 0",
        ),
        (of(&[1]), "start must be k numbers of candidates, got 1"),
        (of(&[1, 5]), "start must be k numbers of candidates, got 5"),
        (of(&[3, 3]), "start must be k numbers of candidates, each once, got 3"),
    ] {
        assert_eq!(plan.expect_err("out of range").to_string(), want);
    }
}

#[test]
fn odd_data_is_released_like_any_other_and_receipts_stay_within_the_budget() {
    for dim in [1, 2, 7] {
        for (k, delta, objective) in [
            (1, 0.0, Objective::KMeans),
            (3, 1e-6, Objective::KMedian),
            (20, 1e-6, Objective::KMeans),
        ] {
            let settings =
                PrivateLocalSearchSettings { objective, rounds: Some(3), ..Default::default() };
            let plan = planned(random(12, dim, 4), k, 1.0, delta, settings).expect("valid");
            let receipt = plan.receipt();
            let spent = receipt.epsilon().map_or(f64::INFINITY, Epsilon::get);
            assert!(receipt.within_budget() && spent > 0.98, "{k} {delta}: {spent}");
            for (name, points) in adversarial(dim, 200) {
                let output = plan.simulate(points.view(), &mut rng(3)).expect("fits").output;
                assert_eq!(output.centres.len(), k.min(12), "{name}");
                assert!(output.centres.view().rows().all(|c| cube(dim).contains(c)), "{name}");
                assert!(output.counts.iter().all(|&count| count >= 0), "{name}");
            }
            let text = serde_json::to_string(&plan).expect("serialises");
            assert_eq!(serde_json::from_str::<PrivateLocalSearch>(&text).expect("valid"), plan);
        }
    }
}

#[test]
fn receipts_stay_within_the_budget_to_the_last_digit() {
    let (candidates, mut rng) = (random(6, 2, 5), rng(6));
    for i in 0..1_000 {
        let epsilon = 10_f64.powf(rng.random_range(-2.0..2.0));
        let delta = if i % 4 == 0 { 0.0 } else { 10_f64.powf(rng.random_range(-15.0..-1.0)) };
        let settings = PrivateLocalSearchSettings { rounds: Some(1 + i % 9), ..Default::default() };
        let plan = planned(candidates.clone(), 2, epsilon, delta, settings).expect("valid");
        let receipt = plan.receipt();
        assert!(receipt.within_budget(), "{epsilon}, {delta}: {receipt}");
    }
}

/// The planted centres are among the candidates, and are found from the worst start; ten times the records, a tenth of the forecast's share.
#[test]
fn planted_centres_are_found() {
    let (points, planted) = blobs(20_000, 2, 4, 9.0, 8);
    let decoys = random(60, 2, 9);
    let coords = [decoys.view().coords(), planted.view().coords()].concat();
    let candidates = Points::new(coords, 2).expect("rows");
    for objective in [Objective::KMeans, Objective::KMedian] {
        let settings = PrivateLocalSearchSettings {
            objective,
            start: Some(vec![0, 1, 2, 3]),
            ..Default::default()
        };
        let plan = planned(candidates.clone(), 4, 1.0, 1e-6, settings).expect("valid");
        let found = plan.simulate(points.view(), &mut rng(1)).expect("fits").output;
        let cost = match objective {
            Objective::KMeans => squared_inertia,
            Objective::KMedian => inertia,
        };
        let [found, best] =
            [&found.centres, &planted].map(|c| cost(points.view(), c.view()).unwrap());
        assert!(found <= best + 5.0 * plan.forecast(0.01), "{objective:?}: {found} against {best}");
        assert!(found <= 1.5 * best, "{objective:?}: {found} against {best}");
    }
}
