//! The one error type of the crate.

use crate::cloud::Cloud;
use crate::grid::FixedPointGrid;
use crate::lsh::{ShiftedGrids, StableProjections};
use crate::public_ball::PublicBall;
use crate::public_box::PublicBox;

/// Why a shape or a public domain was refused.
///
/// Every field is a shape or a public setting (a bound, a radius, a number of cells). A coordinate
/// of a record never gets in here, because no constructor of this crate looks at one.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum GeometryError {
    /// Points, a box or a ball need at least one dimension.
    #[error("the dimension must be at least 1, got 0")]
    ZeroDimension,
    /// A box has more dimensions than [`PublicBox::MAX_DIM`].
    #[error("the dimension must be at most {}, got {dim}", PublicBox::MAX_DIM)]
    Dimensions {
        /// The dimension that was asked for.
        dim: usize,
    },
    /// The flat buffer cannot be cut into rows of `dim` coordinates.
    #[error("{coordinates} coordinates cannot be cut into rows of {dim}")]
    Ragged {
        /// Length of the flat buffer.
        coordinates: usize,
        /// Coordinates per row that were asked for.
        dim: usize,
    },
    /// The lower and upper bounds of a box have different lengths.
    #[error("a box needs as many upper as lower bounds, got {min} lower, {max} upper")]
    BoundsLength {
        /// Number of lower bounds.
        min: usize,
        /// Number of upper bounds.
        max: usize,
    },
    /// A bound of a box is NaN or infinite.
    #[error("bounds must be finite, got [{min:?}, {max:?}] in dimension {dimension}")]
    NonFiniteBound {
        /// Dimension of the offending bound, from 0.
        dimension: usize,
        /// Lower bound in that dimension.
        min: f64,
        /// Upper bound in that dimension.
        max: f64,
    },
    /// A side of a box has no positive width.
    #[error(
        "the lower bound must be below the upper one, got [{min:?}, {max:?}] in dimension {dimension}"
    )]
    EmptySide {
        /// Dimension of the side, from 0.
        dimension: usize,
        /// Lower bound in that dimension.
        min: f64,
        /// Upper bound in that dimension.
        max: f64,
    },
    /// Both bounds are finite but their difference is not.
    #[error(
        "the width of a side must be finite, but [{min:?}, {max:?}] in dimension {dimension} is wider than {:?}",
        f64::MAX
    )]
    WidthOverflow {
        /// Dimension of the side, from 0.
        dimension: usize,
        /// Lower bound in that dimension.
        min: f64,
        /// Upper bound in that dimension.
        max: f64,
    },
    /// Every width is finite but the length of the diagonal is not.
    #[error(
        "the diagonal of a box must be finite, but these {dim} sides make it longer than {:?}",
        f64::MAX
    )]
    DiagonalOverflow {
        /// Number of dimensions of the box.
        dim: usize,
    },
    /// A coordinate of the public centre of a ball is NaN or infinite.
    #[error("the centre must be finite, got {value:?} in dimension {dimension}")]
    NonFiniteCentre {
        /// Dimension of the coordinate, from 0.
        dimension: usize,
        /// The coordinate.
        value: f64,
    },
    /// The radius lies outside of [`PublicBall::MIN_RADIUS`] to [`PublicBall::MAX_RADIUS`].
    #[error(
        "the radius must lie between {:?} and {:?}, got {radius:?}",
        PublicBall::MIN_RADIUS,
        PublicBall::MAX_RADIUS
    )]
    Radius {
        /// The radius that was asked for.
        radius: f64,
    },
    /// The number of cells lies outside of 1 to [`FixedPointGrid::MAX_CELLS`].
    #[error(
        "the number of cells per dimension must lie between 1 and {}, got {cells}",
        FixedPointGrid::MAX_CELLS
    )]
    Cells {
        /// The number of cells that was asked for.
        cells: u32,
    },
    /// A point has another number of coordinates than the domain.
    #[error("the point has {got} coordinates, the domain has {expected} dimensions")]
    PointLength {
        /// Of the domain.
        expected: usize,
        /// Of the point.
        got: usize,
    },
    /// Cells per unit of length overflow: the side is too narrow to be divided this finely.
    #[error("a side of width {width:?} in dimension {dimension} is too narrow for {cells} cells")]
    CellTooNarrow {
        /// Dimension of the side, from 0.
        dimension: usize,
        /// Width of the side.
        width: f64,
        /// The number of cells that was asked for.
        cells: u32,
    },
    /// Vertices of a grid with more dimensions, levels or vertices than [`Cloud`] takes.
    #[error(
        "(2^{level} + 1)^{dim} vertices: there may be {} dimensions, {} levels and {} vertices at most",
        Cloud::MAX_DIM,
        Cloud::MAX_LEVEL,
        Cloud::MAX_VERTICES
    )]
    Vertices {
        /// Number of dimensions.
        dim: usize,
        /// The level that was asked for: `2^level + 1` vertices per dimension.
        level: u32,
    },
    /// More hash functions than a key has room for.
    #[error("a key has room for {most} projections, got {got}")]
    Projections {
        /// The number that was asked for.
        got: usize,
        /// The most there may be.
        most: usize,
    },
    /// More or longer directions than can be held.
    #[error(
        "{count} directions in {dim} dimensions: there may be {} coordinates in all",
        StableProjections::MAX_COORDINATES
    )]
    Directions {
        /// How many directions were asked for.
        count: usize,
        /// Their dimension.
        dim: usize,
    },
    /// The width of the strips of a hash is not positive and finite, or too small to divide by.
    #[error(
        "the width of strips must be a positive finite number that can be divided by, got {got:?}"
    )]
    Width {
        /// The width that was asked for.
        got: f64,
    },
    /// Shifted grids without a cell, or with more than can be numbered.
    #[error(
        "{shifts} (2^{halvings} + 1)^{dim} cells: there must be at least one, and at most 2^64 - 1 in at most {} grids",
        ShiftedGrids::MAX_SHIFTS
    )]
    GridCells {
        /// Number of dimensions.
        dim: usize,
        /// Number of grids.
        shifts: usize,
        /// The width of the box is two to this power cells.
        halvings: u32,
    },
}

impl GeometryError {
    /// Refuses a point with another number of coordinates than there are dimensions.
    pub(crate) fn unless_in(expected: usize, point: &[f64]) -> Result<(), Self> {
        let got = point.len();
        if got == expected { Ok(()) } else { Err(Self::PointLength { expected, got }) }
    }
}
