//! How the budget is divided, and the calibrated primitives that follow.

use dp_accounting::{
    Composition, Epsilon, Event, Loss, Mu, Step, calibrate, gaussian_noise_multiplier,
};
use dp_mechanism::{GaussianSum, NoisyCount};
use serde::{Deserialize, Serialize};

use super::params::Asked;
use crate::ClusterError;
use crate::total_rho::total_mu;

/// How the budget is divided between the counts of the tree and the sums of the leaves.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub enum BudgetSplit {
    /// Everything has Gaussian noise, and the exact curve of all of it together is the budget. Of the square of `mu` each gets this
    /// proportion (they need not add up to 1). The receipt is itemised, and adds up well with other releases.
    Gaussian {
        /// Counting the parts of all levels.
        counts: f64,
        /// Summing the records of the leaves.
        sums: f64,
    },
    /// As published: counts have two-sided geometric noise of scale `count_noise` times the noise
    /// multiplier of the sums, which is the least for which their exact composition keeps the
    /// budget. The receipt tells the steps, but only the whole has this bound.
    Joint {
        /// Scale of the counts' noise over the noise multiplier of the sums.
        count_noise: f64,
    },
}

impl BudgetSplit {
    /// As published: counts are twenty times noisier than sums.
    pub const PAPER: Self = Self::Joint { count_noise: 20.0 };
}

impl Default for BudgetSplit {
    fn default() -> Self {
        Self::Gaussian { counts: 0.05, sums: 0.95 }
    }
}

/// Everything that LSH-Splits draws with, and what it costs.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Primitives {
    /// Levels `0..=depth`.
    pub(super) counts: Vec<NoisyCount>,
    pub(super) sums: GaussianSum,
    pub(super) spent: Step,
}

impl Primitives {
    pub(super) fn calibrate(asked: &Asked) -> Result<Self, ClusterError> {
        match asked.settings.split {
            BudgetSplit::Gaussian { counts, sums } => {
                for (name, got) in [("counts", counts), ("sums", sums)] {
                    if !(got.is_finite() && got > 0.0) {
                        let want = "a finite share above 0";
                        return Err(ClusterError::Setting { name, got, want });
                    }
                }
                Self::gaussian(asked, [counts, sums])
            }
            BudgetSplit::Joint { count_noise } => {
                if !(0.01..=1e6).contains(&count_noise) {
                    let (name, want) = ("count_noise", "between 0.01 and 1e6");
                    return Err(ClusterError::Setting { name, got: count_noise, want });
                }
                Self::joint(asked, count_noise)
            }
        }
    }

    fn gaussian(asked: &Asked, shares: [f64; 2]) -> Result<Self, ClusterError> {
        let parts = total_mu(asked.budget)?.split(&shares)?;
        let levels = parts[0].split(&vec![1.0; asked.settings.depth + 1])?;
        let counts: Vec<NoisyCount> =
            levels.into_iter().map(NoisyCount::rounded).collect::<Result<_, _>>()?;
        let sums = GaussianSum::rounded(parts[1])?;
        let spent = Step::sequential("all steps", steps(&counts, &sums));
        Ok(Self { counts, sums, spent })
    }

    fn joint(asked: &Asked, count_noise: f64) -> Result<Self, ClusterError> {
        let uses = asked.settings.depth as u64 + 1;
        let mix = |multiplier: f64| {
            let count = Event::discrete_laplace(1.0 / (count_noise * multiplier), 1)?;
            let sum = Event::gaussian(multiplier)?;
            Composition::new().with(sum, 1)?.with(count, uses)
        };
        // The sums alone need this much.
        let low = gaussian_noise_multiplier(asked.budget).max(0.006 / count_noise).max(0.03);
        let high = 1e6_f64.min(1e8 / count_noise);
        let found = if low < high { calibrate(asked.budget, low, high, mix)? } else { None };
        let multiplier = found.ok_or(ClusterError::Setting {
            name: "epsilon",
            got: asked.budget.epsilon().get(),
            want: "large enough for noise that can be composed exactly",
        })?;
        let mu = Mu::new(multiplier.recip().next_down())?;
        let each = Epsilon::new(1.0 / (count_noise * multiplier))?;
        let counts = vec![NoisyCount::geometric(each)?; asked.settings.depth + 1];
        let (epsilon, delta) = (asked.budget.epsilon(), asked.budget.delta());
        let (loss, sums) = (Loss::Approximate { epsilon, delta }, GaussianSum::rounded(mu)?);
        let spent = Step::composed("composed exactly", loss, steps(&counts, &sums));
        Ok(Self { counts, sums, spent })
    }
}

/// The step of the receipt that pays for one count of a level.
pub(super) const COUNT: &str = "count of one part";
/// And for one leaf.
pub(super) const LEAF: &str = "sum and size of one leaf";

/// What is drawn.
fn steps(counts: &[NoisyCount], sums: &GaussianSum) -> Vec<Step> {
    let level = |(i, count): (usize, &NoisyCount)| {
        Step::parallel(format!("level {i}"), vec![Step::spend(COUNT, count.loss())])
    };
    let leaf = Step::spend(LEAF, sums.loss());
    vec![
        Step::sequential("counts", counts.iter().enumerate().map(level).collect()),
        Step::parallel("sums and sizes of the leaves", vec![leaf]),
    ]
}
