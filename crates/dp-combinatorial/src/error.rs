//! The one error type of the crate.

use dp_accounting::{Budget, ParamError, plain_number};
use dp_mechanism::{Certificate, MechanismError};

use crate::k_median::MetricError;

/// Why a plan could not be built.
///
/// Fields are public settings and shapes; none of them is taken from a record.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum CombinatorialError {
    /// A public number is out of range.
    #[error("{name} must be {want}, got {got}")]
    OutOfRange {
        /// Name of the setting.
        name: &'static str,
        /// Its value.
        got: i128,
        /// What would be accepted.
        want: &'static str,
    },
    /// A number is above one that follows from other settings.
    #[error("{name} must be at most {most_name}, which is {most}, got {got}")]
    AboveLimit {
        /// Name of the setting.
        name: &'static str,
        /// Its value.
        got: u64,
        /// What limits it.
        most_name: &'static str,
        /// The most that would be accepted.
        most: u64,
    },
    /// A number that points at something that does not exist.
    #[error("{name} must be below {of}, which is {count}, got {got}")]
    Index {
        /// What it is.
        name: &'static str,
        /// Its value.
        got: usize,
        /// What it points into.
        of: &'static str,
        /// How many there are.
        count: usize,
    },
    /// There are not as many of something as of something else.
    #[error("there must be as many {name} as {of}, which are {want}, got {got}")]
    Length {
        /// What is counted.
        name: &'static str,
        /// How many there are.
        got: usize,
        /// What they belong to.
        of: &'static str,
        /// How many of those there are.
        want: usize,
    },
    /// The lowest threshold is below 1 or above the number of users that can be expected in the sample.
    #[error(
        "floor must be at least 1 and at most most_users * (1 - e^-epsilon), which is {}, got {}",
        plain_number(*most), plain_number(*got)
    )]
    Floor {
        /// The floor.
        got: f64,
        /// The most that would be accepted.
        most: f64,
    },
    /// A certificate needs more delta than there is.
    #[error(
        "delta of the certificate must be at most that of the budget, which is {}, got {}",
        plain_number(*most), plain_number(*got)
    )]
    CertificateDelta {
        /// Of the certificate.
        got: f64,
        /// Of the budget.
        most: f64,
    },
    /// A constraint that is no matroid.
    #[error("the constraint is not a matroid, as the elements {set:?} show")]
    NotAMatroid {
        /// A set that shows it: it has an independent superset or a larger independent set, and yet is
        /// not independent or cannot grow.
        set: Vec<usize>,
    },
    /// A set of the wrong size, or one that the constraint does not allow.
    #[error("a base must be independent and have {rank} elements, which the {} of {set:?} are not", .set.len())]
    NotABase {
        /// The set.
        set: Vec<usize>,
        /// The size of a base.
        rank: usize,
    },
    /// Two groups of a laminar family overlap, and neither holds the other.
    #[error("groups must be nested or disjoint: element {element} is in two that are neither")]
    NotNested {
        /// An element of both.
        element: usize,
    },
    /// The distances are no metric.
    #[error(transparent)]
    Metric(#[from] MetricError),
    /// The family does not have as many sets as the plan is for.
    #[error("the family has {got} sets, the plan is for {expected}")]
    SetCount {
        /// Of the plan.
        expected: u32,
        /// Of the family.
        got: usize,
    },
    /// A real number is out of range.
    #[error(transparent)]
    Param(#[from] ParamError),
    /// A step cannot be calibrated.
    #[error(transparent)]
    Mechanism(#[from] MechanismError),
}

impl CombinatorialError {
    /// A real number that is out of range.
    pub(crate) fn real(name: &'static str, got: f64, want: &'static str) -> Self {
        ParamError::OutOfRange { name, got, want }.into()
    }

    /// A number that points at something that does not exist.
    pub(crate) fn index(name: &'static str, got: usize, of: &'static str, count: usize) -> Self {
        Self::Index { name, got, of, count }
    }
}

/// Names the `epsilon` that was given where a part of it is too small, or a credit in units of our own
/// too large for it.
pub(crate) fn in_terms_of(budget: Budget) -> impl Fn(MechanismError) -> CombinatorialError {
    move |error| match error {
        MechanismError::TooMuchNoise { .. } => {
            let want = "so large that the noise of its parts fits in 64 bits";
            CombinatorialError::real("epsilon", budget.epsilon().get(), want)
        }
        other => other.into(),
    }
}

/// Refuses a certificate that needs more delta than the budget has.
pub(crate) fn check_delta(
    certificate: Certificate,
    budget: Budget,
) -> Result<(), CombinatorialError> {
    match certificate {
        Certificate::Approximate { delta } if delta > budget.delta() => {
            let (got, most) = (delta.get(), budget.delta().get());
            Err(CombinatorialError::CertificateDelta { got, most })
        }
        _ => Ok(()),
    }
}
