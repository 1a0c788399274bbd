//! What a release of groups says in files and in words. All of it follows from settings and from noisy numbers.

use super::{Estimate, GroupPlan, GroupSettings, Measure, Noisy};
use crate::error::Error;
use crate::order::FillOf;
use crate::picture::{Bar, bars};
use crate::search::{EPSILONS, smallest_epsilon};
use crate::value::{date, in_column, short};
use dp_mechanism::Mechanism;
use std::fmt::Write as _;
use std::io;

/// The files of a release, beside those that all have.
pub fn files<'a>(plan: &'a GroupPlan, report: &'a str) -> [(&'static str, FillOf<'a, Noisy>); 3] {
    [
        ("groups.csv", Box::new(move |noisy, to| table(plan, noisy, to))),
        ("report.txt", Box::new(move |_, to| to.write_all(report.as_bytes()))),
        ("groups.svg", Box::new(move |noisy, to| to.write_all(picture(plan, noisy).as_bytes()))),
    ]
}

/// The ends of a bin.
fn edges(plan: &GroupPlan, bin: usize) -> Option<(String, String)> {
    let grid = plan.grid()?;
    let edge = |cell: usize| {
        let at = grid.coordinate(0, cell as f64);
        if plan.settings().dates { date(at) } else { short(at) }
    };
    Some((edge(bin), edge(bin + 1)))
}

fn table(plan: &GroupPlan, noisy: &Noisy, to: &mut dyn io::Write) -> io::Result<()> {
    let mut lines = csv::Writer::from_writer(to);
    let numbers = |estimate: &Estimate| {
        let Estimate { value, standard_error, interval, signal } = *estimate;
        let signal = if signal { "yes" } else { "no" };
        let [value, error, low, high] =
            [value, standard_error, interval.low, interval.high].map(short);
        [value, error, low, high, signal.to_owned()]
    };
    let (counts, means, bins) = (plan.counts(noisy), plan.means(noisy), plan.bins());
    let with_bins = matches!(plan.settings().measure, Measure::Histogram { .. });
    let mut head = vec!["group"];
    if with_bins {
        head.extend(["from", "to"]);
    }
    head.extend(["count", "count_error", "count_low", "count_high", "count_signal"]);
    if !means.is_empty() {
        head.extend(["mean", "mean_error", "mean_low", "mean_high", "mean_signal"]);
    }
    lines.write_record(head)?;
    for (cell, count) in counts.iter().enumerate() {
        let mut record = vec![plan.settings().groups[cell / bins].clone()];
        if let (true, Some((from, until))) = (with_bins, edges(plan, cell % bins)) {
            record.extend([from, until]);
        }
        record.extend(numbers(count));
        record.extend(means.get(cell).into_iter().flat_map(numbers));
        lines.write_record(record)?;
    }
    lines.flush()
}

/// Bars with intervals: means if there are any, else counts.
fn picture(plan: &GroupPlan, noisy: &Noisy) -> String {
    let GroupSettings { groups, measure, .. } = plan.settings();
    let (bins, means) = (plan.bins(), plan.means(noisy));
    let (title, shown) = match measure {
        Measure::Mean { column, .. } => (format!("mean of {column}"), means),
        Measure::Histogram { column, .. } => (format!("records by {column}"), plan.counts(noisy)),
        Measure::Count => ("records".to_owned(), plan.counts(noisy)),
    };
    let name = |cell: usize| match (measure, edges(plan, cell % bins)) {
        (Measure::Histogram { .. }, Some((from, until))) => {
            format!("{} {from} to {until}", groups[cell / bins]).trim().to_owned()
        }
        _ => groups[cell].clone(),
    };
    let bar = |(cell, estimate): (usize, &Estimate)| Bar { name: name(cell), estimate: *estimate };
    bars(&title, shown.iter().enumerate().map(bar))
}

/// A release in words.
pub fn report(plan: &GroupPlan) -> String {
    let GroupSettings { by, person, measure, groups, .. } = plan.settings();
    let who = match person {
        Some(column) => format!(
            "a person, of whom only the first row counts (column `{column}` says whose row it is; rows without are left out)"
        ),
        None => "whoever is in one row; somebody in several rows is protected in each of them only"
            .to_owned(),
    };
    let mut text = format!("{}\n\nProtected: {who}.\n", plan.receipt());
    if let Some(by) = by {
        let _ = writeln!(
            text,
            "Groups: the {} public ones; rows of another `{by}` are left out.",
            groups.len()
        );
    }
    match measure {
        Measure::Count => {}
        Measure::Histogram { column, .. } | Measure::Mean { column, .. } => {
            let _ = writeln!(
                text,
                "Rows without a number in `{column}` are left out; numbers outside of the bounds count as the closer bound."
            );
        }
    }
    let (error, miss) = plan.count_error();
    let _ = writeln!(
        text,
        "Every count has a standard error of {error:.2}, and is within {miss} of the truth in 95 of 100 releases or more. A signal of `no` means that noise alone explains the number."
    );
    text.push_str("The budget is spent: add this receipt to those of all other releases about the same people.\n");
    text
}

/// Of a mean, if no number of rows is said.
const ROWS: f64 = 1_000.0;

/// The plan with the smallest epsilon that has the standard error asked for: of a mean of so many rows, or of a count.
///
/// # Errors
/// If there is none.
pub fn accurate_plan(
    plan: &GroupPlan,
    records: Option<f64>,
    accuracy: f64,
) -> Result<GroupPlan, Error> {
    let at = |epsilon| GroupPlan::new(GroupSettings { epsilon, ..plan.settings().clone() });
    let error = |epsilon| {
        let plan = at(epsilon)?;
        let mean = plan.mean_error(records.unwrap_or(ROWS));
        Ok(mean.unwrap_or(plan.count_error().0))
    };
    at(smallest_epsilon(accuracy, error)?)
}

/// What a plan costs and how accurate it will be, before there are data.
///
/// # Errors
/// Those of [`GroupPlan::new`].
pub fn plan_text(plan: &GroupPlan, records: Option<f64>) -> Result<String, Error> {
    let mut text = format!("{}\n\n", plan.receipt());
    let _ = writeln!(text, "One pass over the file. {} cells.", plan.cells());
    let records = records.unwrap_or(ROWS);
    let _ = write!(text, "{:>8} {:>14} {:>14}", "epsilon", "error of count", "95 % within");
    if plan.mean_error(1.0).is_some() {
        let _ = write!(text, " {:>28}", format!("error of mean of {records} rows"));
    }
    text.push('\n');
    for epsilon in EPSILONS {
        let at = GroupPlan::new(GroupSettings { epsilon, ..plan.settings().clone() })?;
        let (error, miss) = at.count_error();
        let _ = write!(text, "{epsilon:>8} {error:>14.2} {miss:>14}");
        if let Some(mean) = at.mean_error(records) {
            let _ = write!(text, " {:>28}", in_column(mean, 4));
        }
        text.push('\n');
    }
    Ok(text)
}
