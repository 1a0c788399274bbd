use std::ops::Range;

use rayon::prelude::*;

use crate::solve::{MAX_VALUE, Problem};

/// For each region an estimate of its cumulative row from its own noisy row and all below, and its variance.
pub(super) struct Upwards<'a> {
    problem: Problem<'a>,
    /// Of the rows of the lowest level.
    of_leaf: f64,
    /// Estimates of leaves, row-major, where these are not their noisy rows.
    leaves: Option<Vec<f64>>,
    /// Estimates and variances of inner nodes, row-major, or of the root if there are no others.
    rows: Vec<f64>,
    variances: Vec<f64>,
}

/// Columns to either side over which risks are averaged: one column's estimate says little.
const WINDOW: usize = 6;
/// What is left of the variance of a cell in the joint table where that is trusted.
const OF_JOINT: f64 = 0.3;
/// A sum of fits counts as having at least this share of the variance of the noisy sum, as its risk is an estimate too.
const LEAST_RISK: f64 = 0.1;

impl<'a> Upwards<'a> {
    pub(super) fn new(problem: Problem<'a>, variances: &[f64], totals: Option<&[i64]>) -> Self {
        let (tree, bins) = (problem.tree(), problem.bins());
        let of_leaf = variances[tree.levels() - 1].max(1e-9);
        if tree.levels() == 1 {
            let rows = problem.row(0).iter().map(|&noisy| noisy as f64).collect();
            return Self { problem, of_leaf, leaves: None, rows, variances: vec![of_leaf; bins] };
        }
        let cells = tree.leaves().start * bins;
        let (rows, zeros) = (vec![0.0; cells], vec![0.0; cells]);
        let mut all = Self { problem, of_leaf, leaves: None, rows, variances: zeros };
        for level in (0..tree.levels() - 1).rev() {
            let nodes = tree.level(level);
            let own = variances[level].max(1e-9);
            let pool = |node: usize| all.pooled(node, own, totals);
            let pooled: Vec<_> = nodes.clone().into_par_iter().map(pool).collect();
            for (node, (row, variance)) in nodes.zip(pooled) {
                all.rows[node * bins..][..bins].copy_from_slice(&row);
                all.variances[node * bins..][..bins].copy_from_slice(&variance);
            }
        }
        all
    }

    /// From the closest table over all levels at once, of at least two.
    pub(super) fn joint(problem: Problem<'a>, variances: &[f64], mut rows: Vec<f64>) -> Self {
        let (tree, bins) = (problem.tree(), problem.bins());
        let leaves = Some(rows.split_off(tree.leaves().start * bins));
        let of_leaf = variances[tree.levels() - 1].max(1e-9);
        let mut of_node = vec![of_leaf; tree.len()];
        for level in (0..tree.levels() - 1).rev() {
            for node in tree.level(level) {
                let below: f64 = tree.children(node).map(|child| of_node[child]).sum();
                let own = variances[level].max(1e-9);
                of_node[node] = own * below / (own + below);
            }
        }
        let inner = &of_node[..tree.leaves().start];
        let cell = |variance: &f64| std::iter::repeat_n(OF_JOINT * variance, bins);
        let variances = inner.iter().flat_map(cell).collect();
        Self { problem, of_leaf: OF_JOINT * of_leaf, leaves, rows, variances }
    }

    /// The estimate of an inner node, or of the root.
    pub(super) fn row(&self, node: usize) -> &[f64] {
        let bins = self.problem.bins();
        &self.rows[node * bins..][..bins]
    }

    fn is_leaf(&self, node: usize) -> bool {
        self.problem.tree().levels() > 1 && self.problem.tree().leaves().contains(&node)
    }

    /// Mean of a node's estimate over a run of columns, and its variance.
    pub(super) fn mean(&self, node: usize, run: Range<usize>) -> (f64, f64) {
        let length = run.len() as f64;
        if self.is_leaf(node) {
            let sum: f64 = match &self.leaves {
                Some(leaves) => {
                    let start = node * self.problem.bins() - self.rows.len();
                    leaves[start + run.start..start + run.end].iter().sum()
                }
                None => self.problem.row(node)[run].iter().map(|&noisy| noisy as f64).sum(),
            };
            return (sum / length, self.of_leaf / length);
        }
        let start = node * self.problem.bins();
        let run = start + run.start..start + run.end;
        let sum: f64 = self.rows[run.clone()].iter().sum();
        (sum / length, self.variances[run].iter().sum::<f64>() / (length * length))
    }

    /// From a node's own row, whose noise has this variance, and the estimates of its children.
    fn pooled(&self, node: usize, own: f64, totals: Option<&[i64]>) -> (Vec<f64>, Vec<f64>) {
        let bins = self.problem.bins();
        let mut sums = Sums::new(bins);
        let (mut row, mut variance) = (Vec::new(), vec![self.of_leaf; bins]);
        for child in self.problem.tree().children(node) {
            row.clear();
            if self.is_leaf(child) {
                row.extend(self.problem.row(child).iter().map(|&noisy| noisy as f64));
            } else {
                let cells = child * bins..(child + 1) * bins;
                row.extend_from_slice(&self.rows[cells.clone()]);
                variance.copy_from_slice(&self.variances[cells]);
            }
            sums.add(&row, &variance, totals.map(|totals| totals[child] as f64));
        }
        let (below, risks) = sums.combined();
        let most = MAX_VALUE as f64;
        let cells = self.problem.row(node).iter().zip(below).zip(risks);
        cells
            .map(|((&noisy, below), risk)| {
                let pooled = (noisy as f64 * risk + below * own) / (own + risk);
                // Nothing true is beyond, and the sum of many saturated cells may be.
                (pooled.clamp(-2.0 * most, 2.0 * most), own * risk / (own + risk))
            })
            .unzip()
    }
}

/// Sums over the children of a node.
struct Sums {
    noisy: Vec<f64>,
    variance: Vec<f64>,
    fitted: Vec<f64>,
    /// Covariance of the fitted sum with the noisy one, by Stein's identity: how much each fit follows its own noise.
    follows: Vec<f64>,
    blocks: Vec<(f64, f64, usize)>,
}

impl Sums {
    fn new(bins: usize) -> Self {
        let zeros = vec![0.0; bins];
        let [variance, fitted, follows] = [(); 3].map(|()| zeros.clone());
        Self { noisy: zeros, variance, fitted, follows, blocks: Vec::new() }
    }

    /// One child: its row, and the closest nondecreasing one within 0 and its number of groups.
    fn add(&mut self, row: &[f64], variance: &[f64], limit: Option<f64>) {
        self.blocks.clear();
        for (column, (&value, &variance)) in row.iter().zip(variance).enumerate() {
            self.noisy[column] += value;
            self.variance[column] += variance;
            let mut last = (value / variance, 1.0 / variance, column);
            // Pool adjacent violators (Ayer, Brunk, Ewing, Reid, Silverman, 1955).
            while let Some(&before) = self.blocks.last().filter(|b| b.0 * last.1 >= last.0 * b.1) {
                last = (last.0 + before.0, last.1 + before.1, before.2);
                self.blocks.pop();
            }
            self.blocks.push(last);
        }
        let limit = limit.unwrap_or(f64::INFINITY);
        let mut end = row.len();
        for &(sum, weight, start) in self.blocks.iter().rev() {
            let mean = sum / weight;
            let free = 0.0 < mean && mean < limit;
            let value = mean.clamp(0.0, limit);
            for column in start..end {
                self.fitted[column] += value;
                if free {
                    // The variance of a cell times the weight with which it enters its mean.
                    self.follows[column] += 1.0 / weight;
                }
            }
            end = start;
        }
    }

    /// The combination of both sums with the least estimated risk, and that risk.
    fn combined(&self) -> (Vec<f64>, Vec<f64>) {
        // With `n` the noisy sum of variance `V` without bias, `f` the fitted one and `C` their covariance, the risk of
        // `n + a (f - n)` is `V + a^2 E (f - n)^2 - 2 a (V - C)`.
        let bins = self.noisy.len();
        let of =
            |value: &dyn Fn(usize) -> f64| over_windows(&(0..bins).map(value).collect::<Vec<_>>());
        let squares = of(&|c| (self.fitted[c] - self.noisy[c]).powi(2));
        let saved = of(&|c| self.variance[c] - self.follows[c]);
        let variance = of(&|c| self.variance[c]);
        (0..bins)
            .map(|column| {
                let (squares, saved, variance) = (squares[column], saved[column], variance[column]);
                // The best share is `saved` over the expected square. One square says little: what is beyond it
                // is taken for bias, and the fits are left out where that is twice as much.
                let share =
                    if squares > 0.0 { (1.5 * saved / squares - 0.5).clamp(0.0, 1.0) } else { 0.0 };
                let risk = variance + share * share * squares - 2.0 * share * saved;
                let value = self.noisy[column] + share * (self.fitted[column] - self.noisy[column]);
                (value, risk.clamp(LEAST_RISK * variance, variance))
            })
            .unzip()
    }
}

/// Means over the columns around each.
fn over_windows(values: &[f64]) -> Vec<f64> {
    let mut sums = vec![0.0];
    for (column, value) in values.iter().enumerate() {
        sums.push(sums[column] + value);
    }
    let window = |c: usize| (c.saturating_sub(WINDOW), (c + WINDOW + 1).min(values.len()));
    let mean = |(from, to): (usize, usize)| (sums[to] - sums[from]) / (to - from) as f64;
    (0..values.len()).map(|column| mean(window(column))).collect()
}
