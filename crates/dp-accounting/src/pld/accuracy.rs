//! How close the two sides of an answer should be, and how much may be done for it.

use serde::{Deserialize, Serialize};

use crate::error::ParamError;

/// What an answer should be worth, and what it may cost.
///
/// Whatever the accuracy, both sides of an answer are bounds. [`Bound::gap`](crate::Bound::gap) says what was reached: less than was asked
/// for where the effort did not suffice.
///
/// ```
/// use dp_accounting::{Accuracy, Composition, Delta, Event, Question};
///
/// let steps = Event::laplace(1.0)?.poisson_sampled(0.1)?;
/// let few = Composition::new().with(steps, 3)?;
/// let answer = few.profile(Accuracy::within(1e-4)?).ask(Question::Epsilon(Delta::new(1e-6)?))?;
/// assert!(answer.bound.gap() <= 1e-4);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "Unchecked", into = "Unchecked")]
pub struct Accuracy {
    gap: f64,
    effort: u64,
}

impl Accuracy {
    /// The effort that is spent on one question at most unless another is asked for: about a second.
    pub const DEFAULT_EFFORT: u64 = 60_000_000;

    /// Sides within `gap` of each other: for an epsilon below 1 and relative to one above, and relative to a delta.
    ///
    /// # Errors
    /// [`ParamError`] unless `1e-9 <= gap <= 1`.
    pub fn within(gap: f64) -> Result<Self, ParamError> {
        if (1e-9..=1.0).contains(&gap) {
            return Ok(Self { gap, effort: Self::DEFAULT_EFFORT });
        }
        Err(ParamError::OutOfRange { name: "gap", got: gap, want: "between 1e-9 and 1" })
    }

    /// The same with at most about so many elementary steps per question: evaluations of a sine, points of a transform, each some
    /// 20 nanoseconds. It is a count and not a time, so that the answer does not depend on the machine. No transform is made that the rest of
    /// the effort does not pay for, the first look included; where a mix has so many laws that none can be made, the bound by moments remains.
    ///
    /// # Errors
    /// [`ParamError`] unless `1e5 <= effort <= 1e11`.
    pub fn with_effort(self, effort: u64) -> Result<Self, ParamError> {
        if (100_000..=100_000_000_000).contains(&effort) {
            return Ok(Self { effort, ..self });
        }
        let want = "between 1e5 and 1e11";
        Err(ParamError::OutOfRange { name: "effort", got: effort as f64, want })
    }

    /// The gap that is aimed at.
    pub const fn gap(self) -> f64 {
        self.gap
    }

    /// With this share of the effort: one of several looks that answer a question together.
    #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "at most 1e11")]
    pub(crate) fn share(self, share: f64) -> Self {
        Self { effort: (self.effort as f64 * share) as u64, ..self }
    }

    /// The elementary steps that one question may take.
    pub const fn effort(self) -> u64 {
        self.effort
    }
}

impl Default for Accuracy {
    /// A gap of `1e-6`, for about a second at most.
    fn default() -> Self {
        Self { gap: 1e-6, effort: Self::DEFAULT_EFFORT }
    }
}

/// The file form; reading it goes through the constructors.
#[derive(Serialize, Deserialize)]
#[serde(rename = "Accuracy", deny_unknown_fields)]
struct Unchecked {
    gap: f64,
    effort: u64,
}

impl TryFrom<Unchecked> for Accuracy {
    type Error = ParamError;
    fn try_from(raw: Unchecked) -> Result<Self, ParamError> {
        Self::within(raw.gap)?.with_effort(raw.effort)
    }
}

impl From<Accuracy> for Unchecked {
    fn from(accuracy: Accuracy) -> Self {
        Self { gap: accuracy.gap, effort: accuracy.effort }
    }
}
