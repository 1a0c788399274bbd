//! A number that is known between two sides.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::outward::Between;
use crate::rounding::add_up;

/// The true value lies in `[lower, upper]`, rounding and truncation included; `upper` may be infinite.
///
/// A claim uses the upper side. The lower side says how much a better computation could gain.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "Unchecked", into = "Unchecked")]
pub struct Bound {
    lower: f64,
    upper: f64,
}

impl Bound {
    /// Both sides of a value that is not negative.
    pub(crate) fn new(sides: Between) -> Result<Self, Contradiction> {
        let (lower, upper) = (sides.lower.at_least_0().get() + 0.0, sides.upper.get() + 0.0);
        if lower <= upper { Ok(Self { lower, upper }) } else { Err(Contradiction { lower, upper }) }
    }

    /// As [`Bound::new`].
    ///
    /// # Panics
    /// If the sides contradict each other.
    pub(crate) fn proved(sides: Between) -> Self {
        Self::new(sides).unwrap_or_else(|contradiction| panic!("{contradiction}"))
    }

    /// Never above the true value.
    pub const fn lower(self) -> f64 {
        self.lower
    }

    /// Never below the true value.
    pub const fn upper(self) -> f64 {
        self.upper
    }

    /// The width, rounded up; infinite if only one side is known.
    pub fn gap(self) -> f64 {
        if self.lower.is_infinite() { 0.0 } else { add_up(self.upper, -self.lower) }
    }
}

/// A lower bound above the upper bound of the same number: one of the two proofs is wrong, and neither side may be used.
#[derive(Clone, Copy, Debug, PartialEq, thiserror::Error)]
#[error("a fault of dp-accounting: the lower bound {lower} lies above the upper bound {upper}")]
pub struct Contradiction {
    lower: f64,
    upper: f64,
}

impl fmt::Display for Bound {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "[{}, {}]", self.lower, self.upper)
    }
}

/// The file form. JSON has no infinity, so an upper side that is not known is left out.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Unchecked {
    lower: Option<f64>,
    upper: Option<f64>,
}

impl TryFrom<Unchecked> for Bound {
    type Error = crate::error::ParamError;
    fn try_from(raw: Unchecked) -> Result<Self, Self::Error> {
        let (lower, upper) =
            (raw.lower.unwrap_or(f64::INFINITY), raw.upper.unwrap_or(f64::INFINITY));
        if lower >= 0.0 && lower <= upper {
            Ok(Self { lower, upper })
        } else {
            let want = "at least 0 and at most the upper side";
            Err(crate::error::ParamError::OutOfRange { name: "lower bound", got: lower, want })
        }
    }
}

impl From<Bound> for Unchecked {
    fn from(bound: Bound) -> Self {
        let finite = |x: f64| x.is_finite().then_some(x);
        Self { lower: finite(bound.lower), upper: finite(bound.upper) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::outward::{Lower, Upper};

    /// A lower side above the upper one is not turned round: nothing is answered.
    #[test]
    fn sides_that_contradict_each_other_are_no_bound() {
        let sides = |lower, upper| Between { lower: Lower::new(lower), upper: Upper::new(upper) };
        let refused = Bound::new(sides(0.5, 0.25)).expect_err("one of the proofs is wrong");
        assert_eq!(
            refused.to_string(),
            "a fault of dp-accounting: the lower bound 0.5 lies above the upper bound 0.25"
        );
        assert!(Bound::new(sides(f64::INFINITY, 1.0)).is_err());
        assert!(Bound::new(sides(0.25, 0.25)).is_ok() && Bound::new(sides(f64::NAN, 0.0)).is_ok());
        assert!(serde_json::from_str::<Bound>(r#"{"lower":0.5,"upper":0.25}"#).is_err());
        assert!(serde_json::from_str::<Bound>(r#"{"lower":-0.5,"upper":0.25}"#).is_err());
    }

    /// What is reported is never less than how far the sides are apart.
    #[test]
    fn the_gap_is_not_below_the_width() {
        let sides = [0.0, 5e-324, 1e-300, 1e-17, 0.1, 1.0 / 3.0, 1.0, 1e16, f64::MAX];
        for (i, lower) in sides.into_iter().enumerate() {
            for upper in sides.into_iter().skip(i) {
                let bound =
                    Bound::proved(Between { lower: Lower::new(lower), upper: Upper::new(upper) });
                let gap = bound.gap();
                // The rounding error of a sum of two floats is a float: gap + lower, and what that leaves out.
                let sum = gap + lower;
                let part = sum - gap;
                let rest = (gap - (sum - part)) + (lower - part);
                assert!(sum > upper || (sum - upper) + rest >= 0.0, "{lower:e} {upper:e}: {gap:e}");
                assert!(gap > 0.0 || lower >= upper, "{lower:e} {upper:e}");
            }
            let open = Bound::proved(Between { lower: Lower::new(lower), upper: Upper::UNKNOWN });
            assert!(open.gap().is_infinite());
        }
    }
}
