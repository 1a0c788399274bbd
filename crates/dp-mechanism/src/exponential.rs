//! The exponential mechanism, calibrated by the range of a score change.

use dp_accounting::{Epsilon, Loss};
use dp_noise::Ratio;

use crate::rational::{ratio_at_most, to_f64};
use crate::{CellsRef, Draws, MechanismError};

/// Chooses candidate `i` with probability proportional to `exp(epsilon * score_i / range)`.
///
/// # Guarantee
/// Let `df_i` be the change of score `i` between two neighbouring data sets. If
/// `max_i df_i - min_i df_i <= range` for all neighbours, then the choice is `epsilon`-DP, has
/// `epsilon`-bounded range, and is `epsilon^2/8`-zCDP: with `k = epsilon / range`, the log ratio at
/// `s` is `k (ln-average of e^df - df_s)`, which lies in `[k (min df - df_s), k (max df - df_s)]`.
///
/// The range is at most twice the sensitivity and often less, so this form is never noisier than
/// the textbook one with `exp(epsilon * score / (2 sensitivity))`.
///
/// # Utility
/// Except with probability `beta` the score chosen is within
/// `(range / epsilon) (ln n + ln(1/beta))` of the best of `n`.
///
/// # Precision
/// Exact, on integer scores. `epsilon` is rounded down to 32 bits when built and reported so.
///
/// # Source
/// McSherry, Talwar (2007); Durfee, Rogers (2019) for bounded range; Cesar, Rogers (2021) for zCDP.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ExponentialMechanism {
    rate: Ratio,
    epsilon: Epsilon,
}

impl ExponentialMechanism {
    /// For scores whose changes have this range, in the integer units of the scores.
    ///
    /// # Errors
    /// [`MechanismError`] if `epsilon` or `range` is zero, or their quotient is too small to hold.
    pub fn by_range(epsilon: Epsilon, range: u64) -> Result<Self, MechanismError> {
        let name = "epsilon of a choice";
        if epsilon.get() <= 0.0 {
            return Err(MechanismError::NotPositive { name });
        }
        if range == 0 {
            return Err(MechanismError::NotPositive { name: "range of a score" });
        }
        let too_much = MechanismError::TooMuchNoise { name, got: epsilon.get() };
        let rounded = ratio_at_most(epsilon.get()).ok_or(too_much)?;
        let per_unit = Ratio::new(1, range.into()).map_err(|_| too_much)?;
        Ok(Self {
            rate: rounded.checked_mul(per_unit).ok_or(too_much)?,
            epsilon: Epsilon::new(to_f64(rounded)).expect("rounded down from a valid one"),
        })
    }

    /// What one release costs.
    pub fn loss(&self) -> Loss {
        Loss::BoundedRange { eta: self.epsilon }
    }

    /// The index chosen.
    ///
    /// # Errors
    /// [`MechanismError::NoCandidates`]. Their number is public; nothing is drawn or charged then.
    pub fn release<'s>(
        &self,
        scores: impl Into<CellsRef<'s, i64>>,
        draws: &mut Draws<'_>,
    ) -> Result<usize, MechanismError> {
        let scores = scores.into().0;
        if scores.is_empty() {
            return Err(MechanismError::NoCandidates);
        }
        Ok(draws.charge(self.loss()).choose(scores, self.rate))
    }
}
