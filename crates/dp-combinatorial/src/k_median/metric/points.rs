//! Points of Euclidean space.

use super::dense::{checked_nodes, steps_of, unit_of};
use super::kd_tree::KdTree;
use super::{Metric, MetricError, Storage, Width};
use crate::Sizes;

impl Metric {
    /// From this number of points on, distances are computed when they are needed.
    pub const KD_TREE_FROM: usize = 20_000;

    /// Euclidean distances between points, given row by row with `dimension` coordinates each.
    ///
    /// The steps divide the diagonal of the points' bounding box: 65,535 of them where all distances
    /// are kept, 16,777,215 from [`KD_TREE_FROM`](Self::KD_TREE_FROM) points on.
    ///
    /// # Errors
    /// [`MetricError`] if there is no point, a part of one, or a coordinate that is no number or above
    /// `1e150`.
    pub fn from_points(coordinates: &[f64], dimension: usize) -> Result<Self, MetricError> {
        let width = if coordinates.len() / dimension.max(1) < Self::KD_TREE_FROM {
            Width::Bits16
        } else {
            Width::Bits24
        };
        Self::from_points_as(coordinates, dimension, width, width == Width::Bits16)
    }

    /// The same in this width, with all distances or none kept: how large a metric is does not decide then, so that audits can go
    /// through every way at small sizes.
    ///
    /// # Errors
    /// As [`from_points`](Self::from_points).
    #[doc(hidden)]
    pub fn from_points_as(
        coordinates: &[f64],
        dimension: usize,
        width: Width,
        keep_all: bool,
    ) -> Result<Self, MetricError> {
        if dimension == 0 {
            return Err(MetricError::ZeroDimension);
        }
        if !coordinates.len().is_multiple_of(dimension) {
            return Err(MetricError::Ragged { coordinates: coordinates.len(), dimension });
        }
        let nodes = coordinates.len() / dimension;
        checked_nodes(nodes)?;
        if let Some(at) = coordinates.iter().position(|x| x.is_nan() || x.abs() > 1e150) {
            return Err(MetricError::Coordinate { point: at / dimension, got: coordinates[at] });
        }
        let sides = (0..dimension).map(|axis| {
            let column = coordinates.iter().skip(axis).step_by(dimension);
            let (low, high) =
                column.fold((f64::MAX, f64::MIN), |(low, high), &x| (low.min(x), high.max(x)));
            (low, high)
        });
        let sides: Vec<(f64, f64)> = sides.collect();
        let diagonal = sides.iter().map(|(low, high)| (high - low).powi(2)).sum::<f64>().sqrt();
        let unit = unit_of(diagonal, width);
        if keep_all {
            let row = |node: usize| &coordinates[node * dimension..(node + 1) * dimension];
            let step = |a, b| steps_of(squared(row(a), row(b)).sqrt(), unit, width);
            return Ok(Self::dense(nodes, unit, width, step));
        }
        let middle: Vec<f64> = sides.iter().map(|&(low, high)| f64::midpoint(low, high)).collect();
        let sizes = Sizes::default();
        let tree = KdTree::new(coordinates, dimension, (unit, width), sizes.leaf);
        let centre = tree.nearest_to(&middle);
        let radius = (0..nodes).map(|node| tree.distance(centre, node)).max().unwrap_or(0);
        let centre = u32::try_from(centre).expect("ids are u32");
        let storage = Storage::Points(tree);
        Ok(Self { nodes, unit, diameter: width.steps(), centre, radius, storage, sizes })
    }
}

/// The squared distance; the same in both directions to the last bit.
pub(super) fn squared(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| (a - b) * (a - b)).sum()
}
