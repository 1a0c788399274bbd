//! The one error type of the crate.

use std::fmt;

use dp_accounting::{Budget, ParamError};
use dp_mechanism::MechanismError;

use crate::k_median::MetricError;

/// Why a plan could not be built.
///
/// Fields are public settings and shapes; none of them is taken from a record.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum CombinatorialError {
    /// A setting that counts something is zero.
    ZeroSetting {
        /// Name of the setting.
        name: &'static str,
    },
    /// A public setting is out of range.
    Setting {
        /// Name of the setting.
        name: &'static str,
        /// Its value.
        got: f64,
        /// What would be accepted.
        want: &'static str,
    },
    /// A constraint that is no matroid.
    NotAMatroid {
        /// A set that shows it: it has an independent superset or a larger independent set, and yet is
        /// not independent or cannot grow.
        set: Vec<usize>,
    },
    /// The distances are no metric.
    Metric(MetricError),
    /// The family does not have as many sets as the plan is for.
    SetCount {
        /// Of the plan.
        expected: u32,
        /// Of the family.
        got: usize,
    },
    /// A privacy parameter is out of range.
    Param(ParamError),
    /// A step cannot be calibrated.
    Mechanism(MechanismError),
}

impl fmt::Display for CombinatorialError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Self::ZeroSetting { name } => write!(f, "`{name}` must be at least 1, got 0"),
            // Whole numbers as such, all others with an exponent where they are small.
            Self::Setting { name, got, want } if got.fract() == 0.0 && got.abs() < 1e15 => {
                write!(f, "`{name}` must be {want}, got {got}")
            }
            Self::Setting { name, got, want } => write!(f, "`{name}` must be {want}, got {got:?}"),
            Self::NotAMatroid { ref set } => {
                write!(f, "the constraint is not a matroid, as the elements {set:?} show")
            }
            Self::Metric(ref error) => error.fmt(f),
            Self::SetCount { expected, got } => {
                write!(f, "the family has {got} sets, the plan is for {expected}")
            }
            Self::Param(ref error) => error.fmt(f),
            Self::Mechanism(ref error) => error.fmt(f),
        }
    }
}

impl std::error::Error for CombinatorialError {}

/// Names the `epsilon` that was given where a part of it is too small, or a credit in units of our own
/// too large for it.
pub(crate) fn in_terms_of(budget: Budget) -> impl Fn(MechanismError) -> CombinatorialError {
    move |error| match error {
        MechanismError::TooMuchNoise { .. } => {
            let (name, want) = ("epsilon", "so large that the noise of its parts fits in 64 bits");
            CombinatorialError::Setting { name, got: budget.epsilon().get(), want }
        }
        other => other.into(),
    }
}

impl From<ParamError> for CombinatorialError {
    fn from(error: ParamError) -> Self {
        Self::Param(error)
    }
}

impl From<MechanismError> for CombinatorialError {
    fn from(error: MechanismError) -> Self {
        Self::Mechanism(error)
    }
}

impl From<MetricError> for CombinatorialError {
    fn from(error: MetricError) -> Self {
        Self::Metric(error)
    }
}
