//! One nondecreasing chain through all nodes, size by size.
//!
//! Fioretto, Van Hentenryck, Zhu (2021), Model 3. Along each level the cumulative count runs over
//! sizes first and regions second, and a region's value equals that of its last child: the chain
//! is then a sequence of ties, one for each size and leaf, and the problem is isotonic regression
//! with the last value fixed to the number of groups. What the differences of the solution say is
//! a consistent table of counts.
//!
//! The solver is exact, and as good as the noisy chain that it is given. Mind that one person
//! changes as many entries of this chain as a level has regions: it needs much more noise than the
//! cumulative counts of each region.

use super::Problem;
use super::isotonic::{self, Isotonic};
use super::problem::{add_up, adds_up};
use crate::RegionTree;

/// Columns that are read together, so that each cache line of the table is fetched once.
const STRIP: usize = 8;

/// The cumulative chain of a table of counts: entry `(node, size)` is the number of groups of the
/// node's level that are smaller, or as large and in this or an earlier node of the level.
///
/// # Panics
/// If the table does not have `bins` columns and a row per node.
pub fn cumulate(tree: &RegionTree, bins: usize, counts: &[i64]) -> Vec<i64> {
    assert_eq!(counts.len(), tree.len() * bins, "one cell per node and bin");
    let mut chain = vec![0; counts.len()];
    for level in 0..tree.levels() {
        let mut total = 0;
        for bin in 0..bins {
            for node in tree.level(level) {
                total += counts[node * bins + bin];
                chain[node * bins + bin] = total;
            }
        }
    }
    chain
}

/// The table of counts whose chain is closest to the noisy one; consistent, nonnegative, and with
/// `groups` in all.
///
/// Linear time. Beside the tables it keeps one entry for each block of the solution.
pub fn solve(problem: &Problem<'_>) -> Vec<i64> {
    let (tree, bins) = (problem.tree(), problem.bins());
    let leaves = tree.leaves();
    let mut fit = Isotonic::default();
    let mut left = leaves.len() * bins;
    for_each_item(problem, |weighted_sum, weight| {
        left -= 1;
        if left > 0 {
            fit.push(weighted_sum, weight);
        }
    });
    let mut counts = vec![0; tree.len() * bins];
    let mut rise = |item: usize, height: i64| {
        counts[(leaves.start + item % leaves.len()) * bins + item / leaves.len()] = height;
    };
    let (mut item, mut before) = (0, 0);
    for (value, items) in fit.pieces(0..=problem.groups()) {
        rise(item, value - before);
        before = value;
        item += items;
    }
    rise(item, problem.groups() - before);
    add_up(tree, bins, &mut counts);
    counts
}

/// Certificate of a table of counts, or `None` if the table is not a solution at all: negative, not
/// consistent, or with another number of groups. Linear time, exact.
///
/// # Panics
/// If the table has another shape.
pub fn certify(problem: &Problem<'_>, counts: &[i64]) -> Option<isotonic::Certificate> {
    let (tree, bins) = (problem.tree(), problem.bins());
    assert_eq!(counts.len(), problem.noisy().len(), "a table of the same shape");
    let groups: i128 = counts[..bins].iter().map(|&count| i128::from(count)).sum();
    let valid = counts.iter().all(|&count| count >= 0) && groups == i128::from(problem.groups());
    if !valid || !adds_up(tree, bins, counts) {
        return None;
    }
    let mut items = Vec::with_capacity(tree.leaves().len() * bins);
    for_each_item(problem, |weighted_sum, weight| items.push((weighted_sum, weight)));
    items.pop();
    let chain = cumulate(tree, bins, counts);
    let cells = (0..bins).flat_map(|bin| tree.leaves().map(move |leaf| leaf * bins + bin));
    let values: Vec<i64> = cells.take(items.len()).map(|cell| chain[cell]).collect();
    Some(isotonic::certify(&items, &values, 0..=problem.groups()))
}

/// The items of the chain in order: each leaf with the ancestors that it is the last leaf of.
fn for_each_item(problem: &Problem<'_>, mut item: impl FnMut(i128, u64)) {
    let (tree, bins) = (problem.tree(), problem.bins());
    let weights = problem.node_weights();
    let leaves = tree.leaves();
    // A node ends on the last leaf of its last child.
    let mut ends: Vec<usize> = (0..tree.len()).collect();
    for node in (0..leaves.start).rev() {
        ends[node] = ends[tree.children(node).end - 1];
    }
    let mut tied_weights = vec![0; leaves.len()];
    for (&end, &weight) in ends.iter().zip(&weights) {
        tied_weights[end - leaves.start] += weight.cast_unsigned();
    }
    let mut sums = vec![[0_i64; STRIP]; leaves.len()];
    for start in (0..bins).step_by(STRIP) {
        let width = STRIP.min(bins - start);
        sums.fill([0; STRIP]);
        for (node, (&end, &weight)) in ends.iter().zip(&weights).enumerate() {
            let noisy = &problem.row(node)[start..start + width];
            let sums = &mut sums[end - leaves.start];
            sums.iter_mut().zip(noisy).for_each(|(sum, value)| *sum += weight * value);
        }
        for bin in 0..width {
            for (sums, &weight) in sums.iter().zip(&tied_weights) {
                item(i128::from(sums[bin]), weight);
            }
        }
    }
}
