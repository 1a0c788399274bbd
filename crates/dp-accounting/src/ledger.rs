//! The running account of a data set.

use serde::{Deserialize, Serialize};

use crate::budget::Budget;
use crate::cost::Costs;
use crate::outward::Upper;
use crate::params::Epsilon;
use crate::receipt::Receipt;
use crate::relation::Relation;

/// What may be spent on one data set, and the receipts of what was.
///
/// The check comes before the spending: a refused receipt changes nothing.
///
/// # Guarantee
/// If every receipt tells the truth, all releases together are (epsilon, delta)-DP for neighbours under `R`, at `limit` and
/// at `spent()` with the delta of the limit. What is asked may depend on earlier outputs.
///
/// How much is spent on it must not, unless the limit has no delta: a sum of pure losses may be stopped at any time. With a
/// delta, the total is the best of several routes, and which one is best could then differ from output to output; no
/// proof is offered for that.
///
/// # Relations
/// A receipt of another relation does not compile:
///
/// ```compile_fail,E0308
/// # use dp_accounting::{AddRemove, Budget, Ledger, Loss, Receipt, ReplaceOne, Step};
/// # fn receipt() -> Receipt<ReplaceOne> { loop {} }
/// let mut ledger = Ledger::new(AddRemove, Budget::new(1.0, 0.0).unwrap());
/// ledger.spend(&receipt()).unwrap();
/// ```
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(bound = "R: Relation", try_from = "Unchecked<R>", into = "Unchecked<R>")]
pub struct Ledger<R: Relation> {
    relation: R,
    limit: Budget,
    entries: Vec<Receipt<R>>,
    total: Total,
}

/// The sums over all entries, so that a spend costs the same however long the ledger is.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Total {
    costs: Costs,
    /// Receipt by receipt, each at the delta of its own budget: basic composition of whole releases.
    epsilon: Upper,
    delta: Upper,
}

impl Total {
    const EMPTY: Self = Self { costs: Costs::FREE, epsilon: Upper::ZERO, delta: Upper::ZERO };

    fn plus<R: Relation>(self, receipt: &Receipt<R>) -> Self {
        let epsilon = receipt.epsilon().map_or(Upper::UNKNOWN, |e| Upper::new(e.get()));
        Self {
            costs: self.costs.plus(receipt.spent().costs_under::<R>()),
            epsilon: self.epsilon + epsilon,
            delta: self.delta + Upper::new(receipt.budget().delta().get()),
        }
    }

    fn epsilon(self, limit: Budget) -> Option<Epsilon> {
        let fits = self.delta.get() <= limit.delta().get();
        let whole = if fits { Epsilon::of(self.epsilon.get()) } else { None };
        self.costs.epsilon(limit.delta()).into_iter().chain(whole).reduce(Epsilon::min)
    }
}

impl<R: Relation> Ledger<R> {
    /// An empty ledger over neighbours under `relation`, to be spent up to `limit`.
    pub fn new(relation: R, limit: Budget) -> Self {
        Self { relation, limit, entries: Vec::new(), total: Total::EMPTY }
    }

    /// Enters `receipt` if everything together still fits the limit.
    ///
    /// # Errors
    /// [`SpendError`]; the ledger is then unchanged.
    pub fn spend(&mut self, receipt: &Receipt<R>) -> Result<(), SpendError> {
        self.spend_up_to(receipt, self.limit.epsilon().get())
    }

    fn spend_up_to(&mut self, receipt: &Receipt<R>, most: f64) -> Result<(), SpendError> {
        if receipt.relation() != self.relation {
            return Err(SpendError::OtherDistance {
                ledger: self.relation.distance(),
                receipt: receipt.relation().distance(),
            });
        }
        let total = self.total.plus(receipt);
        let after = total.epsilon(self.limit);
        if after.is_none_or(|after| after.get() > most) {
            return Err(SpendError::Exceeded(BudgetExceeded {
                requested: receipt.epsilon_at(self.limit.delta()),
                spent: self.spent(),
                total: after,
                limit: self.limit,
            }));
        }
        self.entries.push(receipt.clone());
        self.total = total;
        Ok(())
    }

    /// The total of all entries as an epsilon at the delta of the limit. A ledger never lets this become `None`.
    pub fn spent(&self) -> Option<Epsilon> {
        self.total.epsilon(self.limit)
    }

    /// The receipts, oldest first.
    pub fn entries(&self) -> &[Receipt<R>] {
        &self.entries
    }

    /// The most that may be spent.
    pub fn limit(&self) -> Budget {
        self.limit
    }

    /// The neighbours that the ledger speaks about.
    pub fn relation(&self) -> R {
        self.relation
    }
}

/// A receipt does not fit any more.
#[derive(Clone, Copy, Debug, PartialEq, thiserror::Error)]
#[error(
    "budget exceeded: the release needs {} at delta {}, {} is spent, together {}, the limit is epsilon {}",
    in_words(*.requested), limit.delta(), in_words(*.spent), in_words(*.total), limit.epsilon()
)]
#[non_exhaustive]
pub struct BudgetExceeded {
    /// The epsilon of the refused receipt alone, at the delta of the limit; `None` if it does not fit that delta.
    pub requested: Option<Epsilon>,
    /// The epsilon spent before.
    pub spent: Option<Epsilon>,
    /// What both would come to together, which can be less than their sum.
    pub total: Option<Epsilon>,
    /// The most that may be spent.
    pub limit: Budget,
}

fn in_words(epsilon: Option<Epsilon>) -> String {
    epsilon.map_or("no finite epsilon".to_owned(), |epsilon| format!("epsilon {epsilon}"))
}

/// Why a ledger refused a receipt.
#[derive(Clone, Copy, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum SpendError {
    /// It does not fit any more.
    #[error(transparent)]
    Exceeded(#[from] BudgetExceeded),
    /// It protects another distance than the ledger; see [`Within`](crate::Within).
    #[error("the ledger protects distance {}, the receipt {}", distance(*.ledger), distance(*.receipt))]
    OtherDistance {
        /// The distance of the ledger.
        ledger: Option<f64>,
        /// The distance of the receipt.
        receipt: Option<f64>,
    },
}

fn distance(distance: Option<f64>) -> String {
    distance.map_or("none".to_owned(), |distance| distance.to_string())
}

/// The file form. Reading it spends every entry again.
#[derive(Serialize, Deserialize)]
#[serde(bound = "R: Relation", rename = "Ledger", deny_unknown_fields)]
struct Unchecked<R: Relation> {
    relation: R,
    limit: Budget,
    entries: Vec<Receipt<R>>,
}

/// A text format may bring back a number one digit off; a full ledger must still open.
const RESTART_SLACK: f64 = 1e-12;

impl<R: Relation> TryFrom<Unchecked<R>> for Ledger<R> {
    type Error = SpendError;
    fn try_from(raw: Unchecked<R>) -> Result<Self, SpendError> {
        let mut ledger = Self::new(raw.relation, raw.limit);
        let most = raw.limit.epsilon().get() * (1.0 + RESTART_SLACK);
        for receipt in &raw.entries {
            ledger.spend_up_to(receipt, most)?;
        }
        Ok(ledger)
    }
}

impl<R: Relation> From<Ledger<R>> for Unchecked<R> {
    fn from(ledger: Ledger<R>) -> Self {
        Self { relation: ledger.relation, limit: ledger.limit, entries: ledger.entries }
    }
}
