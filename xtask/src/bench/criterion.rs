//! The rows that criterion has measured: noise, accounting, choices, streams, census.

use crate::error::Error;
use crate::eval::speed::{Beside, Row};
use quietus_datasets::files;
use serde_json::Value;
use std::collections::BTreeMap;
use std::path::Path;

/// Whom a bench stands beside.
enum Holder {
    /// Seconds that somebody else's code took, on another machine.
    Elsewhere(&'static str, f64),
    /// Another bench of the same run.
    SameRun(&'static str, &'static str),
    Nobody,
}

use Holder::{Elsewhere, Nobody, SameRun};

const NS: f64 = 1e-9;
/// A step of a stream should take this for each of its events.
const PER_EVENT: f64 = 1.0 / 50e6;

/// A bench by its full name in criterion's files, its holder, and the seconds it should take.
#[rustfmt::skip]
const BENCHES: [(&str, Holder, Option<f64>); 28] = [
    ("laplace/1000", Elsewhere("OpenDP", 11_000.0 * NS), Some(80.0 * NS)),
    ("gaussian/1000", Elsewhere("OpenDP", 17_000.0 * NS), Some(200.0 * NS)),
    ("gaussian-rounded/1000", Nobody, Some(200.0 * NS)),
    ("gaussian-table/1000", Nobody, Some(17.0 * NS)),
    ("accounting/dp-sgd q=.01 sigma=1 T=1e4", Elsewhere("dp_accounting", 0.7), Some(2.5e-3)),
    ("accounting/1000 distinct laplace", Elsewhere("dp_accounting", 4.3), Some(38e-3)),
    ("accounting/a few sampled laplace, gap 1e-4", Elsewhere("dp_accounting", 0.04), Some(0.05)),
    ("accounting/a few sampled laplace, gap 1e-6", Elsewhere("dp_accounting", 2.4), Some(0.5)),
    ("kmeans++/100000x10", Elsewhere("scikit-learn", 0.13), Some(0.10)),
    ("kmeans++/100000x100", Elsewhere("scikit-learn", 0.80), Some(0.70)),
    ("map/100000x2/sums", Nobody, None),
    ("map/10000000x2/sums", SameRun("map/100000x2/sums", "a hundredth of the records"), None),
    ("map/1000000x2/release and 16 clusters", Nobody, Some(1.5)),
    ("submodular/coverage 100000 x 1000/permute-and-flip, k=20", Elsewhere("apricot", 1.1), Some(5e-3)),
    ("submodular/facility location 5000 x 5000/permute-and-flip, k=100", Elsewhere("submodlib", 1.23), Some(0.04)),
    ("set-cover/1000000 x 10000/select", SameRun("set-cover/1000000 x 10000/greedy", "greedy without privacy"), None),
    ("k-median/5000 nodes/search, k 20", Elsewhere("kmedoids", 0.78), Some(0.18)),
    ("k-median/5000 nodes/search, k 100", Elsewhere("kmedoids", 1.15), Some(0.30)),
    ("k-median/10000 nodes, k 20/histogram", Nobody, Some(0.3)),
    ("stream/step/1000/active", SameRun("stream/step/1000/open addressing", "open addressing"), Some(1e3 * PER_EVENT)),
    ("stream/step/10000/active", SameRun("stream/step/10000/open addressing", "open addressing"), Some(1e4 * PER_EVENT)),
    ("stream/step/100000/active", SameRun("stream/step/100000/open addressing", "open addressing"), Some(1e5 * PER_EVENT)),
    ("stream/step/1000000/active", SameRun("stream/step/1000000/open addressing", "open addressing"), Some(1e6 * PER_EVENT)),
    ("stream/step/1000000/crafted", SameRun("stream/step/1000000/active", "items at random"), None),
    ("census-3.2e6/1 threads/chain/eps 1", Nobody, Some(0.048)),
    ("census-3.2e6/1 threads/cumulative, level by level/eps 0.1", Nobody, Some(0.6)),
    ("census-3.2e6/1 threads/cumulative, level by level/eps 1", Nobody, Some(0.6)),
    ("census-3.2e6/1 threads/top-down/eps 1", Nobody, None),
];

/// The rows of those benches that have been measured; `folder` is criterion's, in the target folder.
pub(super) fn rows(folder: &Path, filter: Option<&str>) -> Result<Vec<Row>, Error> {
    let seconds = measured(folder)?;
    let wanted = |id: &str| filter.is_none_or(|part| id.contains(part));
    let row = |(id, holder, target): &(&str, Holder, Option<f64>)| {
        let (name, other) = match holder {
            Elsewhere(name, seconds) => (*name, Some(*seconds)),
            SameRun(id, name) => (*name, seconds.get(*id).copied()),
            Nobody => ("nobody", None),
        };
        let beside = Beside { holder: name, holder_seconds: other, target_seconds: *target };
        Some(Row::new((*id).to_owned(), None, *seconds.get(*id)?, beside))
    };
    Ok(BENCHES.iter().filter(|bench| wanted(bench.0)).filter_map(row).collect())
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
    use std::collections::BTreeSet;

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
        let found = rows(folder.path(), None).unwrap();
        let rounded = |ratio: f64| (1e6 * ratio).round() / 1e6;
        let shown: Vec<_> =
            found.iter().map(|row| (row.id.as_str(), row.ratio.map(rounded), row.met)).collect();
        let want = [
            ("laplace/1000", Some(200.0), Some(true)),
            ("stream/step/1000/active", Some(0.25), Some(false)),
        ];
        assert_eq!(shown, want);
        assert_eq!(rows(folder.path(), Some("laplace")).unwrap().len(), 1);
        assert!(rows(&folder.path().join("nowhere"), None).unwrap().is_empty());
    }

    #[test]
    fn no_bench_stands_there_twice() {
        let ids: BTreeSet<_> = BENCHES.iter().map(|bench| bench.0).collect();
        assert_eq!(ids.len(), BENCHES.len());
    }
}
