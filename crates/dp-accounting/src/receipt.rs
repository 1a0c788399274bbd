//! The itemised receipt of a release.

use std::num::NonZeroU32;

use serde::{Deserialize, Serialize};

use crate::budget::Budget;
use crate::loss::group_factor;
use crate::outward::smaller;
use crate::params::{Delta, Epsilon, Mu, Rho};
use crate::relation::{AddRemove, Relation, ReplaceOne};
use crate::rounding::raise;
use crate::step::Step;

/// What a release was allowed to spend, what it spends and on what, and for which neighbours that holds.
///
/// A plan computes its receipt from the very numbers that set its noise, before any data exists.
/// The relation is part of the type and of the file form: a receipt of one relation cannot be read as one of another.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(bound = "R: Relation", deny_unknown_fields)]
#[must_use = "a receipt that nobody spends from a ledger is not accounted for"]
pub struct Receipt<R: Relation> {
    mechanism: String,
    relation: R,
    budget: Budget,
    /// If zCDP was asked for; the budget then says what it comes to.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    rho: Option<Rho>,
    spent: Step,
}

impl<R: Relation> Receipt<R> {
    /// The receipt of `mechanism`, which was asked to stay within `budget` and spends `spent`.
    pub fn new(mechanism: impl Into<String>, relation: R, budget: Budget, spent: Step) -> Self {
        Self { mechanism: mechanism.into(), relation, budget, rho: None, spent }
    }

    /// The same, of a mechanism that was asked to stay within `rho`-zCDP: the budget is what that comes to at its delta.
    pub fn with_asked_rho(mut self, rho: Rho) -> Self {
        self.rho = Some(rho);
        self
    }

    /// The mechanism's id.
    pub fn mechanism(&self) -> &str {
        &self.mechanism
    }

    /// The neighbours that the receipt speaks about.
    pub fn relation(&self) -> R {
        self.relation
    }

    /// What was asked for.
    pub fn budget(&self) -> Budget {
        self.budget
    }

    /// The zCDP that was asked for, if it was.
    pub fn asked_rho(&self) -> Option<Rho> {
        self.rho
    }

    /// What is spent, step by step.
    pub fn spent(&self) -> &Step {
        &self.spent
    }

    /// The total as pure DP; `None` if some step has no pure loss.
    pub fn pure(&self) -> Option<Epsilon> {
        self.spent.pure_under::<R>()
    }

    /// The total as zCDP; `None` if some step has no zCDP loss.
    pub fn zcdp(&self) -> Option<Rho> {
        self.spent.zcdp_under::<R>()
    }

    /// The total as zCDP outside of some mass, as a step with a threshold has it; `None` if some step has no such loss.
    ///
    /// Under two-sided relations `(epsilon, delta)` is `epsilon tanh(epsilon / 2)` outside of `delta`.
    ///
    /// # Source
    /// Bun and Steinke (TCC 2016), Definition 8.1; Kairouz, Oh, Viswanath (ICML 2015), Theorem 3.
    pub fn zcdp_outside(&self) -> Option<(Rho, Delta)> {
        self.spent.costs_under::<R>().total_zcdp_outside()
    }

    /// The total as Gaussian DP; `None` if some step is not Gaussian.
    pub fn gaussian(&self) -> Option<Mu> {
        self.spent.gaussian_under::<R>()
    }

    /// The least epsilon at the delta of the budget; `None` if the steps do not fit into that delta.
    pub fn epsilon(&self) -> Option<Epsilon> {
        self.epsilon_at(self.budget.delta())
    }

    /// The least epsilon at `delta`.
    pub fn epsilon_at(&self, delta: Delta) -> Option<Epsilon> {
        self.spent.epsilon_under::<R>(delta)
    }

    /// Whether the total stays within what was asked for: the budget, and the zCDP if that was asked for.
    pub fn within_budget(&self) -> bool {
        let keeps = |asked| self.zcdp().is_some_and(|spent| spent <= asked);
        self.epsilon().is_some_and(|epsilon| epsilon <= self.budget.epsilon())
            && self.rho.is_none_or(keeps)
    }
}

/// Where a delta that grew past 1 is cut; further from 1 than the last digit that a text format may lose.
const MOST_DELTA: f64 = 1.0 - 1e-9;

impl Receipt<AddRemove> {
    /// The same release, charged for neighbours that replace a record: one removal and one addition, a group of 2.
    ///
    /// The budget becomes `(2 epsilon, (1 + e^epsilon) delta)`, rounded up in the last digits, and is cut to
    /// [`Budget::MAX_EPSILON`] and to a delta of `1 - 1e-9` where it would leave the range; a cut budget asks for less.
    /// A zCDP that was asked for becomes 4 times as much.
    pub fn into_replace_one(self) -> Receipt<ReplaceOne> {
        let (epsilon, delta) = (self.budget.epsilon().get(), self.budget.delta().get());
        // Some slack, so that a receipt that used its budget to the last digit is still within it.
        let delta = smaller(raise(delta * group_factor(epsilon, 2), 64.0), MOST_DELTA);
        let budget = Budget::new(smaller(2.0 * epsilon, Budget::MAX_EPSILON), delta)
            .expect("a doubled epsilon is positive and both values were cut to their range");
        let two = NonZeroU32::new(2).expect("2 is not 0");
        let spent = Step::group("replace = remove + add", two, self.spent);
        let rho = self.rho.and_then(|rho| Rho::of(4.0 * rho.get()));
        Receipt { mechanism: self.mechanism, relation: ReplaceOne, budget, rho, spent }
    }
}
