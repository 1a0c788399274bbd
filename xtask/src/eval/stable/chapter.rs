//! The suite's chapter of the report.

use crate::eval::record::Record;
use crate::eval::summary::{self, Row};
use crate::eval::tables;
use crate::report::number::significant;
use crate::report::page::Page;

const INTRODUCTION: &str = "\
k-means with a constant factor (Stemmer and Kaplan), on planted clusters in a cube of side 2, at delta 1e-6. **cost** is the squared \
inertia as a multiple of that of the clusters' own means; mean over runs ± standard deviation. **additive** is what it is above that, in \
squared diagonals of the cube: what theory bounds by a polynomial of k and d, whatever the number of records.

- `private-centres` is k-means on means of cells with many records, from grids that all records are in, or subsamples of them as in the \
paper; `stemmer-kaplan` chooses among such means privately; *recentred* with half of the budget for the rounds after it.
- `dpm-recentred` and `private-kmeans` are what to use instead. `local-k-means` has no collector, and no delta.
- `public-uniform` looks at no record.";

/// Clusters in the table of crossovers.
const CLUSTERS: [f64; 5] = [2.0, 8.0, 32.0, 128.0, 1024.0];
/// No dimension beyond is looked at.
const MOST_DIMENSIONS: u32 = 1_000_000;

/// Of `k` and `d`.
type Formula = fn(f64, f64) -> f64;

/// Additive errors of the paper's Table 1, without constants and logarithms, by k and d.
const RIVALS: [(&str, Formula); 3] = [
    ("Feldman et al. 2017, d^.5 k^1.5 (factor k log n)", |k, d| d.sqrt() * k.powf(1.5)),
    ("Balcan et al. 2017, d + k^2 (factor log^3 n)", |k, d| d + k * k),
    ("Nissim, Stemmer 2018, d^.51 k^1.51", |k, d| d.powf(0.51) * k.powf(1.51)),
];

fn this_work(k: f64, d: f64) -> f64 {
    k.powf(1.01) * d.powf(0.51) + k.powf(1.5)
}

pub(super) fn write(records: &[Record], page: &mut Page) {
    page.chapter("k-means with a constant factor");
    page.paragraph(INTRODUCTION);
    crossovers(page);
    slopes(records, page);
    for id in summary::datasets(records) {
        page.section(id);
        let rows = summary::rows(records, id);
        tables::costs_by_epsilon(&rows, page);
        let columns = [("additive", "additive"), ("seconds", "seconds")];
        tables::of_metrics(&rows, &columns, page);
    }
}

/// The number of dimensions from which on the paper's additive error is below another one.
fn first_dimension(rival: Formula, k: f64) -> Option<u32> {
    (1..=MOST_DIMENSIONS).find(|d| this_work(k, f64::from(*d)) < rival(k, f64::from(*d)))
}

fn crossovers(page: &mut Page) {
    page.paragraph(
        "The paper's Table 1 as formulas, constants and logarithms left out: from how many dimensions on its additive error, k^1.01 d^.51 \
         + k^1.5, is below that of others.",
    );
    let line = |(name, rival): &(&str, Formula)| {
        let cell = |k: &f64| {
            first_dimension(*rival, *k).map_or("never".to_owned(), |first| first.to_string())
        };
        [(*name).to_owned()].into_iter().chain(CLUSTERS.iter().map(cell)).collect()
    };
    let lines: Vec<Vec<String>> = RIVALS.iter().map(line).collect();
    let headings: Vec<String> = CLUSTERS.iter().map(|k| format!("k {k}")).collect();
    let headings = ["below"].into_iter().chain(headings.iter().map(String::as_str));
    page.table(&headings.collect::<Vec<_>>(), 1, &lines);
}

/// By what power of the number of records the cost above that of k-means falls, with four dimensions and eight clusters.
fn slopes(records: &[Record], page: &mut Page) {
    let family: Vec<&str> =
        summary::datasets(records).into_iter().filter(|id| id.ends_with("-d4-k8")).collect();
    let rows: Vec<Row> = family.iter().flat_map(|id| summary::rows(records, id)).collect();
    let mut labels: Vec<String> = Vec::new();
    for row in &rows {
        if !labels.contains(&row.label()) {
            labels.push(row.label());
        }
    }
    let line = |label: &String| -> Option<Vec<String>> {
        let places: Vec<(f64, f64)> = rows
            .iter()
            .filter(|row| &row.label() == label)
            .filter_map(|row| {
                let excess = row.statistic("cost_ratio")?.mean - 1.0;
                (excess > 0.0).then(|| ((row.n as f64).ln(), excess.ln()))
            })
            .collect();
        let slope = slope(&places)?;
        Some(vec![label.clone(), places.len().to_string(), significant(slope, 2)])
    };
    let lines: Vec<Vec<String>> = labels.iter().filter_map(line).collect();
    if !lines.is_empty() {
        page.paragraph(
            "The excess of cost as a power of the number of records, fitted on the sets of four dimensions and eight clusters:",
        );
        page.table(&["algorithm", "sets", "power"], 1, &lines);
    }
}

/// Of the line with least squares; none through fewer than two places.
fn slope(places: &[(f64, f64)]) -> Option<f64> {
    let count = places.len() as f64;
    let mean = |of: fn(&(f64, f64)) -> f64| places.iter().map(of).sum::<f64>() / count;
    let (x, y) = (mean(|place| place.0), mean(|place| place.1));
    let spread: f64 = places.iter().map(|place| (place.0 - x).powi(2)).sum();
    let both: f64 = places.iter().map(|place| (place.0 - x) * (place.1 - y)).sum();
    (spread > 0.0).then(|| both / spread)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn crossovers_and_slopes_are_those_of_their_formulas() {
        assert!(
            (slope(&[(0.0, 1.0), (1.0, 0.0), (2.0, -1.0)]).expect("three") + 1.0).abs() < 1e-12
        );
        assert_eq!(slope(&[(1.0, 1.0)]), None);
        for (name, rival) in RIVALS {
            for k in CLUSTERS {
                let Some(first) = first_dimension(rival, k) else { continue };
                let below = |d: u32| this_work(k, f64::from(d)) < rival(k, f64::from(d));
                assert!(below(first) && (first == 1 || !below(first - 1)), "{name}, k {k}");
            }
        }
    }
}
