//! Many choices for the price of one, when a record counts only until it is served.

use dp_accounting::{Delta, Epsilon, Loss, repeated_selection_epsilon, repeated_selection_loss};
use dp_noise::Ratio;

use crate::rational::{ratio_at_most, to_f64};
use crate::{Draws, MechanismError, PoissonSample, SparseScores};

/// Repeated exponential choices whose scores count records that leave once a candidate of theirs is
/// chosen.
///
/// # Guarantee
/// Let the run make a number of choices that is fixed beforehand, among candidates that are public,
/// with scores to which a record adds 0 or 1 while it is present, and from which it is removed for
/// good when a candidate that it counts for is chosen. With weights `exp(rate * score)`:
/// - [`pure`](Self::pure): run on [`records`](Self::records) alone, a secret sample, the whole run is
///   `epsilon`-DP under add/remove. One record more raises the log probability of any sequence of
///   choices by at most `rate`, since it is credited once and all normalisers only grow; the sample
///   makes that one-sided guarantee two-sided, see [`PoissonSample`]. `rate = ln(1 + e^epsilon)`.
/// - [`approximate`](Self::approximate): on all records, `(epsilon, delta)`-DP, with the rate of
///   [`repeated_selection_loss`].
///
/// # Utility
/// Each choice is within `ln(candidates / beta) / rate` records of the best with probability
/// `1 - beta`; under `pure`, of the sample, whose counts are about `1 - e^(-epsilon)` of the true ones.
///
/// # Precision
/// Exact. The rate is rounded down to 32 bits.
///
/// # Source
/// Gupta, Ligett, McSherry, Roth, Talwar (2010) for the argument; Ghazi, Kamath, Kumar, Manurangsi,
/// Sealfon (2024) for the sample.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RepeatedSelection {
    rate: Ratio,
    sample: Option<PoissonSample>,
    loss: Loss,
}

impl RepeatedSelection {
    /// The pure form.
    ///
    /// # Errors
    /// [`MechanismError`] if `epsilon` is zero or too small.
    pub fn pure(epsilon: Epsilon) -> Result<Self, MechanismError> {
        let sample = PoissonSample::new(epsilon)?;
        let rate = rounded(sample.inner())?;
        Ok(Self { rate, sample: Some(sample), loss: Loss::Pure { epsilon: sample.epsilon() } })
    }

    /// The approximate form.
    ///
    /// # Errors
    /// [`MechanismError`] if `epsilon` or `delta` is zero or too small.
    pub fn approximate(epsilon: Epsilon, delta: Delta) -> Result<Self, MechanismError> {
        let not_positive = |name| MechanismError::NotPositive { name };
        if epsilon == Epsilon::ZERO {
            return Err(not_positive("epsilon of a selection"));
        }
        let each =
            repeated_selection_loss(epsilon, delta).ok_or(not_positive("delta of a selection"))?;
        let rate = rounded(each)?;
        // The rounded rate costs no more.
        let spent = Epsilon::new(to_f64(rate)).ok();
        let spent = spent.and_then(|rate| repeated_selection_epsilon(rate, delta));
        let epsilon = spent.unwrap_or(epsilon);
        Ok(Self { rate, sample: None, loss: Loss::Approximate { epsilon, delta } })
    }

    /// What the whole run costs.
    pub fn loss(&self) -> Loss {
        self.loss
    }

    /// What one record more is worth in the logarithm of a weight.
    pub fn rate(&self) -> f64 {
        to_f64(self.rate)
    }

    /// The positions of the records that take part, out of `n`. Secret under `pure`: release nothing
    /// of it, not its length.
    pub fn records(&self, n: usize, draws: &mut dyn Draws) -> Vec<usize> {
        match &self.sample {
            Some(sample) => sample.select(n, draws),
            None => (0..n).collect(),
        }
    }

    /// One choice.
    pub fn release(&self, scores: &SparseScores, draws: &mut dyn Draws) -> u64 {
        draws.choose_sparse(scores, self.rate)
    }
}

fn rounded(rate: Epsilon) -> Result<Ratio, MechanismError> {
    let (name, got) = ("rate of a selection", rate.get());
    ratio_at_most(got).ok_or(MechanismError::TooMuchNoise { name, got })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rates_are_those_of_the_guarantee() {
        let epsilon = Epsilon::new(0.2).expect("valid");
        let pure = RepeatedSelection::pure(epsilon).expect("in range");
        assert!((pure.rate() - (1.0 + 0.2_f64.exp()).ln()).abs() < 1e-8);
        let Loss::Pure { epsilon: spent } = pure.loss() else { panic!("it is pure") };
        assert!(spent <= epsilon && spent.get() > 0.2 * (1.0 - 1e-8));
        let delta = Delta::new(1e-6).expect("valid");
        let approximate = RepeatedSelection::approximate(epsilon, delta).expect("in range");
        let Loss::Approximate { epsilon: spent, .. } = approximate.loss() else { panic!() };
        assert!(spent <= epsilon && spent.get() > 0.2 * (1.0 - 1e-6));
        // e / 17.7, as computed by hand.
        assert!((approximate.rate() - 0.2 / 17.7).abs() < 1e-3 * 0.2);
        assert!(RepeatedSelection::pure(Epsilon::ZERO).is_err());
        assert!(RepeatedSelection::approximate(epsilon, Delta::ZERO).is_err());
    }
}
