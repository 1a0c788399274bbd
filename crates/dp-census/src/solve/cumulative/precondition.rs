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
use super::chain::{Chain, Factors};
use crate::RegionTree;

/// Nodes that are solved at once: each is a sequence of dependent operations, so that they take as long as one.
const PACK: usize = 4;

/// Row sums and diagonal of a reaction, by bin.
#[derive(Debug, Clone)]
pub(super) struct Outline {
    pub(super) sums: Vec<f64>,
    pub(super) diagonal: Vec<f64>,
}

impl Outline {
    /// The reaction of every bin for itself.
    pub(super) fn constant(value: f64, bins: usize) -> Self {
        Self { sums: vec![value; bins], diagonal: vec![value; bins] }
    }
}

/// Approximate factors of the reaction.
pub(super) struct Preconditioner<'a> {
    tree: &'a RegionTree,
    bins: usize,
    nodes: Vec<Node>,
}

struct Node {
    /// Inverse of the reaction of all that is below.
    below: Chain,
    /// Inverse of the reaction of the node's own row.
    own: Chain,
    /// Of the sum of both.
    factors: Factors,
}

impl<'a> Preconditioner<'a> {
    /// `below` has the reaction below each inner node, as far as it is not that of its inner children; `own` that of its own row to
    /// the difference of its parent's multipliers and its own.
    pub(super) fn new(tree: &'a RegionTree, mut below: Vec<Outline>, own: &[Outline]) -> Self {
        let bins = own[0].sums.len();
        let mut nodes = Vec::with_capacity(own.len());
        for (node, own) in own.iter().enumerate().rev() {
            let (chain, own) = (Chain::inverse_of(&below[node]), Chain::inverse_of(own));
            let mut series = chain.clone();
            series.add(&own);
            if let Some(parent) = tree.parent(node) {
                series.add_inverse_to(&mut below[parent]);
            }
            nodes.push(Node { below: chain, own, factors: series.factors() });
        }
        nodes.reverse();
        Self { tree, bins, nodes }
    }

    /// Solves in place. `scratch` is of the same length.
    pub(super) fn solve(&self, rhs: &mut [f64], scratch: &mut [f64]) {
        let bins = self.bins;
        for nodes in self.levels().rev() {
            let (above, rest) = rhs.split_at_mut(nodes.start * bins);
            let rows = &mut rest[..nodes.len() * bins];
            let flows = &mut scratch[..rows.len()];
            self.in_packs(rows, flows, nodes.clone()).for_each(|((rows, flows), nodes)| {
                each_row(nodes, flows, rows, |node, flow, row| node.below.times(row, flow));
                solve_pack(nodes, flows);
                each_row(nodes, rows, flows, |node, row, flow| node.own.times(flow, row));
            });
            for (flow, node) in flows.chunks_exact(bins).zip(nodes) {
                if let Some(parent) = self.tree.parent(node) {
                    let above = &mut above[parent * bins..][..bins];
                    above.iter_mut().zip(flow).for_each(|(above, flow)| *above += flow);
                }
            }
        }
        for nodes in self.levels().skip(1) {
            let (above, rest) = rhs.split_at_mut(nodes.start * bins);
            let rows = &mut rest[..nodes.len() * bins];
            let changes = &mut scratch[..rows.len()];
            for (change, node) in changes.chunks_exact_mut(bins).zip(nodes.clone()) {
                let parent = self.tree.parent(node).expect("not the root");
                change.copy_from_slice(&above[parent * bins..][..bins]);
            }
            self.in_packs(rows, changes, nodes).for_each(|((rows, changes), nodes)| {
                solve_pack(nodes, changes);
                each_row(nodes, rows, changes, |node, row, change| {
                    node.below.add_times(change, row);
                });
            });
        }
    }

    /// The inner nodes by level.
    fn levels(&self) -> impl DoubleEndedIterator<Item = Range<usize>> + '_ {
        (0..self.tree.levels() - 1).map(|level| self.tree.level(level))
    }

    /// Rows of nodes that are solved together.
    fn in_packs<'b>(
        &'b self,
        rows: &'b mut [f64],
        other: &'b mut [f64],
        nodes: Range<usize>,
    ) -> impl ParallelIterator<Item = ((&'b mut [f64], &'b mut [f64]), &'b [Node])> {
        let cells = PACK * self.bins;
        let rows = rows.par_chunks_mut(cells).zip(other.par_chunks_mut(cells));
        let packs = rows.zip(self.nodes[nodes].par_chunks(PACK));
        packs.with_min_len(LEAST_WORK.div_ceil(cells))
    }
}

fn each_row(
    nodes: &[Node],
    to: &mut [f64],
    from: &[f64],
    work: impl Fn(&Node, &mut [f64], &[f64]),
) {
    let bins = to.len() / nodes.len();
    let rows = to.chunks_exact_mut(bins).zip(from.chunks_exact(bins));
    nodes.iter().zip(rows).for_each(|(node, (to, from))| work(node, to, from));
}

fn solve_pack(nodes: &[Node], rows: &mut [f64]) {
    let mut chunks = rows.chunks_exact_mut(rows.len() / nodes.len());
    if let Ok(nodes) = <&[Node; PACK]>::try_from(nodes) {
        let rows = std::array::from_fn(|_| chunks.next().expect("a row for each node"));
        Factors::solve(nodes.each_ref().map(|node| &node.factors), rows);
    } else {
        let rows = nodes.iter().zip(chunks);
        rows.for_each(|(node, row)| Factors::solve([&node.factors], [row]));
    }
}
