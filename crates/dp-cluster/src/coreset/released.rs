//! The type that says "this has been released".

use dp_geometry::{Points, PointsView};
use serde::{Deserialize, Serialize};

use crate::ClusterError;
use crate::kmeans::MAX_MAGNITUDE;

/// Weighted points that came out of a mechanism. Everything computed from them alone is free.
///
/// # Shapes
/// `(m, dim)` points and `m` weights, each finite and at least zero; in units of records.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "Unchecked")]
pub struct PrivateCoreset {
    points: Points,
    weights: Vec<f64>,
}

/// The serialised form, before it is checked.
#[derive(Deserialize)]
#[serde(rename = "PrivateCoreset")]
struct Unchecked {
    points: Points,
    weights: Vec<f64>,
}

impl TryFrom<Unchecked> for PrivateCoreset {
    type Error = ClusterError;

    fn try_from(raw: Unchecked) -> Result<Self, ClusterError> {
        Self::assume_public(raw.points, raw.weights)
    }
}

impl PrivateCoreset {
    /// Takes points and weights as they are. **The caller vouches** that they are public, or that
    /// nobody promised to protect them; nothing is made private here.
    ///
    /// # Errors
    /// [`ClusterError::WeightsLength`], [`ClusterError::Weight`] or [`ClusterError::Coordinate`], as
    /// for [`KMeans::exact_fit`](crate::kmeans::KMeans::exact_fit).
    pub fn assume_public(points: Points, weights: Vec<f64>) -> Result<Self, ClusterError> {
        if weights.len() != points.len() {
            let (points, weights) = (points.len(), weights.len());
            return Err(ClusterError::WeightsLength { points, weights });
        }
        // `contains` is false for NaN.
        if !weights.iter().all(|w| (0.0..=MAX_MAGNITUDE).contains(w)) {
            return Err(ClusterError::Weight);
        }
        if !points.view().coords().iter().all(|x| x.abs() <= MAX_MAGNITUDE) {
            return Err(ClusterError::Coordinate);
        }
        Ok(Self { points, weights })
    }

    /// For mechanisms of this crate: their outputs are in a public domain and their weights clamped.
    pub(crate) fn released(points: Points, weights: Vec<f64>) -> Self {
        debug_assert_eq!(points.len(), weights.len(), "one weight per point");
        Self { points, weights }
    }

    /// The points.
    pub fn points(&self) -> PointsView<'_> {
        self.points.view()
    }

    /// One weight per point.
    pub fn weights(&self) -> &[f64] {
        &self.weights
    }

    /// Number of points.
    pub fn len(&self) -> usize {
        self.weights.len()
    }

    /// Whether there is no point.
    pub fn is_empty(&self) -> bool {
        self.weights.is_empty()
    }

    /// The sum of the weights: about the number of records, as far as they are represented.
    pub fn total_weight(&self) -> f64 {
        self.weights.iter().sum()
    }
}
