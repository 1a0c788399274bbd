use super::*;
use crate::RegionTree;
use crate::solve::random::{self, Shape};

/// The certificate is the proof; the distance is absolute, in groups.
#[test]
fn certified_on_small_random_trees() {
    let mut rng = random::generator(33);
    let shape = Shape { levels: 4, fan_out: 3, bins: 6, weight: 5, groups: 20, noise: 9 };
    for _ in 0..3_000 {
        let case = random::case(&mut rng, shape);
        let problem = case.problem();
        let certificate = certify(&problem, &solve(&problem));
        // The distance is the root of a gap, so of errors of 1e-11 times the multipliers.
        assert!(certificate.is_optimal_within(1e-3), "{certificate:?} {case:?}");
        assert!(certificate.inconsistency <= 1e-8, "{certificate:?} {case:?}");
    }
}

/// Weights far apart either way, rows long enough for pieces to form.
#[test]
fn certified_for_unequal_weights() {
    let mut rng = random::generator(34);
    for weights in [[1, 50, 4_000], [1, 1, 1], [4_000, 50, 1]] {
        for _ in 0..20 {
            let tree = random::tree(&mut rng, 3, 12);
            let (bins, groups) = (60, 500);
            let noisy = random::noisy_cumulative(&mut rng, &tree, bins, groups, 25);
            let problem = Problem::new(&tree, bins, &noisy, &weights, groups).expect("valid");
            let certificate = certify(&problem, &solve(&problem));
            // A distance is the root of a gap, and the root's row counts 4,000 times in the last.
            assert!(certificate.is_optimal_within(0.1), "{certificate:?} {weights:?}");
        }
    }
}

/// A small state: 1 + 12 + some 200 regions and 150 sizes, at much and at little noise.
#[test]
fn certified_at_size() {
    let mut rng = random::generator(38);
    let parents = [None].into_iter().chain((0..12).map(|_| Some(0)));
    let leaves =
        (1..=12).flat_map(|state| std::iter::repeat_n(Some(state), 5 + 2 * state as usize));
    let parents: Vec<Option<u32>> = parents.chain(leaves).collect();
    let tree = RegionTree::from_parents(&parents).expect("valid");
    for noise in [200, 4] {
        let noisy = random::noisy_cumulative(&mut rng, &tree, 150, 50_000, noise);
        let problem = Problem::new(&tree, 150, &noisy, &[1, 2, 3], 50_000).expect("valid");
        let solution = solve(&problem);
        let certificate = certify(&problem, &solution);
        assert!(certificate.inconsistency <= 1e-8, "{certificate:?}");
        assert!(certificate.is_optimal_within(1e-2), "{certificate:?}");
        let table = crate::solve::edf::round(&tree, &solution.rows, 50_000);
        let rounded = crate::solve::edf::certify(&tree, &solution.rows, &table, 50_000);
        assert!(rounded.feasible, "{rounded:?}");
    }
}

#[test]
fn the_same_for_any_number_of_threads() {
    let mut rng = random::generator(35);
    let pool =
        |threads| rayon::ThreadPoolBuilder::new().num_threads(threads).build().expect("pool");
    let (one, many) = (pool(1), pool(5));
    let tree = random::tree(&mut rng, 3, 9);
    let noisy = random::noisy_cumulative(&mut rng, &tree, 50, 9_000, 30);
    let problem = Problem::new(&tree, 50, &noisy, &[1, 2, 3], 9_000).expect("valid");
    let (a, b) = (one.install(|| solve(&problem)), many.install(|| solve(&problem)));
    assert_eq!((a.rows, a.multipliers), (b.rows, b.multipliers));
}

/// The certificate bounds the distance of a table that is off, and refuses one that is wrong.
#[test]
fn the_certificate_tells() {
    let mut rng = random::generator(36);
    let shape = Shape { levels: 3, fan_out: 3, bins: 5, weight: 4, groups: 20, noise: 9 };
    let mut consistent = 0;
    for _ in 0..300 {
        let case = random::case(&mut rng, shape);
        let problem = case.problem();
        let solution = solve(&problem);
        let refused = |change: &dyn Fn(&mut Solution)| {
            let mut off = solution.clone();
            change(&mut off);
            assert!(!certify(&problem, &off).is_optimal_within(1e-2), "{off:?} {case:?}");
        };
        if case.tree.levels() > 1 {
            refused(&|off| off.rows[0] += 1.0);
            // Consistent, but the optimum for other weights: only the gap can tell.
            let mut level_weights = case.level_weights.clone();
            level_weights[0] += 40;
            let other = solve(&random::Case { level_weights, ..case.clone() }.problem()).rows;
            let far = other.iter().zip(&solution.rows).any(|(a, b)| (a - b).abs() > 0.1);
            if far {
                consistent += 1;
                let off = Solution { rows: other, ..solution.clone() };
                let certificate = certify(&problem, &off);
                assert!(certificate.inconsistency < 1e-8, "{certificate:?}");
                assert!(!certificate.is_optimal_within(1e-2), "{certificate:?} {case:?}");
            }
            refused(&|off| off.multipliers.iter_mut().for_each(|u| *u += 1.0));
            refused(&|off| off.rows.iter_mut().for_each(|x| *x = 0.25 + *x / 2.0));
        }
    }
    assert!(consistent > 50, "{consistent}");
}

/// Integers and reals of the same problem bound each other: an exact integer optimum is feasible, so
/// it costs at least as much, and rounding up a half at each cell could not cost more than this.
#[test]
fn below_the_integer_optimum() {
    let mut rng = random::generator(37);
    let shape = Shape { levels: 2, fan_out: 5, bins: 7, weight: 4, groups: 60, noise: 12 };
    for _ in 0..500 {
        let case = random::case(&mut rng, shape);
        let problem = case.problem();
        let real = solve(&problem);
        let cost: f64 = real
            .rows
            .iter()
            .zip(&case.noisy)
            .enumerate()
            .map(|(i, (x, &y))| {
                let level = case.tree.level_of(i / case.bins);
                f64::from(case.level_weights[level]) * (x - y as f64).powi(2)
            })
            .sum();
        let integer = crate::solve::star::solve(&problem).expect("two levels").rows;
        let integer = problem.objective(&integer) as f64;
        assert!(cost <= integer + 1e-6, "{cost} {integer}");
        let cells = case.noisy.len() as f64;
        assert!(integer - cost <= 4.0 * 4.0 * cells, "{cost} {integer}");
    }
}

#[test]
fn edges() {
    let root = RegionTree::from_parents(&[None]).expect("valid");
    let pair = RegionTree::from_parents(&[None, Some(0), Some(0)]).expect("valid");
    let solved = |tree: &RegionTree, bins, noisy: &[i64], weights: &[u32], groups, tolerance| {
        let problem = Problem::new(tree, bins, noisy, weights, groups).expect("valid");
        let solution = solve(&problem);
        let certificate = certify(&problem, &solution);
        assert!(certificate.is_optimal_within(tolerance), "{certificate:?} {solution:?}");
        solution.rows
    };
    assert_eq!(solved(&root, 1, &[-7], &[1], 4, 0.0), [4.0]);
    assert_eq!(solved(&root, 3, &[9, 2, 7], &[5], 5, 1e-9), [5.0, 5.0, 5.0]);
    let rows = solved(&root, 4, &[-9, 4, 3, 7], &[5], 9, 1e-9);
    assert_eq!(rows, [0.0, 3.5, 3.5, 9.0]);
    let nothing = solved(&pair, 2, &[9, 9, -9, 9, 9, 9], &[1, 2], 0, 1e-6);
    assert!(nothing.iter().all(|&x| x < 1e-6), "{nothing:?}");
    solved(&pair, 3, &[-9; 9], &[3, 1], 7, 1e-6);
    solved(&pair, 1, &[1_000_000_000, 1_000_000_000, -50], &[1, 1], 1_000_000_000, 1e-3);
    let most = crate::solve::MAX_VALUE;
    solved(&pair, 2, &[-most, most, most, -most, 0, most], &[1, 1], most, 1.0);
}

/// Leaves as the multipliers ask for, and their sums.
fn asked_for(problem: &Problem<'_>, multipliers: Vec<f64>) -> Solution {
    let (tree, bins, dual) = (problem.tree(), problem.bins(), Dual::new(*problem));
    let mut rows = vec![0.0; tree.len() * bins];
    for leaf in tree.leaves() {
        let target: Vec<f64> = dual.leaf_target(&multipliers, leaf).collect();
        let row = nondecreasing(&target, f64::INFINITY);
        let mut node = Some(leaf);
        while let Some(region) = node {
            rows[region * bins..][..bins].iter_mut().zip(&row).for_each(|(sum, x)| *sum += x);
            node = tree.parent(region);
        }
    }
    Solution { rows, multipliers, residual: 0.0 }
}

/// What the table costs, and what none costs less than, up to what is missing in sums; and how much that is, at twice its price.
fn costs(problem: &Problem<'_>, Solution { rows, multipliers, .. }: &Solution) -> [f64; 3] {
    let (tree, bins, dual) = (problem.tree(), problem.bins(), Dual::new(*problem));
    let (mut primal, mut least, mut price) = (0.0, 0.0, 0.0);
    let (mut asked, mut pool, mut reaction) =
        (vec![0.0; bins], Pool::default(), Reaction::default());
    for node in 0..tree.len() {
        let (is_leaf, own) = (tree.leaves().contains(&node), &rows[node * bins..][..bins]);
        if is_leaf {
            asked.copy_from_slice(own);
        } else {
            dual.fit_inner(multipliers, node, &mut pool, &mut asked, &mut reaction);
        }
        let weight = if is_leaf { 1.0 } else { dual.weight(node) };
        for bin in 0..bins {
            let of = |node: usize| multipliers[node * bins + bin];
            let fixed = node == 0 && bin + 1 == bins;
            let row = if fixed { problem.groups() as f64 } else { own[bin] };
            let noisy = problem.row(node)[bin] as f64;
            let pull = if is_leaf { 0.0 } else { of(node) } - tree.parent(node).map_or(0.0, of);
            primal += weight * (row - noisy).powi(2);
            least += weight * (asked[bin] - noisy).powi(2) + 2.0 * pull * asked[bin];
            if !is_leaf {
                let sum: f64 = tree.children(node).map(|child| rows[child * bins + bin]).sum();
                price += 4.0 * (of(node) * (row - sum)).abs();
            }
        }
    }
    [primal, least, price]
}

/// The square of the distance is by how much more the table costs than the dual value, both added up as they are defined.
#[test]
fn a_search_that_was_given_up_is_as_far_as_its_costs_are() {
    let mut rng = random::generator(39);
    let (mut missing, mut far) = (0, 0);
    for weights in [[1, 1, 1], [1, 50, 4_000], [4_000, 500, 1]] {
        for round in 0..40 {
            let tree = random::tree(&mut rng, 3, 4);
            let noisy = random::noisy_cumulative(&mut rng, &tree, 12, 60, 25);
            let problem = Problem::new(&tree, 12, &noisy, &weights, 60).expect("valid");
            let given_up = solve_within(&problem, 0.0, round % 4);
            let proof = certify(&problem, &given_up);
            assert!(proof.leaf_violation < 1e-6, "{proof:?}");
            let [primal, least, price] = costs(&problem, &given_up);
            let (gap, rounding) = (primal - least, 1e-10 * (primal.abs() + least.abs()));
            let found = proof.distance.powi(2);
            assert!(found >= gap - rounding, "{weights:?} {round}: {found} {gap}");
            assert!(found <= gap + price + rounding, "{weights:?} {round}: {found} {gap} {price}");
            missing += usize::from(gap > rounding && price > 0.1 * gap);
            far += usize::from(gap > rounding && price < 0.1 * gap);
        }
    }
    assert!(missing > 10 && far > 10, "{missing} {far}");
}

/// Where its rows add up, it is no further from the optimum than that.
#[test]
fn a_search_that_was_given_up_is_no_further_from_the_optimum_than_is_said() {
    let mut rng = random::generator(40);
    let mut worst: f64 = 0.0;
    for weights in [[1, 1], [1, 4_000], [4_000, 1]] {
        for round in 0..40 {
            let tree = random::tree(&mut rng, 2, 6);
            let (bins, groups) = (7, 40);
            let noisy = random::noisy_cumulative(&mut rng, &tree, bins, groups, 25);
            let problem = Problem::new(&tree, bins, &noisy, &weights, groups).expect("valid");
            let mut multipliers = solve_within(&problem, 0.0, round % 3).multipliers;
            // The last one gives the root its groups.
            let (mut low, mut high) = (-1e7, 1e7);
            for _ in 0..120 {
                multipliers[bins - 1] = f64::midpoint(low, high);
                let found = asked_for(&problem, multipliers.clone()).rows[bins - 1];
                let end = if found < groups as f64 { &mut low } else { &mut high };
                *end = multipliers[bins - 1];
            }
            let given_up = asked_for(&problem, multipliers);
            let proof = certify(&problem, &given_up);
            assert!(proof.monotone && proof.inconsistency < 1e-6, "{proof:?}");
            let best = solve(&problem).rows;
            let squares = given_up.rows.iter().zip(&best).enumerate().map(|(cell, (x, y))| {
                let level = tree.level_of(cell / bins);
                f64::from(weights[level]) / f64::from(weights[1]) * (x - y).powi(2)
            });
            let truth = squares.sum::<f64>().sqrt();
            assert!(truth <= proof.distance + 1e-3, "{weights:?} {round}: {truth} {proof:?}");
            if truth > 1.0 {
                worst = worst.max(truth / proof.distance);
            }
        }
    }
    assert!(worst > 0.5, "{worst}");
}
