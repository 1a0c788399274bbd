//! Spending whose amounts depend on earlier outputs: a filter and an odometer.

use crate::error::ParamError;
use crate::outward::{Lower, Upper};
use crate::params::{Delta, Epsilon, Rho};
use crate::receipt::Receipt;
use crate::relation::Relation;
use crate::zcdp::zcdp_to_epsilon;

/// A limit on zCDP that may be used up by releases whose costs are chosen along the way.
///
/// A [`Ledger`](crate::Ledger) takes the best of several routes, which is only proved for costs fixed beforehand. This takes one
/// route that was fixed beforehand, so the costs need not be. Total: `limit`-zCDP under `R`.
///
/// It counts in zCDP only: a pure loss is charged its zCDP, `epsilon^2 / 2` or less, and a loss that has none (an approximate one) is
/// never admitted. Pure and approximate losses are counted by [`BasicFilter`](crate::BasicFilter).
///
/// # Source
/// Feldman and Zrnic (NeurIPS 2021), Theorem 3.1, at every order at once.
#[derive(Clone, Debug)]
pub struct Filter<R: Relation> {
    relation: R,
    limit: Rho,
    spent: Upper,
}

impl<R: Relation> Filter<R> {
    /// An unused filter.
    pub fn new(relation: R, limit: Rho) -> Self {
        Self { relation, limit, spent: Upper::ZERO }
    }

    /// Whether `receipt` may still be released; if so it is charged, if not nothing changes.
    ///
    /// A receipt without a zCDP total, or of another distance, never may.
    #[must_use = "a receipt that does not fit must not be released"]
    pub fn admit(&mut self, receipt: &Receipt<R>) -> bool {
        let Some(rho) = receipt.zcdp().filter(|_| receipt.relation() == self.relation) else {
            return false;
        };
        let after = self.spent + Upper::new(rho.get());
        let fits = after.get() <= self.limit.get();
        if fits {
            self.spent = after;
        }
        fits
    }

    /// What is used up, rounded up.
    pub fn spent(&self) -> Rho {
        Rho::of(self.spent.get()).unwrap_or(self.limit)
    }

    /// The most that may be used up.
    pub fn limit(&self) -> Rho {
        self.limit
    }
}

/// A running bound for releases whose costs are chosen along the way, with no limit: true at all times at once.
///
/// Filters with limits `base, 2 base, 4 base, ..` run side by side; the one of level `i` answers for a share
/// `1 / ((i + 1) (i + 2))` of the delta. What is reported is the epsilon of the least limit that still holds.
///
/// It counts in zCDP only, as [`Filter`] does.
///
/// # Source
/// Feldman and Zrnic (NeurIPS 2021), Section 4.
#[derive(Clone, Debug)]
pub struct Odometer<R: Relation> {
    relation: R,
    delta: Delta,
    base: Rho,
    spent: Upper,
}

impl<R: Relation> Odometer<R> {
    /// An odometer at `delta` whose finest level is `base`.
    ///
    /// # Errors
    /// [`ParamError`] if `delta` or `base` is 0.
    pub fn new(relation: R, delta: Delta, base: Rho) -> Result<Self, ParamError> {
        for (name, got) in [("delta", delta.get()), ("base", base.get())] {
            if got <= 0.0 {
                return Err(ParamError::OutOfRange { name, got, want: "above 0" });
            }
        }
        Ok(Self { relation, delta, base, spent: Upper::ZERO })
    }

    /// Charges a release. From a receipt without a zCDP total, or of another distance, on nothing is known any more.
    pub fn charge(&mut self, receipt: &Receipt<R>) {
        let rho = receipt.zcdp().filter(|_| receipt.relation() == self.relation);
        self.spent = self.spent + rho.map_or(Upper::UNKNOWN, |rho| Upper::new(rho.get()));
    }

    /// The epsilon spent so far at the delta of the odometer, rounded up; `None` if no level holds.
    pub fn spent(&self) -> Option<Epsilon> {
        let mut limit = Upper::new(self.base.get());
        let mut level = 0.0;
        while limit < self.spent {
            limit = limit.of_uses(2.0);
            level += 1.0;
            if !limit.is_known() {
                return None;
            }
        }
        let share = self.delta.get() / ((level + 1.0) * (level + 2.0));
        let share = Lower::new(share).lowered(8.0).get();
        zcdp_to_epsilon(Rho::of(limit.get())?, Delta::of(share)?)
    }
}
