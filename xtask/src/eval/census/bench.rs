//! One data set in memory: runs and measures single cells.

use crate::error::Error;
use crate::eval::cell::{Cost, rng_of};
use crate::eval::census::algorithms::{self, Algorithm};
use crate::eval::census::{measure, op, plan, scaling};
use crate::eval::record::Record;
use crate::eval::suite::Workbench;
use quietus_datasets::files;
use quietus_datasets::seed::named_rng;
use quietus_datasets::sets::census::Dataset;
use std::path::PathBuf;

/// The cell as it is named in its stream of randomness, and for the file of its receipt.
pub(super) fn cell_name(cell: &Record) -> Vec<String> {
    let setting = cell.params.get(plan::SETTING).map(ToString::to_string).unwrap_or_default();
    let names = [&cell.dataset, &cell.algorithm, &cell.variant, &setting];
    names.into_iter().cloned().collect()
}

fn run(
    algorithm: &Algorithm,
    data: &Dataset,
    cell: &Record,
) -> Result<(Record, algorithms::Outcome), Error> {
    let setting = cell.params.get(plan::SETTING).and_then(serde_json::Value::as_f64);
    let missing = || Error::library("a cell of the suite census has no", plan::SETTING);
    let epsilon = setting.ok_or_else(missing)?;
    let (seed, run) = (cell.seed.to_string(), cell.run.to_string());
    let mut parts = vec!["cell".to_owned(), seed, run];
    parts.extend(cell_name(cell));
    let mut rng = named_rng(&parts.iter().map(String::as_str).collect::<Vec<_>>());
    let outcome = algorithm.run(data, epsilon, &mut rng)?;
    let mut metrics = measure::metrics_of(data, &outcome.counts);
    if let Some(certificate) = outcome.certificate {
        metrics.extend(measure::metrics_of_certificate(certificate));
    }
    let Cost { seconds, peak_rss_mib } = outcome.cost;
    Ok((Record { metrics, seconds, peak_rss_mib, ..cell.clone() }, outcome))
}

fn find(cell: &Record, same: impl Fn(&Algorithm) -> bool) -> Result<Algorithm, Error> {
    let mut known = algorithms::all().into_iter().chain(algorithms::by_general_solver());
    known.find(same).ok_or_else(|| {
        let got = format!("{} ({})", cell.algorithm, cell.variant);
        Error::unknown("mechanism", &got, algorithms::all().iter().map(|one| one.id))
    })
}

/// A data set and where receipts go.
pub(super) struct Bench {
    pub(super) data: Dataset,
    pub(super) receipts: PathBuf,
}

impl Workbench for Bench {
    fn checksum(&self) -> &str {
        &self.data.checksum
    }

    fn run(&mut self, cell: &Record) -> Result<Record, Error> {
        let same = |one: &Algorithm| one.id == cell.algorithm && one.variant == cell.variant;
        let (record, outcome) = run(&find(cell, same)?, &self.data, cell)?;
        if let (0, Some(receipt)) = (cell.run, outcome.receipt) {
            files::create_folder(&self.receipts)?;
            files::write_atomically(&receipt_file(&self.receipts, cell), |writer| {
                writer.write_all(receipt.as_bytes())
            })?;
        }
        Ok(record)
    }
}

/// Where the receipt of the first run of a cell is kept.
pub(super) fn receipt_file(folder: &std::path::Path, cell: &Record) -> PathBuf {
    let name = cell_name(cell).join("-");
    let plain = |c: char| if c.is_ascii_alphanumeric() || "-._".contains(c) { c } else { '_' };
    folder.join(format!("{}.txt", name.chars().map(plain).collect::<String>()))
}

/// Run times: a table is made for each cell, and only the release is timed.
pub(super) struct ScalingBench;

impl Workbench for ScalingBench {
    fn checksum(&self) -> &'static str {
        "generated"
    }

    fn run(&mut self, cell: &Record) -> Result<Record, Error> {
        let data = scaling::table(scaling::city(cell.d))?;
        if cell.algorithm == op::ID {
            return op::run(&data, cell, &mut rng_of(cell));
        }
        let same = |one: &Algorithm| one.id == cell.algorithm && one.variant == "default";
        Ok(run(&find(cell, same)?, &data, cell)?.0)
    }
}
