//! The records that are farthest from what has been released.

use std::cmp::Ordering;

use dp_geometry::{Points, PointsView, PublicBox};

use crate::located::{Located, clip_into};

/// So many records of those that are farthest from the centres, or all if there are no more; each as moved into the box.
///
/// Ties are decided by coordinates, so that the outcome is a function of the set of records: one record more or less, or another in its place,
/// exchanges one member at most.
pub(crate) fn farthest(
    points: PointsView<'_>,
    centres: PointsView<'_>,
    public_box: &PublicBox,
    most: usize,
) -> Points {
    let dim = points.dim();
    let mut located = Located::at(points, vec![0; points.len()]);
    if !centres.is_empty() {
        located.update(public_box, centres, true);
    }
    let mut clipped = vec![0.0; points.coords().len()];
    for (to, row) in clipped.chunks_exact_mut(dim).zip(points.rows()) {
        clip_into(public_box, row, to);
    }
    let row = |record: usize| &clipped[record * dim..][..dim];
    let farther = |&a: &usize, &b: &usize| {
        let by_distance = located.distances[b].total_cmp(&located.distances[a]);
        by_distance.then_with(|| by_coordinates(row(a), row(b)))
    };
    let mut order: Vec<usize> = (0..points.len()).collect();
    if most < order.len() {
        order.select_nth_unstable_by(most, farther);
        order.truncate(most);
    }
    let coords = order.into_iter().flat_map(|record| row(record).iter().copied());
    Points::new(coords.collect(), dim).expect("whole rows")
}

fn by_coordinates(a: &[f64], b: &[f64]) -> Ordering {
    let differing = a.iter().zip(b).map(|(a, b)| a.total_cmp(b)).find(|order| order.is_ne());
    differing.unwrap_or(Ordering::Equal)
}
