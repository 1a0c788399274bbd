//! The rows that criterion has measured: noise, accounting, choices, streams, census.

use crate::error::Error;
use crate::eval::aims::Bench;
use crate::eval::speed::{Beside, Row};
use quietus_datasets::files;
use serde_json::Value;
use std::collections::BTreeMap;
use std::path::Path;

const NS: f64 = 1e-9;

/// The rows of those benches that have been measured; `folder` is criterion's, in the target folder.
pub(super) fn rows(
    benches: &[Bench],
    folder: &Path,
    filter: Option<&str>,
) -> Result<Vec<Row>, Error> {
    let seconds = measured(folder)?;
    let wanted = |bench: &&Bench| filter.is_none_or(|part| bench.id.contains(part));
    let row = |bench: &Bench| {
        let same_run = bench.beside.as_ref().and_then(|other| seconds.get(other).copied());
        let holder_seconds = bench.known.holder_seconds.or(same_run);
        let beside = Beside { holder_seconds, ..bench.known.clone() };
        Some(Row::new(bench.id.clone(), None, *seconds.get(&bench.id)?, &beside))
    };
    Ok(benches.iter().filter(wanted).filter_map(row).collect())
}

/// The mean seconds of each bench by its full name.
fn measured(folder: &Path) -> Result<BTreeMap<String, f64>, Error> {
    let mut found = BTreeMap::new();
    if !folder.is_dir() {
        return Ok(found);
    }
    for path in files::below(folder, "json")? {
        if !path.ends_with("new/benchmark.json") {
            continue;
        }
        let name = read(&path)?["full_id"].as_str().map(str::to_owned);
        let mean = read(&path.with_file_name("estimates.json"))?["mean"]["point_estimate"].as_f64();
        found.extend(name.zip(mean.map(|nanoseconds| nanoseconds * NS)));
    }
    Ok(found)
}

fn read(path: &Path) -> Result<Value, Error> {
    let text = std::fs::read_to_string(path).map_err(Error::io("read", path))?;
    serde_json::from_str(&text).map_err(|error| Error::malformed(path, error))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::eval::aims;

    #[test]
    fn what_criterion_left_stands_beside_its_holder() {
        let folder = tempfile::tempdir().unwrap();
        let put = |place: &str, id: &str, nanoseconds: f64| {
            let at = folder.path().join(place).join("new");
            std::fs::create_dir_all(&at).unwrap();
            let name = serde_json::json!({ "full_id": id });
            let mean = serde_json::json!({ "mean": { "point_estimate": nanoseconds } });
            std::fs::write(at.join("benchmark.json"), name.to_string()).unwrap();
            std::fs::write(at.join("estimates.json"), mean.to_string()).unwrap();
        };
        put("a", "laplace/1000", 55.0);
        put("b", "stream/step/1000/active", 40_000.0);
        put("c", "stream/step/1000/open addressing", 10_000.0);
        put("d", "a bench that nobody asks for", 1.0);
        let benches = aims::read().unwrap().bench;
        let found = rows(&benches, folder.path(), None).unwrap();
        let rounded = |ratio: f64| (1e6 * ratio).round() / 1e6;
        let shown: Vec<_> =
            found.iter().map(|row| (row.id.as_str(), row.ratio.map(rounded), row.met)).collect();
        let want = [
            ("laplace/1000", Some(200.0), Some(true)),
            ("stream/step/1000/active", Some(0.25), Some(false)),
        ];
        assert_eq!(shown, want);
        assert_eq!(rows(&benches, folder.path(), Some("laplace")).unwrap().len(), 1);
        assert!(rows(&benches, &folder.path().join("nowhere"), None).unwrap().is_empty());
    }
}
