//! One stream in memory: runs and measures single cells.

use crate::error::Error;
use crate::eval::cell::{Cost, measured, rng_of};
use crate::eval::heavy_hitters::data::Stream;
use crate::eval::heavy_hitters::measure;
use crate::eval::heavy_hitters::methods::Setting;
use crate::eval::record::Record;
use crate::eval::suite::Workbench;
use std::collections::BTreeMap;

pub(super) struct Bench {
    stream: Stream,
    truth: BTreeMap<(u64, u64), i64>,
}

impl Bench {
    pub(super) fn new(stream: Stream) -> Self {
        let truth = measure::truth(&stream);
        Self { stream, truth }
    }
}

/// All algorithms by name.
const ALGORITHMS: [&str; 8] = [
    "exact",
    "thresh-monitor",
    "thresh-monitor-seen",
    "target-charging",
    "basic-histograms",
    "gaussian-histograms",
    "kaplan-style",
    "sparse-vector",
];

/// The setting that a cell was planned with.
fn setting_of(cell: &Record) -> Result<Setting, Error> {
    let unknown = || Error::Unknown {
        what: "algorithm",
        got: format!("{} ({})", cell.algorithm, cell.variant),
        known: ALGORITHMS.iter().map(|&id| id.to_owned()).collect(),
    };
    let algorithm = ALGORITHMS.iter().find(|id| **id == cell.algorithm).ok_or_else(unknown)?;
    let k = cell.params.get("k").and_then(serde_json::Value::as_u64);
    let k = k.and_then(|k| u8::try_from(k).ok()).ok_or_else(unknown)?;
    let bits = cell.variant.split_once("2^").map(|(_, bits)| bits.trim_end_matches(" items"));
    let universe_bits = bits.map(|bits| bits.parse().map_err(|_| unknown())).transpose()?;
    Ok(Setting { algorithm, k, universe_bits })
}

impl Workbench for Bench {
    fn checksum(&self) -> &str {
        &self.stream.checksum
    }

    fn run(&mut self, cell: &Record) -> Result<Record, Error> {
        let setting = setting_of(cell)?;
        let mut rng = rng_of(cell);
        let (outcome, Cost { seconds, peak_rss_mib }) =
            measured(|| setting.run(&self.stream, cell.epsilon.unwrap_or(1.0), &mut rng))?;
        let heavy = i64::from(self.stream.source.heavy);
        let mut metrics = measure::metrics(&self.truth, heavy, &outcome.reports);
        if let Some(dropped) = outcome.dropped {
            metrics.insert("users_dropped".to_owned(), dropped);
        }
        if let Some(promised) = outcome.promised {
            metrics.insert("smallest_count_promised".to_owned(), promised as f64);
        }
        Ok(Record { metrics, seconds, peak_rss_mib, ..cell.clone() })
    }
}
