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
