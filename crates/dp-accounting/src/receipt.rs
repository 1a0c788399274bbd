//! The itemised receipt of a release.

use std::num::NonZeroU32;

use serde::{Deserialize, Serialize};

use crate::bisection::bisect;
use crate::budget::Budget;
use crate::error::ParamError;
use crate::loss::{Loss, group_factor};
use crate::outward::{Lower, Upper, smaller};
use crate::params::{Delta, Epsilon, Mu, Rho};
use crate::relation::{AddRemove, Relation, ReplaceOne, Within};
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

    /// The total as Gaussian DP, choices as the pairs that cover them ([`Loss::gaussian`]); `None` if some step is covered by none, as zCDP.
    pub fn gaussian(&self) -> Option<Mu> {
        self.spent.gaussian_under::<R>()
    }

    /// The total as Gaussian DP outside of some mass, as counts with Gaussian noise and a threshold have it; `None` as for [`Receipt::gaussian`].
    pub fn gaussian_outside(&self) -> Option<(Mu, Delta)> {
        self.spent.costs_under::<R>().total_gaussian_outside()
    }

    /// The most that Gaussian steps may spend after all steps of this receipt for the total to stay within `budget`; `None` if nothing is left.
    ///
    /// Whatever is known about the steps counts: with Gaussian steps and choices the whole is one exact curve, beside zCDP ones all are zCDP, a pure
    /// loss may add its epsilon, and a mass that is left out adds its delta. [`Mu::split`] divides the result over several steps.
    ///
    /// ```
    /// use dp_accounting::{AddRemove, Budget, Delta, Loss, Mu, Receipt, Step};
    ///
    /// // Keys are kept where a Gaussian count passes a threshold: a start at mu 0.1, outside of 1e-7.
    /// let budget = Budget::new(1.0, 1e-6)?;
    /// let counts = Step::spend("counts", Loss::from(Mu::new(0.1)?));
    /// let start = Step::outside("keys over a threshold", Delta::new(1e-7)?, counts);
    /// let start = Receipt::new("start", AddRemove, budget, start);
    ///
    /// let rounds = start.mu_left(budget).expect("most of it").split(&[1.0, 3.0])?;
    /// let round = |mu: &Mu| Step::spend("round", Loss::from(*mu));
    /// let steps = [vec![start.spent().clone()], rounds.iter().map(round).collect()].concat();
    /// let whole = Receipt::new("all", AddRemove, budget, Step::sequential("all steps", steps));
    /// assert!(whole.within_budget());
    /// let (mu, delta) = whole.gaussian_outside().expect("nothing else");
    /// assert!(mu.get() > 0.23 && delta == Delta::new(1e-7)?);
    /// # Ok::<(), dp_accounting::ParamError>(())
    /// ```
    pub fn mu_left(&self, budget: Budget) -> Option<Mu> {
        let fits = |mu: f64| {
            let more = Mu::of(mu).map(|mu| Step::spend("more", Loss::from(mu)));
            let whole = more.map(|more| Step::sequential("all", vec![self.spent.clone(), more]));
            let epsilon = whole.and_then(|whole| whole.epsilon_under::<R>(budget.delta()));
            epsilon.is_some_and(|epsilon| epsilon <= budget.epsilon())
        };
        // No Gaussian with a larger mu is within any budget: at epsilon 100, its delta is above 1 - 1e-16.
        let (mu, _) = bisect(0.0, 32.0, fits);
        // The last digits are for the rounding of sums in another order. What is returned was tried itself: at a delta next to 1 bounds are so
        // rough that less does not always cost less.
        let less = [1e-12, 1e-9, 1e-6, 1e-3, 0.1].map(|less| Lower::new(mu * (1.0 - less)).get());
        Mu::of(less.into_iter().find(|&mu| mu > 0.0 && fits(mu))?)
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

impl<R: Relation> Receipt<R> {
    /// The same release, charged for neighbours that are up to `size` steps of the relation apart: `size` records that come or go, or that move
    /// each by up to the distance, as those of one person; or one record that moves `size` times as far.
    ///
    /// Nothing in the type tells it from the receipt of a single step: a ledger that is kept for groups takes no receipt as it is.
    /// The budget grows as for [`into_replace_one`](Receipt::into_replace_one), to `size` times the epsilon. Where one step can touch two parts of a
    /// partition and the receipt has parallel steps, it counts as two changes: dearer than need be, and perhaps above that budget.
    ///
    /// ```
    /// use dp_accounting::{Budget, Epsilon, Loss, Receipt, Step, Within};
    ///
    /// let spent = Step::spend("map", Loss::from(Epsilon::new(0.25)?));
    /// let receipt = Receipt::new("map", Within::new(500.0)?, Budget::new(0.25, 0.0)?, spent);
    /// // Somebody has up to four places.
    /// let of_a_person = receipt.for_groups(4.try_into()?);
    /// assert_eq!(of_a_person.epsilon(), Some(Epsilon::new(1.0)?));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn for_groups(self, size: NonZeroU32) -> Self {
        let relation = self.relation;
        let mut receipt = self;
        if R::PARTS_TOUCHED > 1 && receipt.spent.has_parts() {
            let two = NonZeroU32::new(2).expect("2 is not 0");
            receipt.spent = Step::group("one part, then another", two, receipt.spent);
        }
        receipt.grouped(&format!("group of {size}"), size, relation)
    }

    fn grouped<S: Relation>(self, name: &str, size: NonZeroU32, relation: S) -> Receipt<S> {
        let (epsilon, delta) = (self.budget.epsilon().get(), self.budget.delta().get());
        // Some slack, so that a receipt that used its budget to the last digit is still within it.
        let grown =
            group_factor(epsilon, u64::from(size.get())).times(Upper::new(delta)).raised(64.0);
        let delta = grown.or(Upper::new(MOST_DELTA)).get();
        let many = f64::from(size.get());
        let budget = Budget::new(smaller(many * epsilon, Budget::MAX_EPSILON), delta)
            .expect("a multiple of epsilon is positive and both values were cut to their range");
        let spent = Step::group(name, size, self.spent);
        let rho = self.rho.and_then(|rho| Rho::of(many * many * rho.get()));
        Receipt { mechanism: self.mechanism, relation, budget, rho, spent }
    }
}

/// Where a delta that grew past 1 is cut; further from 1 than the last digit that a text format may lose.
const MOST_DELTA: f64 = 1.0 - 1e-9;

impl Receipt<Within> {
    /// The same release, charged for records that move by less: who cannot tell a record from any other within a distance cannot tell it
    /// from those that are closer. The cost is the same, as it is only known for the whole distance.
    ///
    /// ```
    /// use dp_accounting::{Budget, Epsilon, Ledger, Loss, Receipt, Step, Within};
    ///
    /// let budget = Budget::new(1.0, 0.0)?;
    /// let spent = Step::spend("map", Loss::from(Epsilon::new(1.0)?));
    /// let receipt = Receipt::new("map", Within::new(800.0)?, budget, spent);
    /// let mut ledger = Ledger::new(Within::new(500.0)?, budget);
    /// assert!(ledger.spend(&receipt).is_err()); // not without saying so
    /// ledger.spend(&receipt.for_shorter(Within::new(500.0)?)?)?;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// [`ParamError::OutOfRange`] if the distance is longer.
    pub fn for_shorter(self, shorter: Within) -> Result<Self, ParamError> {
        if shorter.rho() > self.relation.rho() {
            let (name, want) = ("shorter distance", "at most that of the receipt");
            return Err(ParamError::OutOfRange { name, got: shorter.rho(), want });
        }
        Ok(Self { relation: shorter, ..self })
    }
}

impl Receipt<AddRemove> {
    /// The same release, charged for neighbours that replace a record: one removal and one addition, a group of 2.
    ///
    /// The budget becomes `(2 epsilon, (1 + e^epsilon) delta)`, rounded up in the last digits, and is cut to
    /// [`Budget::MAX_EPSILON`] and to a delta of `1 - 1e-9` where it would leave the range; a cut budget asks for less.
    /// A zCDP that was asked for becomes 4 times as much.
    pub fn into_replace_one(self) -> Receipt<ReplaceOne> {
        let two = NonZeroU32::new(2).expect("2 is not 0");
        self.grouped("replace = remove + add", two, ReplaceOne)
    }
}
