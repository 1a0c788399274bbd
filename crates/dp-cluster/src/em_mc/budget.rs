//! How the budget is divided, and the calibrated primitives that follow.

use dp_accounting::{AddRemove, Delta, Epsilon, Receipt, Step};
use dp_mechanism::{
    Certificate, CreditedRun, CreditedSelection, GaussianSum, NoisyCount, Part, SelectionRule,
};
use serde::{Deserialize, Serialize};

use super::params::Asked;
use crate::ClusterError;
use crate::local_search::Objective;
use crate::total_rho::total_mu;

/// What certifies that all choices together are private.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Selection {
    /// A secret sample of the records, and no delta.
    #[default]
    Pure,
    /// All records, and half of delta. For the small epsilon of this step it is much weaker.
    Approximate,
}

/// Shares of epsilon. What they leave goes to the means, or for k-median to the weights.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct BudgetSplit {
    /// Choosing cells.
    pub cover: f64,
    /// Counting the records nearest to each of them.
    pub weights: f64,
}

impl BudgetSplit {
    /// A fifth each, which leaves three fifths for the means.
    pub const PAPER: Self = Self { cover: 0.2, weights: 0.2 };
}

impl Default for BudgetSplit {
    /// Choices and weights need little; the means can use all that is left.
    fn default() -> Self {
        Self { cover: 0.15, weights: 0.05 }
    }
}

/// The step of the receipt that pays for one weight.
pub(super) const WEIGHT: &str = "number of records of one cell";
/// And for one mean.
pub(super) const MEAN: &str = "sum and size of one part";

/// Everything that EM-MC draws with. The receipt is read off the same objects.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Primitives {
    pub(super) cover: CreditedRun,
    pub(super) choice: CreditedSelection,
    pub(super) weights: NoisyCount,
    /// `None` for k-median.
    pub(super) means: Option<GaussianSum>,
}

impl Primitives {
    pub(super) fn calibrate(asked: &Asked, choices: u64) -> Result<Self, ClusterError> {
        let BudgetSplit { cover, weights } = asked.settings.split;
        for (name, got) in [("cover", cover), ("weights", weights)] {
            if !(got > 0.0 && got < 1.0) {
                let want = "a share above 0 and below 1";
                return Err(ClusterError::Setting { name, got, want });
            }
        }
        if cover + weights >= 1.0 {
            let (name, want) = ("cover + weights", "below 1");
            return Err(ClusterError::Setting { name, got: cover + weights, want });
        }
        let (epsilon, delta) = (asked.budget.epsilon().get(), asked.budget.delta());
        let means = asked.settings.objective == Objective::KMeans;
        if delta == Delta::ZERO && (means || asked.settings.selection == Selection::Approximate) {
            let want = "above 0, unless for k-median with pure selection";
            return Err(ClusterError::Setting { name: "delta", got: 0.0, want });
        }
        let each = Epsilon::new(epsilon * cover)?;
        let certificate = match asked.settings.selection {
            Selection::Pure => Certificate::Subsampled,
            Selection::Approximate => {
                Certificate::Approximate { delta: Delta::new(0.5 * delta.get())? }
            }
        };
        // Neither certificate's rate depends on how many choices there are.
        let choices = Part { name: "all choices of cells", share: 1.0, rounds: choices };
        let cover = CreditedRun::new(certificate, each, &[choices])?;
        let choice = cover.selection(0, SelectionRule::Exponential, 1)?;
        // A little less, so that no rounding of a sum of losses can cross the budget.
        let rest = epsilon * (1.0 - asked.settings.split.cover) * (1.0 - 1e-9);
        let counted = if means { epsilon * weights } else { rest };
        let weights = NoisyCount::geometric(Epsilon::new(counted)?)?;
        let primitives = Self { cover, choice, weights, means: None };
        if means { primitives.with_largest_means(asked) } else { Ok(primitives) }
    }

    /// Gives the means the largest loss with which the whole receipt fits the budget.
    fn with_largest_means(self, asked: &Asked) -> Result<Self, ClusterError> {
        total_mu(asked.budget)?;
        let spent = Receipt::new("so far", AddRemove, asked.budget, self.spent());
        let got = asked.settings.split.cover + asked.settings.split.weights;
        let want = "small enough to leave something for the means";
        let nothing = ClusterError::Setting { name: "cover + weights", got, want };
        let left = spent.mu_left(asked.budget).ok_or(nothing)?;
        Ok(Self { means: Some(GaussianSum::rounded(left)?), ..self })
    }

    /// The itemised cost.
    pub(super) fn spent(&self) -> Step {
        let count = Step::spend(WEIGHT, self.weights.loss());
        let part = |means: &GaussianSum| {
            let sum = Step::spend(MEAN, means.loss());
            Step::parallel("means of the parts", vec![sum])
        };
        let steps = [self.cover.step(), Step::parallel("weights of the cells", vec![count])];
        Step::sequential(
            "all steps",
            steps.into_iter().chain(self.means.iter().map(part)).collect(),
        )
    }
}
