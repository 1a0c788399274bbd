//! The optimum in real numbers, which is where the integers start from.

use rayon::prelude::*;

use super::Problem;
use super::prices::Prices;

/// The closest consistent nonnegative table in real numbers, to rounding error. Some ten passes over the table.
///
/// The leaves come from water filling; all other rows are sums of theirs, so that the table adds up as well as floats can.
pub fn solve_real(problem: &Problem<'_>) -> Vec<f64> {
    let (tree, bins) = (problem.tree(), problem.bins());
    let first = tree.leaves().start;
    let prices = Prices::new(problem);
    let mut table = vec![0.0; tree.len() * bins];
    table[first * bins..].par_chunks_exact_mut(bins).enumerate().for_each(|(leaf, row)| {
        let node = first + leaf;
        let cells = row.iter_mut().zip(problem.row(node));
        match tree.parent(node) {
            Some(parent) => {
                for ((cell, &noisy), price) in cells.zip(prices.below(parent)) {
                    *cell = (noisy as f64 + price).max(0.0);
                }
            }
            None => cells.for_each(|(cell, &noisy)| *cell = (noisy as f64 + prices.top()).max(0.0)),
        }
    });
    // Sums of what was rounded, not the rounded solution of the sums: so consistency is exact up to the order of additions.
    for node in (0..first).rev() {
        let children = tree.children(node);
        let (head, tail) = table.split_at_mut(children.start * bins);
        let sum = &mut head[node * bins..][..bins];
        for row in tail[..children.len() * bins].chunks_exact(bins) {
            sum.iter_mut().zip(row).for_each(|(total, cell)| *total += cell);
        }
    }
    table
}

/// What a real table proves about itself.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct RealCertificate {
    /// No count is negative.
    pub nonnegative: bool,
    /// The larger of: how far any sum of children is from its parent, or the total from the number of groups; and by how much any
    /// leaf cell breaks the optimality conditions. In groups. A leaf cell breaks them by the smaller of its own count and its
    /// marginal cost above the least of any leaf cell, over the leaves' weight: what is there should cost no more than what
    /// could be there.
    pub residual: f64,
}

/// Certificate of a real table. Linear time.
///
/// # Panics
/// If the table has another shape.
pub fn certify_real(problem: &Problem<'_>, table: &[f64]) -> RealCertificate {
    let (tree, bins) = (problem.tree(), problem.bins());
    assert_eq!(table.len(), problem.noisy().len(), "a table of the same shape");
    let total: f64 = table[..bins].iter().sum();
    let mut residual = (total - problem.groups() as f64).abs();
    for node in 0..tree.leaves().start {
        for bin in 0..bins {
            let sum: f64 = tree.children(node).map(|child| table[child * bins + bin]).sum();
            residual = residual.max((sum - table[node * bins + bin]).abs());
        }
    }
    // Of each cell, that of its ancestors included.
    let weights = problem.node_weights();
    let mut costs: Vec<f64> =
        table.iter().zip(problem.noisy()).map(|(x, &y)| x - y as f64).collect();
    for (node, &weight) in weights.iter().enumerate() {
        let (above, own) = costs.split_at_mut(node * bins);
        let parent = tree.parent(node).map(|parent| &above[parent * bins..][..bins]);
        for (bin, cost) in own[..bins].iter_mut().enumerate() {
            *cost = *cost * weight as f64 + parent.map_or(0.0, |parent| parent[bin]);
        }
    }
    let first = tree.leaves().start * bins;
    let least = costs[first..].iter().copied().fold(f64::INFINITY, f64::min);
    let leaf_weight = weights[tree.len() - 1] as f64;
    for (count, cost) in table[first..].iter().zip(&costs[first..]) {
        residual = residual.max(count.min((cost - least) / leaf_weight));
    }
    RealCertificate { nonnegative: table.iter().all(|&count| count >= 0.0), residual }
}

#[cfg(test)]
mod tests {
    use super::super::{certify, solve};
    use super::*;
    use crate::RegionTree;
    use approx::assert_abs_diff_eq;

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
        let (mut refused, mut exchanges) = (0, 0);
        for seed in 0..60_i64 {
            let noisy: Vec<i64> =
                (0..8 * 3).map(|i| (i * i * 31 + i * seed * 7 + seed) % 23 - 6).collect();
            let weights = [1 + u32::from(seed % 3 == 0), 2, 1];
            let problem = Problem::new(&tree, 3, &noisy, &weights, seed % 40).expect("valid");
            let real = solve_real(&problem);
            let total: f64 = real[..3].iter().sum();
            assert_abs_diff_eq!(total, (seed % 40) as f64, epsilon = 1e-9);
            let proof = certify_real(&problem, &real);
            assert!(proof.nonnegative && proof.residual < 1e-9, "{proof:?}");
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
                    refused += usize::from(certify_real(&problem, &other).residual > 1e-5);
                    exchanges += 1;
                }
            }
        }
        // Cells that cost the same can be exchanged freely only at the second order of the step.
        assert_eq!(refused, exchanges);
    }
}
