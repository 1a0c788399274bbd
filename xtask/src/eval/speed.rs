//! The rows of bench.json: what was measured beside whoever was best before, and beside a target.

use crate::error::Error;
use crate::eval::aims::{self, Growth};
use crate::eval::growth::slope;
use crate::report::number::{significant, tick};
use crate::report::page::Page;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::path::Path;

/// One row: a time, or with `value` a number of another kind. The order of the fields is the order in the file.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
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
    pub(crate) seconds: Option<f64>,
    pub(crate) peak_rss_mib: Option<f64>,
    pub(crate) holder: String,
    /// Null where the holder does not finish, or where there is none.
    pub(crate) holder_seconds: Option<f64>,
    /// How many times faster or better than the holder.
    pub(crate) ratio: Option<f64>,
    pub(crate) target_seconds: Option<f64>,
    /// Null where there is no target, or nothing was measured.
    pub(crate) met: Option<bool>,
    /// What is measured in another unit than seconds: its mean and spread over runs, the holder's, and the one aimed for.
    #[serde(default)]
    pub(crate) value: Option<f64>,
    #[serde(default)]
    pub(crate) sd: Option<f64>,
    #[serde(default)]
    pub(crate) runs: Option<usize>,
    #[serde(default)]
    pub(crate) holder_value: Option<f64>,
    #[serde(default)]
    pub(crate) target: Option<f64>,
}

/// The size of a clustering.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Clusters {
    pub(crate) n: usize,
    pub(crate) d: usize,
    pub(crate) k: usize,
}

/// What is known of a time besides what is measured.
#[derive(Clone, Debug, Default, Deserialize)]
pub(crate) struct Beside {
    pub(crate) holder: Option<String>,
    pub(crate) holder_seconds: Option<f64>,
    pub(crate) target_seconds: Option<f64>,
}

impl Row {
    pub(crate) fn named(id: String) -> Self {
        Self { id, threads: 1, holder: "nobody".to_owned(), ..Self::default() }
    }

    pub(crate) fn new(
        id: String,
        clustering: Option<(&str, Clusters)>,
        seconds: f64,
        beside: &Beside,
    ) -> Self {
        let &Beside { ref holder, holder_seconds, target_seconds } = beside;
        Self {
            n: clustering.map(|(_, size)| size.n),
            d: clustering.map(|(_, size)| size.d),
            k: clustering.map(|(_, size)| size.k),
            algorithm: clustering.map(|(algorithm, _)| algorithm.to_owned()),
            seconds: Some(seconds),
            holder: holder.clone().unwrap_or_else(|| "nobody".to_owned()),
            holder_seconds,
            ratio: holder_seconds.map(|holder| holder / seconds),
            target_seconds,
            met: target_seconds.map(|target| seconds <= target),
            ..Self::named(id)
        }
    }
}

fn met(row: &Row) -> String {
    row.met.map_or("–", |met| if met { "yes" } else { "no" }).to_owned()
}

fn shown(value: Option<f64>) -> String {
    value.map_or("–".to_owned(), |value| significant(value, 3))
}

/// A heading and a line per time.
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
    let line = |row: &Row| {
        let bytes = row.peak_rss_mib.zip(row.n).map(|(peak, n)| peak * 1_048_576.0 / n as f64);
        vec![
            row.id.clone(),
            row.holder.clone(),
            shown(row.seconds),
            row.peak_rss_mib.map_or("–".to_owned(), |peak| format!("{peak:.0}")),
            shown(bytes),
            shown(row.holder_seconds),
            shown(row.ratio),
            shown(row.target_seconds),
            met(row),
        ]
    };
    let times = rows.iter().filter(|row| row.seconds.is_some()).map(line);
    std::iter::once(headings.map(str::to_owned).to_vec()).chain(times).collect()
}

/// The same for what is measured in another unit; rows without a value are left out.
pub(crate) fn values(rows: &[Row]) -> Vec<Vec<String>> {
    let headings = ["row", "ours", "runs", "beside", "its value", "ratio", "target", "met"];
    let line = |row: &Row| {
        // A target may be 1.002.
        let shown =
            |value: Option<f64>| value.map_or("–".to_owned(), |value| significant(value, 4));
        let spread = row.sd.map_or(String::new(), |sd| format!(" ± {}", significant(sd, 2)));
        let ours = significant(row.value?, 4) + &spread;
        let runs = row.runs.map_or("–".to_owned(), |runs| runs.to_string());
        let beside = [shown(row.holder_value), shown(row.ratio), shown(row.target), met(row)];
        Some([row.id.clone(), ours, runs, row.holder.clone()].into_iter().chain(beside).collect())
    };
    std::iter::once(headings.map(str::to_owned).to_vec())
        .chain(rows.iter().filter_map(line))
        .collect()
}

/// A heading, and lines with the power by which time grows: for each clustering and each number that grows while the other two stay, and
/// for benches of other families.
pub(crate) fn powers(rows: &[Row], others: &[Growth]) -> Vec<Vec<String>> {
    let mut groups: BTreeMap<_, Vec<_>> = BTreeMap::new();
    for row in rows {
        let (Some(seconds), Some(algorithm)) = (row.seconds, &row.algorithm) else { continue };
        let (Some(n), Some(d), Some(k)) = (row.n, row.d, row.k) else { continue };
        for grows in 0..3 {
            let mut others = [n, d, k];
            let size = std::mem::take(&mut others[grows]) as f64;
            let place = (size.ln(), seconds.ln());
            groups.entry((algorithm.clone(), grows, others)).or_default().push(place);
        }
    }
    let line = |name: String, grows: &str, places: &[(f64, f64)]| {
        let power = significant(slope(places)?, 2);
        let [from, to] = [f64::min, f64::max].map(|end| {
            places.iter().map(|place| place.0.exp()).reduce(end).map_or_else(String::new, tick)
        });
        Some(vec![name, grows.to_owned(), from, to, power])
    };
    let lines = groups.into_iter().filter_map(|((algorithm, grows, _), places)| {
        line(algorithm, ["records", "columns", "clusters"][grows], &places)
    });
    let others = others.iter().filter_map(|growth| {
        let of = |id: &String| rows.iter().find(|row| row.id == *id)?.seconds;
        let place = |(id, size): (&String, &f64)| Some((size.ln(), of(id)?.ln()));
        let places: Vec<(f64, f64)> = growth.sizes.iter().filter_map(place).collect();
        line(growth.work.clone(), &growth.grows, &places)
    });
    let heading = ["algorithm", "grows", "from", "to", "power"].map(str::to_owned).to_vec();
    std::iter::once(heading).chain(lines).chain(others).collect()
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
    table(&lines(&rows), page);
    let powers = powers(&rows, &aims::read()?.growth);
    if powers.len() > 1 {
        page.paragraph("Time as a power of what grows, the other sizes as they are in the rows:");
        table(&powers, page);
    }
    Ok(())
}

/// The chapter on quality and trust: what this evaluation and the last audit say of the targets.
pub(crate) fn write_values(rows: &[Row], page: &mut Page) {
    let lines = values(rows);
    if lines.len() > 1 {
        page.chapter("Targets");
        page.paragraph(&format!(
            "What was measured here, beside who was best before and what is aimed for (`benches/targets.toml`); the ratio says how many times better than that. \
             {} more rows need data that is not here, another ε or `--full`.",
            rows.len() + 1 - lines.len(),
        ));
        table(&lines, page);
    }
}

fn table(lines: &[Vec<String>], page: &mut Page) {
    let headings: Vec<&str> = lines[0].iter().map(String::as_str).collect();
    page.table(&headings, 2, &lines[1..]);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_row_has_the_fields_of_the_contract_and_is_read_back_into_the_report() {
        let beside = Beside {
            holder: Some("published DPM code".to_owned()),
            holder_seconds: Some(6.4),
            target_seconds: Some(0.012),
        };
        let of = |n| Some(("dpm", Clusters { n, d: 10, k: 64 }));
        let mut rows = vec![Row::new("dpm-1e5x10".to_owned(), of(100_000), 0.2, &beside)];
        let json = serde_json::to_string(&rows).unwrap();
        insta::assert_snapshot!(json, @r#"[{"id":"dpm-1e5x10","n":100000,"d":10,"k":64,"algorithm":"dpm","threads":1,"seconds":0.2,"peak_rss_mib":null,"holder":"published DPM code","holder_seconds":6.4,"ratio":32.0,"target_seconds":0.012,"met":false,"value":null,"sd":null,"runs":null,"holder_value":null,"target":null}]"#);
        let folder = tempfile::tempdir().unwrap();
        let mut page = Page::default();
        write(folder.path(), &mut page).unwrap();
        assert!(page.text.is_empty(), "nothing was measured");
        std::fs::write(folder.path().join("bench.json"), json).unwrap();
        write(folder.path(), &mut page).unwrap();
        let line =
            "| dpm-1e5x10 | published DPM code | 0.200 | – | – | 6.40 | 32.0 | 0.0120 | no |";
        assert!(page.text.contains(line), "{}", page.text);
        assert_eq!(powers(&rows, &[]).len(), 1, "nothing grows");
        rows.push(Row::new("dpm-1e7x10".to_owned(), of(10_000_000), 20.0, &beside));
        let sizes =
            [("dpm-1e5x10", 10.0), ("dpm-1e7x10", 1e3)].map(|(id, size)| (id.to_owned(), size));
        let grows = "other things".to_owned();
        let growth = Growth { work: "dpm again".to_owned(), grows, sizes: sizes.into() };
        let want = [
            ["dpm", "records", "1e5", "1e7", "1.0"],
            ["dpm again", "other things", "10", "1000", "1.0"],
        ];
        assert_eq!(powers(&rows, &[growth])[1..], want);
    }
}
