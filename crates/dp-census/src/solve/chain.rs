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

use rayon::prelude::*;

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
/// Linear time; sizes are fitted in parallel, in strips, and then pooled with each other. Beside the tables it keeps one entry for each
/// block of each strip.
pub fn solve(problem: &Problem<'_>) -> Vec<i64> {
    let (tree, bins) = (problem.tree(), problem.bins());
    let leaves = tree.leaves();
    let items = Items::new(problem);
    let strips = (0..bins).into_par_iter().step_by(STRIP);
    let fits: Vec<Isotonic> = strips.map(|first| items.fit(first)).collect();
    // Pooling may go on in any order: blocks of the strips are pooled with each other as single values would be.
    let mut fit = Isotonic::default();
    for strip in &fits {
        fit.append(strip);
    }
    drop(fits);
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
    let all = Items::new(problem);
    for first in (0..bins).step_by(STRIP) {
        all.for_each(first, |weighted_sum, weight| items.push((weighted_sum, weight)));
    }
    let chain = cumulate(tree, bins, counts);
    let cells = (0..bins).flat_map(|bin| tree.leaves().map(move |leaf| leaf * bins + bin));
    let values: Vec<i64> = cells.take(items.len()).map(|cell| chain[cell]).collect();
    Some(isotonic::certify(&items, &values, 0..=problem.groups()))
}

/// The items of the chain: each leaf with the ancestors that it is the last leaf of, size by size. The last one, which is fixed to the
/// number of groups, is left out.
struct Items<'a> {
    problem: Problem<'a>,
    node_weights: Vec<i64>,
    /// For each node, its last leaf, counted from the first.
    ends: Vec<usize>,
    /// For each leaf, the weight of all nodes that end there.
    tied_weights: Vec<u64>,
}

impl<'a> Items<'a> {
    fn new(problem: &Problem<'a>) -> Self {
        let tree = problem.tree();
        let node_weights = problem.node_weights();
        let leaves = tree.leaves();
        // A node ends on the last leaf of its last child.
        let mut ends: Vec<usize> = (0..tree.len()).map(|n| n.wrapping_sub(leaves.start)).collect();
        for node in (0..leaves.start).rev() {
            ends[node] = ends[tree.children(node).end - 1];
        }
        let mut tied_weights = vec![0; leaves.len()];
        for (&end, &weight) in ends.iter().zip(&node_weights) {
            tied_weights[end] += weight.cast_unsigned();
        }
        Self { problem: *problem, node_weights, ends, tied_weights }
    }

    /// The weighted sum and the weight of each item of the strip of sizes from `first` on.
    fn for_each(&self, first: usize, mut item: impl FnMut(i128, u64)) {
        let bins = self.problem.bins();
        let width = STRIP.min(bins - first);
        let mut sums = vec![[0_i64; STRIP]; self.tied_weights.len()];
        for (node, (&end, &weight)) in self.ends.iter().zip(&self.node_weights).enumerate() {
            let noisy = &self.problem.row(node)[first..first + width];
            sums[end].iter_mut().zip(noisy).for_each(|(sum, value)| *sum += weight * value);
        }
        for bin in 0..width {
            let fixed = usize::from(first + bin + 1 == bins);
            let free = ..sums.len() - fixed;
            for (sums, &weight) in sums[free].iter().zip(&self.tied_weights) {
                item(i128::from(sums[bin]), weight);
            }
        }
    }

    fn fit(&self, first: usize) -> Isotonic {
        let mut fit = Isotonic::default();
        self.for_each(first, |weighted_sum, weight| fit.push(weighted_sum, weight));
        fit
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::solve::random::{self, Shape};
    use crate::solve::{MAX_VALUE, MAX_WEIGHT, cost_table};

    /// The chain of a problem, item by item, straight from the definition: nodes in post-order.
    fn ties(problem: &Problem<'_>) -> Vec<Vec<(i64, u32)>> {
        fn visit(problem: &Problem<'_>, node: usize, bin: usize, ties: &mut Vec<Vec<(i64, u32)>>) {
            let children = problem.tree().children(node);
            if children.is_empty() {
                ties.push(Vec::new());
            }
            children.for_each(|child| visit(problem, child, bin, ties));
            let weight = problem.level_weights()[problem.tree().level_of(node)];
            let item = ties.last_mut().expect("a node comes after its leaves");
            item.push((problem.row(node)[bin], weight));
        }
        let mut ties = Vec::new();
        (0..problem.bins()).for_each(|bin| visit(problem, 0, bin, &mut ties));
        ties
    }

    /// 10,000 uneven trees of 1 to 4 levels against the full tables of Equation 8.
    #[test]
    fn equals_the_full_cost_tables() {
        let mut rng = random::generator(23);
        let shape = Shape { levels: 4, fan_out: 3, bins: 4, weight: 5, groups: 11, noise: 6 };
        for _ in 0..10_000 {
            let case = random::case(&mut rng, shape);
            let problem = case.problem();
            let counts = solve(&problem);
            let chain = cumulate(&case.tree, case.bins, &counts);
            let oracle = cost_table::chain_cost(&ties(&problem), case.groups);
            assert_eq!(Some(problem.objective(&chain)), oracle, "{case:?}");
            assert!(certify(&problem, &counts).is_some_and(|proof| proof.is_optimal()), "{case:?}");
        }
    }

    #[test]
    fn other_tables_are_not_certified() {
        let tree = RegionTree::from_parents(&[None, Some(0), Some(0)]).expect("valid");
        let counts = [4, 2, 1, 2, 3, 0];
        let noisy = cumulate(&tree, 2, &counts);
        assert_eq!(noisy, [4, 6, 1, 6, 4, 6]);
        let problem = Problem::new(&tree, 2, &noisy, &[1, 1], 6).expect("valid");
        assert_eq!(solve(&problem), counts);
        assert!(certify(&problem, &counts).is_some_and(|proof| proof.is_optimal()));
        assert!(certify(&problem, &[3, 3, 1, 2, 2, 1]).is_some_and(|proof| !proof.is_optimal()));
        for table in [[4, 2, 1, 2, 3, 1], [4, 1, 1, 1, 3, 0], [4, 2, 5, 2, -1, 0]] {
            assert_eq!(certify(&problem, &table), None);
        }
    }

    #[test]
    fn edges() {
        let root = RegionTree::from_parents(&[None]).expect("valid");
        let pair = RegionTree::from_parents(&[None, Some(0), Some(0)]).expect("valid");
        let solved = |tree: &RegionTree, bins, noisy: &[i64], weights: &[u32], groups| {
            let problem = Problem::new(tree, bins, noisy, weights, groups).expect("valid");
            let counts = solve(&problem);
            assert!(certify(&problem, &counts).is_some_and(|proof| proof.is_optimal()));
            counts
        };
        assert_eq!(solved(&root, 1, &[-7], &[1], 4), [4]);
        assert_eq!(solved(&pair, 2, &[9, 9, -9, 9, 9, 9], &[1, 2], 0), [0; 6]);
        assert_eq!(solved(&pair, 1, &[-9, -9, -9], &[1, 2], 5), [5, 0, 5]);
        let billion = solved(&pair, 1, &[1_000_000_000; 3], &[1, 1], 1_000_000_000);
        assert_eq!(billion, [1_000_000_000, 1_000_000_000, 0]);
        let most = MAX_VALUE;
        solved(&pair, 2, &[-most, most, most, -most, most, -most], &[MAX_WEIGHT, 1], most);
    }
}
