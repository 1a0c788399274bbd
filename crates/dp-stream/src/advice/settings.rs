//! Which settings find an item of so many users in time.

use std::fmt;

use dp_accounting::Budget;
use serde::{Deserialize, Serialize};

use crate::{ItemOrder, Method, MonitorPlan, MonitorSettings, StreamError, StreamShape, Threshold};

/// An item that should be found. Everything here is public.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Wanted {
    /// Items, users and steps.
    pub shape: StreamShape,
    /// With a delta of 0 only pure methods are compared.
    pub budget: Budget,
    /// So many users show the item in every step.
    pub users: u64,
    /// How many items each of them shows in a step.
    pub items_of_a_user: u32,
    /// In so many steps it should be reported for the first time.
    pub within: u64,
    /// For how many reports a user should stay active over the whole stream, at least. All that are made of a user's items count, one for each item
    /// in each step: four popular items in each of 28 steps take 112.
    pub reports_of_a_user: u8,
    /// Expected number of reports of items that nobody shows, over the whole stream.
    pub beta: f64,
}

/// The best settings of one method.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SettingRow {
    /// Ready to be started: it holds reports per user, items per step, their order and threshold.
    pub plan: MonitorPlan,
    /// How often the item is found in time, if nothing else that its users show is reported: what to expect of one popular item. Where users share several, fewer are
    /// found.
    pub found: f64,
    /// How often it is found at least if it is popular from the first step on, whatever else its users show and share
    /// ([`found_at_least`](MonitorPlan::found_at_least)).
    pub found_at_least: f64,
    /// From so many users on, 19 of 20 items are found in time.
    pub smallest_count: u64,
}

/// Settings, best first.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Settings {
    /// One row per method that can be run.
    pub rows: Vec<SettingRow>,
}

/// Searches reports per user, items per step and their order of every method, by formulas alone: no data, no draws.
///
/// More reports per user mean more noise; fewer mean that of the items of a user fewer count. What it expects was
/// compared with runs over generated streams (the tests of this crate): within .07 of the share found.
///
/// That is of one popular item at a time. In streams of many (1,000 users, 28 steps, 8 items of Zipf laws each, `epsilon` 4, `k` 4), of items that were
/// popular from the start .96 to .99 were found in five steps where 1.00 was expected, and of those that became so later 0 to .06: reports of
/// the first had used up their users. With [`reports_of_a_user`](Wanted::reports_of_a_user) for all of them (112, at `epsilon` 16), all were, early and late. A trend
/// among lasting items takes a monitor whose users do not run out.
///
/// # Errors
/// [`StreamError`] names the setting that is out of range for every method.
pub fn advise_settings(wanted: &Wanted) -> Result<Settings, StreamError> {
    let Wanted { shape, budget, reports_of_a_user: least, .. } = wanted;
    let pure = Budget::new(budget.epsilon().get(), 0.0)?;
    let plan = |method, budget, k, items_per_step, item_order| {
        let threshold = Threshold::Rule { beta: wanted.beta };
        let settings =
            MonitorSettings { items_per_step, threshold, item_order, ..Default::default() };
        MonitorPlan::new(method, shape.clone(), budget, k, settings)
    };
    plan(Method::ThreshMonitor, pure, *least, None, ItemOrder::default())?;
    let best = [
        (Method::ThreshMonitor, pure, *least),
        (Method::ThreshMonitorSeen, *budget, *least),
        (Method::TargetCharging, *budget, *least),
        (Method::BasicHistograms, pure, 1),
    ]
    .map(|(method, budget, least)| {
        best_of(wanted, least, |k, items, order| plan(method, budget, k, Some(items), order))
    });
    let mut rows: Vec<SettingRow> = best.into_iter().flatten().collect();
    rows.sort_by(|a, b| b.found.total_cmp(&a.found).then(a.smallest_count.cmp(&b.smallest_count)));
    Ok(Settings { rows })
}

/// Reports per user from `least` on; `None` if there is no plan with any.
fn best_of(
    wanted: &Wanted,
    least: u8,
    plan: impl Fn(u8, u8, ItemOrder) -> Result<MonitorPlan, StreamError>,
) -> Option<SettingRow> {
    let items = u8::try_from(wanted.items_of_a_user.clamp(1, 254)).unwrap_or(254);
    let mut numbers: Vec<u8> = (0..=14).map(|i| f64::from(i) / 2.0).map(power).collect();
    numbers.extend([least, items]);
    numbers.retain(|&k| k >= least);
    numbers.sort_unstable();
    numbers.dedup();
    let with = |(k, order): (u8, ItemOrder)| {
        let plan = plan(k, k.min(items), order).ok()?;
        let found = plan.found_within(wanted.users, wanted.items_of_a_user, wanted.within);
        Some((found, plan))
    };
    let orders = [ItemOrder::ReportedFirst, ItemOrder::Spread];
    let choices = numbers.into_iter().flat_map(|k| orders.map(|order| (k, order)));
    // Of those that are as good, the one with the fewest reports per user, and all users with the same items first.
    let better = |best: (f64, MonitorPlan), next: (f64, MonitorPlan)| {
        if next.0 > best.0 { next } else { best }
    };
    let (found, plan) = choices.filter_map(with).reduce(better)?;
    let smallest_count = plan.smallest_count_within(wanted.items_of_a_user, wanted.within, 0.05);
    let found_at_least = plan.found_at_least(wanted.users, wanted.items_of_a_user, wanted.within);
    Some(SettingRow { plan, found, found_at_least, smallest_count })
}

/// Two to this, rounded.
fn power(exponent: f64) -> u8 {
    #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "from 1 to 128")]
    let power = exponent.exp2().round() as u8;
    power
}

impl fmt::Display for Settings {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{:<22} {:>16} {:>14} {:>14} {:>10} {:>7} {:>8} {:>14}",
            "method",
            "reports per user",
            "items per step",
            "order",
            "threshold",
            "found",
            "at least",
            "19 in 20 from"
        )?;
        for SettingRow { plan, found, found_at_least, smallest_count } in &self.rows {
            let order = match plan.item_order() {
                ItemOrder::ReportedFirst => "reported first",
                ItemOrder::Spread => "spread",
            };
            let limit = plan.limit().map_or_else(|| "any".to_owned(), |limit| limit.to_string());
            write!(
                f,
                "\n{:<22} {limit:>16} {:>14} {order:>14} {:>10} {found:>7.3} {found_at_least:>8.3} {smallest_count:>14}",
                plan.method().id(),
                plan.items_per_step(),
                plan.threshold(),
            )?;
        }
        Ok(())
    }
}
