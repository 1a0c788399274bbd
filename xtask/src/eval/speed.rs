//! The rows of bench.json: times beside those of whoever was fastest before, and beside a target.

use crate::error::Error;
use crate::eval::growth::slope;
use crate::report::number::{significant, tick};
use crate::report::page::Page;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::path::Path;

/// One row. The order of the fields is the order in the file.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Row {
    pub(crate) id: String,
    /// Null where a row is not about points.
    pub(crate) n: Option<usize>,
    pub(crate) d: Option<usize>,
    #[serde(default)]
    pub(crate) k: Option<usize>,
    #[serde(default)]
    pub(crate) algorithm: Option<String>,
    pub(crate) threads: usize,
    pub(crate) seconds: f64,
    pub(crate) peak_rss_mib: Option<f64>,
    pub(crate) holder: String,
    /// Null where the holder does not finish, or where there is none.
    pub(crate) holder_seconds: Option<f64>,
    /// How many times faster than the holder.
    pub(crate) ratio: Option<f64>,
    pub(crate) target_seconds: Option<f64>,
    /// Null where there is no target.
    pub(crate) met: Option<bool>,
}

/// The size of a clustering.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Clusters {
    pub(crate) n: usize,
    pub(crate) d: usize,
    pub(crate) k: usize,
}

/// What is known of a row besides what is measured.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Beside {
    pub(crate) holder: &'static str,
    pub(crate) holder_seconds: Option<f64>,
    pub(crate) target_seconds: Option<f64>,
}

impl Row {
    pub(crate) fn new(
        id: String,
        clustering: Option<(&str, Clusters)>,
        seconds: f64,
        beside: Beside,
    ) -> Self {
        let Beside { holder, holder_seconds, target_seconds } = beside;
        Self {
            id,
            n: clustering.map(|(_, size)| size.n),
            d: clustering.map(|(_, size)| size.d),
            k: clustering.map(|(_, size)| size.k),
            algorithm: clustering.map(|(algorithm, _)| algorithm.to_owned()),
            threads: 1,
            seconds,
            peak_rss_mib: None,
            holder: holder.to_owned(),
            holder_seconds,
            ratio: holder_seconds.map(|holder| holder / seconds),
            target_seconds,
            met: target_seconds.map(|target| seconds <= target),
        }
    }
}

/// A heading and a line per row.
pub(crate) fn lines(rows: &[Row]) -> Vec<Vec<String>> {
    let headings = [
        "row",
        "beside",
        "seconds",
        "peak MiB",
        "bytes a record",
        "its seconds",
        "ratio",
        "target",
        "met",
    ];
    let shown = |value: Option<f64>| value.map_or("–".to_owned(), |value| significant(value, 3));
    let line = |row: &Row| {
        let bytes = row.peak_rss_mib.zip(row.n).map(|(peak, n)| peak * 1_048_576.0 / n as f64);
        let met = row.met.map_or("–", |met| if met { "yes" } else { "no" });
        vec![
            row.id.clone(),
            row.holder.clone(),
            significant(row.seconds, 3),
            row.peak_rss_mib.map_or("–".to_owned(), |peak| format!("{peak:.0}")),
            shown(bytes),
            shown(row.holder_seconds),
            shown(row.ratio),
            shown(row.target_seconds),
            met.to_owned(),
        ]
    };
    std::iter::once(headings.map(str::to_owned).to_vec()).chain(rows.iter().map(line)).collect()
}

/// A heading, and a line for each algorithm and each number that grows while the other two stay: the power by which time grows with it.
pub(crate) fn powers(rows: &[Row]) -> Vec<Vec<String>> {
    let mut groups: BTreeMap<_, Vec<_>> = BTreeMap::new();
    for row in rows {
        let Row { algorithm: Some(algorithm), n: Some(n), d: Some(d), k: Some(k), .. } = row else {
            continue;
        };
        for grows in 0..3 {
            let mut others = [*n, *d, *k];
            let size = std::mem::take(&mut others[grows]) as f64;
            let place = (size.ln(), row.seconds.ln());
            groups.entry((algorithm.clone(), grows, others)).or_default().push(place);
        }
    }
    let lines = groups.into_iter().filter_map(|((algorithm, grows, _), places)| {
        let power = significant(slope(&places)?, 2);
        let [from, to] = [f64::min, f64::max].map(|end| {
            places.iter().map(|place| place.0.exp()).reduce(end).map_or_else(String::new, tick)
        });
        let name = ["records", "columns", "clusters"][grows].to_owned();
        Some(vec![algorithm, name, from, to, power])
    });
    let heading = ["algorithm", "grows", "from", "to", "power"].map(str::to_owned).to_vec();
    std::iter::once(heading).chain(lines).collect()
}

/// The report's chapter, if `cargo xtask bench` has left its file in this folder.
pub(crate) fn write(out: &Path, page: &mut Page) -> Result<(), Error> {
    let path = out.join("bench.json");
    let Ok(text) = std::fs::read_to_string(&path) else { return Ok(()) };
    let rows: Vec<Row> =
        serde_json::from_str(&text).map_err(|error| Error::malformed(&path, error))?;
    page.chapter("Speed");
    page.paragraph(
        "What `cargo xtask bench` measured last, on one thread, beside whoever was fastest before us. Times of others are from other machines, \
         except where they are counters of the same run: only ratios far from 1 say something.",
    );
    let lines = lines(&rows);
    let headings: Vec<&str> = lines[0].iter().map(String::as_str).collect();
    page.table(&headings, 2, &lines[1..]);
    let powers = powers(&rows);
    if powers.len() > 1 {
        page.paragraph("Time as a power of what grows, the other sizes as they are in the rows:");
        let headings: Vec<&str> = powers[0].iter().map(String::as_str).collect();
        page.table(&headings, 2, &powers[1..]);
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_row_has_the_fields_of_the_contract_and_is_read_back_into_the_report() {
        let beside = Beside {
            holder: "published DPM code",
            holder_seconds: Some(6.4),
            target_seconds: Some(0.012),
        };
        let of = |n| Some(("dpm", Clusters { n, d: 10, k: 64 }));
        let mut rows = vec![Row::new("dpm-1e5x10".to_owned(), of(100_000), 0.2, beside)];
        let json = serde_json::to_string(&rows).unwrap();
        insta::assert_snapshot!(json, @r#"[{"id":"dpm-1e5x10","n":100000,"d":10,"k":64,"algorithm":"dpm","threads":1,"seconds":0.2,"peak_rss_mib":null,"holder":"published DPM code","holder_seconds":6.4,"ratio":32.0,"target_seconds":0.012,"met":false}]"#);
        let folder = tempfile::tempdir().unwrap();
        let mut page = Page::default();
        write(folder.path(), &mut page).unwrap();
        assert!(page.text.is_empty(), "nothing was measured");
        std::fs::write(folder.path().join("bench.json"), json).unwrap();
        write(folder.path(), &mut page).unwrap();
        let line =
            "| dpm-1e5x10 | published DPM code | 0.200 | – | – | 6.40 | 32.0 | 0.0120 | no |";
        assert!(page.text.contains(line), "{}", page.text);
        assert_eq!(powers(&rows).len(), 1, "nothing grows");
        rows.push(Row::new("dpm-1e7x10".to_owned(), of(10_000_000), 20.0, beside));
        assert_eq!(powers(&rows)[1..], [["dpm", "records", "1e5", "1e7", "1.0"]]);
    }
}
