//! Growing the tree: counts and cuts, level by level.

use dp_geometry::{FixedPointGrid, PointsView};
use dp_mechanism::{CellsRef, Draws, Private};
use rayon::prelude::*;

use super::bins::Bins;
use super::cell::Cell;
use super::plan::{AfterAMiss, TreePlan};
use super::score::{CutScore, NodeScore};
use crate::table::rows_per_piece;

/// Marks the node number of a row as that of a leaf.
const LEAF: u16 = 1 << 15;

/// A cell that is not cut any further.
#[derive(Clone, Debug)]
pub(crate) struct Leaf {
    pub(crate) cell: Cell,
    /// Released, at least 1.
    pub(crate) noisy_count: i64,
}

/// The leaves, and for every row the number of its leaf.
#[derive(Debug)]
pub(crate) struct Tree {
    pub(crate) leaves: Vec<Leaf>,
    pub(crate) leaf_of: Private<Vec<u16>>,
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
    /// Releases the count of a node of a level, clamped to where the rest of the algorithm is defined.
    pub(super) fn count(
        &self,
        level: usize,
        node: usize,
        count: impl Into<Private<u64>>,
        draws: &mut Draws<'_>,
    ) -> i64 {
        let draws = &mut draws.part("count of one node", level, node as u64);
        self.counts[level].release(count, draws).clamp(1, CutScore::MAX_COUNT)
    }

    /// Cuts until no cell can be cut or the depth is reached.
    pub(super) fn grow(
        &self,
        mut rows: Private<Rows>,
        half_intervals: usize,
        total: i64,
        draws: &mut Draws<'_>,
    ) -> Tree {
        let minimum = self.minimum(total);
        let dim = self.settings.public_box.dim();
        let per_node = dim * half_intervals;
        let per_pass = (self.settings.counters / per_node).max(1);
        let mut leaves = Vec::new();
        let mut level_nodes =
            vec![Leaf { cell: Cell::whole(dim, half_intervals), noisy_count: total }];
        for level in 0..self.settings.max_depth {
            let mut fates = Vec::with_capacity(level_nodes.len());
            let mut next = Vec::new();
            for (pass, nodes) in level_nodes.chunks(per_pass).enumerate() {
                let first = pass * per_pass;
                let counted = rows.as_ref().map(|rows| rows.histograms(first, nodes.len()));
                let counted = counted.cells(nodes.len() * per_node);
                let histograms = counted.view().chunks(per_node);
                for (number, (node, histogram)) in (first..).zip(nodes.iter().zip(histograms)) {
                    let cut = self.cut((level, number), node, histogram, minimum, draws);
                    if let Some((dimension, cut, children)) = cut {
                        fates.push(Fate::Cut { dimension, cut, left: small(next.len()) });
                        next.extend(children);
                    } else if self.may_try_again(level, node, minimum) {
                        fates.push(Fate::Stay { node: small(next.len()) });
                        next.push(node.clone());
                    } else {
                        fates.push(Fate::Leaf { number: small(leaves.len()) });
                        leaves.push(node.clone());
                    }
                }
            }
            rows.update(|rows| rows.descend(&fates));
            level_nodes = next;
        }
        // The deepest level is made of leaves, numbered after those found earlier.
        let first = small(leaves.len());
        leaves.extend(level_nodes);
        Tree { leaves, leaf_of: rows.map(|rows| rows.leaves(first)) }
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
    ///
    /// The nodes of a level are parts of the records, and so are their halves.
    fn cut(
        &self,
        (level, number): (usize, usize),
        node: &Leaf,
        histogram: CellsRef<'_, u64>,
        minimum: i64,
        draws: &mut Draws<'_>,
    ) -> Option<(usize, u16, [Leaf; 2])> {
        let half_intervals = histogram.len() / self.settings.public_box.dim();
        let intervals = half_intervals / 2;
        let score = self.score.at(node.noisy_count);
        let histogram = histogram.into_private();
        let scores = histogram.map(|histogram| cut_scores(histogram, half_intervals, &score));
        let scores = scores.cells(self.settings.public_box.dim() * intervals);
        let draw = &mut draws.part("cut of one node", level, number as u64);
        let chosen = self.cuts[level].release(&scores, draw);
        let dimension = chosen / intervals;
        let cut = 2 * (chosen % intervals) + 1; // the middle of the interval
        let sides: Private<[u64; 2]> = histogram.map(|histogram| {
            let here = &histogram[dimension * half_intervals..][..half_intervals];
            [here[..cut].iter().sum(), here[cut..].iter().sum()]
        });
        let counts = [0, 1].map(|side| {
            self.count(level + 1, 2 * number + side, sides.map(|sides| sides[side]), draws)
        });
        let cut = u16::try_from(cut).expect("below 256");
        let (left, right) = node.cell.split(dimension, cut);
        counts.iter().all(|&count| count >= minimum).then(|| {
            let [l, r] = counts;
            let left = Leaf { cell: left, noisy_count: l };
            (dimension, cut, [left, Leaf { cell: right, noisy_count: r }])
        })
    }
}

/// The scores of all cuts of a node, dimension after dimension, from its histograms.
fn cut_scores(histograms: &[u64], half_intervals: usize, score: &NodeScore) -> Vec<i64> {
    let mut scores = Vec::with_capacity(histograms.len() / 2);
    for histogram in histograms.chunks_exact(half_intervals) {
        let mut rank = 0;
        for halves in histogram.chunks_exact(2) {
            scores.push(score.of(rank + halves[0], halves[0] + halves[1]));
            rank += halves[0] + halves[1];
        }
    }
    scores
}

fn small(n: usize) -> u16 {
    u16::try_from(n).ok().filter(|&n| n < LEAF).expect("at most 2^14 nodes on a level")
}

/// The records as cuts see them, and the node of the present level that each is in.
#[derive(Debug)]
pub(crate) struct Rows {
    bins: Bins,
    node_of: Vec<u16>,
}

impl Rows {
    pub(super) fn new(points: PointsView<'_>, grid: &FixedPointGrid, intervals: usize) -> Self {
        let bins = Bins::new(points, grid, intervals);
        Self { node_of: vec![0; bins.len()], bins }
    }

    /// Sends every row to its node on the next level.
    fn descend(&mut self, fates: &[Fate]) {
        let Self { bins, node_of } = self;
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

    /// The leaf of every row; those of the last level are numbered from `first`.
    fn leaves(mut self, first: u16) -> Vec<u16> {
        for node in &mut self.node_of {
            *node = if *node & LEAF == 0 { first + *node } else { *node & !LEAF };
        }
        self.node_of
    }

    /// Per node of `first..first + nodes` and dimension, how many rows lie in each half-interval; in one pass over all rows.
    fn histograms(&self, first: usize, nodes: usize) -> Vec<u64> {
        let Self { bins, node_of } = self;
        let per_node = bins.dim * bins.half_intervals;
        let rows_per_piece = rows_per_piece(node_of.len());
        node_of
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
            .unwrap_or_else(|| vec![0; nodes * per_node])
    }
}
