//! An approximate inverse of the reaction.
//!
//! The reaction of many isotonic fits whose pieces lie anywhere smooths like diffusion: it is close to the inverse of a tridiagonal
//! matrix, a chain of bins with a resistance to the ground at each and one between neighbours. Row sums of the reaction (how many
//! pieces cover a bin) give the first; the smaller its diagonal beside them, the longer are the pieces and the more do neighbours
//! move together, which gives the second. Resistances in series add up, so the hierarchy can be eliminated from the bottom up, with
//! the sum of the reactions of children taken for such an inverse again.

use std::ops::Range;

use rayon::prelude::*;

use super::LEAST_WORK;
use super::chain::{self, Factor, Link};
use crate::RegionTree;

/// Nodes that are solved at once: each is a sequence of dependent operations, so that they take as long as one.
const PACK: usize = 4;

/// Of a reaction at a bin: its row sum, and how the bin reacts to itself.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Outline {
    pub(super) sum: f64,
    pub(super) diagonal: f64,
}

/// Approximate factors of the reaction, row-major.
pub(super) struct Preconditioner<'a> {
    tree: &'a RegionTree,
    bins: usize,
    /// Inverse of the reaction of all that is below a node.
    below: Vec<Link>,
    /// Inverse of the reaction of the node's own row.
    own: Vec<Link>,
    /// Of the sum of both.
    factors: Vec<Factor>,
}

impl<'a> Preconditioner<'a> {
    /// `below` has the reaction below each inner node, as far as it is not that of its inner children; `own` that of its own row to
    /// the difference of its parent's multipliers and its own.
    pub(super) fn new(
        tree: &'a RegionTree,
        bins: usize,
        mut below: Vec<Outline>,
        own: &[Outline],
    ) -> Self {
        let links = || vec![Link::default(); own.len()];
        let factors = vec![Factor::default(); own.len()];
        let mut made = Self { tree, bins, below: links(), own: links(), factors };
        let mut series = vec![Link::default(); bins];
        // Block elimination from the leaves up. With B the reaction below a node and O that of its own row, what the parent sees of
        // both is the Schur complement O - O (B + O)^-1 O = (B^-1 + O^-1)^-1: two chains of resistances in series.
        for node in (0..own.len() / bins).rev() {
            let cells = node * bins..(node + 1) * bins;
            chain::inverse_of(&below[cells.clone()], &mut made.below[cells.clone()]);
            chain::inverse_of(&own[cells.clone()], &mut made.own[cells.clone()]);
            chain::in_series(&made.below[cells.clone()], &made.own[cells.clone()], &mut series);
            chain::factorise(&series, &mut made.factors[cells]);
            if let Some(parent) = tree.parent(node) {
                chain::add_inverse(&series, &mut below[parent * bins..][..bins]);
            }
        }
        made
    }

    /// Solves in place. `scratch` is of the same length.
    pub(super) fn solve(&self, rhs: &mut [f64], scratch: &mut [f64]) {
        let bins = self.bins;
        // Forward substitution, the lowest level first: each node keeps (B + O)^-1 of its right-hand side and hands on O times that.
        for nodes in self.levels().rev() {
            let (above, rest) = rhs.split_at_mut(nodes.start * bins);
            let rows = &mut rest[..nodes.len() * bins];
            let flows = &mut scratch[..rows.len()];
            self.in_packs(rows, flows, nodes.clone()).for_each(|(cells, (rows, flows))| {
                chain::times(&self.below[cells.clone()], bins, rows, flows);
                solve_pack(&self.factors[cells.clone()], bins, flows);
                chain::times(&self.own[cells], bins, flows, rows);
            });
            for (flow, node) in flows.chunks_exact(bins).zip(nodes) {
                if let Some(parent) = self.tree.parent(node) {
                    let above = &mut above[parent * bins..][..bins];
                    above.iter_mut().zip(flow).for_each(|(above, flow)| *above += flow);
                }
            }
        }
        // Back substitution, from the root down: a node adds (B + O)^-1 O times what its parent came to.
        for nodes in self.levels().skip(1) {
            let (above, rest) = rhs.split_at_mut(nodes.start * bins);
            let rows = &mut rest[..nodes.len() * bins];
            let changes = &mut scratch[..rows.len()];
            for (change, node) in changes.chunks_exact_mut(bins).zip(nodes.clone()) {
                let parent = self.tree.parent(node).expect("not the root");
                change.copy_from_slice(&above[parent * bins..][..bins]);
            }
            self.in_packs(rows, changes, nodes).for_each(|(cells, (rows, changes))| {
                solve_pack(&self.factors[cells.clone()], bins, changes);
                chain::add_times(&self.below[cells], bins, changes, rows);
            });
        }
    }

    /// The inner nodes by level.
    fn levels(&self) -> impl DoubleEndedIterator<Item = Range<usize>> + '_ {
        (0..self.tree.levels() - 1).map(|level| self.tree.level(level))
    }

    /// Rows of nodes that are solved together, and where they are in the table.
    fn in_packs<'b>(
        &self,
        rows: &'b mut [f64],
        other: &'b mut [f64],
        nodes: Range<usize>,
    ) -> impl ParallelIterator<Item = (Range<usize>, (&'b mut [f64], &'b mut [f64]))> {
        let (cells, first) = (PACK * self.bins, nodes.start * self.bins);
        let rows = rows.par_chunks_mut(cells).zip(other.par_chunks_mut(cells));
        let packs = rows.enumerate().with_min_len(LEAST_WORK.div_ceil(cells));
        packs.map(move |(i, (rows, other))| {
            let start = first + i * cells;
            (start..start + rows.len(), (rows, other))
        })
    }
}

fn solve_pack(factors: &[Factor], bins: usize, rows: &mut [f64]) {
    let pack = rows.len() == PACK * bins;
    let mut nodes = factors.chunks_exact(bins).zip(rows.chunks_exact_mut(bins));
    if pack {
        chain::solve(std::array::from_fn::<_, PACK, _>(|_| nodes.next().expect("a full pack")));
    } else {
        nodes.for_each(|node| chain::solve([node]));
    }
}
