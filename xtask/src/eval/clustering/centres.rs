//! OUT/centres: the centres and the receipt of each algorithm's first run, so that a resumed
//! evaluation can draw its plots without running anything again.

use crate::error::Error;
use crate::eval::clustering::algorithms::Outcome;
use crate::eval::record::Record;
use dp_geometry::Points;
use quietus_datasets::files;
use serde::{Deserialize, Serialize};
use std::path::Path;

/// One file of OUT/centres.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct FirstRun {
    pub(crate) dataset: String,
    pub(crate) algorithm: String,
    pub(crate) variant: String,
    pub(crate) epsilon: Option<f64>,
    pub(crate) seed: u64,
    pub(crate) centres: Points,
    /// The receipt in words, for what is private.
    pub(crate) receipt: Option<String>,
}

/// Keeps the outcome if it is a first run.
pub(crate) fn keep(out: &Path, record: &Record, outcome: &Outcome) -> Result<(), Error> {
    if record.run != 0 {
        return Ok(());
    }
    let kept = FirstRun {
        dataset: record.dataset.clone(),
        algorithm: record.algorithm.clone(),
        variant: record.variant.clone(),
        epsilon: record.epsilon,
        seed: record.seed,
        centres: outcome.centres.clone(),
        receipt: outcome.receipt.clone(),
    };
    let folder = out.join("centres");
    files::create_folder(&folder)?;
    files::write_atomically(&folder.join(file_name(record)), |writer| {
        Ok(serde_json::to_writer(writer, &kept)?)
    })?;
    Ok(())
}

/// The kept first run of a record's algorithm, if there is a readable one with the same seed.
pub(crate) fn find(out: &Path, record: &Record) -> Option<FirstRun> {
    let bytes = std::fs::read(out.join("centres").join(file_name(record))).ok()?;
    let kept: FirstRun = serde_json::from_slice(&bytes).ok()?;
    (kept.seed == record.seed).then_some(kept)
}

fn file_name(record: &Record) -> String {
    let epsilon = record.epsilon.map_or(String::new(), |epsilon| format!(".epsilon-{epsilon}"));
    format!("{}.{}.{}{epsilon}.json", record.dataset, record.algorithm, record.variant)
}

#[cfg(test)]
mod tests {
    use super::{find, keep};
    use crate::eval::clustering::algorithms::Outcome;
    use crate::eval::record::Record;
    use crate::eval::record::tests::example;
    use dp_geometry::Points;

    #[test]
    fn the_first_run_is_kept_and_found_by_its_seed() {
        let out = tempfile::tempdir().unwrap();
        let outcome = |x: f64| Outcome {
            centres: Points::new(vec![x, 0.1], 2).unwrap(),
            receipt: Some("spent".to_owned()),
        };
        let record = example("letter", "dpm", 0);
        keep(out.path(), &record, &outcome(1.0)).unwrap();
        keep(out.path(), &example("letter", "dpm", 1), &outcome(2.0)).unwrap();
        let found = find(out.path(), &record).unwrap();
        assert_eq!(found.centres.view().coords(), [1.0, 0.1]);
        assert_eq!(found.receipt.as_deref(), Some("spent"));
        assert!(find(out.path(), &Record { seed: 2, ..record }).is_none());
    }
}
