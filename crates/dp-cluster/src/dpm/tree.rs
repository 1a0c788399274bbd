//! Growing the tree: counts and cuts, level by level.

use dp_mechanism::Draws;
use rayon::prelude::*;

use super::bins::{Bins, rows_per_piece};
use super::cell::Cell;
use super::plan::{AfterAMiss, TreePlan};
use super::score::CutScore;

/// Counters that one pass over the rows may hold, per thread: 16 MiB.
const COUNTERS: usize = 1 << 22;

/// Marks the node number of a row as that of a leaf.
const LEAF: u16 = 1 << 15;

/// A cell that is not cut any further.
#[derive(Clone, Debug)]
pub(crate) struct Leaf {
    pub(crate) cell: Cell,
    /// Released, at least 1.
    pub(crate) noisy_count: i64,
}

/// The leaves, and for every row the number of its leaf. The latter is private.
#[derive(Debug)]
pub(crate) struct Tree {
    pub(crate) leaves: Vec<Leaf>,
    pub(crate) leaf_of: Vec<u16>,
}

/// What becomes of a node of the present level.
#[derive(Clone, Copy, Debug)]
enum Fate {
    Leaf {
        number: u16,
    },
    /// Becomes node `node` of the next level as it is.
    Stay {
        node: u16,
    },
    /// Rows with a half-interval below `cut` go to node `left` of the next level, others to the
    /// node after it.
    Cut {
        dimension: usize,
        cut: u16,
        left: u16,
    },
}

impl TreePlan {
    /// Releases a count, clamped to where the rest of the algorithm is defined.
    pub(super) fn count(&self, level: usize, count: u64, draws: &mut Draws<'_>) -> i64 {
        self.counts[level].release(count, draws).clamp(1, CutScore::MAX_COUNT)
    }

    /// Cuts until no cell can be cut or the depth is reached.
    pub(super) fn grow(&self, bins: &Bins, total: i64, draws: &mut Draws<'_>) -> Tree {
        let minimum = self.minimum(total);
        let mut leaves = Vec::new();
        let mut node_of = vec![0_u16; bins.len()];
        let root = Leaf { cell: Cell::whole(bins.dim, bins.half_intervals), noisy_count: total };
        let mut level_nodes = vec![root];
        for level in 0..self.settings.max_depth {
            let per_pass = (COUNTERS / (bins.dim * bins.half_intervals)).max(1);
            let mut fates = Vec::with_capacity(level_nodes.len());
            let mut next = Vec::new();
            for (pass, nodes) in level_nodes.chunks(per_pass).enumerate() {
                let histograms = Histograms::count(bins, &node_of, pass * per_pass, nodes.len());
                for (i, node) in nodes.iter().enumerate() {
                    let histograms = histograms.of(i);
                    let cut = self.cut(level, node, histograms, bins.dim, minimum, draws);
                    if let Some((dimension, cut, children)) = cut {
                        fates.push(Fate::Cut { dimension, cut, left: number(next.len()) });
                        next.extend(children);
                    } else if self.may_try_again(level, node, minimum) {
                        fates.push(Fate::Stay { node: number(next.len()) });
                        next.push(node.clone());
                    } else {
                        fates.push(Fate::Leaf { number: number(leaves.len()) });
                        leaves.push(Leaf { cell: node.cell.clone(), ..*node });
                    }
                }
            }
            descend(bins, &mut node_of, &fates);
            level_nodes = next;
        }
        // The deepest level is made of leaves, numbered after those found earlier.
        let first = number(leaves.len());
        for node in &mut node_of {
            *node = if *node & LEAF == 0 { first + *node } else { *node & !LEAF };
        }
        leaves.extend(level_nodes);
        Tree { leaves, leaf_of: node_of }
    }

    /// Whether a node whose cut did not stand gets another at the next level, which is a choice by
    /// public and released values: it is large enough for two children.
    fn may_try_again(&self, level: usize, node: &Leaf, minimum: i64) -> bool {
        let enough = node.noisy_count >= 2 * minimum;
        self.after_a_miss == AfterAMiss::TryAgain && level + 1 < self.settings.max_depth && enough
    }

    /// Smallest noisy count of a child.
    #[allow(clippy::cast_possible_truncation, reason = "below MAX_COUNT")]
    fn minimum(&self, total: i64) -> i64 {
        ((total as f64 * self.settings.least_share()).ceil() as i64).max(1)
    }

    /// Chooses a cut and counts both sides; the cut stands if both counts reach the minimum.
    fn cut(
        &self,
        level: usize,
        node: &Leaf,
        histograms: &[u64],
        dim: usize,
        minimum: i64,
        draws: &mut Draws<'_>,
    ) -> Option<(usize, u16, [Leaf; 2])> {
        let half_intervals = histograms.len() / dim;
        let intervals = half_intervals / 2;
        let score = self.score.at(node.noisy_count);
        let mut scores = Vec::with_capacity(dim * intervals);
        for histogram in histograms.chunks_exact(half_intervals) {
            let mut rank = 0;
            for halves in histogram.chunks_exact(2) {
                scores.push(score.of(rank + halves[0], halves[0] + halves[1]));
                rank += halves[0] + halves[1];
            }
        }
        let chosen = self.cuts[level].release(&scores, draws);
        let dimension = chosen / intervals;
        let cut = 2 * (chosen % intervals) + 1; // the middle of the interval
        let histogram = &histograms[dimension * half_intervals..(dimension + 1) * half_intervals];
        let left = histogram[..cut].iter().sum();
        let right = histogram[cut..].iter().sum();
        let counts = [left, right].map(|count| self.count(level + 1, count, draws));
        let cut = u16::try_from(cut).expect("below 256");
        let (left, right) = node.cell.split(dimension, cut);
        counts.iter().all(|&count| count >= minimum).then(|| {
            let [l, r] = counts;
            let left = Leaf { cell: left, noisy_count: l };
            (dimension, cut, [left, Leaf { cell: right, noisy_count: r }])
        })
    }
}

fn number(n: usize) -> u16 {
    u16::try_from(n).ok().filter(|&n| n < LEAF).expect("at most 2^14 nodes on a level")
}

/// Sends every row to its node on the next level.
fn descend(bins: &Bins, node_of: &mut [u16], fates: &[Fate]) {
    let rows_per_piece = rows_per_piece(node_of.len());
    node_of.par_chunks_mut(rows_per_piece).enumerate().for_each(|(piece, nodes)| {
        for (i, node) in nodes.iter_mut().enumerate().filter(|(_, node)| **node & LEAF == 0) {
            *node = match fates[usize::from(*node)] {
                Fate::Leaf { number } => LEAF | number,
                Fate::Stay { node } => node,
                Fate::Cut { dimension, cut, left } => {
                    let bin = bins.row(piece * rows_per_piece + i)[dimension];
                    left + u16::from(u16::from(bin) >= cut)
                }
            };
        }
    });
}

/// Per node and dimension, how many rows lie in each half-interval.
struct Histograms {
    counters: Vec<u64>,
    per_node: usize,
}

impl Histograms {
    /// Of the nodes `first..first + nodes`, in one pass over all rows.
    fn count(bins: &Bins, node_of: &[u16], first: usize, nodes: usize) -> Self {
        let per_node = bins.dim * bins.half_intervals;
        let rows_per_piece = rows_per_piece(node_of.len());
        let counters = node_of
            .par_chunks(rows_per_piece)
            .enumerate()
            .map(|(piece, pieces_nodes)| {
                let mut counters = vec![0_u32; nodes * per_node];
                let rows = bins.rows(piece * rows_per_piece, pieces_nodes.len());
                for (row, &node) in rows.zip(pieces_nodes) {
                    // Leaves have numbers far above those of nodes and drop out here.
                    let offset = usize::from(node).wrapping_sub(first);
                    if offset < nodes {
                        let counters = &mut counters[offset * per_node..(offset + 1) * per_node];
                        let dimensions = counters.chunks_exact_mut(bins.half_intervals);
                        for (counters, &bin) in dimensions.zip(row) {
                            counters[usize::from(bin)] += 1;
                        }
                    }
                }
                counters
            })
            .fold(
                || vec![0_u64; nodes * per_node],
                |mut sum, counters| {
                    sum.iter_mut().zip(counters).for_each(|(sum, count)| *sum += u64::from(count));
                    sum
                },
            )
            .reduce_with(|mut a, b| {
                a.iter_mut().zip(b).for_each(|(a, b)| *a += b);
                a
            })
            .unwrap_or_else(|| vec![0; nodes * per_node]);
        Self { counters, per_node }
    }

    fn of(&self, node: usize) -> &[u64] {
        &self.counters[node * self.per_node..(node + 1) * self.per_node]
    }
}
