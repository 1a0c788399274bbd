//! The optimum in real numbers, which is where the integers start from.

use rayon::prelude::*;

use super::demand::Demand;
use super::{Problem, Totals};

/// The closest consistent nonnegative table in real numbers, to rounding error. As fast as the integer solution.
///
/// The leaves come from water filling; all other rows are sums of theirs, so that the table adds up as well as floats can.
pub fn solve_real(problem: &Problem<'_>) -> Vec<f64> {
    let (tree, bins) = (problem.tree(), problem.bins());
    let leaves = tree.leaves();
    let totals = Totals::new(problem);
    let mut columns = vec![0.0; leaves.len() * bins];
    columns.par_chunks_exact_mut(leaves.len()).enumerate().for_each_init(
        || Demand::new(problem),
        |demand, (bin, column)| {
            let noisy: Vec<i64> = (0..tree.len()).map(|node| problem.row(node)[bin]).collect();
            demand.real_leaves(&noisy, totals.list(bin), totals.price, column);
        },
    );
    let mut table = vec![0.0; tree.len() * bins];
    for (bin, column) in columns.chunks_exact(leaves.len()).enumerate() {
        for (leaf, &count) in leaves.clone().zip(column) {
            table[leaf * bins + bin] = count;
        }
    }
    for node in (0..leaves.start).rev() {
        let (head, tail) = table.split_at_mut((node + 1) * bins);
        let row = &mut head[node * bins..];
        for child in tree.children(node) {
            let child = &tail[(child - node - 1) * bins..][..bins];
            row.iter_mut().zip(child).for_each(|(sum, cell)| *sum += cell);
        }
    }
    table
}

#[cfg(test)]
mod tests {
    use super::super::{certify, solve};
    use super::*;
    use crate::RegionTree;

    /// The distance of a real table to the noisy one, weighted like [`Problem::objective`].
    fn objective(problem: &Problem<'_>, table: &[f64]) -> f64 {
        let tree = problem.tree();
        let cell = |(i, x): (usize, &f64)| {
            let weight = problem.level_weights()[tree.level_of(i / problem.bins())];
            f64::from(weight) * (x - problem.noisy()[i] as f64).powi(2)
        };
        table.iter().enumerate().map(cell).sum()
    }

    /// Feasible, below the integer optimum, and no exchange of a small amount between two leaf cells lowers the objective.
    #[test]
    fn no_small_exchange_gains() {
        let parents = [None, Some(0), Some(0), Some(1), Some(1), Some(2), Some(2), Some(2)];
        let tree = RegionTree::from_parents(&parents).expect("valid");
        for seed in 0..60_i64 {
            let noisy: Vec<i64> =
                (0..8 * 3).map(|i| (i * i * 31 + i * seed * 7 + seed) % 23 - 6).collect();
            let weights = [1 + u32::from(seed % 3 == 0), 2, 1];
            let problem = Problem::new(&tree, 3, &noisy, &weights, seed % 40).expect("valid");
            let real = solve_real(&problem);
            let total: f64 = real[..3].iter().sum();
            assert!((total - (seed % 40) as f64).abs() < 1e-9, "{total}");
            assert!(real.iter().all(|&cell| cell >= 0.0));
            let least = objective(&problem, &real);
            let integers = solve(&problem);
            assert!(certify(&problem, &integers).is_optimal());
            assert!(least <= problem.objective(&integers) as f64 + 1e-6, "{least}");
            let step = 1e-3;
            for from in 3 * 3..8 * 3 {
                for to in (3 * 3..8 * 3).filter(|&to| to != from && real[from] >= step) {
                    let mut other = real.clone();
                    for (cell, change) in [(from, -step), (to, step)] {
                        let mut node = Some(cell / 3);
                        while let Some(at) = node {
                            other[at * 3 + cell % 3] += change;
                            node = tree.parent(at);
                        }
                    }
                    assert!(objective(&problem, &other) > least - 1e-9, "seed {seed}: {from} {to}");
                }
            }
        }
    }
}
