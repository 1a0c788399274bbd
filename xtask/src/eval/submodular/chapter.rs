//! The suite's chapter of the report.

use crate::error::Error;
use crate::eval::record::Record;
use crate::eval::settings::Settings;
use crate::eval::submodular::methods::{DELTA, MAIN, METHODS};
use crate::eval::summary::{self, Row, shown, statistic};
use crate::report::page::Page;
use crate::report::plot::lines::{Labels, Series, draw};
use quietus_datasets::sets::submodular as data;
use std::collections::BTreeMap;

const INTRODUCTION: &str = "\
Choose a few public elements that serve as many private users as possible. Values are over that of greedy \
without privacy under the same constraint; means over runs ± standard deviation.

- `pure-greedy`: one secret sample, permute-and-flip; `exponential`, `noisy max` (which also releases \
noisy gains): other rules; `published constant`: the exponential mechanism at ln 2 on the same sample.
- `composition-greedy`: every pick pays for itself, permute-and-flip at epsilon / k; `factor 2`: as if \
gains were not monotone; `zero-concentrated` and `advanced, factor 2`: approximate composition.
- `approximate-greedy`: all picks for one price under approximate privacy, with our tail bound or the \
published constant.
- `pure-continuous-greedy`: steps over the multilinear extension, then swap rounding.
- `random` looks at nobody.
- `coverage-NxM`: N users of M sets, of forty latent types with Zipf tastes, ten sets each. `retail`, \
`movielens_small`, `mushroom` (without the item that is in every row): coverage. `uber_apr14_part`: sites \
on a public grid, as facility location beyond a default in the middle.";

pub(super) fn write(records: &[Record], settings: &Settings, page: &mut Page) -> Result<(), Error> {
    page.chapter("Submodular maximisation");
    page.paragraph(INTRODUCTION);
    let generated = |id: &str| data::source(id).is_ok_and(data::Source::is_generated);
    grid(records, &generated, page)?;
    instances(records, settings, &generated, page);
    for id in summary::datasets(records).into_iter().filter(|id| !generated(id)) {
        real(records, id, page)?;
    }
    blocks(records, page);
    Ok(())
}

/// Whether the constraint is a number of elements.
fn is_plain(record: &Record) -> bool {
    record.variant.starts_with("k=")
}

/// The algorithm with the variant of it, without the constraint.
fn name(record: &Record) -> String {
    match record.variant.split_once("; ") {
        Some((_, variant)) => format!("{} ({variant})", record.algorithm),
        None => record.algorithm.clone(),
    }
}

/// Ratios by algorithm and epsilon, one value per instance, k and run.
type Means = BTreeMap<String, BTreeMap<u64, Vec<f64>>>;

fn means<'a>(records: impl Iterator<Item = &'a Record>) -> Means {
    let mut means = Means::new();
    for record in records {
        let (Some(epsilon), Some(ratio)) = (record.epsilon, record.metrics.get("value_ratio"))
        else {
            continue;
        };
        // Positive numbers are in the order of their bits.
        let values = means.entry(name(record)).or_default().entry(epsilon.to_bits()).or_default();
        values.push(*ratio);
    }
    means
}

fn series(means: &Means) -> Vec<Series> {
    let main = METHODS[..MAIN].iter().filter(|method| method.has_epsilon());
    main.filter_map(|method| {
        let by_epsilon = means.get(method.algorithm)?;
        let place = |(bits, values): (&u64, &Vec<f64>)| {
            Some(statistic(values)?.place(f64::from_bits(*bits)))
        };
        let places = by_epsilon.iter().filter_map(place).collect();
        Some(Series { name: method.algorithm.to_owned(), places })
    })
    .collect()
}

fn means_table(means: &Means, page: &mut Page) {
    let mut epsilons: Vec<u64> = means.values().flat_map(BTreeMap::keys).copied().collect();
    epsilons.sort_unstable();
    epsilons.dedup();
    let shown = |values: Option<&Vec<f64>>| shown(values.and_then(|values| statistic(values)));
    let lines: Vec<Vec<String>> = means
        .iter()
        .map(|(name, by_epsilon)| {
            let ratios = epsilons.iter().map(|epsilon| shown(by_epsilon.get(epsilon)));
            std::iter::once(name.clone()).chain(ratios).collect()
        })
        .collect();
    let columns: Vec<String> =
        epsilons.iter().map(|bits| format!("ε {}", f64::from_bits(*bits))).collect();
    let headings: Vec<&str> =
        std::iter::once("algorithm").chain(columns.iter().map(String::as_str)).collect();
    page.table(&headings, 1, &lines);
}

fn curves(means: &Means, name: &str, title: &str, page: &mut Page) -> Result<(), Error> {
    let series = series(means);
    if series.iter().any(|one| one.places.len() > 1) {
        let labels = Labels { title, x: "epsilon", x_log: true, y_log: false };
        page.figure(name, title, draw(labels, &series)?);
        page.gap();
    }
    Ok(())
}

fn grid(
    records: &[Record],
    generated: &dyn Fn(&str) -> bool,
    page: &mut Page,
) -> Result<(), Error> {
    let of_grid = || records.iter().filter(|r| generated(&r.dataset) && is_plain(r));
    let mut cells: Vec<(&str, &str)> = of_grid()
        .map(|r| (r.dataset.as_str(), r.variant.split(';').next().unwrap_or("")))
        .collect();
    cells.sort_unstable();
    cells.dedup();
    page.section("The grid");
    page.paragraph(&format!(
        "Value over that of greedy, mean over {} pairs of a generated instance and k, all of the same \
         weight; ± is the spread over pairs and runs. Approximate methods have delta {DELTA:e}.",
        cells.len()
    ));
    let means = means(of_grid());
    means_table(&means, page);
    curves(&means, "submodular-grid", "Value over greedy, generated instances", page)
}

/// One line per generated instance and k at the epsilon asked for.
fn instances(
    records: &[Record],
    settings: &Settings,
    generated: &dyn Fn(&str) -> bool,
    page: &mut Page,
) {
    page.section("Instance by instance");
    page.paragraph(&format!("Value over that of greedy at epsilon {}.", settings.epsilon));
    let main: Vec<&str> = METHODS[1..MAIN].iter().map(|method| method.algorithm).collect();
    let mut lines = Vec::new();
    for id in summary::datasets(records).into_iter().filter(|id| generated(id)) {
        let rows = summary::rows(records, id);
        let mut ks: Vec<&str> = Vec::new();
        for row in rows.iter().filter(|row| row.variant.starts_with("k=")) {
            let k = row.variant.as_str();
            if !k.contains(';') && !ks.contains(&k) {
                ks.push(k);
            }
        }
        for k in ks {
            let of = |algorithm: &str| {
                let here = |row: &&Row| {
                    let at = row.epsilon.is_none_or(|e| e.to_bits() == settings.epsilon.to_bits());
                    row.algorithm == algorithm && row.variant == k && at
                };
                rows.iter().find(here)
            };
            let ratio = |algorithm: &&str| {
                shown(of(algorithm).and_then(|row| row.statistic("value_ratio")))
            };
            let seconds = shown(of("pure-greedy").and_then(|row| row.statistic("seconds")));
            let fixed = [id.to_owned(), k.to_owned()];
            lines.push(fixed.into_iter().chain(main.iter().map(ratio)).chain([seconds]).collect());
        }
    }
    let headings: Vec<&str> = ["instance", "k"]
        .into_iter()
        .chain(main.iter().copied())
        .chain(["seconds of pure-greedy"])
        .collect();
    page.table(&headings, 2, &lines);
}

fn real(records: &[Record], id: &str, page: &mut Page) -> Result<(), Error> {
    let source = data::source(id)?;
    page.section(id);
    page.paragraph(&format!("{} users, {} elements.", source.users, source.elements));
    let rows = summary::rows(records, id);
    for k in source.ks {
        let constraint = format!("k={k}");
        let here = |r: &&Record| {
            r.dataset == id && r.variant.split(';').next() == Some(constraint.as_str())
        };
        let means = means(records.iter().filter(here));
        let random = rows.iter().find(|r| r.algorithm == "random" && r.variant == constraint);
        let random = random.and_then(|row| row.statistic("value_ratio"));
        page.paragraph(&format!(
            "{constraint}: random has {}. {}",
            shown(random),
            crossing(&means)
        ));
        means_table(&means, page);
        let title = format!("Value over greedy, {id}, {constraint}");
        curves(&means, &format!("submodular-{id}-{k}"), &title, page)?;
    }
    Ok(())
}

/// Where the approximate form does better than the pure one.
fn crossing(means: &Means) -> String {
    let (Some(pure), Some(approximate)) =
        (means.get("pure-greedy"), means.get("approximate-greedy"))
    else {
        return String::new();
    };
    let mean = |values: &Vec<f64>| statistic(values).map_or(f64::NAN, |found| found.mean);
    let better: Vec<String> = pure
        .iter()
        .filter(|(bits, values)| approximate.get(bits).is_some_and(|a| mean(a) > mean(values)))
        .map(|(bits, _)| f64::from_bits(*bits).to_string())
        .collect();
    match better.as_slice() {
        [] => "The approximate form is nowhere better than the pure one here.".to_owned(),
        some => format!("The approximate form is better at epsilon {}.", some.join(", ")),
    }
}

fn blocks(records: &[Record], page: &mut Page) {
    page.section("Partition matroids");
    page.paragraph(
        "Elements in blocks, so many of each: greedy, continuous greedy in several steps, and the best of \
         eight roundings by a private choice.",
    );
    let mut lines = Vec::new();
    for id in summary::datasets(records) {
        let rows = summary::rows(records, id);
        for row in rows.iter().filter(|row| row.private && row.variant.contains("blocks")) {
            let ratio = row.shown("value_ratio");
            lines.push(vec![id.to_owned(), row.label(), row.runs.to_string(), ratio]);
        }
    }
    page.table(&["instance", "algorithm", "runs", "value / greedy"], 2, &lines);
}

/// The closing table on the terminal.
pub(super) fn summary(records: &[Record]) -> Vec<Vec<String>> {
    let headings = ["algorithm", "epsilon", "values", "value / greedy, all instances"];
    let mut found = vec![headings.map(str::to_owned).to_vec()];
    for (name, by_epsilon) in means(records.iter().filter(|record| is_plain(record))) {
        for (bits, values) in by_epsilon {
            let epsilon = f64::from_bits(bits).to_string();
            let ratio = shown(statistic(&values));
            found.push(vec![name.clone(), epsilon, values.len().to_string(), ratio]);
        }
    }
    found
}
