//! The (epsilon, delta) that a plan may spend.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::error::ParamError;
use crate::params::{Delta, Epsilon};

/// What may be spent: an (epsilon, delta) that was fixed before any data was seen.
///
/// ```
/// use dp_accounting::Budget;
///
/// let budget = Budget::new(1.0, 1e-6)?;
/// assert_eq!(budget.epsilon().get(), 1.0);
/// assert_eq!(
///     Budget::new(-1.0, 0.0).unwrap_err().to_string(),
///     "epsilon must be finite and > 0 and at most 100, got -1",
/// );
/// # Ok::<(), dp_accounting::ParamError>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "Unchecked", into = "Unchecked")]
pub struct Budget {
    epsilon: Epsilon,
    delta: Delta,
}

impl Budget {
    /// Above this, `e^epsilon` says nothing about anybody, so asking for it is taken for a mistake.
    pub const MAX_EPSILON: f64 = 100.0;

    /// A budget of `epsilon` (finite, `> 0`, at most [`Budget::MAX_EPSILON`]) and `delta` (`0 <= delta < 1`).
    ///
    /// # Errors
    /// [`ParamError::OutOfRange`] names the value that was refused.
    pub fn new(epsilon: f64, delta: f64) -> Result<Self, ParamError> {
        // The comparison form refuses NaN.
        if !(epsilon > 0.0 && epsilon <= Self::MAX_EPSILON) {
            return Err(ParamError::OutOfRange {
                name: "epsilon",
                got: epsilon,
                want: "finite and > 0 and at most 100",
            });
        }
        Ok(Self { epsilon: Epsilon::new(epsilon)?, delta: Delta::new(delta)? })
    }

    /// The epsilon that may be spent.
    pub const fn epsilon(self) -> Epsilon {
        self.epsilon
    }

    /// The delta that may be spent.
    pub const fn delta(self) -> Delta {
        self.delta
    }
}

impl fmt::Display for Budget {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "epsilon {} at delta {}", self.epsilon, self.delta)
    }
}

/// The file form; reading it goes through [`Budget::new`].
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Unchecked {
    epsilon: f64,
    delta: f64,
}

impl TryFrom<Unchecked> for Budget {
    type Error = ParamError;
    fn try_from(raw: Unchecked) -> Result<Self, ParamError> {
        Self::new(raw.epsilon, raw.delta)
    }
}

impl From<Budget> for Unchecked {
    fn from(budget: Budget) -> Self {
        Self { epsilon: budget.epsilon.get(), delta: budget.delta.get() }
    }
}
