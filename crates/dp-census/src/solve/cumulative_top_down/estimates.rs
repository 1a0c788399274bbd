use std::ops::Range;

use rayon::prelude::*;

use crate::solve::{MAX_VALUE, Problem};

/// For each region the best linear unbiased estimate of its cumulative row from its own noisy row and those below.
///
/// A region and its parts observe the same sums. Weighting both by their precision, the inverse of the variance, uses all that the
/// levels below say; and being linear it brings no bias upwards, as the sum of many fits that cannot be negative would.
pub(super) struct Estimates<'a> {
    problem: Problem<'a>,
    /// Rows of the inner nodes, or of the root if there are none.
    rows: Vec<f64>,
    /// Of these nodes, in units of the level weights.
    precision: Vec<f64>,
}

impl<'a> Estimates<'a> {
    /// One pass over the noisy table, from the lowest level upwards.
    pub(super) fn new(problem: Problem<'a>) -> Self {
        let (tree, bins) = (problem.tree(), problem.bins());
        let weight = |level: usize| f64::from(problem.level_weights()[level]);
        if tree.levels() == 1 {
            let rows = problem.row(0).iter().map(|&noisy| noisy as f64).collect();
            return Self { problem, rows, precision: vec![weight(0)] };
        }
        let inner = tree.leaves().start;
        let (rows, precision) = (vec![0.0; inner * bins], vec![0.0; inner]);
        let mut estimates = Self { problem, rows, precision };
        for level in (0..tree.levels() - 1).rev() {
            let nodes = tree.level(level);
            let pool = |node: usize| estimates.with_children(node, weight(level));
            let pooled: Vec<(Vec<f64>, f64)> = nodes.clone().into_par_iter().map(pool).collect();
            for (node, (row, precision)) in nodes.zip(pooled) {
                estimates.rows[node * bins..][..bins].copy_from_slice(&row);
                estimates.precision[node] = precision;
            }
        }
        estimates
    }

    /// The estimate of the root.
    pub(super) fn root(&self) -> &[f64] {
        self.row(0)
    }

    /// The estimate of an inner node, or of the root.
    pub(super) fn row(&self, node: usize) -> &[f64] {
        &self.rows[node * self.problem.bins()..][..self.problem.bins()]
    }

    /// How precise the row of a node is, in units of the level weights.
    pub(super) fn precision(&self, node: usize) -> f64 {
        let of_leaf = || f64::from(*self.problem.level_weights().last().expect("a level"));
        self.precision.get(node).copied().unwrap_or_else(of_leaf)
    }

    /// Appends the means of a node's row over runs of bins.
    pub(super) fn push_means(&self, node: usize, runs: &[Range<usize>], out: &mut Vec<f64>) {
        let bins = self.problem.bins();
        let sum = |run: &Range<usize>| -> f64 {
            if node < self.precision.len() {
                self.rows[node * bins..][run.clone()].iter().sum()
            } else {
                self.problem.row(node)[run.clone()].iter().map(|&noisy| noisy as f64).sum()
            }
        };
        out.extend(runs.iter().map(|run| sum(run) / run.len() as f64));
    }

    /// From a node's own row, with this weight, and the estimates of its children.
    fn with_children(&self, node: usize, weight: f64) -> (Vec<f64>, f64) {
        let bins = self.problem.bins();
        let (mut row, mut variance) = (vec![0.0; bins], 0.0);
        for child in self.problem.tree().children(node) {
            variance += 1.0 / self.precision(child);
            if child < self.precision.len() {
                let estimate = &self.rows[child * bins..][..bins];
                row.iter_mut().zip(estimate).for_each(|(sum, value)| *sum += value);
            } else {
                let noisy = self.problem.row(child);
                row.iter_mut().zip(noisy).for_each(|(sum, &value)| *sum += value as f64);
            }
        }
        let (of_children, most) = (1.0 / variance, MAX_VALUE as f64);
        let precision = weight + of_children;
        for (sum, &own) in row.iter_mut().zip(self.problem.row(node)) {
            let pooled = (of_children * *sum + weight * own as f64) / precision;
            // Nothing true is beyond, and the sum of many saturated cells may be.
            *sum = pooled.clamp(-2.0 * most, 2.0 * most);
        }
        (row, precision)
    }
}
