//! The public settings, and the check that turns them into a plan.

use dp_accounting::Budget;
use dp_geometry::PublicBox;
use serde::{Deserialize, Serialize};

use super::RingRounds;
use super::plan::RingPlan;
use crate::ClusterError;
use crate::total_rho::total_mu;

/// Settings of [`RingRounds`]. Nothing here depends on data.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct RingRoundsSettings {
    /// How many rounds there are, 1 to [`MAX_ROUNDS`](RingRounds::MAX_ROUNDS). Default: 3.
    pub rounds: usize,
    /// How much a round gets of the budget over what the one before gets, in squares of `mu`, 1 to 2: the first rounds look for what is large,
    /// the last for the rest. Default: 1.5.
    pub growth: f64,
    /// What a record adds to a count, as a multiple of the longest residual: `w` in the description of a round, .01 to 100.
    /// Default: 1.2 in up to 8 dimensions, .8 in up to 20, above `.8 (20 / d)^(1/4)`.
    pub count_weight: Option<f64>,
    /// Most hyperplanes per centre, 0 to [`MAX_PLANES`](RingRounds::MAX_PLANES). Default: 10.
    pub most_planes: usize,
    /// Decides the hyperplanes and the random choices of k-means on released means. It hides nothing and may be
    /// published. It must not be chosen by looking at the data. Default: 0.
    pub public_seed: u64,
}

impl Default for RingRoundsSettings {
    fn default() -> Self {
        Self {
            rounds: 3,
            growth: 1.5,
            count_weight: None,
            most_planes: RingRounds::MAX_PLANES,
            public_seed: 0,
        }
    }
}

pub(super) type Asked = crate::asked::Asked<RingRoundsSettings>;

impl RingRounds {
    /// Most rounds.
    pub const MAX_ROUNDS: usize = 20;
    /// Most hyperplanes per centre: a ring has at most 1,024 cells.
    pub const MAX_PLANES: usize = 10;

    /// For points in this public box, to be put in `k` clusters within this budget.
    ///
    /// Checks every setting and calibrates every step; afterwards nothing can fail.
    ///
    /// # Errors
    /// [`ClusterError`] names the setting, its value and what would be accepted.
    pub fn new(
        public_box: PublicBox,
        k: usize,
        budget: Budget,
        settings: RingRoundsSettings,
    ) -> Result<Self, ClusterError> {
        let plan = RingPlan::new(public_box.clone(), k, settings, total_mu(budget)?)?;
        Ok(Self { asked: Asked { public_box, k, budget, settings }, plan })
    }
}
