//! Finite metrics: public distances between public places, as integers.

mod dense;
mod error;
mod graph;
mod kd_tree;
mod points;
#[cfg(test)]
mod tests;

pub use error::MetricError;
pub use graph::Edge;
pub(super) use kd_tree::KdTree;

use crate::Sizes;

/// A finite metric with distances on a grid of integer steps. Public.
///
/// Private sums of distances are sums of integers, so that no rounding depends on the data. One step
/// is [`unit`](Self::unit) in the units of the caller.
///
/// | constructor | kept | memory |
/// |---|---|---|
/// | [`from_f64`](Self::from_f64), [`from_graph`](Self::from_graph) | all distances | 2 or 4 bytes each |
/// | [`from_points`](Self::from_points), fewer than 20,000 points | all distances | 2 bytes each |
/// | [`from_points`](Self::from_points), more | coordinates in a kd-tree | 8 bytes per coordinate |
#[derive(Clone, Debug, PartialEq)]
pub struct Metric {
    nodes: usize,
    unit: f64,
    /// The largest distance in steps, at least 1 so that it can be divided by.
    diameter: u32,
    centre: u32,
    radius: u32,
    storage: Storage,
    sizes: Sizes,
}

/// Where distances come from.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Storage {
    /// Row-major.
    Short(Vec<u16>),
    /// Row-major, at most [`Width::Bits24`].
    Long(Vec<u32>),
    /// Computed when asked for.
    Points(KdTree),
}

/// How finely distances are resolved.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Width {
    /// 65,535 steps across the diameter, 2 bytes per distance.
    Bits16,
    /// 16,777,215 steps across the diameter, 4 bytes per distance.
    Bits24,
}

impl Width {
    const fn steps(self) -> u32 {
        match self {
            Self::Bits16 => 0xffff,
            Self::Bits24 => 0xff_ffff,
        }
    }
}

impl Metric {
    /// Most nodes: ids are `u32`.
    pub const MAX_NODES: usize = 1 << 31;

    /// How many nodes there are; their ids are `0..nodes`.
    pub fn nodes(&self) -> usize {
        self.nodes
    }

    /// The length of one step, in the units of the caller.
    pub fn unit(&self) -> f64 {
        self.unit
    }

    /// A bound on all distances, in steps, at least 1; attained if all distances are kept.
    pub fn diameter(&self) -> u32 {
        self.diameter
    }

    /// A node in the middle, and the largest distance to it in steps. Where all distances are kept,
    /// no node has a smaller one (the first such node counts); else it is the node nearest to the
    /// middle of the points' bounding box.
    pub fn centre(&self) -> (u32, u32) {
        (self.centre, self.radius)
    }

    /// The distance in steps; `None` if one of them is no node.
    pub fn distance(&self, a: u32, b: u32) -> Option<u32> {
        let known = [a, b].iter().all(|&node| (node as usize) < self.nodes);
        known.then(|| self.between(a, b))
    }

    /// The distance in steps of two that are nodes.
    pub(crate) fn between(&self, a: u32, b: u32) -> u32 {
        let (a, b) = (a as usize, b as usize);
        match &self.storage {
            Storage::Short(all) => all[a * self.nodes + b].into(),
            Storage::Long(all) => all[a * self.nodes + b],
            Storage::Points(tree) => tree.distance(a, b),
        }
    }

    /// Distances from one node to those listed, in steps.
    pub(super) fn fill(&self, from: u32, to: &[u32], out: &mut Vec<u32>) {
        out.clear();
        let start = from as usize * self.nodes;
        match &self.storage {
            Storage::Short(all) => {
                let row = &all[start..start + self.nodes];
                out.extend(to.iter().map(|&node| u32::from(row[node as usize])));
            }
            Storage::Long(all) => {
                let row = &all[start..start + self.nodes];
                out.extend(to.iter().map(|&node| row[node as usize]));
            }
            Storage::Points(tree) => {
                out.extend(to.iter().map(|&node| tree.distance(from as usize, node as usize)));
            }
        }
    }

    pub(super) fn storage(&self) -> &Storage {
        &self.storage
    }

    pub(super) fn sizes(&self) -> Sizes {
        self.sizes
    }

    /// The same distances, computed with in other ways from other sizes on, for audits.
    #[doc(hidden)]
    #[must_use]
    pub fn with_sizes(self, sizes: Sizes) -> Self {
        let storage = match self.storage {
            Storage::Points(tree) => Storage::Points(tree.with_leaves(sizes.leaf)),
            kept => kept,
        };
        Self { storage, sizes, ..self }
    }
}
