//! Tables that chapters of several suites have.

use crate::eval::record::Record;
use crate::eval::summary::{Row, datasets, rows, shown};
use crate::report::number::significant;
use crate::report::page::Page;

/// A heading, and the metric below it: mean ± standard deviation over runs.
pub(crate) type Column = (&'static str, &'static str);

/// One line per row: its label, the number of runs, and metrics.
pub(crate) fn of_metrics(rows: &[Row], columns: &[Column], page: &mut Page) {
    let line = |row: &Row| {
        let metrics = columns.iter().map(|(metric, _)| row.shown(metric));
        [row.label(), row.runs.to_string()].into_iter().chain(metrics).collect()
    };
    let headings: Vec<&str> =
        ["algorithm", "runs"].into_iter().chain(columns.iter().map(|column| column.1)).collect();
    page.table(&headings, 1, &rows.iter().map(line).collect::<Vec<_>>());
}

/// A closing table for the terminal: one line per data set and row.
pub(crate) fn closing(records: &[Record], columns: &[Column]) -> Vec<Vec<String>> {
    let headings = ["data set", "algorithm", "runs"].into_iter();
    let headings = headings.chain(columns.iter().map(|column| column.1)).map(str::to_owned);
    let mut lines = vec![headings.collect()];
    for id in datasets(records) {
        for row in rows(records, id) {
            let metrics = columns.iter().map(|(metric, _)| row.shown(metric));
            let fixed = [id.to_owned(), row.label(), row.runs.to_string()];
            lines.push(fixed.into_iter().chain(metrics).collect());
        }
    }
    lines
}

/// One line per algorithm and variant, the cost ratio in one column per epsilon; what needs none has the same in all.
pub(crate) fn costs_by_epsilon(rows: &[Row], page: &mut Page) {
    let epsilons = epsilons(rows);
    let line = |wanted: String| {
        let of: Vec<&Row> = rows.iter().filter(|row| row.name() == wanted).collect();
        let cost = |epsilon: &f64| {
            let same = |row: &&&Row| row.epsilon.is_none_or(|e| e.to_bits() == epsilon.to_bits());
            shown(of.iter().find(same).and_then(|row| row.statistic("cost_ratio")))
        };
        let runs = of.iter().map(|row| row.runs).max().unwrap_or(0).to_string();
        let seconds: Vec<f64> =
            of.iter().filter_map(|row| row.statistic("seconds")).map(|found| found.mean).collect();
        let seconds = seconds.iter().sum::<f64>() / seconds.len().max(1) as f64;
        let costs = epsilons.iter().map(cost);
        [wanted, runs].into_iter().chain(costs).chain([significant(seconds, 2)]).collect()
    };
    let lines: Vec<Vec<String>> = names(rows).into_iter().map(line).collect();
    let costs: Vec<String> = epsilons.iter().map(|epsilon| format!("cost, ε {epsilon}")).collect();
    let headings = ["algorithm", "runs"].into_iter().chain(costs.iter().map(String::as_str));
    page.table(&headings.chain(["seconds"]).collect::<Vec<_>>(), 1, &lines);
}

/// All epsilons of the rows, ascending.
pub(crate) fn epsilons(rows: &[Row]) -> Vec<f64> {
    let mut all: Vec<f64> = rows.iter().filter_map(|row| row.epsilon).collect();
    all.sort_by(f64::total_cmp);
    all.dedup();
    all
}

/// Names without epsilon in the order of the rows, once each.
pub(crate) fn names(rows: &[Row]) -> Vec<String> {
    once_each(rows.iter().map(Row::name))
}

/// These texts in their order, without those that came before.
pub(crate) fn once_each(texts: impl Iterator<Item = String>) -> Vec<String> {
    let mut seen: Vec<String> = Vec::new();
    for text in texts {
        if !seen.contains(&text) {
            seen.push(text);
        }
    }
    seen
}
