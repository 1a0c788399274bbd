//! One finished cell: a line of results.jsonl, field by field as other tools read it.

use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::collections::BTreeMap;

/// A line of results.jsonl. The order of the fields is the order in the file.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Record {
    pub(crate) suite: String,
    pub(crate) dataset: String,
    pub(crate) n: usize,
    pub(crate) d: usize,
    pub(crate) algorithm: String,
    pub(crate) variant: String,
    pub(crate) private: bool,
    /// Neighbouring relation; null for what is not private.
    pub(crate) relation: Option<String>,
    pub(crate) epsilon: Option<f64>,
    pub(crate) delta: Option<f64>,
    /// Settings of the algorithm and of the measurement.
    pub(crate) params: BTreeMap<String, Value>,
    pub(crate) run: u32,
    /// The `--seed` of the evaluation; a cell's own stream follows from it and the cell's names.
    pub(crate) seed: u64,
    pub(crate) metrics: BTreeMap<String, f64>,
    /// Time of the algorithm alone.
    pub(crate) seconds: f64,
    /// Peak memory of the process while the algorithm ran, data included; null where unknown.
    pub(crate) peak_rss_mib: Option<f64>,
    /// Published means of the same cell, by metric.
    pub(crate) paper: BTreeMap<String, f64>,
}

/// What makes two cells the same cell.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Key {
    pub(crate) suite: String,
    pub(crate) dataset: String,
    pub(crate) algorithm: String,
    pub(crate) variant: String,
    /// By bits: an epsilon is compared, never computed with.
    epsilon: Option<u64>,
    pub(crate) run: u32,
}

impl Record {
    pub(crate) fn key(&self) -> Key {
        Key {
            suite: self.suite.clone(),
            dataset: self.dataset.clone(),
            algorithm: self.algorithm.clone(),
            variant: self.variant.clone(),
            epsilon: self.epsilon.map(f64::to_bits),
            run: self.run,
        }
    }

    /// The first setting in which `other`, a record of the same cell, differs: (name, here, there).
    /// What was measured is not a setting.
    pub(crate) fn different_setting(&self, other: &Self) -> Option<(String, String, String)> {
        let shown = |value: Option<&Value>| value.map_or("nothing".to_owned(), Value::to_string);
        let number = |value: Option<f64>| value.map_or("nothing".to_owned(), |v| v.to_string());
        let fixed = [
            ("seed", self.seed.to_string(), other.seed.to_string()),
            ("n", self.n.to_string(), other.n.to_string()),
            ("d", self.d.to_string(), other.d.to_string()),
            ("delta", number(self.delta), number(other.delta)),
        ];
        let names: std::collections::BTreeSet<&String> =
            self.params.keys().chain(other.params.keys()).collect();
        let params = names.into_iter().map(|name| {
            (name.as_str(), shown(self.params.get(name)), shown(other.params.get(name)))
        });
        fixed
            .into_iter()
            .chain(params)
            .find(|(_, here, there)| here != there)
            .map(|(name, here, there)| (name.to_owned(), here, there))
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::Record;
    use std::collections::BTreeMap;

    /// A record with round numbers.
    pub(crate) fn example(dataset: &str, algorithm: &str, run: u32) -> Record {
        let private = algorithm != "kmeans++";
        Record {
            suite: "dpm".to_owned(),
            dataset: dataset.to_owned(),
            n: 100_000,
            d: 10,
            algorithm: algorithm.to_owned(),
            variant: "default".to_owned(),
            private,
            relation: private.then(|| "add-remove".to_owned()),
            epsilon: private.then_some(1.0),
            delta: private.then_some(3.2e-8),
            params: BTreeMap::from([("k".to_owned(), 64.into())]),
            run,
            seed: 1,
            metrics: BTreeMap::from([
                ("inertia_squared".to_owned(), 2.5e6 + 1e5 * f64::from(run)),
                ("kmeans_distance_normalised".to_owned(), 0.005),
            ]),
            seconds: 0.25,
            peak_rss_mib: Some(100.0),
            paper: BTreeMap::new(),
        }
    }

    #[test]
    fn the_line_has_the_fields_of_the_contract_in_order() {
        let line = serde_json::to_string(&example("synth-10d", "dpm", 0)).unwrap();
        insta::assert_snapshot!(line, @r#"{"suite":"dpm","dataset":"synth-10d","n":100000,"d":10,"algorithm":"dpm","variant":"default","private":true,"relation":"add-remove","epsilon":1.0,"delta":3.2e-8,"params":{"k":64},"run":0,"seed":1,"metrics":{"inertia_squared":2500000.0,"kmeans_distance_normalised":0.005},"seconds":0.25,"peak_rss_mib":100.0,"paper":{}}"#);
        let baseline = serde_json::to_string(&example("synth-10d", "kmeans++", 0)).unwrap();
        assert!(
            baseline.contains(r#""private":false,"relation":null,"epsilon":null,"delta":null"#)
        );
    }

    #[test]
    fn a_line_reads_back_to_the_same_record() {
        let record = example("letter", "dpm", 3);
        let line = serde_json::to_string(&record).unwrap();
        assert_eq!(serde_json::from_str::<Record>(&line).unwrap(), record);
    }

    #[test]
    fn settings_differ_by_value_and_measurements_do_not_count() {
        let record = example("letter", "dpm", 3);
        let mut other = Record { seconds: 9.0, ..record.clone() };
        assert_eq!(record.different_setting(&other), None);
        other.params.insert("k".to_owned(), 26.into());
        let want = Some(("k".to_owned(), "64".to_owned(), "26".to_owned()));
        assert_eq!(record.different_setting(&other), want);
    }
}
