//! The public settings, and the check that turns them into a plan.

use dp_accounting::{Budget, Delta};
use dp_geometry::PublicBox;
use serde::{Deserialize, Serialize};

use super::candidates::{CandidatePlan, Change, GridSettings};
use super::{Payment, PrivateCentres};
use crate::ClusterError;
use crate::kmeans::KMeans;
use crate::total_rho::total_mu;

/// Public settings of [`PrivateCentres`]; made by [`PrivateCentres::builder`].
///
/// Serialises as plain settings; a plan is read back through [`build`](Self::build), so that a file
/// cannot bypass its checks.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct PrivateCentresBuilder {
    pub(super) k: usize,
    pub(super) budget: Budget,
    #[serde(flatten)]
    pub(super) settings: GridSettings,
}

/// What the thresholds get of delta: they hardly fall with it.
const OUTSIDE: f64 = 0.1;

impl PrivateCentresBuilder {
    pub(super) fn new(public_box: PublicBox, k: usize, budget: Budget) -> Self {
        Self { k, budget, settings: GridSettings::new(public_box) }
    }

    /// The first and the last level: cells of level `l` have sides of `2^(1 - l)` of the box. Default: 3 and 7, sides of a quarter to 1/64.
    #[must_use]
    pub fn levels(mut self, first: u32, last: u32) -> Self {
        self.settings.levels = [first, last];
        self
    }

    /// Grids per level, each with a shift of its own. Default: 4.
    #[must_use]
    pub fn repetitions(mut self, repetitions: usize) -> Self {
        self.settings.repetitions = repetitions;
        self
    }

    /// How the histograms are paid for. Default: [`Payment::AllRecords`], which has less noise for its counts from 18 histograms on.
    #[must_use]
    pub fn payment(mut self, payment: Payment) -> Self {
        self.settings.payment = payment;
        self
    }

    /// Decides the shifts of the grids, and subsamples. It hides nothing and may be published. It must not be chosen by looking at the
    /// data. Default: 0.
    #[must_use]
    pub fn public_seed(mut self, public_seed: u64) -> Self {
        self.settings.public_seed = public_seed;
        self
    }

    /// Checks every setting and calibrates every step; afterwards nothing can fail.
    ///
    /// # Errors
    /// [`ClusterError`] names the setting, its value and what would be accepted.
    pub fn build(self) -> Result<PrivateCentres, ClusterError> {
        if !(1..=KMeans::MAX_CLUSTERS).contains(&self.k) {
            return Err(ClusterError::ClusterCount { got: self.k });
        }
        let (rest, outside) = without_thresholds(self.budget, OUTSIDE)?;
        let plan =
            CandidatePlan::new(self.settings.clone(), Change::One, total_mu(rest)?, outside)?;
        Ok(PrivateCentres { settings: self, plan })
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
