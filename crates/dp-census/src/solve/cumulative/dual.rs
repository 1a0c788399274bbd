use rayon::prelude::*;

use super::pool::Pool;
use crate::RegionTree;
use crate::solve::Problem;

/// The dual of the cumulative problem, in units in which the leaves have weight 1.
///
/// One multiplier per inner node and bin, for "the node is the sum of its children". Given the
/// multipliers, each row is free of the others: an inner row moves by the difference of its parent's
/// and its own multipliers over its weight, a leaf row is an isotonic fit to the noisy row plus its
/// parent's multipliers. The gradient of the dual is what is missing in each sum.
pub(super) struct Dual<'a> {
    problem: Problem<'a>,
    /// Weight of each inner node over that of the leaves.
    weights: Vec<f64>,
}

/// The gradient at some multipliers, and how it reacts to changes.
pub(super) struct Point {
    pub(super) gradient: Vec<f64>,
    /// For each parent of leaves.
    bottom: Vec<Response>,
}

/// How the leaves below one node react together: averages over the pieces of their fits.
#[derive(Debug, Clone, Default)]
struct Response {
    /// Number of pieces of length one at each bin.
    single: Vec<f64>,
    /// The other pieces.
    long: Vec<(u32, u32)>,
}

/// Cholesky factors of the reaction with averages replaced by their diagonals: per bin, the tree
/// of inner nodes, eliminated bottom-up.
pub(super) struct Preconditioner {
    pivots: Vec<f64>,
}

impl<'a> Dual<'a> {
    pub(super) fn new(problem: Problem<'a>) -> Self {
        let inner = problem.tree().leaves().start;
        let leaf = f64::from(problem.level_weights()[problem.tree().levels() - 1]);
        let weights = problem.node_weights()[..inner].iter().map(|&w| w as f64 / leaf).collect();
        Self { problem, weights }
    }

    fn tree(&self) -> &'a RegionTree {
        self.problem.tree()
    }

    /// Weight of an inner node over that of the leaves.
    pub(super) fn weight(&self, node: usize) -> f64 {
        self.weights[node]
    }

    /// Number of multipliers.
    pub(super) fn len(&self) -> usize {
        self.weights.len() * self.problem.bins()
    }

    /// The row of an inner node that the multipliers ask for.
    pub(super) fn inner_row(&self, multipliers: &[f64], node: usize, row: &mut [f64]) {
        let bins = self.problem.bins();
        let own = &multipliers[node * bins..][..bins];
        let weight = self.weights[node];
        let noisy = self.problem.row(node);
        if let Some(parent) = self.tree().parent(node) {
            let above = &multipliers[parent * bins..][..bins];
            for (((value, y), a), u) in row.iter_mut().zip(noisy).zip(above).zip(own) {
                *value = *y as f64 + (a - u) / weight;
            }
        } else {
            for ((value, y), u) in row.iter_mut().zip(noisy).zip(own) {
                *value = *y as f64 - u / weight;
            }
            row[bins - 1] = self.problem.groups() as f64;
        }
    }

    /// What the leaves below `node` are fitted to.
    pub(super) fn leaf_target<'b>(
        &'b self,
        multipliers: &'b [f64],
        leaf: usize,
    ) -> impl DoubleEndedIterator<Item = f64> + ExactSizeIterator + 'b {
        let bins = self.problem.bins();
        let parent = self.tree().parent(leaf).expect("a leaf of at least two levels");
        let above = &multipliers[parent * bins..][..bins];
        self.problem.row(leaf).iter().zip(above).map(|(&y, u)| y as f64 + u)
    }

    /// Gradient and reaction. One isotonic fit per leaf, in parallel over their parents.
    pub(super) fn at(&self, multipliers: &[f64]) -> Point {
        let bins = self.problem.bins();
        let tree = self.tree();
        let mut gradient = vec![0.0; self.len()];
        let mut row = vec![0.0; bins];
        for node in 0..self.weights.len() {
            self.inner_row(multipliers, node, &mut row);
            add(&mut gradient[node * bins..][..bins], &row, 1.0);
            if let Some(parent) = tree.parent(node) {
                add(&mut gradient[parent * bins..][..bins], &row, -1.0);
            }
        }
        let first = tree.level(tree.levels() - 2).start;
        let parents = gradient[first * bins..].par_chunks_mut(bins).enumerate();
        let bottom = parents
            .map_init(Pool::default, |pool, (i, gradient)| {
                self.respond(multipliers, first + i, pool, gradient)
            })
            .collect();
        Point { gradient, bottom }
    }

    /// Subtracts the leaves below `node` from its gradient and says how they react.
    fn respond(
        &self,
        multipliers: &[f64],
        node: usize,
        pool: &mut Pool,
        gradient: &mut [f64],
    ) -> Response {
        let bins = self.problem.bins();
        let mut response = Response { single: vec![0.0; bins], long: Vec::new() };
        let mut steps = vec![0.0; bins + 1];
        for leaf in self.tree().children(node) {
            pool.fit(self.leaf_target(multipliers, leaf), |start, end, value| {
                steps[start] += value;
                steps[end] -= value;
                if end == start + 1 {
                    response.single[start] += 1.0;
                } else {
                    let narrow = |i| u32::try_from(i).expect("the number of bins fits");
                    response.long.push((narrow(start), narrow(end)));
                }
            });
        }
        let mut sum = 0.0;
        for (missing, step) in gradient.iter_mut().zip(steps) {
            sum += step;
            *missing -= sum;
        }
        response
    }

    /// How much the gradient falls when the multipliers move by `direction`, plus `damping` times
    /// the direction: a symmetric positive definite map.
    pub(super) fn react(&self, point: &Point, damping: f64, direction: &[f64], out: &mut [f64]) {
        let bins = self.problem.bins();
        out.iter_mut().zip(direction).for_each(|(o, d)| *o = damping * d);
        for (node, weight) in self.weights.iter().enumerate() {
            let own = node * bins;
            let Some(parent) = self.tree().parent(node) else {
                // The last bin of the root is fixed.
                add(&mut out[..bins - 1], &direction[..bins - 1], 1.0 / weight);
                continue;
            };
            let above = parent * bins;
            for i in 0..bins {
                let flow = (direction[own + i] - direction[above + i]) / weight;
                out[own + i] += flow;
                out[above + i] -= flow;
            }
        }
        let first = self.weights.len() - point.bottom.len();
        let rows = direction[first * bins..].chunks_exact(bins);
        let out = out[first * bins..].chunks_exact_mut(bins);
        let mut prefix = vec![0.0; bins + 1];
        let mut steps = vec![0.0; bins + 1];
        for ((row, out), response) in rows.zip(out).zip(&point.bottom) {
            response.average(row, out, &mut prefix, &mut steps);
        }
    }

    pub(super) fn precondition(&self, point: &Point, damping: f64) -> Preconditioner {
        let bins = self.problem.bins();
        let mut pivots = vec![damping; self.len()];
        for (node, weight) in self.weights.iter().enumerate() {
            let free = if node == 0 { bins - 1 } else { bins };
            pivots[node * bins..][..free].iter_mut().for_each(|pivot| *pivot += 1.0 / weight);
            if let Some(parent) = self.tree().parent(node) {
                pivots[parent * bins..][..bins].iter_mut().for_each(|pivot| *pivot += 1.0 / weight);
            }
        }
        let first = self.weights.len() - point.bottom.len();
        let rows = pivots[first * bins..].chunks_exact_mut(bins);
        rows.zip(&point.bottom).for_each(|(row, response)| response.add_diagonal(row));
        for node in (1..self.weights.len()).rev() {
            let parent = self.tree().parent(node).expect("not the root") * bins;
            let coupling = 1.0 / self.weights[node];
            for i in 0..bins {
                pivots[parent + i] -= coupling * coupling / pivots[node * bins + i];
            }
        }
        // Elimination can cancel down to nothing; any positive pivot keeps the method correct.
        pivots.iter_mut().for_each(|pivot| *pivot = pivot.max(1e-12));
        Preconditioner { pivots }
    }

    /// Solves with the factors, in place.
    pub(super) fn solve_approximately(&self, factors: &Preconditioner, rhs: &mut [f64]) {
        let bins = self.problem.bins();
        for node in (1..self.weights.len()).rev() {
            let parent = self.tree().parent(node).expect("not the root") * bins;
            let coupling = 1.0 / self.weights[node];
            for i in 0..bins {
                rhs[parent + i] +=
                    coupling * rhs[node * bins + i] / factors.pivots[node * bins + i];
            }
        }
        for node in 0..self.weights.len() {
            let coupling = 1.0 / self.weights[node];
            let parent = self.tree().parent(node).map(|parent| parent * bins);
            for i in 0..bins {
                let above = parent.map_or(0.0, |parent| coupling * rhs[parent + i]);
                let cell = node * bins + i;
                rhs[cell] = (rhs[cell] + above) / factors.pivots[cell];
            }
        }
    }
}

impl Response {
    /// Adds the sum over all leaves of the averages of `row` over their pieces.
    fn average(&self, row: &[f64], out: &mut [f64], prefix: &mut [f64], steps: &mut [f64]) {
        let mut sum = 0.0;
        for (after, value) in prefix[1..].iter_mut().zip(row) {
            sum += value;
            *after = sum;
        }
        steps.fill(0.0);
        for &(start, end) in &self.long {
            let mean = (prefix[end as usize] - prefix[start as usize]) / f64::from(end - start);
            steps[start as usize] += mean;
            steps[end as usize] -= mean;
        }
        let mut sum = 0.0;
        for (((out, value), single), step) in out.iter_mut().zip(row).zip(&self.single).zip(steps) {
            sum += *step;
            *out += single * value + sum;
        }
    }

    fn add_diagonal(&self, pivots: &mut [f64]) {
        let mut steps = vec![0.0; pivots.len() + 1];
        for &(start, end) in &self.long {
            let share = 1.0 / f64::from(end - start);
            steps[start as usize] += share;
            steps[end as usize] -= share;
        }
        let mut sum = 0.0;
        for ((pivot, single), step) in pivots.iter_mut().zip(&self.single).zip(steps) {
            sum += step;
            *pivot += single + sum.max(0.0);
        }
    }
}

fn add(to: &mut [f64], row: &[f64], factor: f64) {
    to.iter_mut().zip(row).for_each(|(cell, value)| *cell += factor * value);
}
