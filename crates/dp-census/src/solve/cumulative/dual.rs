use rayon::prelude::*;

use super::pool::Pool;
use crate::RegionTree;
use crate::solve::{Problem, newton};

/// The dual of the cumulative problem, in units in which the leaves have weight 1.
///
/// One multiplier per inner node and bin, for "the node is the sum of its children". Given the
/// multipliers, each row is free of the others: a leaf row is the isotonic fit to its target, the
/// noisy row plus its parent's multipliers; the target of an inner row is the noisy row moved by the
/// difference of its parent's and its own multipliers over its weight. The gradient of the
/// dual is what is missing in each sum.
///
/// Inner rows are nondecreasing in the end, as sums of leaves, whether they are fitted isotonically
/// or left at their targets. An inner row that weighs much is fitted, or else the multipliers would
/// have to bring it about through the leaves; one that weighs little is left at its target, which
/// reacts linearly.
pub(super) struct Dual<'a> {
    problem: Problem<'a>,
    /// Weight of each inner node over that of the leaves.
    weights: Vec<f64>,
}

/// Weight relative to the leaves above which an inner row is fitted isotonically.
const HEAVY: f64 = 64.0;

/// The gradient at some multipliers, and how it reacts to changes.
pub(super) struct Point {
    pub(super) gradient: Vec<f64>,
    /// For each inner node, its own row.
    inner: Vec<Pieces>,
    /// For each parent of leaves, their rows together.
    bottom: Vec<Bottom>,
}

/// The rows of the leaves below one node.
struct Bottom {
    pieces: Pieces,
    /// Where the pieces of the first leaf start, then those of the next: a guess for other
    /// multipliers.
    starts: Vec<u32>,
    /// Where the starts of each leaf end.
    ends: Vec<usize>,
}

/// How isotonic fits react to their targets: each piece moves by the average over it.
#[derive(Debug, Clone)]
struct Pieces {
    /// Number of pieces of length one at each bin.
    single: Vec<f64>,
    /// The other pieces.
    long: Vec<(u32, u32)>,
}

/// Cholesky factors of the reaction with averages replaced by their diagonals: per bin, the tree
/// of inner nodes, eliminated bottom-up.
pub(super) struct Preconditioner {
    pivots: Vec<f64>,
    /// Between each inner node and its parent.
    couplings: Vec<f64>,
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

    /// The target of the row of an inner node.
    pub(super) fn inner_target<'b>(
        &'b self,
        multipliers: &'b [f64],
        node: usize,
    ) -> impl Iterator<Item = f64> + 'b {
        let bins = self.problem.bins();
        let weight = self.weights[node];
        let above = self.tree().parent(node).map(|parent| &multipliers[parent * bins..][..bins]);
        let own = &multipliers[node * bins..][..bins];
        self.problem.row(node).iter().zip(own).enumerate().map(move |(bin, (&y, u))| {
            y as f64 + (above.map_or(0.0, |above| above[bin]) - u) / weight
        })
    }

    /// The row of an inner node that the multipliers ask for; `piece` is called for each piece that
    /// can move. The last entry of the root is fixed, and the others stay below it.
    pub(super) fn fit_inner(
        &self,
        multipliers: &[f64],
        node: usize,
        pool: &mut Pool,
        row: &mut [f64],
        mut piece: impl FnMut(usize, usize),
    ) {
        let target = self.inner_target(multipliers, node);
        let groups = self.problem.groups() as f64;
        let (free, limit) =
            if node == 0 { (row.len() - 1, groups) } else { (row.len(), f64::INFINITY) };
        if self.weights[node] > HEAVY {
            row.fill(0.0);
            pool.fit(target.take(free), |start, end, value| {
                row[start..end].fill(value.min(limit));
                if value < limit {
                    piece(start, end);
                }
            });
        } else {
            row.iter_mut().zip(target.take(free)).for_each(|(cell, value)| *cell = value);
            (0..free).for_each(|bin| piece(bin, bin + 1));
        }
        if node == 0 {
            row[free] = groups;
        }
    }

    /// The target of the row of a leaf.
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

    /// Gradient and reaction. One isotonic fit per node, those of the leaves in parallel over their
    /// parents. A point `nearby` makes it faster.
    pub(super) fn at(&self, multipliers: &[f64], nearby: Option<&Point>) -> Point {
        let bins = self.problem.bins();
        let tree = self.tree();
        let mut gradient = vec![0.0; self.len()];
        let mut row = vec![0.0; bins];
        let mut pool = Pool::default();
        let mut inner = vec![Pieces::new(bins); self.weights.len()];
        for (node, pieces) in inner.iter_mut().enumerate() {
            self.fit_inner(multipliers, node, &mut pool, &mut row, |s, e| pieces.push(s, e));
            add(&mut gradient[node * bins..][..bins], &row, 1.0);
            if let Some(parent) = tree.parent(node) {
                add(&mut gradient[parent * bins..][..bins], &row, -1.0);
            }
        }
        let first = tree.level(tree.levels() - 2).start;
        let parents = gradient[first * bins..].par_chunks_mut(bins).enumerate();
        let bottom = parents
            .map_init(Pool::default, |pool, (i, gradient)| {
                let guess = nearby.map(|point| &point.bottom[i]);
                self.subtract_leaves(multipliers, first + i, guess, pool, gradient)
            })
            .collect();
        Point { gradient, inner, bottom }
    }

    /// Subtracts the leaves below `node` from its gradient and says how they react.
    fn subtract_leaves(
        &self,
        multipliers: &[f64],
        node: usize,
        guess: Option<&Bottom>,
        pool: &mut Pool,
        gradient: &mut [f64],
    ) -> Bottom {
        let bins = self.problem.bins();
        let mut pieces = Pieces::new(bins);
        let mut steps = vec![0.0; bins + 1];
        let (mut starts, mut ends) = (Vec::new(), Vec::new());
        let mut row = vec![0.0; bins];
        for (i, leaf) in self.tree().children(node).enumerate() {
            let piece = |start: usize, end: usize, value: f64| {
                steps[start] += value;
                steps[end] -= value;
                pieces.push(start, end);
            };
            let target = self.leaf_target(multipliers, leaf);
            if let Some(guess) = guess {
                row.iter_mut().zip(target).for_each(|(cell, value)| *cell = value);
                pool.refit(&row, guess.of_leaf(i), piece);
            } else {
                pool.fit(target, piece);
            }
            starts.extend(pool.starts());
            ends.push(starts.len());
        }
        let mut sum = 0.0;
        for (missing, step) in gradient.iter_mut().zip(steps) {
            sum += step;
            *missing -= sum;
        }
        Bottom { pieces, starts, ends }
    }

    /// How much the gradient falls when the multipliers move by `direction`, plus `damping` times
    /// the direction: a symmetric positive definite map.
    pub(super) fn react(&self, point: &Point, damping: f64, direction: &[f64], out: &mut [f64]) {
        let bins = self.problem.bins();
        out.iter_mut().zip(direction).for_each(|(o, d)| *o = damping * d);
        let mut scratch = Scratch::new(bins);
        let mut change = vec![0.0; bins];
        let mut flow = vec![0.0; bins];
        for (node, (weight, pieces)) in self.weights.iter().zip(&point.inner).enumerate() {
            let parent = self.tree().parent(node);
            change.copy_from_slice(&direction[node * bins..][..bins]);
            if let Some(parent) = parent {
                add(&mut change, &direction[parent * bins..][..bins], -1.0);
            }
            flow.fill(0.0);
            pieces.average(&change, &mut flow, &mut scratch);
            add(&mut out[node * bins..][..bins], &flow, 1.0 / weight);
            if let Some(parent) = parent {
                add(&mut out[parent * bins..][..bins], &flow, -1.0 / weight);
            }
        }
        let first = self.weights.len() - point.bottom.len();
        let rows = direction[first * bins..].chunks_exact(bins);
        let out = out[first * bins..].chunks_exact_mut(bins);
        for ((row, out), bottom) in rows.zip(out).zip(&point.bottom) {
            bottom.pieces.average(row, out, &mut scratch);
        }
    }

    pub(super) fn precondition(&self, point: &Point, damping: f64) -> Preconditioner {
        let bins = self.problem.bins();
        let mut pivots = vec![damping; self.len()];
        let mut couplings = vec![0.0; self.len()];
        for (node, (weight, pieces)) in self.weights.iter().zip(&point.inner).enumerate() {
            let coupling = &mut couplings[node * bins..][..bins];
            pieces.add_diagonal(coupling, 1.0 / weight);
            add(&mut pivots[node * bins..][..bins], coupling, 1.0);
            if let Some(parent) = self.tree().parent(node) {
                add(&mut pivots[parent * bins..][..bins], coupling, 1.0);
            }
        }
        let first = self.weights.len() - point.bottom.len();
        for (row, bottom) in pivots[first * bins..].chunks_exact_mut(bins).zip(&point.bottom) {
            bottom.pieces.add_diagonal(row, 1.0);
        }
        for node in (0..self.weights.len()).rev() {
            let parent = self.tree().parent(node);
            for cell in node * bins..(node + 1) * bins {
                // Elimination can cancel down to nothing; any positive pivot keeps it correct.
                pivots[cell] = pivots[cell].max(1e-12);
                if let Some(parent) = parent {
                    let above = parent * bins + cell % bins;
                    pivots[above] -= couplings[cell] * couplings[cell] / pivots[cell];
                }
            }
        }
        Preconditioner { pivots, couplings }
    }

    /// Solves with the factors, in place.
    pub(super) fn solve_approximately(&self, factors: &Preconditioner, rhs: &mut [f64]) {
        let bins = self.problem.bins();
        let Preconditioner { pivots, couplings } = factors;
        for node in (1..self.weights.len()).rev() {
            let own = node * bins;
            let parent = self.tree().parent(node).expect("not the root") * bins;
            let (above, rest) = rhs.split_at_mut(own);
            let above = &mut above[parent..parent + bins];
            let factors = couplings[own..own + bins].iter().zip(&pivots[own..own + bins]);
            for ((above, below), (coupling, pivot)) in above.iter_mut().zip(rest).zip(factors) {
                *above += coupling * *below / pivot;
            }
        }
        rhs[..bins].iter_mut().zip(pivots).for_each(|(cell, pivot)| *cell /= pivot);
        for node in 1..self.weights.len() {
            let own = node * bins;
            let parent = self.tree().parent(node).expect("not the root") * bins;
            let (above, rest) = rhs.split_at_mut(own);
            let above = &above[parent..parent + bins];
            let factors = couplings[own..own + bins].iter().zip(&pivots[own..own + bins]);
            for ((above, below), (coupling, pivot)) in above.iter().zip(rest).zip(factors) {
                *below = (*below + coupling * above) / pivot;
            }
        }
    }
}

/// Buffers of [`Pieces::average`].
struct Scratch {
    prefix: Vec<f64>,
    steps: Vec<f64>,
}

impl Scratch {
    fn new(bins: usize) -> Self {
        Self { prefix: vec![0.0; bins + 1], steps: vec![0.0; bins + 1] }
    }
}

impl Bottom {
    fn of_leaf(&self, leaf: usize) -> &[u32] {
        let start = leaf.checked_sub(1).map_or(0, |before| self.ends[before]);
        &self.starts[start..self.ends[leaf]]
    }
}

impl Pieces {
    fn new(bins: usize) -> Self {
        Self { single: vec![0.0; bins], long: Vec::new() }
    }

    fn push(&mut self, start: usize, end: usize) {
        if end == start + 1 {
            self.single[start] += 1.0;
        } else {
            let narrow = |bin| u32::try_from(bin).expect("the number of bins fits");
            self.long.push((narrow(start), narrow(end)));
        }
    }

    /// Adds the averages of `row` over each piece.
    fn average(&self, row: &[f64], out: &mut [f64], scratch: &mut Scratch) {
        let mut sum = 0.0;
        for (after, value) in scratch.prefix[1..].iter_mut().zip(row) {
            sum += value;
            *after = sum;
        }
        scratch.steps.fill(0.0);
        for &(start, end) in &self.long {
            let sum = scratch.prefix[end as usize] - scratch.prefix[start as usize];
            let mean = sum / f64::from(end - start);
            scratch.steps[start as usize] += mean;
            scratch.steps[end as usize] -= mean;
        }
        let mut sum = 0.0;
        let cells = out.iter_mut().zip(row).zip(&self.single).zip(&scratch.steps);
        for (((out, value), single), step) in cells {
            sum += *step;
            *out += single * value + sum;
        }
    }

    /// Adds how much each bin reacts to itself, times `factor`.
    fn add_diagonal(&self, row: &mut [f64], factor: f64) {
        let mut steps = vec![0.0; row.len() + 1];
        for &(start, end) in &self.long {
            let share = 1.0 / f64::from(end - start);
            steps[start as usize] += share;
            steps[end as usize] -= share;
        }
        let mut sum = 0.0;
        for ((cell, single), step) in row.iter_mut().zip(&self.single).zip(steps) {
            sum += step;
            *cell += factor * (single + sum.max(0.0));
        }
    }
}

fn add(to: &mut [f64], row: &[f64], factor: f64) {
    to.iter_mut().zip(row).for_each(|(cell, value)| *cell += factor * value);
}

impl newton::Dual for Dual<'_> {
    type Point = Point;
    type Factors = Preconditioner;

    fn start(&self) -> Vec<f64> {
        vec![0.0; self.len()]
    }

    fn at(&self, multipliers: &[f64], nearby: Option<&Point>) -> Point {
        self.at(multipliers, nearby)
    }

    fn gradient<'p>(&self, point: &'p Point) -> &'p [f64] {
        &point.gradient
    }

    fn react(&self, point: &Point, damping: f64, direction: &[f64], out: &mut [f64]) {
        self.react(point, damping, direction, out);
    }

    fn precondition(&self, point: &Point, damping: f64) -> Preconditioner {
        self.precondition(point, damping)
    }

    fn solve_approximately(&self, factors: &Preconditioner, rhs: &mut [f64]) {
        self.solve_approximately(factors, rhs);
    }
}
