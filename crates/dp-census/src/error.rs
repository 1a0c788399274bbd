use std::fmt;

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
        }
    }
}

impl std::error::Error for CensusError {}
