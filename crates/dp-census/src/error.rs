use dp_accounting::ParamError;
use dp_mechanism::MechanismError;

use crate::solve::{MAX_VALUE, MAX_WEIGHT};

/// Why a hierarchy, a plan or a solver's input is refused. Carries public settings and shapes only.
///
/// Messages count levels from 1, as receipts do; the fields are indexes, 0 being the root.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum CensusError {
    /// The first region must be the root: it has no parent.
    #[error("region 0 must be the root, without a parent")]
    RootMissing,
    /// A second region without a parent.
    #[error("region {region} has no parent, but only region 0 may")]
    SecondRoot {
        /// Its position.
        region: usize,
    },
    /// The parent of a region comes after it, or is the region itself, or does not exist.
    #[error("the parent {parent} of region {region} must come before it")]
    ParentNotBefore {
        /// The region's position.
        region: usize,
        /// The position given for its parent.
        parent: u32,
    },
    /// The parents of successive regions must not decrease (breadth-first order with siblings together).
    #[error("the parent of region {region} comes before that of region {}: order regions level by level, siblings together", .region.saturating_sub(1))]
    NotBreadthFirst {
        /// The first region out of order.
        region: usize,
    },
    /// All leaves must have the same depth, but this region has no children and is above the lowest level.
    #[error("region {region} has no children although it is above the lowest level")]
    LeafAboveLowestLevel {
        /// Its position.
        region: usize,
    },
    /// A table needs at least one bin.
    #[error("a table needs at least one bin")]
    NoBins,
    /// A table does not have one cell per region and bin.
    #[error("a table of {regions} regions by {bins} bins does not have {cells} cells")]
    TableLength {
        /// Regions of the hierarchy.
        regions: usize,
        /// Bins.
        bins: usize,
        /// Cells given.
        cells: usize,
    },
    /// There is not one weight per level.
    #[error("{levels} levels need as many weights, not {weights}")]
    NumberOfWeights {
        /// Levels of the hierarchy.
        levels: usize,
        /// Weights given.
        weights: usize,
    },
    /// A weight lies outside of 1 to [`MAX_WEIGHT`](crate::solve::MAX_WEIGHT).
    #[error("the weight of level {} must be between 1 and {MAX_WEIGHT}, got {weight}", .level + 1)]
    Weight {
        /// The level it was given for; 0 is the root.
        level: usize,
        /// The weight.
        weight: u32,
    },
    /// A noisy cell is above [`MAX_VALUE`](crate::solve::MAX_VALUE) in absolute value.
    #[error("a noisy cell is above {MAX_VALUE} in absolute value")]
    NoisyCell,
    /// The solver takes hierarchies of at most two levels.
    #[error("the exact integer solver takes at most two levels, not {levels}")]
    NotAStar {
        /// Levels of the hierarchy.
        levels: usize,
    },
    /// A region lies in two others.
    #[error("region `{region}` has two parents")]
    TwoParents {
        /// Its name.
        region: String,
    },
    /// A region lies in something that is not a region.
    #[error("the parent `{parent}` of region `{region}` is not a region")]
    UnknownParent {
        /// Its name.
        region: String,
        /// What it is said to lie in.
        parent: String,
    },
    /// Two regions lie in no other.
    #[error("`{first}` and `{second}` both have no parent, but only one region may")]
    TwoRoots {
        /// One of them.
        first: String,
        /// The other.
        second: String,
    },
    /// Going up from a region never ends.
    #[error("region `{region}` does not lie in the top region: its parents go round in a circle")]
    Circle {
        /// Its name.
        region: String,
    },
    /// A region above the lowest level has no parts.
    #[error("region `{region}` has no parts although it is above the lowest level")]
    NoParts {
        /// Its name.
        region: String,
    },
    /// Not the name of a region of the lowest level.
    #[error("`{region}` is not a region of the lowest level")]
    UnknownRegion {
        /// The name.
        region: String,
    },
    /// A group is said to be in two regions.
    #[error(
        "a group is said to be both in `{first}` and in `{second}`: that of the unit at position {unit} (from 0) of all units, sorted"
    )]
    TwoRegions {
        /// The position of its unit in sorted order, from 0.
        unit: usize,
        /// One of the regions.
        first: String,
        /// The other.
        second: String,
    },
    /// Columns of one relation were read where those of another are wanted.
    #[error("the columns begin at size {got}, expected {expected}")]
    SmallestSize {
        /// The size of their first column.
        got: u32,
        /// The one that is wanted.
        expected: u32,
    },
    /// The entries of a table are not whole rows.
    #[error("the table has {entries} entries, which are no whole rows of {columns}")]
    PartialRow {
        /// Entries of a row.
        columns: usize,
        /// Entries given.
        entries: usize,
    },
    /// A table has another shape than the plan, as (leaf regions, columns).
    #[error("the table has {} leaf regions and {} columns, the plan has {} and {}", .got.0, .got.1, .expected.0, .expected.1)]
    Shape {
        /// That of the plan.
        expected: (usize, usize),
        /// That of the table.
        got: (usize, usize),
    },
    /// A table was made for other regions.
    #[error("the evidence is about another hierarchy than that of the plan")]
    OtherHierarchy,
    /// A table says that there are fewer than no groups of some size.
    #[error("no number of groups may be negative")]
    NegativeCount,
    /// A number of groups is infinite, or none at all.
    #[error("every number of groups must be finite")]
    NotFinite,
    /// More groups than exact sums allow.
    #[error("there must be at most {MAX_VALUE} groups")]
    TooManyGroups,
    /// The table has another number of groups than is public.
    #[error("the table has {got} groups, the public number is {expected}")]
    Groups {
        /// The public number.
        expected: i64,
        /// That of the table, which is the same for all neighbours.
        got: i64,
    },
    /// The table was made of individuals who may bring more than the plan protects.
    #[error(
        "an individual may add up to {got} to a group of the table, the plan protects up to {most}"
    )]
    Quantity {
        /// The most that the plan protects.
        most: u32,
        /// The most that one may bring.
        got: u32,
    },
    /// Not one public number of groups per leaf region.
    #[error("region_groups must have {regions} numbers, one per leaf region, got {got}")]
    NumberOfRegionGroups {
        /// Leaf regions of the hierarchy.
        regions: usize,
        /// Numbers given.
        got: usize,
    },
    /// The public numbers of groups of the leaf regions do not add up to that of all.
    #[error("region_groups must add up to {groups}, the public number of groups, got {got}")]
    SumOfRegionGroups {
        /// The public number of all groups.
        groups: i64,
        /// What they add up to.
        got: i128,
    },
    /// A region has another number of groups than is public.
    #[error("region `{region}` has {got} groups, its public number is {expected}")]
    RegionGroups {
        /// Its name.
        region: String,
        /// The public number.
        expected: i64,
        /// That of the table, which is the same for all neighbours.
        got: i64,
    },
    /// Not one share per level.
    #[error("there must be one share per level, got {shares} for {levels} levels")]
    NumberOfShares {
        /// Levels of the hierarchy.
        levels: usize,
        /// Shares given.
        shares: usize,
    },
    /// A level's share is not above 0, or not finite.
    #[error("the share of level {} must be finite and > 0, got {got}", .level + 1)]
    Share {
        /// The level; 0 is the root.
        level: usize,
        /// The share.
        got: f64,
    },
    /// The shares of the levels do not add up to 1.
    #[error("the shares of the levels must add up to 1, got {got}")]
    SumOfShares {
        /// What they add up to.
        got: f64,
    },
    /// The share of the loss for a question is not above 0, or more than a half.
    #[error("the share of the loss for a question must be above 0 and at most 0.5, got {got}")]
    QuestionShare {
        /// The share.
        got: f64,
    },
    /// The noise of the question cannot be calibrated.
    #[error("noise of the question how unlike regions are: {error}")]
    QuestionNoise {
        /// Why.
        #[source]
        error: MechanismError,
    },
    /// A public number is out of range.
    #[error("{name} must be {want}, got {got}")]
    OutOfRange {
        /// Its name.
        name: &'static str,
        /// Its value.
        got: i128,
        /// What would be accepted.
        want: &'static str,
    },
    /// Two settings that do not go together.
    #[error("{setting} needs {needs}")]
    Conflict {
        /// What was asked for.
        setting: &'static str,
        /// What it needs.
        needs: &'static str,
    },
    /// A privacy parameter is out of range.
    #[error(transparent)]
    Param(#[from] ParamError),
    /// The noise of a level cannot be calibrated.
    #[error("noise of level {}: {error}", .level + 1)]
    Noise {
        /// The level; 0 is the root.
        level: usize,
        /// Why.
        #[source]
        error: MechanismError,
    },
}
