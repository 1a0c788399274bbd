//! The suite `census`: consistent group sizes in a hierarchy, with the tables and figures of the paper on a nation of its shape.

mod algorithms;
mod bench;
mod chapter;
mod large;
mod measure;
mod op;
mod plan;
mod portrait;
mod published;
mod published_chain;
mod qp;
mod scaling;
mod solvers;

use crate::error::Error;
use crate::eval::record::Record;
use crate::eval::settings::Effort;
use crate::eval::suite::{Context, Opened, Plan, Suite};
use crate::report::page::Page;
use bench::{Bench, ScalingBench};
use portrait::Portrait;
use quietus_datasets::sets::census::{self as data, Recipe};
use solvers::SolverBench;

/// The suite, with what its chapter needs of the data sets once their tables are gone.
#[derive(Debug, Default)]
pub(crate) struct Census {
    sections: Vec<Section>,
}

/// What the chapter needs of a data set.
#[derive(Debug)]
struct Section {
    recipe: Recipe,
    checksum: String,
    /// Of a region of the lowest level, where there are several.
    portrait: Option<Portrait>,
}

/// The data sets of an effort: a quick look has a tenth of the nation.
fn recipes(effort: Effort) -> Vec<Recipe> {
    let nation = if effort == Effort::Quick { data::TENTH } else { data::NATION };
    [nation].into_iter().chain(data::PUBLIC).collect()
}

impl Suite for Census {
    fn id(&self) -> &'static str {
        plan::SUITE
    }

    fn plan(&self, context: &Context) -> Result<Vec<Plan>, Error> {
        let recipes = recipes(context.settings.effort);
        let tables = recipes.iter().map(|recipe| plan::of(recipe, context));
        tables.chain([plan::of_scaling(context), plan::of_solvers(context)]).collect()
    }

    fn open(&mut self, dataset: &str, context: &Context) -> Result<Opened, Error> {
        if dataset == scaling::ID {
            return Ok(Opened::Ready(Box::new(ScalingBench)));
        }
        if dataset == solvers::ID {
            return Ok(Opened::Ready(Box::new(SolverBench::default())));
        }
        let recipes = recipes(context.settings.effort);
        let Some(&recipe) = recipes.iter().find(|recipe| recipe.id == dataset) else {
            let known = recipes.iter().map(|recipe| recipe.id);
            return Err(Error::unknown("data set of the suite census", dataset, known));
        };
        let Some(data) = data::read(recipe, &context.shelf())? else {
            return context.left_out(recipe.id);
        };
        let several = recipe.levels.len() > 1;
        let portrait = several.then(|| Portrait::of(&data)).transpose()?;
        let checksum = data.checksum.clone();
        self.sections.push(Section { recipe, checksum, portrait });
        let receipts = context.settings.out.join("receipts");
        Ok(Opened::Ready(Box::new(Bench { data, receipts })))
    }

    fn report(&self, records: &[Record], context: &Context, page: &mut Page) -> Result<(), Error> {
        chapter::write(&self.sections, records, &context.settings.out, page)
    }

    fn summary(&self, records: &[Record]) -> Vec<Vec<String>> {
        chapter::summary(records)
    }
}

#[cfg(test)]
mod tests;
