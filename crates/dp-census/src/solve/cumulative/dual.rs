use rayon::prelude::*;

use super::LEAST_WORK;
use super::leaves::{self, Leaves};
use super::pool::{Piece, Pool};
use super::precondition::{Outline, Preconditioner};
use super::reaction::{self, Reaction};
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

pub(super) type Point = newton::Point<Rows>;

/// How all rows react.
#[derive(Default)]
pub(super) struct Rows {
    /// The own row of each inner node.
    inner: Vec<Reaction>,
    /// For each parent of leaves, their rows together.
    bottom: Vec<Leaves>,
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
    fn len(&self) -> usize {
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

    /// The row of an inner node that the multipliers ask for, and how it reacts. The last entry of the root is fixed, and the
    /// others stay below it.
    pub(super) fn fit_inner(
        &self,
        multipliers: &[f64],
        node: usize,
        pool: &mut Pool,
        row: &mut [f64],
        reaction: &mut Reaction,
    ) {
        let bins = row.len();
        let groups = self.problem.groups() as f64;
        // The root's last cumulative count is the public number of groups: no variable, and a bound for the others.
        let (free, limit) = if node == 0 { (bins - 1, groups) } else { (bins, f64::INFINITY) };
        let target = self.inner_target(multipliers, node);
        row.iter_mut().zip(target).for_each(|(cell, value)| *cell = value);
        reaction.clear(bins);
        if self.weights[node] > HEAVY {
            pool.fit(&row[..free], &[]);
            for piece in pool.pieces(free) {
                let value = piece.value();
                // Isotonic regression with bounds is the one without, cut at them. A block at a bound stays there when its target moves
                // a little: it is no part of the generalised Hessian.
                row[piece.start as usize..piece.end() as usize].fill(value.min(limit));
                if value > 0.0 && value < limit {
                    reaction.push(piece.start, piece.end(), 1.0);
                }
            }
        } else {
            reaction.free(free);
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

    /// Number of inner nodes above the parents of the leaves.
    fn first_bottom(&self) -> usize {
        let tree = self.tree();
        tree.level(tree.levels() - 2).start
    }

    /// The pieces of a leaf.
    pub(super) fn pieces<'b>(&self, point: &'b Point, leaf: usize) -> &'b [Piece] {
        let parent = self.tree().parent(leaf).expect("a leaf of at least two levels");
        let siblings = self.tree().children(parent);
        point.reaction.bottom[parent - self.first_bottom()].pieces(leaf - siblings.start)
    }
}

impl<'a> newton::Dual for Dual<'a> {
    type Reaction = Rows;
    type Factors = Preconditioner<'a>;

    fn start(&self) -> Vec<f64> {
        vec![0.0; self.len()]
    }

    /// Gradient and reaction at the multipliers of `point`. One isotonic fit per node, those of the leaves in parallel over their
    /// parents; much less where a leaf has not moved far `from` another point.
    fn evaluate(&self, point: &mut Point, from: Option<&Point>) {
        let (tree, bins) = (self.tree(), self.problem.bins());
        let Point { multipliers, gradient, reaction: Rows { inner, bottom } } = point;
        let multipliers = &*multipliers;
        gradient.clear();
        gradient.resize(self.len(), 0.0);
        inner.resize_with(self.weights.len(), Reaction::default);
        // The Lagrangian falls apart into one least squares problem per row; an inner row stands with + in its own constraint and with - in
        // that of its parent.
        let mut row = vec![0.0; bins];
        let mut pool = Pool::default();
        for (node, reaction) in inner.iter_mut().enumerate() {
            self.fit_inner(multipliers, node, &mut pool, &mut row, reaction);
            add(&mut gradient[node * bins..][..bins], &row, 1.0);
            if let Some(parent) = tree.parent(node) {
                add(&mut gradient[parent * bins..][..bins], &row, -1.0);
            }
        }
        // Parents of leaves share no leaf, so that each takes the fits of its own from its own part of the gradient.
        let first = self.first_bottom();
        bottom.resize_with(self.weights.len() - first, Leaves::default);
        let parents = gradient[first * bins..].par_chunks_mut(bins).zip(bottom).enumerate();
        parents.for_each_init(leaves::Scratch::default, |scratch, (i, (gradient, leaves))| {
            let cells = (first + i) * bins..(first + i + 1) * bins;
            let children = tree.children(first + i);
            let noisy = &self.problem.noisy()[children.start * bins..children.end * bins];
            let from =
                from.map(|from| (&from.reaction.bottom[i], &from.multipliers[cells.clone()]));
            leaves.fit(noisy, &multipliers[cells], from, scratch, gradient);
        });
    }

    fn react(
        &self,
        point: &Point,
        damping: f64,
        direction: &[f64],
        out: &mut [f64],
        flows: &mut [f64],
    ) {
        let (tree, bins, first) = (self.tree(), self.problem.bins(), self.first_bottom());
        // The generalised Hessian applied to a direction. A row reacts to the difference of the multipliers above and at it, by its blocks'
        // averages over its weight; this flow arrives in its own constraint with + and in its parent's with -.
        let row = |node: usize| &direction[node * bins..][..bins];
        let rows = out.par_chunks_mut(bins).zip(flows.par_chunks_mut(bins)).enumerate();
        rows.with_min_len(LEAST_WORK.div_ceil(bins)).for_each_init(
            || (reaction::Scratch::new(bins), vec![0.0; bins]),
            |(scratch, change), (node, (out, flow))| {
                let own = row(node);
                change.copy_from_slice(own);
                if let Some(parent) = tree.parent(node) {
                    add(change, row(parent), -1.0);
                }
                flow.fill(0.0);
                point.reaction.inner[node].add_to(flow, change, 1.0 / self.weights[node], scratch);
                let cells = out.iter_mut().zip(&*flow).zip(own);
                cells.for_each(|((out, flow), own)| *out = damping * own + flow);
                if node >= first {
                    point.reaction.bottom[node - first].reaction.add_to(out, own, 1.0, scratch);
                }
            },
        );
        // In the order of the nodes and not in parallel: sums of floats must not depend on the number of threads.
        for (node, flow) in flows.chunks_exact(bins).enumerate().skip(1) {
            let parent = tree.parent(node).expect("not the root");
            add(&mut out[parent * bins..][..bins], flow, -1.0);
        }
    }

    fn precondition(&self, point: &Point, damping: f64) -> Preconditioner<'a> {
        let bins = self.problem.bins();
        let mut scratch = reaction::Scratch::new(bins);
        let mut below = vec![Outline { sum: damping, diagonal: damping }; self.len()];
        let rows = below[self.first_bottom() * bins..].chunks_exact_mut(bins);
        for (outline, leaves) in rows.zip(&point.reaction.bottom) {
            leaves.reaction.add_outline(outline, 1.0, &mut scratch);
        }
        let mut own = vec![Outline::default(); self.len()];
        let nodes = self.weights.iter().zip(&point.reaction.inner);
        for (outline, (weight, reaction)) in own.chunks_exact_mut(bins).zip(nodes) {
            reaction.add_outline(outline, 1.0 / weight, &mut scratch);
        }
        Preconditioner::new(self.tree(), bins, below, &own)
    }

    fn solve_approximately(
        &self,
        factors: &Preconditioner<'a>,
        rhs: &mut [f64],
        scratch: &mut [f64],
    ) {
        factors.solve(rhs, scratch);
    }
}

fn add(to: &mut [f64], row: &[f64], factor: f64) {
    to.iter_mut().zip(row).for_each(|(cell, value)| *cell += factor * value);
}
