//! On which side of every hyperplane each record lies.

use dp_geometry::{PointsView, PublicBall};
use rayon::prelude::*;

use crate::public_directions::{Purpose, normal_directions, public_generator};
use crate::sized_sum::InBall;
use crate::table::rows_per_task;

/// Hyperplanes per block: eight running sums are four registers of the oldest 64-bit machines.
const LANES: usize = 8;

/// Hyperplanes through the centre of the ball, one per level, shared by all parts of that level.
pub(crate) struct Hyperplanes {
    /// `(blocks, dim)` groups of [`LANES`] normal vectors' coordinates; unused lanes are zero.
    lanes: Vec<[f64; LANES]>,
    depth: usize,
}

impl Hyperplanes {
    pub(super) fn new(dim: usize, depth: usize, public_seed: u64) -> Self {
        let mut rng = public_generator(public_seed, Purpose::Hyperplanes);
        Self::orthogonal_to(&normal_directions(depth, dim, &mut rng), dim)
    }

    /// One hyperplane through the centre per normal vector; these are row-major, `(planes, dim)`.
    pub(crate) fn orthogonal_to(normals: &[f64], dim: usize) -> Self {
        let depth = normals.len() / dim;
        let mut lanes = vec![[0.0; LANES]; depth.div_ceil(LANES) * dim];
        for (level, normal) in normals.chunks_exact(dim).enumerate() {
            let block = &mut lanes[level / LANES * dim..][..dim];
            for (group, &x) in block.iter_mut().zip(normal) {
                group[level % LANES] = x;
            }
        }
        Self { lanes, depth }
    }

    /// Bit `i` says whether the record is on the positive side of hyperplane `i`: a function of that
    /// record and of public numbers. Records outside of the ball are clipped to it first.
    pub(super) fn codes(&self, points: PointsView<'_>, ball: &PublicBall) -> Vec<u32> {
        let dim = points.dim();
        let (in_ball, mut codes) = (InBall::new(ball), vec![0; points.len()]);
        let rows = rows_per_task(points.len());
        codes.par_chunks_mut(rows).zip(points.coords().par_chunks(rows * dim)).for_each(
            |(codes, rows)| {
                let mut residual = vec![0.0; dim];
                for (code, row) in codes.iter_mut().zip(rows.chunks_exact(dim)) {
                    in_ball.residual(row, &mut residual);
                    *code = self.code(&residual, self.depth);
                }
            },
        );
        codes
    }

    /// Bit `i` says whether the residual is on the positive side of hyperplane `i`, for the first `depth` of them.
    #[inline]
    pub(crate) fn code(&self, residual: &[f64], depth: usize) -> u32 {
        let mut code = 0;
        let blocks = self.lanes.chunks_exact(residual.len()).take(depth.div_ceil(LANES));
        for (b, block) in blocks.enumerate() {
            let mut sums = [0.0; LANES];
            for (x, group) in residual.iter().zip(block) {
                for (sum, normal) in sums.iter_mut().zip(group) {
                    *sum += x * normal;
                }
            }
            for (lane, sum) in sums.iter().enumerate().take(depth - b * LANES) {
                code |= u32::from(*sum > 0.0) << (b * LANES + lane);
            }
        }
        code
    }
}
