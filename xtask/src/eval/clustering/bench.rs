//! One data set in memory with all algorithms of the suite: runs and measures single cells.

use crate::error::Error;
use crate::eval::cell::{Cost, measured};
use crate::eval::clustering::algorithms::{self, Algorithm};
use crate::eval::clustering::{centres, measure, references, studies};
use crate::eval::record::Record;
use crate::eval::settings::Settings;
use crate::eval::suite::Workbench;
use dp_cluster::metrics::squared_inertia;
use dp_geometry::Points;
use quietus_datasets::prepare::Dataset;
use quietus_datasets::seed::named_rng;

/// The data, what runs on it, and the reference clusterings once they are made.
pub(super) struct Bench {
    dataset: Dataset,
    settings: Settings,
    algorithms: Vec<Box<dyn Algorithm>>,
    pub(super) references: Vec<Points>,
}

impl Bench {
    pub(super) fn new(dataset: Dataset, settings: Settings) -> Self {
        Self { dataset, settings, algorithms: algorithms::all_variants(), references: Vec::new() }
    }

    fn algorithm(&self, cell: &Record) -> Result<&dyn Algorithm, Error> {
        let mut algorithms = self.algorithms.iter().map(AsRef::as_ref);
        let named =
            |one: &&dyn Algorithm| one.id() == cell.algorithm && one.variant() == cell.variant;
        algorithms.find(named).ok_or_else(|| {
            let known = self.algorithms.iter().map(|one| one.id());
            Error::unknown("algorithm", &cell.algorithm, known)
        })
    }
}

impl Workbench for Bench {
    fn checksum(&self) -> &str {
        &self.dataset.checksum
    }

    fn warm_up(&mut self, step: &mut dyn FnMut() -> bool) -> Result<bool, Error> {
        let Settings { effort, out, .. } = &self.settings;
        if studies::only(self.dataset.recipe) {
            return Ok(true);
        }
        let made = references::load_or_make(&self.dataset, *effort, out, step)?;
        let complete = made.is_some();
        self.references = made.unwrap_or_default();
        Ok(complete)
    }

    fn run(&mut self, cell: &Record) -> Result<Record, Error> {
        let algorithm = self.algorithm(cell)?;
        let mut rng = named_rng(&[
            "cell",
            &cell.seed.to_string(),
            &cell.dataset,
            &cell.algorithm,
            &cell.variant,
            &cell.run.to_string(),
        ]);
        let epsilon = cell.epsilon.unwrap_or(self.settings.epsilon);
        let (outcome, Cost { seconds, peak_rss_mib }) =
            measured(|| algorithm.run(&self.dataset, epsilon, &mut rng))?;
        let mut metrics = measure::basic(&outcome.centres, &self.dataset)?;
        if !cell.params.contains_key(studies::PARAM) {
            let sample = self.settings.effort.silhouette_sample();
            let (dataset, references) = (&self.dataset, &self.references);
            metrics.extend(measure::costly(&outcome.centres, dataset, references, sample)?);
            if let (Some(_), Some(best)) = (algorithm.relation(), references.first()) {
                let lost = measure::floor(dataset, best, epsilon)?;
                let least = squared_inertia(dataset.points.view(), best.view())?;
                metrics.extend(lost.map(|lost| ("floor".to_owned(), 1.0 + lost / least)));
            }
            centres::keep(&self.settings.out, cell, &outcome)?;
        }
        Ok(Record { metrics, seconds, peak_rss_mib, ..cell.clone() })
    }
}
