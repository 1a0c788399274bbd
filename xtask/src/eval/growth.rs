//! By what power of the number of records a method gets better.

use crate::eval::record::Record;
use crate::eval::summary::{self, Row};
use crate::eval::tables;
use crate::report::number::significant;
use crate::report::page::Page;

/// A table of the powers by which the cost above that of k-means falls, over the sets of a family, which is called `of`.
pub(crate) fn powers(records: &[Record], of: &str, is_one: fn(&str) -> bool, page: &mut Page) {
    let family = summary::datasets(records).into_iter().filter(|id| is_one(id));
    let rows: Vec<Row> = family.flat_map(|id| summary::rows(records, id)).collect();
    let labels = tables::once_each(rows.iter().map(Row::label));
    let line = |label: &String| -> Option<Vec<String>> {
        let same = rows.iter().filter(|row| &row.label() == label);
        let place = |row: &Row| {
            let excess = row.statistic("cost_ratio")?.mean - 1.0;
            (excess > 0.0).then(|| ((row.n as f64).ln(), excess.ln()))
        };
        let places: Vec<(f64, f64)> = same.filter_map(place).collect();
        let slope = slope(&places)?;
        Some(vec![label.clone(), places.len().to_string(), significant(slope, 2)])
    };
    let lines: Vec<Vec<String>> = labels.iter().filter_map(line).collect();
    if !lines.is_empty() {
        page.paragraph(&format!(
            "The excess of cost as a power of the number of records, fitted on {of}:"
        ));
        page.table(&["algorithm", "sets", "power"], 1, &lines);
    }
}

/// Of the line with least squares; none through fewer than two places.
pub(crate) fn slope(places: &[(f64, f64)]) -> Option<f64> {
    let count = places.len() as f64;
    let mean = |of: fn(&(f64, f64)) -> f64| places.iter().map(of).sum::<f64>() / count;
    let (x, y) = (mean(|place| place.0), mean(|place| place.1));
    let spread: f64 = places.iter().map(|place| (place.0 - x).powi(2)).sum();
    let both: f64 = places.iter().map(|place| (place.0 - x) * (place.1 - y)).sum();
    (spread > 0.0).then(|| both / spread)
}

#[cfg(test)]
#[test]
fn slopes_are_those_of_lines() {
    assert!((slope(&[(0.0, 1.0), (1.0, 0.0), (2.0, -1.0)]).expect("three") + 1.0).abs() < 1e-12);
    assert_eq!(slope(&[(1.0, 1.0)]), None);
}
