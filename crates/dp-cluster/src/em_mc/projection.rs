//! Few dimensions for the choices.

use dp_geometry::PublicBox;
use dp_geometry::lsh::normal_directions;

use crate::public_coins::{Purpose, public_generator};
use crate::sized_sum::{box_radius, box_residual};

/// Maps a record to a few coordinates within public half-widths around zero: a function of that
/// record and of public numbers.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Projection {
    public_box: PublicBox,
    /// `(dim, projected)`; `None` if there are few dimensions already.
    matrix: Option<Vec<f64>>,
    half_widths: Vec<f64>,
}

impl Projection {
    /// Independent normal entries of variance `1 / projected` keep squared lengths on average. A
    /// coordinate of a record at distance `r` from the middle has standard deviation
    /// `r / sqrt(projected)`; what is beyond two of them for the corners is moved to the end, and
    /// hardly any record is that far out.
    pub(super) fn new(public_box: &PublicBox, projected: usize, public_seed: u64) -> Self {
        let (public_box, dim) = (public_box.clone(), public_box.dim());
        if dim <= projected {
            let half_widths = (0..dim).map(|i| 0.5 * public_box.width(i)).collect();
            return Self { public_box, matrix: None, half_widths };
        }
        let mut rng = public_generator(public_seed, Purpose::Projection);
        let scale = (projected as f64).sqrt();
        let matrix = normal_directions(dim, projected, &mut rng);
        let matrix = matrix.into_iter().map(|x| x / scale).collect();
        let half_widths = vec![2.0 * box_radius(&public_box) / scale; projected];
        Self { public_box, matrix: Some(matrix), half_widths }
    }

    pub(super) fn half_widths(&self) -> &[f64] {
        &self.half_widths
    }

    /// Number of dimensions to which it projects.
    pub(super) fn dim(&self) -> usize {
        self.half_widths.len()
    }

    /// Whether coordinates are those of the records, relative to the middle of the box.
    pub(super) fn is_identity(&self) -> bool {
        self.matrix.is_none()
    }

    /// `residual` receives the record relative to the middle of the box, `out` its projection.
    pub(super) fn project(&self, row: &[f64], residual: &mut [f64], out: &mut [f64]) {
        box_residual(&self.public_box, row, residual);
        let Some(matrix) = &self.matrix else {
            out.copy_from_slice(residual);
            return;
        };
        out.fill(0.0);
        for (r, column) in residual.iter().zip(matrix.chunks_exact(out.len())) {
            for (sum, entry) in out.iter_mut().zip(column) {
                *sum += r * entry;
            }
        }
        for (x, half) in out.iter_mut().zip(&self.half_widths) {
            *x = x.clamp(-half, *half);
        }
    }
}
