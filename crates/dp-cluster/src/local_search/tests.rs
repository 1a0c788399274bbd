//! Swaps against exhaustive search and against prices computed the plain way.

use approx::assert_abs_diff_eq;
use dp_geometry::{Points, PointsView};
use rand::RngExt;

use super::nearest_three::NearestThree;
use super::{LocalSearch, LocalSearchSettings, Objective, SearchStop, improve_seeding};
use crate::kmeans::data::WeightedPoints;
use crate::kmeans::pairs::Pairs;
use crate::kmeans::{KMeans, KMeansSettings};
use crate::nearest::squared_distance;
use crate::testing::{adversarial, rng};

fn random(n: usize, dim: usize, seed: u64) -> (Points, Vec<f64>) {
    let mut rng = rng(seed);
    let coords = (0..n * dim).map(|_| rng.random_range(-5.0..5.0)).collect();
    let weights = (0..n).map(|_| rng.random_range(0.1..4.0)).collect();
    (Points::new(coords, dim).expect("whole rows"), weights)
}

fn plain_cost(
    points: PointsView<'_>,
    weights: &[f64],
    candidates: PointsView<'_>,
    chosen: &[usize],
    objective: Objective,
) -> f64 {
    let cost = |row: &[f64]| {
        let costs = chosen.iter().map(|&c| squared_distance(row, &candidates[c]));
        objective.of_squared(costs.fold(f64::INFINITY, f64::min))
    };
    points.rows().zip(weights).map(|(row, w)| w * cost(row)).sum()
}

/// All sets of `k` out of `n`.
fn subsets(n: usize, k: usize) -> Vec<Vec<usize>> {
    let bits = |set: u32| (0..n).filter(|i| set >> i & 1 == 1).collect::<Vec<_>>();
    (0..1_u32 << n).filter(|set| set.count_ones() as usize == k).map(bits).collect()
}

#[test]
fn a_local_optimum_is_near_the_best_choice() {
    for objective in [Objective::KMedian, Objective::KMeans] {
        for (seed, k) in (0..40).zip([1, 2, 3].into_iter().cycle()) {
            let (points, weights) = random(9, 2, seed);
            let best = subsets(9, k)
                .iter()
                .map(|set| plain_cost(points.view(), &weights, points.view(), set, objective))
                .fold(f64::INFINITY, f64::min);
            for double in [false, true] {
                let settings = LocalSearchSettings {
                    tolerance: 0.0,
                    double_swaps: double,
                    ..Default::default()
                };
                let fit = LocalSearch::new(k, objective, settings)
                    .expect("valid")
                    .exact_fit(points.view(), Some(&weights), points.view(), &mut rng(seed))
                    .expect("valid");
                let again =
                    plain_cost(points.view(), &weights, points.view(), &fit.chosen, objective);
                assert!((fit.cost / again - 1.0).abs() < 1e-12, "{} {again}", fit.cost);
                assert_eq!(fit.stop, SearchStop::LocalOptimum);
                // The theorems allow 5 to 25; small planar examples are nearly always solved.
                assert!(fit.cost >= best * (1.0 - 1e-12) && fit.cost <= 1.5 * best, "{seed}");
                // Two swaps at once reach everything from one or two centres.
                assert!(!double || k > 2 || fit.cost <= best * (1.0 + 1e-9), "{seed} {k}");
            }
        }
    }
}

/// Prices of swaps from the table equal those of doing the swap.
#[test]
fn swap_prices_are_those_of_doing_them() {
    for seed in 0..20 {
        let (points, weights) = random(30, 3, seed);
        let data = WeightedPoints::new(points.view(), Some(&weights)).expect("valid");
        let chosen: Vec<usize> = (0..5).collect();
        let rows = |set: &[usize]| {
            let rows = set.iter().flat_map(|&c| points[c].to_vec()).collect();
            Points::new(rows, 3).expect("whole rows")
        };
        let nearest = NearestThree::new(&data, rows(&chosen).view(), Objective::KMedian);
        let to = |c: usize| -> Vec<f64> {
            let new = &points[c];
            points.view().rows().map(|row| squared_distance(row, new).sqrt()).collect()
        };
        let price = |set: &[usize]| {
            plain_cost(points.view(), &weights, points.view(), set, Objective::KMedian)
        };
        let removal = nearest.best_removal(&data, &to(20));
        let best = (0..5)
            .map(|a| price(&[&chosen[..a], &chosen[a + 1..], &[20]].concat()))
            .fold(f64::INFINITY, f64::min);
        assert!((removal.cost - best).abs() < 1e-9, "{} {best}", removal.cost);
        let cheaper: Vec<f64> = to(20).iter().zip(to(21)).map(|(a, b)| a.min(b)).collect();
        let removal = nearest.best_double_removal(&data, &cheaper);
        let best = subsets(5, 3)
            .iter()
            .map(|kept| price(&[kept.as_slice(), &[20, 21]].concat()))
            .fold(f64::INFINITY, f64::min);
        assert!((removal.cost - best).abs() < 1e-9, "{} {best}", removal.cost);
    }
}

/// What is not looked at point by point would not have been taken: at the price itself, and a little below and above, for one centre and more.
#[test]
fn a_swap_that_is_not_priced_costs_more() {
    let (mut refused, mut priced) = (0, 0);
    for (round, seed) in (0..40).enumerate() {
        let (mut points, weights) = random(100, 2, seed);
        if seed % 4 == 0 {
            // A record far away makes rounding large.
            let mut coords = points.view().coords().to_vec();
            coords[7] = 1e12;
            points = Points::new(coords, 2).expect("whole rows");
        }
        let data = WeightedPoints::new(points.view(), Some(&weights)).expect("valid");
        let k = [1, 2, 3, 5, 9][round % 5];
        let centres = PointsView::new(&points.view().coords()[..2 * k], 2).expect("whole rows");
        for objective in [Objective::KMedian, Objective::KMeans] {
            let nearest = NearestThree::new(&data, centres, objective);
            for new in points.view().rows().take(30) {
                let squared = points.view().rows().map(|row| squared_distance(row, new));
                let to_new: Vec<f64> = squared.map(|x| objective.of_squared(x)).collect();
                let removal = nearest.best_removal(&data, &to_new);
                for factor in [0.5, 1.0 - 1e-13, 1.0, 1.0 + 1e-13, 2.0] {
                    let most = factor * removal.cost;
                    let may = nearest.may_cost(&data, &to_new, most);
                    assert!(may || removal.cost > most, "{seed} {factor}");
                    priced += usize::from(may);
                    refused += usize::from(!may);
                }
                let now = nearest.cost();
                assert!(nearest.may_cost(&data, &to_new, now) || removal.cost >= now, "{seed}");
            }
        }
    }
    assert!(refused > 1_000 && priced > 5_000, "{refused} {priced}");
}

/// The stopping rule bounds the number of swaps.
#[test]
fn swaps_are_as_few_as_promised() {
    for seed in 0..20 {
        let (points, weights) = random(200, 2, seed);
        let (k, tolerance) = (7, 0.01);
        let settings = LocalSearchSettings { tolerance, ..Default::default() };
        let run = |settings| {
            let search = LocalSearch::new(k, Objective::KMedian, settings).expect("valid");
            search.exact_fit(points.view(), Some(&weights), points.view(), &mut rng(seed))
        };
        let start = run(LocalSearchSettings { max_swaps: 0, ..settings }).expect("valid");
        let end = run(settings).expect("valid");
        let most = k as f64 / tolerance * (start.cost / end.cost).ln() + 1.0;
        assert!((end.swaps as f64) <= most, "{} {most}", end.swaps);
        assert!(start.swaps == 0 && end.cost <= start.cost);
    }
}

#[test]
fn odd_input_is_handled_or_refused() {
    let settings = LocalSearchSettings { double_swaps: true, ..Default::default() };
    let search = LocalSearch::new(3, Objective::KMeans, settings).expect("valid");
    for (name, points) in adversarial(2, 60) {
        let candidates = Points::new(vec![0.0, 0.0, 0.0, 0.0, 1.0, 1.0, 9.0, 9.0, -9.0, 9.0], 2);
        let candidates = candidates.expect("whole rows");
        let fit = search.exact_fit(points.view(), None, candidates.view(), &mut rng(1));
        match fit {
            Ok(fit) => assert!(fit.chosen.len() == 3 && fit.cost.is_finite(), "{name}"),
            Err(error) => {
                let want = "every coordinate must be a number between +-1e75";
                assert_eq!(error.to_string(), want, "{name}");
            }
        }
    }
    let (points, _) = random(5, 2, 1);
    let two = Points::new(vec![0.0; 4], 2).expect("whole rows");
    let fit = search.exact_fit(points.view(), None, two.view(), &mut rng(1)).expect("valid");
    assert_eq!((fit.chosen, fit.stop), (vec![0, 1], SearchStop::FewCandidates));
    let none = Points::new(vec![], 2).expect("whole rows");
    let fit = search.exact_fit(points.view(), None, none.view(), &mut rng(1)).expect("valid");
    assert!(fit.chosen.is_empty() && fit.cost == 0.0);
    assert!(LocalSearch::new(0, Objective::KMeans, LocalSearchSettings::default()).is_err());
    assert!(
        LocalSearch::new(
            1,
            Objective::KMeans,
            LocalSearchSettings { tolerance: f64::NAN, ..Default::default() }
        )
        .is_err()
    );
}

/// Improving a seeding never raises the cost, and repairs a start that misses clusters.
#[test]
fn a_bad_seeding_is_repaired() {
    let coords: Vec<f64> =
        (0..400).map(|i| f64::from(i % 4) * 100.0 + f64::from(i / 4) / 100.0).collect();
    let points = Points::new(coords, 1).expect("whole rows");
    let data = WeightedPoints::new(points.view(), None).expect("valid");
    let mut centres = vec![0.0, 0.1, 0.2, 0.3];
    let cost = |centres: &[f64]| {
        let centres = PointsView::new(centres, 1).expect("whole rows");
        NearestThree::new(&data, centres, Objective::KMeans).cost()
    };
    let before = cost(&centres);
    let pairs = &mut Pairs::new(points.view());
    improve_seeding(&data, pairs, &mut centres, Objective::KMeans, 20, &mut rng(1));
    assert!(before > 1e6 && cost(&centres) < 200.0, "{before} {}", cost(&centres));
    let settings = KMeansSettings { local_search_steps: 8, ..Default::default() };
    let solver = KMeans::new(4, settings).expect("valid");
    let fit = solver.exact_fit(points.view(), None, &mut rng(2)).expect("valid");
    assert!(fit.squared_inertia < 40.0, "{}", fit.squared_inertia);
}

/// Weight three is three copies.
#[test]
fn a_weight_is_a_number_of_copies() {
    let (points, _) = random(8, 2, 3);
    let number = |i: usize| 1 + i % 3;
    let weights: Vec<f64> = (0..8).map(|i| number(i) as f64).collect();
    let copies = points.view().rows().enumerate();
    let copies: Vec<f64> = copies.flat_map(|(i, row)| row.repeat(number(i))).collect();
    let copies = Points::new(copies, 2).expect("whole rows");
    for set in subsets(8, 2) {
        let weighted = plain_cost(points.view(), &weights, points.view(), &set, Objective::KMeans);
        let ones = vec![1.0; copies.len()];
        let copied = plain_cost(copies.view(), &ones, points.view(), &set, Objective::KMeans);
        assert_abs_diff_eq!(weighted, copied, epsilon = 1e-9);
    }
    let best = |points: &Points, weights: Option<&[f64]>, candidates: &Points| {
        let settings =
            LocalSearchSettings { tolerance: 0.0, double_swaps: true, ..Default::default() };
        let search = LocalSearch::new(2, Objective::KMeans, settings).expect("valid");
        search.exact_fit(points.view(), weights, candidates.view(), &mut rng(4)).expect("valid")
    };
    assert_eq!(best(&points, Some(&weights), &points).chosen, best(&copies, None, &points).chosen);
}

/// Few distinct coordinates make ties and equal centres common.
#[test]
fn what_follows_a_moved_centre_is_what_is_found_anew() {
    let mut rng = rng(11);
    for round in 0..60 {
        let (dim, k) = (1 + round % 3, 1 + round % 7);
        let mut lattice = |n: usize| -> Vec<f64> {
            let coordinate = |_| match rng.random_range(0..40) {
                0 => 1e70,
                x => f64::from(x % 5) / 3.0,
            };
            (0..n * dim).map(coordinate).collect()
        };
        let points = Points::new(lattice(50), dim).expect("whole rows");
        let (mut centres, moves) = (lattice(k), lattice(20));
        let data = WeightedPoints::new(points.view(), None).expect("valid");
        for objective in [Objective::KMedian, Objective::KMeans] {
            let view = |centres: &[f64]| Points::new(centres.to_vec(), dim).expect("whole rows");
            let mut nearest = NearestThree::new(&data, view(&centres).view(), objective);
            for (number, new) in moves.chunks_exact(dim).enumerate() {
                let replaced = number % k;
                centres[replaced * dim..][..dim].copy_from_slice(new);
                let to_new = points.view().rows().map(|row| squared_distance(row, new));
                let to_new: Vec<f64> =
                    to_new.map(|squared| objective.of_squared(squared)).collect();
                let now = view(&centres);
                nearest.replace(&data, now.view(), objective, (replaced, &to_new));
                let anew = NearestThree::new(&data, now.view(), objective);
                assert_eq!((&nearest.of, nearest.cost()), (&anew.of, anew.cost()));
            }
        }
    }
}
