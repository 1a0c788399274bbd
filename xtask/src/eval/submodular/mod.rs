//! The suite `submodular`: a few elements that serve as many users as possible.

mod bench;
mod chapter;
mod data;
mod methods;
mod plan;

use crate::error::Error;
use crate::eval::record::Record;
use crate::eval::suite::{Context, Opened, Plan, Suite};
use crate::report::page::Page;

/// The suite's name on the command line.
const SUITE: &str = "submodular";

/// The suite; its report needs nothing but records.
#[derive(Debug, Default)]
pub(crate) struct Submodular;

impl Suite for Submodular {
    fn id(&self) -> &'static str {
        SUITE
    }

    fn plan(&self, context: &Context) -> Result<Vec<Plan>, Error> {
        Ok(data::sources(context.settings.effort).map(|source| plan::of(source, context)).collect())
    }

    fn open(&mut self, dataset: &str, context: &Context) -> Result<Opened, Error> {
        let source = data::source(dataset)?;
        if let Some(instance) = data::read(source, context)? {
            return Ok(Opened::Ready(Box::new(bench::Bench::new(instance))));
        }
        let published = &context.manifest.set(source.id)?.published;
        let folder = context.settings.datasets.display();
        Ok(Opened::LeftOut { reason: format!("not in {folder}; published at {published}") })
    }

    fn report(&self, records: &[Record], context: &Context, page: &mut Page) -> Result<(), Error> {
        chapter::write(records, &context.settings, page)
    }

    fn summary(&self, records: &[Record]) -> Vec<Vec<String>> {
        chapter::summary(records)
    }
}

#[cfg(test)]
mod tests;
