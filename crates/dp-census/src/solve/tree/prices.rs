//! Water filling: the real optimum as prices.
//!
//! In units in which leaves have weight 1, a leaf that is offered a price per unit demands `max(0, noisy + price)`. A node that is
//! offered the price `p` offers its children the price `q` with `p = q + weight (demand of the children at q - noisy)`, which weighs
//! its own distance against theirs. The root of every bin is offered the same price, at which all of them demand the number of
//! groups.
//!
//! If it were known which leaves demand anything, this would be a linear system on a tree. Newton's method starts with all leaves,
//! solves it, drops those that would demand less than nothing, and goes on until none is dropped. None of them ever has to come
//! back: the equations are convex, and the inverses of their derivatives are nonnegative, so that all prices fall from the first
//! step on (monotone Newton iteration; Ortega and Rheinboldt, 1970, section 13.3). For a single bin without a hierarchy it is Michelot's
//! projection onto the simplex (1986). Some ten passes over the table.

use std::ops::Range;

use rayon::prelude::*;

use crate::RegionTree;
use crate::solve::Problem;

/// Bins that are next to each other in memory and go through the tree together.
const LANES: usize = 4;

type Lanes = [f64; LANES];

/// The prices of the real optimum.
pub(super) struct Prices<'a> {
    tree: &'a RegionTree,
    /// Weight of each inner node over that of the leaves.
    weights: Vec<f64>,
    /// What the root is offered.
    top: f64,
    /// What the children of each inner node are offered, row-major.
    inner: Vec<f64>,
}

/// Demand as a function of the price, if the leaves that take part stay the same.
#[derive(Clone, Copy, Default)]
struct Line {
    at_zero: Lanes,
    slope: Lanes,
}

/// An inner node in a few bins.
#[derive(Clone, Copy)]
struct Node {
    noisy: Lanes,
    /// Demand of all children.
    below: Line,
    /// What the children are offered.
    price: Lanes,
}

/// A few bins, all nodes.
struct Strip {
    inner: Vec<Node>,
    leaves: Vec<Lanes>,
}

/// What bins demand together.
#[derive(Clone, Copy, Default)]
struct Total {
    at_zero: f64,
    slope: f64,
    /// Number of leaf cells that take part.
    cells: f64,
}

impl<'a> Prices<'a> {
    pub(super) fn new(problem: &Problem<'a>) -> Self {
        let (tree, bins) = (problem.tree(), problem.bins());
        let first = tree.leaves().start;
        let weights = problem.node_weights();
        let leaf_weight = weights[first] as f64;
        let weights = weights[..first].iter().map(|&weight| weight as f64 / leaf_weight).collect();
        let mut prices = Self { tree, weights, top: f64::INFINITY, inner: vec![0.0; first * bins] };
        let starts = (0..bins).into_par_iter().step_by(LANES);
        let mut strips: Vec<Strip> = starts.map(|bin| Strip::new(problem, bin)).collect();
        prices.clear_the_market(&mut strips, problem.groups() as f64);
        for (row, node) in prices.inner.chunks_exact_mut(bins).zip(0..) {
            let cells = row.chunks_mut(LANES).zip(&strips);
            cells.for_each(|(cells, strip)| {
                cells.copy_from_slice(&strip.inner[node].price[..cells.len()]);
            });
        }
        prices
    }

    /// What the root is offered.
    pub(super) fn top(&self) -> f64 {
        self.top
    }

    /// What the children of an inner node are offered, by bin.
    pub(super) fn below(&self, node: usize) -> &[f64] {
        let bins = self.inner.len() / self.weights.len();
        &self.inner[node * bins..][..bins]
    }

    /// Real demand of a node in a bin.
    pub(super) fn demand(&self, node: usize, bin: usize, noisy: i64) -> f64 {
        let offered = self.tree.parent(node).map_or(self.top, |parent| self.below(parent)[bin]);
        let inner = self.weights.get(node).map(|weight| (self.below(node)[bin], weight));
        let excess = inner.map_or(offered, |(price, weight)| (offered - price) / weight);
        (noisy as f64 + excess).max(0.0)
    }

    pub(super) fn tree(&self) -> &'a RegionTree {
        self.tree
    }

    /// Newton's method.
    fn clear_the_market(&mut self, strips: &mut [Strip], groups: f64) {
        let mut total = self.newton_step(strips);
        // Nothing is left if there are no groups to be had.
        while total.slope > 0.0 {
            self.top = (groups - total.at_zero) / total.slope;
            let next = self.newton_step(strips);
            // But for rounding errors no leaf comes back, so that as many are the same ones.
            if next.cells >= total.cells {
                break;
            }
            total = next;
        }
    }

    /// Offers the root the price `top`, and everyone below what it comes to if the leaves that take part stay the same. Drops the
    /// leaves that do not.
    fn newton_step(&self, strips: &mut [Strip]) -> Total {
        let step = |strip: &mut Strip| {
            self.hand_down(strip);
            self.add_up(strip)
        };
        let totals: Vec<Total> = strips.par_iter_mut().map(step).collect();
        totals.into_iter().fold(Total::default(), Total::beside)
    }

    fn hand_down(&self, strip: &mut Strip) {
        for (node, &weight) in self.weights.iter().enumerate() {
            let parent = self.tree.parent(node);
            let above = parent.map_or([self.top; LANES], |parent| strip.inner[parent].price);
            let Node { noisy, below, price } = &mut strip.inner[node];
            for i in 0..LANES {
                let missing = weight * (noisy[i] - below.at_zero[i]);
                price[i] = (above[i] + missing) / (1.0 + weight * below.slope[i]);
            }
        }
    }

    fn add_up(&self, strip: &mut Strip) -> Total {
        let first = self.weights.len();
        let mut cells = 0.0;
        let mut of_leaves = |nodes: Range<usize>, price| {
            let line =
                Line::of_leaves(&strip.leaves[nodes.start - first..nodes.end - first], price);
            cells += line.slope.iter().sum::<f64>();
            line
        };
        // Gaussian elimination on the tree, leaves first: with the leaves that take part given, demand is a line in the price, and lines side
        // by side add up.
        for node in (0..first).rev() {
            let children = self.tree.children(node);
            strip.inner[node].below = if children.start >= first {
                of_leaves(children, strip.inner[node].price)
            } else {
                children.fold(Line::default(), |sum, child| {
                    sum.beside(strip.inner[child].demand(self.weights[child]))
                })
            };
        }
        let root = match strip.inner.first() {
            Some(root) => root.demand(self.weights[0]),
            None => of_leaves(0..1, [self.top; LANES]),
        };
        Total { at_zero: root.at_zero.iter().sum(), slope: root.slope.iter().sum(), cells }
    }
}

impl Strip {
    fn new(problem: &Problem<'_>, bin: usize) -> Self {
        let (tree, width) = (problem.tree(), LANES.min(problem.bins() - bin));
        let lanes = |node: usize, padding: f64| {
            let mut lanes = [padding; LANES];
            let cells = &problem.row(node)[bin..bin + width];
            lanes.iter_mut().zip(cells).for_each(|(lane, &cell)| *lane = cell as f64);
            lanes
        };
        // At first any leaf takes part, but those beyond the last bin never do.
        let node = |node| Node {
            noisy: lanes(node, 0.0),
            below: Line::default(),
            price: [f64::INFINITY; LANES],
        };
        Self {
            inner: (0..tree.leaves().start).map(node).collect(),
            leaves: tree.leaves().map(|leaf| lanes(leaf, f64::NEG_INFINITY)).collect(),
        }
    }
}

impl Node {
    /// Demand as a function of the price that the node itself is offered.
    fn demand(&self, weight: f64) -> Line {
        let mut line = self.below;
        for i in 0..LANES {
            let resistance = 1.0 + weight * line.slope[i];
            line.at_zero[i] =
                (line.at_zero[i] + weight * line.slope[i] * self.noisy[i]) / resistance;
            line.slope[i] /= resistance;
        }
        line
    }
}

impl Line {
    fn of_leaves(leaves: &[Lanes], price: Lanes) -> Self {
        let mut sum = Self::default();
        for noisy in leaves {
            for i in 0..LANES {
                let takes_part = noisy[i] + price[i] > 0.0;
                sum.at_zero[i] += if takes_part { noisy[i] } else { 0.0 };
                sum.slope[i] += if takes_part { 1.0 } else { 0.0 };
            }
        }
        sum
    }

    fn beside(mut self, other: Self) -> Self {
        for i in 0..LANES {
            self.at_zero[i] += other.at_zero[i];
            self.slope[i] += other.slope[i];
        }
        self
    }
}

impl Total {
    fn beside(self, other: Self) -> Self {
        Self {
            at_zero: self.at_zero + other.at_zero,
            slope: self.slope + other.slope,
            cells: self.cells + other.cells,
        }
    }
}
