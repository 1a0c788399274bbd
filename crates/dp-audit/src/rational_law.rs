//! Laws in exact arithmetic.

use std::collections::BTreeMap;

use num_rational::BigRational;
use num_traits::ToPrimitive;

/// Exact probabilities of all outputs of one run of a mechanism on one data set.
#[derive(Clone, Debug, PartialEq)]
pub struct RationalLaw<O: Ord> {
    probabilities: BTreeMap<O, BigRational>,
}

impl<O: Ord> RationalLaw<O> {
    /// # Panics
    /// If the probabilities do not add up to exactly 1.
    pub(crate) fn from_paths(paths: impl IntoIterator<Item = (O, BigRational)>) -> Self {
        let mut probabilities = BTreeMap::new();
        for (output, p) in paths {
            let sum = probabilities.entry(output).or_insert_with(zero);
            *sum += p;
        }
        let total = probabilities.values().fold(zero(), |sum, p| sum + p);
        assert_eq!(total, BigRational::from_integer(1.into()), "the law does not sum to 1");
        Self { probabilities }
    }

    /// Outputs and their probabilities, in order.
    pub fn iter(&self) -> impl Iterator<Item = (&O, &BigRational)> {
        self.probabilities.iter()
    }

    /// The largest ratio of this law to the other over all outputs; `None` if some output is
    /// possible here and impossible there. To be compared with `odds^k` for a claim of `k` units.
    pub fn largest_ratio(&self, other: &Self) -> Option<BigRational> {
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
