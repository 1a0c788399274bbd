use super::*;
use crate::RegionTree;
use crate::solve::random::{self, Shape};
use crate::solve::{MAX_VALUE, MAX_WEIGHT, cost_table};

/// 10,000 uneven trees of 1 to 4 levels against the full tables, which assume no convexity.
#[test]
fn equals_the_full_cost_tables() {
    let mut rng = random::generator(13);
    let shape = Shape { levels: 4, fan_out: 3, bins: 3, weight: 5, groups: 8, noise: 4 };
    for _ in 0..10_000 {
        let case = random::case(&mut rng, shape);
        let problem = case.problem();
        let counts = solve(&problem);
        let oracle = cost_table::solve_exhaustively(&problem, case.groups).expect("feasible");
        assert_eq!(problem.objective(&counts), problem.objective(&oracle), "{case:?}");
        assert!(certify(&problem, &counts).is_optimal(), "{case:?}");
    }
}

/// The tables as published (with the merge that uses convexity) have the same optimum.
#[test]
fn the_published_dynamic_program_agrees() {
    let mut rng = random::generator(14);
    let shape = Shape { levels: 3, fan_out: 4, bins: 4, weight: 1, groups: 40, noise: 20 };
    for _ in 0..300 {
        let case = random::case(&mut rng, shape);
        let problem = case.problem();
        let tables = cost_table::solve(&problem, case.groups).expect("feasible");
        assert!(certify(&problem, &tables).is_optimal());
        assert_eq!(problem.objective(&solve(&problem)), problem.objective(&tables));
    }
}

/// The certificate accepts a feasible table exactly if the oracle finds none better.
#[test]
fn the_certificate_decides() {
    let mut rng = random::generator(15);
    let shape = Shape { levels: 3, fan_out: 2, bins: 2, weight: 3, groups: 3, noise: 2 };
    let mut verdicts = [0, 0];
    for _ in 0..4_000 {
        let case = random::case(&mut rng, shape);
        let problem = case.problem();
        // The optimum for another noisy table is feasible and sometimes optimal for this one.
        let other = random::case(&mut rng, shape).noisy;
        let noisy = case.noisy.iter().zip(other.iter().cycle()).map(|(a, b)| a + b).collect();
        let guess = solve(&random::Case { noisy, ..case.clone() }.problem());
        let oracle = cost_table::solve_exhaustively(&problem, case.groups).expect("feasible");
        let optimal = problem.objective(&guess) == problem.objective(&oracle);
        assert_eq!(certify(&problem, &guess).is_optimal(), optimal, "{case:?} {guess:?}");
        verdicts[usize::from(optimal)] += 1;
    }
    assert!(verdicts.iter().all(|&n| n > 500), "{verdicts:?}");
}

#[test]
fn an_infeasible_table_has_no_certificate() {
    let tree = RegionTree::from_parents(&[None, Some(0), Some(0)]).expect("valid");
    let problem = Problem::new(&tree, 1, &[5, 2, 3], &[1, 1], 5).expect("valid");
    assert!(certify(&problem, &[5, 2, 3]).is_optimal());
    for table in [[5, 2, 2], [4, 2, 2], [5, 6, -1]] {
        assert!(!certify(&problem, &table).feasible);
    }
}

/// Deeper and wider than the tables can go: the certificate is the proof.
#[test]
fn certified_on_deep_and_wide_trees() {
    let mut rng = random::generator(16);
    let shapes = [
        Shape { levels: 10, fan_out: 2, bins: 5, weight: 20, groups: 3_000, noise: 400 },
        Shape { levels: 3, fan_out: 60, bins: 9, weight: 20, groups: 100_000, noise: 90 },
        Shape { levels: 2, fan_out: 2_000, bins: 17, weight: 9, groups: 1_000_000_000, noise: 9 },
    ];
    for shape in shapes {
        for _ in 0..40 {
            let case = random::case(&mut rng, shape);
            let problem = case.problem();
            assert!(certify(&problem, &solve(&problem)).is_optimal(), "{shape:?}");
            let proof = certify_real(&problem, &solve_real(&problem));
            let rounding = 1e-13 * (shape.groups + 100 * shape.noise) as f64;
            assert!(proof.nonnegative && proof.residual <= rounding, "{proof:?} {shape:?}");
        }
    }
}

/// Noise over eleven orders of magnitude, of which each pass drops some: the longest search there is.
#[test]
fn certified_for_geometric_noise() {
    let parents: Vec<_> = [None].into_iter().chain((0..120).map(|_| Some(0))).collect();
    let tree = RegionTree::from_parents(&parents).expect("valid");
    for groups in [0, 1, 1_000_000] {
        let noisy: Vec<i64> = (0..121 * 3).map(|i| 1 - (1 << (i % 37))).collect();
        let problem = Problem::new(&tree, 3, &noisy, &[2, 1], groups).expect("valid");
        assert!(certify(&problem, &solve(&problem)).is_optimal());
        let proof = certify_real(&problem, &solve_real(&problem));
        assert!(proof.nonnegative && proof.residual <= 1e-5, "{proof:?}");
    }
}

#[test]
fn the_same_for_any_number_of_threads() {
    let mut rng = random::generator(17);
    let shape = Shape { levels: 4, fan_out: 9, bins: 60, weight: 7, groups: 5_000, noise: 50 };
    let pool =
        |threads| rayon::ThreadPoolBuilder::new().num_threads(threads).build().expect("pool");
    let (one, many) = (pool(1), pool(5));
    for _ in 0..20 {
        let case = random::case(&mut rng, shape);
        let problem = case.problem();
        assert_eq!(one.install(|| solve(&problem)), many.install(|| solve(&problem)));
        assert_eq!(one.install(|| solve_real(&problem)), many.install(|| solve_real(&problem)));
    }
}

#[test]
fn edges() {
    let root = RegionTree::from_parents(&[None]).expect("valid");
    let pair = RegionTree::from_parents(&[None, Some(0), Some(0)]).expect("valid");
    let solved = |tree: &RegionTree, bins, noisy: &[i64], weights: &[u32], groups| {
        let problem = Problem::new(tree, bins, noisy, weights, groups).expect("valid");
        let counts = solve(&problem);
        assert!(certify(&problem, &counts).is_optimal(), "{counts:?}");
        counts
    };
    assert_eq!(solved(&root, 1, &[-7], &[1], 4), [4]);
    // A tie, which the earlier part wins.
    assert_eq!(solved(&root, 3, &[-7, 2, 5], &[3], 6), [0, 2, 4]);
    assert_eq!(solved(&pair, 2, &[9, -9, 9, 9, -9, -9], &[1, 2], 0), [0; 6]);
    let negative = solved(&pair, 2, &[-50, -60, -20, -30, -10, -90], &[1, 1], 3);
    assert_eq!(negative[..2].iter().sum::<i64>(), 3);
    let billion =
        solved(&pair, 2, &[1_000_000_000, 0, 1_000_000_000, 0, 0, 0], &[1, 1], 1_000_000_000);
    assert_eq!(billion, [1_000_000_000, 0, 1_000_000_000, 0, 0, 0]);
    let (most, heavy) = (MAX_VALUE, MAX_WEIGHT);
    for weights in [[1, heavy], [heavy, 1], [heavy, heavy]] {
        solved(&pair, 2, &[-most, most, most, -most, -most, -most], &weights, most);
        solved(&pair, 2, &[most, most, -most, 7, -most, -most], &weights, most);
    }
}
