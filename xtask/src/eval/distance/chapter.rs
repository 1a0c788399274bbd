//! The suite's chapter of the report.

use crate::eval::record::Record;
use crate::eval::summary::{self, Row};
use crate::eval::tables;
use crate::report::page::Page;

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
        tables::costs_by_epsilon(&rows, page);
    }
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
