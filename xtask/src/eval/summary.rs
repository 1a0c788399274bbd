//! Cells of one data set, brought together per algorithm.

use crate::eval::record::Record;
use crate::report::number::mean_sd;
use crate::report::plot::lines::Place;
use std::collections::BTreeMap;

/// Mean and spread over runs.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Statistic {
    pub(crate) mean: f64,
    /// Sample standard deviation; `None` for one run.
    pub(crate) sd: Option<f64>,
}

impl Statistic {
    /// The mean with a band of one standard deviation.
    pub(crate) fn place(self, x: f64) -> Place {
        let sd = self.sd.unwrap_or(0.0);
        Place { x, mean: self.mean, low: self.mean - sd, high: self.mean + sd }
    }
}

/// Mean and spread as in all tables; a dash where nothing was measured.
pub(crate) fn shown(found: Option<Statistic>) -> String {
    found.map_or("–".to_owned(), |found| mean_sd(found.mean, found.sd))
}

/// All runs of one algorithm at one setting.
#[derive(Clone, Debug)]
pub(crate) struct Row {
    pub(crate) algorithm: String,
    pub(crate) variant: String,
    pub(crate) private: bool,
    pub(crate) epsilon: Option<f64>,
    pub(crate) runs: usize,
    pub(crate) n: usize,
    pub(crate) d: usize,
    /// Values by metric, in the order of the runs; `seconds` and `peak_rss_mib` are among them.
    pub(crate) values: BTreeMap<String, Vec<f64>>,
    /// The record of run 0, if it is there.
    pub(crate) first: Option<Record>,
}

impl Row {
    pub(crate) fn statistic(&self, metric: &str) -> Option<Statistic> {
        statistic(self.values.get(metric)?)
    }

    /// [`shown`] of a metric.
    pub(crate) fn shown(&self, metric: &str) -> String {
        shown(self.statistic(metric))
    }

    /// A metric with a band of one standard deviation, over epsilon.
    pub(crate) fn place(&self, metric: &str) -> Option<Place> {
        Some(self.statistic(metric)?.place(self.epsilon?))
    }

    /// Name without epsilon.
    pub(crate) fn name(&self) -> String {
        let variant = match self.variant.as_str() {
            "default" => String::new(),
            other => format!(" ({other})"),
        };
        format!("{}{variant}", self.algorithm)
    }

    /// Name for tables and plots.
    pub(crate) fn label(&self) -> String {
        let epsilon = self.epsilon.map_or(String::new(), |epsilon| format!(", ε {epsilon}"));
        self.name() + &epsilon
    }

    /// Name for files.
    pub(crate) fn file_name(&self) -> String {
        let epsilon = self.epsilon.map_or(String::new(), |epsilon| format!("-{epsilon}"));
        format!("{}-{}{epsilon}", self.algorithm, self.variant)
    }
}

/// Ids of all data sets, in the order in which they first appear.
pub(crate) fn datasets(records: &[Record]) -> Vec<&str> {
    let mut ids: Vec<&str> = Vec::new();
    for record in records {
        if !ids.contains(&record.dataset.as_str()) {
            ids.push(&record.dataset);
        }
    }
    ids
}

/// One row per algorithm, variant and epsilon, in the order of the records but what is not private
/// first.
pub(crate) fn rows(records: &[Record], dataset: &str) -> Vec<Row> {
    let mut rows: Vec<Row> = Vec::new();
    let mut sorted: Vec<&Record> =
        records.iter().filter(|record| record.dataset == dataset).collect();
    sorted.sort_by_key(|record| (record.private, record.run));
    for record in sorted {
        let same = |row: &Row| {
            row.algorithm == record.algorithm
                && row.variant == record.variant
                && row.epsilon.map(f64::to_bits) == record.epsilon.map(f64::to_bits)
        };
        let at = rows.iter().position(same).unwrap_or_else(|| {
            rows.push(empty_row(record));
            rows.len() - 1
        });
        add(&mut rows[at], record);
    }
    rows
}

fn empty_row(record: &Record) -> Row {
    Row {
        algorithm: record.algorithm.clone(),
        variant: record.variant.clone(),
        private: record.private,
        epsilon: record.epsilon,
        runs: 0,
        n: record.n,
        d: record.d,
        values: BTreeMap::new(),
        first: None,
    }
}

fn add(row: &mut Row, record: &Record) {
    row.runs += 1;
    let mut put = |name: &str, value: f64| {
        row.values.entry(name.to_owned()).or_default().push(value);
    };
    record.metrics.iter().for_each(|(name, &value)| put(name, value));
    put("seconds", record.seconds);
    if let Some(peak) = record.peak_rss_mib {
        put("peak_rss_mib", peak);
    }
    if record.run == 0 {
        row.first = Some(record.clone());
    }
}

pub(crate) fn statistic(values: &[f64]) -> Option<Statistic> {
    if values.is_empty() {
        return None;
    }
    let n = values.len() as f64;
    let mean = values.iter().sum::<f64>() / n;
    let squares: f64 = values.iter().map(|value| (value - mean).powi(2)).sum();
    Some(Statistic { mean, sd: (values.len() > 1).then(|| (squares / (n - 1.0)).sqrt()) })
}

#[cfg(test)]
mod tests {
    use super::{Statistic, rows, statistic};
    use crate::eval::record::Record;
    use crate::eval::record::tests::example;

    #[test]
    fn runs_come_together_whatever_their_order_and_baselines_come_first() {
        let mut records: Vec<Record> =
            [2, 0, 1].map(|run| example("synth-10d", "dpm", run)).to_vec();
        records.push(example("synth-10d", "kmeans++", 0));
        records.push(example("letter", "dpm", 0));
        records.push(Record { epsilon: Some(0.5), ..example("synth-10d", "dpm", 0) });
        let rows = rows(&records, "synth-10d");
        let labels: Vec<String> = rows.iter().map(super::Row::label).collect();
        assert_eq!(labels, ["kmeans++", "dpm, ε 1", "dpm, ε 0.5"]);
        assert_eq!(rows[1].runs, 3);
        let want = Statistic { mean: 2.6e6, sd: Some(1e5) };
        assert_eq!(rows[1].statistic("inertia_squared"), Some(want));
        assert_eq!(rows[1].first.as_ref().map(|record| record.run), Some(0));
    }

    #[test]
    fn one_run_has_no_spread() {
        assert_eq!(statistic(&[3.0]), Some(Statistic { mean: 3.0, sd: None }));
        assert_eq!(statistic(&[]), None);
    }
}
