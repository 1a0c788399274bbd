//! How DPM divides its budget, and the calibrated primitives that follow.

use dp_accounting::{Epsilon, Rho, Step};
use dp_mechanism::{ExponentialMechanism, GaussianSum, NoisyCount};
use serde::{Deserialize, Serialize};

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
    /// discrete Gaussian noise.
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
        let cut = |eta: f64| {
            let range = score.range(dim);
            Ok::<_, ClusterError>(ExponentialMechanism::by_range(Epsilon::new(eta)?, range)?)
        };
        let interval = |eta: f64| {
            let range = super::interval::score_range(dim);
            Ok::<_, ClusterError>(ExponentialMechanism::by_range(Epsilon::new(eta)?, range)?)
        };
        // Bounded range eta is eta^2/8-zCDP.
        let eta = |rho: f64| (8.0 * rho).sqrt();
        let (counts, cuts) = (settings.max_depth + 1, settings.max_depth);
        match settings.split {
            BudgetSplit::Zcdp { interval: i, counts: n, cuts: c, sums: s } => {
                for (name, got) in [("counts", n), ("cuts", c), ("sums", s)] {
                    positive(name, got)?;
                }
                let i = if estimated { positive("interval", i)? } else { 0.0 };
                let unit = total.get() / (i + n + c + s);
                Ok(Self {
                    interval: estimated.then(|| interval(eta(i * unit))).transpose()?,
                    counts: shares(n * unit, 2.0, counts)
                        .map(|rho| Ok(NoisyCount::gaussian(Rho::new(rho)?)?))
                        .collect::<Result<_, ClusterError>>()?,
                    cuts: shares(c * unit, 2.0, cuts)
                        .map(|rho| cut(eta(rho)))
                        .collect::<Result<_, _>>()?,
                    sums: GaussianSum::new(Rho::new(s * unit)?)?,
                })
            }
            BudgetSplit::Pure { interval: i, counts: n, cuts: c } => {
                for (name, got) in [("counts", n), ("cuts", c)] {
                    positive(name, got)?;
                }
                let epsilon = settings.budget.epsilon().get();
                let mut primitives = Self {
                    interval: if estimated {
                        Some(interval(positive("interval", i)? * epsilon)?)
                    } else {
                        None
                    },
                    counts: shares(n * epsilon, 2_f64.sqrt(), counts)
                        .map(|epsilon| Ok(NoisyCount::geometric(Epsilon::new(epsilon)?)?))
                        .collect::<Result<_, ClusterError>>()?,
                    cuts: shares(c * epsilon, 2_f64.sqrt(), cuts)
                        .map(cut)
                        .collect::<Result<_, _>>()?,
                    sums: GaussianSum::new(total)?,
                };
                let spent = Step::sequential("all but sums", primitives.steps_before_sums());
                let spent = spent.zcdp().expect("pure steps have a zCDP cost").get();
                let left = (total.get() - spent) * (1.0 - 1e-12);
                if left <= 0.0 {
                    return Err(ClusterError::Setting {
                        name: "interval + counts + cuts",
                        got: i + n + c,
                        want: "small enough to leave something for the sums",
                    });
                }
                primitives.sums = GaussianSum::new(Rho::new(left)?)?;
                Ok(primitives)
            }
        }
    }

    /// The itemised cost.
    pub(super) fn spent(&self) -> Step {
        let mut steps = self.steps_before_sums();
        let leaf = Step::spend("sum of one leaf", self.sums.loss());
        steps.push(Step::parallel("sums of the leaves", vec![leaf]));
        Step::sequential("all steps", steps)
    }

    fn steps_before_sums(&self) -> Vec<Step> {
        let interval = self.interval.iter().map(|m| Step::spend("interval size", m.loss()));
        let level =
            |i, name, loss| Step::parallel(format!("level {i}"), vec![Step::spend(name, loss)]);
        let counts = self.counts.iter().enumerate();
        let counts = counts.map(|(i, m)| level(i, "count of one node", m.loss())).collect();
        let cuts = self.cuts.iter().enumerate();
        let cuts = cuts.map(|(i, m)| level(i, "cut of one node", m.loss())).collect();
        let groups = [Step::sequential("counts", counts), Step::sequential("cuts", cuts)];
        interval.chain(groups).collect()
    }
}

/// `total` divided over levels in the proportions 1, growth, growth^2, ...
fn shares(total: f64, growth: f64, levels: usize) -> impl Iterator<Item = f64> {
    let weights: Vec<f64> =
        std::iter::successors(Some(1.0), |w| Some(w * growth)).take(levels).collect();
    let sum: f64 = weights.iter().sum();
    weights.into_iter().map(move |w| total * (w / sum))
}

fn positive(name: &'static str, got: f64) -> Result<f64, ClusterError> {
    if got.is_finite() && got > 0.0 {
        Ok(got)
    } else {
        Err(ClusterError::Setting { name, got, want: "a finite share above 0" })
    }
}
