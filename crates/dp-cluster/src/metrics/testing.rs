//! Shared by the tests of the metrics.

use dp_geometry::Points;
use proptest::prelude::*;

pub(super) fn line(coords: &[f64]) -> Points {
    Points::new(coords.to_vec(), 1).unwrap()
}

pub(super) fn plane(rows: &[[f64; 2]]) -> Points {
    Points::new(rows.concat(), 2).unwrap()
}

/// Up to `most` points of the plane, on a coarse lattice so that ties and duplicates are common.
pub(super) fn lattice(least: usize, most: usize) -> impl Strategy<Value = Points> {
    prop::collection::vec([-6..6i8, -6..6i8], least..=most).prop_map(|rows| {
        Points::new(rows.into_iter().flatten().map(f64::from).collect(), 2).unwrap()
    })
}
