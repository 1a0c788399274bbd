//! The table of a data set: our rows and the published ones beside them, in Markdown.

use crate::eval::clustering::published::{self, Published};
use crate::eval::clustering::studies;
use crate::eval::record::Record;
use crate::eval::summary::{self, Row};
use crate::report::number::{count, mean_sd, significant};
use std::fmt::Write as _;

/// Metrics in the order of the columns: key and heading.
const COLUMNS: [(&str, &str); 9] = [
    ("inertia_squared", "squared inertia"),
    ("floor", "floor"),
    ("kmeans_distance_normalised", "KMeans distance"),
    ("silhouette", "silhouette"),
    ("accuracy", "accuracy"),
    ("centres", "centres"),
    ("clusters_found", "found"),
    ("seconds", "seconds"),
    ("peak_rss_mib", "peak MiB"),
];

/// For what was not measured or not published.
const ABSENT: &str = "–";
const STRING: &str = "writing to a String cannot fail";

/// Our rows, each with the published ones of the same algorithm below it, then published rivals.
/// Columns that nobody has a value for are left out.
pub(crate) fn table(id: &str, rows: &[Row]) -> String {
    let lines = lines(id, rows);
    let filled = |(metric, _): &&(&str, &str)| lines.iter().any(|line| line.cell(metric).is_some());
    let columns: Vec<&(&str, &str)> = COLUMNS.iter().filter(filled).collect();
    let mut text = String::from("| algorithm | runs | x baseline |");
    for (_, heading) in &columns {
        write!(text, " {heading} |").expect(STRING);
    }
    text.push_str("\n|---|---:|---:|");
    text.push_str(&"---:|".repeat(columns.len()));
    text.push('\n');
    for one in &lines {
        write!(text, "| {} | {} | {} |", one.name, one.runs, one.ratio()).expect(STRING);
        for (metric, _) in &columns {
            write!(text, " {} |", one.shown(metric)).expect(STRING);
        }
        text.push('\n');
    }
    text
}

/// The closing table on the terminal: one line per data set and algorithm.
pub(super) fn summary(records: &[Record]) -> Vec<Vec<String>> {
    let headings =
        "data set,algorithm,runs,squared inertia,x baseline,KMeans distance,seconds".split(',');
    let mut found = vec![headings.map(str::to_owned).collect()];
    let records: Vec<Record> =
        records.iter().filter(|record| studies::of_table(record)).cloned().collect();
    for id in summary::datasets(&records) {
        let rows = summary::rows(&records, id);
        let ours = rows.iter().map(|row| (row, Line::ours(row, &rows)));
        found.extend(ours.map(|(row, line)| {
            let shown =
                |metric| line.cell(metric).map_or(String::new(), |(mean, sd)| mean_sd(mean, sd));
            vec![
                id.to_owned(),
                row.label(),
                row.runs.to_string(),
                shown("inertia_squared"),
                line.ratio(),
                shown("kmeans_distance_normalised"),
                line.shown("seconds"),
            ]
        }));
    }
    found
}

fn lines<'a>(id: &str, rows: &'a [Row]) -> Vec<Line<'a>> {
    let published: Vec<&Published> = published::for_dataset(id).collect();
    let mut lines = Vec::new();
    for row in rows {
        lines.push(Line::ours(row, rows));
        let same = |other: &&&Published| {
            other.algorithm == row.algorithm && published::comparable(row.epsilon)
        };
        lines.extend(published.iter().filter(same).map(|other| Line::published(other, &published)));
    }
    let rival = |other: &&&Published| rows.iter().all(|row| row.algorithm != other.algorithm);
    lines.extend(published.iter().filter(rival).map(|other| Line::published(other, &published)));
    lines
}

/// A line of the table.
struct Line<'a> {
    name: String,
    runs: usize,
    values: Values<'a>,
    /// Squared inertia of the non-private baseline by the same source.
    baseline: Option<f64>,
}

/// Where a line's numbers come from.
enum Values<'a> {
    Ours(&'a Row),
    Published(&'a Published),
}

impl<'a> Line<'a> {
    fn ours(row: &'a Row, all: &[Row]) -> Self {
        let baseline = all.iter().find(|row| row.algorithm == "kmeans++");
        Self {
            name: match (row.private, row.epsilon) {
                (false, Some(_)) => format!("{}, *not private as claimed*", row.label()),
                _ => format!("**{}**", row.label()),
            },
            runs: row.runs,
            values: Values::Ours(row),
            baseline: baseline
                .and_then(|row| row.statistic("inertia_squared"))
                .map(|found| found.mean),
        }
    }

    fn published(row: &'a Published, all: &[&Published]) -> Self {
        let baseline = all
            .iter()
            .find(|other| other.source == row.source && other.algorithm == "kmeans++")
            .and_then(|other| other.metric("inertia_squared"));
        Self {
            name: format!("{}, *{}*", row.algorithm, row.source),
            runs: row.runs,
            values: Values::Published(row),
            baseline: baseline.map(|(mean, _)| mean),
        }
    }

    fn cell(&self, metric: &str) -> Option<published::Value> {
        match self.values {
            Values::Ours(row) => row.statistic(metric).map(|found| (found.mean, found.sd)),
            Values::Published(row) => row.metric(metric),
        }
    }

    fn ratio(&self) -> String {
        match (self.cell("inertia_squared"), self.baseline) {
            (Some((mean, _)), Some(baseline)) if baseline > 0.0 => significant(mean / baseline, 3),
            _ => ABSENT.to_owned(),
        }
    }

    fn shown(&self, metric: &str) -> String {
        match (self.cell(metric), metric) {
            (None, _) => ABSENT.to_owned(),
            // Timings are noisy and memory is one number: a spread would only widen the table.
            (Some((mean, _)), "seconds" | "peak_rss_mib") => significant(mean, 2),
            (Some((mean, _)), "floor") => significant(mean, 4),
            (Some((mean, sd)), "centres" | "clusters_found") => count(mean, sd),
            (Some((mean, sd)), _) => mean_sd(mean, sd),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{summary, table};
    use crate::eval::record::tests::example;
    use crate::eval::summary::rows;

    #[test]
    fn our_numbers_stand_above_the_published_ones() {
        let mut records: Vec<_> = (0..3).map(|run| example("synth-10d", "dpm", run)).collect();
        records.push(example("synth-10d", "kmeans++", 0));
        insta::assert_snapshot!(table("synth-10d", &rows(&records, "synth-10d")), @r"
    | algorithm | runs | x baseline | squared inertia | KMeans distance | silhouette | accuracy | seconds | peak MiB |
    |---|---:|---:|---:|---:|---:|---:|---:|---:|
    | **kmeans++** | 1 | 1.00 | 2.50e6 | 0.00500 | – | – | 0.25 | 100 |
    | kmeans++, *paper* | 20 | 1.00 | 1.00e6 | 0 | 0.970 | 1.00 | – | – |
    | kmeans++, *public code, re-run* | 5 | 1.00 | 1.00e6 | 0 | – | 1.00 | – | – |
    | **dpm, ε 1** | 3 | 1.04 | 2.60e6 ± 1.0e5 | 0.00500 | – | – | 0.25 | 100 |
    | dpm, *paper* | 20 | 18.0 | 1.80e7 ± 2.7e7 | 0.0100 | 0.960 ± 0.020 | 0.990 ± 0.010 | – | – |
    | dpm, *public code, re-run* | 5 | 13.5 | 1.35e7 | 0.0107 | – | 0.994 | – | – |
    | dp-lloyd, *paper* | 20 | 600 | 6.00e8 ± 1.0e8 | 0.120 ± 0.010 | 0.610 ± 0.050 | 0.660 ± 0.050 | – | – |
    | em-mc, *paper* | 20 | 1500 | 1.50e9 ± 8.4e7 | 14.2 ± 43 | 0.420 ± 0.050 | 0.490 ± 0.070 | – | – |
    | lsh-splits, *paper* | 20 | 120 | 1.20e8 ± 3.0e7 | 0.0400 ± 0.010 | 0.930 ± 0.020 | 0.950 ± 0.020 | – | – |
    | lsh-splits, *public code, re-run* | 5 | 74.0 | 7.40e7 | 0.0290 | – | 0.982 | – | – |
    | dp-lloyd, *public code, re-run* | 5 | 620 | 6.20e8 | 0.124 | – | 0.647 | – | – |
    ");
    }

    #[test]
    fn a_data_set_that_nobody_published_on_has_our_rows_only() {
        let records = [example("other", "dpm", 0)];
        insta::assert_snapshot!(table("other", &rows(&records, "other")), @r"
        | algorithm | runs | x baseline | squared inertia | KMeans distance | seconds | peak MiB |
        |---|---:|---:|---:|---:|---:|---:|
        | **dpm, ε 1** | 1 | – | 2.50e6 | 0.00500 | 0.25 | 100 |
        ");
    }

    #[test]
    fn the_closing_table_has_the_numbers_that_people_look_for_first() {
        let records = [
            example("synth-10d", "dpm", 0),
            example("synth-10d", "dpm", 1),
            example("synth-10d", "kmeans++", 0),
            example("letter", "dpm", 0),
        ];
        insta::assert_snapshot!(crate::report::terminal::aligned(&summary(&records)), @r"
        data set   algorithm  runs  squared inertia  x baseline  KMeans distance  seconds
        synth-10d  kmeans++      1           2.50e6        1.00          0.00500     0.25
        synth-10d  dpm, ε 1      2   2.55e6 ± 7.1e4        1.02          0.00500     0.25
        letter     dpm, ε 1      1           2.50e6           –          0.00500     0.25
        ");
    }
}
