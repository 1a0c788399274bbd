//! A census that somebody else counts: the SQL that does it, and the table that comes back.

use super::input::refuse_file;
use super::{Job, prepare};
use crate::cli::CensusArgs;
use crate::error::Error;
use crate::passes::{headed, name, quoted, read, relation, setting};
use crate::shown::shown;
use crate::table::{Form, MOST_WHOLE};
use dp_census::passes::{Passes, sql};
use dp_census::{Bins, Census, From0, GroupSizes};
use std::num::NonZeroU32;
use std::path::Path;

fn asking(plan: &Census) -> Result<Passes<Census>, Error> {
    Passes::new(plan.clone()).map_err(|error| Error::library("the plan", &error))
}

/// The SQL of the one pass: a join of the directory, so that empty groups count, with the sums of what individuals bring to each group.
///
/// # Errors
/// [`Error`].
pub(crate) fn explain(args: &CensusArgs) -> Result<String, Error> {
    let job = prepare(args)?;
    let passes = asking(&job.plan)?;
    let sql = sql(passes.asked(), &groups(args, &job)?);
    let brings = if has_quantities(args, &job.form) {
        format!("what is in the column {}", shown(job.form.name_in_file(QUANTITY)))
    } else {
        "1, whatever other columns there are".to_owned()
    };
    let what = format!(
        "groups by size in the lowest regions; every row of people is another individual, who adds {brings}"
    );
    Ok(headed(0, &what, "", &sql))
}

const QUANTITY: &str = "quantity";

/// Nobody has looked which columns there are: that of quantities is one that is named, or that more than 1 may be in.
fn has_quantities(args: &CensusArgs, form: &Form) -> bool {
    args.most_quantity > NonZeroU32::MIN || form.renames(QUANTITY)
}

/// SQL takes every row for another individual, also those of one person.
pub(super) fn refuse_person(args: &CensusArgs, form: &Form) -> Result<(), Error> {
    let elsewhere = args.explain_sql || args.from_tables.is_some();
    if !(elsewhere && form.renames("person")) {
        return Ok(());
    }
    let want = "left out where somebody else counts: every row is taken for another individual there; put the rows of one person into one yourself";
    setting("--column person=THERE", &shown(form.name_in_file("person")), want)
}

/// One row for each group: the number of its region among the lowest, and its size.
fn groups(args: &CensusArgs, job: &Job) -> Result<String, Error> {
    let column = |column: &str| name(job.form.name_in_file(column));
    let text = |here: &str| format!("TRIM(CAST({} AS STRING))", column(here));
    let file = |flag, path: &Option<_>| relation(flag, path.as_deref().unwrap_or(Path::new("")));
    let (units, data) = (file("--units", &args.units)?, file("--data", &args.data)?);
    let (unit, region) = (text("unit"), text("region"));
    // Whoever brings more than the largest size fills the last column alone; so no sum leaves 64 bits.
    let most = args.most_quantity.get().min(args.largest);
    let leaves = job.hierarchy.tree().leaves().enumerate();
    let row = |(leaf, region)| format!("({}, {leaf})", quoted(job.hierarchy.name(region)));
    let leaves: Vec<String> = leaves.map(row).collect();
    // A number that is none, or has a fraction, is no quantity.
    let (brought, wanted) = if has_quantities(args, &job.form) {
        let number = format!("TRY_CAST({} AS DOUBLE)", column(QUANTITY));
        let whole = format!(
            "NOT isnan(brought) AND ABS(brought) < {MOST_WHOLE:e} AND brought = FLOOR(brought)"
        );
        (number, whole)
    } else {
        ("1".to_owned(), "unit IS NOT NULL".to_owned())
    };
    Ok(format!(
        "SELECT places.region, COALESCE(members.size, 0) AS size\n\
         FROM (SELECT DISTINCT leaves.leaf AS region, directory.unit FROM\n\
         (SELECT {unit} AS unit, {region} AS name FROM {units}) AS directory\n\
         JOIN (VALUES {}) AS leaves(name, leaf) ON leaves.name = directory.name) AS places\n\
         LEFT JOIN (SELECT unit, SUM(CAST(LEAST(GREATEST(brought, 0), {most}) AS BIGINT)) AS size\n\
         FROM (SELECT {unit} AS unit, {brought} AS brought FROM {data}) AS people WHERE {wanted} GROUP BY unit) AS members\n\
         ON members.unit = places.unit",
        leaves.join(", ")
    ))
}

/// What the statement has counted. What is wrong with it says nothing about what it counts.
pub(super) fn table(
    path: &Path,
    plan: &Census,
    bins: From0,
    most: NonZeroU32,
) -> Result<GroupSizes, Error> {
    let passes = asking(plan)?;
    let (table, entries) = read(path, passes.asked())?;
    passes.check(&table).map_err(|error| Error::library("--from-tables", &error))?;
    let mut counts = vec![0; passes.asked().question().regions() as usize * bins.count()];
    for (entry, groups) in entries {
        counts[entry] = groups;
    }
    Ok(refuse_file(path, GroupSizes::from_table(bins, counts))?.with_most_quantity(most))
}
