//! A log of persons and items to the most popular items, once.
//!
//! One step of the monitor for shifting heavy hitters: of each person so many items count, and an item is released if enough persons of a
//! secret sample show it. Which items there could be is public.

mod args;
mod plan;

use crate::disk::Disk;
use crate::error::Error;
use crate::order::{FillOf, Order};
use crate::run::{PRIVATE, Said, different_files, form, target};
use crate::search::{EPSILONS, plan_that_finds};
use crate::stop::Gate;
use crate::table::{Form, Rows, Secrecy};
use dp_mechanism::Mechanism;
use dp_stream::{Event, Report};
use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::io;

pub use crate::catalogue::{Catalogue, Items};
pub use args::TopArgs;
pub(crate) use plan::standard_error;
pub use plan::{TopPlan, TopSettings};

/// How many rows met what end. Private.
#[derive(Clone, Default, PartialEq)]
struct Met {
    used: u64,
    nobodys: u64,
    unknown: u64,
    passed_over: u64,
    /// How many items each person shows.
    shown: BTreeMap<u32, u64>,
}

/// Checks all that is public.
///
/// # Errors
/// Names the setting and what was wanted.
pub fn top_plan(args: &TopArgs) -> Result<TopPlan, Error> {
    plan_at(args, args.loss.epsilon()?)
}

fn plan_at(args: &TopArgs, epsilon: f64) -> Result<TopPlan, Error> {
    different_files(
        &[("--items-from", args.catalogue.items_from.as_deref())],
        &[("--data", Some(&args.file.data))],
    )?;
    let items = Catalogue::said(&args.catalogue)?;
    TopPlan::new(TopSettings {
        person: args.person.clone(),
        item: args.catalogue.item.clone(),
        items: items.into(),
        items_per_person: args.items_per_person,
        epsilon,
    })
}

/// Reads events: rows of a wrong shape, without a person, or whose item is not one of the public ones are left out.
fn read(args: &TopArgs, plan: &TopPlan, form: &Form, met: &mut Met) -> Result<Vec<Event>, Error> {
    let mut rows = Rows::open(&args.file.data, Secrecy::Private, form)?;
    rows.choose(&[&args.person, &args.catalogue.item])?;
    let mut numbers: BTreeMap<Box<str>, u32> = BTreeMap::new();
    let mut events = Vec::new();
    while rows.advance()? {
        let Some(name) = rows.name_or_none(0) else {
            met.nobodys += 1;
            continue;
        };
        let item = rows.text_or_none(1).and_then(|text| plan.catalogue().number(&text));
        let Some(item) = item else {
            met.unknown += 1;
            continue;
        };
        let next = u32::try_from(numbers.len()).expect("fewer names fit into memory");
        let user = match numbers.get(&*name) {
            Some(&user) => user,
            None => *numbers.entry((*name).into()).or_insert(next),
        };
        met.used += 1;
        *met.shown.entry(user).or_default() += 1;
        events.push(Event { user, item });
    }
    met.passed_over = rows.passed_over();
    Ok(events)
}

/// From a file to a folder. `draw` is the plan's release, or in a claim its replay.
///
/// # Errors
/// [`Error`]. What rows say is never one.
pub fn release_top(
    args: &TopArgs,
    gate: &Gate,
    disk: &dyn Disk,
    draw: impl FnOnce(&TopPlan, &[Vec<Event>]) -> Vec<Report>,
) -> Result<Said, Error> {
    let (target, form, plan) = (target(&args.target)?, form(&args.file.form)?, top_plan(args)?);
    let order = Order::new("top", &target, plan.receipt(), &plan, gate, disk)?;
    let mut aside = order.notes().iter().fold(String::new(), |text, note| text + note + "\n");
    let steps = [read(args, &plan, &form, &mut Met::default())?];
    let text = report(&plan);
    let files: [(&str, FillOf<'_, Vec<Report>>); 2] = [
        ("items.csv", Box::new(|reports, to| table(&plan, reports, to))),
        ("report.txt", Box::new(|_, to| to.write_all(text.as_bytes()))),
    ];
    order.carry_out(|| draw(&plan, &steps), &files)?;
    drop(files);
    let _ = writeln!(aside, "Written to {}; only you can read it.", target.out.display());
    Ok(Said { text, aside, unproved: false })
}

fn report(plan: &TopPlan) -> String {
    let TopSettings { person, item, items_per_person, .. } = plan.settings();
    format!(
        "{}\n\nProtected: a person with all rows (column `{person}` says whose row it is; rows without are left out).\n\
         Rows whose `{item}` is not one of the public items are left out. Of a person who shows more than {items_per_person} items that many count.\n\
         An item that {} persons show or more is found in 19 of 20 releases, if all of them show at most {items_per_person} items; of others some are there as well.\n\
         Numbers of persons are estimates from a secret sample: too high on average for an item that is there by luck. Their error is a guide.\n\
         The budget is spent: add this receipt to those of all other releases about the same people.\n",
        plan.receipt(),
        plan.smallest_count(),
    )
}

/// The most popular first.
fn table(plan: &TopPlan, reports: &[Report], to: &mut dyn io::Write) -> io::Result<()> {
    let mut lines = csv::Writer::from_writer(to);
    lines.write_record(["item", "persons", "persons_error"])?;
    let mut reports = reports.to_vec();
    reports.sort_by_key(|report| (std::cmp::Reverse(report.noisy_count), report.item));
    for report in reports {
        let (persons, error) = plan.estimate(report.noisy_count);
        let numbers = [format!("{persons:.1}"), format!("{error:.1}")];
        lines.write_record(std::iter::once(plan.catalogue().name(report.item)).chain(numbers))?;
    }
    lines.flush()
}

/// What a release would use, for the holder only.
///
/// # Errors
/// [`Error`].
pub(crate) fn check(args: &TopArgs) -> Result<String, Error> {
    let (form, plan) = (form(&args.file.form)?, top_plan(args)?);
    let mut text = PRIVATE.to_owned();
    let rows = Rows::open(&args.file.data, Secrecy::Private, &form)?;
    let _ = writeln!(text, "columns: {}", crate::shown::names(rows.header()));
    let mut met = Met::default();
    read(args, &plan, &form, &mut met)?;
    let most = u64::from(plan.settings().items_per_person);
    let crowded = met.shown.values().filter(|rows| **rows > most).count() as u64;
    let persons = met.shown.len() as u64;
    let Met { used, nobodys, unknown, passed_over, .. } = met;
    for (number, what) in [
        (used + nobodys + unknown + passed_over, "rows"),
        (used, "count, or show an item again"),
        (persons, "persons in them"),
        (crowded, "persons with more rows than items of theirs may count"),
        (nobodys, "rows left out: nobody's"),
        (unknown, "rows left out: not one of the public items"),
        (
            passed_over,
            "rows left out: too few or too many cells, a line break in one, or above 1 MB",
        ),
    ] {
        let _ = writeln!(text, "{number:12}  {what}");
    }
    Ok(text)
}

/// What a release costs, and what it finds.
///
/// # Errors
/// [`Error`].
pub(crate) fn plan_text(args: &TopArgs) -> Result<String, Error> {
    let (plan, mut text) = match args.loss.accuracy {
        None => (top_plan(args)?, String::new()),
        Some(people) => {
            let at = |epsilon| plan_at(args, epsilon);
            plan_that_finds((people, "persons"), at, TopPlan::smallest_count)?
        }
    };
    let items_per_person = plan.settings().items_per_person;
    let _ = writeln!(text, "{}\n", plan.receipt());
    let _ = writeln!(
        text,
        "One pass over the file; 100 bytes of memory for each person and each row.\n\
         An item is found in 19 of 20 releases if so many persons show it, who show at most {items_per_person} items; error: of its number of persons.\n\
         {:>8} {:>14} {:>14}",
        "epsilon", "found from", "error"
    );
    for epsilon in EPSILONS {
        let at = TopPlan::new(TopSettings { epsilon, ..plan.settings().clone() })?;
        let found = at.smallest_count();
        let error = at.error(found as f64);
        let _ = writeln!(text, "{epsilon:>8} {found:>14} {error:>14.1}");
    }
    Ok(text)
}

#[cfg(test)]
mod tests {
    use super::{Report, TopPlan, table};
    use crate::catalogue::Items;
    use crate::top::plan::TopSettings;

    /// Nothing but what is in a row says where it stands: not the order in which reports come, nor their time.
    #[test]
    fn equal_counts_stand_in_the_order_of_items() {
        let plan = TopPlan::new(TopSettings {
            person: "person".to_owned(),
            item: "item".to_owned(),
            items: Items::NumbersBelow(100),
            items_per_person: 1,
            epsilon: 1.0,
        });
        let plan = plan.unwrap();
        let report = |(time, item, noisy_count)| Report { time, item, noisy_count };
        let reports = [(0, 9, 40), (2, 3, 40), (1, 7, 40), (3, 50, 60), (4, 1, 30)].map(report);
        let mut written = Vec::new();
        table(&plan, &reports, &mut written).unwrap();
        let text = String::from_utf8(written).unwrap();
        let items = text.lines().skip(1).map(|line| line.split(',').next().unwrap());
        assert_eq!(items.collect::<Vec<_>>(), ["50", "3", "7", "9", "1"]);
    }
}
