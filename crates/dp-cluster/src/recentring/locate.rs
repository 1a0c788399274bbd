//! Which centre each point belongs to, and how far away it is. All of this is private.

use dp_geometry::{PointsView, PublicBox};
use rayon::prelude::*;

use crate::nearest::{CentreTable, rounding_slack, squared_distance};

/// Rows per parallel task.
pub(super) const CHUNK: usize = 1024;

/// Sends every point to a centre and returns its distance to that centre.
///
/// With `search` the centre is the nearest one, the lowest index in a tie, and `labels` are hints
/// only: a point that is nearer to its hint than half the way from there to any other centre needs
/// no search, and the outcome is that of a full one. Without `search` the labels stand.
///
/// A point is taken as moved into the box first, so that the result is a function of this one
/// record and public values, whatever the record holds.
pub(super) fn locate(
    points: PointsView<'_>,
    public_box: &PublicBox,
    centres: PointsView<'_>,
    labels: &mut [u32],
    search: bool,
) -> Vec<f64> {
    let dim = points.dim();
    let table = CentreTable::new(centres);
    // The margin covers rounding, see `rounding_slack`.
    let shrink = 0.25 * (1.0 - rounding_slack(dim));
    let reach: Vec<f64> = if search {
        centres.rows().map(|c| shrink * table.two_nearest(c).second_squared).collect()
    } else {
        vec![f64::INFINITY; centres.len()]
    };
    let mut distances = vec![0.0; points.len()];
    labels
        .par_chunks_mut(CHUNK)
        .zip(distances.par_chunks_mut(CHUNK))
        .zip(points.coords().par_chunks(CHUNK * dim))
        .for_each(|((labels, distances), rows)| {
            let mut clipped = vec![0.0; dim];
            let rows = rows.chunks_exact(dim);
            for ((label, distance), row) in labels.iter_mut().zip(distances).zip(rows) {
                clip_into(public_box, row, &mut clipped);
                let hint = *label as usize;
                let mut squared = squared_distance(&clipped, centres.row(hint));
                if search && (squared.is_nan() || squared >= reach[hint]) {
                    let two = table.two_nearest(&clipped);
                    (*label, squared) = (two.label, two.squared);
                }
                *distance = squared.sqrt();
            }
        });
    distances
}

/// The point of the box that a record counts as.
#[inline]
pub(super) fn clip_into(public_box: &PublicBox, row: &[f64], clipped: &mut [f64]) {
    for (i, (y, &x)) in clipped.iter_mut().zip(row).enumerate() {
        *y = public_box.clip_coordinate(i, x);
    }
}
