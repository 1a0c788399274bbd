//! What DPM asks of all records: histograms of the nodes of a level, and the sums of the leaves.

use dp_geometry::PointsView;
use serde::{Deserialize, Serialize};

use super::path::{Path, Walk};
use super::sums::LARGEST_OFFSET;
use crate::passes::{add_up, within};

/// Per node of `first..first + nodes` of the level after a path, and per dimension, how many records lie in each half-interval.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Level {
    pub(crate) path: Path,
    pub(crate) first: usize,
    pub(crate) nodes: usize,
}

impl Level {
    pub(crate) fn entries(&self) -> usize {
        self.nodes.saturating_mul(self.path.per_node())
    }

    pub(crate) fn counter(&self) -> Option<LevelCounter> {
        let walk = Walk::new(&self.path)?;
        let nodes = walk.ends().nodes;
        let fits = self.first.checked_add(self.nodes).is_some_and(|end| end <= nodes);
        fits.then(|| LevelCounter {
            first: self.first,
            nodes: self.nodes,
            half_intervals: self.path.half_intervals(),
            bins: vec![0; self.path.public_box().dim()],
            walk,
        })
    }

    /// A record is in at most one node, and in it once per dimension.
    pub(crate) fn is_possible(&self, rows: u64, entries: &[i64]) -> bool {
        let mut inside = 0_u64;
        for node in entries.chunks(self.path.per_node()) {
            let mut counts = node.chunks(self.path.half_intervals()).map(add_up);
            let Some(Some(here)) = counts.next() else { return false };
            if !counts.all(|count| count == Some(here)) {
                return false;
            }
            inside = inside.saturating_add(here);
        }
        // From the root all records are seen.
        inside <= rows && (!self.path.levels.is_empty() || inside == rows)
    }
}

pub(crate) struct LevelCounter {
    walk: Walk,
    first: usize,
    nodes: usize,
    half_intervals: usize,
    bins: Vec<u32>,
}

impl LevelCounter {
    #[inline]
    pub(crate) fn add(&mut self, row: &[f64], entries: &mut [i64]) {
        self.walk.bins.cells_of(row, &mut self.bins);
        // Leaves have numbers far above those of nodes and drop out here.
        let node = usize::from(self.walk.node(|i| self.bins[i])).wrapping_sub(self.first);
        if node < self.nodes {
            let per_node = self.bins.len() * self.half_intervals;
            let entries =
                entries[node * per_node..][..per_node].chunks_exact_mut(self.half_intervals);
            for (entries, &bin) in entries.zip(&self.bins) {
                entries[bin as usize] += 1;
            }
        }
    }
}

/// Per leaf, the sum of its records' offsets from its middle, in half-cells.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct LeafSums {
    pub(crate) path: Path,
    /// Per leaf and dimension, in half-cells.
    pub(crate) middles: Vec<i64>,
}

impl LeafSums {
    pub(crate) fn counter(&self) -> Option<LeafCounter> {
        let walk = Walk::new(&self.path)?;
        let ends = walk.ends();
        let wanted = (ends.leaves + ends.nodes) * self.path.public_box().dim();
        let fits = self.middles.len() == wanted
            && self.middles.iter().all(|middle| (0..=LARGEST_OFFSET).contains(middle));
        fits.then(|| LeafCounter { walk, middles: self.middles.clone() })
    }

    /// A record is in one leaf, and adds one offset there per dimension.
    pub(crate) fn is_possible(&self, rows: u64, entries: &[i64]) -> bool {
        let dim = self.path.public_box().dim();
        (0..dim).all(|dimension| {
            let sums = entries.iter().skip(dimension).step_by(dim);
            let length = sums.fold(0_u64, |all, sum| all.saturating_add(sum.unsigned_abs()));
            i64::try_from(length).is_ok_and(|length| within(length, rows, LARGEST_OFFSET))
        })
    }
}

pub(crate) struct LeafCounter {
    walk: Walk,
    middles: Vec<i64>,
}

impl LeafCounter {
    #[inline]
    pub(crate) fn add(&self, row: &[f64], entries: &mut [i64]) {
        self.add_to(self.walk.leaf(row), row, entries);
    }

    /// The same for a record whose leaf is known.
    #[inline]
    pub(crate) fn add_to(&self, leaf: usize, row: &[f64], entries: &mut [i64]) {
        let here = leaf * row.len();
        let (entries, middles) = (&mut entries[here..][..row.len()], &self.middles[here..]);
        for (i, (sum, (&x, middle))) in entries.iter_mut().zip(row.iter().zip(middles)).enumerate()
        {
            *sum += 2 * i64::from(self.walk.grid.cell(i, x)) + 1 - middle;
        }
    }

    pub(crate) fn sums(&self, points: PointsView<'_>, leaf_of: &[u16]) -> Vec<i64> {
        let add = |(): &mut (), number: usize, row: &[f64], sums: &mut [i64]| {
            self.add_to(usize::from(leaf_of[number]), row, sums);
        };
        crate::table::sum_rows(points, self.middles.len(), || (), add)
    }
}
