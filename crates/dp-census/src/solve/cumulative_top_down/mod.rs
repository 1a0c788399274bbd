//! Consistent nondecreasing rows of whole numbers, level after level from the top.
//!
//! Least squares over all levels at once ([`super::cumulative`]) lets thousands of small regions, none of which can be negative,
//! push up the sums above them: where nobody is, noise in a leaf is either cut off or taken for people, so their total comes out too
//! large, and the levels above have to meet it halfway. Here what the lower levels know travels upwards before any of it is cut:
//!
//! 1. From the leaves to the root, each row is pooled with the sum of its parts by inverse variance: the first pass of Hay, Rastogi,
//!    Miklau, Suciu, "Boosting the accuracy of differentially private histograms through consistency" (2010). Linear, hence unbiased.
//! 2. The root becomes the closest nondecreasing row of whole numbers with the public number of groups.
//! 3. From the root to the leaves, each row of whole numbers is split among the children of its node: the closest rows in real
//!    numbers that are nondecreasing, nonnegative and add up to it, and whole numbers less than 1 away from those by [`super::edf`].
//!
//! Without step 1 and on counts this is the scheme of `TopDown` ([`super::top_down`]); where no row is held up by zero or by order, steps
//! 1 to 3 give least squares over all levels, but for rounding. A row of whole numbers is constant between occupied sizes, and so are
//! its children: each split is a problem with as many columns as sizes are occupied, whatever the number of sizes, and the splits of a
//! level are independent.

mod estimates;
mod split;

use rayon::prelude::*;

use self::estimates::Estimates;
pub use self::split::Optimum;
use self::split::Split;
use super::problem::{Family, adds_up, families};
use super::{Problem, cumulative, edf};

/// A table with the evidence that each row was split well.
#[derive(Debug, Clone, PartialEq)]
pub struct Solution {
    /// Counts, not cumulative: nonnegative, children add up to their parent, `groups` in all.
    pub counts: Vec<i64>,
    /// How the row of each inner node was split.
    pub optima: Vec<Optimum>,
}

/// How good a table is.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Certificate {
    /// Consistent, nonnegative, and with the right number of groups.
    pub feasible: bool,
    /// By how much the worst optimality condition of a split in real numbers is broken, in groups.
    pub residual: f64,
    /// The largest distance of a cumulative whole number to the real number in its place: at most 1/2 in the root, and less than 1
    /// below it, but for rounding errors.
    pub distance: f64,
}

/// Consistent counts. `noisy` of the problem is cumulative.
///
/// One pass over the noisy table upwards and one downwards. Each split takes some Newton steps; a step costs as much as the children
/// times the sizes that the parent occupies, and conjugate gradients on as many unknowns as those sizes.
pub fn solve(problem: &Problem<'_>) -> Solution {
    let (tree, bins) = (problem.tree(), problem.bins());
    let estimates = Estimates::new(*problem);
    let mut counts = vec![0; problem.noisy().len()];
    edf::round_root(
        &closest_root(&estimates, problem.groups()),
        problem.groups(),
        &mut counts[..bins],
    );
    for bin in (1..bins).rev() {
        counts[bin] -= counts[bin - 1];
    }
    let mut optima = Vec::with_capacity(tree.leaves().start);
    for level in 0..tree.levels() - 1 {
        let families = families(tree, bins, level, &mut counts).into_par_iter();
        let of_level: Vec<Optimum> = families.map(|family| divide(&estimates, family)).collect();
        optima.extend(of_level);
    }
    Solution { counts, optima }
}

/// Certificate of a table; linear time.
///
/// # Panics
/// If the table or the evidence is for another shape.
pub fn certify(problem: &Problem<'_>, counts: &[i64], optima: &[Optimum]) -> Certificate {
    let (tree, bins) = (problem.tree(), problem.bins());
    assert_eq!(counts.len(), problem.noisy().len(), "a table of the same shape");
    assert_eq!(optima.len(), tree.leaves().start, "an optimum per inner node");
    let row = |node: usize| &counts[node * bins..][..bins];
    let groups: i128 = row(0).iter().map(|&count| i128::from(count)).sum();
    let feasible = groups == i128::from(problem.groups())
        && counts.iter().all(|&count| count >= 0)
        && adds_up(tree, bins, counts);
    if !feasible {
        return Certificate { feasible, residual: f64::INFINITY, distance: f64::INFINITY };
    }
    let estimates = Estimates::new(*problem);
    let mut sum = 0;
    let root = closest_root(&estimates, problem.groups()).into_iter().zip(row(0));
    let of_root = root.map(|(real, count)| {
        sum += count;
        (real - sum as f64).abs()
    });
    let of_root = of_root.fold(0.0, f64::max);
    let of_family = |node: usize| {
        let (starts, totals) = steps(row(node));
        let split = Split::new(&estimates, tree.children(node), bins, (&starts, &totals));
        if starts.is_empty() {
            return (0.0, 0.0);
        }
        let mut distance: f64 = 0.0;
        let rows = optima[node].rows.chunks_exact(starts.len());
        for (child, real) in tree.children(node).zip(rows) {
            let mut sum = 0;
            for (&start, real) in starts.iter().zip(real) {
                sum += row(child)[start];
                distance = distance.max((real - sum as f64).abs());
            }
        }
        (split.violation(&optima[node]), distance)
    };
    let worse = |a: (f64, f64), b: (f64, f64)| (a.0.max(b.0), a.1.max(b.1));
    let inner = (0..tree.leaves().start).into_par_iter().map(of_family);
    let (residual, distance) = inner.reduce(|| (0.0, 0.0), worse);
    // Twice as strict for the root.
    Certificate { feasible, residual, distance: distance.max(2.0 * of_root) }
}

/// The closest nondecreasing real row with `groups` at the end.
fn closest_root(estimates: &Estimates<'_>, groups: i64) -> Vec<f64> {
    let (_, free) = estimates.root().split_last().expect("a problem has bins");
    let mut row = cumulative::nondecreasing(free, groups as f64);
    row.push(groups as f64);
    row
}

/// Fills the rows of the children of a node.
fn divide(estimates: &Estimates<'_>, family: Family<'_>) -> Optimum {
    let Family { parent, children, rows } = family;
    let (starts, totals) = steps(parent);
    if starts.is_empty() {
        return Optimum::default();
    }
    let optimum = Split::new(estimates, children, parent.len(), (&starts, &totals)).solve();
    let mut whole = vec![0; optimum.rows.len()];
    edf::Schedule::new(&totals, &optimum.rows).fill(&mut whole);
    let whole = whole.chunks_exact(starts.len());
    for (row, sums) in rows.chunks_exact_mut(parent.len()).zip(whole) {
        let mut before = 0;
        for (&start, &sum) in starts.iter().zip(sums) {
            row[start] = sum - before;
            before = sum;
        }
    }
    optimum
}

/// The bins at which a row of counts is positive, and the sums up to them.
fn steps(row: &[i64]) -> (Vec<usize>, Vec<i64>) {
    let mut sum = 0;
    let positive = row.iter().enumerate().filter(|(_, count)| **count > 0);
    positive
        .map(|(bin, count)| {
            sum += count;
            (bin, sum)
        })
        .unzip()
}

#[cfg(test)]
mod tests;
