//! A box cut into equal cells, so that what is summed over records is an integer.

use serde::{Deserialize, Serialize};

use crate::error::GeometryError;
use crate::public_box::PublicBox;

/// A [`PublicBox`] divided into the same number of equal cells in every dimension.
///
/// [`cell`](Self::cell) maps one coordinate of one record to a cell by a deterministic `f64`
/// function of that coordinate and public settings. From there on everything that combines records
/// can be integer arithmetic, which has no rounding, no order of summation and no gaps for noise to
/// reveal. [`coordinate`](Self::coordinate) goes back, for what has been released.
///
/// # Shapes
/// Cell `c` of dimension `i` covers `[min + c w, min + (c + 1) w)` with `w = width / cells`, up to
/// rounding of the edges; the last cell includes `max`.
///
/// # Precision
/// The edges are those of the `f64` expression `(x - min) * (cells / width)`: they can be off by a
/// few units in the last place, but the map is monotone in `x`, and the same for every record.
/// If the box is so far from the origin that neighbouring numbers are further apart than a cell,
/// some cells stay empty.
///
/// # Example
/// ```
/// use dp_geometry::{FixedPointGrid, PublicBox};
///
/// let grid = FixedPointGrid::new(PublicBox::cube(1, 0.0, 8.0)?, 4)?;
/// assert_eq!(grid.cell(0, 3.0), 1);
/// assert_eq!(grid.coordinate(0, 1.5), 3.0); // the middle of cell 1
/// # Ok::<(), dp_geometry::GeometryError>(())
/// ```
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "GridFields")]
pub struct FixedPointGrid {
    public_box: PublicBox,
    cells: u32,
    /// Per dimension the lower bound and the cells per unit of length: all that `cell` reads.
    #[serde(skip)]
    axes: Vec<Axis>,
}

#[derive(Clone, Copy, Debug, PartialEq)]
struct Axis {
    min: f64,
    cells_per_unit: f64,
}

/// The serialised form, before it is checked.
#[derive(Deserialize)]
#[serde(rename = "FixedPointGrid")]
struct GridFields {
    public_box: PublicBox,
    cells: u32,
}

impl TryFrom<GridFields> for FixedPointGrid {
    type Error = GeometryError;

    fn try_from(fields: GridFields) -> Result<Self, GeometryError> {
        Self::new(fields.public_box, fields.cells)
    }
}

impl FixedPointGrid {
    /// Most cells per dimension. The offset of a cell fits in 24 bits, so `2^39` of them add up
    /// in an `i64`; and a cell of the unit box is still `2^29` times wider than the spacing of `f64`
    /// numbers there.
    pub const MAX_CELLS: u32 = 1 << 24;

    /// Divides `public_box` into `cells` cells per dimension.
    ///
    /// # Errors
    /// [`GeometryError::Cells`] unless `1 <= cells <= MAX_CELLS`;
    /// [`GeometryError::CellTooNarrow`] if `cells / width` overflows.
    pub fn new(public_box: PublicBox, cells: u32) -> Result<Self, GeometryError> {
        if !(1..=Self::MAX_CELLS).contains(&cells) {
            return Err(GeometryError::Cells { cells });
        }
        let axes = (0..public_box.dim())
            .map(|dimension| {
                let width = public_box.width(dimension);
                let cells_per_unit = f64::from(cells) / width;
                if cells_per_unit.is_infinite() {
                    return Err(GeometryError::CellTooNarrow { dimension, width, cells });
                }
                Ok(Axis { min: public_box.min(dimension), cells_per_unit })
            })
            .collect::<Result<_, _>>()?;
        Ok(Self { public_box, cells, axes })
    }

    /// The cell of one coordinate.
    ///
    /// The rule is total: `floor((x - min) * cells / width)`, clamped to `0..=cells - 1`; an
    /// infinity goes to the nearest end, NaN goes to cell `cells / 2`. Clipping a number to the box
    /// first changes nothing.
    ///
    /// # Complexity
    /// `O(1)`: a subtraction, a product, a conversion.
    ///
    /// # Panics
    /// If `dimension >= dim()`.
    #[inline]
    pub fn cell(&self, dimension: usize, x: f64) -> u32 {
        cell_of(self.axes[dimension], self.cells, x)
    }

    /// The cells of all coordinates of a point.
    ///
    /// # Panics
    /// If `point` or `out` does not have `dim()` entries.
    #[inline]
    pub fn cells_of(&self, point: &[f64], out: &mut [u32]) {
        assert_eq!(point.len(), self.dim(), "a point must have as many coordinates as the grid");
        assert_eq!(out.len(), self.dim(), "one cell per dimension is written");
        for ((cell, &x), &axis) in out.iter_mut().zip(point).zip(&self.axes) {
            *cell = cell_of(axis, self.cells, x);
        }
    }

    /// A position counted in cells from the lower bound, in data units again.
    ///
    /// `0.0` is the lower bound, `0.5` the middle of the first cell, `cells` the upper bound. A
    /// position off the grid (a noisy mean, say) gives a coordinate off the box, and NaN gives NaN:
    /// this is arithmetic on what has been released, and clipping it is the caller's choice.
    ///
    /// # Panics
    /// If `dimension >= dim()`.
    #[inline]
    pub fn coordinate(&self, dimension: usize, cells_from_min: f64) -> f64 {
        let share = cells_from_min / f64::from(self.cells);
        self.public_box.min(dimension) + share * self.public_box.width(dimension)
    }

    /// Width of a cell in data units.
    ///
    /// # Panics
    /// If `dimension >= dim()`.
    #[inline]
    pub fn cell_width(&self, dimension: usize) -> f64 {
        self.public_box.width(dimension) / f64::from(self.cells)
    }

    /// The box that is divided.
    #[inline]
    pub fn public_box(&self) -> &PublicBox {
        &self.public_box
    }

    /// Cells per dimension.
    #[inline]
    pub fn cells(&self) -> u32 {
        self.cells
    }

    /// Number of dimensions.
    #[inline]
    pub fn dim(&self) -> usize {
        self.axes.len()
    }
}

#[inline]
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "the saturating cast is the clamp: negative to 0, large to u32::MAX, towards zero"
)]
fn cell_of(axis: Axis, cells: u32, x: f64) -> u32 {
    // NaN only if `x` is: `min` is finite, and `cells_per_unit` is finite and not zero.
    let position = (x - axis.min) * axis.cells_per_unit;
    if position.is_nan() { cells / 2 } else { (position as u32).min(cells - 1) }
}
