//! Public settings of the rounds.

use serde::{Deserialize, Serialize};

use crate::ClusterError;

/// How many rounds there are and how they share what re-centring may spend.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Rounds {
    /// Proportions of the rounds; they need not add up to 1.
    pub shares: Vec<f64>,
    /// What the choice of all radii gets, as a share of re-centring.
    pub radii: f64,
    /// The share of all points that the radius aims at.
    pub quantile: f64,
    /// Rounds before the first merge, at least 1.
    pub merge_after: usize,
    /// Rounds at the end in which nothing is split any more.
    pub settle: usize,
}

impl Default for Rounds {
    fn default() -> Self {
        Self {
            shares: vec![1.0; 6],
            radii: 0.05,
            quantile: 0.9,
            merge_after: 2,
            settle: 2,
        }
    }
}

impl Rounds {
    pub(super) fn checked(&self) -> Result<(), ClusterError> {
        let refuse = |name, got: f64, want| Err(ClusterError::Setting { name, got, want });
        let rounds = self.shares.len();
        if !(1..=100).contains(&rounds) {
            return refuse("rounds", rounds as f64, "between 1 and 100");
        }
        for &share in &self.shares {
            if !(share.is_finite() && share > 0.0) {
                return refuse("share of a round", share, "finite and above 0");
            }
        }
        if !(self.radii > 0.0 && self.radii < 1.0) {
            return refuse("radii", self.radii, "above 0 and below 1");
        }
        if !(self.quantile > 0.0 && self.quantile < 1.0) {
            return refuse("quantile", self.quantile, "above 0 and below 1");
        }
        Ok(())
    }
}
