//! What there is to run: cells with all their settings, before anything is measured.

use crate::data::catalogue::Recipe;
use crate::error::Error;
use crate::eval::clustering::algorithms::{self, Algorithm};
use crate::eval::clustering::{published, references};
use crate::eval::record::Record;
use crate::eval::settings::Settings;
use crate::eval::suite::{Context, Plan};
use std::collections::BTreeMap;

/// The suite's name on the command line.
pub(super) const SUITE: &str = "dpm";

/// All cells of a data set.
pub(super) fn of(recipe: &Recipe, context: &Context) -> Result<Plan, Error> {
    let settings = &context.settings;
    let cached = references::likely_cached(&settings.out, recipe.id);
    Ok(Plan {
        dataset: recipe.id.to_owned(),
        cells: cells(settings, recipe, &algorithms::all()),
        units: units(recipe),
        warm_up_steps: if cached { 0 } else { references::fits(settings.effort) as u64 },
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

fn cells(settings: &Settings, recipe: &Recipe, algorithms: &[Box<dyn Algorithm>]) -> Vec<Record> {
    let cell = |run: u32, algorithm: &dyn Algorithm| {
        let private = algorithm.relation().is_some();
        let epsilon = private.then_some(settings.epsilon);
        let mut params = algorithm.params(recipe);
        params.insert("references".to_owned(), settings.effort.references().into());
        params.insert("silhouette_sample".to_owned(), settings.effort.silhouette_sample().into());
        Record {
            suite: SUITE.to_owned(),
            dataset: recipe.id.to_owned(),
            n: recipe.n,
            d: recipe.d,
            algorithm: algorithm.id().to_owned(),
            variant: algorithm.variant().to_owned(),
            private,
            relation: algorithm.relation().map(str::to_owned),
            epsilon,
            delta: private.then(|| recipe.delta()),
            params,
            run,
            seed: settings.seed,
            metrics: BTreeMap::new(),
            seconds: 0.0,
            peak_rss_mib: None,
            paper: paper_values(recipe.id, algorithm.id(), epsilon),
        }
    };
    (0..settings.runs)
        .flat_map(|run| algorithms.iter().map(move |algorithm| (run, algorithm)))
        .map(|(run, algorithm)| cell(run, algorithm.as_ref()))
        .collect()
}

fn paper_values(dataset: &str, algorithm: &str, epsilon: Option<f64>) -> BTreeMap<String, f64> {
    let names = ["accuracy", "inertia_squared", "kmeans_distance_normalised", "silhouette"];
    published::for_dataset(dataset)
        .filter(|row| *row.source == published::PAPER && row.algorithm == algorithm)
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
    use super::cells;
    use crate::cli::EvalArgs;
    use crate::data::catalogue::CLUSTERING;
    use crate::eval::clustering::algorithms;
    use crate::eval::settings::Settings;

    #[test]
    fn runs_alternate_between_algorithms_and_carry_the_published_values() {
        let args = EvalArgs { quick: true, epsilon: 1.0, seed: 3, ..EvalArgs::default() };
        let settings = Settings::new(&args).unwrap();
        let cells = cells(&settings, &CLUSTERING[0], &algorithms::all());
        let names: Vec<_> = cells.iter().map(|cell| (cell.run, cell.algorithm.as_str())).collect();
        assert_eq!(names, [(0, "kmeans++"), (0, "dpm"), (1, "kmeans++"), (1, "dpm")]);
        assert_eq!(cells[1].paper.get("inertia_squared"), Some(&1.8e7));
        assert_eq!((cells[0].epsilon, cells[1].epsilon), (None, Some(1.0)));
        assert!(cells[1].delta.is_some_and(|delta| (delta - 3.162e-8).abs() < 1e-11));
    }

    #[test]
    fn another_epsilon_has_no_published_values() {
        let args = EvalArgs { quick: true, epsilon: 0.5, seed: 3, ..EvalArgs::default() };
        let settings = Settings::new(&args).unwrap();
        let cells = cells(&settings, &CLUSTERING[0], &algorithms::all());
        assert!(cells[1].paper.is_empty() && !cells[0].paper.is_empty());
    }
}
