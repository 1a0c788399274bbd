//! The suite's chapter of the report.

use crate::error::Error;
use crate::eval::distance::sources;
use crate::eval::distance::{figures, frontier};
use crate::eval::record::Record;
use crate::eval::summary::{self, Row};
use crate::eval::tables;
use crate::report::number::significant;
use crate::report::page::Page;
use quietus_datasets::sets::distance::Role;

const INTRODUCTION: &str = "\
k-means in boxes of side 2, at delta 1e-6. Under ρ, a record is hidden among the places at most ρ away; that it is in the data is \
not, and the number of records is public. **Cost** is the squared inertia as a multiple of the best of 10 starts without privacy; mean \
over runs ± standard deviation.

- `kmeans++` is not private; `public-uniform` does not look at the records.
- `dpm-recentred`, `private-kmeans` and `map-add-remove` hide whether somebody takes part, `map-replace-one` all of one record.
- `noised-points` is k-means on records with noise of their own, the paper's baseline; `region-coreset` is the paper's algorithm, with regions by noised points, \
and `region-coreset-true` with regions by true points, as in its experiments.
- `soft-recentred` moves the centres of a map by soft steps, or those of noised points where there are more dimensions than a map has.
- `map` releases one map, from which any number of clusters is free. Where there are more dimensions, `nearby-kmeans` chooses by public numbers between \
`soft-recentred` and `private-kmeans` at half of its budget, since a move is a removal and an addition.
- The best without privacy, and what is released, are clustered with local search; `noised-points` from five starts, or on more than 50,000 records, where one takes \
half a minute, from one: there its cost is an upper end.";

/// Rows that protect more than any distance.
pub(super) const STANDARD: [&str; 4] =
    ["dpm-recentred", "private-kmeans", "map-add-remove", "map-replace-one"];

/// Rows that protect as much as the map, and the paper's own algorithm among them.
const SAME: [&str; 4] =
    ["noised-points", "region-coreset", "region-coreset-true", "soft-recentred"];

pub(super) fn write(records: &[Record], page: &mut Page) -> Result<(), Error> {
    page.chapter("k-means with distance-based privacy");
    page.paragraph(INTRODUCTION);
    page.paragraph(&behind(records));
    page.paragraph(&ahead(records));
    figures::write(&of_role(records, Role::Figures), page)?;
    let frontier = of_role(records, Role::Frontier);
    frontier::write(&frontier, &summary::datasets(&frontier), page)?;
    for id in summary::datasets(records) {
        let Some(first) = records.iter().find(|record| record.dataset == id) else { continue };
        page.section(id);
        let k = first.params.get("k").map_or(String::new(), ToString::to_string);
        page.paragraph(&format!("{} x {}, k = {k}.", first.n, first.d));
        let rows = summary::rows(records, id);
        tables::costs_by_epsilon(&rows, page);
    }
    Ok(())
}

fn of_role(records: &[Record], role: Role) -> Vec<Record> {
    let ids = sources::ids(role);
    records.iter().filter(|record| ids.contains(&record.dataset)).cloned().collect()
}

/// Whether the first costs less than the second, by more than three standard errors of the difference.
pub(super) fn is_lower(first: &Row, second: &Row) -> bool {
    let costs = first.statistic("cost_ratio").zip(second.statistic("cost_ratio"));
    costs.is_some_and(|(a, b)| {
        let error = |sd: Option<f64>, runs: usize| sd.unwrap_or(0.0).powi(2) / runs as f64;
        let errors = error(a.sd, first.runs) + error(b.sd, second.runs);
        b.mean > a.mean + 3.0 * errors.sqrt()
    })
}

/// In how many cells the mean of the map is lower than that of the paper's algorithm, both forms of it.
fn ahead(records: &[Record]) -> String {
    let (mut cells, mut lower, mut least) = (0, 0, f64::INFINITY);
    for id in summary::datasets(records) {
        let rows = summary::rows(records, id);
        let mean = |row: &Row| row.statistic("cost_ratio").map(|cost| cost.mean);
        for map in rows.iter().filter(|row| row.algorithm == "map") {
            let paper = rows.iter().filter(|row| {
                row.algorithm.starts_with("region-coreset")
                    && row.variant == map.variant
                    && row.epsilon.map(f64::to_bits) == map.epsilon.map(f64::to_bits)
            });
            for (map, paper) in paper.filter_map(|paper| mean(map).zip(mean(paper))) {
                cells += 1;
                lower += usize::from(map < paper);
                least = least.min(paper / map);
            }
        }
    }
    format!(
        "Of {cells} cells of the paper's algorithm, the map has a lower mean cost in {lower}; the smallest ratio of both is {}.",
        significant(least, 4)
    )
}

/// The row to use under a distance: a map, or in more dimensions the plan that chooses.
fn is_ours(row: &Row) -> bool {
    ["map", "nearby-kmeans"].contains(&row.algorithm.as_str())
}

/// In how many cells of a distance our row is behind another private one, by more than three standard errors of the difference.
fn behind(records: &[Record]) -> String {
    let (mut cells, mut behind) = (0, Vec::new());
    for id in summary::datasets(records) {
        let rows = summary::rows(records, id);
        for map in rows.iter().filter(|row| is_ours(row)) {
            let same_epsilon =
                |row: &&Row| row.epsilon.map(f64::to_bits) == map.epsilon.map(f64::to_bits);
            let rivals = rows.iter().filter(same_epsilon).filter(|row| {
                STANDARD.contains(&row.algorithm.as_str())
                    || (SAME.contains(&row.algorithm.as_str()) && row.variant == map.variant)
            });
            cells += 1;
            if let Some(rival) = rivals.into_iter().find(|rival| is_lower(rival, map)) {
                behind.push(format!("{id}: {} by {}", map.label(), rival.algorithm));
            }
        }
    }
    let list = if behind.is_empty() { String::new() } else { format!(": {}", behind.join("; ")) };
    format!(
        "Of {cells} cells of the map, or above three dimensions of `nearby-kmeans`, {} are beaten by another private row by more than three standard errors{list}.",
        behind.len()
    )
}
