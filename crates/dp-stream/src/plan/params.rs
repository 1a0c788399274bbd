//! Public settings and their checking.

use dp_accounting::{AddRemove, Budget, Covered, Receipt, Step};
use dp_mechanism::{Grid, PoissonSample, ThresholdReports};
use serde::{Deserialize, Serialize};

use crate::files::Checksum;
use crate::plan::calibration::check_empty;
use crate::{CountingSizes, Method, MonitorPlan, StreamError, Universe};

/// What is public about a stream before it begins.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct StreamShape {
    /// All items that there could be.
    pub universe: Universe,
    /// Users are numbered `0..users`: a bound, how many take part is private. With 0, users are taken as they come: a stream that is released as a
    /// whole has a place for everybody in it, whatever their numbers, and a session [grows](crate::Monitor::grow_to). Methods with one cell for each
    /// item want a bound.
    pub users: u32,
    /// Times are numbered `0..steps`.
    pub steps: u64,
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

/// Which items of a user come first where more are shown in a step than count: see [`MonitorPlan`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ItemOrder {
    /// Those that have been reported, then the others mixed anew in every step: all users prefer the same, so a few items have
    /// nearly all of their users.
    #[default]
    ReportedFirst,
    /// Mixed anew for every user and step: every item has the same share of its users, which is that of items that count. For low
    /// thresholds, where that share is enough to be found; it also spares reports, since fewer users are in each. What mixes the items of a user
    /// is drawn with the secret coin of that user, and costs four bytes more.
    Spread,
}

/// What the receipt of a plan pays for, by name.
const REPORTS: &str = "reports";

/// Settings of a [`MonitorPlan`]. Nothing here depends on data.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct MonitorSettings {
    /// How many items of one user count in one step. Default: as many as reports per user.
    pub items_per_step: Option<u8>,
    /// When to report. Default: the rule with `beta = 0.1`. Where only seen items are reported the
    /// threshold follows from delta, and the rule's beta is not used.
    pub threshold: Threshold,
    /// Down to which count [`Monitor::set_threshold`](crate::Monitor::set_threshold) may go. Default: not
    /// below the threshold.
    pub least_threshold: Option<i64>,
    /// Which items of a user count where not all do. Default: those that have been reported first.
    pub item_order: ItemOrder,
}

impl Default for MonitorSettings {
    fn default() -> Self {
        let threshold = Threshold::Rule { beta: 0.1 };
        Self {
            items_per_step: None,
            threshold,
            least_threshold: None,
            item_order: ItemOrder::default(),
        }
    }
}

/// What was asked for. The file form of plans, which are read back through their checks, and part of every state.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Asked {
    pub(crate) method: Method,
    pub(crate) shape: StreamShape,
    pub(crate) budget: Budget,
    pub(crate) reports_per_user: u8,
    pub(crate) settings: MonitorSettings,
}

impl Asked {
    pub(crate) fn items_per_step(&self) -> u8 {
        self.settings.items_per_step.unwrap_or(self.reports_per_user)
    }

    /// Every setting, for checksums.
    pub(crate) fn add_to(&self, sum: &mut Checksum) {
        let Self {
            shape: StreamShape { universe, users, steps },
            method,
            budget,
            reports_per_user,
            settings: MonitorSettings { items_per_step, threshold, least_threshold, item_order },
        } = self;
        universe.add_to(sum);
        sum.number((*users).into());
        sum.number(*steps);
        sum.bytes(method.id().as_bytes());
        sum.number(budget.epsilon().get().to_bits());
        sum.number(budget.delta().get().to_bits());
        sum.number((*reports_per_user).into());
        sum.number(items_per_step.map_or(0, u64::from));
        let (kind, value) = match threshold {
            Threshold::Rule { beta } => (1, beta.to_bits()),
            Threshold::Count { count } => (2, count.cast_unsigned()),
        };
        sum.number(kind);
        sum.number(value);
        sum.number(least_threshold.is_some().into());
        sum.number(least_threshold.unwrap_or(0).cast_unsigned());
        sum.number((*item_order == ItemOrder::Spread).into());
    }

    /// Checks every setting and calibrates the noise.
    ///
    /// # Errors
    /// [`StreamError`] names the setting and the limit.
    pub(crate) fn plan(self) -> Result<MonitorPlan, StreamError> {
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
        let least = self.settings.least_threshold.unwrap_or(threshold);
        if least > threshold {
            let want = "at most the threshold";
            return Err(StreamError::OutOfRange {
                name: "least_threshold",
                got: least.into(),
                want,
            });
        }
        check_count("least_threshold", least)?;
        if let Grid::Cells(cells) = grid {
            check_empty(cells, each, least)?;
        }
        let (paid_by, loss) = self.spent(each, sample.as_ref(), least)?;
        let reports = reports(least)?.among(REPORTS, loss);
        // As many as there are: which of them a user was part of is counted, and ends.
        let spent =
            Step::spend_on(paid_by, loss, vec![Covered { name: REPORTS.into(), draws: None }]);
        let receipt = Receipt::new(self.method.id(), AddRemove, self.budget, spent);
        if !receipt.within_budget() {
            let want = "high enough for the delta of the budget";
            return Err(StreamError::OutOfRange { name: "threshold", got: least.into(), want });
        }
        Ok(MonitorPlan {
            asked: self,
            sample,
            reports,
            threshold,
            least_threshold: least,
            receipt,
            sizes: CountingSizes::default(),
        })
    }

    pub(crate) fn check(&self) -> Result<(), StreamError> {
        self.shape.universe.check()?;
        let setting = |name, got, want| Err(StreamError::OutOfRange { name, got, want });
        let (k, m) = (self.reports_per_user, self.items_per_step());
        if !(1..=MonitorPlan::MAX_STEPS).contains(&self.shape.steps) {
            return setting("steps", self.shape.steps.into(), "between 1 and 2^40");
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
            return Err(StreamError::real("delta", delta, "above 0 for this method"));
        }
        Ok(())
    }
}

pub(crate) fn check_count(name: &'static str, count: i64) -> Result<(), StreamError> {
    if (0..=ThresholdReports::MAX_THRESHOLD).contains(&count) {
        return Ok(());
    }
    Err(StreamError::OutOfRange { name, got: count.into(), want: "between 0 and 2^41" })
}
