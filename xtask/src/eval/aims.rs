//! `benches/targets.toml`: who was best before us, what we aim for, and what an evaluation or an audit has measured of it.

use crate::error::Error;
use crate::eval::record::Record;
use crate::eval::results;
use crate::eval::speed::{Beside, Row};
use crate::eval::summary::{Statistic, statistic};
use serde::Deserialize;
use serde_json::Value;
use std::collections::BTreeMap;
use std::path::Path;

/// The whole file.
#[derive(Debug, Deserialize)]
pub(crate) struct Aims {
    pub(crate) bench: Vec<Bench>,
    pub(crate) size: Vec<Size>,
    pub(crate) growth: Vec<Growth>,
    quality: Vec<Quality>,
    trust: Vec<Trust>,
}

/// A bench by its full name in criterion's files.
#[derive(Debug, Deserialize)]
pub(crate) struct Bench {
    pub(crate) id: String,
    #[serde(flatten)]
    pub(crate) known: Beside,
    /// Another bench of the same run, in the place of seconds from elsewhere.
    pub(crate) beside: Option<String>,
}

/// A clustering at a size.
#[derive(Debug, Deserialize)]
pub(crate) struct Size {
    pub(crate) algorithm: String,
    pub(crate) n: usize,
    pub(crate) d: usize,
    pub(crate) k: usize,
    #[serde(flatten)]
    pub(crate) known: Beside,
}

/// Benches by their full names, each with the size that grows.
#[derive(Debug, Deserialize)]
pub(crate) struct Growth {
    pub(crate) work: String,
    pub(crate) grows: String,
    pub(crate) sizes: BTreeMap<String, f64>,
}

/// A cell of an evaluation.
#[derive(Debug, Deserialize)]
struct Quality {
    work: String,
    suite: String,
    dataset: String,
    algorithm: String,
    variant: Option<String>,
    epsilon: f64,
    metric: String,
    /// Ours is divided by the mean of this method.
    over: Option<String>,
    holder: Option<String>,
    holder_value: Option<f64>,
    target: Option<f64>,
    #[serde(default)]
    more: bool,
}

/// Of how many entries of a list of audit.json a flag should hold: all.
#[derive(Debug, Deserialize)]
struct Trust {
    work: String,
    list: String,
    flag: String,
}

pub(crate) fn read() -> Result<Aims, Error> {
    toml::from_str(include_str!("../../../benches/targets.toml"))
        .map_err(|error| Error::malformed(Path::new("benches/targets.toml"), error))
}

/// What the last evaluation and the last audit in this folder say of the targets; a row without a value was not measured.
pub(crate) fn in_folder(out: &Path) -> Result<Vec<Row>, Error> {
    let path = out.join(results::FILE);
    let records = if path.is_file() { results::read(&path)? } else { Vec::new() };
    measured(&records, out)
}

/// The same, with the evaluation at hand.
pub(crate) fn measured(records: &[Record], out: &Path) -> Result<Vec<Row>, Error> {
    let aims = read()?;
    let mut rows: Vec<Row> = aims.quality.iter().map(|aim| aim.row(records)).collect();
    let path = out.join("audit.json");
    if path.is_file() {
        let text = std::fs::read_to_string(&path).map_err(Error::io("read", &path))?;
        let audit: Value =
            serde_json::from_str(&text).map_err(|error| Error::malformed(&path, error))?;
        rows.extend(aims.trust.iter().filter_map(|aim| aim.row(&audit)));
    }
    Ok(rows)
}

impl Quality {
    fn row(&self, records: &[Record]) -> Row {
        let Self { work, dataset, algorithm, epsilon, .. } = self;
        let variant = self.variant.as_deref().unwrap_or("default");
        let ours = self.values(records, algorithm, variant, Some(*epsilon));
        let base = self.over.as_ref().map(|over| {
            statistic(&self.values(records, over, "default", None)).map(|found| found.mean)
        });
        // A base that was not measured leaves nothing to say.
        let found = statistic(&ours).zip(base.unwrap_or(Some(1.0))).map(|(ours, base)| Statistic {
            mean: ours.mean / base,
            sd: ours.sd.map(|sd| sd / base),
        });
        let better = |mean: f64, than: f64| if self.more { mean / than } else { than / mean };
        let mean = found.map(|found| found.mean);
        let shown = if variant == "default" { String::new() } else { format!(" ({variant})") };
        Row {
            algorithm: Some(algorithm.clone()),
            runs: Some(ours.len()),
            value: mean,
            sd: found.and_then(|found| found.sd),
            holder: self.holder.clone().unwrap_or_else(|| "nobody".to_owned()),
            holder_value: self.holder_value,
            ratio: mean.zip(self.holder_value).map(|(mean, holder)| better(mean, holder)),
            target: self.target,
            met: mean.zip(self.target).map(|(mean, target)| better(mean, target) >= 1.0),
            ..Row::named(format!("{algorithm}{shown} on {dataset}, ε {epsilon}: {work}"))
        }
    }

    fn values(
        &self,
        records: &[Record],
        algorithm: &str,
        variant: &str,
        epsilon: Option<f64>,
    ) -> Vec<f64> {
        let same = |record: &&Record| {
            (&record.suite, &record.dataset) == (&self.suite, &self.dataset)
                && (record.algorithm.as_str(), record.variant.as_str()) == (algorithm, variant)
                && record.epsilon.map(f64::to_bits) == epsilon.map(f64::to_bits)
        };
        let metric = |record: &Record| record.metrics.get(&self.metric).copied();
        records.iter().filter(same).filter_map(metric).collect()
    }
}

impl Trust {
    fn row(&self, audit: &Value) -> Option<Row> {
        let all = audit[&self.list].as_array()?;
        let held = all.iter().filter(|entry| entry[&self.flag] == Value::Bool(true)).count();
        Some(Row {
            value: Some(held as f64),
            target: Some(all.len() as f64),
            met: Some(held == all.len()),
            ..Row::named(self.work.clone())
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::eval::record::tests::example;
    use std::collections::BTreeSet;

    #[test]
    fn a_cell_stands_beside_its_target_and_what_was_not_measured_says_so() {
        let mut records: Vec<Record> =
            [0, 1].map(|run| example("synth-10d", "dpm-recentred", run)).to_vec();
        records.push(example("synth-10d", "kmeans++", 0));
        records[2].epsilon = None;
        let folder = tempfile::tempdir().unwrap();
        let audit = r#"{"claims":[{"pass":true},{"pass":false}],"mutants":[{"caught":true}]}"#;
        std::fs::write(folder.path().join("audit.json"), audit).unwrap();
        let rows = measured(&records, folder.path()).unwrap();
        let of = |id: &str| rows.iter().find(|row| row.id.starts_with(id)).unwrap();
        let row = of("dpm-recentred on synth-10d, ε 1: ");
        assert_eq!((row.value, row.runs, row.met), (Some(1.02), Some(2), Some(false)));
        assert!(row.ratio.is_some_and(|ratio| ratio > 13.0), "the published one has 13.5");
        assert_eq!((of("dpm-recentred on letter, ε 1: ").value, row.seconds), (None, None));
        let claims = of("privacy claims");
        assert_eq!((claims.value, claims.target, claims.met), (Some(1.0), Some(2.0), Some(false)));
        assert_eq!(of("mutants that are caught").met, Some(true));
    }

    #[test]
    fn no_row_stands_there_twice() {
        let aims = read().unwrap();
        let rows = aims.quality.iter().map(|aim| aim.row(&[]).id);
        let ids: Vec<String> =
            aims.bench.iter().map(|bench| bench.id.clone()).chain(rows).collect();
        assert_eq!(ids.iter().collect::<BTreeSet<_>>().len(), ids.len());
        let grown = aims.growth.iter().flat_map(|growth| growth.sizes.keys());
        assert!(grown.clone().all(|id| ids.contains(id)), "{:?}", grown.collect::<Vec<_>>());
    }
}
