//! The suite's chapter of the report.

use crate::error::Error;
use crate::eval::record::Record;
use crate::eval::summary::{self, Row};
use crate::report::number::{mean_sd, significant};
use crate::report::page::Page;
use crate::report::plot::lines::{Labels, Place, Series, draw};
use std::collections::BTreeSet;

const INTRODUCTION: &str = "\
Where to put k centres among the nodes of a public metric, for private users at its nodes (q1: sum of \
distances, q2: of squares). Guarantees are for adding or removing a user. **cost** is the true cost as a \
multiple of that of the same local search on the true weights; mean over runs ± standard deviation.

- `faster-pam` is that search and is not private; `public-uniform` does not look at the users.
- `metric-histogram` counts every node and searches with posterior means of the counts; *one prior* does not \
look at neighbourhoods, *clipped* takes positive counts as they are, *best threshold* the smallest noisy cost of \
four thresholds.
- `metric-bicriteria` picks places privately and counts who is near them; *as published* with the paper's \
constants (and a public number of picks). `approximate-greedy` has delta 1e-6 and no sample; \
`composition-greedy` divides epsilon among k picks.";

/// Who stands for the pure and who for the approximate side.
const PURE: [&str; 2] = ["metric-histogram", "metric-bicriteria"];
const APPROXIMATE: &str = "approximate-greedy";

pub(super) fn write(records: &[Record], page: &mut Page) -> Result<(), Error> {
    page.chapter("Metric k-median and k-means");
    page.paragraph(INTRODUCTION);
    page.paragraph(&crossover(records));
    for id in summary::datasets(records) {
        let Some(first) = records.iter().find(|record| record.dataset == id) else { continue };
        page.section(id);
        let k = first.params.get("k").map_or(String::new(), ToString::to_string);
        page.paragraph(&format!("{} nodes, {} users, k = {k}.", first.d, first.n));
        let rows = summary::rows(records, id);
        let epsilons = epsilons(&rows);
        let headings: Vec<String> = ["algorithm", "runs"]
            .map(str::to_owned)
            .into_iter()
            .chain(epsilons.iter().map(|epsilon| format!("cost, ε {epsilon}")))
            .chain(["seconds".to_owned()])
            .collect();
        let headings: Vec<&str> = headings.iter().map(String::as_str).collect();
        page.table(&headings, 1, &table(&rows, &epsilons));
        if epsilons.len() > 1 {
            let series = curves(&rows);
            let labels =
                Labels { title: "Cost over epsilon", x: "epsilon", x_log: true, y_log: true };
            page.figure(
                &format!("k-median-{id}"),
                &format!("Cost on {id}"),
                draw(labels, &series)?,
            );
            page.gap();
        }
    }
    Ok(())
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

/// Names in the order of the rows, once each.
fn names(rows: &[Row]) -> Vec<String> {
    let mut seen = BTreeSet::new();
    rows.iter().map(name).filter(|name| seen.insert(name.clone())).collect()
}

/// One line per algorithm and variant, one column per epsilon; what needs none has the same in all.
fn table(rows: &[Row], epsilons: &[f64]) -> Vec<Vec<String>> {
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
        let fixed = [wanted, runs];
        let costs = epsilons.iter().map(shown);
        fixed.into_iter().chain(costs).chain([significant(seconds, 2)]).collect()
    };
    names(rows).into_iter().map(line).collect()
}

fn curves(rows: &[Row]) -> Vec<Series> {
    let curve = |wanted: String| {
        let of = rows.iter().filter(|row| name(row) == wanted);
        let mut places: Vec<Place> = of
            .filter_map(|row| {
                let found = row.statistic("cost_ratio")?;
                let sd = found.sd.unwrap_or(0.0);
                let (low, high) = (found.mean - sd, found.mean + sd);
                Some(Place { x: row.epsilon?, mean: found.mean, low, high })
            })
            .collect();
        places.sort_by(|a, b| a.x.total_cmp(&b.x));
        Series { name: wanted, places }
    };
    names(rows).into_iter().map(curve).filter(|series| series.places.len() > 1).collect()
}

/// In how many cells which side is ahead.
fn crossover(records: &[Record]) -> String {
    let (mut cells, mut behind) = (0, Vec::new());
    for id in summary::datasets(records) {
        let rows = summary::rows(records, id);
        for epsilon in epsilons(&rows) {
            let best = |algorithms: &[&str]| {
                let costs = rows.iter().filter(|row| {
                    algorithms.contains(&row.algorithm.as_str())
                        && row.variant == "default"
                        && row.epsilon.is_some_and(|e| e.to_bits() == epsilon.to_bits())
                });
                costs
                    .filter_map(|row| row.statistic("cost_ratio"))
                    .map(|found| found.mean)
                    .fold(f64::INFINITY, f64::min)
            };
            let (pure, approximate) = (best(&PURE), best(&[APPROXIMATE]));
            if pure.is_finite() && approximate.is_finite() {
                cells += 1;
                if approximate < pure {
                    behind.push(format!("{id} at ε {epsilon}"));
                }
            }
        }
    }
    let where_behind =
        if behind.is_empty() { String::new() } else { format!(": {}", behind.join(", ")) };
    format!(
        "The better of the two pure algorithms costs more than the approximate one in {} of {cells} cells{where_behind}.",
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
