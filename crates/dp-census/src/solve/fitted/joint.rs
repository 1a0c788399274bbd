use crate::RegionTree;
use crate::solve::cumulative_top_down::totals_of;
use crate::solve::whole_rows::Targets;
use crate::solve::{Problem, cumulative};

/// The closest consistent real table over all levels at once, [`cumulative`].
///
/// It knows more about sums of regions than their noisy sums do where order holds most of the cells in place, and is off where it makes
/// thousands of regions too large. Which of these it is, noisy values say, level by level and column by column.
pub(super) struct Joint {
    /// Cumulative, row-major.
    pub(super) rows: Vec<f64>,
    pub(super) residual: f64,
}

/// Cells of a table up to which there is a joint one. Beyond, it would take most of the time of a release.
const MOST_CELLS: usize = 1 << 19;
/// In groups: where levels differ so much in noise that the search was given up further from the closest table, it is no estimate.
const MOST_RESIDUAL: f64 = 0.01;
/// In groups: where the search ends if the table is to be one estimate among others.
const NEARLY: f64 = 1e-3;
/// Newton steps after which that search is given up. It takes 2 to 23; hundreds where a level has all but all of the loss.
const MOST_STEPS: usize = 24;
/// Leaves whose noise has that many times their mean number of groups as its deviation say nothing to a joint table, and make the search for it
/// long.
const DROWNED: f64 = 4.0;
/// Variance of a cell of a leaf up to which whole numbers say more than what is drawn to a row above.
const NEARLY_WHOLE: f64 = 0.25;

impl Joint {
    /// None for tables that are too large, for one level, which has nothing to be joined, and where the search was given up. `of_leaf` is the variance of the noise of leaves.
    pub(super) fn new(problem: &Problem<'_>, of_leaf: f64) -> Option<Self> {
        if problem.tree().levels() < 2 || problem.noisy().len() > MOST_CELLS {
            return None;
        }
        let of_a_leaf = problem.groups() as f64 / problem.tree().leaves().len() as f64;
        if of_leaf > (DROWNED * of_a_leaf.max(1.0)).powi(2) {
            return None;
        }
        let cumulative::Solution { rows, residual, .. } = if is_nearly_whole(of_leaf) {
            cumulative::solve(problem)
        } else {
            cumulative::solve_within(problem, NEARLY, MOST_STEPS)
        };
        (residual <= MOST_RESIDUAL).then_some(Self { rows, residual })
    }

    /// How much each cell follows the noise of the best linear estimate of it, as a share of the variance of that, row-major. By Stein's
    /// identity, a cell of a leaf in a piece of `n` cells that are held together follows that of each of them by `1 / n`, and one that is held
    /// at 0 not at all; a cell of an inner node follows as much as those of its leaves do on average. Leaves that `is_known` are known to have no groups, and have no noise.
    pub(super) fn follows(&self, tree: &RegionTree, is_known: impl Fn(usize) -> bool) -> Vec<f64> {
        let bins = self.rows.len() / tree.len();
        let mut follows = vec![0.0; tree.leaves().start * bins];
        let rows = self.rows[follows.len()..].chunks_exact(bins);
        for (leaf, row) in tree.leaves().zip(rows) {
            if is_known(leaf) {
                follows.resize(follows.len() + bins, 0.0);
                continue;
            }
            #[expect(clippy::float_cmp, reason = "pieces are filled with one value")]
            for piece in row.chunk_by(|a, b| a == b) {
                let own = if piece[0] > 0.0 { 1.0 / piece.len() as f64 } else { 0.0 };
                follows.extend(std::iter::repeat_n(own, piece.len()));
            }
        }
        let of_leaf = |node: usize| if is_known(node) { 0.0 } else { 1.0 };
        let mut leaves: Vec<f64> = (0..tree.len()).map(of_leaf).collect();
        for node in (0..tree.leaves().start).rev() {
            leaves[node] = tree.children(node).map(|child| leaves[child]).sum();
            for child in tree.children(node).filter(|&child| leaves[child] > 0.0) {
                for column in 0..bins {
                    let of_child = follows[child * bins + column];
                    follows[node * bins + column] += of_child * leaves[child] / leaves[node];
                }
            }
        }
        follows
    }
}

/// Whether leaves are rounded, in a table of so many cells: then nothing counts but their noise.
pub(crate) fn are_leaves_rounded(cells: usize, of_leaf: f64) -> bool {
    cells <= MOST_CELLS && is_nearly_whole(of_leaf)
}

/// Whether the noise of leaves is so small that [`Joint::rounded`] is closer than anything that is drawn to a row above.
pub(super) fn is_nearly_whole(of_leaf: f64) -> bool {
    of_leaf <= NEARLY_WHOLE
}

impl Joint {
    /// The leaves' rows rounded cell by cell, and their sums: where noise is mostly less than half a group, each cell is mostly right by
    /// itself, and the error of all cells together gains nothing by having sums in mind. Inner rows pay for it: their error is that of the sum of
    /// their leaves, not of their own noise. `totals` are the numbers of groups of the leaves, if public.
    pub(super) fn rounded(&self, problem: &Problem<'_>, totals: Option<&[i64]>) -> Vec<i64> {
        let (tree, bins) = (problem.tree(), problem.bins());
        let leaves = tree.leaves();
        let ends = if let Some(totals) = totals {
            totals_of(tree, totals, problem.groups()).split_off(leaves.start)
        } else {
            let ends = leaves.clone().map(|leaf| self.rows[leaf * bins + bins - 1]);
            let values: Vec<f64> = ends.collect();
            let (weights, sum) = (vec![1.0; values.len()], [problem.groups()]);
            Targets { totals: &sum, values: &values, weights: &weights, ends: None }.rows()
        };
        let mut counts = vec![0; self.rows.len()];
        let (inner, lowest) = counts.split_at_mut(leaves.start * bins);
        let rows = self.rows[leaves.start * bins..].chunks_exact(bins);
        for ((counts, row), &end) in lowest.chunks_exact_mut(bins).zip(rows).zip(&ends) {
            let mut before = 0;
            for (column, (count, value)) in counts.iter_mut().zip(row).enumerate() {
                #[expect(clippy::cast_possible_truncation, reason = "saturates, then the clamp")]
                let near = if column + 1 == bins { end } else { (value.round() as i64).min(end) };
                *count = near.max(before) - before;
                before += *count;
            }
        }
        for node in (0..leaves.start).rev() {
            for child in tree.children(node) {
                for column in 0..bins {
                    let of_child = if child < leaves.start {
                        inner[child * bins + column]
                    } else {
                        lowest[(child - leaves.start) * bins + column]
                    };
                    inner[node * bins + column] += of_child;
                }
            }
        }
        counts
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::solve::problem::adds_up;
    use crate::solve::random::{self, Shape};
    use rand::RngExt;

    #[test]
    fn rounded_rows_are_feasible_whatever_the_noise() {
        let mut rng = random::generator(94);
        let shape = Shape { levels: 4, fan_out: 4, bins: 7, weight: 5, groups: 60, noise: 30 };
        for round in 0..300 {
            let case = random::case(&mut rng, shape);
            let problem = case.problem();
            let Some(joint) = Joint::new(&problem, 1.0) else {
                assert_eq!(case.tree.levels(), 1);
                continue;
            };
            let mut totals = vec![0; case.tree.leaves().len()];
            for _ in 0..case.groups {
                let leaf = rng.random_range(0..totals.len());
                totals[leaf] += 1;
            }
            let totals = (round % 2 == 0).then_some(&totals[..]);
            let counts = joint.rounded(&problem, totals);
            assert!(counts.iter().all(|&count| count >= 0), "{case:?}");
            assert!(adds_up(&case.tree, case.bins, &counts), "{case:?}");
            assert_eq!(counts[..case.bins].iter().sum::<i64>(), case.groups);
            for (row, &total) in
                counts.chunks_exact(case.bins).rev().zip(totals.iter().flat_map(|t| t.iter().rev()))
            {
                assert_eq!(row.iter().sum::<i64>(), total);
            }
        }
    }
}
