//! How much noise, what threshold, and what that costs.

use dp_accounting::{Delta, Epsilon, Loss, target_charging_delta, target_charging_loss};
use dp_mechanism::PoissonSample;

use crate::Method;
use crate::StreamError;
use crate::plan::params::{Asked, Threshold, check_count};

impl Asked {
    /// The loss of one answer.
    pub(crate) fn each(&self, sample: Option<&PoissonSample>) -> Result<Epsilon, StreamError> {
        let epsilon = self.budget.epsilon();
        let k = f64::from(self.reports_per_user);
        Ok(match (self.method, sample) {
            (Method::TargetCharging, _) => {
                target_charging_loss(epsilon, self.budget.delta(), self.reports_per_user.into())?
            }
            (_, Some(sample)) => Epsilon::new(sample.inner().get() / k)?,
            // Every cell that a user is in changes by one; all steps add up.
            (_, None) => Epsilon::new(epsilon.get() * (1.0 - 1e-15) / self.cells_of_a_user())?,
        })
    }

    /// The most cells of the whole grid that one user can be counted in.
    fn cells_of_a_user(&self) -> f64 {
        self.shape.steps as f64 * f64::from(self.items_per_step())
    }

    pub(crate) fn first_threshold(
        &self,
        each: Epsilon,
        sample: Option<&PoissonSample>,
    ) -> Result<i64, StreamError> {
        let logarithm = match (self.settings.threshold, self.method) {
            (Threshold::Count { count }, _) => {
                check_count("threshold", count)?;
                return Ok(count);
            }
            (Threshold::Rule { beta }, _) if !(beta > 0.0 && beta < 1.0) => {
                let want = "above 0 and below 1";
                return Err(StreamError::real("beta", beta, want));
            }
            (Threshold::Rule { .. }, Method::ThreshMonitorSeen) => {
                let rate = sample.map_or(1.0, PoissonSample::rate);
                // One more unit, and a share of rounding, so that the delta is met.
                (rate * self.cells_of_a_user() / self.budget.delta().get()).ln() * (1.0 + 1e-12)
                    + each.get()
            }
            (Threshold::Rule { beta }, _) => {
                let one_side = if sample.is_some() { 1.0 } else { 1.0 + (-each.get()).exp() };
                let cells = self.shape.steps as f64 * self.shape.universe.size() as f64;
                (cells / (beta * one_side)).ln()
            }
        };
        #[allow(clippy::cast_possible_truncation, reason = "checked right below")]
        let count = (logarithm / each.get()).ceil().max(0.0) as i64;
        check_count("threshold by the rule", count)?;
        Ok(count)
    }

    /// The cost of all reports together, from the loss that the noise is made of, and what pays for them.
    pub(crate) fn spent(
        &self,
        each: Epsilon,
        sample: Option<&PoissonSample>,
        least: i64,
    ) -> Result<(&'static str, Loss), StreamError> {
        let k = f64::from(self.reports_per_user);
        Ok(match (self.method, sample) {
            (Method::ThreshMonitorSeen, Some(sample)) => {
                let epsilon = sample.epsilon();
                let alone = sample.rate() * self.cells_of_a_user();
                // Rounded up generously; a threshold of 0 reports an item of one user for certain.
                let reported = (-each.get() * (least - 1).max(0) as f64).exp();
                let delta = (alone * reported * (1.0 + 1e-9)).min(1.0 - 1e-9);
                let loss = Loss::Approximate { epsilon, delta: Delta::new(delta)? };
                ("threshold reports of seen items on a secret sample", loss)
            }
            (_, Some(sample)) => {
                assert!(
                    k * each.get() <= sample.inner().get(),
                    "reports cost what the sample bears"
                );
                let loss = Loss::Pure { epsilon: sample.epsilon() };
                ("threshold reports on a secret sample", loss)
            }
            (Method::TargetCharging, None) => {
                let epsilon = self.budget.epsilon();
                let delta = target_charging_delta(each, self.reports_per_user.into(), epsilon)?;
                ("threshold tests, charged by their hits", Loss::Approximate { epsilon, delta })
            }
            (_, None) => {
                let total = each.get() * self.cells_of_a_user() * (1.0 + 1e-15);
                let loss = Loss::Pure { epsilon: Epsilon::new(total)? };
                ("noisy histograms of all steps", loss)
            }
        })
    }
}

/// How many items that nobody shows may be reported per step, on average.
const MOST_EMPTY: f64 = 1e6;

/// Reports of items that nobody shows, in a step of so many items, on average.
pub(crate) fn expected_empty(cells: u128, each: f64, threshold: i64) -> f64 {
    cells as f64 * (-each * threshold as f64).exp()
}

pub(crate) fn check_empty(cells: u128, each: Epsilon, least: i64) -> Result<(), StreamError> {
    let expected = expected_empty(cells, each.get(), least);
    if expected <= MOST_EMPTY {
        return Ok(());
    }
    #[allow(clippy::cast_possible_truncation, reason = "cut to what thresholds can be")]
    let enough = ((cells as f64 / MOST_EMPTY).ln() / each.get()).ceil() as i64;
    Err(StreamError::TooManyEmpty { threshold: least, expected, least: enough })
}
