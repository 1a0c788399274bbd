//! Randomly shifted grids, and the numbers of their cells.

use rand::{Rng, RngExt};

use crate::error::GeometryError;
use crate::public_box::check_side;

/// Some randomly shifted grids with cells of the same size, over the box `[-h, h]` around the origin. All their cells are numbered together.
///
/// Two points share their cell in one grid with probability `prod_i max(0, 1 - abs(x_i - y_i) / side_i)`, never if they are farther apart
/// than a side in any dimension.
///
/// # Bad records
/// A coordinate outside of the box is in the first or last cell of its dimension, NaN in the first; one that is missing counts as zero.
///
/// # Example
/// ```
/// use dp_geometry::lsh::ShiftedGrids;
/// use rand::SeedableRng;
///
/// let mut coins = rand::rngs::ChaCha20Rng::seed_from_u64(1); // public
/// let grids = ShiftedGrids::new(vec![8.0, 8.0], 3, 2, &mut coins)?;
/// let mut cells = [0; 3];
/// grids.cells(&[7.9, -7.9], &mut cells);
/// let middle = grids.middle(cells[0]);
/// assert!((middle[0] - 7.9).abs() <= 4.0 && (middle[1] + 7.9).abs() <= 4.0);
/// # Ok::<(), dp_geometry::GeometryError>(())
/// ```
///
/// # Source
/// Har-Peled and Mazumdar, On coresets for k-means and k-median clustering (2004); as hashes, Andoni and Indyk (2006).
#[derive(Clone, Debug, PartialEq)]
pub struct ShiftedGrids {
    half_widths: Vec<f64>,
    shifts: usize,
    /// Cells per dimension that meet the box, in every grid: one more than its width holds.
    cells: u64,
    /// Cells of one grid.
    cells_per_grid: u64,
    /// How far the first cell begins before the box, in cells: one number in `[0, 1)` per grid and dimension.
    offsets: Vec<f64>,
}

impl ShiftedGrids {
    /// The most grids.
    pub const MAX_SHIFTS: usize = 1 << 16;

    /// `shifts` grids in which the width of the box is `2^halvings` cells.
    ///
    /// # Errors
    /// [`GeometryError::ZeroDimension`] without a half-width; [`GeometryError::EmptySide`] or [`GeometryError::NonFiniteBound`] if one is
    /// not positive and finite; [`GeometryError::GridCells`] if the number of cells does not fit in an integer, or is zero.
    pub fn new<R: Rng + ?Sized>(
        half_widths: Vec<f64>,
        shifts: usize,
        halvings: u32,
        rng: &mut R,
    ) -> Result<Self, GeometryError> {
        let dim = half_widths.len();
        if dim == 0 {
            return Err(GeometryError::ZeroDimension);
        }
        for (dimension, &half) in half_widths.iter().enumerate() {
            check_side(dimension, -half, half)?;
        }
        let all = Self::cells_of(dim, shifts, halvings);
        let Some(all) = all.filter(|cells| *cells > 0 && shifts <= Self::MAX_SHIFTS) else {
            return Err(GeometryError::GridCells { dim, shifts, halvings });
        };
        let offsets = (0..shifts * dim).map(|_| rng.random()).collect();
        let (cells, cells_per_grid) = ((1 << halvings) + 1, all / shifts as u64);
        Ok(Self { half_widths, shifts, cells, cells_per_grid, offsets })
    }

    /// How many cells such grids have, `shifts (2^halvings + 1)^dim`, if that fits in an integer.
    pub fn cells_of(dim: usize, shifts: usize, halvings: u32) -> Option<u64> {
        let cells = 1_u64.checked_shl(halvings)?.checked_add(1)?;
        cells.checked_pow(u32::try_from(dim).ok()?)?.checked_mul(shifts as u64)
    }

    /// How many grids there are.
    pub fn shifts(&self) -> usize {
        self.shifts
    }

    /// The number of all cells.
    pub fn len(&self) -> u64 {
        self.cells_per_grid * self.shifts as u64
    }

    /// Whether there is no cell, which is never.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Writes the cells that hold a point, one per grid.
    pub fn cells(&self, point: &[f64], out: &mut [u64]) {
        let dim = self.half_widths.len();
        let divisions = (self.cells - 1) as f64;
        for (grid, (cell, offsets)) in (0..).zip(out.iter_mut().zip(self.offsets.chunks_exact(dim)))
        {
            let coordinates = point.iter().chain(std::iter::repeat(&0.0));
            let mut number = 0;
            for ((half, offset), x) in self.half_widths.iter().zip(offsets).zip(coordinates) {
                // From -half..half to 0..1, in cells, moved by the shift; a point outside counts as one of the border.
                let position = f64::midpoint(x / half, 1.0) * divisions + offset;
                #[allow(
                    clippy::cast_possible_truncation,
                    clippy::cast_sign_loss,
                    reason = "the saturating cast is the clamp"
                )]
                let along = (position as u64).min(self.cells - 1);
                number = number * self.cells + along;
            }
            *cell = grid * self.cells_per_grid + number;
        }
    }

    /// The middle of a cell, moved into the box; of the last one if there is no such cell.
    pub fn middle(&self, cell: u64) -> Vec<f64> {
        let dim = self.half_widths.len();
        let divisions = (self.cells - 1) as f64;
        let cell = cell.min(self.len() - 1);
        let grid = usize::try_from(cell / self.cells_per_grid).expect("one of the grids");
        let mut number = cell % self.cells_per_grid;
        let mut middle = vec![0.0; dim];
        for i in (0..dim).rev() {
            let (along, half) = ((number % self.cells) as f64, self.half_widths[i]);
            number /= self.cells;
            // The last digit of the number is the last axis; the way back from `cells`.
            let position = (along + 0.5 - self.offsets[grid * dim + i]) / divisions;
            middle[i] = ((2.0 * position - 1.0) * half).clamp(-half, half);
        }
        middle
    }

    /// How likely two points of the box with these distances per dimension are in the same cell of a grid, over its shift.
    pub fn collision_probability(&self, distances: &[f64]) -> f64 {
        let sides = self.half_widths.iter().map(|half| 2.0 * half / (self.cells - 1) as f64);
        distances.iter().zip(sides).map(|(t, side)| (1.0 - t.abs() / side).max(0.0)).product()
    }
}
