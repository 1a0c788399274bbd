//! The suite `dpm`: private Euclidean clustering beside its baselines, with the tables and figures of
//! the DPM paper.

pub(crate) mod algorithms;
mod as_published;
mod bench;
mod centres;
mod chapter;
mod cloud;
pub(crate) mod measure;
mod plan;
mod published;
mod references;
mod scatter;
mod strip;
mod studies;
mod table;

use crate::error::Error;
use crate::eval::record::Record;
use crate::eval::suite::{Context, Opened, Plan, Suite};
use crate::report::page::Page;
use bench::Bench;
use cloud::Cloud;
use quietus_datasets::catalogue::{CLUSTERING, OVER_D, OVER_N, Recipe};
use quietus_datasets::prepare::{Dataset, prepare};

/// The suite, with what its chapter needs of the data sets once their points are gone.
#[derive(Debug)]
pub(crate) struct Clustering {
    recipes: Vec<&'static Recipe>,
    sections: Vec<Section>,
}

/// What the chapter needs of a data set.
#[derive(Debug)]
struct Section {
    id: String,
    k: usize,
    range: (f64, f64),
    delta: f64,
    checksum: String,
    cloud: Cloud,
}

impl Default for Clustering {
    fn default() -> Self {
        Self::of(CLUSTERING.iter().chain(&OVER_N).chain(&OVER_D))
    }
}

impl Clustering {
    /// The suite on data sets of the caller's choice.
    fn of(recipes: impl IntoIterator<Item = &'static Recipe>) -> Self {
        Self { recipes: recipes.into_iter().collect(), sections: Vec::new() }
    }

    fn recipe(&self, id: &str) -> Result<&'static Recipe, Error> {
        self.recipes.iter().copied().find(|recipe| recipe.id == id).ok_or_else(|| {
            let known = self.recipes.iter().map(|recipe| recipe.id);
            Error::unknown("data set of the suite dpm", id, known)
        })
    }
}

impl Suite for Clustering {
    fn id(&self) -> &'static str {
        plan::SUITE
    }

    fn plan(&self, context: &Context) -> Result<Vec<Plan>, Error> {
        let plans = self.recipes.iter().map(|recipe| plan::of(recipe, context));
        // What only a fuller evaluation looks at is not even opened.
        plans.filter(|plan| plan.as_ref().map_or(true, |plan| !plan.cells.is_empty())).collect()
    }

    fn open(&mut self, dataset: &str, context: &Context) -> Result<Opened, Error> {
        let recipe = self.recipe(dataset)?;
        let Some(dataset) = prepare(recipe, &context.shelf())? else {
            return context.left_out(recipe.id);
        };
        if !studies::only(recipe) {
            self.sections.push(Section::of(&dataset));
        }
        Ok(Opened::Ready(Box::new(Bench::new(dataset, context.settings.clone()))))
    }

    fn report(&self, records: &[Record], context: &Context, page: &mut Page) -> Result<(), Error> {
        chapter::write(&self.sections, records, &context.settings, page)
    }

    fn summary(&self, records: &[Record]) -> Vec<Vec<String>> {
        table::summary(records)
    }
}

impl Section {
    fn of(dataset: &Dataset) -> Self {
        Self {
            id: dataset.recipe.id.to_owned(),
            k: dataset.recipe.k,
            range: dataset.recipe.range,
            delta: dataset.recipe.delta(),
            checksum: dataset.checksum.clone(),
            cloud: Cloud::of(dataset),
        }
    }
}

#[cfg(test)]
mod tests;
