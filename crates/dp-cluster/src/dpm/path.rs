//! Which node of a released tree a record is in.

use dp_geometry::{FixedPointGrid, PublicBox};
use dp_mechanism::passes::{StateError, TableError};
use serde::{Deserialize, Serialize};

use super::Dpm;
use super::bins::cells_per_dimension;
use crate::passes::is_there;

/// Marks the node number of a row as that of a leaf.
pub(super) const LEAF: u16 = 1 << 15;

/// What becomes of a node of one level.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum Fate {
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

/// The released cuts from the root on: of each finished level, what became of its nodes.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Path {
    public_box: PublicBox,
    intervals: usize,
    pub(crate) levels: Vec<Vec<Fate>>,
}

/// What the last level of a path leads to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Ends {
    /// Leaves of finished levels, numbered from 0.
    pub(crate) leaves: usize,
    /// Nodes of the level after them.
    pub(crate) nodes: usize,
}

impl Path {
    pub(super) fn new(public_box: PublicBox, intervals: usize) -> Self {
        Self { public_box, intervals, levels: Vec::new() }
    }

    pub(crate) fn public_box(&self) -> &PublicBox {
        &self.public_box
    }

    pub(super) fn intervals(&self) -> usize {
        self.intervals
    }

    pub(crate) fn half_intervals(&self) -> usize {
        2 * self.intervals
    }

    /// Entries of the histograms of one node.
    pub(super) fn per_node(&self) -> usize {
        self.public_box.dim() * self.half_intervals()
    }

    /// None if there is none.
    pub(super) fn grid(&self) -> Option<FixedPointGrid> {
        if !(2..=Dpm::MAX_INTERVALS).contains(&self.intervals) {
            return None;
        }
        FixedPointGrid::new(self.public_box.clone(), cells_per_dimension(self.intervals)).ok()
    }

    /// None if levels do not follow from each other: what came from bytes may be anything.
    pub(crate) fn ends(&self) -> Option<Ends> {
        let mut ends = Ends { leaves: 0, nodes: 1 };
        for fates in &self.levels {
            if fates.len() != ends.nodes {
                return None;
            }
            ends = ends.after(fates, self.public_box.dim())?;
        }
        (ends.leaves + ends.nodes <= usize::from(LEAF)).then_some(ends)
    }

    /// That it is one of a plan with this box and so many intervals, and has at most so many levels.
    pub(super) fn fits(
        &self,
        public_box: &PublicBox,
        intervals: usize,
        levels: usize,
    ) -> Result<Ends, TableError> {
        is_there("the box of the plan", self.public_box == *public_box)?;
        StateError::unless_equal("number of intervals", self.intervals, intervals)?;
        let depth = self.levels.len() as f64;
        StateError::unless_within("number of levels", depth, [0.0, levels as f64])?;
        let ends = self.ends();
        is_there("levels that follow from each other", ends.is_some())?;
        Ok(ends.unwrap_or(Ends { leaves: 0, nodes: 0 }))
    }
}

impl Ends {
    /// After so many nodes of the level that it leads to: leaves so far, and nodes of the next level.
    pub(super) fn after(self, fates: &[Fate], dim: usize) -> Option<Self> {
        let mut ends = Self { nodes: 0, ..self };
        for fate in fates {
            let (number, next) = match *fate {
                Fate::Leaf { number } => (number, &mut ends.leaves),
                Fate::Stay { node } => (node, &mut ends.nodes),
                Fate::Cut { left, .. } => (left, &mut ends.nodes),
            };
            if usize::from(number) != *next {
                return None;
            }
            *next += 1;
            if let Fate::Cut { dimension, .. } = fate {
                ends.nodes += 1;
                if *dimension >= dim {
                    return None;
                }
            }
        }
        Some(ends)
    }
}

/// A path with its grid.
#[derive(Debug)]
pub(crate) struct Walk {
    path: Path,
    pub(super) grid: FixedPointGrid,
    /// The half-intervals as cells. There is a power of two of the grid's in each, so a coordinate is here where its cell of the grid is, bit for bit.
    pub(super) bins: FixedPointGrid,
    ends: Ends,
}

impl Walk {
    pub(crate) fn new(path: &Path) -> Option<Self> {
        let (grid, ends) = (path.grid()?, path.ends()?);
        let half_intervals = u32::try_from(path.half_intervals()).ok()?;
        let bins = FixedPointGrid::new(path.public_box.clone(), half_intervals).ok()?;
        Some(Self { path: path.clone(), grid, bins, ends })
    }

    pub(crate) fn ends(&self) -> Ends {
        self.ends
    }

    /// Of the grid, per dimension.
    pub(crate) fn cells(&self) -> u32 {
        self.grid.cells()
    }

    /// Cells of the grid in a half-interval.
    pub(crate) fn cells_per_bin(&self) -> u32 {
        self.grid.cells() / self.bins.cells()
    }

    /// The node of the level after the last finished one, or a leaf marked as such.
    #[inline]
    pub(super) fn node(&self, bin: impl Fn(usize) -> u32) -> u16 {
        let mut node = 0;
        for fates in &self.path.levels {
            node = match fates[usize::from(node)] {
                Fate::Leaf { number } => return LEAF | number,
                Fate::Stay { node } => node,
                Fate::Cut { dimension, cut, left } => {
                    left + u16::from(bin(dimension) >= u32::from(cut))
                }
            };
        }
        node
    }

    /// The leaf of a row, if the last level is made of leaves, numbered after those found earlier.
    #[inline]
    pub(crate) fn leaf(&self, row: &[f64]) -> usize {
        let node = self.node(|i| self.bins.cell(i, row[i]));
        if node & LEAF == 0 {
            self.ends.leaves + usize::from(node)
        } else {
            usize::from(node & !LEAF)
        }
    }
}
