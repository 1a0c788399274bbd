//! Run times: of releases against the number of sizes, of solvers, of ten nations.

use super::figures::place;
use super::{ABSENT, name};
use crate::error::Error;
use crate::eval::census::{large, op, plan, scaling, solvers};
use crate::eval::record::Record;
use crate::eval::summary::{self, Row};
use crate::report::number::significant;
use crate::report::page::Page;
use crate::report::plot::lines::{self, Labels, Series};
use serde_json::Value;

/// Run time over the number of columns.
pub(super) fn run_times(records: &[Record], page: &mut Page) -> Result<(), Error> {
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
    let row = |algorithm: &str, columns: usize| {
        rows.iter().find(|row| name(row) == algorithm && row.d == columns)
    };
    let seconds = |algorithm: &str, columns: usize| row(algorithm, columns)?.statistic("seconds");
    page.section("Run time against the number of sizes");
    let [_, boroughs, zones] = scaling::REGIONS_BY_LEVEL;
    page.paragraph(&format!(
        "Seconds for one release with its noise, {} groups in {zones} zones of {boroughs} boroughs, ε = {}. The `-clarabel` rows have the \
         same noise and solve the same real problem as the real mechanisms, by a general interior point solver.",
        scaling::GROUPS,
        scaling::EPSILON
    ));
    page.paragraph(&cost_tables(&rows));
    let shown: Vec<String> = columns.iter().map(|columns| format!("N = {columns}")).collect();
    let headings: Vec<&str> =
        std::iter::once("mechanism").chain(shown.iter().map(String::as_str)).collect();
    let lines: Vec<Vec<String>> = algorithms
        .iter()
        .map(|algorithm| {
            let cells = columns.iter().map(|&columns| {
                let sign = if row(algorithm, columns).is_some_and(stopped) { "> " } else { "" };
                let shown = |s: summary::Statistic| sign.to_owned() + &significant(s.mean, 2);
                seconds(algorithm, columns).map_or(ABSENT.to_owned(), shown)
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
pub(super) fn solver_times(records: &[Record], page: &mut Page) {
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
}

/// The solvers on one and two threads, with much noise and with little.
pub(super) fn threads(records: &[Record], page: &mut Page) {
    let number = |record: &Record, name: &str| record.params.get(name).and_then(Value::as_u64);
    let setting = |record: &Record| record.params.get(plan::SETTING).and_then(Value::as_f64);
    let on_threads = |r: &&Record| {
        let timed = r.params.contains_key("threads") && r.variant != large::VARIANT;
        r.dataset == solvers::ID && timed
    };
    let timed: Vec<&Record> = records.iter().filter(on_threads).collect();
    let Some(regions) = timed.first().and_then(|record| number(record, "regions")) else { return };
    let columns = timed.first().map_or(0, |record| record.d);
    let kinds =
        solvers::EPSILONS.iter().flat_map(|&epsilon| solvers::THREADS.map(|n| (epsilon, n)));
    let kinds: Vec<(f64, usize)> = kinds.collect();
    let on = |algorithm: &str, (epsilon, threads): (f64, usize)| {
        let same = |r: &&&Record| {
            let alike = number(r, "threads") == u64::try_from(threads).ok();
            let near = setting(r).is_some_and(|setting| (setting - epsilon).abs() < 1e-12);
            r.algorithm == algorithm && alike && near
        };
        timed.iter().find(same).map_or(ABSENT.to_owned(), |r| significant(r.seconds, 2))
    };
    let line = |&solver: &&str| {
        [solver.to_owned()].into_iter().chain(kinds.iter().map(|&kind| on(solver, kind))).collect()
    };
    let lines: Vec<Vec<String>> = solvers::SOLVERS.iter().map(line).collect();
    let heading = |(epsilon, threads): &(f64, usize)| {
        format!("ε = {epsilon}, {threads} thread{}", if *threads == 1 { "" } else { "s" })
    };
    let headings: Vec<String> =
        ["solver of".to_owned()].into_iter().chain(kinds.iter().map(heading)).collect();
    let what = if columns > 1_000 { "the nation" } else { "**a tenth** of the nation" };
    page.section("The solvers alone");
    page.paragraph(&format!(
        "The solvers on {what}, {regions} regions of {columns} columns: seconds by the clock, the fastest of seven. The noise is ten \
         times as large at ε = 0.1 as at ε = 1."
    ));
    page.table(&headings.iter().map(String::as_str).collect::<Vec<_>>(), 1, &lines);
    page.gap();
}

/// Releases of ten nations, if there are any.
pub(super) fn large(records: &[Record], page: &mut Page) {
    let of_ten =
        |record: &&Record| record.dataset == solvers::ID && record.variant == large::VARIANT;
    let records: Vec<&Record> = records.iter().filter(of_ten).collect();
    let Some(first) = records.first() else { return };
    let regions = first.params.get("regions").and_then(Value::as_u64).unwrap_or_default();
    page.section("Ten nations");
    page.paragraph(&format!(
        "One release with its noise of {regions} regions of {} columns, ε = {}, one thread. Memory is the peak of the whole process, the \
         private table and its copies included.",
        first.d,
        large::EPSILON
    ));
    let line = |record: &&Record| {
        let metric = |name: &str| record.metrics.get(name).copied();
        let consistent = metric("consistent").is_some_and(|it| it > 0.5);
        vec![
            record.algorithm.clone(),
            metric("cells").map_or(ABSENT.to_owned(), |cells| significant(cells, 3)),
            significant(record.seconds, 3),
            record.peak_rss_mib.map_or(ABSENT.to_owned(), |peak| significant(peak, 4)),
            if consistent { "yes" } else { "**no**" }.to_owned(),
        ]
    };
    let lines: Vec<Vec<String>> = records.iter().map(line).collect();
    page.table(&["mechanism", "cells", "seconds", "peak MiB", "consistent"], 1, &lines);
}

/// Whether a run of it was stopped before its end.
fn stopped(row: &Row) -> bool {
    row.values.get(op::STOPPED).is_some_and(|runs| runs.iter().any(|&run| run > 0.5))
}

/// What was done for the row of `M_dp^OP`, and what was not done at all.
fn cost_tables(rows: &[Row]) -> String {
    let rows: Vec<&Row> = rows.iter().filter(|row| row.algorithm == op::ID).collect();
    let param = |name: &str| rows.first().and_then(|row| super::param(row, name));
    let Some((around, limit)) = param(op::AROUND).zip(param(op::LIMIT)) else {
        return String::new();
    };
    let hit = rows.iter().filter(|row| stopped(row)).count();
    let hit = if hit == 0 { "was not hit".to_owned() } else { format!("was hit in {hit} rows") };
    let mean = |row: &&Row, metric: &str| row.statistic(metric).map(|found| found.mean);
    let programs: Vec<String> = rows
        .iter()
        .filter_map(|row| Some(format!("{:.0} at N = {}", mean(row, "programs")?, row.d)))
        .collect();
    let excess = rows.iter().filter_map(|row| mean(row, "objective_excess")).fold(0.0, f64::max);
    let found = if excess < 0.5 {
        "its tables are as close to the noise as those of `m-h-dp`".to_owned()
    } else {
        format!("**its squared distance to the noise is up to {excess} above that of `m-h-dp`**")
    };
    format!(
        "`{}` is the dynamic program whose tables the paper fills entry by entry with an optimiser, one program for each ({}). The paper's \
         domains would have {} values each at this noise. Here they have {}, around the optimum that `m-h-dp` found, which is not timed: a \
         bound from below of any run of it. The limit of {limit} seconds {hit}; {found}. Exact `M_H` and `M_c` by a general solver of whole numbers are left out: the paper stops them after 30 minutes \
         with 50 sizes or fewer.",
        op::ID,
        programs.join(", "),
        op::width_of_the_paper(),
        2.0 * around + 1.0,
    )
}
