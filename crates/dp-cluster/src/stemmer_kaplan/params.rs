//! The public settings, and the check that turns them into a plan.

use dp_accounting::{Budget, Delta, Mu, Rho};
use dp_geometry::PublicBox;
use dp_mechanism::NoisyCount;
use serde::{Deserialize, Serialize};

use super::StemmerKaplan;
use crate::ClusterError;
use crate::kmeans::KMeans;
use crate::local_search::Objective;
use crate::private_centres::{CandidatePlan, Change, GridSettings, Payment, without_thresholds};
use crate::private_local_search::{SIZES, Spending, SwapPlan};
use crate::total_rho::total_rho;

/// Public settings of [`StemmerKaplan`]; made by [`StemmerKaplan::builder`].
///
/// Serialises as plain settings; a plan is read back through [`build`](Self::build), so that a file
/// cannot bypass its checks.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct StemmerKaplanBuilder {
    pub(super) k: usize,
    pub(super) budget: Budget,
    #[serde(flatten)]
    pub(super) grids: GridSettings,
    pub(super) objective: Objective,
    pub(super) rounds: usize,
    pub(super) farthest: Option<usize>,
    pub(super) swaps: Option<usize>,
    pub(super) most_candidates: usize,
}

/// What thresholds get of delta.
const OUTSIDE: f64 = 0.1;
/// What candidates get of the budget as zCDP, all rounds together.
const CANDIDATES: f64 = 0.5;
/// So many times the threshold of a cell, for each cluster: how many records the second round looks at.
const FARTHEST: usize = 8;

impl StemmerKaplanBuilder {
    /// Most rounds of candidates: beyond three, the number of farthest records does not fall any more for any number that fits memory.
    pub const MAX_ROUNDS: usize = 3;

    pub(super) fn new(public_box: PublicBox, k: usize, budget: Budget) -> Self {
        Self {
            k,
            budget,
            grids: GridSettings::new(public_box),
            objective: Objective::KMeans,
            rounds: 2,
            farthest: None,
            swaps: None,
            most_candidates: 500,
        }
    }

    /// What is minimised. Default: [`Objective::KMeans`].
    #[must_use]
    pub fn objective(mut self, objective: Objective) -> Self {
        self.objective = objective;
        self
    }

    /// Rounds of candidates, 1 to 3. Default: 2.
    #[must_use]
    pub fn rounds(mut self, rounds: usize) -> Self {
        self.rounds = rounds;
        self
    }

    /// How many of the farthest records rounds after the first look at, at least 1. Default: for each cluster, 8 times what a cell needs.
    #[must_use]
    pub fn farthest(mut self, farthest: usize) -> Self {
        self.farthest = Some(farthest);
        self
    }

    /// How many swaps the local search makes, 1 to 100,000. Default: `3 k`, or 100,000 if that is less.
    #[must_use]
    pub fn swaps(mut self, swaps: usize) -> Self {
        self.swaps = Some(swaps);
        self
    }

    /// Most candidates for the local search, shared by the rounds. Default: 500.
    #[must_use]
    pub fn most_candidates(mut self, most_candidates: usize) -> Self {
        self.most_candidates = most_candidates;
        self
    }

    /// As [`PrivateCentresBuilder::levels`](crate::private_centres::PrivateCentresBuilder::levels).
    #[must_use]
    pub fn levels(mut self, first: u32, last: u32) -> Self {
        self.grids.levels = [first, last];
        self
    }

    /// Grids per level. Default: 4.
    #[must_use]
    pub fn repetitions(mut self, repetitions: usize) -> Self {
        self.grids.repetitions = repetitions;
        self
    }

    /// How the histograms are paid for. Default: [`Payment::AllRecords`].
    #[must_use]
    pub fn payment(mut self, payment: Payment) -> Self {
        self.grids.payment = payment;
        self
    }

    /// Decides the shifts of the grids, subsamples, and k-means on released candidates. It hides nothing and may be published. It must not be
    /// chosen by looking at the data. Default: 0.
    #[must_use]
    pub fn public_seed(mut self, public_seed: u64) -> Self {
        self.grids.public_seed = public_seed;
        self
    }

    /// Checks every setting and calibrates every step; afterwards nothing can fail.
    ///
    /// # Errors
    /// [`ClusterError`] names the setting, its value and what would be accepted.
    pub fn build(self) -> Result<StemmerKaplan, ClusterError> {
        if !(1..=KMeans::MAX_CLUSTERS).contains(&self.k) {
            return Err(ClusterError::ClusterCount { got: self.k });
        }
        if !(1..=Self::MAX_ROUNDS).contains(&self.rounds) {
            let (got, want) = (self.rounds as f64, "between 1 and 3");
            return Err(ClusterError::Setting { name: "rounds", got, want });
        }
        if self.most_candidates < self.rounds {
            let (got, want) = (self.most_candidates as f64, "at least one per round");
            return Err(ClusterError::Setting { name: "most_candidates", got, want });
        }
        if self.farthest == Some(0) {
            return Err(ClusterError::ZeroSetting { name: "farthest" });
        }
        let (rest, outside) = without_thresholds(self.budget, OUTSIDE)?;
        let whole = Rho::new(total_rho(rest)?.get() * (1.0 - 1e-12))?;
        let choices = (1.0 - CANDIDATES) * (1.0 - SIZES);
        let [candidates, choices, sizes] =
            whole.split(&[CANDIDATES, choices, 1.0 - CANDIDATES - choices])?[..]
        else {
            unreachable!("three shares")
        };
        let each = candidates.split(&vec![1.0; self.rounds])?[0];
        let outside = Delta::new(outside.get() / self.rounds as f64 * (1.0 - 1e-12))?;
        let rounds = (0..self.rounds).map(|round| {
            // mu-Gaussian-DP is mu^2/2-zCDP; the last digit is for the rounding of the root.
            let mu = Mu::new((2.0 * each.get()).sqrt() * (1.0 - 1e-12))?;
            let change = if round == 0 { Change::One } else { Change::Swap };
            // Shifts of their own: what was cut in one round need not be in the next.
            let public_seed = self.grids.public_seed.wrapping_add(round as u64);
            CandidatePlan::new(
                GridSettings { public_seed, ..self.grids.clone() },
                change,
                mu,
                outside,
            )
        });
        let rounds = rounds.collect::<Result<Vec<_>, _>>()?;
        let last = &rounds[rounds.len() - 1];
        let needed = usize::try_from(last.threshold()).unwrap_or(usize::MAX);
        let farthest = self.farthest.unwrap_or(needed.saturating_mul(FARTHEST * self.k));
        let swaps = self.swaps.unwrap_or((3 * self.k).min(SwapPlan::MAX_ROUNDS));
        let public_box = self.grids.public_box.clone();
        let spending = Spending::Zcdp(choices);
        let search = SwapPlan::new(public_box, self.objective, self.k, swaps, spending)?;
        let sizes = NoisyCount::gaussian(sizes)?;
        Ok(StemmerKaplan { rounds, farthest, search, sizes, settings: self })
    }
}
