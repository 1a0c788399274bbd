//! Consistent nondecreasing rows of whole numbers, level after level from the top.
//!
//! Least squares over all levels at once ([`super::cumulative`]) lets thousands of small regions, none of which can be negative,
//! push up the sums above them: where nobody is, noise in a leaf is either cut off or taken for people, so their total comes out too
//! large, and the levels above have to meet it halfway. Here what the lower levels know travels upwards before any of it is cut:
//!
//! 1. From the leaves to the root, each row is pooled with the sum of its parts by inverse variance: the first pass of Hay, Rastogi,
//!    Miklau, Suciu, "Boosting the accuracy of differentially private histograms through consistency" (2010). Linear, hence unbiased.
//! 2. The root becomes the closest nondecreasing row of whole numbers with the public number of groups.
//! 3. From the root to the leaves, each row is split among the children of its node: the closest nonnegative nondecreasing rows of
//!    whole numbers that add up to it, and that end at the number of groups of their region where that is public.
//!
//! Without step 1, and on counts, this is the scheme of `TopDown` ([`super::top_down`]). Where no row is held up by zero or by order,
//! steps 1 to 3 give least squares over all levels, but for rounding. Where small regions occupy most of the sizes, least squares
//! over all levels can be better: then their fits, which are not linear, know more than their noise.
//!
//! A row of whole numbers is constant between occupied sizes, and so are its children: a split is a problem with as many columns as
//! sizes are occupied, whatever the number of sizes. The splits of a level are independent.

mod dual;
mod estimates;
mod exchange;
mod split;

use rayon::prelude::*;

use self::estimates::Estimates;
use self::split::MOST_WORK;
pub(super) use self::split::Split;
use super::isotonic::{self, Isotonic};
use super::problem::{Family, adds_up, families};
use super::{MAX_VALUE, Problem};
use crate::RegionTree;

/// A table with the evidence that each row was split in the best way.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Solution {
    /// Counts, not cumulative: nonnegative, children add up to their parent, `groups` in all.
    pub counts: Vec<i64>,
    /// For each inner node the multipliers of its split: the proof for [`certify`].
    pub multipliers: Vec<Vec<i128>>,
}

/// How good a table is.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Certificate {
    /// Consistent, nonnegative, and with the right numbers of groups.
    pub feasible: bool,
    /// By how much the best unit step in the root or in a split comes closer, in squares weighted by precision; 0 if none does. Not 0 for
    /// splits that are too large to be optimal in whole numbers.
    pub gain: f64,
}

impl Certificate {
    /// Whether every row is proved to be the best one for the row above it.
    pub fn is_optimal(&self) -> bool {
        self.feasible && self.gain <= 0.0
    }
}

/// Consistent counts for a problem whose noisy table is cumulative. `totals` are the numbers of groups of the leaves, if public.
///
/// One pass over the noisy table upwards and one downwards. A split takes some Newton steps, each as costly as the children times the
/// sizes that the parent occupies. Then up to a quarter of all cells are moved by one unit, each of which takes some passes over the square of
/// sizes. Where children times sizes to the third is above 67 million, or the search was given up, which noise far above the number of
/// groups can bring about, rows near to the real ones are taken, column by column and by exchanges between two children that gain: mostly
/// the best ones, and the certificate says by how much they could gain. That takes some passes over the cells.
///
/// # Panics
/// If there are totals, but not one per leaf, one is negative, or they do not add up to the groups.
pub fn solve(problem: &Problem<'_>, totals: Option<&[i64]>) -> Solution {
    let (tree, bins) = (problem.tree(), problem.bins());
    let estimates = Estimates::new(*problem);
    let totals = totals.map(|leaves| totals_of(tree, leaves, problem.groups()));
    let mut counts = vec![0; problem.noisy().len()];
    counts[..bins].copy_from_slice(&closest_root(estimates.root(), problem.groups()));
    let mut multipliers = Vec::with_capacity(tree.leaves().start);
    for level in 0..tree.levels() - 1 {
        let families = families(tree, bins, level, &mut counts).into_par_iter();
        let divide = |family| divide(&estimates, family, totals.as_deref());
        multipliers.extend(families.map(divide).collect::<Vec<_>>());
    }
    Solution { counts, multipliers }
}

/// Certificate of a table. Linear time, exact; where the weights of siblings differ, for weights rounded to a millionth of the largest.
///
/// # Panics
/// If the table or the evidence is for another shape.
pub fn certify(
    problem: &Problem<'_>,
    totals: Option<&[i64]>,
    counts: &[i64],
    multipliers: &[Vec<i128>],
) -> Certificate {
    let (tree, bins) = (problem.tree(), problem.bins());
    assert_eq!(counts.len(), problem.noisy().len(), "a table of the same shape");
    assert_eq!(multipliers.len(), tree.leaves().start, "multipliers for each inner node");
    let row = |node: usize| &counts[node * bins..][..bins];
    let sum = |row: &[i64]| row.iter().map(|&count| i128::from(count)).sum::<i128>();
    let totals = totals.map(|leaves| totals_of(tree, leaves, problem.groups()));
    let as_announced = |(node, &total): (usize, &i64)| sum(row(node)) == i128::from(total);
    let feasible = sum(row(0)) == i128::from(problem.groups())
        && counts.iter().all(|&count| count >= 0)
        && adds_up(tree, bins, counts)
        && totals.iter().flatten().enumerate().all(as_announced);
    if !feasible {
        return Certificate { feasible, gain: f64::INFINITY };
    }
    // Each step is proved by itself, given what it was given: the root against its targets, and each split against the row above it, for which
    // the multipliers must leave no unit step that gains in any child alone (Lagrangian sufficiency).
    let estimates = Estimates::new(*problem);
    let root = isotonic::certify(
        &root_items(estimates.root()),
        &cumulated(&row(0)[..bins - 1]),
        0..=problem.groups(),
    );
    let of_family = |node: usize| {
        // Between steps of the parent no child can grow, so that the values at the steps are the whole row.
        let (starts, sums) = steps(row(node));
        if starts.is_empty() {
            return 0.0;
        }
        let at_starts = |child: usize| {
            let all = cumulated(row(child));
            starts.iter().map(|&start| all[start]).collect::<Vec<_>>()
        };
        let rows: Vec<i64> = tree.children(node).flat_map(at_starts).collect();
        let children = tree.children(node);
        let split = Split::new(&estimates, children, bins, (&starts, sums), totals.as_deref());
        if multipliers[node].len() != starts.len() {
            return f64::INFINITY;
        }
        split.certify(&rows, &multipliers[node])
    };
    let of_root = (-root.raise.min(root.lower)).max(0) as f64 / FRACTIONS as f64;
    let inner = (0..tree.leaves().start).into_par_iter().map(of_family);
    Certificate { feasible, gain: inner.reduce(|| of_root, f64::max) }
}

/// The numbers of groups of all nodes.
pub(super) fn totals_of(tree: &RegionTree, leaves: &[i64], groups: i64) -> Vec<i64> {
    assert_eq!(leaves.len(), tree.leaves().len(), "a number of groups per leaf");
    let sum = leaves.iter().fold(0_i128, |sum, &groups| sum + i128::from(groups));
    assert!(leaves.iter().all(|&groups| groups >= 0), "no negative number of groups");
    assert_eq!(sum, i128::from(groups), "the groups of the leaves add up");
    let mut totals = vec![0; tree.leaves().start];
    totals.extend_from_slice(leaves);
    for node in (1..totals.len()).rev() {
        let parent = tree.parent(node).expect("only the first node has none");
        totals[parent] += totals[node];
    }
    totals
}

/// Fractions of a group to which the root's targets are rounded.
const FRACTIONS: u64 = 1 << 10;

/// The free entries of the root, as weighted sums and weights.
fn root_items(root: &[f64]) -> Vec<(i128, u64)> {
    let (_, free) = root.split_last().expect("a problem has bins");
    let most = MAX_VALUE as f64;
    #[expect(clippy::cast_possible_truncation, reason = "clamped to what fits")]
    let item = |value: &f64| {
        let target = value.clamp(-most, most) * FRACTIONS as f64;
        (target.round() as i128, FRACTIONS)
    };
    free.iter().map(item).collect()
}

/// The closest nondecreasing row with `groups` at the end, as counts.
pub(super) fn closest_root(root: &[f64], groups: i64) -> Vec<i64> {
    let mut fit = Isotonic::default();
    for (sum, weight) in root_items(root) {
        fit.push(sum, weight);
    }
    let pieces = fit.pieces(0..=groups);
    let rows = pieces.flat_map(|(value, bins)| std::iter::repeat_n(value, bins)).chain([groups]);
    let mut before = 0;
    rows.map(|sum| sum - std::mem::replace(&mut before, sum)).collect()
}

/// Fills the rows of the children of a node and gives the multipliers that prove them.
fn divide(estimates: &Estimates<'_>, family: Family<'_>, totals: Option<&[i64]>) -> Vec<i128> {
    let Family { parent, children, rows } = family;
    let (starts, sums) = steps(parent);
    if starts.is_empty() {
        return Vec::new();
    }
    let split = Split::new(estimates, children, parent.len(), (&starts, sums), totals);
    let (whole, multipliers) = split.solve(MOST_WORK);
    let whole = whole.chunks_exact(starts.len());
    for (row, sums) in rows.chunks_exact_mut(parent.len()).zip(whole) {
        let mut before = 0;
        for (&start, &sum) in starts.iter().zip(sums) {
            row[start] = sum - before;
            before = sum;
        }
    }
    multipliers
}

/// The bins at which a row of counts is positive, and the sums up to them.
pub(super) fn steps(row: &[i64]) -> (Vec<usize>, Vec<i64>) {
    let positive = row.iter().zip(cumulated(row)).enumerate().filter(|(_, (count, _))| **count > 0);
    positive.map(|(bin, (_, sum))| (bin, sum)).unzip()
}

fn cumulated(row: &[i64]) -> Vec<i64> {
    let sum = |sum: &mut i64, count: &i64| {
        *sum += count;
        Some(*sum)
    };
    row.iter().scan(0, sum).collect()
}

#[cfg(test)]
mod tests;
