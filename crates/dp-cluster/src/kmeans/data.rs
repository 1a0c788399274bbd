//! The input of a run after its checks: finite points with positive weights.

use std::borrow::Cow;
use std::cmp::Ordering;

use dp_geometry::{Points, PointsView, PublicBox};
use rayon::prelude::*;

use crate::error::ClusterError;

/// Largest coordinate and largest weight that [`exact_fit`](super::KMeans::exact_fit) takes.
///
/// `w (x - y)^2`, summed over dimensions and points, then stays far below the largest `f64`.
pub const MAX_MAGNITUDE: f64 = 1e75;

/// How far from the origin a coordinate in a public box may be.
pub(crate) fn farthest(public_box: &PublicBox) -> f64 {
    let ends = (0..public_box.dim()).flat_map(|i| [public_box.min(i), public_box.max(i)]);
    ends.fold(0.0, |far: f64, x| far.max(x.abs()))
}

/// Rows and weights without the rows of weight zero.
pub(crate) struct WeightedPoints<'a> {
    points: Cow<'a, [f64]>,
    dim: usize,
    weights: Option<Cow<'a, [f64]>>,
}

impl<'a> WeightedPoints<'a> {
    pub(crate) fn new(
        points: PointsView<'a>,
        weights: Option<&'a [f64]>,
    ) -> Result<Self, ClusterError> {
        if let Some(weights) = weights {
            if weights.len() != points.len() {
                return Err(ClusterError::WeightsLength {
                    points: points.len(),
                    weights: weights.len(),
                });
            }
            // `contains` is false for NaN.
            if !weights.iter().all(|w| (0.0..=MAX_MAGNITUDE).contains(w)) {
                return Err(ClusterError::Weight);
            }
        }
        if !points.coords().par_iter().all(|x| x.abs() <= MAX_MAGNITUDE) {
            return Err(ClusterError::Coordinate);
        }
        let dim = points.dim();
        Ok(match weights {
            Some(weights) if weights.contains(&0.0) => {
                let kept = || points.rows().zip(weights).filter(|&(_, &w)| w > 0.0);
                Self {
                    points: kept().flat_map(|(row, _)| row).copied().collect(),
                    dim,
                    weights: Some(kept().map(|(_, &w)| w).collect()),
                }
            }
            _ => Self {
                points: Cow::Borrowed(points.coords()),
                dim,
                weights: weights.map(Cow::Borrowed),
            },
        })
    }

    pub(crate) fn points(&self) -> PointsView<'_> {
        PointsView::new(&self.points, self.dim).expect("whole rows of a valid view were kept")
    }

    pub(crate) fn weight(&self, i: usize) -> f64 {
        self.weights.as_ref().map_or(1.0, |weights| weights[i])
    }

    /// Rows per parallel task: a function of the shape alone, so that the sums do not depend on the
    /// number of threads. At least `4 k`, so that the sums per cluster of all tasks together take no
    /// more than a quarter of the memory of the points.
    pub(crate) fn chunk_rows(&self, k: usize) -> usize {
        (4 * k).max(1024).max(self.points().len().div_ceil(256))
    }

    /// The solution when there are at most `k` distinct points: these points in the order of their
    /// first appearance, then copies of the heaviest (the earliest of equals) up to `k`. Without any
    /// point, `k` copies of the origin.
    pub(crate) fn distinct_points_if_at_most(&self, k: usize) -> Option<Points> {
        let points = self.points();
        // Representatives in lexicographic order; `mass` and `order` belong to the same positions.
        let mut sorted: Vec<(usize, f64)> = Vec::new();
        for (i, row) in points.rows().enumerate() {
            match sorted.binary_search_by(|&(j, _)| compare(&points[j], row)) {
                Ok(found) => sorted[found].1 += self.weight(i),
                Err(_) if sorted.len() == k => return None,
                Err(place) => sorted.insert(place, (i, self.weight(i))),
            }
        }
        sorted.sort_by_key(|&(first, _)| first);
        let heaviest = sorted.iter().fold(None, |best: Option<(usize, f64)>, &(i, mass)| {
            best.filter(|&(_, most)| most >= mass).or(Some((i, mass)))
        });
        let mut coords: Vec<f64> = sorted.iter().flat_map(|&(i, _)| &points[i]).copied().collect();
        for _ in sorted.len()..k {
            match heaviest {
                Some((i, _)) => coords.extend_from_slice(&points[i]),
                None => coords.resize(coords.len() + self.dim, 0.0),
            }
        }
        Some(Points::new(coords, self.dim).expect("whole rows were copied"))
    }
}

/// Lexicographic; `-0.0` equals `0.0`, and NaN was refused before.
fn compare(a: &[f64], b: &[f64]) -> Ordering {
    a.partial_cmp(b).expect("coordinates are finite")
}
