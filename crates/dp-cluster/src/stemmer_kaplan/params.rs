//! The public settings, and the check that turns them into a plan.

use std::ops::RangeInclusive;

use dp_accounting::{Budget, Delta, Mu, Rho};
use dp_geometry::PublicBox;
use dp_mechanism::NoisyCount;
use serde::{Deserialize, Serialize};

use super::StemmerKaplan;
use crate::ClusterError;
use crate::kmeans::KMeans;
use crate::local_search::Objective;
use crate::private_centres::{
    CandidatePlan, Change, Payment, PrivateCentresSettings, without_thresholds,
};
use crate::private_local_search::{SIZES, Spending, SwapPlan};
use crate::total_rho::total_rho;

/// Settings of [`StemmerKaplan`]. Nothing here depends on data.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct StemmerKaplanSettings {
    /// What is minimised. Default: [`Objective::KMeans`].
    pub objective: Objective,
    /// Rounds of candidates, 1 to 3. Default: 2.
    pub rounds: usize,
    /// How many of the farthest records rounds after the first look at, at least 1. Default: for each cluster, 8 times what a cell needs.
    pub farthest: Option<usize>,
    /// How many swaps the local search makes, 1 to 100,000. Default: `3 k`, or 100,000 if that is less.
    pub swaps: Option<usize>,
    /// Most candidates for the local search, shared by the rounds. Default: 500.
    pub most_candidates: usize,
    /// As [for private centres](PrivateCentresSettings::levels). Default: `3..=7`.
    pub levels: RangeInclusive<u32>,
    /// Grids per level. Default: 4.
    pub repetitions: usize,
    /// How the histograms are paid for. Default: [`Payment::AllRecords`].
    pub payment: Payment,
    /// Decides the shifts of the grids, subsamples, and k-means on released candidates. It hides nothing and may be published. It must not be
    /// chosen by looking at the data. Default: 0.
    pub public_seed: u64,
}

impl Default for StemmerKaplanSettings {
    fn default() -> Self {
        Self {
            objective: Objective::KMeans,
            rounds: 2,
            farthest: None,
            swaps: None,
            most_candidates: 500,
            levels: 3..=7,
            repetitions: 4,
            payment: Payment::AllRecords,
            public_seed: 0,
        }
    }
}

pub(super) type Asked = crate::asked::Asked<StemmerKaplanSettings>;

/// What thresholds get of delta.
const OUTSIDE: f64 = 0.1;
/// What candidates get of the budget as zCDP, all rounds together.
const CANDIDATES: f64 = 0.5;
/// So many times the threshold of a cell, for each cluster: how many records the second round looks at.
const FARTHEST: usize = 8;

impl StemmerKaplan {
    /// Most rounds of candidates: beyond three, the number of farthest records does not fall any more for any number that fits memory.
    pub const MAX_ROUNDS: usize = 3;

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
        settings: StemmerKaplanSettings,
    ) -> Result<Self, ClusterError> {
        if !(1..=KMeans::MAX_CLUSTERS).contains(&k) {
            return Err(ClusterError::ClusterCount { got: k });
        }
        if !(1..=Self::MAX_ROUNDS).contains(&settings.rounds) {
            let (got, want) = (settings.rounds as f64, "between 1 and 3");
            return Err(ClusterError::Setting { name: "rounds", got, want });
        }
        if settings.most_candidates < settings.rounds {
            let (got, want) = (settings.most_candidates as f64, "at least one per round");
            return Err(ClusterError::Setting { name: "most_candidates", got, want });
        }
        if settings.farthest == Some(0) {
            return Err(ClusterError::ZeroSetting { name: "farthest" });
        }
        let (rest, outside) = without_thresholds(budget, OUTSIDE)?;
        let whole = Rho::new(total_rho(rest)?.get() * (1.0 - 1e-12))?;
        let choices = (1.0 - CANDIDATES) * (1.0 - SIZES);
        let [candidates, choices, sizes] =
            whole.split(&[CANDIDATES, choices, 1.0 - CANDIDATES - choices])?[..]
        else {
            unreachable!("three shares")
        };
        let each = candidates.split(&vec![1.0; settings.rounds])?[0];
        let outside = Delta::new(outside.get() / settings.rounds as f64 * (1.0 - 1e-12))?;
        let rounds = (0..settings.rounds).map(|round| {
            // mu-Gaussian-DP is mu^2/2-zCDP; the last digit is for the rounding of the root.
            let mu = Mu::new((2.0 * each.get()).sqrt() * (1.0 - 1e-12))?;
            let change = if round == 0 { Change::One } else { Change::Swap };
            // Shifts of their own: what was cut in one round need not be in the next.
            let grids = PrivateCentresSettings {
                levels: settings.levels.clone(),
                repetitions: settings.repetitions,
                payment: settings.payment,
                public_seed: settings.public_seed.wrapping_add(round as u64),
            };
            CandidatePlan::new(public_box.clone(), grids, change, mu, outside)
        });
        let rounds = rounds.collect::<Result<Vec<_>, _>>()?;
        let last = &rounds[rounds.len() - 1];
        let needed = usize::try_from(last.threshold()).unwrap_or(usize::MAX);
        let farthest = settings.farthest.unwrap_or(needed.saturating_mul(FARTHEST * k));
        let swaps = settings.swaps.unwrap_or((3 * k).min(SwapPlan::MAX_ROUNDS));
        let spending = Spending::Zcdp(choices);
        let search = SwapPlan::new(public_box.clone(), settings.objective, k, swaps, spending)?;
        let sizes = NoisyCount::gaussian(sizes)?;
        Ok(Self {
            rounds,
            farthest,
            search,
            sizes,
            asked: Asked { public_box, k, budget, settings },
        })
    }
}
