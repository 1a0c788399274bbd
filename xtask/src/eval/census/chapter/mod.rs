//! The suite's chapter of the report: per data set a table by epsilon, proofs, plots and receipts, then run times.

mod figures;
mod proofs;
mod tables;
mod times;

use crate::error::Error;
use crate::eval::census::bench::receipt_file;
use crate::eval::census::{Section, plan, scaling, solvers};
use crate::eval::record::Record;
use crate::eval::summary::{self, Row, Statistic};
use crate::report::number::{mean_sd, significant};
use crate::report::page::Page;
use std::path::Path;

const INTRODUCTION: &str = "\
Numbers of groups by size in every region of a hierarchy, in whole numbers that add up. Who belongs to a group is private; \
which groups there are, and where, is public.

- **promise**: what is guaranteed, under *member-of-group*: one individual joins or leaves one group. zCDP rows have \
rho = ε²/2 for the ε of the table, a weaker promise than ε; what it comes to at delta 1e-10 stands beside it.
- **not private**: the chain of the paper with the noise of the paper. The true ε stands beside it; the ε of the table is what is claimed.
- **level 1, 2, ..**: sum of absolute errors over all regions and sizes of a level, in thousands of groups, from the top down. \
Means over noise draws ± standard deviation; *published* values below, from a table of the same shape that is not public.
- **violations**: cells that are not the sum of the cells of their parts (the paper counts subtrees instead); real mechanisms are \
rounded cell by cell, as in the paper. **missing**: by how much the number of groups is off.
- **seconds**: one release with its noise.

The other half of the paper's Table 7, on taxis, is not reproduced. A group is a taxi there, and a taxi works in many zones, so its numbers by \
size do not add up over zones: no consistent table is close to the true one. The errors printed for the zones, 0.8 to 9.2 million for the \
mechanisms that keep the number of groups, are above the 26,564 by which two tables of 13,282 groups can differ at all; the real \
mechanisms are printed with up to 19,706 violations. See docs/errata.md.";

const ABSENT: &str = "–";

/// Writes the chapter.
pub(super) fn write(
    sections: &[Section],
    records: &[Record],
    out: &Path,
    page: &mut Page,
) -> Result<(), Error> {
    page.chapter("Census");
    page.paragraph(INTRODUCTION);
    for id in summary::datasets(records).into_iter().filter(|&id| is_table(id)) {
        let section = sections.iter().find(|section| section.recipe.id == id);
        let rows = summary::rows(records, id);
        page.section(id);
        page.paragraph(&facts(&rows, section));
        for setting in settings(&rows) {
            page.paragraph(&format!("**ε = {setting}**"));
            tables::table(&rows, setting, page);
        }
        tables::violations(&rows, section, page);
        proofs::proofs(&rows, page);
        proofs::targets(id, &rows, page);
        figures::figures(id, &rows, section, page)?;
        for row in rows.iter().filter(|row| row.private) {
            receipt(row, out, page);
        }
        page.gap();
    }
    times::run_times(records, page)?;
    times::solver_times(records, page);
    times::threads(records, page);
    times::large(records, page);
    Ok(())
}

/// Whether a data set is a table that mechanisms are compared on.
fn is_table(id: &str) -> bool {
    id != scaling::ID && id != solvers::ID
}

/// The closing table on the terminal.
pub(super) fn summary(records: &[Record]) -> Vec<Vec<String>> {
    let headings = [
        "data set",
        "mechanism",
        "promise",
        "runs",
        "L1 by level (thousands)",
        "violations",
        "seconds",
    ];
    let mut found = vec![headings.map(str::to_owned).to_vec()];
    for id in summary::datasets(records).into_iter().filter(|&id| is_table(id)) {
        for row in summary::rows(records, id) {
            let errors: Vec<String> = (1..=levels(&row))
                .map(|level| thousands(row.statistic(&error_of(level))))
                .collect();
            let shown = |metric, digits| {
                row.statistic(metric).map_or(ABSENT.to_owned(), |s| significant(s.mean, digits))
            };
            found.push(vec![
                id.to_owned(),
                name(&row),
                promise(&row),
                row.runs.to_string(),
                errors.join(" / "),
                shown("constraint_violations", 3),
                shown("seconds", 2),
            ]);
        }
    }
    found
}

fn error_of(level: usize) -> String {
    format!("l1_error_level_{level}")
}

/// What a row is called wherever it stands: what is not private says so in every table and plot.
fn name(row: &Row) -> String {
    let warning = if row.private { "" } else { ", not private" };
    match row.variant.as_str() {
        variant if variant == "default" || variant.starts_with("N = ") => {
            format!("{}{warning}", row.algorithm)
        }
        variant => format!("{} ({variant}){warning}", row.algorithm),
    }
}

fn param(row: &Row, name: &str) -> Option<f64> {
    row.first.as_ref()?.params.get(name)?.as_f64()
}

/// The epsilon of the table that a row stands in.
fn setting(row: &Row) -> Option<f64> {
    param(row, plan::SETTING)
}

fn settings(rows: &[Row]) -> Vec<f64> {
    let mut all: Vec<f64> = rows.iter().filter_map(setting).collect();
    all.sort_by(f64::total_cmp);
    all.dedup();
    all
}

fn levels(row: &Row) -> usize {
    row.values.keys().filter(|metric| metric.starts_with("l1_error_level_")).count()
}

fn thousands(statistic: Option<Statistic>) -> String {
    let thousands = |x: f64| x / 1e3;
    statistic.map_or(ABSENT.to_owned(), |s| mean_sd(thousands(s.mean), s.sd.map(thousands)))
}

fn facts(rows: &[Row], section: Option<&Section>) -> String {
    let Some(row) = rows.first() else { return String::new() };
    let shape = format!("{} groups, {} columns", row.n, row.d);
    let Some(section) = section else { return shape + "." };
    let levels = section.recipe.levels.iter();
    let levels: Vec<String> = levels.map(|(name, regions)| format!("{regions} {name}")).collect();
    let checksum = &section.checksum[..16];
    format!(
        "{shape} (sizes 0 to {} or more), {}; table sha256 `{checksum}`. {}",
        row.d - 1,
        levels.join(", "),
        section.recipe.who
    )
}

fn promise(row: &Row) -> String {
    let epsilon = row.epsilon.map_or(ABSENT.to_owned(), |epsilon| significant(epsilon, 3));
    match (row.private, row.variant.starts_with("zCDP"), setting(row)) {
        (false, ..) => format!("none; true ε {epsilon}"),
        (_, true, Some(setting)) => {
            format!("zCDP ρ {}; ({epsilon}, 1e-10)", significant(setting * setting / 2.0, 3))
        }
        _ => format!("ε {epsilon}"),
    }
}

fn receipt(row: &Row, out: &Path, page: &mut Page) {
    let Some(first) = row.first.as_ref() else { return };
    if let Ok(text) = std::fs::read_to_string(receipt_file(&out.join("receipts"), first)) {
        let setting = setting(row).unwrap_or_default();
        page.folded(&format!("Receipt of {} at ε = {setting}", name(row)), &text);
    }
}
