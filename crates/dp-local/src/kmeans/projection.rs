//! Where cells lie: in the box itself, or on public random projections to four dimensions if there are more than five.

use dp_geometry::{GeometryError, PublicBox};

use crate::PublicCoins;
use crate::codebook::normal;

/// Dimensions of a projection.
pub(super) const GRID_DIM: usize = 4;

/// Cells reach so far along each axis of a projection of the cube `[-1, 1]^d`: three standard deviations of a uniform point. What is
/// beyond belongs to the outermost cells.
const REACH: f64 = 1.75;

/// Whether there are too many dimensions for cells of their own.
pub(super) fn is_needed(dim: usize) -> bool {
    dim > GRID_DIM + 1
}

/// How many axes the histogram has.
pub(super) fn grid_dim(dim: usize) -> usize {
    if is_needed(dim) { GRID_DIM } else { dim }
}

/// The box that is cut into cells.
pub(super) fn grid_box(public_box: &PublicBox) -> Result<PublicBox, GeometryError> {
    if is_needed(public_box.dim()) {
        PublicBox::cube(GRID_DIM, -REACH, REACH)
    } else {
        Ok(public_box.clone())
    }
}

/// Which clusters clients belong to, as seen on a projection.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Anchors {
    /// The number of the projection.
    pub(super) projection: u8,
    /// `(k, 4)`, row-major.
    pub(super) places: Vec<f64>,
}

/// Four orthonormal directions in the cube that the box is scaled to.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Projection {
    public_box: PublicBox,
    /// `(4, dim)`, row-major.
    rows: Vec<f64>,
}

impl Projection {
    pub(super) fn new(public_box: PublicBox, coins: PublicCoins) -> Self {
        let dim = public_box.dim();
        let mut rows: Vec<f64> = Vec::with_capacity(GRID_DIM * dim);
        for row in 0..GRID_DIM {
            let mut next: Vec<f64> =
                (0..dim).map(|j| normal(coins.of(row as u64), j as u64)).collect();
            // Twice, against rounding.
            for _ in 0..2 {
                for earlier in rows.chunks_exact(dim) {
                    let along: f64 = earlier.iter().zip(&next).map(|(a, b)| a * b).sum();
                    next.iter_mut().zip(earlier).for_each(|(x, a)| *x -= along * a);
                }
                let length = next.iter().map(|x| x * x).sum::<f64>().sqrt();
                for x in &mut next {
                    *x /= length;
                }
            }
            rows.extend(next);
        }
        Self { public_box, rows }
    }

    /// A point of the box on the projection.
    pub(super) fn of(&self, point: &[f64]) -> Vec<f64> {
        let unit =
            |j: usize, x: f64| (x - self.public_box.middle(j)) / (0.5 * self.public_box.width(j));
        let along = |row: &[f64]| {
            row.iter().zip(point).enumerate().map(|(j, (a, &x))| a * unit(j, x)).sum()
        };
        self.rows.chunks_exact(self.public_box.dim()).map(along).collect()
    }

    /// The point of the box that projects there and is nearest to its middle.
    pub(super) fn lifted(&self, on: &[f64]) -> Vec<f64> {
        let dim = self.public_box.dim();
        let coordinate = |j: usize| {
            let unit: f64 = on.iter().enumerate().map(|(i, y)| y * self.rows[i * dim + j]).sum();
            let x = self.public_box.middle(j) + unit * 0.5 * self.public_box.width(j);
            self.public_box.clip_coordinate(j, x)
        };
        (0..dim).map(coordinate).collect()
    }

    /// How far points may lie from the lifted ones: what is typical of uniform points.
    pub(super) fn typical_distance(&self) -> f64 {
        let dim = self.public_box.dim() as f64;
        0.35 * self.public_box.diagonal() * ((dim - GRID_DIM as f64) / dim).sqrt()
    }
}
