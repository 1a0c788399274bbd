//! Cloud-in-cell: a record shared by the corners of its cell, in integers.

use crate::error::GeometryError;
use crate::nested::{NestedGrid, cell_of};

/// The corners of the cells of one level of a [`NestedGrid`], over which records are spread.
///
/// A record's share of a corner falls linearly with the distance along every axis, `prod_a max(0, 1 - |x_a - v_a| / g_a)` with the spacing
/// `g_a`, so it changes slowly with the record where a cell's count would jump at its border. Shares are integers in units of
/// `1 / `[`UNITS`](Self::UNITS), at least zero, and exactly [`UNITS`](Self::UNITS) together; what rounding leaves goes to the lowest corner.
///
/// # Sensitivity
/// Between two records, the vector of all shares changes by a squared length of at most
/// - `UNITS^2` if one comes or goes, and twice that if one is replaced: shares are not negative and have a fixed sum;
/// - `(UNITS s rho + slack)^2` if one moves by at most `rho`, where `s` is [`slope`](Self::slope), at equal spacing `sqrt(d + 1) / g`.
///
/// For the last, take fractions `f_a` of the cell, `t_a = 2 f_a - 1`, `s_a = (1 + t_a^2) / 2`. The derivatives of the shares have the Gram
/// matrix with entries `2 prod_(b != a) s_b` and `t_a t_b prod_(c != a, b) s_c`, none above those of `I + 1 1^T`, its value at the
/// corners. A matrix with no negative entry has no smaller largest eigenvalue than one of smaller absolute values, so `s^2` is that of
/// `D (I + 1 1^T) D`, `D` the diagonal of `1 / g_a`. Shares are continuous from cell to cell, so the bound holds along the way of the record.
///
/// # Source
/// Weights as in particle methods (Birdsall and Fuss, 1969); the sensitivity is ours.
#[derive(Clone, Debug, PartialEq)]
pub struct Cloud {
    grid: NestedGrid,
    level: u32,
    /// What a step along each axis adds to the number of a vertex, last axis fastest.
    strides: Vec<usize>,
    vertices: usize,
}

/// Fractions of a cell have this many bits.
const FRACTION_BITS: u32 = Cloud::FRACTION_BITS;

impl Cloud {
    /// A share is a product of fractions of a cell with so many bits, cut off to so many after each axis.
    pub const FRACTION_BITS: u32 = 30;

    /// What the shares of a record add up to.
    pub const UNITS: u64 = 1 << 24;

    /// Most dimensions: a record has `2^d` corners.
    pub const MAX_DIM: usize = 8;

    /// The finest level.
    pub const MAX_LEVEL: u32 = 16;

    /// Most vertices.
    pub const MAX_VERTICES: usize = 1 << 24;

    /// The vertices of one level.
    ///
    /// # Errors
    /// [`GeometryError::Vertices`] if there are more dimensions, levels or vertices than the limits above.
    pub fn new(grid: &NestedGrid, level: u32) -> Result<Self, GeometryError> {
        let dim = grid.dim();
        let vertices = Self::vertices_of(dim, level);
        let Some(vertices) = vertices else {
            return Err(GeometryError::Vertices { dim, level });
        };
        let per_axis = (1_usize << level) + 1;
        let mut strides = vec![1; dim];
        for i in (0..dim - 1).rev() {
            strides[i] = strides[i + 1] * per_axis;
        }
        Ok(Self { grid: grid.clone(), level, strides, vertices })
    }

    /// `(2^level + 1)^dim`, if that is within the limits.
    pub fn vertices_of(dim: usize, level: u32) -> Option<usize> {
        if dim > Self::MAX_DIM || level > Self::MAX_LEVEL {
            return None;
        }
        let per_axis = (1_usize << level) + 1;
        let all = per_axis.checked_pow(u32::try_from(dim).ok()?)?;
        (all <= Self::MAX_VERTICES).then_some(all)
    }

    /// Number of vertices, `(2^level + 1)^d`.
    pub fn vertices(&self) -> usize {
        self.vertices
    }

    /// The level of the grid.
    pub fn level(&self) -> u32 {
        self.level
    }

    /// The coordinates of all vertices, row after row, last axis fastest.
    pub fn places(&self) -> Vec<f64> {
        let per_axis = (1_usize << self.level) + 1;
        let mut places = Vec::with_capacity(self.vertices * self.strides.len());
        for vertex in 0..self.vertices {
            for (i, stride) in self.strides.iter().enumerate() {
                places.push(self.grid.place(i, (vertex / stride % per_axis) as f64, self.level));
            }
        }
        places
    }

    /// Adds the shares of the record with these [positions](NestedGrid::positions) to `sums`, one entry per vertex.
    ///
    /// # Panics
    /// If lengths differ.
    #[inline]
    pub fn add(&self, positions: &[u64], sums: &mut [i64]) {
        assert_eq!(positions.len(), self.strides.len(), "one position per dimension");
        assert_eq!(sums.len(), self.vertices, "one sum per vertex");
        match positions.len() {
            1 => self.add_to::<2>(positions, sums),
            2 => self.add_to::<4>(positions, sums),
            3 => self.add_to::<8>(positions, sums),
            _ => self.add_to::<{ 1 << Self::MAX_DIM }>(positions, sums),
        }
    }

    /// The same with room for so many corners.
    #[inline]
    fn add_to<const CORNERS: usize>(&self, positions: &[u64], sums: &mut [i64]) {
        // The corners so far, and their shares in units of 2^-30; axis by axis each becomes two.
        let mut corners = [(0_usize, 0_u64); CORNERS];
        let mut lowest = 0;
        let mut len = 1;
        corners[0] = (0, 1 << FRACTION_BITS);
        for (&position, &stride) in positions.iter().zip(&self.strides) {
            let cell = cell_of(position, self.level);
            let shift = NestedGrid::POSITION_BITS - self.level;
            // At most 2^30, which is reached at the upper bound of the box alone.
            let fraction = (position - (u64::from(cell) << shift)) >> (shift - FRACTION_BITS);
            lowest += cell as usize * stride;
            for i in 0..len {
                let (offset, share) = corners[i];
                corners[i + len] = (offset + stride, (share * fraction) >> FRACTION_BITS);
                corners[i].1 = (share * ((1 << FRACTION_BITS) - fraction)) >> FRACTION_BITS;
            }
            len *= 2;
        }
        // Whatever was cut off above, and everything that is not given to others, stays at the lowest corner: the shares of a
        // record add up to `UNITS`, exactly.
        let mut rest = Self::UNITS;
        for &(offset, share) in &corners[1..len] {
            let share = share >> (FRACTION_BITS - Self::UNITS.trailing_zeros());
            rest -= share;
            sums[lowest + offset] += share.cast_signed();
        }
        sums[lowest] += rest.cast_signed();
    }

    /// How fast the vector of shares changes with the record: at most so much length per unit of distance.
    ///
    /// Rounded up: of the products of a positive vector with the matrix, the largest ratio of entries is above the largest eigenvalue.
    pub fn slope(&self) -> f64 {
        let per_unit: Vec<f64> =
            (0..self.grid.dim()).map(|i| self.grid.cells_per_unit(i, self.level)).collect();
        let widest = per_unit.iter().fold(0.0, |most: f64, v| most.max(*v));
        // By the largest entry, so that squares neither overflow nor vanish.
        let v: Vec<f64> = per_unit.iter().map(|v| (v / widest).max(1e-9)).collect();
        let times = |x: &[f64]| -> Vec<f64> {
            let along: f64 = v.iter().zip(x).map(|(v, x)| v * x).sum();
            v.iter().zip(x).map(|(v, x)| v * v * x + v * along).collect()
        };
        // The matrix diag(v^2) + v v^T has positive entries. For such a matrix A and any positive x, the largest ratio (A x)_i / x_i
        // is at least its largest eigenvalue (Collatz, Wielandt): every round is a bound, and power iteration makes it tight.
        let mut x = v.clone();
        let mut most = f64::INFINITY;
        for _ in 0..64 {
            let y = times(&x);
            most = y.iter().zip(&x).fold(0.0, |most: f64, (y, x)| most.max(y / x)).min(most);
            let scale = y.iter().sum::<f64>();
            // An entry that vanished would divide by zero; a larger one is a valid vector, too.
            x = y.iter().map(|y| (y / scale).max(1e-12)).collect();
        }
        widest * most.sqrt() * (1.0 + 1e-12)
    }

    /// What rounding to positions, fractions and units can add to the length of a change.
    ///
    /// Positions of two records are off by less than 2 more than their distance, fractions by `2^-30`: together below `2^-28` of a cell in
    /// every dimension. Shares are rounded down by less than `1 + d / 64` units, and the lowest corner gets what that leaves, at most
    /// `2^d` times as much; twice, since there are two records.
    pub fn slack(&self) -> f64 {
        let d = self.grid.dim() as f64;
        let cells = Self::UNITS as f64 / f64::from(1 << 28);
        cells * (d * (d + 1.0)).sqrt() + 2.0 * d.exp2() * (1.0 + d / 64.0)
    }
}
