use std::fmt;

use crate::solve::{MAX_LEVELS, MAX_VALUE, MAX_WEIGHT};
use dp_accounting::ParamError;
use dp_mechanism::MechanismError;

/// Why a hierarchy, a plan or a solver's input is refused. Carries public settings and shapes only.
///
/// Messages count levels from 1, as receipts do; the fields are indexes, 0 being the root.
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
    /// Plans and solvers take at most [`MAX_LEVELS`](crate::solve::MAX_LEVELS) levels.
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
        /// The level it was given for; 0 is the root.
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
    /// A region lies in two others.
    TwoParents {
        /// Its name.
        region: String,
    },
    /// A region lies in something that is not a region.
    UnknownParent {
        /// Its name.
        region: String,
        /// What it is said to lie in.
        parent: String,
    },
    /// Two regions lie in no other.
    TwoRoots {
        /// One of them.
        first: String,
        /// The other.
        second: String,
    },
    /// Going up from a region never ends.
    Circle {
        /// Its name.
        region: String,
    },
    /// A region above the lowest level has no parts.
    NoParts {
        /// Its name.
        region: String,
    },
    /// Not the name of a region of the lowest level.
    UnknownRegion {
        /// The name.
        region: String,
    },
    /// A group is said to be in two regions.
    TwoRegions {
        /// The position of its unit in sorted order, from 0.
        unit: usize,
        /// One of the regions.
        first: String,
        /// The other.
        second: String,
    },
    /// The largest size is out of range.
    LargestSize {
        /// The size that was asked for.
        got: u32,
        /// The least that leaves two columns.
        least: u32,
    },
    /// Columns of one relation were read where those of another are wanted.
    SmallestSize {
        /// The size of their first column.
        got: u32,
        /// The one that is wanted.
        expected: u32,
    },
    /// The entries of a table are not whole rows.
    PartialRow {
        /// Entries of a row.
        columns: usize,
        /// Entries given.
        entries: usize,
    },
    /// A table has another shape than the plan, as (leaf regions, columns).
    Shape {
        /// That of the plan.
        expected: (usize, usize),
        /// That of the table.
        got: (usize, usize),
    },
    /// A table says that there are fewer than no groups of some size.
    NegativeCount,
    /// A number of groups is infinite, or none at all.
    NotFinite,
    /// More groups than exact sums allow.
    TooManyGroups,
    /// The table has another number of groups than is public.
    Groups {
        /// The public number.
        expected: i64,
        /// That of the table, which is the same for all neighbours.
        got: i64,
    },
    /// The table was made of individuals who may bring more than the plan protects.
    Quantity {
        /// The most that the plan protects.
        most: u32,
        /// The most that one may bring.
        got: u32,
    },
    /// Not one public number of groups per leaf region.
    NumberOfRegionGroups {
        /// Leaf regions of the hierarchy.
        regions: usize,
        /// Numbers given.
        got: usize,
    },
    /// The public numbers of groups of the leaf regions do not add up to that of all.
    SumOfRegionGroups {
        /// The public number of all groups.
        groups: i64,
        /// What they add up to.
        got: i128,
    },
    /// A region has another number of groups than is public.
    RegionGroups {
        /// Its name.
        region: String,
        /// The public number.
        expected: i64,
        /// That of the table, which is the same for all neighbours.
        got: i64,
    },
    /// Not one share per level.
    NumberOfShares {
        /// Levels of the hierarchy.
        levels: usize,
        /// Shares given.
        shares: usize,
    },
    /// A level's share is not above 0, or not finite.
    Share {
        /// The level; 0 is the root.
        level: usize,
        /// The share.
        got: f64,
    },
    /// The shares of the levels do not add up to 1.
    SumOfShares {
        /// What they add up to.
        got: f64,
    },
    /// A public setting is out of range.
    Setting {
        /// Its name.
        name: &'static str,
        /// Its value.
        got: i64,
        /// What would be accepted.
        want: &'static str,
    },
    /// Two settings that do not go together.
    Conflict {
        /// What was asked for.
        setting: &'static str,
        /// What it needs.
        needs: &'static str,
    },
    /// A privacy parameter is out of range.
    Param(ParamError),
    /// The noise of a level cannot be calibrated.
    Noise {
        /// The level; 0 is the root.
        level: usize,
        /// Why.
        error: MechanismError,
    },
}

impl fmt::Display for CensusError {
    #[expect(clippy::too_many_lines, reason = "one arm per message")]
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
                write!(
                    f,
                    "plans and solvers take at most {MAX_LEVELS} levels, the hierarchy has {levels}"
                )
            }
            Self::NoBins => write!(f, "a table needs at least one bin"),
            Self::TableLength { regions, bins, cells } => {
                write!(f, "a table of {regions} regions by {bins} bins does not have {cells} cells")
            }
            Self::NumberOfWeights { levels, weights } => {
                write!(f, "{levels} levels need as many weights, not {weights}")
            }
            Self::Weight { level, weight } => {
                write!(
                    f,
                    "the weight of level {} must be 1 to {MAX_WEIGHT}, not {weight}",
                    level + 1
                )
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
            Self::TwoParents { ref region } => write!(f, "region `{region}` has two parents"),
            Self::UnknownParent { ref region, ref parent } => {
                write!(f, "the parent `{parent}` of region `{region}` is not a region")
            }
            Self::TwoRoots { ref first, ref second } => {
                write!(f, "`{first}` and `{second}` both have no parent, but only one region may")
            }
            Self::Circle { ref region } => write!(
                f,
                "region `{region}` does not lie in the top region: its parents go round in a circle"
            ),
            Self::NoParts { ref region } => {
                write!(f, "region `{region}` has no parts although it is above the lowest level")
            }
            Self::UnknownRegion { ref region } => {
                write!(f, "`{region}` is not a region of the lowest level")
            }
            Self::TwoRegions { unit, ref first, ref second } => write!(
                f,
                "a group is said to be both in `{first}` and in `{second}`: that of the unit at position {unit} (from 0) of all units, sorted"
            ),
            Self::LargestSize { got, least } => write!(
                f,
                "the largest size must be between {least} and {}, got {got}",
                (1 << 24) - 1
            ),
            Self::SmallestSize { got, expected } => {
                write!(f, "the columns begin at size {got}, expected {expected}")
            }
            Self::PartialRow { columns, entries } => {
                write!(f, "the table has {entries} entries, which are no whole rows of {columns}")
            }
            Self::Shape { expected, got } => write!(
                f,
                "the table has {} leaf regions and {} columns, the plan has {} and {}",
                got.0, got.1, expected.0, expected.1
            ),
            Self::NegativeCount => write!(f, "no number of groups may be negative"),
            Self::NotFinite => write!(f, "every number of groups must be finite"),
            Self::TooManyGroups => {
                write!(f, "there must be at most {MAX_VALUE} groups")
            }
            Self::Groups { expected, got } => {
                write!(f, "the table has {got} groups, the public number is {expected}")
            }
            Self::Quantity { most, got } => write!(
                f,
                "an individual may add up to {got} to a group of the table, the plan protects up to {most}"
            ),
            Self::NumberOfRegionGroups { regions, got } => {
                write!(
                    f,
                    "region_groups must have {regions} numbers, one per leaf region, got {got}"
                )
            }
            Self::SumOfRegionGroups { groups, got } => write!(
                f,
                "region_groups must add up to {groups}, the public number of groups, got {got}"
            ),
            Self::RegionGroups { ref region, expected, got } => {
                write!(f, "region `{region}` has {got} groups, its public number is {expected}")
            }
            Self::NumberOfShares { levels, shares } => {
                write!(f, "there must be one share per level, got {shares} for {levels} levels")
            }
            Self::Share { level, got } => {
                write!(f, "the share of level {} must be finite and > 0, got {got}", level + 1)
            }
            Self::SumOfShares { got } => {
                write!(f, "the shares of the levels must add up to 1, got {got}")
            }
            Self::Setting { name, got, want } => write!(f, "{name} must be {want}, got {got}"),
            Self::Conflict { setting, needs } => write!(f, "{setting} needs {needs}"),
            Self::Param(ref error) => error.fmt(f),
            Self::Noise { level, error } => write!(f, "noise of level {}: {error}", level + 1),
        }
    }
}

impl std::error::Error for CensusError {}

impl From<ParamError> for CensusError {
    fn from(error: ParamError) -> Self {
        Self::Param(error)
    }
}
