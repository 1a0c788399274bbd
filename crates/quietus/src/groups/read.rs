//! From rows to a table, by rules that no row can break.

use super::{GroupPlan, Tally};
use crate::error::Error;
use crate::persons::{Persons, Whose};
use crate::table::{Form, Rows, Secrecy};
use crate::value::{Decimal, days};
use std::path::PathBuf;

/// A private file and how it is written.
#[derive(Clone, Debug)]
pub struct Source {
    /// The file.
    pub path: PathBuf,
    /// Its delimiter, names and limits.
    pub form: Form,
    /// How its numbers are written.
    pub decimal: Decimal,
}

/// What happened to a row. Private: for the holder's own check.
#[derive(Clone, Debug, PartialEq)]
pub enum Met {
    /// It counts.
    Counted,
    /// It counts, and its number as the lower end of the range.
    Below,
    /// It counts, and its number as the upper end.
    Above,
    /// Its group is not among the public ones.
    UnknownGroup(String),
    /// It has no number where one is asked for.
    NoNumber,
    /// It does not say whose it is.
    NoPerson,
    /// It is not the first of its person.
    Again,
}

/// Reads the private file. What is wrong with it as a file is an error; what a row says never is.
///
/// The rules: a row of a wrong shape is left out. With a column of persons, a row without one is left out, and so are all but the first
/// row of each. A row whose group is not a public one, exactly as written but for white space around it, is left out. Where a number is
/// asked for, a row without one is left out, and one outside of the bounds counts as the closer bound.
///
/// # Errors
/// [`Error::Table`]. `met` is told about every row, and gives nothing back.
pub fn read(
    plan: &GroupPlan,
    source: &Source,
    met: &mut dyn FnMut(Met),
) -> Result<(Tally, u64), Error> {
    let settings = plan.settings();
    let mut rows = Rows::open(&source.path, Secrecy::Private, &source.form)?;
    let columns = [settings.person.as_deref(), settings.by.as_deref(), settings.measure.column()];
    let chosen: Vec<&str> = columns.into_iter().flatten().collect();
    rows.choose(&chosen)?;
    // Where each is among the chosen.
    let mut next = 0;
    let [person, by, column] = columns.map(|name| {
        name.map(|_| {
            next += 1;
            next - 1
        })
    });
    let mut persons = Persons::new(person.is_some());
    let mut tally = plan.tally();
    while rows.advance()? {
        match persons.whose(|| rows.name_or_none(person.unwrap_or_default())) {
            Whose::First => {}
            Whose::Again => {
                met(Met::Again);
                continue;
            }
            Whose::Nobodys => {
                met(Met::NoPerson);
                continue;
            }
        }
        let group = match by {
            None => Some(0),
            Some(by) => rows.text_or_none(by).and_then(|name| plan.group(&name)),
        };
        let value = column.and_then(|column| {
            if settings.dates {
                days(&rows.text_or_none(column)?)
            } else {
                rows.number_or_none(column, source.decimal)
            }
        });
        let counted = plan.add(&mut tally, group, value);
        met(match (group, value, plan.grid()) {
            (None, ..) => {
                let name = by.and_then(|by| rows.text_or_none(by)).unwrap_or_default();
                Met::UnknownGroup(name.into_owned())
            }
            _ if !counted => Met::NoNumber,
            (_, Some(value), Some(grid)) if value < grid.public_box().min(0) => Met::Below,
            (_, Some(value), Some(grid)) if value > grid.public_box().max(0) => Met::Above,
            _ => Met::Counted,
        });
    }
    Ok((tally, rows.passed_over()))
}
