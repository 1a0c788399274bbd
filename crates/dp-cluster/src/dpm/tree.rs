//! Growing the tree: counts and cuts, level by level.

use std::ops::ControlFlow;

use dp_geometry::PointsView;
use dp_mechanism::passes::{Counted, StateError, TableError};
use dp_mechanism::{CellsRef, Draws, Private};
use rayon::prelude::*;
use serde::{Deserialize, Serialize};

use super::bins::Bins;
use super::cell::Cell;
use super::path::{Ends, Fate, LEAF, Path};
use super::plan::{AfterAMiss, Grown, TreePlan};
use super::questions::Level;
use super::score::{CutScore, NodeScore};
use crate::passes::is_there;
use crate::table::rows_per_piece;

/// A cell that is not cut any further.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Leaf {
    pub(crate) cell: Cell,
    /// Released, at least 1.
    pub(crate) noisy_count: i64,
}

/// A tree in the middle of growing: released values only.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Growth {
    /// The noisy number of all records.
    total: i64,
    pub(super) path: Path,
    /// Found on finished levels.
    leaves: Vec<Leaf>,
    /// Of the present level.
    nodes: Vec<Leaf>,
    /// What becomes of the first of them.
    fates: Vec<Fate>,
    /// Of the next level.
    next: Vec<Leaf>,
}

impl Growth {
    pub(super) fn new(plan: &TreePlan, total: i64, intervals: usize) -> Self {
        let public_box = plan.settings.public_box.clone();
        let cell = Cell::whole(public_box.dim(), 2 * intervals);
        let nodes = vec![Leaf { cell, noisy_count: total }];
        let path = Path::new(public_box, intervals);
        Self { total, path, leaves: vec![], nodes, fates: vec![], next: vec![] }
    }

    /// That a run of the plan can have got here.
    pub(super) fn fits(&self, plan: &TreePlan) -> Result<(), TableError> {
        let counts = [1.0, CutScore::MAX_COUNT as f64];
        StateError::unless_within("number of records", self.total as f64, counts)?;
        let ends = plan.fits_path(&self.path, plan.settings.max_depth - 1)?;
        StateError::unless_equal("number of nodes", self.nodes.len(), ends.nodes)?;
        let most = self.nodes.len() as f64 - 1.0;
        let cut = self.fates.len() as f64;
        StateError::unless_within("number of nodes that are cut", cut, [0.0, most])?;
        let begun = ends.after(&self.fates, plan.settings.public_box.dim());
        is_there("nodes that follow from each other", begun.is_some())?;
        let begun = begun.unwrap_or(ends);
        StateError::unless_equal("number of leaves", self.leaves.len(), begun.leaves)?;
        StateError::unless_equal("number of next nodes", self.next.len(), begun.nodes)?;
        let all = self.leaves.iter().chain(&self.nodes).chain(&self.next);
        plan.fit_leaves(all, self.path.half_intervals())
    }

    /// Goes down to the next level, which may have no nodes.
    fn descend(&mut self) {
        self.path.levels.push(std::mem::take(&mut self.fates));
        self.nodes = std::mem::take(&mut self.next);
    }

    /// The deepest level is made of leaves, numbered after those found earlier.
    fn finish(mut self) -> Grown {
        self.leaves.append(&mut self.nodes);
        Grown { leaves: self.leaves, path: self.path }
    }
}

impl Grown {
    /// That a run of the plan can have grown it.
    pub(crate) fn fits(&self, plan: &TreePlan) -> Result<(), TableError> {
        let ends = plan.fits_path(&self.path, plan.settings.max_depth)?;
        let leaves = ends.leaves + ends.nodes;
        StateError::unless_equal("number of leaves", self.leaves.len(), leaves)?;
        plan.fit_leaves(self.leaves.iter(), self.path.half_intervals())
    }
}

impl TreePlan {
    fn fits_path(&self, path: &Path, levels: usize) -> Result<Ends, TableError> {
        // Of trees with an estimated interval no state is kept: they need all records at once.
        path.fits(&self.settings.public_box, self.settings.interval_size.largest(), levels)
    }

    fn fit_leaves<'a>(
        &self,
        mut leaves: impl Iterator<Item = &'a Leaf>,
        half_intervals: usize,
    ) -> Result<(), TableError> {
        leaves.try_for_each(|Leaf { cell, noisy_count }| {
            cell.fits(self.settings.public_box.dim(), half_intervals)?;
            let counts = [1.0, CutScore::MAX_COUNT as f64];
            StateError::unless_within("count of a cell", *noisy_count as f64, counts)
        })
    }

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

    /// Asks about as many nodes of the present level as one table may hold.
    pub(super) fn level(&self, growth: &Growth) -> Level {
        let per_pass = (self.settings.counters / growth.path.per_node()).max(1);
        let first = growth.fates.len();
        let nodes = per_pass.min(growth.nodes.len() - first);
        Level { path: growth.path.clone(), first, nodes }
    }

    /// Cuts the nodes that were asked about; the tree, if no cell can be cut or the depth is reached.
    pub(super) fn grow(
        &self,
        mut growth: Growth,
        counted: &Counted,
        draws: &mut Draws<'_>,
    ) -> ControlFlow<Grown, Growth> {
        let minimum = self.minimum(growth.total);
        let level = growth.path.levels.len();
        let first = growth.fates.len();
        let histograms = counted.entries.view().chunks(growth.path.per_node());
        for (number, histogram) in (first..growth.nodes.len()).zip(histograms) {
            let node = &growth.nodes[number];
            let cut = self.cut((level, number), node, histogram, minimum, draws);
            growth.fates.push(if let Some((dimension, cut, children)) = cut {
                let left = small(growth.next.len());
                growth.next.extend(children);
                Fate::Cut { dimension, cut, left }
            } else if self.may_try_again(level, node, minimum) {
                growth.next.push(node.clone());
                Fate::Stay { node: small(growth.next.len() - 1) }
            } else {
                growth.leaves.push(node.clone());
                Fate::Leaf { number: small(growth.leaves.len() - 1) }
            });
        }
        if growth.fates.len() == growth.nodes.len() {
            growth.descend();
        }
        let is_whole = growth.path.levels.len() == self.settings.max_depth;
        if is_whole || growth.nodes.is_empty() {
            ControlFlow::Break(growth.finish())
        } else {
            ControlFlow::Continue(growth)
        }
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
        histogram: CellsRef<'_, i64>,
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
        let chosen = self.cuts[level].release(&scores, draw).expect("there are intervals");
        let dimension = chosen / intervals;
        let cut = 2 * (chosen % intervals) + 1; // the middle of the interval
        let sides: Private<[u64; 2]> = histogram.map(|histogram| {
            let here = &histogram[dimension * half_intervals..][..half_intervals];
            [&here[..cut], &here[cut..]].map(|side| side.iter().sum::<i64>().unsigned_abs())
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
fn cut_scores(histograms: &[i64], half_intervals: usize, score: &NodeScore) -> Vec<i64> {
    let mut scores = Vec::with_capacity(histograms.len() / 2);
    for histogram in histograms.chunks_exact(half_intervals) {
        let mut rank = 0;
        for halves in histogram.chunks_exact(2) {
            let [left, right] = [halves[0], halves[1]].map(i64::unsigned_abs);
            scores.push(score.of(rank + left, left + right));
            rank += left + right;
        }
    }
    scores
}

fn small(n: usize) -> u16 {
    u16::try_from(n).ok().filter(|&n| n < LEAF).expect("at most 2^14 nodes on a level")
}

/// The records in memory as cuts see them, and the node of the present level that each is in.
#[derive(Debug)]
pub(crate) struct Rows {
    bins: Bins,
    node_of: Vec<u16>,
    /// Levels that they have gone down.
    levels: usize,
}

impl Rows {
    /// None if the path has no grid.
    pub(crate) fn new(points: PointsView<'_>, path: &Path) -> Option<Self> {
        let bins = Bins::new(points, &path.grid()?, path.intervals());
        Some(Self { node_of: vec![0; bins.len()], bins, levels: 0 })
    }

    /// Sends every row to its node on the level after this path, of which it has gone the first part before.
    pub(crate) fn follow(&mut self, path: &Path) {
        for fates in path.levels.get(self.levels..).unwrap_or(&[]) {
            self.descend(fates);
        }
        self.levels = path.levels.len();
    }

    /// Sends every row to its node on the next level.
    fn descend(&mut self, fates: &[Fate]) {
        let Self { bins, node_of, .. } = self;
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

    /// The leaf of every row; those of the last level are numbered after those found earlier.
    pub(crate) fn leaves(mut self, path: &Path) -> Vec<u16> {
        self.follow(path);
        let first = path.ends().map_or(0, |ends| small(ends.leaves));
        for node in &mut self.node_of {
            *node = if *node & LEAF == 0 { first + *node } else { *node & !LEAF };
        }
        self.node_of
    }

    /// Per node of `first..first + nodes` and dimension, how many rows lie in each half-interval; in one pass over all rows.
    pub(crate) fn histograms(&self, first: usize, nodes: usize) -> Vec<i64> {
        let Self { bins, node_of, .. } = self;
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
                || vec![0_i64; nodes * per_node],
                |mut sum, counters| {
                    sum.iter_mut().zip(counters).for_each(|(sum, count)| *sum += i64::from(count));
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
