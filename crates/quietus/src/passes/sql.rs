//! Passes that somebody else counts: the SQL that does it, and the table that comes back.

use super::{Held, passes_of, setting, state_of};
use crate::cluster::Axis;
use crate::disk::Disk;
use crate::error::Error;
use crate::folder::{RELEASE, holds};
use crate::ledger::{LedgerFile, sha256_hex};
use crate::order::Target;
use crate::shown::shown;
use crate::table::Form;
use dp_cluster::passes::{Asked, ByPasses, Question, Table, TableError, sql, sql_double};
use dp_mechanism::passes as mechanism_passes;
use serde::Serialize;
use std::fmt::Write as _;
use std::path::Path;

/// How a row becomes a record, column by column.
pub(crate) struct Columns<'a> {
    pub(crate) axes: &'a [Axis],
    pub(crate) form: &'a Form,
    /// The column of persons, whose first rows cannot be told in a table without an order.
    pub(crate) person: Option<&'a str>,
    /// What becomes of a number that is clipped to its range: SQL of SQL.
    pub(crate) inwards: &'a dyn Fn(&Axis, &str) -> String,
    /// What a row without a number counts as in a column; else it is left out.
    pub(crate) missing: Option<&'a dyn Fn(&Axis) -> f64>,
}

/// In a table without an order nobody knows which row of a person is the first.
pub(crate) fn refuse_person(person: Option<&str>) -> Result<(), Error> {
    let want = "left out where somebody else counts: in SQL rows have no order, and so a person has no first one; keep one of each yourself";
    person.map_or(Ok(()), |column| setting("--person", column, want))
}

/// What is printed above a statement: of which pass it is, and how its table comes back.
pub(crate) fn headed(pass: u32, what: &str, resume: &str, sql: &str) -> String {
    format!(
        "-- Pass {}: {what}. This text is public; the table that it makes is exact, and as private as the data.\n\
         -- Save the table as CSV with its names, and answer: the same command, --from-tables TABLE.csv{resume} in place of --explain-sql.\n{sql}",
        pass + 1
    )
}

/// A file or a table of this name, as SQL has it.
pub(crate) fn relation(flag: &'static str, path: &Path) -> Result<String, Error> {
    let Some(text) = path.to_str() else {
        return setting(flag, &path.display().to_string(), "a name in Unicode");
    };
    Ok(if text.contains(['.', '/', '\\']) { quoted(text) } else { name(text) })
}

/// Text as SQL has it.
pub(crate) fn quoted(text: &str) -> String {
    format!("'{}'", text.replace('\'', "''"))
}

/// A name as SQL has it.
pub(crate) fn name(text: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || c == '_';
    if text.chars().all(plain) && text.starts_with(|c: char| c.is_ascii_alphabetic()) {
        text.to_owned()
    } else {
        format!("\"{}\"", text.replace('"', "\"\""))
    }
}

/// All records of a file or a table.
fn records(columns: &Columns<'_>, data: &Path) -> Result<String, Error> {
    refuse_person(columns.person)?;
    let from = relation("--data", data)?;
    let (mut numbers, mut wanted, mut taken) = (Vec::new(), Vec::new(), Vec::new());
    for (i, axis) in columns.axes.iter().enumerate() {
        let column = name(columns.form.name_in_file(&axis.column));
        numbers.push(format!("TRY_CAST({column} AS DOUBLE) AS r{i}"));
        let (low, high) = (sql_double(axis.low), sql_double(axis.high));
        let clipped = (columns.inwards)(axis, &format!("LEAST(GREATEST(r{i}, {low}), {high})"));
        taken.push(match columns.missing {
            None => {
                wanted.push(format!("r{i} IS NOT NULL AND NOT isnan(r{i})"));
                format!("{clipped} AS x{i}")
            }
            Some(missing) => format!(
                "CASE WHEN r{i} IS NULL OR isnan(r{i}) THEN {} ELSE {clipped} END AS x{i}",
                sql_double(missing(axis))
            ),
        });
    }
    let mut text = format!(
        "SELECT {} FROM (SELECT {} FROM {from}) AS numbers",
        taken.join(", "),
        numbers.join(", ")
    );
    if !wanted.is_empty() {
        let _ = write!(text, " WHERE {}", wanted.join(" AND "));
    }
    Ok(text)
}

/// The SQL of the next pass. Where there is a state, it must be the newest: what it asks follows from what was drawn.
pub(crate) fn explain<P: ByPasses<Question = Question>>(
    mechanism: P,
    (family, plan): (&str, &impl Serialize),
    target: Option<&Target>,
    (columns, data): (&Columns<'_>, &Path),
    disk: &dyn Disk,
) -> Result<String, Error> {
    let records = records(columns, data)?;
    let text =
        serde_json::to_string_pretty(plan).map_err(|error| Error::library("the plan", &error))?;
    let digest = sha256_hex(&[text.as_bytes()]);
    let held = match target {
        Some(Target { out, ledger: Some(ledger) }) if state_of(out)?.join(RELEASE).exists() => {
            let ledger = LedgerFile::at(ledger);
            Some(Held::open(out, ledger, true, (family, &digest), disk)?)
        }
        _ => None,
    };
    let state = held.as_ref().and_then(|held| held.state.as_ref());
    let in_place = held.as_ref().zip(target).is_some_and(|(held, target)| {
        held.named.as_ref().is_some_and(|named| holds(&target.out, &named.release))
    });
    if in_place || state.is_some_and(|state| state.files.is_some()) {
        return Ok("-- All passes are answered: the command with --resume writes the release.\n"
            .to_owned());
    }
    let passes =
        passes_of(mechanism, state).map_err(|error| Error::library("the state", &error))?;
    let (asked, pass) = (passes.asked(), passes.asked().pass());
    let what = asked.question().name();
    let Some(sql) = sql(asked, &records) else {
        let want = "used where SQL rounds as counting does: with --method dpm, and map";
        return setting("--explain-sql", what, want);
    };
    let resume = if pass > 0 { " --resume" } else { "" };
    Ok(headed(pass, what, resume, &sql))
}

/// The entries of a table that are not 0.
pub(crate) type Entries = Vec<(usize, i64)>;

/// The table in a file of CSV. What is wrong with it says nothing about what it counts.
pub(crate) fn read<Q: mechanism_passes::Question>(
    path: &Path,
    asked: &Asked<Q>,
) -> Result<(Table, Entries), Error> {
    let refuse = |mut error: TableError| {
        if let TableError::OtherPass { want, got } = &mut error {
            // As passes are told, from 1 on.
            (*want, *got) = (want.saturating_add(1), got.saturating_add(1));
        }
        Error::library("--from-tables", &error)
    };
    let damaged = || refuse(TableError::Damaged);
    let mut lines = csv::Reader::from_path(path).map_err(|error| Error::Io {
        action: "read",
        path: path.to_path_buf(),
        source: error.into(),
    })?;
    if !lines.headers().is_ok_and(|names| names.iter().eq(["signature", "entry", "value"])) {
        let want = "a table that the SQL of --explain-sql has made, with the names signature, entry, value in its first line";
        return setting("--from-tables", &shown(&path.display().to_string()), want);
    }
    let (mut signature, mut rows, mut cells) = (None, None, None);
    let mut entries = Entries::new();
    for line in lines.records() {
        let line = line.map_err(|_| damaged())?;
        let [said, entry, value] = [0, 1, 2].map(|place| line.get(place).unwrap_or_default());
        if signature.get_or_insert_with(|| said.to_owned()) != said {
            return Err(damaged());
        }
        let value: i64 = value.parse().map_err(|_| damaged())?;
        let once = match entry {
            "rows" => rows.replace(value).is_none(),
            "cells" => cells.replace(value).is_none(),
            entry => {
                entries.push((entry.parse().map_err(|_| damaged())?, value));
                true
            }
        };
        if !once {
            return Err(damaged());
        }
    }
    let (Some(signature), Some(rows), Some(cells)) = (signature, rows, cells) else {
        return Err(damaged());
    };
    if usize::try_from(cells).ok() != Some(entries.len()) {
        return Err(damaged());
    }
    let rows = u64::try_from(rows).map_err(|_| damaged())?;
    let table = asked.table(&signature, rows, entries.iter().copied()).map_err(refuse)?;
    Ok((table, entries))
}
