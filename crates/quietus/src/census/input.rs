//! The files of a release of group sizes: public regions and units, private tables and people.

use super::unit::Unit;
use crate::error::Error;
use crate::table::{Form, Rows, Secrecy, TableError, TableProblem};
use dp_census::{CensusError, From0, GroupDirectory, GroupSizes, Hierarchy};
use std::collections::BTreeMap;
use std::num::NonZeroU32;
use std::path::{Path, PathBuf};

/// Public regions, and their numbers of groups if the file has them.
#[derive(Clone, Debug)]
pub(super) struct Regions {
    pub(super) hierarchy: Hierarchy,
    /// Of each region of the lowest level.
    pub(super) groups: Option<Vec<i64>>,
}

/// One line of the file of regions.
struct Line {
    region: String,
    parent: Option<String>,
    groups: Option<i64>,
    number: u64,
}

/// Reads columns `region`, `parent` and perhaps `groups`.
pub(super) fn regions(path: &Path, form: &Form) -> Result<Regions, Error> {
    let mut rows = Rows::open(path, Secrecy::Public, form)?;
    rows.choose(&["region", "parent"])?;
    let counted = rows.has_exactly("groups")?;
    rows.choose(if counted { &["region", "parent", "groups"] } else { &["region", "parent"] })?;
    let mut lines: Vec<Line> = Vec::new();
    while rows.advance()? {
        let (region, parent) = (rows.name(0)?.into_owned(), rows.text(1)?.into_owned());
        let groups =
            if counted && !rows.text(2)?.is_empty() { Some(rows.natural(2)?) } else { None };
        let parent = (!parent.is_empty()).then_some(parent);
        lines.push(Line { region, parent, groups, number: rows.line() });
    }
    let pairs = lines.iter().map(|line| (line.region.as_str(), line.parent.as_deref()));
    let hierarchy = Hierarchy::new(pairs).map_err(|error| TableError {
        path: path.to_path_buf(),
        line: line_of(&lines, &error),
        problem: TableProblem::Refused { reason: error.to_string() },
    })?;
    let groups = if counted { Some(region_groups(&hierarchy, &lines, path)?) } else { None };
    Ok(Regions { hierarchy, groups })
}

/// The last line about the region that is wrong; 0 if there is none.
fn line_of(lines: &[Line], error: &CensusError) -> u64 {
    let (CensusError::TwoParents { region: wrong }
    | CensusError::UnknownParent { region: wrong, .. }
    | CensusError::Circle { region: wrong }
    | CensusError::NoParts { region: wrong }
    | CensusError::TwoRoots { second: wrong, .. }) = error
    else {
        return 0;
    };
    lines.iter().rev().find(|line| line.region == *wrong).map_or(0, |line| line.number)
}

/// The numbers of groups of the lowest level, all of which must be there; those above must be their sums.
fn region_groups(hierarchy: &Hierarchy, lines: &[Line], path: &Path) -> Result<Vec<i64>, Error> {
    let tree = hierarchy.tree();
    let refused = |region: usize, reason: String| {
        let name = hierarchy.name(region);
        let line =
            lines.iter().rev().find(|line| line.region == name).map_or(0, |line| line.number);
        let problem = TableProblem::Refused { reason };
        Err(Error::Table(TableError { path: path.to_path_buf(), line, problem }))
    };
    let mut said: BTreeMap<usize, i64> = BTreeMap::new();
    for line in lines {
        let (Some(region), Some(groups)) = (hierarchy.region(&line.region), line.groups) else {
            continue;
        };
        if said.insert(region, groups).is_some_and(|before| before != groups) {
            return refused(region, format!("region `{}` has two numbers of groups", line.region));
        }
    }
    let mut totals = vec![0_i64; tree.len()];
    for region in (0..tree.len()).rev() {
        let parts = tree.children(region).map(|part| totals[part]);
        let sum = parts.fold(0_i64, i64::saturating_add);
        let name = hierarchy.name(region);
        totals[region] = match said.get(&region) {
            Some(&groups) if tree.leaves().contains(&region) || groups == sum => groups,
            Some(groups) => {
                let reason = format!("region `{name}` has {groups} groups, its parts have {sum}");
                return refused(region, reason);
            }
            None if tree.leaves().contains(&region) => {
                return refused(region, format!("region `{name}` has no number of groups"));
            }
            None => sum,
        };
    }
    Ok(totals.split_off(tree.leaves().start))
}

/// Reads columns `unit` and `region`.
pub(super) fn directory(
    path: &Path,
    form: &Form,
    hierarchy: &Hierarchy,
) -> Result<GroupDirectory<Unit>, Error> {
    let mut rows = Rows::open(path, Secrecy::Public, form)?;
    rows.choose(&["unit", "region"])?;
    let mut failed = None;
    let units = std::iter::from_fn(|| or_note(next_unit(&mut rows, hierarchy), &mut failed));
    let directory = GroupDirectory::new(hierarchy, units);
    match (failed, directory) {
        (Some(error), _) => Err(error),
        (None, Ok(directory)) => Ok(directory),
        (None, Err(CensusError::TwoRegions { .. })) => Err(unit_in_two_regions(path, form)?),
        (None, Err(error)) => Err(Error::library("--units", &error)),
    }
}

fn next_unit<'a>(
    rows: &mut Rows<'_>,
    hierarchy: &'a Hierarchy,
) -> Result<Option<(Unit, &'a str)>, Error> {
    if !rows.advance()? {
        return Ok(None);
    }
    Ok(Some((Unit::new(&rows.name(0)?), leaf_name(rows, 1, hierarchy)?)))
}

/// Reads the public file again to say which unit it is.
fn unit_in_two_regions(path: &Path, form: &Form) -> Result<Error, Error> {
    let mut rows = Rows::open(path, Secrecy::Public, form)?;
    rows.choose(&["unit", "region"])?;
    let mut region_of: BTreeMap<String, String> = BTreeMap::new();
    while rows.advance()? {
        let (unit, region) = (rows.text(0)?.into_owned(), rows.text(1)?.into_owned());
        if let Some(before) = region_of.get(&unit).filter(|before| **before != region) {
            let reason = format!("unit `{unit}` is in `{before}` and in `{region}`");
            return Ok(rows.refuse(TableProblem::Refused { reason }).into());
        }
        region_of.insert(unit, region);
    }
    let reason = "a unit was in two regions, but the file has changed".to_owned();
    let (path, problem) = (PathBuf::from(path), TableProblem::Refused { reason });
    Ok(Error::Table(TableError { path, line: 0, problem }))
}

/// Reads private columns `region`, `size` and `groups`. How many groups each region has may be public.
pub(super) fn table(
    path: &Path,
    form: &Form,
    hierarchy: &Hierarchy,
    bins: From0,
    most_quantity: NonZeroU32,
) -> Result<GroupSizes, Error> {
    let mut rows = Rows::open(path, Secrecy::Private, form)?;
    rows.choose(&["region", "size", "groups"])?;
    let mut failed = None;
    let cells = std::iter::from_fn(|| or_note(next_cell(&mut rows, hierarchy), &mut failed));
    let sizes = GroupSizes::from_rows(hierarchy, bins, cells);
    match failed {
        Some(error) => Err(error),
        None => Ok(refuse_file(path, sizes)?.with_most_quantity(most_quantity)),
    }
}

fn next_cell<'a>(
    rows: &mut Rows<'_>,
    hierarchy: &'a Hierarchy,
) -> Result<Option<(&'a str, u64, i64)>, Error> {
    if !rows.advance()? {
        return Ok(None);
    }
    let region = leaf_name(rows, 0, hierarchy)?;
    Ok(Some((region, natural(rows, 1)?.unsigned_abs(), natural(rows, 2)?)))
}

/// What was taken for one individual. It follows from the names of columns, which are public.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Individuals {
    /// Whoever made the table of sizes put each individual in one group.
    Counted,
    /// Every row is another one.
    Rows,
    /// Rows with the same name are the same one.
    Named,
}

impl Individuals {
    pub(super) fn in_words(self) -> &'static str {
        match self {
            Self::Counted => {
                "each is taken to be in one group of the table, and the public numbers of groups to come from elsewhere, never from the \
                 people (empty groups count, as size 0)"
            }
            Self::Rows => {
                "every row of --data was taken for another one, as it has no column `person`; --units is taken to come from elsewhere, \
                 never from the people"
            }
            Self::Named => {
                "rows of --data with the same `person` were taken for one, who counts in one group; --units is taken to come from \
                 elsewhere, never from the people"
            }
        }
    }
}

/// Reads private columns `unit`, and `person` and `quantity` where there are any.
///
/// A row of a wrong shape, without a name of a unit or a person that is text, or with a quantity that is no number, is left out; so is one
/// of an unknown unit.
///
/// Without `person` every record is an individual, and only the size of each group is kept. With it, individuals may be in several
/// records, all of which are kept until they are sorted.
pub(super) fn people(
    path: &Path,
    form: &Form,
    directory: &GroupDirectory<Unit>,
    bins: From0,
    most_quantity: NonZeroU32,
    met: &mut dyn FnMut(Met),
) -> Result<(GroupSizes, Individuals), Error> {
    let mut rows = Rows::open(path, Secrecy::Private, form)?;
    // First, as the first line of a file without a header is private.
    rows.choose(&["unit"])?;
    let (named, counted) = (rows.has_exactly("person")?, rows.has_exactly("quantity")?);
    let optional = [(named, "person"), (counted, "quantity")];
    let optional = optional.into_iter().filter_map(|(there, name)| there.then_some(name));
    rows.choose(&["unit"].into_iter().chain(optional).collect::<Vec<_>>())?;
    let last = usize::from(named) + usize::from(counted);
    let quantity = |rows: &Rows<'_>| if counted { rows.whole_or_none(last) } else { Some(1) };

    let members = if named {
        let mut failed = None;
        let mut next = || -> Result<Option<(Box<str>, Unit, i64)>, Error> {
            while rows.advance()? {
                // Without a name two individuals would be one, and each could move the other's quantity to another group.
                let person = rows.name_or_none(1).map(Box::<str>::from);
                let unit = rows.text_or_none(0).map(|name| Unit::new(&name));
                match (person, unit, quantity(&rows)) {
                    (Some(person), Some(unit), Some(quantity)) => {
                        return Ok(Some((person, unit, quantity)));
                    }
                    _ => met(Met::Incomplete),
                }
            }
            Ok(None)
        };
        let records = std::iter::from_fn(|| or_note(next(), &mut failed));
        let members = directory.count_people(records, most_quantity);
        failed.map_or(Ok(members), Err)?
    } else {
        let mut members = directory.count_members(most_quantity);
        let mut unit = Unit::default();
        while rows.advance()? {
            match (rows.text_or_none(0), quantity(&rows)) {
                (Some(name), Some(quantity)) => {
                    unit.rename(&name);
                    members.add(&unit, quantity);
                }
                _ => met(Met::Incomplete),
            }
        }
        members
    };
    let individuals = if named { Individuals::Named } else { Individuals::Rows };
    Ok((refuse_file(path, members.into_sizes(bins, most_quantity))?, individuals))
}

/// The hierarchy's own name of the region of the lowest level in this column.
fn leaf_name<'a>(
    rows: &Rows<'_>,
    chosen: usize,
    hierarchy: &'a Hierarchy,
) -> Result<&'a str, Error> {
    let name = rows.name(chosen)?;
    let leaf = hierarchy.leaf(&name).map_err(|error| match rows.secrecy() {
        Secrecy::Public => rows.refuse(TableProblem::Refused { reason: error.to_string() }),
        Secrecy::Private => wrong(rows, chosen, "is not a region of the lowest level"),
    })?;
    Ok(hierarchy.name(hierarchy.tree().leaves().start + leaf))
}

/// A whole number from 0 on in a table that its holder has counted: no individual writes in it.
fn natural(rows: &Rows<'_>, chosen: usize) -> Result<i64, Error> {
    match rows.whole_or_none(chosen) {
        Some(number) if number >= 0 => Ok(number),
        Some(_) => Err(wrong(rows, chosen, "is below 0").into()),
        None => Err(wrong(rows, chosen, "is not a whole number of 64 bits").into()),
    }
}

/// What is wrong with a private cell, which is not shown.
fn wrong(rows: &Rows<'_>, chosen: usize, what: &str) -> TableError {
    rows.wrong(chosen, |column, name| TableProblem::Refused {
        reason: format!("column {column} ({name}) {what}"),
    })
}

/// What happened to a row of people. Private: for the holder's own check.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Met {
    /// It has no name where one is asked for, or no number.
    Incomplete,
}

/// Ends an iterator at the first error, which is kept.
fn or_note<T>(next: Result<Option<T>, Error>, failed: &mut Option<Error>) -> Option<T> {
    next.unwrap_or_else(|error| {
        *failed = Some(error);
        None
    })
}

pub(super) fn refuse_file<T>(path: &Path, result: Result<T, CensusError>) -> Result<T, Error> {
    result.map_err(|error| {
        let problem = TableProblem::Refused { reason: error.to_string() };
        Error::Table(TableError { path: path.to_path_buf(), line: 0, problem })
    })
}
