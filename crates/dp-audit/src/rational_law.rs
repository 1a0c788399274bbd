//! Laws in exact arithmetic.

use std::collections::BTreeMap;

use dp_accounting::Relation;
use num_rational::BigRational;
use num_traits::ToPrimitive;

use crate::promises::{Promises, Standing};

/// Exact probabilities of all outputs of one run of a mechanism on one data set. What it may be held against, and what makes two of them equal, is
/// as for a [`Law`](crate::Law).
#[derive(Clone, Debug)]
pub struct RationalLaw<O: Ord> {
    probabilities: BTreeMap<O, BigRational>,
    standing: Standing,
}

impl<O: Ord> PartialEq for RationalLaw<O> {
    fn eq(&self, other: &Self) -> bool {
        self.probabilities == other.probabilities
    }
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
        Self { probabilities, standing: Standing::new(promises) }
    }

    /// To be compared on neighbours under this relation, as [`Law::under`](crate::Law::under).
    ///
    /// # Panics
    /// As there.
    #[must_use]
    pub fn under<L: Relation>(self, relation: L) -> Self {
        match self.standing.under(relation.any()) {
            Ok(standing) => Self { standing, ..self },
            Err(why) => panic!("{why}"),
        }
    }

    /// Of primitives on their own, as [`Law::without_receipt`](crate::Law::without_receipt).
    #[must_use]
    pub fn without_receipt(self) -> Self {
        Self { standing: self.standing.without_receipt(), ..self }
    }

    /// Outputs and their probabilities, in order.
    pub fn iter(&self) -> impl Iterator<Item = (&O, &BigRational)> {
        self.probabilities.iter()
    }

    /// The largest ratio of this law to the other over all outputs; `None` if some output is
    /// possible here and impossible there, or the two are not known to be of neighbours. To be compared with `odds^k` for a claim of `k` units.
    pub fn largest_ratio(&self, other: &Self) -> Option<BigRational> {
        if !self.standing.speaks_of(&other.standing) {
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

#[cfg(test)]
mod tests {
    use dp_accounting::{AddOnly, AddRemove};

    use super::*;

    fn fraction(n: i32, d: i32) -> BigRational {
        BigRational::new(n.into(), d.into())
    }

    /// Whether what is possible on one side only comes before or after what is possible on both.
    #[test]
    fn an_output_of_one_side_only_has_no_ratio() {
        let law = |paths: &[(i32, BigRational)]| {
            RationalLaw::from_paths(paths.iter().cloned(), Promises::default())
        };
        for alone in [0, 2] {
            let both = law(&[(1, fraction(1, 3)), (alone, fraction(2, 3))]);
            let one = law(&[(1, fraction(1, 1))]);
            assert_eq!(both.largest_ratio(&one), None);
            assert_eq!(one.largest_ratio(&both), Some(fraction(3, 1)));
        }
    }

    /// No rounding lets a ratio pass that is above its bound.
    #[test]
    fn a_ratio_is_held_against_its_bound_exactly() {
        let bound = fraction(8, 1);
        let tiny = BigRational::new(
            1.into(),
            num_rational::BigRational::from_integer(10.into()).pow(40).to_integer(),
        );
        for (ratio, power) in [(fraction(4, 1), 2.0), (bound.clone(), 3.0), (&bound - &tiny, 3.0)] {
            approx::assert_abs_diff_eq!(
                power_within(Some(ratio), &bound, 2),
                power,
                epsilon = 1e-12
            );
        }
        for beyond in [Some(&bound + &tiny), Some(fraction(9, 1)), None] {
            assert!(power_within(beyond, &bound, 2).is_infinite());
        }
    }

    /// A loss under one relation says nothing about a claim under another.
    #[test]
    fn laws_under_two_relations_are_not_compared() {
        let mut plan = Promises::default();
        plan.note(Some(AddRemove.any()));
        plan.draw();
        plan.note(None);
        let law =
            || RationalLaw::from_paths([(0, BigRational::from_integer(1.into()))], plan.clone());
        let (wide, narrow) = (law().under(AddRemove), law().under(AddOnly));
        assert!(wide.largest_ratio(&wide).is_some() && narrow.largest_ratio(&narrow).is_some());
        assert_eq!((wide.largest_ratio(&narrow), law().largest_ratio(&law())), (None, None));
        assert!(wide == narrow, "equality is about the distribution");
        let mut drew = Promises::default();
        drew.draw();
        let raw =
            || RationalLaw::from_paths([(0, BigRational::from_integer(1.into()))], drew.clone());
        assert_eq!(raw().largest_ratio(&raw()), None);
        let told = raw().without_receipt();
        assert!(told.largest_ratio(&told).is_some());
        assert_eq!(told.largest_ratio(&wide), None);
    }
}
