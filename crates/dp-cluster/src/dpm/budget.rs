//! How DPM divides its budget, and the calibrated primitives that follow.

use std::f64::consts::SQRT_2;

use dp_accounting::{Budget, Epsilon, Rho, Step};
use dp_mechanism::{ExponentialMechanism, GaussianSum, NoisyCount};
use serde::{Deserialize, Serialize};

use super::interval::score_range;
use super::score::CutScore;
use super::{DpmBuilder, IntervalSize};
use crate::ClusterError;

/// How the budget is divided among interval size, counts, cuts and sums.
///
/// Within counts and cuts, level `i` of the tree gets noise of scale proportional to `2^(-i/2)`,
/// which minimises the summed noise relative to the shrinking nodes. The `interval` share is only
/// spent if the interval size is estimated.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub enum BudgetSplit {
    /// One zero-concentrated budget in these proportions (they need not add up to 1). Counts get
    /// discrete Gaussian noise. At large epsilon another way of adding up can find some budget
    /// left; the sums get it.
    Zcdp {
        /// Choosing the interval size.
        interval: f64,
        /// Counting the nodes of all levels.
        counts: f64,
        /// Choosing the cuts of all levels.
        cuts: f64,
        /// Summing the points of the leaves.
        sums: f64,
    },
    /// The paper's: shares of epsilon for the first three, counts with two-sided geometric noise.
    /// The sums get all that the accountant finds left, which is more than the remaining share.
    Pure {
        /// Choosing the interval size.
        interval: f64,
        /// Counting the nodes of all levels.
        counts: f64,
        /// Choosing the cuts of all levels.
        cuts: f64,
    },
}

impl BudgetSplit {
    /// The shares of the paper: .04, .18 and .18 of epsilon.
    pub const PAPER: Self = Self::Pure { interval: 0.04, counts: 0.18, cuts: 0.18 };
}

impl Default for BudgetSplit {
    /// What the paper's shares amount to in zero-concentrated terms at `epsilon = 1`.
    fn default() -> Self {
        Self::Zcdp { interval: 0.01, counts: 0.17, cuts: 0.045, sums: 0.785 }
    }
}

/// Everything that DPM draws with. The receipt is read off the same objects.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Primitives {
    pub(super) interval: Option<ExponentialMechanism>,
    /// Levels `0..=max_depth`.
    pub(super) counts: Vec<NoisyCount>,
    /// Levels `0..max_depth`.
    pub(super) cuts: Vec<ExponentialMechanism>,
    pub(super) sums: GaussianSum,
}

impl Primitives {
    pub(super) fn calibrate(
        settings: &DpmBuilder,
        score: &CutScore,
        total: Rho,
    ) -> Result<Self, ClusterError> {
        let dim = settings.public_box.dim();
        let estimated = settings.interval_size == IntervalSize::Estimated;
        let levels = settings.max_depth;
        let shares = match settings.split {
            BudgetSplit::Zcdp { interval, counts, cuts, sums } => [interval, counts, cuts, sums],
            // The last is what the others leave of epsilon; what the sums really get comes below.
            BudgetSplit::Pure { interval, counts, cuts } => [interval, counts, cuts, 1.0],
        };
        for (name, got) in ["interval", "counts", "cuts", "sums"].into_iter().zip(shares) {
            let needed = estimated || name != "interval";
            if needed && !(got.is_finite() && got > 0.0) {
                return Err(ClusterError::Setting { name, got, want: "a finite share above 0" });
            }
        }
        let [i, n, c, s] = shares;
        let i = if estimated { i } else { 0.0 };
        let (interval_eta, counts, cuts): (Epsilon, Vec<NoisyCount>, Vec<Epsilon>);
        match settings.split {
            BudgetSplit::Zcdp { .. } => {
                let parts = total.split(&[i, n, c, s])?;
                // Shares of rho grow like 2^level: the scale of the noise falls like 2^(-level/2).
                let rhos = parts[1].split(&powers(2.0, levels + 1))?.into_iter();
                counts = rhos.map(NoisyCount::gaussian).collect::<Result<_, _>>()?;
                interval_eta = eta(parts[0]);
                cuts = parts[2].split(&powers(2.0, levels))?.into_iter().map(eta).collect();
            }
            BudgetSplit::Pure { .. } => {
                let rest = 1.0 - i - n - c;
                if rest <= 0.0 {
                    return Err(too_much(i + n + c));
                }
                let parts = settings.budget.epsilon().split(&[i, n, c, rest])?;
                let epsilons = parts[1].split(&powers(SQRT_2, levels + 1))?.into_iter();
                counts = epsilons.map(NoisyCount::geometric).collect::<Result<_, _>>()?;
                interval_eta = parts[0];
                cuts = parts[2].split(&powers(SQRT_2, levels))?;
            }
        }
        let range = score.range(dim);
        let cuts = cuts.into_iter().map(|eta| ExponentialMechanism::by_range(eta, range));
        let interval = || ExponentialMechanism::by_range(interval_eta, score_range(dim));
        let primitives = Self {
            interval: estimated.then(interval).transpose()?,
            counts,
            cuts: cuts.collect::<Result<_, _>>()?,
            sums: GaussianSum::new(total)?,
        };
        primitives.with_largest_sums(total, settings.budget).ok_or(too_much(i + n + c))
    }

    /// Gives the sums the largest share of `total` with which the whole receipt fits the budget.
    fn with_largest_sums(self, total: Rho, budget: Budget) -> Option<Self> {
        let with = |share: f64| {
            let sums = GaussianSum::new(Rho::new(total.get() * share).ok()?).ok()?;
            let candidate = Self { sums, ..self.clone() };
            let epsilon = candidate.spent().epsilon(budget.delta())?;
            (epsilon <= budget.epsilon()).then_some(candidate)
        };
        let (mut low, mut high) = (0.0, 1.0);
        for _ in 0..40 {
            let middle = f64::midpoint(low, high);
            if with(middle).is_some() { low = middle } else { high = middle }
        }
        with(low)
    }

    /// The itemised cost.
    pub(super) fn spent(&self) -> Step {
        let interval = self.interval.iter().map(|m| Step::spend("interval size", m.loss()));
        let level =
            |i, name, loss| Step::parallel(format!("level {i}"), vec![Step::spend(name, loss)]);
        let counts = self.counts.iter().enumerate();
        let counts = counts.map(|(i, m)| level(i, "count of one node", m.loss())).collect();
        let cuts = self.cuts.iter().enumerate();
        let cuts = cuts.map(|(i, m)| level(i, "cut of one node", m.loss())).collect();
        let leaf = Step::spend("sum of one leaf", self.sums.loss());
        let groups = [
            Step::sequential("counts", counts),
            Step::sequential("cuts", cuts),
            Step::parallel("sums of the leaves", vec![leaf]),
        ];
        Step::sequential("all steps", interval.chain(groups).collect())
    }
}

/// The loss of a choice that costs `rho`: bounded range `eta` is `eta^2/8`-zCDP.
fn eta(rho: Rho) -> Epsilon {
    // One step down outweighs the rounding of the root.
    let eta = (8.0 * rho.get()).sqrt().next_down().max(0.0);
    Epsilon::new(eta).expect("the root of a valid rho")
}

/// `1, base, base^2, ...`
fn powers(base: f64, levels: usize) -> Vec<f64> {
    std::iter::successors(Some(1.0), |power| Some(power * base)).take(levels).collect()
}

fn too_much(got: f64) -> ClusterError {
    let name = "interval + counts + cuts";
    ClusterError::Setting { name, got, want: "small enough to leave something for the sums" }
}
