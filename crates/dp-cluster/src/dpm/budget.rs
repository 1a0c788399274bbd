//! How DPM divides its budget, and the calibrated primitives that follow.

use std::f64::consts::SQRT_2;

use dp_accounting::{AddRemove, Receipt, Rho, Step};
use dp_mechanism::{GaussianSum, NoisyCount};
use serde::{Deserialize, Serialize};

use super::Dpm;
use super::params::Asked;
use super::plan::{AfterAMiss, TreeLosses, TreePlan, powers};
use crate::ClusterError;

/// How the budget is divided among interval size, counts, cuts and sums.
///
/// Within counts and cuts, level `i` of the tree gets noise of scale proportional to `2^(-i/2)`,
/// which minimises the summed noise relative to the shrinking nodes. The `interval` share is only
/// spent if the interval size is estimated.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub enum BudgetSplit {
    /// One zero-concentrated budget in these proportions (they need not add up to 1). Counts get
    /// rounded normal noise. The other ways of adding up find some of the budget left, as a Gaussian pair covers
    /// every choice and all is one exact curve; the sums get it.
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

impl Dpm {
    /// Divides the budget and fits every step's noise to its part.
    pub(super) fn calibrate(asked: Asked, total: Rho) -> Result<Self, ClusterError> {
        let (tree, split) = (asked.tree(), asked.settings.split);
        let (estimated, levels) = (tree.is_estimated(), tree.max_depth);
        let shares = match split {
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
        let losses = match split {
            BudgetSplit::Zcdp { .. } => {
                let parts = total.split(&[i, n, c, s])?;
                TreeLosses::zcdp(levels, parts[0], parts[1], parts[2])?
            }
            BudgetSplit::Pure { .. } => {
                let rest = 1.0 - i - n - c;
                if rest <= 0.0 {
                    return Err(too_much(i + n + c));
                }
                let parts = asked.budget.epsilon().split(&[i, n, c, rest])?;
                let epsilons = parts[1].split(&powers(SQRT_2, levels + 1))?.into_iter();
                TreeLosses {
                    interval: parts[0],
                    counts: epsilons.map(NoisyCount::geometric).collect::<Result<_, _>>()?,
                    cuts: parts[2].split(&powers(SQRT_2, levels))?,
                }
            }
        };
        let tree = TreePlan::new(tree, losses, AfterAMiss::Leaf)?;
        let spent = Step::sequential("tree", tree.spent());
        let spent = Receipt::new("tree", AddRemove, asked.budget, spent);
        let left = spent.mu_left(asked.budget).ok_or(too_much(i + n + c))?;
        Ok(Self { asked, tree, sums: GaussianSum::rounded(left)? })
    }

    /// The itemised cost.
    pub(super) fn spent(&self) -> Step {
        spent(&self.tree, &self.sums)
    }
}

fn spent(tree: &TreePlan, sums: &GaussianSum) -> Step {
    let leaf = Step::spend("sum of one leaf", sums.loss());
    let mut steps = tree.spent();
    steps.push(Step::parallel("sums of the leaves", vec![leaf]));
    Step::sequential("all steps", steps)
}

fn too_much(got: f64) -> ClusterError {
    let name = "interval + counts + cuts";
    ClusterError::Setting { name, got, want: "small enough to leave something for the sums" }
}
