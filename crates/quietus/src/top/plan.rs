//! What is asked for, and the mechanism that does it.

use crate::error::Error;
use dp_accounting::{AddRemove, Receipt};
use dp_mechanism::{Algorithm, Draws, Mechanism, Private};
use dp_stream::{
    Event, MonitorPlan, Report, StreamError, StreamShape, ThreshMonitor, Threshold, Universe,
};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// Which items there could be. Public.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub enum Items {
    /// These names.
    Named(Vec<String>),
    /// The whole numbers from 0 to below this one.
    NumbersBelow(u64),
}

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
    /// A bound on the number of persons.
    pub users: u32,
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
/// `epsilon`-DP under [`AddRemove`] of a person with all rows: that of [`ThreshMonitor`] over one step.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "TopSettings", into = "TopSettings")]
pub struct TopPlan {
    settings: TopSettings,
    places: BTreeMap<String, u64>,
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
        let mut places = BTreeMap::new();
        let size = match &settings.items {
            Items::Named(names) => {
                for (name, place) in names.iter().zip(0..) {
                    if places.insert(name.clone(), place).is_some() {
                        let reason = format!("`{name}` is there twice");
                        return Err(Error::Library { what: "the items", reason });
                    }
                }
                names.len() as u64
            }
            Items::NumbersBelow(size) => *size,
        };
        let shape =
            StreamShape { universe: Universe::Range { size }, users: settings.users, steps: 1 };
        let monitor = ThreshMonitor::builder(shape, settings.epsilon, settings.items_per_person)
            .and_then(|builder| builder.threshold(Threshold::Rule { beta: BETA }).build())
            .map_err(|error| Error::library("the plan", &error))?;
        Ok(Self { settings, places, monitor })
    }

    /// What was asked for.
    pub fn settings(&self) -> &TopSettings {
        &self.settings
    }

    /// The number of an item, if it is one of the public ones.
    pub(super) fn item(&self, text: &str) -> Option<u64> {
        match self.settings.items {
            Items::Named(_) => self.places.get(text).copied(),
            Items::NumbersBelow(size) => text.parse().ok().filter(|item| *item < size),
        }
    }

    pub(super) fn name(&self, item: u64) -> String {
        match &self.settings.items {
            Items::Named(names) => {
                let place = usize::try_from(item).unwrap_or(usize::MAX);
                names.get(place).cloned().unwrap_or_default()
            }
            Items::NumbersBelow(_) => item.to_string(),
        }
    }

    /// An estimate of the number of persons, and its standard error.
    pub(super) fn estimate(&self, noisy_count: i64) -> (f64, f64) {
        let persons = self.monitor.estimate(noisy_count).max(0.0);
        (persons, self.error(persons))
    }

    /// The standard error of the estimate for an item of so many persons, from the sample and the noise.
    pub(super) fn error(&self, persons: f64) -> f64 {
        let rate = self.monitor.sampling_rate();
        let a = (-self.monitor.loss_per_report()).exp();
        let noise = a / (1.0 - a).powi(2);
        (noise + persons * rate * (1.0 - rate)).sqrt() / rate
    }

    /// From so many persons on an item is found in 19 of 20 releases.
    pub(super) fn smallest_count(&self) -> u64 {
        self.monitor.smallest_count(MISS)
    }
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
