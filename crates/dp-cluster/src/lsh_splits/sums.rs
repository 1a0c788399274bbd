//! The leaves' noisy sums and sizes.

use dp_geometry::{Points, PointsView, PublicBall};
use dp_mechanism::Draws;
use rayon::prelude::*;

use super::codes::Residuals;
use super::tree::Tree;
use super::{Form, LshSplits};
use crate::coreset::PrivateCoreset;

/// Units of the fixed-point grid per radius.
const UNITS: i64 = 1 << 22;

/// What one record adds to a sum: its residual in units, rounded towards zero, and its weight.
///
/// A residual has length at most `radius (1 + 2^-40)`, so its rounded version has a squared length
/// below `UNITS^2 + 2^6`, and adding this slack bounds it whatever was rounded on the way.
fn length_squared(size_units: i64) -> u64 {
    (UNITS * UNITS + 64 + size_units * size_units).unsigned_abs()
}

impl LshSplits {
    /// Sums residuals per leaf, adds noise to every leaf, empty or not, and divides by the noisy size.
    pub(super) fn coreset(
        &self,
        points: PointsView<'_>,
        tree: &Tree,
        draws: &mut dyn Draws,
    ) -> PrivateCoreset {
        let (ball, dim) = (&self.settings.public_ball, points.dim());
        let size_units = self.size_units();
        let mut sums = sum(points, ball, tree, size_units);
        let (mut coords, mut weights) = (Vec::new(), Vec::new());
        let mut largest = (f64::NEG_INFINITY, Vec::new());
        for (sum, &count) in sums.chunks_exact_mut(dim + 1).zip(&tree.noisy_counts) {
            // As published, the size is a count of the tree and the sum is released alone.
            let (size, sum) = if self.settings.form == Form::Published {
                self.primitives.sums.release(&mut sum[..dim], length_squared(0), draws);
                (count as f64, &sum[..dim])
            } else {
                self.primitives.sums.release(sum, length_squared(size_units), draws);
                (sum[dim] as f64 / size_units as f64, &sum[..dim])
            };
            let weight = size.max(1.0);
            let mut centre: Vec<f64> = sum
                .iter()
                .zip(ball.centre())
                .map(|(&s, &c)| c + s as f64 / weight / UNITS as f64 * ball.radius())
                .collect();
            ball.clip(&mut centre);
            if size > largest.0 {
                largest = (size, centre.clone());
            }
            // A leaf that turns out to hold next to nothing would put its noise anywhere.
            if self.settings.form == Form::Published || size >= 0.5 * tree.least_count as f64 {
                coords.extend(centre);
                weights.push(weight);
            }
        }
        if weights.is_empty() {
            (coords, weights) = (largest.1, vec![largest.0.max(1.0)]);
        }
        let points = Points::new(coords, dim).expect("whole rows");
        PrivateCoreset::released(points, weights)
    }

    /// What one record adds to the size coordinate, in units of the grid. A share `w` of the radius
    /// makes the noise of the sum `sqrt(1 + w^2)` larger and that of the size `sqrt(1 + w^2) / w`
    /// records. For centres at `2/3` of the radius, their squared error is least at
    /// `w^4 = 4 / (9 d)`.
    fn size_units(&self) -> i64 {
        let dim = self.settings.public_ball.dim() as f64;
        #[allow(clippy::cast_possible_truncation, reason = "at most UNITS")]
        let units = (UNITS as f64 * (4.0 / (9.0 * dim)).powf(0.25)) as i64;
        units.max(1)
    }
}

/// Per leaf the `dim` sums of coordinates and the size, all in units: integers, whose order of
/// summation does not matter.
fn sum(points: PointsView<'_>, ball: &PublicBall, tree: &Tree, size_units: i64) -> Vec<i64> {
    let (dim, leaves) = (points.dim(), tree.noisy_counts.len());
    let width = dim + 1;
    let scale = UNITS as f64 / ball.radius();
    let rows = points.len().div_ceil(rayon::current_num_threads()).max(1);
    points
        .coords()
        .par_chunks(rows * dim)
        .zip(tree.leaf_of.par_chunks(rows))
        .map(|(coords, leaf_of)| {
            let mut sums = vec![0_i64; leaves * width];
            let mut residuals = Residuals::new(ball);
            for (row, &leaf) in coords.chunks_exact(dim).zip(leaf_of) {
                if leaf == Tree::DROPPED {
                    continue;
                }
                let (sums, size) =
                    sums[leaf as usize * width..][..width].split_at_mut(dim);
                size[0] += size_units;
                for (sum, r) in sums.iter_mut().zip(residuals.of(row)) {
                    #[allow(clippy::cast_possible_truncation, reason = "at most UNITS, to zero")]
                    let units = (r * scale) as i32;
                    *sum += i64::from(units);
                }
            }
            sums
        })
        .reduce_with(|mut a, b| {
            a.iter_mut().zip(b).for_each(|(a, b)| *a += b);
            a
        })
        .unwrap_or_else(|| vec![0; leaves * width])
}
