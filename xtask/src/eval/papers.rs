//! The second table of a report: each table, figure and theorem of the five papers under its number, beside what was measured.

use crate::eval::record::Record;
use crate::eval::summary::{Row, datasets, rows, statistic};
use crate::report::number::significant;
use crate::report::page::Page;

/// One table, figure or theorem.
struct Entry {
    number: &'static str,
    what: &'static str,
    suite: &'static str,
    beside: Beside,
    /// What shows it if this report does not.
    command: &'static str,
}

/// Where the published side comes from.
enum Beside {
    /// Published means that the records carry, for these data sets and metrics, at epsilon 1.
    Means(&'static [&'static str], &'static [&'static str]),
    /// Ours for each row that this takes, beside what the paper proves of it.
    Bound(fn(&Row, &[Row]) -> Option<[String; 2]>),
    /// A picture or a table of the suite's own chapter: the heading or caption that it goes by.
    Shown(&'static str),
    /// The paper gives no number; this says what we do about it.
    Remark(&'static str),
}

use Beside::{Bound, Means, Remark, Shown};

const DPM: &str = "cargo xtask eval dpm --datasets DIR";
const DPM_FULL: &str = "cargo xtask eval dpm --full --datasets DIR";
const CENSUS: &str = "cargo xtask eval census --full";
const QUALITY: &[&str] =
    &["inertia_squared", "accuracy", "silhouette", "kmeans_distance_normalised"];

#[rustfmt::skip]
static ENTRIES: [Entry; 19] = [
    Entry { number: "DPM, Table 2", what: "separate clusters: inertia / accuracy / silhouette / distance", suite: "dpm", command: DPM,
            beside: Means(&["synth-10d", "synth-100d", "mnist_emb40"], QUALITY) },
    Entry { number: "DPM, Table 3", what: "clusters that are not: the same", suite: "dpm", command: DPM,
            beside: Means(&["letter", "gas_turbine"], QUALITY) },
    Entry { number: "DPM, Figure 4", what: "running time", suite: "dpm", command: DPM, beside: Shown("Running time in seconds") },
    Entry { number: "DPM, Figure 5", what: "shares of the budget", suite: "dpm", command: DPM_FULL, beside: Shown("Budget shares of DPM") },
    Entry { number: "DPM, Figure 6", what: "centreness t and q", suite: "dpm", command: DPM_FULL, beside: Shown("Centreness of DPM") },
    Entry { number: "DPM, Theorem 1", what: "privacy", suite: "dpm", command: "cargo xtask audit --only dpm",
            beside: Remark("several steps do not hold as printed (docs/errata.md); the corrected form is audited") },
    Entry { number: "Distance, Figure 1", what: "cost over k at one ρ", suite: "distance", command: "cargo xtask eval distance --datasets DIR", beside: Shown("Figure 1") },
    Entry { number: "Distance, Figure 2", what: "cost over ρ at k = 8", suite: "distance", command: "cargo xtask eval distance --datasets DIR", beside: Shown("Figure 2") },
    Entry { number: "Stemmer and Kaplan, Table 1", what: "additive error by n, k, d", suite: "local", command: "cargo xtask eval local",
            beside: Remark("orders without constants; what is measured is the ratio to k-means of the chapter on clients") },
    Entry { number: "Individualized, Theorem 1.2", what: "submodular maximisation under a number k", suite: "submodular", command: "cargo xtask eval submodular", beside: Bound(greedy) },
    Entry { number: "Individualized, Theorem 1.3", what: "the same under a matroid", suite: "submodular", command: "cargo xtask eval submodular", beside: Shown("Partition matroids") },
    Entry { number: "Individualized, Theorem 1.4", what: "set cover", suite: "set-cover", command: "cargo xtask eval set-cover", beside: Bound(set_cover) },
    Entry { number: "Individualized, Theorem 1.5", what: "metric k-median and k-means", suite: "k-median", command: "cargo xtask eval k-median", beside: Bound(k_median) },
    Entry { number: "Individualized, Theorem 5.6", what: "smallest count: promised if active, or found", suite: "heavy-hitters", command: "cargo xtask eval heavy-hitters", beside: Bound(monitor) },
    Entry { number: "Census, Table 7", what: "errors of level 1 / 2 / 3 / violations", suite: "census", command: CENSUS,
            beside: Means(&["census-synthetic"], &["l1_error_level_1", "l1_error_level_2", "l1_error_level_3", "constraint_violations"]) },
    Entry { number: "Census, Figure 7", what: "run time over the number of sizes", suite: "census", command: CENSUS, beside: Shown("Run time against the number of sizes") },
    Entry { number: "Census, Figure 8", what: "run time over epsilon", suite: "census", command: CENSUS, beside: Shown("Seconds for a release") },
    Entry { number: "Census, Figure 9", what: "errors over epsilon", suite: "census", command: CENSUS, beside: Shown("Error over all levels") },
    Entry { number: "Census, chain mechanism", what: "privacy of its noise", suite: "census", command: "cargo xtask eval census",
            beside: Remark("does not hold with the noise of the paper: its rows are marked not private, with their true ε") },
];

/// Writes the table. `chapters` is the text of the report below, in which a picture is looked up by its caption.
pub(crate) fn write(records: &[Record], chapters: &str, page: &mut Page) {
    page.chapter("The papers by number");
    page.paragraph(
        "Published beside ours: means over runs. A ratio below 1 is better for errors, inertia and distances, above 1 for accuracy and silhouette. \
         A theorem says *at most*, often without its constant: what is measured stands in the unit of the theorem.",
    );
    let lines: Vec<Vec<String>> =
        ENTRIES.iter().flat_map(|entry| entry.lines(records, chapters)).collect();
    page.table(&["number", "where", "ours", "published", "ours / published", "what"], 2, &lines);
}

impl Entry {
    fn lines(&self, records: &[Record], chapters: &str) -> Vec<Vec<String>> {
        let own: Vec<Record> =
            records.iter().filter(|record| record.suite == self.suite).cloned().collect();
        let line = |place: String, [published, ours, ratio]: [String; 3]| {
            vec![self.number.to_owned(), place, ours, published, ratio, self.what.to_owned()]
        };
        let none = || ["–", "–", "–"].map(str::to_owned);
        let found: Vec<Vec<String>> = match self.beside {
            Means(sets, metrics) => means(&own, sets, metrics)
                .into_iter()
                .map(|(place, values)| line(place, values))
                .collect(),
            Bound(bound) => bounds(&own, bound)
                .into_iter()
                .map(|(place, [claimed, measured])| {
                    line(place, [claimed, measured, "–".to_owned()])
                })
                .collect(),
            Shown(caption) if !own.is_empty() && chapters.contains(caption) => {
                vec![line(format!("“{caption}” below"), none())]
            }
            Shown(_) => Vec::new(),
            Remark(remark) => vec![line(remark.to_owned(), none())],
        };
        if found.is_empty() {
            return vec![line(format!("not in this report: `{}`", self.command), none())];
        }
        found
    }
}

/// Of each cell with published means: where, published, ours, ratio.
fn means(records: &[Record], sets: &[&str], metrics: &[&str]) -> Vec<(String, [String; 3])> {
    let mut found = Vec::new();
    for set in datasets(records).into_iter().filter(|set| sets.contains(set)) {
        for row in rows(records, set)
            .iter()
            .filter(|row| row.epsilon.is_none_or(|e| (e - 1.0).abs() < 1e-12))
        {
            let Some(first) = &row.first else { continue };
            let mut shown = [const { Vec::new() }; 3];
            for &metric in metrics {
                let both = first.paper.get(metric).copied().zip(row.statistic(metric));
                let ratio = both.filter(|(published, _)| *published != 0.0);
                let digits = |value: Option<f64>| {
                    value.map_or("–".to_owned(), |value| significant(value, 3))
                };
                shown[0].push(digits(both.map(|(published, _)| published)));
                shown[1].push(digits(both.map(|(_, ours)| ours.mean)));
                shown[2].push(digits(ratio.map(|(published, ours)| ours.mean / published)));
            }
            if shown[0].iter().any(|value| value != "–") {
                let place = format!("{set}, {}", row.name());
                found.push((place, shown.map(|values| values.join(" / "))));
            }
        }
    }
    found
}

/// Of each private row at epsilon 1 that the bound is about: where, what is claimed, what was measured.
fn bounds(
    records: &[Record],
    bound: fn(&Row, &[Row]) -> Option<[String; 2]>,
) -> Vec<(String, [String; 2])> {
    let mut found = Vec::new();
    for set in datasets(records) {
        let all = rows(records, set);
        let at_one =
            |row: &&Row| row.private && row.epsilon.is_some_and(|e| (e - 1.0).abs() < 1e-12);
        for row in all.iter().filter(at_one) {
            if let Some(values) = bound(row, &all) {
                found.push((format!("{set}, {}", row.name()), values));
            }
        }
    }
    found
}

/// The error is that of greedy without privacy and `k ln(m) / ε` times a constant.
fn greedy(row: &Row, all: &[Row]) -> Option<[String; 2]> {
    let k: f64 = row.variant.strip_prefix("k=")?.parse().ok()?;
    if row.algorithm != "pure-greedy" {
        return None;
    }
    let exact =
        all.iter().find(|other| other.algorithm == "greedy" && other.variant == row.variant)?;
    let lost = exact.statistic("value")?.mean - row.statistic("value")?.mean;
    let unit = k * (row.d as f64).ln() / row.epsilon?;
    Some([
        format!("O(1) · k ln(m)/ε = O(1) · {} lost", significant(unit, 3)),
        format!("{} lost, {} of it", significant(lost, 3), significant(lost / unit, 2)),
    ])
}

/// A factor of `ln n + ln(m) / ε` times a constant.
fn set_cover(row: &Row, _: &[Row]) -> Option<[String; 2]> {
    if row.algorithm != "set-cover-greedy-scaling" && row.name() != "set-cover-select" {
        return None;
    }
    let unit = (row.n as f64).ln() + (row.d as f64).ln() / row.epsilon?;
    let ratio = row.statistic("cost_ratio")?.mean;
    Some([
        format!("O(1) · {} times the best cover", significant(unit, 3)),
        format!("{} times that of greedy", significant(ratio, 3)),
    ])
}

/// A constant factor, and an error of `k ln(m n) / ε` times a constant and the diameter.
fn k_median(row: &Row, _: &[Row]) -> Option<[String; 2]> {
    let ours = [
        "metric-clustering",
        "metric-histogram",
        "metric-bicriteria",
        "metric-bicriteria-as-published",
    ];
    if row.variant != "default" || !ours.contains(&row.algorithm.as_str()) {
        return None;
    }
    let k = row.first.as_ref()?.params.get("k")?.as_f64()?;
    let unit = k * ((row.d * row.n) as f64).ln() / row.epsilon?;
    let ratio = row.statistic("cost_ratio")?.mean;
    Some([
        format!("O(1) times the best, and O(1) · {} users' cost", significant(unit, 3)),
        format!("{} times the best found", significant(ratio, 4)),
    ])
}

/// `2000 k ln(T |Y| / β) / ε`, constant and all, for β = .05. Beside it what is promised to items whose users are active, and from where on all items were found, those
/// of users who are used up among them.
fn monitor(row: &Row, _: &[Row]) -> Option<[String; 2]> {
    let params = &row.first.as_ref()?.params;
    let number = |name: &str| params.get(name)?.as_f64();
    if row.algorithm != "thresh-monitor" || row.variant.contains(',') {
        return None;
    }
    let (k, steps, items) = (number("k")?, number("steps")?, number("items")?);
    let claimed = 2000.0 * k * (steps * items / 0.05).ln() / row.epsilon?;
    let promised = statistic(row.values.get("smallest_count_promised")?)?.mean;
    let found = row.statistic("smallest_count_found")?.mean;
    Some([
        significant(claimed, 3),
        format!("promised {}, found {}", significant(promised, 3), significant(found, 3)),
    ])
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::eval::record::tests::example;
    use serde_json::json;
    use std::collections::{BTreeMap, BTreeSet};

    #[test]
    fn every_number_stands_there_also_when_nothing_was_run() {
        let mut page = Page::default();
        write(&[], "", &mut page);
        for entry in &ENTRIES {
            assert!(page.text.contains(&format!("| {} |", entry.number)), "{}", entry.number);
        }
        let numbers: BTreeSet<_> = ENTRIES.iter().map(|entry| entry.number).collect();
        assert_eq!(numbers.len(), ENTRIES.len());
        let known: BTreeSet<_> = crate::eval::suite::all().iter().map(|suite| suite.id()).collect();
        assert!(ENTRIES.iter().all(|entry| known.contains(entry.suite)));
    }

    #[test]
    fn published_means_stand_beside_ours() {
        let mut record = example("synth-10d", "dpm", 0);
        record.paper = BTreeMap::from([("inertia_squared".to_owned(), 1.3e7)]);
        let lines = ENTRIES[0].lines(&[record], "");
        assert_eq!(lines.len(), 1);
        let want =
            ["synth-10d, dpm", "2.50e6 / – / – / –", "1.30e7 / – / – / –", "0.192 / – / – / –"];
        assert_eq!(lines[0][1..5], want);
    }

    #[test]
    fn the_monitor_stands_beside_the_constant_of_its_theorem() {
        let mut record = example("zipf-drift", "thresh-monitor", 0);
        record.suite = "heavy-hitters".to_owned();
        record.variant = "k=4".to_owned();
        for (name, value) in [("k", 4), ("steps", 100), ("items", 65536)] {
            record.params.insert(name.to_owned(), json!(value));
        }
        for (name, value) in [("smallest_count_promised", 110.0), ("smallest_count_found", 100.0)] {
            record.metrics.insert(name.to_owned(), value);
        }
        let entry = ENTRIES.iter().find(|entry| entry.number.ends_with("5.6")).expect("is there");
        // 2000 * 4 * ln(100 * 65536 / .05) = 1.495e5.
        let lines = entry.lines(&[record], "");
        assert_eq!(lines[0][2..4], ["promised 110, found 100", "1.50e5"]);
    }
}
