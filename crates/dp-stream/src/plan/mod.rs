//! A checked plan, and a whole stream in one call.

pub(crate) mod calibration;
mod methods;
pub(crate) mod params;

use std::borrow::Cow;

use dp_accounting::{AddRemove, Budget, Receipt};
use dp_mechanism::{
    Algorithm, Draws, Grid, PoissonSample, Private, ReleaseRng, SecureSource, Source,
    ThresholdReports,
};
use serde::{Deserialize, Serialize};

pub use methods::Method;
pub use params::{ItemOrder, MonitorSettings, StreamShape, Threshold};

use crate::advice::utility::{Crowd, Reporting};
use crate::session::Monitor;
use crate::users::{Admission, Coins, CountingSizes, dense};
use crate::{Event, Report, StreamError, Universe};
use calibration::expected_empty;
use params::Asked;

/// A monitor whose settings have been checked and whose whole cost is known.
///
/// [`start`](Self::start) begins a session that takes one step after the other;
/// [`release`](dp_mechanism::Mechanism::release) runs a stream that is at hand as a whole.
///
/// # Guarantee
/// That of the [`Method`]; for users, that is for all events of a user in the whole stream together.
///
/// # Complexity
/// Constant time per event and one draw per step and per item that is close to the threshold.
///
/// # Memory
/// One byte per user (five where the order of items is another one for every user), about 80 per item that has been reported (of which 65,536 are remembered), and for the largest step so far at most 256 bytes per event that counted (of which
/// a user has at most [`items_per_step`](MonitorSettings::items_per_step)) and 8 MiB, however many
/// events came: those that repeat users are looked at in portions. Measured are 62 bytes where every
/// user is alone on an item, and 60 where users share items.
///
/// # Which events count
/// Events of users and items that do not exist are dropped. An item that a user shows twice in a step
/// counts once. Of a user who shows more items than may still be charged, those count that come first in an
/// order: at most [`items_per_step`](MonitorSettings::items_per_step), and at most as many as
/// reports are left to the user, so that no step can charge more than that.
///
/// [By default](ItemOrder::ReportedFirst) the order begins with the items that have been reported (the last 65,536 of them at least
/// once in two), and goes on with all
/// others, mixed anew in every step by a fixed function. So users who show ten items each do not spread over all of
/// them: an item that comes early in a step has nearly all of its users there, and once it has been reported it has them
/// from then on. [Spread](ItemOrder::Spread), it is another one for every user: each item then has a tenth of its users in every
/// step, which finds more where a tenth reaches the threshold. Either follows from reports, the number of the step and a secret tag of the
/// user, so whether a user counts for an item depends on that user and on what has been released, as the proofs ask. Numbers of users decide
/// nothing.
///
/// Nothing of this is an error: which events are bad must not decide whether a step succeeds, for that
/// would be seen. [`Monitor::check_batch`] tells whoever may see the events.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "Asked", into = "Asked")]
pub struct MonitorPlan {
    pub(crate) asked: Asked,
    pub(crate) sample: Option<PoissonSample>,
    pub(crate) reports: ThresholdReports,
    pub(crate) threshold: i64,
    pub(crate) least_threshold: i64,
    pub(crate) receipt: Receipt<AddRemove>,
    pub(crate) sizes: CountingSizes,
}

impl MonitorPlan {
    /// Plans have at most this many steps.
    pub const MAX_STEPS: u64 = 1 << 40;

    /// A plan by this method, within this budget, in which every user can be part of `reports_per_user` reports
    /// ([`Method::BasicHistograms`]: of which so many items count in a step). The pure methods do not use a delta.
    ///
    /// Checks every setting and calibrates the noise; afterwards nothing can fail.
    ///
    /// # Errors
    /// [`StreamError`] names the setting and the limit.
    pub fn new(
        method: Method,
        shape: StreamShape,
        budget: Budget,
        reports_per_user: u8,
        settings: MonitorSettings,
    ) -> Result<Self, StreamError> {
        Asked { method, shape, budget, reports_per_user, settings }.plan()
    }

    /// Begins a stream: tosses the secret coins of all users.
    #[must_use = "the budget is meant for this session"]
    pub fn start(&self, rng: &mut ReleaseRng) -> Monitor {
        self.start_with(&mut SecureSource::new(rng))
    }

    /// The one code path of releases and audits: [`start`](Self::start) with coins from anywhere, for audits and tests.
    pub fn start_with(&self, source: &mut dyn Source) -> Monitor {
        self.planned(source, |draws| Monitor::begin(self, draws))
    }

    /// The same plan whose counting takes other ways from other sizes on, for audits: what it releases is the same.
    #[doc(hidden)]
    #[must_use]
    pub fn with_sizes(self, sizes: CountingSizes) -> Self {
        Self { sizes, ..self }
    }

    /// The threshold to begin with, in sampled users.
    pub fn threshold(&self) -> i64 {
        self.threshold
    }

    /// The lowest threshold that a session may set.
    pub fn least_threshold(&self) -> i64 {
        self.least_threshold
    }

    /// The number of steps.
    pub fn steps(&self) -> u64 {
        self.asked.shape.steps
    }

    /// The bound on the number of users; 0 if they are taken as they come.
    pub fn users(&self) -> u32 {
        self.asked.shape.users
    }

    /// The items that there could be.
    pub fn universe(&self) -> &Universe {
        &self.asked.shape.universe
    }

    /// The method.
    pub fn method(&self) -> Method {
        self.asked.method
    }

    /// In how many reports one user can be; `None` if in any number.
    pub fn limit(&self) -> Option<u8> {
        let charged = self.asked.method != Method::BasicHistograms;
        charged.then_some(self.asked.reports_per_user)
    }

    /// Which items of a user come first where not all of them count.
    pub fn item_order(&self) -> ItemOrder {
        self.asked.settings.item_order
    }

    /// How many items of one user count in one step.
    pub fn items_per_step(&self) -> u8 {
        self.asked.items_per_step()
    }

    /// Refuses times that have passed or are not planned.
    pub(crate) fn check_time(&self, time: u64, next: u64) -> Result<(), StreamError> {
        let steps = self.steps();
        if time >= steps {
            return Err(StreamError::TimeBeyondEnd { got: time, steps });
        }
        if time < next {
            return Err(StreamError::TimeBackwards { got: time, next });
        }
        Ok(())
    }

    /// How many items that nobody shows a step reports at this threshold, on average; an upper bound.
    pub(crate) fn reports_of_unseen(&self, threshold: i64) -> f64 {
        match self.reports.grid() {
            Grid::Cells(cells) => expected_empty(cells, self.loss_per_report(), threshold),
            Grid::TouchedOnly => 0.0,
        }
    }

    pub(crate) fn coins(&self) -> Coins<'_> {
        Coins { sample: self.sample.as_ref(), order: self.item_order() }
    }

    pub(crate) fn admission(&self) -> Admission {
        Admission {
            limit: self.limit(),
            items_per_step: self.items_per_step(),
            last_item: self.universe().last(),
            sizes: self.sizes,
        }
    }

    /// The loss of one report, which sets the noise.
    pub fn loss_per_report(&self) -> f64 {
        self.reports.each().get()
    }

    /// The share of the users that are sampled.
    pub fn sampling_rate(&self) -> f64 {
        self.sample.as_ref().map_or(1.0, PoissonSample::rate)
    }

    /// An estimate of the number of users behind a report. Unbiased for counts that reach the threshold
    /// without noise, too high for others, as every estimate of what has been selected for being high.
    pub fn estimate(&self, noisy_count: i64) -> f64 {
        (noisy_count as f64 - self.reports.mean_noise()) / self.sampling_rate()
    }

    /// The smallest number of users showing an item in a step that is reported with probability
    /// `1 - miss`, if all of them are still active and show at most [`items_per_step`](Self::items_per_step) items;
    /// for users who show more, see [`smallest_count_within`](Self::smallest_count_within).
    ///
    /// Never missing is promised to no count, and often not to the largest: `u64::MAX` stands for
    /// that, for a `miss` of 0 or below and for NaN. For a `miss` of 1 and above it is 0.
    pub fn smallest_count(&self, miss: f64) -> u64 {
        self.reporting().smallest_count(miss)
    }

    /// The probability that an item of so many users is reported within so many steps, if all of them show it, and
    /// `items_of_a_user` items in all, in each of these steps, are still active, and none of their items has been reported before
    /// (one that has comes first, and is found as [`smallest_count`](Self::smallest_count) says).
    ///
    /// Their other items are taken for random ones: where users share several items, these are found together or not
    /// at all. A lower bound otherwise, by less than a tenth of what is missed.
    pub fn found_within(&self, users: u64, items_of_a_user: u32, steps: u64) -> f64 {
        1.0 - self.reporting().missed_within(users, steps, self.crowd(items_of_a_user))
    }

    /// As [`found_within`](Self::found_within) for an item that is popular from the first step on, but a lower bound whatever else its users show, and however they
    /// share it: only steps count in which nobody can have run out of reports, and where all users share an order of items, only the first.
    ///
    /// Of an item that becomes popular when its users may have no reports left, nothing can be said that holds whatever else they show.
    pub fn found_at_least(&self, users: u64, items_of_a_user: u32, steps: u64) -> f64 {
        let in_a_step = u64::from(self.items_per_step()).min(u64::from(items_of_a_user.max(1)));
        let full = self.limit().map_or(u64::MAX, |limit| u64::from(limit) / in_a_step);
        let crowd = self.crowd(items_of_a_user);
        self.reporting().found_whatever(users, steps.min(full), crowd)
    }

    /// The smallest number of users for which [`found_within`](Self::found_within) is at least `1 - miss`; `u64::MAX` if there
    /// is none.
    pub fn smallest_count_within(&self, items_of_a_user: u32, steps: u64, miss: f64) -> u64 {
        self.reporting().smallest_count_within(steps, self.crowd(items_of_a_user), miss)
    }

    fn crowd(&self, shown: u32) -> Crowd {
        Crowd { shown, counted: self.items_per_step().into(), order: self.item_order() }
    }

    fn reporting(&self) -> Reporting {
        Reporting {
            threshold: self.threshold,
            each: self.loss_per_report(),
            rate: self.sampling_rate(),
            two_sided: self.sample.is_none(),
        }
    }

    /// Draws that the plan pays for, of a session that is released in parts.
    pub(crate) fn planned<O>(
        &self,
        source: &mut dyn Source,
        run: impl FnOnce(&mut Draws<'_>) -> O,
    ) -> O {
        Draws::planned(source, &self.receipt, run).0
    }
}

impl Algorithm for MonitorPlan {
    type Relation = AddRemove;
    /// The events of each step.
    type Data<'a> = &'a [Vec<Event>];
    /// Number of steps.
    type Shape = u64;
    type Output = Vec<Report>;
    type Error = StreamError;

    fn cost(&self) -> Receipt<AddRemove> {
        self.receipt.clone()
    }

    fn shape(data: &&[Vec<Event>]) -> u64 {
        data.len() as u64
    }

    /// # Errors
    /// [`StreamError::Steps`] if there is not one entry per step.
    fn check(&self, got: &u64) -> Result<(), StreamError> {
        let (expected, got) = (self.steps(), *got);
        if got == expected { Ok(()) } else { Err(StreamError::Steps { expected, got }) }
    }

    fn run(&self, data: Private<&[Vec<Event>]>, draws: &mut Draws<'_>) -> Vec<Report> {
        let mut monitor = Monitor::begin(self, draws);
        let as_they_come = self.users() == 0;
        let (places, data) =
            data.map(|steps| if as_they_come { dense(steps) } else { (0, steps.into()) }).unzip();
        monitor.grow(places, draws);
        let data = data.as_ref();
        let mut reports = Vec::new();
        for (place, time) in (0..self.steps()).enumerate() {
            let events =
                data.map(|steps: &Cow<'_, [_]>| steps.get(place).map_or(&[][..], Vec::as_slice));
            let step = monitor.step_drawing(time, events, draws);
            reports.extend(step.expect("times are in order and below the number of steps"));
        }
        reports
    }
}

impl TryFrom<Asked> for MonitorPlan {
    type Error = StreamError;

    fn try_from(asked: Asked) -> Result<Self, StreamError> {
        asked.plan()
    }
}

impl From<MonitorPlan> for Asked {
    fn from(plan: MonitorPlan) -> Self {
        plan.asked
    }
}
