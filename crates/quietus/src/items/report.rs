//! What is written about the steps so far.

use super::{ItemsPlan, ItemsSettings};
use crate::picture::{Line, lines};
use dp_mechanism::Mechanism;
use dp_stream::Report;
use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::io;

/// What was released, in words: what was asked for, and how far it is.
pub(super) fn report(plan: &ItemsPlan, taken: u64) -> String {
    let ItemsSettings { user, item, time, clock, items_per_user, within, monitor, .. } =
        plan.settings();
    let of_reports = monitor.limit().map_or("any number".to_owned(), |limit| limit.to_string());
    let steps = clock.length();
    let until = clock.shown(clock.start(taken));
    format!(
        "{}\n\n{taken} of {steps} steps are released, until {until}.\n\
         Protected: a user with all rows of all steps (column `{user}` says whose row it is; rows without are left out).\n\
         Left out: rows whose `{item}` is not one of the public items, whose `{time}` is no time of a step, or whose step was released before they came.\n\
         Of a user {} items count in a step, and a user is part of {of_reports} reports over all steps.\n\
         {}\n\
         Numbers of users are estimates{}: too high on average for an item that is there by luck. Their error is a guide.\n\
         The budget is spent once for all steps: add this receipt to those of all other releases about the same people.\n",
        plan.receipt(),
        monitor.items_per_step(),
        promise(plan.smallest_count(), *items_per_user, *within),
        if monitor.sampling_rate() < 1.0 { " from a secret sample" } else { "" },
    )
}

/// What is found, in words.
pub(super) fn promise(smallest: u64, items_per_user: u32, within: u64) -> String {
    let shown = match items_per_user {
        1 => "one item".to_owned(),
        more => format!("{more} items"),
    };
    let when = match within {
        1 => "in a step is found in it".to_owned(),
        more => format!("in each of {more} steps is found in one of them"),
    };
    if smallest == u64::MAX {
        return format!("No item is found in 19 of 20 cases, however many users show it {when}.");
    }
    format!(
        "An item that {smallest} users or more show {when}, in 19 of 20 cases, if each of them shows at most {shown} in a step and has reports left; of others some are there as well."
    )
}

/// Step after step, the most popular first.
pub(super) fn table(
    plan: &ItemsPlan,
    reports: &[Report],
    to: &mut dyn io::Write,
) -> io::Result<()> {
    let ItemsSettings { clock, items, .. } = plan.settings();
    let mut out = csv::Writer::from_writer(to);
    out.write_record(["step", "from", "to", "item", "users", "users_error"])?;
    let mut reports = reports.to_vec();
    reports.sort_by_key(|report| (report.time, std::cmp::Reverse(report.noisy_count), report.item));
    for report in reports {
        let (users, error) = plan.estimate(report.noisy_count);
        let [from, end] = [0, 1].map(|next| clock.shown(clock.start(report.time + next)));
        let (step, item) = (report.time.to_string(), items.name(report.item));
        out.write_record([step, from, end, item, format!("{users:.1}"), format!("{error:.1}")])?;
    }
    out.flush()
}

/// The items with the most users over all steps, over time.
pub(super) fn picture(plan: &ItemsPlan, reports: &[Report], taken: u64) -> String {
    let ItemsSettings { clock, items, .. } = plan.settings();
    let mut of_item: BTreeMap<u64, Vec<(u64, f64, f64)>> = BTreeMap::new();
    for report in reports {
        let (users, error) = plan.estimate(report.noisy_count);
        of_item.entry(report.item).or_default().push((report.time, users, error));
    }
    let mut all: Vec<Line> =
        of_item.into_iter().map(|(item, points)| Line { name: items.name(item), points }).collect();
    let total = |line: &Line| line.points.iter().map(|point| point.1).sum::<f64>();
    // The sort is stable: of two with as many users, the one with the smaller number.
    all.sort_by(|a, b| total(b).total_cmp(&total(a)));
    let ends = [0, taken].map(|step| clock.shown(clock.start(step)));
    lines("users by step", &ends, taken, all.into_iter())
}

/// Epsilons and what is found with them.
pub(super) fn row(text: &mut String, epsilon: f64, plan: &ItemsPlan) {
    let monitor = &plan.settings().monitor;
    let smallest = plan.smallest_count();
    let found = if smallest == u64::MAX { "none".to_owned() } else { smallest.to_string() };
    let error = crate::top::standard_error(monitor, smallest as f64);
    let limit = monitor.limit().map_or("any".to_owned(), |limit| limit.to_string());
    let _ = writeln!(
        text,
        "{epsilon:>8} {found:>10} {:>10} {limit:>8} {:>6}  {}",
        if smallest == u64::MAX { String::new() } else { format!("{error:.1}") },
        monitor.items_per_step(),
        monitor.method().id(),
    );
}
