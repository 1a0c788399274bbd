//! Who is in which public sets, to an order in which few of them serve everybody, or to a few that serve as many as possible.
//!
//! A row says that a person is in a set (can walk to a clinic, has bought from a shop, takes a drug); a person may be in many rows.

mod plan;
mod report;

use crate::cli::SetArgs;
use crate::disk::Disk;
use crate::error::Error;
use crate::order::{FillOf, Order};
use crate::run::{PRIVATE, Said, different_files, form, public_names, target};
use crate::shown::shown;
use crate::stop::Gate;
use crate::table::{Rows, Secrecy};
use dp_combinatorial::Incidence;
use dp_mechanism::Mechanism;
pub use plan::{Aim, SetPlan, SetSettings};
pub(crate) use report::plan_text;
use std::collections::BTreeMap;
use std::fmt::Write as _;

/// Checks all that is public. `k` sets that serve many, or an order of all, or of the first `k`, that serves all.
///
/// # Errors
/// Names the setting and what was wanted.
pub fn set_plan(args: &SetArgs, aim: Aim) -> Result<SetPlan, Error> {
    SetPlan::new(settings(args, aim, args.loss.epsilon()?)?)
}

fn settings(args: &SetArgs, aim: Aim, epsilon: f64) -> Result<SetSettings, Error> {
    different_files(
        &[("--sets-from", args.sets_from.as_deref())],
        &[("--data", Some(&args.file.data))],
    )?;
    let sets = public_names(&args.sets, args.sets_from.as_deref(), "set")?;
    let (person, column) = (args.person.clone(), args.set.clone());
    Ok(SetSettings { aim, person, column, sets, epsilon })
}

/// How many rows met what end. Private.
#[derive(Clone, Default)]
struct Met {
    used: u64,
    nobodys: u64,
    unknown: u64,
    passed_over: u64,
    names: BTreeMap<String, u64>,
}

/// Examples of unknown sets that a check shows.
const EXAMPLES: usize = 10;
/// As many as an [`Incidence`] takes.
const MOST_PERSONS: u32 = 1 << 30;

/// Reads who is in which set. Rows of a wrong shape, without a person or of no public set are left out; a row that is there twice counts once.
fn read(args: &SetArgs, plan: &SetPlan, met: &mut Met) -> Result<Incidence, Error> {
    let settings = plan.settings();
    let mut rows = Rows::open(&args.file.data, Secrecy::Private, &form(&args.file.form)?)?;
    rows.choose(&[&settings.person, &settings.column])?;
    let mut persons: BTreeMap<Box<str>, u32> = BTreeMap::new();
    let mut pairs = Vec::new();
    while rows.advance()? {
        let Some(name) = rows.name_or_none(0) else {
            met.nobodys += 1;
            continue;
        };
        let Some(set) = rows.text_or_none(1).and_then(|name| plan.set(&name)) else {
            met.unknown += 1;
            let name = rows.text_or_none(1).unwrap_or_default().into_owned();
            if met.names.len() < EXAMPLES || met.names.contains_key(&name) {
                *met.names.entry(name).or_default() += 1;
            }
            continue;
        };
        met.used += 1;
        // More persons than that share the last number: they do not fit into memory, and an error would depend on the last one of them.
        let next = u32::try_from(persons.len()).unwrap_or(u32::MAX).min(MOST_PERSONS - 1);
        let person = match persons.get(&*name) {
            Some(person) => *person,
            None => *persons.entry(name.into()).or_insert(next),
        };
        pairs.push((person, set));
    }
    met.passed_over = rows.passed_over();
    let persons = u32::try_from(persons.len()).unwrap_or(u32::MAX).min(MOST_PERSONS);
    Incidence::from_pairs(persons, plan.sets(), &pairs)
        .map_err(|error| Error::library("the sets", &error))
}

/// From a file to a folder. `draw` is the plan's release, or in a claim its replay.
///
/// # Errors
/// [`Error`]. What rows say is never one.
pub fn release_sets(
    args: &SetArgs,
    aim: Aim,
    gate: &Gate,
    disk: &dyn Disk,
    draw: impl FnOnce(&SetPlan, &Incidence) -> Vec<u32>,
) -> Result<Said, Error> {
    let (target, plan) = (target(&args.target)?, set_plan(args, aim)?);
    let order = Order::new(aim.family(), &target, plan.receipt(), &plan, gate, disk)?;
    let mut aside = order.notes().iter().fold(String::new(), |text, note| text + note + "\n");
    let people = read(args, &plan, &mut Met::default())?;
    let text = report::report(&plan);
    let files: [(&str, FillOf<'_, Vec<u32>>); 2] = [
        ("sets.csv", Box::new(|sets, to| report::table(&plan, sets, to))),
        ("report.txt", Box::new(|_, to| to.write_all(text.as_bytes()))),
    ];
    order.carry_out(|| draw(&plan, &people), &files)?;
    drop(files);
    let _ = writeln!(aside, "Written to {}; only you can read it.", target.out.display());
    Ok(Said { text, aside, unproved: false })
}

/// What a release would use, for the holder only.
///
/// # Errors
/// [`Error`].
pub(crate) fn check(args: &SetArgs, aim: Aim) -> Result<String, Error> {
    let plan = set_plan(args, aim)?;
    let mut text = PRIVATE.to_owned();
    let rows = Rows::open(&args.file.data, Secrecy::Private, &form(&args.file.form)?)?;
    let _ = writeln!(text, "columns: {}", crate::shown::names(rows.header()));
    let mut met = Met::default();
    let people = read(args, &plan, &mut met)?;
    let Met { used, nobodys, unknown, passed_over, names } = met;
    for (number, what) in [
        (used + nobodys + unknown + passed_over, "rows"),
        (used, "count"),
        (people.users() as u64, "persons in them"),
        (people.memberships() as u64, "of them different"),
        (unknown, "left out: of no public set"),
        (nobodys, "left out: nobody's"),
        (passed_over, "left out: too few or too many cells, a line break in one, or above 1 MB"),
    ] {
        let _ = writeln!(text, "{number:12}  {what}");
    }
    for (name, rows) in names {
        let _ = writeln!(text, "{rows:12}  rows of `{}`, which is no public set", shown(&name));
    }
    Ok(text)
}
