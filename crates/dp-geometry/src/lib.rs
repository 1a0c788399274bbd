//! Points, public boxes and balls, fixed-point and nested grids, locality-sensitive hashing.
//!
//! Every algorithm of the workspace that works on vectors shares these shapes. Nothing here adds
//! noise and nothing here makes a privacy claim; what the crate does promise is that **no
//! operation fails or panics because of the value of a record**. A NaN, an infinity or a
//! coordinate outside of the domain is mapped into it by a stated rule, since a crash would be an
//! output too.
//!
//! ```
//! use dp_geometry::{FixedPointGrid, Points, PublicBox};
//!
//! // The domain is an argument. It is never computed from the data.
//! let domain = PublicBox::cube(2, -100.0, 100.0)?;
//! let grid = FixedPointGrid::new(domain, 1 << 12)?;
//!
//! let points = Points::new(vec![-100.0, 0.0, 99.99, f64::NAN], 2)?;
//! let cells: Vec<[u32; 2]> =
//!     points.view().rows().map(|row| [grid.cell(0, row[0]), grid.cell(1, row[1])]).collect();
//! assert_eq!(cells, [[0, 2048], [4095, 2048]]);
//! # Ok::<(), dp_geometry::GeometryError>(())
//! ```
//!
//! # The types
//!
//! | type | what it is |
//! |---|---|
//! | [`Points`], [`PointsView`] | `n_points` rows of `dim` coordinates in one flat buffer |
//! | [`PublicBox`] | a closed axis-parallel box: the declared domain |
//! | [`PublicBall`] | a closed Euclidean ball: the declared domain |
//! | [`FixedPointGrid`] | a box cut into equal cells, so that sums over records are integers |
//! | [`NestedGrid`] | grids inside of each other: integer keys of all levels from one floor per coordinate |
//! | [`lsh`] | keys that near points share, with their collision probabilities: signs, strips, shifted grids |
//! | [`nearest`] | which of some centres is nearest, exactly: all of them at once, or by a k-d tree |
//! | [`Cloud`] | records shared by the corners of their cells, in integers that change slowly with the record |
//!
//! Points, boxes, balls and grids implement serde, and deserialising runs the same checks as the constructor.
//!
//! # Shapes
//!
//! Row-major everywhere: coordinate `j` of point `i` is at `i * dim + j`. A row or a dimension that
//! does not exist is a mistake of the programmer, not of the data, and panics as slices do.
//!
//! # Out of scope
//!
//! Noise, sensitivities, budgets, reading files, distances between sets of points.

#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;

mod cloud;
mod error;
mod grid;
pub mod lsh;
pub mod nearest;
mod nested;
mod points;
mod public_ball;
mod public_box;
mod side;

pub use cloud::Cloud;
pub use error::GeometryError;
pub use grid::FixedPointGrid;
pub use nested::NestedGrid;
pub use points::{Points, PointsView};
pub use public_ball::PublicBall;
pub use public_box::PublicBox;
