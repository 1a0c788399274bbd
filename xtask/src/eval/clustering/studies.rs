//! What `--full` looks at beside the tables: curves over epsilon, the number of points and the
//! dimension, and DPM's settings (Figures 5 and 6 of the DPM paper).

use crate::error::Error;
use crate::eval::clustering::algorithms::{self, Algorithm, Private, dpm};
use crate::eval::clustering::plan;
use crate::eval::record::Record;
use crate::eval::settings::Settings;
use crate::eval::summary::{self, Row, Statistic};
use crate::report::page::Page;
use crate::report::plot::lines::{self, Labels, Place, Series};
use dp_cluster::dpm::{BudgetSplit, CutWeights};
use quietus_datasets::catalogue::{OVER_D, OVER_N, Recipe};

/// The parameter that marks a cell as part of a study.
pub(super) const PARAM: &str = "study";

/// Runs of one setting, at most: a curve averages over its neighbours too.
const MOST_RUNS: u32 = 5;

const EPSILONS: [f64; 7] = [0.1, 0.2, 0.3, 1.0, 3.0, 5.0, 10.0];
const EPSILON_SETS: [&str; 4] = ["synth-10d", "synth-100d", "letter", "mnist_emb40"];
const SHARES_SET: &str = "mnist_emb40";
const COUNTS: [f64; 4] = [0.05, 0.1, 0.2, 0.4];
const CUTS: [f64; 4] = [0.02, 0.05, 0.1, 0.25];
const CENTRENESS_SET: &str = "synth-10d";
const T: [f64; 5] = [0.2, 0.3, 0.5, 0.7, 0.9];
const Q: [f64; 4] = [0.02, 0.05, 1.0 / 12.0, 0.1];

/// Whether a data set is there for a study alone.
pub(super) fn only(recipe: &Recipe) -> bool {
    OVER_N.iter().chain(&OVER_D).any(|other| other.id == recipe.id)
}

/// DPM with other budget shares and other centreness.
pub(super) fn variants() -> Vec<Box<dyn Algorithm>> {
    let shares = shares().into_iter().map(|(_, _, algorithm)| algorithm);
    let centreness = centreness().into_iter().map(|(_, _, algorithm)| algorithm);
    shares.chain(centreness).map(|one| Box::new(one) as Box<dyn Algorithm>).collect()
}

/// Share of counts, share of cuts, the algorithm; sums get the rest.
fn shares() -> Vec<(f64, f64, Private)> {
    let pairs = COUNTS.into_iter().flat_map(|counts| CUTS.map(|cuts| (counts, cuts)));
    let made = |(counts, cuts): (f64, f64)| {
        let sums = 1.0 - counts - cuts;
        let split = BudgetSplit::Zcdp { interval: 0.01, counts, cuts, sums };
        let variant = format!("counts {counts}, cuts {cuts}");
        (counts, cuts, dpm(&variant, split, CutWeights::default()))
    };
    pairs.map(made).collect()
}

/// t, q, the algorithm.
fn centreness() -> Vec<(f64, f64, Private)> {
    let pairs = T.into_iter().flat_map(|t| Q.map(|q| (t, q)));
    let made = |(t, q): (f64, f64)| {
        let weights = CutWeights { t, q, ..CutWeights::default() };
        (t, q, dpm(&format!("t {t}, q {q:.3}"), BudgetSplit::default(), weights))
    };
    pairs.filter(|(t, q)| *t >= 2.0 * q).map(made).collect()
}

/// The cells of all studies on this data set.
pub(super) fn cells(settings: &Settings, recipe: &Recipe) -> Vec<Record> {
    let runs = settings.runs.min(MOST_RUNS);
    let mut cells = Vec::new();
    let mut add = |study: &str, epsilon: f64, algorithm: &dyn Algorithm| {
        for run in 0..runs {
            let mut cell = plan::cell(settings, recipe, algorithm, epsilon, run);
            cell.params.insert(PARAM.to_owned(), study.into());
            cell.paper.clear();
            cells.push(cell);
        }
    };
    let private = || algorithms::all().into_iter().filter(|one| one.relation().is_some());
    if EPSILON_SETS.contains(&recipe.id) {
        // The epsilon of the tables is there already.
        let others = EPSILONS.into_iter().filter(|&epsilon| !same(epsilon, settings.epsilon));
        for epsilon in others {
            private().for_each(|algorithm| add("epsilon", epsilon, algorithm.as_ref()));
        }
    }
    for (study, recipes) in [("n", &OVER_N), ("d", &OVER_D)] {
        if recipes.iter().any(|other| other.id == recipe.id) {
            let all = algorithms::all().into_iter().filter(|one| !one.claims_only());
            all.for_each(|algorithm| add(study, settings.epsilon, algorithm.as_ref()));
        }
    }
    if recipe.id == SHARES_SET {
        for (_, _, one) in &shares() {
            add("shares", settings.epsilon, one);
        }
    }
    if recipe.id == CENTRENESS_SET {
        for (_, _, one) in &centreness() {
            add("centreness", settings.epsilon, one);
        }
    }
    cells
}

/// Settings are compared, never computed with.
fn same(a: f64, b: f64) -> bool {
    a.to_bits() == b.to_bits()
}

/// Whether a record belongs to a table and not to a study.
pub(super) fn of_table(record: &Record) -> bool {
    !record.params.contains_key(PARAM)
}

/// The figures of all studies that have cells.
pub(super) fn report(
    records: &[Record],
    settings: &Settings,
    page: &mut Page,
) -> Result<(), Error> {
    if records.iter().all(of_table) {
        return Ok(());
    }
    page.section("Over epsilon");
    page.paragraph(
        "Squared inertia as a multiple of the non-private k-means++ of the same data set; bands \
         are one standard deviation.",
    );
    for id in EPSILON_SETS {
        let rows = summary::rows(records, id);
        let Some(baseline) = baseline(&rows) else { continue };
        let series = curves(&rows, |row| row.variant == "default", |row| row.epsilon, baseline);
        figure(page, &format!("over-epsilon-{id}"), id, "epsilon", (true, true), &series)?;
    }
    page.gap();
    over_size(records, settings, page)?;
    let rows = summary::rows(records, SHARES_SET);
    if let Some(baseline) = baseline(&rows) {
        page.section("Budget shares of DPM");
        page.paragraph(&format!(
            "On {SHARES_SET}, what counts and cuts get of the budget; sums get the rest. Squared \
             inertia as a multiple of k-means++ (compare Figure 5 of the DPM paper)."
        ));
        let all = shares();
        let series = grid(&rows, &all, baseline, |counts| format!("counts {counts}"));
        figure(page, "shares", "Budget shares", "share of cuts", (true, true), &series)?;
        page.gap();
    }
    let rows = summary::rows(records, CENTRENESS_SET);
    if let Some(baseline) = baseline(&rows) {
        page.section("Centreness of DPM");
        page.paragraph(&format!(
            "On {CENTRENESS_SET}, the two parameters of centreness (compare Figure 6 of the DPM \
             paper)."
        ));
        let all = centreness();
        let swapped: Vec<_> = all.into_iter().map(|(t, q, one)| (q, t, one)).collect();
        let series = grid(&rows, &swapped, baseline, |q| format!("q {q:.3}"));
        figure(page, "centreness", "Centreness", "t", (false, true), &series)?;
        page.gap();
    }
    Ok(())
}

/// Inertia and time over the number of points and over the dimension.
fn over_size(records: &[Record], settings: &Settings, page: &mut Page) -> Result<(), Error> {
    for (name, title, all, main) in [
        ("n", "Over the number of points", &OVER_N, ["synth-10d"].as_slice()),
        ("d", "Over the dimension", &OVER_D, &["synth-10d", "synth-100d"]),
    ] {
        let ids = main.iter().copied().chain(all.iter().map(|recipe| recipe.id));
        let mut rows: Vec<Row> = ids.flat_map(|id| summary::rows(records, id)).collect();
        rows.retain(|row| {
            let asked = |epsilon: f64| same(epsilon, settings.epsilon);
            // Published code is not tried at other sizes.
            let ours = row.private || row.epsilon.is_none();
            ours && row.variant == "default" && row.epsilon.is_none_or(asked)
        });
        let size = |row: &Row| if name == "n" { row.n } else { row.d } as f64;
        rows.sort_by(|a, b| size(a).total_cmp(&size(b)));
        if rows.iter().map(size).min_by(f64::total_cmp)
            == rows.iter().map(size).max_by(f64::total_cmp)
        {
            continue;
        }
        page.section(title);
        page.paragraph("Generated blobs, 64 clusters.");
        for (metric, what) in [("inertia_squared", "Squared inertia"), ("seconds", "Seconds")] {
            let series = by_algorithm(&rows, |row| {
                let Statistic { mean, sd } = row.statistic(metric)?;
                let sd = sd.unwrap_or(0.0);
                Some(Place { x: size(row), mean, low: mean - sd, high: mean + sd })
            });
            figure(page, &format!("over-{name}-{metric}"), what, name, (true, true), &series)?;
        }
        page.gap();
    }
    Ok(())
}

/// Mean squared inertia of what is not private.
fn baseline(rows: &[Row]) -> Option<f64> {
    let exact = rows.iter().find(|row| row.algorithm == "kmeans++")?;
    exact.statistic("inertia_squared").map(|found| found.mean)
}

/// One curve per algorithm, of inertia ratios over `x`.
fn curves(
    rows: &[Row],
    wanted: impl Fn(&Row) -> bool,
    x: impl Fn(&Row) -> Option<f64>,
    baseline: f64,
) -> Vec<Series> {
    let mut rows: Vec<Row> =
        rows.iter().filter(|row| row.private && wanted(row)).cloned().collect();
    rows.sort_by(|a, b| x(a).unwrap_or(0.0).total_cmp(&x(b).unwrap_or(0.0)));
    by_algorithm(&rows, |row| ratio(row, x(row)?, baseline))
}

fn ratio(row: &Row, x: f64, baseline: f64) -> Option<Place> {
    let Statistic { mean, sd } = row.statistic("inertia_squared")?;
    let (mean, sd) = (mean / baseline, sd.unwrap_or(0.0) / baseline);
    Some(Place { x, mean, low: mean - sd, high: mean + sd })
}

fn by_algorithm(rows: &[Row], place: impl Fn(&Row) -> Option<Place>) -> Vec<Series> {
    let mut series: Vec<Series> = Vec::new();
    for row in rows {
        let Some(found) = place(row) else { continue };
        match series.iter_mut().find(|one| one.name == row.algorithm) {
            Some(one) => one.places.push(found),
            None => series.push(Series { name: row.algorithm.clone(), places: vec![found] }),
        }
    }
    series
}

/// One curve per first setting over the second one.
fn grid(
    rows: &[Row],
    settings: &[(f64, f64, Private)],
    baseline: f64,
    name: impl Fn(f64) -> String,
) -> Vec<Series> {
    let mut series: Vec<Series> = Vec::new();
    for (of, x, algorithm) in settings {
        let mine = |row: &&Row| row.variant == algorithm.variant();
        let Some(place) = rows.iter().find(mine).and_then(|row| ratio(row, *x, baseline)) else {
            continue;
        };
        let name = name(*of);
        match series.iter_mut().find(|one| one.name == name) {
            Some(one) => one.places.push(place),
            None => series.push(Series { name, places: vec![place] }),
        }
    }
    series
}

fn figure(
    page: &mut Page,
    name: &str,
    title: &str,
    x: &str,
    (x_log, y_log): (bool, bool),
    series: &[Series],
) -> Result<(), Error> {
    if !series.is_empty() {
        let svg = lines::draw(Labels { title, x, x_log, y_log }, series)?;
        page.figure(name, &format!("{title} over {x}"), svg);
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::{cells, centreness, only, report, shares, variants};
    use crate::cli::EvalArgs;
    use crate::eval::record::Record;
    use crate::eval::settings::Settings;
    use crate::report::page::Page;
    use quietus_datasets::catalogue::{CLUSTERING, OVER_N};
    use std::collections::BTreeSet;

    fn settings() -> Settings {
        let args = EvalArgs { full: true, epsilon: 1.0, seed: 1, ..EvalArgs::default() };
        Settings::new(&args).unwrap()
    }

    #[test]
    fn every_variant_has_a_name_of_its_own() {
        let names: BTreeSet<String> =
            variants().iter().map(|one| one.variant().to_owned()).collect();
        assert_eq!(names.len(), shares().len() + centreness().len());
    }

    #[test]
    fn a_study_makes_cells_that_no_table_has_and_figures_of_them() {
        let settings = settings();
        let planned = cells(&settings, &CLUSTERING[0]);
        assert!(planned.iter().all(|cell| cell.params.contains_key("study")));
        assert!(planned.iter().all(|cell| cell.epsilon != Some(1.0) || cell.variant != "default"));
        let keys: BTreeSet<_> = planned.iter().map(Record::key).collect();
        assert_eq!(keys.len(), planned.len());
        assert!(only(&OVER_N[0]) && !only(&CLUSTERING[0]));

        let mut records: Vec<Record> =
            planned.into_iter().chain(cells(&settings, &OVER_N[0])).collect();
        for record in &mut records {
            let inertia = 1e6 * (1.0 + f64::from(record.run));
            record.metrics.insert("inertia_squared".to_owned(), inertia);
            record.seconds = 0.1;
        }
        let mut exact = crate::eval::record::tests::example("synth-10d", "kmeans++", 0);
        exact.params.clear();
        records.push(exact);
        let mut page = Page::default();
        report(&records, &settings, &mut page).unwrap();
        let plots: Vec<&str> = page.plots.keys().map(String::as_str).collect();
        assert_eq!(
            plots,
            [
                "plots/centreness.svg",
                "plots/over-epsilon-synth-10d.svg",
                "plots/over-n-inertia_squared.svg",
                "plots/over-n-seconds.svg",
            ]
        );
    }
}
