//! Consistent nondecreasing rows closest to noisy cumulative counts, in real numbers.
//!
//! Minimises the weighted squared distance over tables in which each row is nonnegative and
//! nondecreasing, children add up to their parent, and the last entry of the root is the number of
//! groups; the relaxation of Model 2 of Fioretto, Van Hentenryck, Zhu (2021). The dual has one
//! multiplier for each cell of the inner nodes only, and its gradient takes one isotonic fit per
//! leaf; semismooth Newton maximises it to rounding error in some 15 steps whatever the noise.
//!
//! The solution is made integral by [`super::edf`], or for two levels exactly by [`super::star`].

mod chain;
mod dual;
mod leaves;
mod pool;
mod precondition;
mod reaction;

use rayon::prelude::*;

use self::dual::{Dual, Point};
use self::pool::Pool;
use self::reaction::Reaction;
use super::{Problem, newton};

/// Cells that a task handles at least: less is done before another thread has woken up.
const LEAST_WORK: usize = 4_096;

/// A real solution with the multipliers that prove it.
#[derive(Debug, Clone)]
pub struct Solution {
    /// The table, row-major. Leaf rows are nonnegative and nondecreasing without any error, and inner
    /// rows are the floating point sums of their children. The last entry of the root is such a sum
    /// too: it is the number of groups up to [`Solution::residual`].
    pub rows: Vec<f64>,
    /// One multiplier per inner node and bin, in units in which leaves have weight 1.
    pub multipliers: Vec<f64>,
    /// What the search ended at: the largest difference between an inner row that the multipliers
    /// ask for and the sum of its children. Rounding error, of the order of `1e-15` times the largest
    /// count, unless the search was given up, which weights of levels can bring about that fall by
    /// factors of a thousand from the root to the leaves.
    pub residual: f64,
}

/// How far a solution may be from the optimum.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Certificate {
    /// All rows nonnegative and nondecreasing.
    pub monotone: bool,
    /// Largest difference between a row and the sum of its children, or between the last entry of
    /// the root and the number of groups.
    pub inconsistency: f64,
    /// Largest violation of the optimality conditions of a leaf row, given the multipliers.
    pub leaf_violation: f64,
    /// Upper bound of the weighted distance to the optimum (weights relative to the leaves'), if the
    /// two numbers above are rounding errors.
    ///
    /// A solution that adds up and whose leaves are optimal for the multipliers exceeds the dual
    /// value only by what its inner rows cost more than those that the multipliers ask for; what is
    /// missing in a sum counts with its multiplier. Strong convexity turns this gap into a distance.
    pub distance: f64,
}

impl Certificate {
    /// Whether everything is within `tolerance`.
    pub fn is_optimal_within(&self, tolerance: f64) -> bool {
        let worst = self.inconsistency.max(self.leaf_violation).max(self.distance);
        self.monotone && worst <= tolerance
    }
}

/// The real optimum. About 15 Newton steps, each of linear time for the isotonic fits that can have changed and some ten to thirty
/// passes over the inner rows. Memory beside the table: a few copies of the inner rows, and the pieces of the last two fits.
///
/// More steps where a level has much more weight than its noise would give it, or many values are tied: with weights of 100, 25
/// and 1 for equal noise, some 60 times as long.
pub fn solve(problem: &Problem<'_>) -> Solution {
    solve_within(problem, tolerance(problem), <Dual<'_> as newton::Dual>::MAX_STEPS)
}

/// As [`solve`], but for a search that ends as soon as no row is further than `residual` groups from the sum of its children, and is given
/// up after so many steps.
pub(super) fn solve_within(problem: &Problem<'_>, residual: f64, steps: usize) -> Solution {
    if problem.tree().levels() == 1 {
        return Solution { rows: root_alone(problem), multipliers: Vec::new(), residual: 0.0 };
    }
    let dual = Dual::new(*problem);
    // Once in the pool of threads, the many small parallel loops need not go there each.
    rayon::scope(|_| {
        let (residual, multipliers, point) = newton::maximise(&dual, residual, steps);
        let rows = primal(problem, &dual, &multipliers, &point);
        Solution { rows, multipliers, residual }
    })
}

/// Certificate of a solution; linear time.
///
/// # Panics
/// If the solution is for another shape.
pub fn certify(problem: &Problem<'_>, solution: &Solution) -> Certificate {
    let (tree, bins) = (problem.tree(), problem.bins());
    let Solution { rows, multipliers, .. } = solution;
    assert_eq!(rows.len(), problem.noisy().len(), "a table of the same shape");
    assert_eq!(multipliers.len(), tree.leaves().start * bins, "a multiplier per inner cell");
    let row = |node: usize| &rows[node * bins..][..bins];
    let monotone = (0..tree.len()).all(|node| row(node)[0] >= 0.0 && row(node).is_sorted());
    let groups = problem.groups() as f64;
    let mut inconsistency = (row(0)[bins - 1] - groups).abs();
    if tree.levels() == 1 {
        let free = problem.row(0)[..bins - 1].iter().map(|&y| y as f64);
        let leaf_violation = pool::violation(free, &row(0)[..bins - 1], groups);
        return Certificate { monotone, inconsistency, leaf_violation, distance: 0.0 };
    }
    // Primal value less dual value, added up node by node: by weak duality no table costs less than the dual value, so that the gap bounds
    // what this one costs too much. Leaves contribute nothing if they are optimal for the multipliers, which is checked below.
    let dual = Dual::new(*problem);
    let mut asked = vec![0.0; bins];
    let (mut gap, mut pool, mut reaction): (f64, _, _) =
        (0.0, Pool::default(), Reaction::default());
    for node in 0..tree.leaves().start {
        dual.fit_inner(multipliers, node, &mut pool, &mut asked, &mut reaction);
        for (bin, target) in dual.inner_target(multipliers, node).enumerate() {
            let fixed = node == 0 && bin + 1 == bins;
            let value = if fixed { groups } else { row(node)[bin] };
            let sum: f64 = tree.children(node).map(|child| row(child)[bin]).sum();
            let missing = (value - sum).abs();
            inconsistency = inconsistency.max(missing);
            // A quadratic around the row asked for: the square of what it is off by, and the slope there, which is not zero where the
            // row is held by order.
            let off = value - asked[bin];
            // The fixed entry has no target.
            let pull = if fixed { 0.0 } else { asked[bin] - target };
            let multiplier = multipliers[node * bins + bin].abs();
            gap += dual.weight(node) * off * (off + 2.0 * pull) + 2.0 * multiplier * missing;
        }
    }
    // The cost is a weighted sum of squares, so that a table is at least its squared distance from the optimum dearer than that.
    let leaf_violation = tree
        .leaves()
        .map(|leaf| pool::violation(dual.leaf_target(multipliers, leaf), row(leaf), f64::INFINITY))
        .fold(0.0, f64::max);
    Certificate { monotone, inconsistency, leaf_violation, distance: gap.abs().sqrt() }
}

/// A root without children: an isotonic fit with the last value fixed.
fn root_alone(problem: &Problem<'_>) -> Vec<f64> {
    let groups = problem.groups() as f64;
    let free = &problem.row(0)[..problem.bins() - 1];
    let free: Vec<f64> = free.iter().map(|&noisy| noisy as f64).collect();
    let mut row = nondecreasing(&free, groups);
    row.push(groups);
    row
}

/// The closest nondecreasing row between 0 and `most`.
pub(super) fn nondecreasing(row: &[f64], most: f64) -> Vec<f64> {
    let mut fit = row.to_vec();
    let mut pool = Pool::default();
    pool.fit(row, &[]);
    for piece in pool.pieces(row.len()) {
        fit[piece.start as usize..piece.end() as usize].fill(piece.value().min(most));
    }
    fit
}

/// The rows that the multipliers ask for at the leaves, added up. The pieces of a point nearby are a guess.
fn primal(problem: &Problem<'_>, dual: &Dual<'_>, multipliers: &[f64], nearby: &Point) -> Vec<f64> {
    let (tree, bins) = (problem.tree(), problem.bins());
    let mut rows = vec![0.0; tree.len() * bins];
    let first = tree.leaves().start;
    let leaves = rows[first * bins..].par_chunks_mut(bins).enumerate();
    leaves.for_each_init(Pool::default, |pool, (i, row)| {
        let target = dual.leaf_target(multipliers, first + i);
        row.iter_mut().zip(target).for_each(|(cell, value)| *cell = value);
        pool.fit(row, dual.pieces(nearby, first + i));
        for piece in pool.pieces(bins) {
            row[piece.start as usize..piece.end() as usize].fill(piece.value());
        }
    });
    for node in (0..first).rev() {
        let children = tree.children(node);
        let (head, tail) = rows.split_at_mut(children.start * bins);
        let sum = &mut head[node * bins..][..bins];
        for row in tail[..children.len() * bins].chunks_exact(bins) {
            sum.iter_mut().zip(row).for_each(|(total, cell)| *total += cell);
        }
    }
    rows
}

/// Residual at which the search ends: well below what rounding to integers notices, and not below
/// what sums of such numbers can resolve.
fn tolerance(problem: &Problem<'_>) -> f64 {
    let inner = &problem.noisy()[..problem.tree().leaves().start * problem.bins()];
    let largest = inner.iter().map(|y| y.unsigned_abs()).max().unwrap_or(0);
    1e-11 + 2e-15 * largest.max(problem.groups().unsigned_abs()) as f64
}

#[cfg(test)]
mod tests;
