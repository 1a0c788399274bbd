//! The one error type of the crate.

use std::fmt;

use dp_accounting::ParamError;
use dp_geometry::GeometryError;
use dp_mechanism::MechanismError;

use crate::kmeans::{KMeans, MAX_MAGNITUDE};

/// Why a plan could not be built, or a solver that is not private refused its input.
///
/// Fields are shapes and public settings. The variants about coordinates and weights carry neither
/// a value nor an index, so that a message can be logged whatever the solver was run on.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum ClusterError {
    /// The number of clusters lies outside of 1 to [`KMeans::MAX_CLUSTERS`].
    ClusterCount {
        /// The number of clusters that was asked for.
        got: usize,
    },
    /// A setting that counts something is zero.
    ZeroSetting {
        /// Name of the setting.
        name: &'static str,
    },
    /// The relative tolerance is NaN, negative, or 1 and above.
    RelativeTolerance {
        /// The tolerance that was asked for.
        got: f64,
    },
    /// There is not one weight per point.
    WeightsLength {
        /// Number of points.
        points: usize,
        /// Number of weights.
        weights: usize,
    },
    /// A weight is NaN, negative, infinite, or above [`MAX_MAGNITUDE`].
    Weight,
    /// A coordinate is NaN, infinite, or above [`MAX_MAGNITUDE`] in absolute value.
    Coordinate,
    /// A public setting of a private algorithm is out of range.
    Setting {
        /// Name of the setting.
        name: &'static str,
        /// Its value.
        got: f64,
        /// What would be accepted.
        want: &'static str,
    },
    /// The points do not have the dimension of the public domain.
    Dimension {
        /// Of the box or ball.
        expected: usize,
        /// Of the points.
        got: usize,
    },
    /// There are not as many records as the plan was made for, where their number is public.
    Records {
        /// By the plan.
        expected: u64,
        /// In the data.
        got: u64,
    },
    /// Counts were made for another plan.
    OtherPlan,
    /// Bytes are no counts of this version, or not whole.
    Damaged,
    /// A privacy parameter is out of range.
    Param(ParamError),
    /// A step cannot be calibrated.
    Mechanism(MechanismError),
    /// The public box is too extreme to divide.
    Geometry(GeometryError),
}

impl ClusterError {
    /// Refuses points of another dimension than that of the public domain.
    pub(crate) fn unless_equal(expected: usize, got: usize) -> Result<(), Self> {
        if got == expected { Ok(()) } else { Err(Self::Dimension { expected, got }) }
    }
}

impl fmt::Display for ClusterError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Self::ClusterCount { got } => write!(
                f,
                "the number of clusters must lie between 1 and {}, got {got}",
                KMeans::MAX_CLUSTERS
            ),
            Self::ZeroSetting { name } => write!(f, "`{name}` must be at least 1, got 0"),
            Self::RelativeTolerance { got } => {
                write!(f, "`relative_tolerance` must be at least 0 and below 1, got {got:?}")
            }
            Self::WeightsLength { points, weights } => {
                write!(f, "there must be one weight per point, got {weights} for {points} points")
            }
            Self::Weight => {
                write!(f, "every weight must be a number between 0 and {MAX_MAGNITUDE:?}")
            }
            Self::Coordinate => {
                write!(f, "every coordinate must be a number between +-{MAX_MAGNITUDE:?}")
            }
            Self::Setting { name, got, want } => write!(f, "{name} must be {want}, got {got}"),
            Self::Dimension { expected, got } => write!(
                f,
                "the points have {got} coordinates each, the public domain has {expected} dimensions"
            ),
            Self::Records { expected, got } => {
                write!(f, "the plan is made for {expected} records, got {got}")
            }
            Self::OtherPlan => f.write_str("the counts were made for another plan"),
            Self::Damaged => f.write_str("the bytes are not whole counts of version 1"),
            Self::Param(ref error) => error.fmt(f),
            Self::Mechanism(ref error) => error.fmt(f),
            Self::Geometry(ref error) => error.fmt(f),
        }
    }
}

impl std::error::Error for ClusterError {}

impl From<ParamError> for ClusterError {
    fn from(error: ParamError) -> Self {
        Self::Param(error)
    }
}

impl From<MechanismError> for ClusterError {
    fn from(error: MechanismError) -> Self {
        Self::Mechanism(error)
    }
}

impl From<GeometryError> for ClusterError {
    fn from(error: GeometryError) -> Self {
        Self::Geometry(error)
    }
}
