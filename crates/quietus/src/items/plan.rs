//! What is asked for, and the mechanism that does it.

use super::clock::Clock;
use crate::error::Error;
use crate::top::Catalogue;
use dp_accounting::{AddRemove, Budget, Receipt};
use dp_mechanism::{Algorithm, Draws, Mechanism, Private};
use dp_stream::{
    Event, Method, MonitorPlan, MonitorSettings, Report, StreamError, StreamShape, Threshold,
    Wanted, advise_settings,
};
use serde::{Deserialize, Serialize};

/// All that is public.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ItemsSettings {
    /// The column that says whose row it is.
    pub user: String,
    /// The column that says which item a row is about.
    pub item: String,
    /// The column that says when.
    pub time: String,
    /// Which items there could be.
    pub items: Catalogue,
    /// Which steps there are.
    pub clock: Clock,
    /// About how many items a user shows in a step.
    pub items_per_user: u32,
    /// In how many steps an item should be found.
    pub within: u64,
    /// What is drawn, step after step.
    pub monitor: MonitorPlan,
}

/// How much a user may be part of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sizes {
    /// Those with which an item of so many users is found.
    Find {
        /// So many users show it.
        users: u64,
        /// Of so many reports a user can be part, at least.
        stay_for: u8,
    },
    /// These.
    Given {
        /// Of so many reports a user can be part.
        reports_per_user: u8,
        /// So many items of a user count in a step; if it is not said, as many as reports.
        items_per_step: Option<u8>,
    },
}

/// Reports of items that nobody shows, on average over all steps.
const BETA: f64 = 0.1;
/// How often an item of so many users may be missed.
const MISS: f64 = 0.05;

/// A monitor for a log.
///
/// # Guarantee
/// That of its [`MonitorPlan`] under [`AddRemove`] of a user with all rows of all steps, however many runs release them.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "ItemsSettings", into = "ItemsSettings")]
pub struct ItemsPlan(ItemsSettings);

impl TryFrom<ItemsSettings> for ItemsPlan {
    type Error = Error;

    fn try_from(settings: ItemsSettings) -> Result<Self, Error> {
        let ItemsSettings { items, clock, monitor, .. } = &settings;
        if *monitor.universe() != items.universe() || monitor.steps() != clock.length() {
            let reason = "its monitor is of other items or steps".to_owned();
            return Err(Error::Library { what: "the plan", reason });
        }
        Ok(Self(settings))
    }
}

impl From<ItemsPlan> for ItemsSettings {
    fn from(plan: ItemsPlan) -> Self {
        plan.0
    }
}

/// The monitor for this budget.
///
/// # Errors
/// Names the setting and its limits.
pub(super) fn monitor(
    (items, clock): (&Catalogue, &Clock),
    (items_per_user, within): (u32, u64),
    sizes: Sizes,
    budget: Budget,
) -> Result<MonitorPlan, Error> {
    let shape = StreamShape { universe: items.universe(), users: 0, steps: clock.length() };
    let refuse = |error: StreamError| Error::library("the plan", &error);
    match sizes {
        Sizes::Given { reports_per_user, items_per_step } => {
            let pure = budget.delta().get() <= 0.0;
            let method = if pure { Method::ThreshMonitor } else { Method::ThreshMonitorSeen };
            let threshold = Threshold::Rule { beta: BETA };
            let settings = MonitorSettings { items_per_step, threshold, ..Default::default() };
            MonitorPlan::new(method, shape, budget, reports_per_user, settings).map_err(refuse)
        }
        Sizes::Find { users, stay_for } => {
            let wanted = Wanted {
                shape,
                budget,
                users,
                items_of_a_user: items_per_user,
                within,
                reports_of_a_user: stay_for,
                beta: BETA,
            };
            let advice = advise_settings(&wanted).map_err(refuse)?;
            let best = advice.rows.into_iter().next().map(|row| row.plan);
            best.ok_or_else(|| Error::Library {
                what: "the plan",
                reason: "no method can run with these settings".to_owned(),
            })
        }
    }
}

impl ItemsPlan {
    /// What was asked for.
    pub fn settings(&self) -> &ItemsSettings {
        &self.0
    }

    /// From so many users on an item is found in 19 of 20 sessions, if they show it in so many steps as the settings say, and as many items.
    pub(super) fn smallest_count(&self) -> u64 {
        let ItemsSettings { monitor, items_per_user, within, .. } = &self.0;
        monitor.smallest_count_within(*items_per_user, *within, MISS)
    }

    /// An estimate of the number of users, and its standard error.
    pub(super) fn estimate(&self, noisy_count: i64) -> (f64, f64) {
        let users = self.0.monitor.estimate(noisy_count).max(0.0);
        (users, crate::top::standard_error(&self.0.monitor, users))
    }
}

impl Algorithm for ItemsPlan {
    type Relation = AddRemove;
    /// The events of every step.
    type Data<'a> = &'a [Vec<Event>];
    type Shape = u64;
    type Output = Vec<Report>;
    type Error = StreamError;

    fn cost(&self) -> Receipt<AddRemove> {
        self.0.monitor.receipt()
    }

    fn shape(data: &&[Vec<Event>]) -> u64 {
        data.len() as u64
    }

    fn check(&self, steps: &u64) -> Result<(), StreamError> {
        self.0.monitor.check(steps)
    }

    fn run(&self, data: Private<&[Vec<Event>]>, draws: &mut Draws<'_>) -> Vec<Report> {
        self.0.monitor.run(data, draws)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::items::{SaidClock, Steps};
    use crate::top::Items;

    fn plan(within: u64) -> ItemsPlan {
        let items = Catalogue::try_from(Items::NumbersBelow(9)).unwrap();
        let steps = Steps::Equal { from: 0, length: 1, count: 8 };
        let clock = Clock::try_from(SaidClock { dates: false, steps }).unwrap();
        let sizes = Sizes::Given { reports_per_user: 4, items_per_step: Some(2) };
        let budget = Budget::new(1.0, 0.0).unwrap();
        let monitor = monitor((&items, &clock), (1, within), sizes, budget).unwrap();
        let [user, item, time] = ["user", "item", "time"].map(str::to_owned);
        let settings =
            ItemsSettings { user, item, time, items, clock, items_per_user: 1, within, monitor };
        settings.try_into().unwrap()
    }

    /// What is drawn is about other items and steps than the words and the table are.
    #[test]
    fn a_plan_whose_monitor_is_of_other_items_or_steps_is_none() {
        let text = serde_json::to_string(&plan(1)).unwrap();
        assert!(serde_json::from_str::<ItemsPlan>(&text).is_ok());
        for (from, to) in [
            ("\"items\":{\"numbers-below\":9}", "\"items\":{\"numbers-below\":8}"),
            ("\"length\":1,\"count\":8", "\"length\":1,\"count\":7"),
        ] {
            assert!(text.contains(from), "{text}");
            let error = serde_json::from_str::<ItemsPlan>(&text.replacen(from, to, 1));
            let error = error.unwrap_err().to_string();
            assert!(error.contains("of other items or steps"), "{error}");
        }
    }

    #[test]
    fn what_is_found_is_said_of_the_steps_that_were_asked_for() {
        let [one, four] = [1, 4].map(plan);
        assert!(four.smallest_count() < one.smallest_count());
        let of_four = four.0.monitor.smallest_count_within(1, 4, 0.05);
        assert_eq!(four.smallest_count(), of_four);
    }
}
