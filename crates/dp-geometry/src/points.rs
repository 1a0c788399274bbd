//! A set of points in one flat row-major buffer.

use std::fmt;
use std::ops::Index;
use std::slice::ChunksExact;

use serde::{Deserialize, Serialize};

use crate::error::GeometryError;

/// Points that own their coordinates.
///
/// Only the shape is checked. The values are **not** inspected: whether a set of points can be
/// built must not depend on private values, so NaN and infinities get in and each algorithm maps
/// them by its own stated rule. `Debug` prints the shape and no coordinate. The serialised form holds
/// all coordinates (and text formats without NaN, such as JSON, cannot give NaN back).
///
/// # Shapes
/// Row-major `(n_points, dim)`; `n_points` may be zero, `dim` may not.
///
/// # Example
/// ```
/// use dp_geometry::Points;
///
/// let points = Points::new(vec![0.0, 1.0, 2.0, 3.0, 4.0, 5.0], 3)?;
/// assert_eq!(points.len(), 2);
/// assert_eq!(&points[1], [3.0, 4.0, 5.0]);
/// assert!(Points::new(vec![0.0, 1.0, 2.0], 2).is_err());
/// # Ok::<(), dp_geometry::GeometryError>(())
/// ```
#[derive(Clone, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "PointsFields")]
pub struct Points {
    coords: Vec<f64>,
    dim: usize,
}

/// The serialised form, before it is checked.
#[derive(Deserialize)]
#[serde(rename = "Points")]
struct PointsFields {
    coords: Vec<f64>,
    dim: usize,
}

impl TryFrom<PointsFields> for Points {
    type Error = GeometryError;

    fn try_from(fields: PointsFields) -> Result<Self, GeometryError> {
        Self::new(fields.coords, fields.dim)
    }
}

impl Points {
    /// Takes over a flat buffer of rows of `dim` coordinates.
    ///
    /// # Errors
    /// [`GeometryError::ZeroDimension`] if `dim` is 0, [`GeometryError::Ragged`] if the length of
    /// the buffer is no multiple of `dim`. Never depends on a coordinate.
    pub fn new(coords: Vec<f64>, dim: usize) -> Result<Self, GeometryError> {
        check_shape(coords.len(), dim)?;
        Ok(Self { coords, dim })
    }

    /// Borrows all points.
    #[inline]
    pub fn view(&self) -> PointsView<'_> {
        PointsView { coords: &self.coords, dim: self.dim }
    }

    /// Number of points.
    #[inline]
    pub fn len(&self) -> usize {
        self.view().len()
    }

    /// Whether there is no point.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.coords.is_empty()
    }

    /// Coordinates per point.
    #[inline]
    pub fn dim(&self) -> usize {
        self.dim
    }

    /// Gives the flat buffer back.
    pub fn into_coords(self) -> Vec<f64> {
        self.coords
    }
}

impl fmt::Debug for Points {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        debug_shape(f, "Points", self.view())
    }
}

/// Borrowed points: what the algorithms take.
///
/// # Shapes
/// Row-major `(n_points, dim)`, as in [`Points`].
///
/// # Example
/// ```
/// use dp_geometry::PointsView;
///
/// let buffer = [1.0, 2.0, 3.0, 4.0];
/// let points = PointsView::new(&buffer, 2)?;
/// let sums: Vec<f64> = points.rows().map(|row| row.iter().sum()).collect();
/// assert_eq!(sums, [3.0, 7.0]);
/// # Ok::<(), dp_geometry::GeometryError>(())
/// ```
#[derive(Clone, Copy)]
pub struct PointsView<'a> {
    coords: &'a [f64],
    dim: usize,
}

impl<'a> PointsView<'a> {
    /// Reads a flat buffer as rows of `dim` coordinates.
    ///
    /// # Errors
    /// As [`Points::new`].
    pub fn new(coords: &'a [f64], dim: usize) -> Result<Self, GeometryError> {
        check_shape(coords.len(), dim)?;
        Ok(Self { coords, dim })
    }

    /// Number of points.
    #[inline]
    pub fn len(&self) -> usize {
        self.coords.len() / self.dim
    }

    /// Whether there is no point.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.coords.is_empty()
    }

    /// Coordinates per point.
    #[inline]
    pub fn dim(&self) -> usize {
        self.dim
    }

    /// The flat buffer.
    #[inline]
    pub fn coords(&self) -> &'a [f64] {
        self.coords
    }

    /// Point `i`; `None` from [`len`](Self::len) on. `points[i]` is for those who know that it is there.
    #[inline]
    pub fn get(&self, i: usize) -> Option<&'a [f64]> {
        let start = i.checked_mul(self.dim)?;
        self.coords.get(start..)?.get(..self.dim)
    }

    /// All points in order.
    #[inline]
    pub fn rows(&self) -> ChunksExact<'a, f64> {
        self.coords.chunks_exact(self.dim)
    }

    /// A copy that owns its coordinates.
    pub fn to_points(&self) -> Points {
        Points { coords: self.coords.to_vec(), dim: self.dim }
    }
}

/// As with a slice, there has to be such a point.
impl Index<usize> for Points {
    type Output = [f64];

    #[inline]
    fn index(&self, i: usize) -> &[f64] {
        &self.coords[i * self.dim..(i + 1) * self.dim]
    }
}

/// As with a slice, there has to be such a point.
impl Index<usize> for PointsView<'_> {
    type Output = [f64];

    #[inline]
    fn index(&self, i: usize) -> &[f64] {
        &self.coords[i * self.dim..(i + 1) * self.dim]
    }
}

impl fmt::Debug for PointsView<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        debug_shape(f, "PointsView", *self)
    }
}

fn check_shape(coordinates: usize, dim: usize) -> Result<(), GeometryError> {
    if dim == 0 {
        return Err(GeometryError::ZeroDimension);
    }
    if !coordinates.is_multiple_of(dim) {
        return Err(GeometryError::Ragged { coordinates, dim });
    }
    Ok(())
}

/// Records may be private, and `Debug` output ends up in logs.
fn debug_shape(f: &mut fmt::Formatter<'_>, name: &str, points: PointsView<'_>) -> fmt::Result {
    f.debug_struct(name)
        .field("len", &points.len())
        .field("dim", &points.dim())
        .finish_non_exhaustive()
}
