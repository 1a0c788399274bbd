//! The suite's chapter of the report.

use crate::eval::record::Record;
use crate::eval::summary::{self, Row};
use crate::report::number::{mean_sd, significant};
use crate::report::page::Page;
use std::collections::BTreeSet;

const INTRODUCTION: &str = "\
k-means in boxes of side 2, at delta 1e-6. Under ρ, a record is hidden among the places at most ρ away; that it is in the data is \
not, and the number of records is public. **Cost** is the squared inertia as a multiple of the best of 10 starts without privacy; mean \
over runs ± standard deviation.

- `kmeans++` is not private; `public-uniform` does not look at the records.
- `dpm-recentred` and `map-add-remove` hide whether somebody takes part, `map-replace-one` all of one record.
- `noised-points` is k-means on records with noise of their own; `map` releases one map, from which any number of clusters is free.";

/// Rows that protect more than any distance.
const STANDARD: [&str; 3] = ["dpm-recentred", "map-add-remove", "map-replace-one"];

pub(super) fn write(records: &[Record], page: &mut Page) {
    page.chapter("k-means with distance-based privacy");
    page.paragraph(INTRODUCTION);
    page.paragraph(&behind(records));
    for id in summary::datasets(records) {
        let Some(first) = records.iter().find(|record| record.dataset == id) else { continue };
        page.section(id);
        let k = first.params.get("k").map_or(String::new(), ToString::to_string);
        page.paragraph(&format!("{} x {}, k = {k}.", first.n, first.d));
        let rows = summary::rows(records, id);
        let epsilons = epsilons(&rows);
        let costs = epsilons.iter().map(|epsilon| format!("cost, ε {epsilon}"));
        let headings: Vec<String> = ["algorithm".to_owned(), "runs".to_owned()]
            .into_iter()
            .chain(costs)
            .chain(["seconds".to_owned()])
            .collect();
        let headings: Vec<&str> = headings.iter().map(String::as_str).collect();
        page.table(&headings, 1, &table(&rows, &epsilons));
    }
}

/// All epsilons of the rows, ascending.
fn epsilons(rows: &[Row]) -> Vec<f64> {
    let mut all: Vec<f64> = rows.iter().filter_map(|row| row.epsilon).collect();
    all.sort_by(f64::total_cmp);
    all.dedup();
    all
}

/// Name without epsilon.
fn name(row: &Row) -> String {
    Row { epsilon: None, ..row.clone() }.label()
}

/// One line per algorithm and distance, one column per epsilon; what needs none has the same in all.
fn table(rows: &[Row], epsilons: &[f64]) -> Vec<Vec<String>> {
    let mut seen = BTreeSet::new();
    let names: Vec<String> =
        rows.iter().map(name).filter(|name| seen.insert(name.clone())).collect();
    let line = |wanted: String| {
        let of: Vec<&Row> = rows.iter().filter(|row| name(row) == wanted).collect();
        let shown = |epsilon: &f64| {
            let same = |row: &&&Row| row.epsilon.is_none_or(|e| e.to_bits() == epsilon.to_bits());
            let cost = of.iter().find(same).and_then(|row| row.statistic("cost_ratio"));
            cost.map_or("–".to_owned(), |found| mean_sd(found.mean, found.sd))
        };
        let runs = of.iter().map(|row| row.runs).max().unwrap_or(0).to_string();
        let seconds: Vec<f64> =
            of.iter().filter_map(|row| row.statistic("seconds")).map(|found| found.mean).collect();
        let seconds = seconds.iter().sum::<f64>() / seconds.len().max(1) as f64;
        let costs = epsilons.iter().map(shown);
        [wanted, runs].into_iter().chain(costs).chain([significant(seconds, 2)]).collect()
    };
    names.into_iter().map(line).collect()
}

/// In how many cells of a distance the map is behind another private row, by more than three standard errors of the difference.
fn behind(records: &[Record]) -> String {
    let (mut cells, mut behind) = (0, Vec::new());
    for id in summary::datasets(records) {
        let rows = summary::rows(records, id);
        for map in rows.iter().filter(|row| row.algorithm == "map") {
            let same_epsilon =
                |row: &&Row| row.epsilon.map(f64::to_bits) == map.epsilon.map(f64::to_bits);
            let rivals = rows.iter().filter(same_epsilon).filter(|row| {
                STANDARD.contains(&row.algorithm.as_str())
                    || (row.algorithm == "noised-points" && row.variant == map.variant)
            });
            cells += 1;
            let worse = |rival: &Row| {
                let costs = map.statistic("cost_ratio").zip(rival.statistic("cost_ratio"));
                costs.is_some_and(|(map_cost, cost)| {
                    let error =
                        |sd: Option<f64>, runs: usize| sd.unwrap_or(0.0).powi(2) / runs as f64;
                    let errors = error(map_cost.sd, map.runs) + error(cost.sd, rival.runs);
                    map_cost.mean > cost.mean + 3.0 * errors.sqrt()
                })
            };
            if let Some(rival) = rivals.into_iter().find(|rival| worse(rival)) {
                behind.push(format!("{id}: {} by {}", map.label(), rival.algorithm));
            }
        }
    }
    let list = if behind.is_empty() { String::new() } else { format!(": {}", behind.join("; ")) };
    format!(
        "Of {cells} cells of the map with a distance, {} are beaten by another private row by more than three standard errors{list}.",
        behind.len()
    )
}

/// The closing table on the terminal.
pub(super) fn summary(records: &[Record]) -> Vec<Vec<String>> {
    let mut lines = vec![["data set", "algorithm", "runs", "cost"].map(str::to_owned).to_vec()];
    for id in summary::datasets(records) {
        for row in summary::rows(records, id) {
            let cost = row.statistic("cost_ratio");
            let cost = cost.map_or("–".to_owned(), |found| mean_sd(found.mean, found.sd));
            lines.push(vec![id.to_owned(), row.label(), row.runs.to_string(), cost]);
        }
    }
    lines
}
