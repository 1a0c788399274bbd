//! What there is to run: cells with all their settings, before anything is measured.

use crate::error::Error;
use crate::eval::clustering::algorithms::{self, Algorithm};
use crate::eval::clustering::{published, references, studies};
use crate::eval::record::Record;
use crate::eval::settings::{Effort, Settings};
use crate::eval::suite::{Context, Plan};
use quietus_datasets::catalogue::Recipe;
use std::collections::BTreeMap;

/// The suite's name on the command line.
pub(super) const SUITE: &str = "dpm";

/// All cells of a data set: those of its table, then those of the studies that use it.
pub(super) fn of(recipe: &'static Recipe, context: &Context) -> Result<Plan, Error> {
    let settings = &context.settings;
    let cached = references::likely_cached(&settings.out, recipe.id);
    let mut cells = if studies::only(recipe) { Vec::new() } else { table(settings, recipe) };
    let references = if cells.is_empty() || cached { 0 } else { references::fits(settings.effort) };
    if settings.effort == Effort::Full {
        cells.extend(studies::cells(settings, recipe));
    }
    Ok(Plan {
        dataset: recipe.id.to_owned(),
        cells,
        units: units(recipe),
        warm_up_steps: references as u64,
        here: is_here(recipe, context)?,
    })
}

fn is_here(recipe: &Recipe, context: &Context) -> Result<bool, Error> {
    if recipe.is_generated() {
        return Ok(true);
    }
    let set = context.manifest.set(recipe.id)?;
    Ok(set.files.iter().all(|file| context.settings.datasets.join(&file.path).is_file()))
}

/// Every algorithm at the epsilon asked for, run by run.
fn table(settings: &Settings, recipe: &Recipe) -> Vec<Record> {
    let algorithms = algorithms::all();
    let mut cells = Vec::new();
    for run in 0..settings.runs {
        for algorithm in &algorithms {
            let mut cell = cell(settings, recipe, algorithm.as_ref(), settings.epsilon, run);
            let sample = settings.effort.silhouette_sample();
            cell.params.insert("references".to_owned(), settings.effort.references().into());
            cell.params.insert("silhouette_sample".to_owned(), sample.into());
            cells.push(cell);
        }
    }
    cells
}

/// One cell without measurements.
pub(super) fn cell(
    settings: &Settings,
    recipe: &Recipe,
    algorithm: &dyn Algorithm,
    epsilon: f64,
    run: u32,
) -> Record {
    // Published code has a budget that it claims, and no guarantee.
    let budgeted = algorithm.relation().is_some() || algorithm.claims_only();
    let epsilon = budgeted.then_some(epsilon);
    Record {
        suite: SUITE.to_owned(),
        dataset: recipe.id.to_owned(),
        n: recipe.n,
        d: recipe.d,
        algorithm: algorithm.id().to_owned(),
        variant: algorithm.variant().to_owned(),
        private: algorithm.relation().is_some(),
        relation: algorithm.relation().map(str::to_owned),
        epsilon,
        delta: budgeted.then(|| recipe.delta()),
        params: algorithm.params(recipe),
        run,
        seed: settings.seed,
        metrics: BTreeMap::new(),
        seconds: 0.0,
        peak_rss_mib: None,
        paper: paper_values(recipe.id, algorithm.id(), epsilon),
    }
}

fn paper_values(dataset: &str, algorithm: &str, epsilon: Option<f64>) -> BTreeMap<String, f64> {
    let names = ["accuracy", "inertia_squared", "kmeans_distance_normalised", "silhouette"];
    published::for_dataset(dataset)
        .filter(|row| row.is_of_the_paper() && row.algorithm == algorithm)
        .filter(|_| published::comparable(epsilon))
        .flat_map(|row| names.map(|name| row.metric(name).map(|(mean, _)| (name.to_owned(), mean))))
        .flatten()
        .collect()
}

/// Work of one fit, roughly; only ratios between data sets matter.
fn units(recipe: &Recipe) -> u64 {
    (recipe.n * recipe.d * recipe.k / 100_000).max(1) as u64
}

#[cfg(test)]
mod tests {
    use super::table;
    use crate::cli::EvalArgs;
    use crate::eval::record::Record;
    use crate::eval::settings::Settings;
    use quietus_datasets::catalogue::CLUSTERING;

    fn planned(epsilon: f64) -> Vec<Record> {
        let args = EvalArgs { quick: true, epsilon, seed: 3, ..EvalArgs::default() };
        table(&Settings::new(&args).unwrap(), &CLUSTERING[0])
    }

    #[test]
    fn runs_alternate_between_algorithms_and_carry_the_published_values() {
        let cells = planned(1.0);
        let half = cells.len() / 2;
        let names = |cells: &[Record]| -> Vec<String> {
            cells.iter().map(|cell| cell.algorithm.clone()).collect()
        };
        assert_eq!(names(&cells[..half]), names(&cells[half..]));
        assert!(cells[..half].iter().all(|cell| cell.run == 0), "run by run");
        let of = |name: &str| cells.iter().find(|cell| cell.algorithm == name).unwrap();
        let (baseline, dpm) = (of("kmeans++"), of("dpm"));
        assert_eq!(dpm.paper.get("inertia_squared"), Some(&1.8e7));
        assert_eq!((baseline.epsilon, dpm.epsilon), (None, Some(1.0)));
        assert!(dpm.delta.is_some_and(|delta| (delta - 3.162e-8).abs() < 1e-11));
    }

    #[test]
    fn another_epsilon_has_no_published_values() {
        let cells = planned(0.5);
        let of = |name: &str| cells.iter().find(|cell| cell.algorithm == name).unwrap();
        assert!(of("dpm").paper.is_empty() && !of("kmeans++").paper.is_empty());
    }
}
