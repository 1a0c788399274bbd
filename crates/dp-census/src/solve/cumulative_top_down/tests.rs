use rand::RngExt;
use rand::rngs::ChaCha20Rng;

use super::*;
use crate::RegionTree;
use crate::solve::random::{self, Shape};
use crate::solve::{MAX_VALUE, MAX_WEIGHT, cumulative};

fn certified(problem: &Problem<'_>) -> Vec<i64> {
    let Solution { counts, multipliers } = solve(problem, None);
    let proof = certify(problem, None, &counts, &multipliers);
    assert!(proof.is_optimal(), "{proof:?} {problem:?}");
    counts
}

#[test]
fn certified_on_small_random_trees() {
    let mut rng = random::generator(81);
    let shape = Shape { levels: 4, fan_out: 4, bins: 7, weight: 5, groups: 20, noise: 9 };
    for _ in 0..10_000 {
        certified(&random::case(&mut rng, shape).problem());
    }
}

/// Many children, many occupied sizes, weights far apart.
#[test]
fn certified_at_size() {
    let mut rng = random::generator(82);
    for (levels, fan_out, bins, groups) in
        [(2, 400, 60, 300_000), (3, 30, 200, 50_000), (6, 3, 90, 4_000), (3, 12, 40, 90)]
    {
        for weights in [[1; 6], [1, 3, 9, 27, 81, 243], [5_000, 40, 1, 1, 1, 1]] {
            let tree = random::tree(&mut rng, levels, fan_out);
            let noisy = random::noisy_cumulative(&mut rng, &tree, bins, groups, 25);
            let weights = &weights[..levels];
            certified(&Problem::new(&tree, bins, &noisy, weights, groups).expect("valid"));
        }
    }
}

/// Where nothing is held up by zero or by order, the levels in turn are least squares over all of them at once.
#[test]
fn least_squares_where_no_row_is_held_up() {
    let mut rng = random::generator(83);
    for _ in 0..200 {
        let tree = random::tree(&mut rng, 3, 4);
        let bins = 4;
        let groups = tree.leaves().map(|_| 4_000).sum();
        // A thousand groups of each size in each leaf, and little noise.
        let mut noisy = vec![0; tree.len() * bins];
        for leaf in tree.leaves() {
            let mut node = Some(leaf);
            while let Some(region) = node {
                let row = &mut noisy[region * bins..][..bins];
                row.iter_mut().zip(1..).for_each(|(cell, size)| *cell += 1_000 * size);
                node = tree.parent(region);
            }
        }
        for cell in &mut noisy {
            *cell += rng.random_range(-9..=9);
        }
        let weights = [1, 2, 3].map(|level| level * rng.random_range(1..9));
        let problem = Problem::new(&tree, bins, &noisy, &weights, groups).expect("valid");
        let (ours, all) = (certified(&problem), cumulative::solve(&problem).rows);
        for node in 0..tree.len() {
            let mut sum = 0;
            for bin in 0..bins {
                sum += ours[node * bins + bin];
                let off = (sum as f64 - all[node * bins + bin]).abs();
                // Rounding adds up to 1/2 at the root and 1 at each level below.
                assert!(off <= 2.5 + 1e-6, "{off}: {problem:?}");
            }
        }
    }
}

/// The split in real numbers against projections in turn (Dykstra), which know nothing of steps or multipliers.
#[test]
fn the_split_is_the_projection() {
    let mut rng = random::generator(84);
    for _ in 0..300 {
        let (parent, children, precision) = family(&mut rng);
        let bins = parent.len();
        let ours = split_of(&parent, &children, &precision);
        let oracle = dykstra(&parent, &children, &precision);
        for (a, b) in ours.iter().zip(&oracle) {
            assert!((a - b).abs() < 1e-5, "{ours:?} {oracle:?} {parent:?} {children:?} {bins}");
        }
    }
}

/// Of two children at 0 and 3, which share 4, the squares of 2 and 2 are 4 larger than those of 0 and 4: that is what steps of a unit of
/// both save together, whatever the multipliers, so that one of them saves half of it at least.
#[test]
fn rows_in_the_wrong_place_are_so_by_the_squares_that_they_cost() {
    let (starts, totals) = steps(&differences(&[4]));
    let children = [vec![0], vec![3]];
    let split = Split::of_rows(&children, &[1.0, 1.0], (&starts, totals), None);
    let (whole, multipliers) = split.solve(usize::MAX);
    assert!(whole == [0, 4] || whole == [1, 3], "{whole:?}");
    assert!(split.certify(&whole, &multipliers) <= 0.0);
    let off = split.certify(&[2, 2], &multipliers);
    assert!((2.0..=3.0).contains(&off), "{off}");
}

/// A row of sums with many ties, noisy rows of children, and the weights of those.
fn family(rng: &mut ChaCha20Rng) -> (Vec<i64>, Vec<Vec<i64>>, Vec<f64>) {
    let bins = rng.random_range(1..=6);
    let mut parent: Vec<i64> = (0..bins).map(|_| rng.random_range(0..=9)).collect();
    parent.sort_unstable();
    let children: Vec<Vec<i64>> = (0..rng.random_range(1..=4))
        .map(|_| (0..bins).map(|_| rng.random_range(-6..=9)).collect())
        .collect();
    let precision = children.iter().map(|_| f64::from(rng.random_range(1..=3_u32))).collect();
    (parent, children, precision)
}

/// Cell by cell, through [`Split`].
fn split_of(parent: &[i64], children: &[Vec<i64>], precision: &[f64]) -> Vec<f64> {
    let (starts, totals) = steps(&differences(parent));
    let mut rows = vec![0.0; children.len() * parent.len()];
    if starts.is_empty() {
        return rows;
    }
    let real = Split::of_rows(children, precision, (&starts, totals), None).solve_real();
    for (row, real) in rows.chunks_exact_mut(parent.len()).zip(real.chunks_exact(starts.len())) {
        for (step, &start) in starts.iter().enumerate() {
            row[start..].fill(real[step]);
        }
    }
    rows
}

/// Alternating projections with corrections onto "adds up to the parent" and "nonnegative and nondecreasing", in the weighted norm.
fn dykstra(parent: &[i64], children: &[Vec<i64>], precision: &[f64]) -> Vec<f64> {
    let bins = parent.len();
    let mut rows: Vec<f64> = children.iter().flatten().map(|&cell| cell as f64).collect();
    let mut correction = vec![0.0; rows.len()];
    let variance: f64 = precision.iter().map(|p| 1.0 / p).sum();
    for _ in 0..30_000 {
        for bin in 0..bins {
            let sum: f64 = rows[bin..].iter().step_by(bins).sum();
            let missing = (parent[bin] as f64 - sum) / variance;
            let cells = rows[bin..].iter_mut().step_by(bins).zip(precision);
            cells.for_each(|(cell, precision)| *cell += missing / precision);
        }
        let before: Vec<f64> = rows.iter().zip(&correction).map(|(x, c)| x + c).collect();
        for (row, before) in rows.chunks_exact_mut(bins).zip(before.chunks_exact(bins)) {
            row.copy_from_slice(&cumulative::nondecreasing(before, f64::INFINITY));
        }
        let moved = before.iter().zip(&rows).map(|(b, x)| b - x);
        correction.iter_mut().zip(moved).for_each(|(c, moved)| *c = moved);
    }
    rows
}

/// In whole numbers against all splits there are, with and without public totals.
#[test]
fn the_split_is_the_best_of_all() {
    let mut rng = random::generator(87);
    let mut with_ends = 0;
    for _ in 0..10_000 {
        let bins = rng.random_range(1..=3);
        let mut totals: Vec<i64> = (0..bins).map(|_| rng.random_range(1..=5)).collect();
        totals.sort_unstable();
        totals.dedup();
        let children = rng.random_range(1..=3);
        let row =
            |rng: &mut ChaCha20Rng| (0..totals.len()).map(|_| rng.random_range(-4..=6)).collect();
        let rows: Vec<Vec<i64>> = (0..children).map(|_| row(&mut rng)).collect();
        let precision: Vec<f64> =
            rows.iter().map(|_| f64::from(rng.random_range(1..=3_u32))).collect();
        let starts: Vec<usize> = (0..totals.len()).collect();
        let ends =
            rng.random_bool(0.5).then(|| parts(&mut rng, totals[totals.len() - 1], children));
        with_ends += usize::from(ends.is_some());
        let split = Split::of_rows(&rows, &precision, (&starts, totals.clone()), ends.clone());
        let (whole, multipliers) = split.solve(MOST_WORK);
        assert!(split.certify(&whole, &multipliers) <= 0.0);
        let cost = |table: &[i64]| -> f64 {
            let rows = table.chunks_exact(totals.len()).zip(&rows).zip(&precision);
            let off = |(a, b): (&i64, &i64)| ((a - b) * (a - b)) as f64;
            rows.map(|((a, b), w)| w * a.iter().zip(b).map(off).sum::<f64>()).sum()
        };
        let mut best = f64::INFINITY;
        let mut table = vec![0; whole.len()];
        all_splits(&totals, ends.as_deref(), &mut table, 0, &mut |t| best = best.min(cost(t)));
        // Weights of siblings are rounded.
        assert!((cost(&whole) - best).abs() < 0.01, "{whole:?} {rows:?} {totals:?} {ends:?}");
    }
    assert!(with_ends > 3_000);
}

/// Splits that are too large for that are near the real optimum and mostly the best, and the certificate says where they are not.
#[test]
fn large_splits_are_rounded() {
    let mut rng = random::generator(89);
    let mut best = 0;
    for _ in 0..500 {
        let (parent, rows, precision) = family(&mut rng);
        let (starts, totals) = steps(&differences(&parent));
        if starts.is_empty() {
            continue;
        }
        let split = Split::of_rows(&rows, &precision, (&starts, totals), None);
        let (whole, multipliers) = split.solve(0);
        for (whole, real) in whole.iter().zip(split.solve_real()) {
            assert!((*whole as f64 - real).abs() < 1.0 + 1e-6, "{parent:?} {rows:?}");
        }
        best += usize::from(split.certify(&whole, &multipliers) <= 0.0);
    }
    assert!((300..480).contains(&best), "{best}");
}

fn differences(row: &[i64]) -> Vec<i64> {
    let mut before = 0;
    row.iter().map(|&sum| sum - std::mem::replace(&mut before, sum)).collect()
}

/// A total in so many parts.
fn parts(rng: &mut ChaCha20Rng, total: i64, children: usize) -> Vec<i64> {
    let mut parts = vec![0; children];
    (0..total).for_each(|_| parts[rng.random_range(0..children)] += 1);
    parts
}

/// Calls `see` with every split, cell after cell in column order.
fn all_splits(
    totals: &[i64],
    ends: Option<&[i64]>,
    table: &mut Vec<i64>,
    cell: usize,
    see: &mut impl FnMut(&[i64]),
) {
    let (steps, children) = (totals.len(), table.len() / totals.len());
    if cell == table.len() {
        return see(table);
    }
    let (step, child) = (cell / children, cell % children);
    let least = if step == 0 { 0 } else { table[child * steps + step - 1] };
    let above: i64 = (0..child).map(|c| table[c * steps + step]).sum();
    for value in least..=totals[step] - above {
        let ends_there = step + 1 < steps || ends.is_none_or(|ends| ends[child] == value);
        if ends_there && (child + 1 < children || above + value == totals[step]) {
            table[child * steps + step] = value;
            all_splits(totals, ends, table, cell + 1, see);
        }
    }
}

/// Public numbers of groups are kept to, on trees of any depth.
#[test]
fn public_totals_are_exact() {
    let mut rng = random::generator(88);
    let shape = Shape { levels: 4, fan_out: 4, bins: 7, weight: 5, groups: 40, noise: 9 };
    for _ in 0..3_000 {
        let case = random::case(&mut rng, shape);
        let (problem, bins) = (case.problem(), case.bins);
        let totals = parts(&mut rng, case.groups, case.tree.leaves().len());
        let Solution { counts, multipliers } = solve(&problem, Some(&totals));
        let proof = certify(&problem, Some(&totals), &counts, &multipliers);
        assert!(proof.is_optimal(), "{proof:?} {case:?} {totals:?}");
        for (leaf, &total) in case.tree.leaves().zip(&totals) {
            assert_eq!(counts[leaf * bins..][..bins].iter().sum::<i64>(), total);
        }
    }
}

/// Noise far above the number of groups, with public totals: the search is long, and what it finds is optimal all the same.
#[test]
fn optimal_where_noise_outweighs_the_groups() {
    let mut rng = random::generator(91);
    let mut optimal = 0;
    for _ in 0..300 {
        let (children, bins) = (rng.random_range(2..=20), rng.random_range(2..=24));
        let groups = rng.random_range(20..=2_000);
        let parents: Vec<Option<u32>> =
            [None].into_iter().chain((0..children).map(|_| Some(0))).collect();
        let tree = RegionTree::from_parents(&parents).expect("valid");
        let totals = parts(&mut rng, groups, children);
        let noise = groups * rng.random_range(1..=3);
        let noisy = random::noisy_cumulative(&mut rng, &tree, bins, groups, noise);
        let problem = Problem::new(&tree, bins, &noisy, &[1, 1], groups).expect("valid");
        let totals = rng.random_bool(0.7).then_some(&totals[..]);
        let Solution { counts, multipliers } = solve(&problem, totals);
        let proof = certify(&problem, totals, &counts, &multipliers);
        assert!(proof.feasible, "{proof:?}");
        optimal += usize::from(proof.is_optimal());
    }
    assert!(optimal >= 299, "{optimal}");
}

/// Rows from a search that went astray are given back, whatever they add up to.
#[test]
fn too_much_in_the_wrong_place_is_not_moved() {
    let children = 4_096;
    let columns = exchange::Columns {
        totals: vec![10],
        curvature: vec![1; children],
        target: vec![0; children],
        ends_are_fixed: false,
    };
    let settle =
        |row: i64, most| exchange::Exchange::new(&columns, vec![row; children]).settle(most);
    assert_eq!(settle(1 << 52, 100), None, "the sum is above what a row can hold");
    assert_eq!(settle(1, 100), None, "4,086 units");
    let (rows, _) = settle(1, 5_000).expect("optimal one by one");
    assert_eq!(rows.iter().sum::<i64>(), 10);
}

/// Found by hand: all fits at zero or at their ends for most of the search.
#[test]
fn a_long_search() {
    let rows = [vec![-3_630, 906, 506], vec![-2_662, -766, -822]];
    let split =
        Split::of_rows(&rows, &[1.0, 1.0], (&[0, 1, 2], vec![23, 36, 100]), Some(vec![92, 8]));
    for most_work in [0, MOST_WORK] {
        let (whole, multipliers) = split.solve(most_work);
        assert_eq!((0..3).map(|s| whole[s] + whole[3 + s]).collect::<Vec<_>>(), [23, 36, 100]);
        assert!(most_work == 0 || split.certify(&whole, &multipliers) <= 0.0);
    }
}

/// A table of other noise is told from the best one.
#[test]
fn the_certificate_tells() {
    let mut rng = random::generator(85);
    let shape = Shape { levels: 3, fan_out: 3, bins: 5, weight: 4, groups: 30, noise: 9 };
    let (mut refused, mut differ) = (0, 0);
    for _ in 0..500 {
        let case = random::case(&mut rng, shape);
        let problem = case.problem();
        let own = solve(&problem, None);
        let noisy: Vec<i64> = case.noisy.iter().map(|y| y + rng.random_range(-12..=12)).collect();
        let other = solve(&random::Case { noisy, ..case.clone() }.problem(), None);
        differ += usize::from(other.counts != own.counts);
        refused +=
            usize::from(!certify(&problem, None, &other.counts, &other.multipliers).is_optimal());
        let mut broken = own.counts.clone();
        broken[0] += 1;
        assert!(!certify(&problem, None, &broken, &own.multipliers).feasible);
        // Splits without their multipliers are not proved.
        let without = vec![Vec::new(); own.multipliers.len()];
        let splits = own.multipliers.iter().any(|of_split| !of_split.is_empty());
        assert!(!splits || !certify(&problem, None, &own.counts, &without).is_optimal());
    }
    assert!(differ > 300 && refused * 10 >= differ * 9, "{refused} of {differ}");
}

#[test]
fn the_same_for_any_number_of_threads() {
    let mut rng = random::generator(86);
    let pool =
        |threads| rayon::ThreadPoolBuilder::new().num_threads(threads).build().expect("pool");
    let (one, many) = (pool(1), pool(5));
    let tree = random::tree(&mut rng, 4, 9);
    let noisy = random::noisy_cumulative(&mut rng, &tree, 50, 9_000, 30);
    let problem = Problem::new(&tree, 50, &noisy, &[1, 2, 3, 4], 9_000).expect("valid");
    assert_eq!(one.install(|| solve(&problem, None)), many.install(|| solve(&problem, None)));
}

#[test]
fn edges() {
    let pair = RegionTree::from_parents(&[None, Some(0), Some(0)]).expect("valid");
    let most = MAX_VALUE;
    for (noisy, groups) in [
        ([-most, most, most, -most, -most, most], most),
        ([most; 6], 0),
        ([-most; 6], most),
        ([-5, -6, -7, -8, -9, -9], 1),
        ([1_000_000_000, 0, 0, 0, 3, 3], 1_000_000_000),
    ] {
        for weights in [[1, 1], [1, MAX_WEIGHT], [MAX_WEIGHT, 1]] {
            certified(&Problem::new(&pair, 2, &noisy, &weights, groups).expect("valid"));
        }
    }
    let alone = RegionTree::from_parents(&[None]).expect("valid");
    let problem = Problem::new(&alone, 3, &[2, 1, 7], &[1], 9).expect("valid");
    assert_eq!(certified(&problem), [2, 0, 7], "a half is rounded up");
}
