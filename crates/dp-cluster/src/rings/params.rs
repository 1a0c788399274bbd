//! The public settings, and the check that turns them into a plan.

use dp_accounting::Budget;
use dp_geometry::PublicBox;
use serde::{Deserialize, Serialize};

use super::RingRounds;
use super::plan::{RingPlan, RingSettings};
use crate::ClusterError;
use crate::total_rho::total_mu;

/// Public settings of [`RingRounds`]; made by [`RingRounds::builder`].
///
/// Serialises as plain settings; a plan is read back through [`build`](Self::build), so that a file
/// cannot bypass its checks.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RingRoundsBuilder {
    pub(super) budget: Budget,
    #[serde(flatten)]
    pub(super) settings: RingSettings,
}

impl RingRoundsBuilder {
    /// Most rounds.
    pub const MAX_ROUNDS: usize = 20;
    /// Most hyperplanes per centre: a ring has at most 1,024 cells.
    pub const MAX_PLANES: usize = 10;

    pub(super) fn new(public_box: PublicBox, k: usize, budget: Budget) -> Self {
        Self { budget, settings: RingSettings::new(public_box, k) }
    }

    /// How many rounds there are, 1 to [`MAX_ROUNDS`](Self::MAX_ROUNDS), at equal shares. Default: 3.
    #[must_use]
    pub fn rounds(mut self, rounds: usize) -> Self {
        self.settings.rounds = rounds;
        self
    }

    /// What a record adds to a count, as a multiple of the longest residual: `w` in the description of a round, .01 to 100.
    /// Default: 1.2 in up to 8 dimensions, .8 above.
    #[must_use]
    pub fn count_weight(mut self, count_weight: f64) -> Self {
        self.settings.count_weight = count_weight;
        self
    }

    /// Most hyperplanes per centre, 0 to [`MAX_PLANES`](Self::MAX_PLANES). Default: 10.
    #[must_use]
    pub fn most_planes(mut self, most_planes: usize) -> Self {
        self.settings.most_planes = most_planes;
        self
    }

    /// Decides the hyperplanes and the random choices of k-means on released means. It hides nothing and may be
    /// published. It must not be chosen by looking at the data. Default: 0.
    #[must_use]
    pub fn public_seed(mut self, public_seed: u64) -> Self {
        self.settings.public_seed = public_seed;
        self
    }

    /// Checks every setting and calibrates every step; afterwards nothing can fail.
    ///
    /// # Errors
    /// [`ClusterError`] names the setting, its value and what would be accepted.
    pub fn build(self) -> Result<RingRounds, ClusterError> {
        let plan = RingPlan::new(self.settings.clone(), total_mu(self.budget)?)?;
        Ok(RingRounds { settings: self, plan })
    }
}
