//! The one error type of the crate.

use dp_accounting::{ParamError, plain_number};
use dp_geometry::{GeometryError, PointsView};
use dp_mechanism::MechanismError;

use crate::kmeans::{KMeans, MAX_MAGNITUDE};

/// Why a plan could not be built, or a solver that is not private refused its input.
///
/// Fields are shapes and public settings. The variants about coordinates and weights carry neither
/// a value nor an index, so that a message can be logged whatever the solver was run on.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum ClusterError {
    /// The number of clusters lies outside of 1 to [`KMeans::MAX_CLUSTERS`].
    #[error("the number of clusters must lie between 1 and {}, got {got}", KMeans::MAX_CLUSTERS)]
    ClusterCount {
        /// The number of clusters that was asked for.
        got: usize,
    },
    /// A setting that counts something is zero.
    #[error("`{name}` must be at least 1, got 0")]
    ZeroSetting {
        /// Name of the setting.
        name: &'static str,
    },
    /// The relative tolerance is NaN, negative, or 1 and above.
    #[error("`relative_tolerance` must be at least 0 and below 1, got {got:?}")]
    RelativeTolerance {
        /// The tolerance that was asked for.
        got: f64,
    },
    /// There is not one weight per point.
    #[error("there must be one weight per point, got {weights} for {points} points")]
    WeightsLength {
        /// Number of points.
        points: usize,
        /// Number of weights.
        weights: usize,
    },
    /// There is not one count per centre.
    #[error("there must be one count per centre, got {counts} for {centres} centres")]
    CountsLength {
        /// Number of centres.
        centres: usize,
        /// Number of counts.
        counts: usize,
    },
    /// There is not one error per centre.
    #[error("there must be one error per centre, got {errors} for {centres} centres")]
    ErrorsLength {
        /// Number of centres.
        centres: usize,
        /// Number of errors.
        errors: usize,
    },
    /// A weight is NaN, negative, infinite, or above [`MAX_MAGNITUDE`].
    #[error("every weight must be a number between 0 and {MAX_MAGNITUDE:?}")]
    Weight,
    /// A coordinate is NaN, infinite, or above [`MAX_MAGNITUDE`] in absolute value.
    #[error("every coordinate must be a number between +-{MAX_MAGNITUDE:?}")]
    Coordinate,
    /// A public setting of a private algorithm is out of range.
    #[error("{name} must be {want}, got {}", plain_number(*got))]
    Setting {
        /// Name of the setting.
        name: &'static str,
        /// Its value.
        got: f64,
        /// What would be accepted.
        want: &'static str,
    },
    /// The points do not have the dimension of the public domain.
    #[error("the points have {got} coordinates each, the public domain has {expected} dimensions")]
    Dimension {
        /// Of the box or ball.
        expected: usize,
        /// Of the points.
        got: usize,
    },
    /// Points and centres have different numbers of coordinates.
    #[error("the points have {points} coordinates each, the centres {centres}")]
    CentresDimension {
        /// Of the points.
        points: usize,
        /// Of the centres.
        centres: usize,
    },
    /// There is not one label per point.
    #[error("there must be one label per point, got {labels} for {points} points")]
    LabelsLength {
        /// Number of points.
        points: usize,
        /// Number of labels.
        labels: usize,
    },
    /// There are not as many records as the plan was made for, where their number is public.
    #[error("the plan is made for {expected} records, got {got}")]
    Records {
        /// By the plan.
        expected: u64,
        /// In the data.
        got: u64,
    },
    /// Counts were made for another plan.
    #[error("the counts were made for another plan")]
    OtherPlan,
    /// Bytes are no counts of this version, or not whole.
    #[error("the bytes are not whole counts of version 1")]
    Damaged,
    /// A privacy parameter is out of range.
    #[error(transparent)]
    Param(#[from] ParamError),
    /// A step cannot be calibrated.
    #[error(transparent)]
    Mechanism(#[from] MechanismError),
    /// The public box is too extreme to divide.
    #[error(transparent)]
    Geometry(#[from] GeometryError),
}

impl ClusterError {
    /// Refuses points of another dimension than that of the public domain.
    pub(crate) fn unless_equal(expected: usize, got: usize) -> Result<(), Self> {
        if got == expected { Ok(()) } else { Err(Self::Dimension { expected, got }) }
    }

    /// Refuses centres of another dimension than that of the points.
    pub(crate) fn unless_alike(
        points: PointsView<'_>,
        centres: PointsView<'_>,
    ) -> Result<(), Self> {
        let [points, centres] = [points, centres].map(|of| of.dim());
        if points == centres { Ok(()) } else { Err(Self::CentresDimension { points, centres }) }
    }
}
