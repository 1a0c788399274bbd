//! How the budget is divided, and the calibrated primitives that follow.

use dp_accounting::{
    Composition, Epsilon, Event, Loss, Rho, Step, calibrate, gaussian_noise_multiplier,
};
use dp_mechanism::{GaussianSum, NoisyCount};
use serde::{Deserialize, Serialize};

use super::LshSplitsBuilder;
use crate::ClusterError;
use crate::total_rho::total_rho;

/// How the budget is divided between the counts of the tree and the sums of the leaves.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub enum BudgetSplit {
    /// One zero-concentrated budget in these proportions (they need not add up to 1); counts have
    /// discrete Gaussian noise. The receipt is itemised, and adds up well with other releases.
    Zcdp {
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
        Self::Zcdp { counts: 0.05, sums: 0.95 }
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
    pub(super) fn calibrate(settings: &LshSplitsBuilder) -> Result<Self, ClusterError> {
        match settings.split {
            BudgetSplit::Zcdp { counts, sums } => {
                for (name, got) in [("counts", counts), ("sums", sums)] {
                    if !(got.is_finite() && got > 0.0) {
                        let want = "a finite share above 0";
                        return Err(ClusterError::Setting { name, got, want });
                    }
                }
                Self::zcdp(settings, [counts, sums])
            }
            BudgetSplit::Joint { count_noise } => {
                if !(0.01..=1e6).contains(&count_noise) {
                    let (name, want) = ("count_noise", "between 0.01 and 1e6");
                    return Err(ClusterError::Setting { name, got: count_noise, want });
                }
                Self::joint(settings, count_noise)
            }
        }
    }

    fn zcdp(settings: &LshSplitsBuilder, shares: [f64; 2]) -> Result<Self, ClusterError> {
        let whole = total_rho(settings.budget)?;
        // A little less, so that no rounding of a sum of losses can cross the budget.
        let total = Rho::new(whole.get() * (1.0 - 1e-12))?;
        let parts = total.split(&shares)?;
        let levels = parts[0].split(&vec![1.0; settings.depth + 1])?;
        let counts: Vec<NoisyCount> =
            levels.into_iter().map(NoisyCount::gaussian).collect::<Result<_, _>>()?;
        let sums = GaussianSum::new(parts[1])?;
        let spent = Step::sequential("all steps", steps(&counts, &sums));
        Ok(Self { counts, sums, spent })
    }

    /// The discrete Gaussian of the sums is accounted for as a continuous one with a noise multiplier
    /// smaller by one part in `10^9`. That is sound: the variance is `v > 2^33` in units of the grid, as
    /// a noise multiplier of at least `0.03` ensures, so that `v - 16` is above `v (1 - 10^-9)^2`; and
    /// adding a continuous Gaussian of variance `v - 16`, then moving to the grid by a discrete
    /// Gaussian of variance 16 centred there, gives each output the probability of the discrete
    /// Gaussian of variance `v` up to a factor of `1 + 1e-130` per coordinate, because the mass of a
    /// discrete Gaussian of variance 16 depends on its centre by less than `4 exp(-32 pi^2)` of it.
    /// So the release is, up to this factor, a processing of the continuous one.
    fn joint(settings: &LshSplitsBuilder, count_noise: f64) -> Result<Self, ClusterError> {
        let uses = settings.depth as u64 + 1;
        let mix = |multiplier: f64| {
            let count = Event::discrete_laplace(1.0 / (count_noise * multiplier), 1)?;
            let sum = Event::gaussian(multiplier * (1.0 - 1e-9))?;
            Composition::new().with(sum, 1)?.with(count, uses)
        };
        // The sums alone need this much.
        let low = gaussian_noise_multiplier(settings.budget).max(0.006 / count_noise).max(0.03);
        let high = 1e6_f64.min(1e8 / count_noise);
        let found = if low < high { calibrate(settings.budget, low, high, mix)? } else { None };
        let multiplier = found.ok_or(ClusterError::Setting {
            name: "epsilon",
            got: settings.budget.epsilon().get(),
            want: "large enough for noise that can be composed exactly",
        })?;
        let rho = Rho::new(1.0 / (2.0 * multiplier * multiplier))?;
        let each = Epsilon::new(1.0 / (count_noise * multiplier))?;
        let counts = vec![NoisyCount::geometric(each)?; settings.depth + 1];
        let (epsilon, delta) = (settings.budget.epsilon(), settings.budget.delta());
        let (loss, sums) = (Loss::Approximate { epsilon, delta }, GaussianSum::new(rho)?);
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
