//! On which side of every hyperplane each record lies.

use dp_geometry::{PointsView, PublicBall};
use rand::SeedableRng;
use rand::rngs::ChaCha20Rng;
use rayon::prelude::*;

use crate::public_directions::normal_directions;

/// Hyperplanes per block: eight running sums are four registers of the oldest 64-bit machines.
const LANES: usize = 8;

/// Rows per parallel task.
const CHUNK: usize = 1024;

/// Hyperplanes through the centre of the ball, one per level, shared by all parts of that level.
pub(super) struct Hyperplanes {
    /// `(blocks, dim)` groups of [`LANES`] normal vectors' coordinates; unused lanes are zero.
    lanes: Vec<[f64; LANES]>,
    depth: usize,
}

impl Hyperplanes {
    pub(super) fn new(dim: usize, depth: usize, public_seed: u64) -> Self {
        let mut rng = ChaCha20Rng::seed_from_u64(public_seed);
        let normals = normal_directions(depth, dim, &mut rng);
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
        let mut codes = vec![0; points.len()];
        codes.par_chunks_mut(CHUNK).zip(points.coords().par_chunks(CHUNK * dim)).for_each(
            |(codes, rows)| {
                let mut residuals = Residuals::new(ball);
                for (code, row) in codes.iter_mut().zip(rows.chunks_exact(dim)) {
                    *code = self.code(residuals.of(row));
                }
            },
        );
        codes
    }

    fn code(&self, residual: &[f64]) -> u32 {
        let mut code = 0;
        for (b, block) in self.lanes.chunks_exact(residual.len()).enumerate() {
            let mut sums = [0.0; LANES];
            for (x, group) in residual.iter().zip(block) {
                for (sum, normal) in sums.iter_mut().zip(group) {
                    *sum += x * normal;
                }
            }
            for (lane, sum) in sums.iter().enumerate().take(self.depth - b * LANES) {
                code |= u32::from(*sum > 0.0) << (b * LANES + lane);
            }
        }
        code
    }
}

/// Records relative to the centre of the ball, inside of it whatever they were.
pub(super) struct Residuals<'a> {
    ball: &'a PublicBall,
    /// At most this squared, a computed length is below the radius beyond doubt.
    surely_inside: f64,
    residual: Vec<f64>,
    clipped: Vec<f64>,
}

impl<'a> Residuals<'a> {
    pub(super) fn new(ball: &'a PublicBall) -> Self {
        // A sum of dim rounded squares is off by less than dim + 3 units.
        let slack = (ball.dim() as f64 + 16.0) * f64::EPSILON;
        let surely_inside = ball.radius() * ball.radius() * (1.0 - 2.0 * slack);
        Self { ball, surely_inside, residual: vec![0.0; ball.dim()], clipped: Vec::new() }
    }

    /// `x - centre` after clipping `x` to the ball, where NaN becomes the centre's coordinate.
    pub(super) fn of(&mut self, row: &[f64]) -> &[f64] {
        // A false comparison, as with NaN or an overflow, takes the careful way.
        if !(self.subtract(row) <= self.surely_inside) {
            let mut clipped = std::mem::take(&mut self.clipped);
            clipped.clear();
            clipped.extend_from_slice(row);
            self.ball.clip(&mut clipped);
            self.subtract(&clipped);
            self.clipped = clipped;
        }
        &self.residual
    }

    /// Returns the squared length, summed over eight lanes.
    fn subtract(&mut self, row: &[f64]) -> f64 {
        for (r, (x, c)) in self.residual.iter_mut().zip(row.iter().zip(self.ball.centre())) {
            *r = x - c;
        }
        let (groups, rest) = self.residual.as_chunks::<LANES>();
        let mut lanes = [0.0; LANES];
        for group in groups {
            for (sum, r) in lanes.iter_mut().zip(group) {
                *sum += r * r;
            }
        }
        lanes.iter().sum::<f64>() + rest.iter().map(|r| r * r).sum::<f64>()
    }
}
