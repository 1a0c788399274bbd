//! Public settings and their checking.

use dp_accounting::{
    AddRemove, Budget, Delta, Epsilon, Loss, Receipt, Step, target_charging_delta,
    target_charging_loss,
};
use dp_mechanism::{Grid, PoissonSample, ThresholdReports};
use serde::{Deserialize, Serialize};

use crate::{MonitorPlan, StreamError, Universe};

/// What is public about a stream before it begins.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct StreamShape {
    /// All items that there could be.
    pub universe: Universe,
    /// Users are numbered `0..users`: a bound, how many take part is private.
    pub users: u32,
    /// Times are numbered `0..steps`.
    pub steps: u64,
}

/// How privacy is had.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Method {
    /// [`ThreshMonitor`](crate::ThreshMonitor).
    ThreshMonitor,
    /// [`ThreshMonitor`](crate::ThreshMonitor) that reports only items that a sampled user shows.
    ThreshMonitorSeen,
    /// [`TargetCharging`](crate::TargetCharging).
    TargetCharging,
    /// [`Histograms`](crate::Histograms).
    BasicHistograms,
}

impl Method {
    /// The stable id.
    pub fn id(self) -> &'static str {
        match self {
            Self::ThreshMonitor => "thresh-monitor",
            Self::ThreshMonitorSeen => "thresh-monitor-seen",
            Self::TargetCharging => "target-charging",
            Self::BasicHistograms => "basic-histograms",
        }
    }
}

/// From which noisy count on an item is reported.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum Threshold {
    /// As low as goes with at most `beta` reports of unseen items over the whole stream, on average.
    Rule {
        /// Above 0 and below 1.
        beta: f64,
    },
    /// This count, of sampled users.
    Count {
        /// From 0 to 2^41.
        count: i64,
    },
}

/// Settings of a plan. Nothing here depends on data.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct MonitorBuilder {
    pub(crate) shape: StreamShape,
    pub(crate) method: Method,
    pub(crate) budget: Budget,
    pub(crate) reports_per_user: u8,
    items_per_step: u8,
    threshold: Threshold,
    least_threshold: Option<i64>,
}

impl MonitorBuilder {
    pub(crate) fn new(
        shape: StreamShape,
        method: Method,
        budget: Budget,
        reports_per_user: u8,
    ) -> Self {
        let threshold = Threshold::Rule { beta: 0.1 };
        let items_per_step = reports_per_user;
        let least_threshold = None;
        Self { shape, method, budget, reports_per_user, items_per_step, threshold, least_threshold }
    }

    /// When to report. Default: the rule with `beta = 0.1`. Where only seen items are reported the
    /// threshold follows from delta, and the rule's beta is not used.
    #[must_use]
    pub fn threshold(mut self, threshold: Threshold) -> Self {
        self.threshold = threshold;
        self
    }

    /// Down to which count [`Monitor::set_threshold`](crate::Monitor::set_threshold) may go. Default: not
    /// below the threshold.
    #[must_use]
    pub fn least_threshold(mut self, count: i64) -> Self {
        self.least_threshold = Some(count);
        self
    }

    /// How many items of one user count in one step. Default: as many as reports per user.
    #[must_use]
    pub fn items_per_step(mut self, items: u8) -> Self {
        self.items_per_step = items;
        self
    }

    pub(crate) fn items_allowed(&self) -> u8 {
        self.items_per_step
    }

    /// Checks every setting and calibrates the noise.
    ///
    /// # Errors
    /// [`StreamError`] names the setting and the limit.
    pub fn build(self) -> Result<MonitorPlan, StreamError> {
        self.check()?;
        let sample = match self.method {
            Method::ThreshMonitor | Method::ThreshMonitorSeen => {
                Some(PoissonSample::new(self.budget.epsilon())?)
            }
            Method::TargetCharging | Method::BasicHistograms => None,
        };
        let each = self.each(sample.as_ref())?;
        let grid = match self.method {
            Method::ThreshMonitorSeen => Grid::TouchedOnly,
            _ => Grid::Cells(self.shape.universe.size()),
        };
        let reports = |least| match sample {
            Some(_) => ThresholdReports::one_sided(each, grid, least),
            None => ThresholdReports::two_sided(each, grid, least),
        };
        // The loss that is really had decides the threshold, so it is asked for first.
        let each = reports(0)?.each();
        let threshold = self.first_threshold(each, sample.as_ref())?;
        let least = self.least_threshold.unwrap_or(threshold);
        if least > threshold {
            let want = "at most the threshold";
            return Err(StreamError::Setting { name: "least_threshold", got: least as f64, want });
        }
        check_count("least_threshold", least)?;
        if let Grid::Cells(cells) = grid {
            check_empty(cells, each, least)?;
        }
        let spent = self.spent(each, sample.as_ref(), least)?;
        let reports = reports(least)?;
        let receipt = Receipt::new(self.method.id(), AddRemove, self.budget, spent);
        if !receipt.within_budget() {
            let want = "high enough for the delta of the budget";
            return Err(StreamError::Setting { name: "threshold", got: least as f64, want });
        }
        Ok(MonitorPlan {
            settings: self,
            sample,
            reports,
            threshold,
            least_threshold: least,
            receipt,
        })
    }

    fn check(&self) -> Result<(), StreamError> {
        self.shape.universe.check()?;
        let setting = |name, got, want| Err(StreamError::Setting { name, got, want });
        let (k, m) = (self.reports_per_user, self.items_per_step);
        if !(1..=MonitorPlan::MAX_STEPS).contains(&self.shape.steps) {
            return setting("steps", self.shape.steps as f64, "between 1 and 2^40");
        }
        if self.shape.users == 0 {
            return setting("users", 0.0, "at least 1");
        }
        if !(1..=254).contains(&k) {
            return setting("reports_per_user", k.into(), "between 1 and 254");
        }
        if m == 0 || m > k {
            return setting("items_per_step", m.into(), "between 1 and reports_per_user");
        }
        let approximate = matches!(self.method, Method::ThreshMonitorSeen | Method::TargetCharging);
        let delta = self.budget.delta().get();
        if approximate && delta <= 0.0 {
            return setting("delta", delta, "above 0 for this method");
        }
        Ok(())
    }

    /// The loss of one answer.
    fn each(&self, sample: Option<&PoissonSample>) -> Result<Epsilon, StreamError> {
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
        self.shape.steps as f64 * f64::from(self.items_per_step)
    }

    fn first_threshold(
        &self,
        each: Epsilon,
        sample: Option<&PoissonSample>,
    ) -> Result<i64, StreamError> {
        let logarithm = match (self.threshold, self.method) {
            (Threshold::Count { count }, _) => {
                check_count("threshold", count)?;
                return Ok(count);
            }
            (Threshold::Rule { .. }, Method::ThreshMonitorSeen) => {
                let rate = sample.map_or(1.0, PoissonSample::rate);
                // One more unit, and a share of rounding, so that the delta is met.
                (rate * self.cells_of_a_user() / self.budget.delta().get()).ln() * (1.0 + 1e-12)
                    + each.get()
            }
            (Threshold::Rule { beta }, _) => {
                if !(beta > 0.0 && beta < 1.0) {
                    let want = "above 0 and below 1";
                    return Err(StreamError::Setting { name: "beta", got: beta, want });
                }
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

    /// The itemised cost, from the loss that the noise is made of.
    fn spent(
        &self,
        each: Epsilon,
        sample: Option<&PoissonSample>,
        least: i64,
    ) -> Result<Step, StreamError> {
        let k = f64::from(self.reports_per_user);
        Ok(match (self.method, sample) {
            (Method::ThreshMonitorSeen, Some(sample)) => {
                let epsilon = sample.epsilon();
                let alone = sample.rate() * self.cells_of_a_user();
                // Rounded up generously; a threshold of 0 reports an item of one user for certain.
                let reported = (-each.get() * (least - 1).max(0) as f64).exp();
                let delta = (alone * reported * (1.0 + 1e-9)).min(1.0 - 1e-9);
                let loss = Loss::Approximate { epsilon, delta: Delta::new(delta)? };
                Step::spend("threshold reports of seen items on a secret sample", loss)
            }
            (_, Some(sample)) => {
                assert!(
                    k * each.get() <= sample.inner().get(),
                    "reports cost what the sample bears"
                );
                let loss = Loss::Pure { epsilon: sample.epsilon() };
                Step::spend("threshold reports on a secret sample", loss)
            }
            (Method::TargetCharging, None) => {
                let epsilon = self.budget.epsilon();
                let delta = target_charging_delta(each, self.reports_per_user.into(), epsilon)?;
                Step::spend(
                    "threshold tests, charged by their hits",
                    Loss::Approximate { epsilon, delta },
                )
            }
            (_, None) => {
                let total = each.get() * self.cells_of_a_user() * (1.0 + 1e-15);
                let loss = Loss::Pure { epsilon: Epsilon::new(total)? };
                Step::spend("noisy histograms of all steps", loss)
            }
        })
    }
}

/// How many items that nobody shows may be reported per step, on average.
const MOST_EMPTY: f64 = 1e6;

fn check_empty(cells: u128, each: Epsilon, least: i64) -> Result<(), StreamError> {
    let cells = cells as f64;
    let expected = cells * (-each.get() * least as f64).exp();
    if expected <= MOST_EMPTY {
        return Ok(());
    }
    #[allow(clippy::cast_possible_truncation, reason = "cut to what thresholds can be")]
    let enough = ((cells / MOST_EMPTY).ln() / each.get()).ceil() as i64;
    Err(StreamError::TooManyEmpty { threshold: least, expected, least: enough })
}

pub(crate) fn check_count(name: &'static str, count: i64) -> Result<(), StreamError> {
    if (0..=ThresholdReports::MAX_THRESHOLD).contains(&count) {
        return Ok(());
    }
    Err(StreamError::Setting { name, got: count as f64, want: "between 0 and 2^41" })
}
