//! What is minimised.

use serde::{Deserialize, Serialize};

/// The cost of a point at some distance from its centre.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Objective {
    /// The distance.
    KMedian,
    /// The squared distance.
    KMeans,
}

impl Objective {
    /// The cost at this squared distance.
    #[inline]
    pub(crate) fn of_squared(self, squared: f64) -> f64 {
        match self {
            Self::KMedian => squared.sqrt(),
            Self::KMeans => squared,
        }
    }
}
