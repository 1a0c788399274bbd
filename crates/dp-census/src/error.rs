use std::fmt;

use crate::solve::{MAX_LEVELS, MAX_VALUE, MAX_WEIGHT};

/// Why a hierarchy, a plan or a solver's input is refused. Carries public settings and shapes only.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum CensusError {
    /// A hierarchy has at least one region and at most `u32::MAX - 1`.
    NumberOfRegions {
        /// How many were given.
        regions: usize,
    },
    /// The first region must be the root: it has no parent.
    RootMissing,
    /// A second region without a parent.
    SecondRoot {
        /// Its position.
        region: usize,
    },
    /// The parent of a region comes after it, or is the region itself, or does not exist.
    ParentNotBefore {
        /// The region's position.
        region: usize,
        /// The position given for its parent.
        parent: u32,
    },
    /// The parents of successive regions must not decrease (breadth-first order with siblings together).
    NotBreadthFirst {
        /// The first region out of order.
        region: usize,
    },
    /// All leaves must have the same depth, but this region has no children and is above the lowest level.
    LeafAboveLowestLevel {
        /// Its position.
        region: usize,
    },
    /// The solvers take at most [`MAX_LEVELS`](crate::solve::MAX_LEVELS) levels.
    NumberOfLevels {
        /// How many the hierarchy has.
        levels: usize,
    },
    /// A table needs at least one bin.
    NoBins,
    /// A table does not have one cell per region and bin.
    TableLength {
        /// Regions of the hierarchy.
        regions: usize,
        /// Bins.
        bins: usize,
        /// Cells given.
        cells: usize,
    },
    /// There is not one weight per level.
    NumberOfWeights {
        /// Levels of the hierarchy.
        levels: usize,
        /// Weights given.
        weights: usize,
    },
    /// A weight lies outside of 1 to [`MAX_WEIGHT`](crate::solve::MAX_WEIGHT).
    Weight {
        /// The level it was given for.
        level: usize,
        /// The weight.
        weight: u32,
    },
    /// The number of groups lies outside of 0 to [`MAX_VALUE`](crate::solve::MAX_VALUE).
    NumberOfGroups {
        /// The number given.
        groups: i64,
    },
    /// A noisy cell is above [`MAX_VALUE`](crate::solve::MAX_VALUE) in absolute value.
    NoisyCell,
    /// The solver takes hierarchies of at most two levels.
    NotAStar {
        /// Levels of the hierarchy.
        levels: usize,
    },
}

impl fmt::Display for CensusError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Self::NumberOfRegions { regions } => {
                write!(f, "a hierarchy has 1 to {} regions, not {regions}", u32::MAX - 1)
            }
            Self::RootMissing => write!(f, "region 0 must be the root, without a parent"),
            Self::SecondRoot { region } => {
                write!(f, "region {region} has no parent, but only region 0 may")
            }
            Self::ParentNotBefore { region, parent } => {
                write!(f, "the parent {parent} of region {region} must come before it")
            }
            Self::NotBreadthFirst { region } => write!(
                f,
                "the parent of region {region} comes before that of region {}: order regions level by level, siblings together",
                region.saturating_sub(1)
            ),
            Self::LeafAboveLowestLevel { region } => {
                write!(f, "region {region} has no children although it is above the lowest level")
            }
            Self::NumberOfLevels { levels } => {
                write!(f, "the solvers take at most {MAX_LEVELS} levels, not {levels}")
            }
            Self::NoBins => write!(f, "a table needs at least one bin"),
            Self::TableLength { regions, bins, cells } => {
                write!(f, "a table of {regions} regions by {bins} bins does not have {cells} cells")
            }
            Self::NumberOfWeights { levels, weights } => {
                write!(f, "{levels} levels need as many weights, not {weights}")
            }
            Self::Weight { level, weight } => {
                write!(f, "the weight of level {level} must be 1 to {MAX_WEIGHT}, not {weight}")
            }
            Self::NumberOfGroups { groups } => {
                write!(f, "the number of groups must be 0 to {MAX_VALUE}, not {groups}")
            }
            Self::NoisyCell => {
                write!(f, "a noisy cell is above {MAX_VALUE} in absolute value")
            }
            Self::NotAStar { levels } => {
                write!(f, "the exact integer solver takes at most two levels, not {levels}")
            }
        }
    }
}

impl std::error::Error for CensusError {}
