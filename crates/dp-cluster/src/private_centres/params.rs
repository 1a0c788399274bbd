//! The public settings, and the check that turns them into a plan.

use std::ops::RangeInclusive;

use dp_accounting::{Budget, Delta};
use dp_geometry::PublicBox;
use serde::{Deserialize, Serialize};

use super::candidates::{CandidatePlan, Change};
use super::{Payment, PrivateCentres};
use crate::ClusterError;
use crate::kmeans::KMeans;
use crate::total_rho::total_mu;

/// Settings of [`PrivateCentres`]. Nothing here depends on data.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct PrivateCentresSettings {
    /// Levels, up to 20: cells of level `l` have sides of `2^(1 - l)` of the box. Default: `3..=7`, sides of a quarter to 1/64.
    pub levels: RangeInclusive<u32>,
    /// Grids per level, each with a shift of its own. Default: 4.
    pub repetitions: usize,
    /// How the histograms are paid for. Default: [`Payment::AllRecords`], which has less noise for its counts from 18 histograms on.
    pub payment: Payment,
    /// Decides the shifts of the grids, and subsamples. It hides nothing and may be published. It must not be chosen by looking at the
    /// data. Default: 0.
    pub public_seed: u64,
}

impl Default for PrivateCentresSettings {
    fn default() -> Self {
        Self { levels: 3..=7, repetitions: 4, payment: Payment::AllRecords, public_seed: 0 }
    }
}

pub(super) type Asked = crate::asked::Asked<PrivateCentresSettings>;

/// What the thresholds get of delta: they hardly fall with it.
const OUTSIDE: f64 = 0.1;

impl PrivateCentres {
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
        settings: PrivateCentresSettings,
    ) -> Result<Self, ClusterError> {
        if !(1..=KMeans::MAX_CLUSTERS).contains(&k) {
            return Err(ClusterError::ClusterCount { got: k });
        }
        let (rest, outside) = without_thresholds(budget, OUTSIDE)?;
        let (domain, grids) = (public_box.clone(), settings.clone());
        let plan = CandidatePlan::new(domain, grids, Change::One, total_mu(rest)?, outside)?;
        Ok(Self { asked: Asked { public_box, k, budget, settings }, plan })
    }
}

/// A budget without the share of its delta that thresholds get, and that share.
pub(crate) fn without_thresholds(
    budget: Budget,
    share: f64,
) -> Result<(Budget, Delta), ClusterError> {
    let delta = budget.delta().get();
    let outside = Delta::new(share * delta)?;
    // The last digits are for the rounding of sums.
    let rest = (delta - outside.get()) * (1.0 - 1e-12);
    Ok((Budget::new(budget.epsilon().get(), rest.max(0.0))?, outside))
}
