use super::*;
use crate::RegionTree;
use crate::solve::MAX_VALUE;
use crate::solve::random::{self, Case, Shape};

/// The optimum by a table over all states: the counts of all children at one size.
///
/// Nothing of the structure is used: every step from every state to every state above it.
fn optimum_by_table(case: &Case) -> i128 {
    let problem = case.problem();
    let children = case.tree.leaves();
    let weights = &case.level_weights;
    let mut states = vec![Vec::new()];
    for _ in children.clone() {
        let extend = |state: &Vec<i64>| {
            let left = case.groups - state.iter().sum::<i64>();
            let state = state.clone();
            (0..=left).map(move |count| [&state[..], &[count]].concat()).collect::<Vec<_>>()
        };
        states = states.iter().flat_map(extend).collect();
    }
    let square = |x: i64, y: i64| i128::from(x - y) * i128::from(x - y);
    let mut best: Vec<i128> = vec![0; states.len()];
    for bin in 0..case.bins {
        let local = |state: &[i64]| {
            let root = i128::from(weights[0]) * square(state.iter().sum(), problem.row(0)[bin]);
            let leaves = state.iter().zip(children.clone());
            let leaves =
                leaves.map(|(&x, q)| i128::from(weights[1]) * square(x, problem.row(q)[bin]));
            root + leaves.sum::<i128>()
        };
        let below = |low: &[i64], high: &[i64]| low.iter().zip(high).all(|(a, b)| a <= b);
        let from = best.clone();
        for (cost, state) in best.iter_mut().zip(&states) {
            let reach = states.iter().zip(&from).filter(|(low, _)| below(low, state));
            *cost = local(state) + reach.map(|(_, cost)| *cost).min().expect("reaches itself");
        }
    }
    let full =
        states.iter().zip(&best).filter(|(state, _)| state.iter().sum::<i64>() == case.groups);
    full.map(|(_, cost)| *cost).min().expect("some state holds all groups")
}

fn two_levels(rng: &mut rand::rngs::ChaCha20Rng, shape: Shape) -> Case {
    loop {
        let case = random::case(rng, shape);
        if case.tree.levels() == 2 {
            return case;
        }
    }
}

/// 10,000 small trees with two levels against the full table: no difference. Rounding by earliest
/// deadline first is feasible on all and optimal on most.
#[test]
fn equals_the_full_table() {
    let mut rng = random::generator(53);
    let shape = Shape { levels: 2, fan_out: 3, bins: 4, weight: 4, groups: 4, noise: 3 };
    let (mut rounded_optimal, mut excess, mut total) = (0, 0, 0);
    for _ in 0..10_000 {
        let case = two_levels(&mut rng, shape);
        let problem = case.problem();
        let solution = solve(&problem).expect("two levels");
        let optimum = optimum_by_table(&case);
        assert_eq!(problem.objective(&solution.rows), optimum, "{case:?}");
        let proof = certify(&problem, &solution).expect("two levels");
        assert!(proof.is_optimal(), "{proof:?} {case:?}");
        let real = cumulative::solve(&problem).rows;
        let rounded = problem.objective(&edf::round(&case.tree, &real, case.groups));
        assert!(rounded >= optimum);
        rounded_optimal += usize::from(rounded == optimum);
        excess += rounded - optimum;
        total += optimum;
    }
    // The gap of the rounding, so that the documentation stays true.
    assert!((7_000..10_000).contains(&rounded_optimal), "{rounded_optimal}");
    assert!(excess * 50 < total && excess > 0, "{excess} of {total}");
}

#[test]
fn certified_beyond_the_table() {
    let mut rng = random::generator(54);
    let shapes = [
        Shape { levels: 2, fan_out: 12, bins: 40, weight: 9, groups: 2_000, noise: 60 },
        Shape { levels: 2, fan_out: 80, bins: 9, weight: 2, groups: 300, noise: 8 },
        Shape { levels: 2, fan_out: 3, bins: 5, weight: 1, groups: 1_000_000_000, noise: 5 },
    ];
    for shape in shapes {
        for _ in 0..60 {
            let case = random::case(&mut rng, shape);
            let problem = case.problem();
            let proof =
                certify(&problem, &solve(&problem).expect("two levels")).expect("two levels");
            assert!(proof.is_optimal(), "{proof:?} {shape:?}");
        }
    }
}

/// Any start leads to the optimum: the network does the work, not the rounding.
#[test]
fn any_feasible_start_will_do() {
    let mut rng = random::generator(55);
    let shape = Shape { levels: 2, fan_out: 3, bins: 5, weight: 4, groups: 9, noise: 6 };
    for _ in 0..500 {
        let case = two_levels(&mut rng, shape);
        let problem = case.problem();
        let mut rows = vec![0; case.noisy.len()];
        let last = case.tree.len() - 1;
        for node in [0, last] {
            rows[node * case.bins..][..case.bins].fill(case.groups);
        }
        let labels = vec![0; rows.len() + 1];
        let mut network = Network::new(problem, rows, labels);
        network.cancel_all_negative_cycles();
        let solution = solve(&problem).expect("two levels");
        assert_eq!(problem.objective(&network.rows), problem.objective(&solution.rows));
    }
}

#[test]
fn a_wrong_table_is_not_certified() {
    let tree = RegionTree::from_parents(&[None, Some(0), Some(0)]).expect("valid");
    let problem = Problem::new(&tree, 2, &[2, 5, 1, 3, 1, 2], &[1, 1], 5).expect("valid");
    let solution = solve(&problem).expect("two levels");
    assert_eq!(solution.rows, [2, 5, 1, 3, 1, 2]);
    let certified = |rows: &[i64]| {
        let labels = solution.labels.clone();
        let proof = certify(&problem, &Solution { rows: rows.to_vec(), labels });
        proof.expect("two levels").is_optimal()
    };
    assert!(certified(&solution.rows));
    assert!(!certified(&[2, 5, 0, 3, 2, 2])); // feasible, not optimal
    assert!(!certified(&[2, 5, 1, 3, 1, 1])); // does not add up
    assert!(!certified(&[1, 4, 1, 3, 0, 1])); // a group is missing
    let falling = Solution { rows: vec![4, 5, 3, 1, 1, 4], labels: solution.labels.clone() };
    assert!(!certify(&problem, &falling).expect("two levels").feasible);
    let bare = Solution { rows: solution.rows.clone(), labels: Vec::new() };
    assert!(!certify(&problem, &bare).expect("two levels").is_optimal());
}

#[test]
fn edges() {
    let deep = RegionTree::from_parents(&[None, Some(0), Some(1)]).expect("valid");
    let problem = Problem::new(&deep, 1, &[1, 1, 1], &[1, 1, 1], 1).expect("valid");
    assert_eq!(solve(&problem).err(), Some(CensusError::NotAStar { levels: 3 }));
    let root = RegionTree::from_parents(&[None]).expect("valid");
    let pair = RegionTree::from_parents(&[None, Some(0), Some(0)]).expect("valid");
    let solved = |tree: &RegionTree, bins, noisy: &[i64], weights: &[u32], groups| {
        let problem = Problem::new(tree, bins, noisy, weights, groups).expect("valid");
        let solution = solve(&problem).expect("two levels");
        let proof = certify(&problem, &solution).expect("two levels");
        assert!(proof.is_optimal(), "{proof:?} {solution:?}");
        solution.rows
    };
    assert_eq!(solved(&root, 1, &[-7], &[1], 4), [4]);
    assert_eq!(solved(&root, 3, &[9, 2, 7], &[5], 6), [6, 6, 6]);
    assert_eq!(solved(&pair, 2, &[9, 9, -9, 9, 9, 9], &[1, 2], 0), [0; 6]);
    solved(&pair, 3, &[-9; 9], &[3, 1], 7);
    let most = MAX_VALUE;
    solved(&pair, 2, &[-most, most, most, -most, 0, most], &[1, 1], most);
}
