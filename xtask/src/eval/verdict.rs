//! The first table of a report: in each family, which private method did best, and beside what.

use crate::eval::record::Record;
use crate::eval::summary::{datasets, rows, statistic};
use crate::report::number::{significant, tick};
use crate::report::page::Page;
use std::collections::{BTreeMap, BTreeSet};

/// What a family is judged by: the first of these that its records hold. The flag says whether less is better.
const MEASURES: [(&str, &str, bool); 5] = [
    ("cost_ratio", "cost", true),
    ("inertia_squared", "squared inertia", true),
    ("value_ratio", "value", false),
    ("l1_error_total", "error of all cells", true),
    ("recall", "recall", false),
];

/// The measure of one record by which its family is judged.
pub(crate) fn measure(record: &Record) -> Option<(&'static str, f64)> {
    MEASURES.iter().find_map(|(name, ..)| Some((*name, *record.metrics.get(*name)?)))
}

/// Methods that promise the same are compared: the relation, with the distance where there is one, and epsilon by its bits.
type Guarantee = (String, u64);

/// Of each method, its mean measure on each data set.
type Means = BTreeMap<String, BTreeMap<String, f64>>;

/// Writes the table, with what is looked for first: a phone shows four columns. A method counts if it ran on every data set of its family at that guarantee.
pub(crate) fn write<'a>(families: impl Iterator<Item = (&'a str, &'a [Record])>, page: &mut Page) {
    let lines: Vec<Vec<String>> =
        families.flat_map(|(name, records)| verdicts(name, records)).collect();
    if lines.is_empty() {
        return;
    }
    page.chapter("Verdict");
    page.paragraph(
        "Which private method was best: the geometric mean over the data sets of its ratio to what the same measure is without privacy (costs: less is \
         better; value and recall: more), or, where without privacy nothing is lost, of its error. The next best is in the same unit. \
         Methods are compared under one guarantee only; what did not run on all data sets is left out, and so are data sets on which nothing is lost without privacy.",
    );
    let headings =
        ["suite", "best", "ratio", "ε", "relation", "next", "ratio", "judged by", "data sets"];
    page.table(&headings, 2, &lines);
}

/// A constraint is part of what is asked, not of the method: it goes from the name of the one to that of the other.
fn by_task(record: &Record) -> Record {
    let mut record = record.clone();
    let constraint = record.params.get("constraint").and_then(|value| value.as_str());
    if let Some((task, rest)) =
        constraint.and_then(|task| Some((task, record.variant.strip_prefix(task)?)))
    {
        let rest = rest.trim_start_matches("; ");
        let variant = if rest.is_empty() { "default" } else { rest }.to_owned();
        record.dataset = format!("{}, {task}", record.dataset);
        record.variant = variant;
    }
    record
}

fn verdicts(family: &str, records: &[Record]) -> Vec<Vec<String>> {
    // Where nothing is lost without privacy, such as with fewer records than centres, a ratio says nothing.
    let lossless = |record: &&Record| {
        record.epsilon.is_none() && record.metrics.get("inertia_squared") == Some(&0.0)
    };
    let lossless: BTreeSet<_> = records.iter().filter(lossless).map(|one| &one.dataset).collect();
    let counted = records.iter().filter(|record| !lossless.contains(&record.dataset));
    let records: Vec<Record> = counted.map(by_task).collect();
    let records = records.as_slice();
    let holds = |metric: &str| records.iter().any(|record| record.metrics.contains_key(metric));
    let Some(&(metric, shown, less)) = MEASURES.iter().find(|measure| holds(measure.0)) else {
        return Vec::new();
    };
    let bases = without_privacy(records, metric, less);
    let line = |((relation, epsilon), means): (Guarantee, Means)| {
        let sets = means.values().map(BTreeMap::len).max().unwrap_or(0);
        let mut ranked: Vec<(String, f64)> = means
            .into_iter()
            .filter(|(_, by_set)| by_set.len() == sets)
            .filter_map(|(name, by_set)| Some((name, mean_ratio(&by_set, &bases)?)))
            .collect();
        ranked.sort_by(|a, b| if less { a.1.total_cmp(&b.1) } else { b.1.total_cmp(&a.1) });
        let place = |index: usize| match ranked.get(index) {
            Some((name, ratio)) => [name.clone(), significant(*ratio, 4)],
            None => ["–".to_owned(), "–".to_owned()],
        };
        let epsilon = tick((1e3 * f64::from_bits(epsilon)).round() / 1e3);
        let [[best, ratio], [next, its_ratio]] = [0, 1].map(place);
        let last = [next, its_ratio, shown.to_owned(), sets.to_string()];
        [family.to_owned(), best, ratio, epsilon, relation].into_iter().chain(last).collect()
    };
    by_guarantee(records, metric).into_iter().map(line).collect()
}

/// The best mean without privacy on each data set. What spends a budget and keeps no promise is neither, and a ratio is one to such a run already.
fn without_privacy(records: &[Record], metric: &str, less: bool) -> BTreeMap<String, f64> {
    let (mut found, is_ratio) = (BTreeMap::new(), metric.ends_with("_ratio"));
    for set in datasets(records) {
        let open =
            rows(records, set).into_iter().filter(|row| !row.private && row.epsilon.is_none());
        let means = open.filter_map(|row| Some(row.statistic(metric)?.mean));
        let best = if less { means.min_by(f64::total_cmp) } else { means.max_by(f64::total_cmp) };
        found.extend(
            best.filter(|best| *best > 0.0 && !is_ratio).map(|best| (set.to_owned(), best)),
        );
    }
    found
}

fn by_guarantee(records: &[Record], metric: &str) -> BTreeMap<Guarantee, Means> {
    let mut found: BTreeMap<Guarantee, Means> = BTreeMap::new();
    for set in datasets(records) {
        for row in rows(records, set).into_iter().filter(|row| row.private) {
            let Some((mean, epsilon)) =
                row.statistic(metric).map(|found| found.mean).zip(row.epsilon)
            else {
                continue;
            };
            let relation = row.first.as_ref().and_then(|first| first.relation.clone());
            let relation = match relation.unwrap_or_default() {
                within if within == "within" => format!("{within} {}", row.variant),
                other => other,
            };
            let methods = found.entry((relation, epsilon.to_bits())).or_default();
            methods.entry(row.name()).or_default().insert(set.to_owned(), mean);
        }
    }
    found
}

/// The geometric mean of ratios to the same without privacy, so that one data set cannot decide for all; a data set on which nothing without privacy ran counts with its measure as it is.
fn mean_ratio(by_set: &BTreeMap<String, f64>, bases: &BTreeMap<String, f64>) -> Option<f64> {
    let log = |(set, mean): (&String, &f64)| (mean / bases.get(set).copied().unwrap_or(1.0)).ln();
    Some(statistic(&by_set.iter().map(log).collect::<Vec<_>>())?.mean.exp())
}

#[cfg(test)]
mod tests {
    use super::{verdicts, write};
    use crate::eval::record::Record;
    use crate::eval::record::tests::example;
    use crate::report::page::Page;

    fn record(dataset: &str, algorithm: &str, cost: f64) -> Record {
        let mut record = example(dataset, algorithm, 0);
        record.private = algorithm != "kmeans++";
        record.epsilon = record.private.then_some(1.0);
        record.metrics.insert("inertia_squared".to_owned(), cost);
        record
    }

    #[test]
    fn the_best_on_all_data_sets_wins_and_is_compared_with_no_privacy() {
        let records = [
            record("a", "kmeans++", 10.0),
            record("a", "dpm", 11.0),
            record("a", "em-mc", 20.0),
            record("a", "lucky", 10.0),
            record("b", "kmeans++", 100.0),
            record("b", "dpm", 130.0),
            record("b", "em-mc", 120.0),
        ];
        let mut page = Page::default();
        write([("dpm", records.as_slice())].into_iter(), &mut page);
        let line = page.text.lines().find(|line| line.starts_with("| dpm |")).unwrap();
        let want = "| dpm | dpm | 1.196 | 1 | add-remove | em-mc | 1.549 | squared inertia | 2 |";
        assert_eq!(line, want);
        let free = [record("c", "kmeans++", 0.0), record("c", "dpm", 1e9)];
        let with = verdicts("dpm", &[records.as_slice(), &free].concat());
        assert_eq!(with, verdicts("dpm", &records), "a set on which nothing can be lost");
        let mut empty = Page::default();
        write([("dpm", [].as_slice())].into_iter(), &mut empty);
        assert!(empty.text.is_empty());
    }

    #[test]
    fn a_constraint_belongs_to_the_task() {
        let task = |algorithm: &str, constraint: &str, variant: &str, cost: f64| {
            let mut record = record("a", algorithm, cost);
            record.params.insert("constraint".to_owned(), constraint.into());
            record.variant = format!("{constraint}{variant}");
            record
        };
        let records = [
            task("kmeans++", "k=5", "", 10.0),
            task("kmeans++", "k=9", "", 5.0),
            task("dpm", "k=5", "", 11.0),
            task("dpm", "k=9", "", 6.5),
            task("dpm", "k=5", "; noisy", 20.0),
            task("dpm", "k=9", "; noisy", 10.0),
        ];
        let line = verdicts("submodular", &records).remove(0);
        assert_eq!([&line[1..3], &line[5..7]].concat(), ["dpm", "1.196", "dpm (noisy)", "2.000"]);
        let mut ratios = [records[0].clone(), records[2].clone()];
        for (record, ratio) in ratios.iter_mut().zip([1.25, 1.1]) {
            record.metrics.insert("cost_ratio".to_owned(), ratio);
        }
        assert_eq!(verdicts("local", &ratios).remove(0)[1..3], ["dpm", "1.100"]);
    }
}
