//! Laws in exact arithmetic.

use std::collections::BTreeMap;

use dp_accounting::Relation;
use num_rational::BigRational;
use num_traits::ToPrimitive;

use crate::promises::Promises;

/// Exact probabilities of all outputs of one run of a mechanism on one data set.
#[derive(Clone, Debug, PartialEq)]
pub struct RationalLaw<O: Ord> {
    probabilities: BTreeMap<O, BigRational>,
    promises: Promises,
    /// Whether it is known to be one of neighbours that the plan speaks of.
    known: bool,
}

impl<O: Ord> RationalLaw<O> {
    /// # Panics
    /// If the probabilities do not add up to exactly 1.
    pub(crate) fn from_paths(
        paths: impl IntoIterator<Item = (O, BigRational)>,
        promises: Promises,
    ) -> Self {
        let mut probabilities = BTreeMap::new();
        for (output, p) in paths {
            let sum = probabilities.entry(output).or_insert_with(zero);
            *sum += p;
        }
        let total = probabilities.values().fold(zero(), |sum, p| sum + p);
        assert_eq!(total, BigRational::from_integer(1.into()), "the law does not sum to 1");
        let known = promises.is_empty();
        Self { probabilities, promises, known }
    }

    /// To be compared on neighbours under this relation, as [`Law::under`](crate::Law::under).
    ///
    /// # Panics
    /// If a plan promised something about other neighbours, or something was drawn beside it.
    #[must_use]
    pub fn under<L: Relation>(self, relation: L) -> Self {
        let fits = self.promises.cover_all_draws(relation.any());
        if let (false, Err(why)) = (self.promises.is_empty(), fits) {
            panic!("{why}");
        }
        Self { known: true, ..self }
    }

    /// Outputs and their probabilities, in order.
    pub fn iter(&self) -> impl Iterator<Item = (&O, &BigRational)> {
        self.probabilities.iter()
    }

    /// The largest ratio of this law to the other over all outputs; `None` if some output is
    /// possible here and impossible there, or the two are not known to be of neighbours. To be compared with `odds^k` for a claim of `k` units.
    pub fn largest_ratio(&self, other: &Self) -> Option<BigRational> {
        if !(self.known && other.known) {
            return None;
        }
        self.iter().try_fold(zero(), |largest, (output, p)| {
            let q = other.probabilities.get(output)?;
            Some(largest.max(p / q))
        })
    }
}

/// A loss as a power of `odds`, for reporting, of a ratio that was found to be within `bound` exactly;
/// infinite if it is beyond it by however little, or unbounded.
pub fn power_within(ratio: Option<BigRational>, bound: &BigRational, odds: u32) -> f64 {
    match ratio {
        Some(ratio) if ratio <= *bound => {
            ratio.to_f64().map_or(f64::NAN, |ratio| ratio.ln() / f64::from(odds).ln())
        }
        _ => f64::INFINITY,
    }
}

fn zero() -> BigRational {
    BigRational::from_integer(0.into())
}
