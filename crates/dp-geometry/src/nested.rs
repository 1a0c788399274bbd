//! Grids inside of each other over one public box, with integer keys.

use serde::{Deserialize, Serialize};

use crate::error::GeometryError;
use crate::public_box::PublicBox;
use crate::side::{Side, part_of};

/// A [`PublicBox`] cut into `2^level` cells per dimension, for every level at once: equal ones, or [finer ones in a part](Self::finer_in).
///
/// A record is turned into integers once: [`positions`](Self::positions) takes one floor per coordinate, at a resolution far below the
/// finest cell. Keys of all levels follow by shifts, so a cell of one level lies in exactly one cell of the level above; floors taken
/// level by level would disagree at borders.
///
/// # Shapes
/// Equal cells: cell `c` of dimension `i` at a level covers `[min + c w, min + (c + 1) w)` with `w = width / 2^level`, up to rounding of the edges; the
/// last cell includes `max`.
///
/// # Bad records
/// As for [`FixedPointGrid`](crate::FixedPointGrid): a coordinate outside goes to the nearest bound, NaN to the middle of its side. Moving
/// outside coordinates to the bounds takes no two records further apart.
///
/// # Example
/// ```
/// use dp_geometry::{NestedGrid, PublicBox};
///
/// let grid = NestedGrid::new(PublicBox::cube(2, 0.0, 8.0)?)?;
/// let (mut positions, mut key) = ([0; 2], [0; 2]);
/// grid.positions(&[3.0, 8.0], &mut positions);
/// grid.key(&positions, 3, &mut key);
/// assert_eq!(key, [3, 7]);
/// grid.key(&positions, 2, &mut key);
/// assert_eq!(key, [3 >> 1, 7 >> 1]);
/// # Ok::<(), dp_geometry::GeometryError>(())
/// ```
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "NestedFields")]
pub struct NestedGrid {
    public_box: PublicBox,
    /// Where cells are finer, if they are not the same everywhere.
    finer: Option<PublicBox>,
    /// All that `positions` reads.
    #[serde(skip)]
    sides: Vec<Side>,
}

/// The serialised form, before it is checked.
#[derive(Deserialize)]
#[serde(rename = "NestedGrid")]
struct NestedFields {
    public_box: PublicBox,
    #[serde(default)]
    finer: Option<PublicBox>,
}

impl TryFrom<NestedFields> for NestedGrid {
    type Error = GeometryError;

    fn try_from(fields: NestedFields) -> Result<Self, GeometryError> {
        match fields.finer {
            None => Self::new(fields.public_box),
            Some(finer) => Self::finer_in(fields.public_box, finer),
        }
    }
}

impl NestedGrid {
    /// The finest level: its keys fit in 32 bits.
    pub const MAX_LEVEL: u32 = 31;

    /// A position is a number of `2^-46` of a side: 128 times coarser than what `f64` resolves within a box, so that its rounding moves a
    /// record by less than two positions.
    pub const POSITION_BITS: u32 = 46;

    /// Grids over this box.
    ///
    /// # Errors
    /// [`GeometryError::CellTooNarrow`] if positions per unit of length overflow.
    pub fn new(public_box: PublicBox) -> Result<Self, GeometryError> {
        let side = |i| Side::new(i, public_box.min(i), public_box.max(i));
        let sides = (0..public_box.dim()).map(side).collect::<Result<_, _>>()?;
        Ok(Self { public_box, finer: None, sides })
    }

    /// Grids over a box whose cells are finer in a part of it: along each dimension, seven eighths of the cells of a level or more are there, and those beyond are
    /// the wider the further away they are, so that few of them reach to the ends of a side, however long it is. A dimension in which `finer` and
    /// the box have no length in common is divided as by [`new`](Self::new).
    ///
    /// # Errors
    /// [`GeometryError::BoundsLength`] for boxes of different dimensions, and [`GeometryError::CellTooNarrow`] if positions per unit of length overflow.
    pub fn finer_in(public_box: PublicBox, finer: PublicBox) -> Result<Self, GeometryError> {
        if finer.dim() != public_box.dim() {
            return Err(GeometryError::BoundsLength { min: public_box.dim(), max: finer.dim() });
        }
        let parts = (0..public_box.dim()).map(|i| part_of(&public_box, &finer, i));
        let parts: Vec<[f64; 2]> = parts.collect();
        let side = |(i, &[from, to]): (usize, &[f64; 2])| {
            Side::finer_between(i, [public_box.min(i), from, to, public_box.max(i)])
        };
        let sides = parts.iter().enumerate().map(side).collect::<Result<_, _>>()?;
        let [min, max] = [0, 1].map(|end| parts.iter().map(|part| part[end]).collect());
        let finer = PublicBox::new(min, max).unwrap_or(finer);
        Ok(Self { public_box, finer: Some(finer), sides })
    }

    /// The part of the box where cells are finer, if any is: to the end of a side, where the one given ended within a 32nd of its width of it.
    pub fn finer(&self) -> Option<&PublicBox> {
        self.finer.as_ref()
    }

    /// The box that is divided.
    pub fn public_box(&self) -> &PublicBox {
        &self.public_box
    }

    /// Number of dimensions.
    pub fn dim(&self) -> usize {
        self.sides.len()
    }

    /// Where a record is, from 0 at the lower bounds to `2^46` at the upper ones: one floor per coordinate.
    ///
    /// # Panics
    /// If `point` or `out` does not have `dim()` entries.
    #[inline]
    pub fn positions(&self, point: &[f64], out: &mut [u64]) {
        assert_eq!(point.len(), self.dim(), "a point must have as many coordinates as the grid");
        assert_eq!(out.len(), self.dim(), "one position per dimension is written");
        for ((out, &x), side) in out.iter_mut().zip(point).zip(&self.sides) {
            *out = side.position(x);
        }
    }

    /// The cell of a record at a level, dimension by dimension: positions without their last bits.
    ///
    /// # Panics
    /// If `level` is above [`MAX_LEVEL`](Self::MAX_LEVEL), or lengths differ from `dim()`.
    #[inline]
    pub fn key(&self, positions: &[u64], level: u32, out: &mut [u32]) {
        assert!(level <= Self::MAX_LEVEL, "there is no level {level}");
        assert_eq!((positions.len(), out.len()), (self.dim(), self.dim()), "one per dimension");
        for (key, &position) in out.iter_mut().zip(positions) {
            *key = cell_of(position, level);
        }
    }

    /// Cells of a level per unit of length in dimension `i`, where they are finest: `2^level / width`, if they are the same everywhere.
    pub fn cells_per_unit(&self, i: usize, level: u32) -> f64 {
        match self.finer {
            None => cells(level) / self.public_box.width(i),
            Some(_) => cells(level) * (self.sides[i].most_per_unit() / cells(Self::POSITION_BITS)),
        }
    }

    /// The middle of a cell.
    ///
    /// # Panics
    /// If lengths differ from `dim()`.
    pub fn middle(&self, key: &[u32], level: u32) -> Vec<f64> {
        assert_eq!(key.len(), self.dim(), "one key per dimension");
        key.iter().enumerate().map(|(i, &k)| self.place(i, f64::from(k) + 0.5, level)).collect()
    }

    /// The coordinate that is so many cells of a level from the lower bound, clipped to the box.
    pub(crate) fn place(&self, i: usize, cells_from_min: f64, level: u32) -> f64 {
        let share = cells_from_min / cells(level);
        let x = match self.finer {
            None => self.public_box.min(i) + share * self.public_box.width(i),
            Some(_) => self.sides[i].coordinate(share * (1_u64 << Self::POSITION_BITS) as f64),
        };
        self.public_box.clip_coordinate(i, x)
    }
}

/// Of a level, per dimension: any power of two that is a number, so that no level is too fine to ask about.
fn cells(level: u32) -> f64 {
    2.0_f64.powi(i32::try_from(level).unwrap_or(i32::MAX))
}

/// The cell of a position; the upper bound belongs to the last one.
#[inline]
pub(crate) fn cell_of(position: u64, level: u32) -> u32 {
    let cell = position >> (NestedGrid::POSITION_BITS - level);
    #[expect(clippy::cast_possible_truncation, reason = "at most 2^31")]
    let cell = cell as u32;
    cell.min((1 << level) - 1)
}
