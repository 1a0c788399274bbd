//! The suite's chapter of the report: per data set a table by epsilon, plots and receipts, then run times.

use crate::error::Error;
use crate::eval::census::bench::receipt_file;
use crate::eval::census::{Section, plan, scaling, solvers};
use crate::eval::record::Record;
use crate::report::number::{mean_sd, significant};
use crate::report::page::Page;
use crate::report::plot::lines::{self, Labels, Place, Series};
use crate::report::summary::{self, Row, Statistic};
use dp_census::Method;
use serde_json::Value;
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
- **seconds**: one release with its noise.";

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
            table(&rows, setting, page);
        }
        page.paragraph(&proofs(&rows));
        targets(id, &rows, page);
        figures(id, &rows, section, page)?;
        for row in rows.iter().filter(|row| row.private) {
            receipt(row, out, page);
        }
        page.gap();
    }
    run_times(records, page)?;
    solver_times(records, page);
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
        "{shape} (sizes 0 to {} or more), {}; table sha256 `{checksum}`.",
        row.d - 1,
        levels.join(", ")
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

fn table(rows: &[Row], epsilon: f64, page: &mut Page) {
    let of_setting = |row: &&Row| setting(row).is_some_and(|s| s.to_bits() == epsilon.to_bits());
    let rows: Vec<&Row> = rows.iter().filter(of_setting).collect();
    let levels = rows.first().map_or(0, |row| levels(row));
    let level_names: Vec<String> = (1..=levels).map(|level| format!("level {level}")).collect();
    let mut headings = vec!["mechanism", "promise", "runs"];
    headings.extend(level_names.iter().map(String::as_str));
    headings.extend(["total", "violations", "negative", "missing", "seconds"]);
    let mut lines = Vec::new();
    for row in rows {
        let plain = |metric: &str, digits| {
            row.statistic(metric).map_or(ABSENT.to_owned(), |s| significant(s.mean, digits))
        };
        let mut line = vec![format!("**{}**", name(row)), promise(row), row.runs.to_string()];
        line.extend((1..=levels).map(|level| thousands(row.statistic(&error_of(level)))));
        line.push(thousands(row.statistic("l1_error_total")));
        line.extend(
            ["constraint_violations", "negative_cells", "groups_missing"].map(|m| plain(m, 4)),
        );
        line.push(plain("seconds", 2));
        lines.push(line);
        lines.extend(published(row, levels));
    }
    page.table(&headings, 2, &lines);
}

/// The worst of all proofs, of whole and of real tables.
fn proofs(rows: &[Row]) -> String {
    let worst = |metric: &str, real: bool| {
        let rows = rows.iter().filter(|row| row.algorithm.ends_with("-real") == real);
        rows.filter_map(|row| row.values.get(metric)).flatten().copied().fold(0.0, f64::max)
    };
    let proved = rows.iter().filter_map(|row| row.values.get("certificate_residual"));
    let releases: usize = proved.map(Vec::len).sum();
    let refused = worst("certificate_infeasible", false) + worst("certificate_infeasible", true);
    format!(
        "Proofs: {releases} releases were certified as the closest tables to their noise{}; worst broken optimality condition {} of a \
         group in whole tables, {} in real ones; the real optimum that m-c-exact rounds is within {} of the true one (weighted \
         distance over the whole table).",
        if refused > 0.0 { ", **and at least one was refused**" } else { ", none refused" },
        significant(worst("certificate_residual", false), 2),
        significant(worst("certificate_residual", true), 2),
        significant(worst("certificate_distance", false), 2),
    )
}

/// What the default mechanism is held to on the whole nation at ε = 1, in thousands of groups: equal shares by level, and the total of
/// the better of two other shares.
const TARGET_BY_LEVEL: [f64; 3] = [0.18, 3.6, 147.0];
const TARGET_TOTAL: f64 = 70.0;

/// Beside the targets, whether they were met.
fn targets(id: &str, rows: &[Row], page: &mut Page) {
    let at_one = |row: &&Row| {
        id == "census-synthetic"
            && row.algorithm == Method::default().id()
            && setting(row).is_some_and(|setting| (setting - 1.0).abs() < 1e-12)
    };
    let rows: Vec<&Row> = rows.iter().filter(at_one).collect();
    let mean = |row: &Row, metric: &str| row.statistic(metric).map(|found| found.mean / 1e3);
    let mut lines = Vec::new();
    let mut line = |what: String, found: Option<f64>, target: f64| {
        let Some(found) = found else { return };
        let met = if found <= target { "met" } else { "missed" };
        lines.push(vec![what, significant(found, 3), target.to_string(), met.to_owned()]);
    };
    if let Some(equal) = rows.iter().find(|row| row.variant == "default") {
        for (level, target) in (1..).zip(TARGET_BY_LEVEL) {
            line(format!("level {level}, equal shares"), mean(equal, &error_of(level)), target);
        }
    }
    let shared = rows.iter().filter(|row| ["10/20/70", "roots"].contains(&row.variant.as_str()));
    let best = shared.filter_map(|row| mean(row, "l1_error_total")).reduce(f64::min);
    line("total, other shares".to_owned(), best, TARGET_TOTAL);
    if !lines.is_empty() {
        page.table(&["target at ε = 1, default mechanism", "found", "at most", ""], 1, &lines);
    }
}

/// The line of the paper below ours.
fn published(row: &Row, levels: usize) -> Option<Vec<String>> {
    let paper = &row.first.as_ref()?.paper;
    let of_level = |level| paper.get(&error_of(level)).map(|error| error / 1e3);
    let errors: Vec<f64> = (1..=levels).map(of_level).collect::<Option<_>>()?;
    if errors.is_empty() {
        return None;
    }
    let mut line = vec![format!("{}, *published*", name(row)), String::new(), "30".to_owned()];
    line.extend(errors.iter().map(|&error| significant(error, 3)));
    line.push(significant(errors.iter().sum(), 3));
    let violations = paper.get("constraint_violations");
    line.push(violations.map_or(ABSENT.to_owned(), |&count| significant(count, 4)));
    line.extend([ABSENT; 3].map(str::to_owned));
    Some(line)
}

fn place(x: f64, statistic: Statistic, scale: f64) -> Place {
    let (mean, sd) = (statistic.mean / scale, statistic.sd.unwrap_or(0.0) / scale);
    Place { x, mean, low: mean - sd, high: mean + sd }
}

fn figures(
    id: &str,
    rows: &[Row],
    section: Option<&Section>,
    page: &mut Page,
) -> Result<(), Error> {
    let Some(&largest) = settings(rows).last() else { return Ok(()) };
    let levels = rows.first().map_or(0, levels);
    let at_largest = |row: &&Row| setting(row).is_some_and(|s| s.to_bits() == largest.to_bits());
    // A log scale has no place for an error of exactly nothing.
    let by_level = rows.iter().filter(at_largest).map(|row| Series {
        name: name(row),
        places: (1..=levels)
            .filter_map(|level| Some((level, row.statistic(&error_of(level))?)))
            .filter(|(_, statistic)| statistic.mean > 0.0)
            .map(|(level, statistic)| place(level as f64, statistic, 1e3))
            .collect(),
    });
    if levels > 1 {
        let title = "Error by level, thousands of groups";
        let labels = Labels { title, x: "level", x_log: false, y_log: true };
        let caption = format!("{title}: {id} at ε = {largest}");
        let svg = lines::draw(labels, &by_level.collect::<Vec<_>>())?;
        page.figure(&format!("{id}-error-by-level"), &caption, svg);
    }
    for (metric, title, scale) in [
        ("l1_error_total", "Error over all levels, thousands of groups", 1e3),
        ("seconds", "Seconds for a release", 1.0),
    ] {
        let labels = Labels { title, x: "epsilon", x_log: true, y_log: true };
        let svg = lines::draw(labels, &by_setting(rows, metric, scale))?;
        page.figure(&format!("{id}-{metric}"), &format!("{title}: {id}"), svg);
    }
    if let Some(portrait) = section.and_then(|section| section.portrait.as_ref()) {
        page.figure(&format!("{id}-region"), &portrait.caption(), portrait.draw()?);
    }
    Ok(())
}

/// A metric of each mechanism over the epsilons of the tables.
fn by_setting(rows: &[Row], metric: &str, scale: f64) -> Vec<Series> {
    let mut all: Vec<Series> = Vec::new();
    for row in rows {
        let Some((x, statistic)) = setting(row).zip(row.statistic(metric)) else { continue };
        if statistic.mean <= 0.0 {
            continue;
        }
        let place = place(x, statistic, scale);
        match all.iter_mut().find(|series| series.name == name(row)) {
            Some(series) => series.places.push(place),
            None => all.push(Series { name: name(row), places: vec![place] }),
        }
    }
    for series in &mut all {
        series.places.sort_by(|a, b| a.x.total_cmp(&b.x));
    }
    all
}

fn receipt(row: &Row, out: &Path, page: &mut Page) {
    let Some(first) = row.first.as_ref() else { return };
    if let Ok(text) = std::fs::read_to_string(receipt_file(&out.join("receipts"), first)) {
        let setting = setting(row).unwrap_or_default();
        page.folded(&format!("Receipt of {} at ε = {setting}", name(row)), &text);
    }
}

/// Run time over the number of columns.
fn run_times(records: &[Record], page: &mut Page) -> Result<(), Error> {
    let rows = summary::rows(records, scaling::ID);
    if rows.is_empty() {
        return Ok(());
    }
    let mut columns: Vec<usize> = rows.iter().map(|row| row.d).collect();
    columns.sort_unstable();
    columns.dedup();
    let mut algorithms: Vec<String> = Vec::new();
    for row in &rows {
        if !algorithms.contains(&name(row)) {
            algorithms.push(name(row));
        }
    }
    let seconds = |algorithm: &str, columns: usize| {
        let same = |row: &&Row| name(row) == algorithm && row.d == columns;
        rows.iter().find(same)?.statistic("seconds")
    };
    page.section("Run time against the number of sizes");
    let [_, boroughs, zones] = scaling::REGIONS_BY_LEVEL;
    page.paragraph(&format!(
        "Seconds for one release, {} groups in {zones} zones of {boroughs} boroughs, ε = {}. The paper stops its solvers after 30 \
         minutes, and with 50 sizes or fewer rules out those that look for whole numbers without using the structure.",
        scaling::GROUPS,
        scaling::EPSILON
    ));
    let shown: Vec<String> = columns.iter().map(|columns| format!("N = {columns}")).collect();
    let headings: Vec<&str> =
        std::iter::once("mechanism").chain(shown.iter().map(String::as_str)).collect();
    let lines: Vec<Vec<String>> = algorithms
        .iter()
        .map(|algorithm| {
            let cells = columns.iter().map(|&columns| {
                seconds(algorithm, columns).map_or(ABSENT.to_owned(), |s| significant(s.mean, 2))
            });
            std::iter::once(algorithm.clone()).chain(cells).collect()
        })
        .collect();
    page.table(&headings, 1, &lines);
    let all: Vec<Series> = algorithms
        .iter()
        .map(|algorithm| Series {
            name: algorithm.clone(),
            places: columns
                .iter()
                .filter_map(|&n| Some(place(n as f64, seconds(algorithm, n)?, 1.0)))
                .collect(),
        })
        .collect();
    let labels = Labels { title: "Seconds for a release", x: "N", x_log: true, y_log: true };
    page.figure(
        "census-run-time",
        "Run time against the number of sizes",
        lines::draw(labels, &all)?,
    );
    page.gap();
    Ok(())
}

/// The solvers beside the general one, and on threads.
fn solver_times(records: &[Record], page: &mut Page) {
    let records: Vec<&Record> = records.iter().filter(|r| r.dataset == solvers::ID).collect();
    let param = |record: &Record, name: &str| record.params.get(name).and_then(Value::as_u64);
    let metric =
        |record: &Record, name: &str| record.metrics.get(name).copied().unwrap_or(f64::NAN);
    let mut lines = Vec::new();
    for record in records.iter().filter(|record| record.metrics.contains_key("ratio")) {
        let [ours, general] = ["objective", "general_objective"].map(|name| metric(record, name));
        let mut line = vec![record.algorithm.clone()];
        line.push(param(record, "leaves").unwrap_or_default().to_string());
        line.push(record.d.to_string());
        line.push(significant(record.seconds, 3));
        line.push(significant(metric(record, "general_seconds"), 3));
        line.push(significant(metric(record, "ratio"), 3));
        line.push(format!("{:.1e}", (general - ours) / ours));
        line.push(format!("{:.1e}", metric(record, "certificate_residual")));
        line.push(format!("{:.1e}", metric(record, "largest_difference")));
        lines.push(line);
    }
    if lines.is_empty() {
        return;
    }
    page.section("The solvers beside a general one");
    page.paragraph(
        "The same problem, the same objective, one thread each: seconds of processor time of ours and of the interior point solver \
         Clarabel (its model included), without noise. *Excess*: by how much its objective is above ours, relative to ours; *residual*: the \
         worst optimality condition that ours breaks; *apart*: the largest difference between the two in any cell; both in groups.",
    );
    let headings = [
        "model",
        "leaf regions",
        "columns",
        "ours",
        "Clarabel",
        "ratio",
        "excess",
        "residual",
        "apart",
    ];
    page.table(&headings, 1, &lines);
    let on = |algorithm: &str, threads: usize| {
        let threads = u64::try_from(threads).ok();
        let same = |r: &&&Record| r.algorithm == algorithm && param(r, "threads") == threads;
        records.iter().find(same).map_or(ABSENT.to_owned(), |r| significant(r.seconds, 2))
    };
    let lines: Vec<Vec<String>> = solvers::SOLVERS
        .iter()
        .map(|&solver| {
            [solver.to_owned()].into_iter().chain(solvers::THREADS.map(|n| on(solver, n))).collect()
        })
        .collect();
    page.paragraph("The solvers on the nation: seconds by the clock on one and two threads, the fastest of seven.");
    page.table(&["solver of", "1 thread", "2 threads"], 1, &lines);
    page.gap();
}
