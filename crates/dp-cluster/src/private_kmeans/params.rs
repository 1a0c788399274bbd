//! The public settings, and the choices that follow from them.

use dp_accounting::{Budget, Mu, Rho};
use dp_geometry::PublicBox;
use serde::{Deserialize, Serialize};

use super::PrivateKMeans;
use super::mechanism::StartPlan;
use crate::ClusterError;
use crate::kmeans::KMeans;
use crate::map::PrivateMap;
use crate::recentring::{Recentring, Rounds};
use crate::rings::{RingPlan, RingSettings};
use crate::total_rho::total_rho;

/// What finds about where the clusters are.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Start {
    /// Ring rounds: any number of dimensions, any box. See [`rings`](crate::rings).
    Rings,
    /// A private map: few dimensions, a box that fits. See [`map`](crate::map).
    Map,
}

/// Public settings of [`PrivateKMeans`]; made by [`PrivateKMeans::builder`].
///
/// Serialises as plain settings; a plan is read back through [`build`](Self::build), so that a file
/// cannot bypass its checks.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct PrivateKMeansBuilder {
    pub(super) public_box: PublicBox,
    pub(super) k: usize,
    pub(super) budget: Budget,
    pub(super) expected_records: Option<u64>,
    pub(super) start: Option<Start>,
    pub(super) public_seed: u64,
}

/// What the choice of radii gets of what re-centring may spend.
const RADII: f64 = 0.05;

/// What a plan has decided.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Choices {
    pub(super) start: Start,
    /// Of the budget as zCDP.
    pub(super) share: f64,
    /// Of ring rounds, and of re-centring.
    pub(super) rounds: [usize; 2],
}

impl PrivateKMeansBuilder {
    pub(super) fn new(public_box: PublicBox, k: usize, budget: Budget) -> Self {
        Self { public_box, k, budget, expected_records: None, start: None, public_seed: 0 }
    }

    /// About how many records there are, if that is public. It decides how the budget is used, and is what the forecast is for.
    #[must_use]
    pub fn expected_records(mut self, expected_records: u64) -> Self {
        self.expected_records = Some(expected_records);
        self
    }

    /// How to start. Default: by the number of dimensions.
    #[must_use]
    pub fn start(mut self, start: Start) -> Self {
        self.start = Some(start);
        self
    }

    /// Decides hyperplanes and the random choices of k-means on what has been released. It hides nothing and may be published. It
    /// must not be chosen by looking at the data. Default: 0.
    #[must_use]
    pub fn public_seed(mut self, public_seed: u64) -> Self {
        self.public_seed = public_seed;
        self
    }

    /// Checks every setting and calibrates every step; afterwards nothing can fail.
    ///
    /// # Errors
    /// [`ClusterError`] names the setting, its value and what would be accepted.
    pub fn build(self) -> Result<PrivateKMeans, ClusterError> {
        if !(1..=KMeans::MAX_CLUSTERS).contains(&self.k) {
            return Err(ClusterError::ClusterCount { got: self.k });
        }
        let whole = total_rho(self.budget)?;
        // A little less, so that no rounding of a sum of losses can cross the budget.
        let whole = Rho::new(whole.get() * (1.0 - 1e-12))?;
        let choices = self.choices(whole);
        let rest = 1.0 - choices.share;
        let parts = whole.split(&[choices.share, rest * RADII, rest * (1.0 - RADII)])?;
        // mu-Gaussian-DP is mu^2/2-zCDP; the last digit is for the rounding of the root.
        let mu = Mu::new((2.0 * parts[0].get()).sqrt() * (1.0 - 1e-12))?;
        let public_box = self.public_box.clone();
        let start = match choices.start {
            Start::Rings => {
                let settings = RingSettings {
                    rounds: choices.rounds[0],
                    public_seed: self.public_seed,
                    ..RingSettings::new(public_box.clone(), self.k)
                };
                StartPlan::Rings(RingPlan::new(settings, mu)?)
            }
            Start::Map => {
                let map = PrivateMap::add_remove(public_box.clone(), self.budget).spend(mu);
                let map = match self.expected_records {
                    Some(records) => map.expected_records(records),
                    None => map,
                };
                StartPlan::Map(map.build()?)
            }
        };
        let rounds = Rounds::without_splits(choices.rounds[1]);
        let shares = [parts[1], parts[2]];
        let recentring = Recentring::new(public_box, rounds, Some(self.k), shares)?;
        Ok(PrivateKMeans { settings: self, choices, rounds_rho: parts[2], start, recentring })
    }

    /// Length of a typical cluster's sum in standard deviations of the noise of the whole budget.
    pub(super) fn signal(&self, whole: Rho) -> Option<f64> {
        let (k, dim) = (self.k as f64, self.public_box.dim() as f64);
        let mu = (2.0 * whole.get()).sqrt();
        self.expected_records.map(|records| records as f64 * mu / (k * dim.sqrt()))
    }

    fn choices(&self, whole: Rho) -> Choices {
        let by_dimensions =
            if (2..=3).contains(&self.public_box.dim()) { Start::Map } else { Start::Rings };
        let start = self.start.unwrap_or(by_dimensions);
        let signal = self.signal(whole).unwrap_or(USUAL_SIGNAL);
        let (share, rounds) = match start {
            Start::Map => (0.6, [0, 2]),
            Start::Rings if signal >= STRONG_SIGNAL => (0.5, [4, 3]),
            Start::Rings if signal < WEAK_SIGNAL && self.k >= MANY_CLUSTERS => (0.6, [3, 2]),
            Start::Rings => (0.5, [3, 3]),
        };
        Choices { start, share, rounds }
    }
}

/// If the number of records is not known.
const USUAL_SIGNAL: f64 = 25.0;
/// From here on a fourth ring round costs less than it finds.
const STRONG_SIGNAL: f64 = 30.0;
/// Below this the start decides everything, if there are many clusters to be found.
const WEAK_SIGNAL: f64 = 15.0;
const MANY_CLUSTERS: usize = 32;
