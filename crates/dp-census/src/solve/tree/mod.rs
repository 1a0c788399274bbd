//! Consistent nonnegative integer counts closest to noisy ones: the exact optimum, without tables.
//!
//! Minimises the weighted squared distance over integer tables in which children add up to their
//! parent, no count is negative, and the counts of the root sum to the number of groups; Fioretto,
//! Van Hentenryck, Zhu (2021), Model 1 with its integrality. Their dynamic program needs a table of
//! costs per node, as wide as the noise. Here, three steps do not depend on the noise:
//!
//! 1. the real optimum by water filling (`prices`): with a price per unit, each leaf demands
//!    `max(0, noisy + price)`, and Newton's method finds the prices;
//! 2. rounding from the top down: the parts of a node are floored, and the largest fractions
//!    rounded up, until they sum to the node's integer;
//! 3. unit exchanges (`exchange`) between siblings as long as one gains, bottom-up, in exact
//!    integers.
//!
//! The last step makes it exact. The least cost of a subtree as a function of its total is convex
//! (Lemma 5 of the paper), the best single unit step down a subtree that is optimal for its total
//! leaves it optimal for the next total, and a sum of convex functions with a fixed sum of arguments
//! is least if and only if no exchange of one unit gains. So floating point chooses where the
//! exchanges start, never where they end. Starting from a rounded real optimum there are almost
//! none: about one per thousand nodes on small random trees, none or one on a census.
//!
//! Bins only meet in the total number of groups; they are solved in parallel, with the same result
//! for any number of threads.

mod exchange;
mod prices;
mod real;
mod round;

pub use self::real::{RealCertificate, certify_real, solve_real};

use rayon::prelude::*;

use self::exchange::{Exchange, Slopes};
use self::prices::Prices;
use self::round::apportion;
use super::Problem;
use super::problem::adds_up;

/// Bins that one task takes together, so that each cache line of the table is fetched once.
const STRIP: usize = 8;

/// The exact integer optimum. Some ten passes over the table, and a few words per leaf cell of working
/// memory.
pub fn solve(problem: &Problem<'_>) -> Vec<i64> {
    let start = Start::new(problem);
    let nodes = problem.tree().len();
    let mut columns = vec![0; nodes * problem.bins()];
    let mut slopes = vec![Slopes::default(); problem.bins()];
    let strips = columns.par_chunks_mut(nodes * STRIP).zip(slopes.par_chunks_mut(STRIP));
    strips.enumerate().for_each_init(
        || (Exchange::new(problem), Vec::new(), Vec::new()),
        |(exchange, noisy, parts), (strip, (columns, slopes))| {
            gather(nodes, problem.bins(), problem.noisy(), strip * STRIP, noisy);
            let cells = columns.chunks_exact_mut(nodes).zip(noisy.chunks_exact(nodes)).zip(slopes);
            for (i, ((counts, noisy), slopes)) in cells.enumerate() {
                start.column(strip * STRIP + i, noisy, parts, counts);
                *slopes = exchange.repair(noisy, counts);
            }
        },
    );
    drop(start);
    exchange_between_bins(problem, &mut columns, &mut slopes);
    scatter(nodes, problem.bins(), &columns)
}

/// What a solution of the tree problem proves about itself.
///
/// If the table is feasible and no exchange of a unit gains, at any node between its children or at
/// the top between two bins, it is optimal (see the module).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Certificate {
    /// Nonnegative, consistent, and with the right number of groups.
    pub feasible: bool,
    /// The largest gain of an exchange anywhere; 0 if none gains.
    pub gain: i64,
}

impl Certificate {
    /// Whether the solution is proved optimal.
    pub fn is_optimal(&self) -> bool {
        self.feasible && self.gain == 0
    }
}

/// Certificate of a table of counts. Linear time, exact, and without the solver's own state.
///
/// # Panics
/// If the table has another shape.
pub fn certify(problem: &Problem<'_>, counts: &[i64]) -> Certificate {
    let (tree, bins) = (problem.tree(), problem.bins());
    assert_eq!(counts.len(), problem.noisy().len(), "a table of the same shape");
    let groups: i128 = counts[..bins].iter().map(|&count| i128::from(count)).sum();
    let feasible = groups == i128::from(problem.groups())
        && counts.iter().all(|&count| count >= 0)
        && adds_up(tree, bins, counts);
    if !feasible {
        return Certificate { feasible, gain: 0 };
    }
    let nodes = tree.len();
    // Separable convex costs over a laminar family (the subtrees) are M-convex: where no single exchange gains, no table is closer (Murota,
    // 2003). Of each bin stays what a unit more at its root costs and a unit less gains, for the exchanges between bins.
    let starts = (0..bins).into_par_iter().step_by(STRIP);
    let proofs = starts.map_init(
        || (Exchange::new(problem), Vec::new(), Vec::new()),
        |(exchange, noisy, columns), first| {
            gather(nodes, bins, problem.noisy(), first, noisy);
            gather(nodes, bins, counts, first, columns);
            let cells = noisy.chunks_exact(nodes).zip(columns.chunks_exact(nodes));
            cells.fold((0, Slopes::default()), |(gain, top), (noisy, column)| {
                let gain = exchange.largest_gain(noisy, column).max(gain);
                (gain, top.beside(exchange.root()))
            })
        },
    );
    let (gain, top) = proofs.reduce(
        || (0, Slopes::default()),
        |(gain, top), (other_gain, other)| (gain.max(other_gain), top.beside(other)),
    );
    Certificate { feasible, gain: gain.max(top.gain()) }
}

/// Feasible integers close to the real optimum.
struct Start<'a> {
    prices: Prices<'a>,
    /// The total of each bin.
    roots: Vec<i64>,
}

impl<'a> Start<'a> {
    fn new(problem: &Problem<'a>) -> Self {
        let prices = Prices::new(problem);
        let real: Vec<f64> =
            (0..problem.bins()).map(|bin| prices.demand(0, bin, problem.row(0)[bin])).collect();
        let mut roots = vec![0; problem.bins()];
        apportion(&real, problem.groups(), &mut roots);
        Self { prices, roots }
    }

    /// One bin, given as a column. `parts` is working memory.
    fn column(&self, bin: usize, noisy: &[i64], parts: &mut Vec<f64>, counts: &mut [i64]) {
        counts[0] = self.roots[bin];
        let tree = self.prices.tree();
        for node in 0..tree.leaves().start {
            let children = tree.children(node);
            parts.clear();
            parts
                .extend(children.clone().map(|child| self.prices.demand(child, bin, noisy[child])));
            let total = counts[node];
            apportion(parts, total, &mut counts[children]);
        }
    }
}

/// Exchanges between bins, at the node above all of them. Moves are so rare that each may cost a
/// pass over its bin.
fn exchange_between_bins(problem: &Problem<'_>, columns: &mut [i64], slopes: &mut [Slopes]) {
    let nodes = problem.tree().len();
    let mut exchange = Exchange::new(problem);
    while let Some((up, down)) = exchange::best_exchange(slopes) {
        for (bin, unit) in [(up, 1), (down, -1)] {
            let noisy: Vec<i64> = (0..nodes).map(|node| problem.row(node)[bin]).collect();
            let counts = &mut columns[bin * nodes..][..nodes];
            slopes[bin] = exchange.step(&noisy, counts, unit);
        }
    }
}

/// The columns of a table from `first` on, at most a strip of them, one after the other.
fn gather(nodes: usize, bins: usize, table: &[i64], first: usize, columns: &mut Vec<i64>) {
    let width = STRIP.min(bins - first);
    columns.resize(width * nodes, 0);
    for (node, row) in table.chunks_exact(bins).enumerate() {
        let cells = &row[first..first + width];
        cells.iter().enumerate().for_each(|(i, &cell)| columns[i * nodes + node] = cell);
    }
}

/// Rows from columns.
fn scatter(nodes: usize, bins: usize, columns: &[i64]) -> Vec<i64> {
    let mut table = vec![0; nodes * bins];
    table.par_chunks_mut(bins * STRIP).enumerate().for_each(|(block, rows)| {
        for first in (0..bins).step_by(STRIP) {
            for (i, row) in rows.chunks_exact_mut(bins).enumerate() {
                let node = block * STRIP + i;
                let width = STRIP.min(bins - first);
                for (j, cell) in row[first..first + width].iter_mut().enumerate() {
                    *cell = columns[(first + j) * nodes + node];
                }
            }
        }
    });
    table
}

#[cfg(test)]
mod tests;
