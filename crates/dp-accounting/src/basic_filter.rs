//! Spending whose amounts depend on earlier outputs, in pure and approximate terms: sums may be stopped at any time.

use crate::budget::Budget;
use crate::outward::Upper;
use crate::params::{Delta, Epsilon};
use crate::receipt::Receipt;
use crate::relation::Relation;

/// What a release is charged, by a rule that was fixed beforehand: its pure loss if it has one, otherwise its epsilon at the delta of its
/// own budget.
fn charge<R: Relation>(receipt: &Receipt<R>) -> (Upper, Upper) {
    if let Some(epsilon) = receipt.pure() {
        return (Upper::new(epsilon.get()), Upper::ZERO);
    }
    let delta = Upper::new(receipt.budget().delta().get());
    (receipt.epsilon().map_or(Upper::UNKNOWN, |epsilon| Upper::new(epsilon.get())), delta)
}

/// A limit in (epsilon, delta) that may be used up by pure and approximate releases whose costs are chosen along the way; with a delta
/// of 0, by pure ones. Total: `limit` under `R`.
///
/// For zCDP, which adds up better over many releases, there is [`Filter`](crate::Filter).
///
/// # Proof
/// A pair that is `(e, d)`-private has, outside of an event of mass `d`, a log-ratio of at most `e`. On every path the events add up to at most
/// the delta of the limit and the log-ratios to at most its epsilon, since a release that would go beyond is not made. Nothing in this
/// needs the amounts to be known beforehand.
///
/// # Source
/// Rogers, Roth, Ullman, Vadhan (NeurIPS 2016): basic composition is a privacy filter. The event: Kairouz, Oh, Viswanath (ICML 2015), Theorem 3.
///
/// ```
/// use dp_accounting::{AddRemove, BasicFilter, Budget, Epsilon, Loss, Receipt, Step};
///
/// let spend = |epsilon: f64| -> Result<_, dp_accounting::ParamError> {
///     let step = Step::spend("count", Loss::from(Epsilon::new(epsilon)?));
///     Ok(Receipt::new("count", AddRemove, Budget::new(epsilon, 0.0)?, step))
/// };
/// let mut filter = BasicFilter::new(AddRemove, Budget::new(1.0, 0.0)?);
/// assert!(filter.admit(&spend(0.75)?));
/// assert!(!filter.admit(&spend(0.5)?), "refused, and not charged");
/// assert!(filter.admit(&spend(0.25)?));
/// # Ok::<(), dp_accounting::ParamError>(())
/// ```
#[derive(Clone, Debug)]
pub struct BasicFilter<R: Relation> {
    limit: Budget,
    spent: BasicOdometer<R>,
}

impl<R: Relation> BasicFilter<R> {
    /// An unused filter.
    pub fn new(relation: R, limit: Budget) -> Self {
        Self { limit, spent: BasicOdometer::new(relation) }
    }

    /// Whether `receipt` may still be released; if so it is charged, if not nothing changes.
    ///
    /// A receipt without a finite epsilon at its own delta, or of another distance, never may.
    #[must_use = "a receipt that does not fit must not be released"]
    pub fn admit(&mut self, receipt: &Receipt<R>) -> bool {
        let mut after = self.spent.clone();
        after.charge(receipt);
        let fits = after.spent().is_some_and(|(epsilon, delta)| {
            epsilon <= self.limit.epsilon() && delta <= self.limit.delta()
        });
        if fits {
            self.spent = after;
        }
        fits
    }

    /// What is used up, rounded up.
    pub fn spent(&self) -> (Epsilon, Delta) {
        self.spent.spent().unwrap_or((self.limit.epsilon(), self.limit.delta()))
    }

    /// The most that may be used up.
    pub fn limit(&self) -> Budget {
        self.limit
    }
}

/// The running sums of epsilon and of delta of releases whose costs are chosen along the way, with no limit.
///
/// For every pair of numbers: as long as the sums are within them, what was released is private at them.
///
/// # Source
/// As [`BasicFilter`]: that is what the filter with those limits says.
#[derive(Clone, Debug)]
pub struct BasicOdometer<R: Relation> {
    relation: R,
    epsilon: Upper,
    delta: Upper,
}

impl<R: Relation> BasicOdometer<R> {
    /// Nothing spent yet.
    pub fn new(relation: R) -> Self {
        Self { relation, epsilon: Upper::ZERO, delta: Upper::ZERO }
    }

    /// Charges a release. From a receipt without a finite epsilon at its own delta, or of another distance, on nothing is known any more.
    pub fn charge(&mut self, receipt: &Receipt<R>) {
        let same = receipt.relation() == self.relation;
        let (epsilon, delta) = if same { charge(receipt) } else { (Upper::UNKNOWN, Upper::ZERO) };
        (self.epsilon, self.delta) = (self.epsilon + epsilon, self.delta + delta);
    }

    /// What is spent so far, rounded up; `None` if that is no guarantee.
    pub fn spent(&self) -> Option<(Epsilon, Delta)> {
        Some((Epsilon::of(self.epsilon.get())?, Delta::of(self.delta.get())?))
    }
}
