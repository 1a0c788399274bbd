//! What is asked for, and the mechanism that does it.

use crate::catalogue::{Catalogue, Items};
use crate::error::Error;
use dp_accounting::{AddRemove, Budget, Receipt};
use dp_mechanism::{Algorithm, Draws, Mechanism, Private};
use dp_stream::{
    Event, Method, MonitorPlan, MonitorSettings, Report, StreamError, StreamShape, Threshold,
};
use serde::{Deserialize, Serialize};

/// All that is public.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TopSettings {
    /// The column that says whose row it is.
    pub person: String,
    /// The column that says which item a row is about.
    pub item: String,
    /// Which items there could be.
    pub items: Items,
    /// How many items of a person count.
    pub items_per_person: u8,
    /// Pure differential privacy.
    pub epsilon: f64,
}

/// Reports of items that nobody shows, on average.
const BETA: f64 = 0.1;
/// How often an item of so many persons may be missed.
const MISS: f64 = 0.05;

/// A one-off release of popular items.
///
/// # Guarantee
/// `epsilon`-DP under [`AddRemove`] of a person with all rows: that of [`Method::ThreshMonitor`] over one step.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "TopSettings", into = "TopSettings")]
pub struct TopPlan {
    settings: TopSettings,
    catalogue: Catalogue,
    monitor: MonitorPlan,
}

impl TryFrom<TopSettings> for TopPlan {
    type Error = Error;

    fn try_from(settings: TopSettings) -> Result<Self, Error> {
        Self::new(settings)
    }
}

impl From<TopPlan> for TopSettings {
    fn from(plan: TopPlan) -> Self {
        plan.settings
    }
}

impl TopPlan {
    /// Checks all settings.
    ///
    /// # Errors
    /// Names the setting and its limits.
    pub fn new(settings: TopSettings) -> Result<Self, Error> {
        let catalogue = Catalogue::try_from(settings.items.clone())?;
        let shape = StreamShape { universe: catalogue.universe(), users: 0, steps: 1 };
        let of_monitor =
            MonitorSettings { threshold: Threshold::Rule { beta: BETA }, ..Default::default() };
        let monitor = Budget::new(settings.epsilon, 0.0)
            .map_err(StreamError::from)
            .and_then(|budget| {
                let items = settings.items_per_person;
                MonitorPlan::new(Method::ThreshMonitor, shape, budget, items, of_monitor)
            })
            .map_err(|error| Error::library("the plan", &error))?;
        Ok(Self { settings, catalogue, monitor })
    }

    /// What was asked for.
    pub fn settings(&self) -> &TopSettings {
        &self.settings
    }

    /// Items by name and by number.
    pub(super) fn catalogue(&self) -> &Catalogue {
        &self.catalogue
    }

    /// An estimate of the number of persons, and its standard error.
    pub(super) fn estimate(&self, noisy_count: i64) -> (f64, f64) {
        let persons = self.monitor.estimate(noisy_count).max(0.0);
        (persons, self.error(persons))
    }

    /// The standard error of the estimate for an item of so many persons, from the sample and the noise.
    pub(super) fn error(&self, persons: f64) -> f64 {
        standard_error(&self.monitor, persons)
    }

    /// From so many persons on an item is found in 19 of 20 releases.
    pub(super) fn smallest_count(&self) -> u64 {
        self.monitor.smallest_count(MISS)
    }
}

/// The standard error of an estimate of so many users, from the sample and the noise of a count.
pub(crate) fn standard_error(monitor: &MonitorPlan, users: f64) -> f64 {
    let rate = monitor.sampling_rate();
    let a = (-monitor.loss_per_report()).exp();
    let sides = match monitor.method() {
        Method::ThreshMonitor | Method::ThreshMonitorSeen => 1.0,
        Method::TargetCharging | Method::BasicHistograms => 2.0,
    };
    let noise = sides * a / (1.0 - a).powi(2);
    (noise + users * rate * (1.0 - rate)).sqrt() / rate
}

impl Algorithm for TopPlan {
    type Relation = AddRemove;
    /// The events of the only step.
    type Data<'a> = &'a [Vec<Event>];
    type Shape = u64;
    type Output = Vec<Report>;
    type Error = StreamError;

    fn cost(&self) -> Receipt<AddRemove> {
        self.monitor.receipt()
    }

    fn shape(data: &&[Vec<Event>]) -> u64 {
        data.len() as u64
    }

    fn check(&self, steps: &u64) -> Result<(), StreamError> {
        self.monitor.check(steps)
    }

    fn run(&self, data: Private<&[Vec<Event>]>, draws: &mut Draws<'_>) -> Vec<Report> {
        self.monitor.run(data, draws)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The error is that of the geometric noise by its definition, and of the sample; 19 of 20 releases find an item.
    #[test]
    fn what_is_said_of_estimates_is_that_of_the_noise() {
        for items_per_person in [1, 3] {
            let plan = TopPlan::new(TopSettings {
                person: "person".to_owned(),
                item: "item".to_owned(),
                items: Items::NumbersBelow(1_000_000),
                items_per_person,
                epsilon: 1.0,
            });
            let plan = plan.expect("in range");
            let (each, rate) = (plan.monitor.loss_per_report(), plan.monitor.sampling_rate());
            let weight = |x: u32| -(-each).exp_m1() * (-each * f64::from(x)).exp();
            let moment = |power| -> f64 {
                (0..2000_u32).map(|x| weight(x) * f64::from(x).powi(power)).sum()
            };
            let noise = moment(2) - moment(1).powi(2);
            for persons in [0.0, 100.0] {
                let want = (noise + persons * rate * (1.0 - rate)).sqrt() / rate;
                assert!((plan.error(persons) / want - 1.0).abs() < 1e-9, "{want}");
            }
            let count = plan.smallest_count();
            assert_eq!(count, plan.monitor.smallest_count(1.0 / 20.0));
            assert!(count > plan.monitor.smallest_count(1.0 / 10.0));
        }
    }

    /// Other monitors have noise on both sides.
    #[test]
    fn noise_on_both_sides_is_counted_on_both() {
        let universe = dp_stream::Universe::Range { size: 10 };
        let shape = StreamShape { universe, users: 0, steps: 1 };
        let settings =
            MonitorSettings { threshold: Threshold::Rule { beta: BETA }, ..Default::default() };
        let budget = Budget::new(1.0, 0.0).unwrap();
        let monitor = MonitorPlan::new(Method::BasicHistograms, shape, budget, 1, settings);
        let monitor = monitor.unwrap();
        let weight = |x: u32| (-monitor.loss_per_report() * f64::from(x)).exp();
        let moment = |power| -> f64 {
            (1..5_000_u32).map(|x| 2.0 * weight(x) * f64::from(x).powi(power)).sum()
        };
        let noise = moment(2) / (1.0 + moment(0));
        let want = noise.sqrt() / monitor.sampling_rate();
        assert!((standard_error(&monitor, 0.0) / want - 1.0).abs() < 1e-9, "{want}");
    }
}
