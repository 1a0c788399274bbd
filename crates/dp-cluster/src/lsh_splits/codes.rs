//! On which side of every hyperplane each record lies.

use dp_geometry::lsh::{SignProjections, normal_directions};
use dp_geometry::{PointsView, PublicBall};
use rayon::prelude::*;

use crate::public_coins::{Purpose, public_generator};
use crate::sized_sum::InBall;
use crate::table::rows_per_task;

/// Hyperplanes through the centre of the ball, one per level, shared by all parts of that level.
pub(super) fn hyperplanes(dim: usize, depth: usize, public_seed: u64) -> SignProjections {
    let mut rng = public_generator(public_seed, Purpose::Hyperplanes);
    let normals = normal_directions(depth, dim, &mut rng);
    let normals = PointsView::new(&normals, dim).expect("whole rows");
    SignProjections::new(normals).expect("the depth was checked")
}

/// Bit `i` says whether the record is on the positive side of hyperplane `i`: a function of that
/// record and of public numbers. Records outside of the ball are clipped to it first.
pub(super) fn codes(
    planes: &SignProjections,
    points: PointsView<'_>,
    ball: &PublicBall,
) -> Vec<u32> {
    let dim = points.dim();
    let (in_ball, mut codes) = (InBall::new(ball), vec![0; points.len()]);
    let rows = rows_per_task(points.len());
    codes.par_chunks_mut(rows).zip(points.coords().par_chunks(rows * dim)).for_each(
        |(codes, rows)| {
            let mut residual = vec![0.0; dim];
            for (code, row) in codes.iter_mut().zip(rows.chunks_exact(dim)) {
                in_ball.residual(row, &mut residual);
                *code = planes.key(&residual, planes.planes());
            }
        },
    );
    codes
}
