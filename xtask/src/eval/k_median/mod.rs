//! The suite `k-median`: centres among the nodes of a public metric, for private users at its nodes.

mod bench;
mod chapter;
mod data;
mod methods;
mod sources;
#[cfg(test)]
mod tests;

use crate::error::Error;
use crate::eval::record::Record;
use crate::eval::suite::{Context, Opened, Plan, Suite};
use crate::report::page::Page;

/// The suite's name on the command line.
const SUITE: &str = "k-median";

/// The suite; its report needs nothing but records.
#[derive(Debug, Default)]
pub(crate) struct KMedian;

impl Suite for KMedian {
    fn id(&self) -> &'static str {
        SUITE
    }

    fn plan(&self, context: &Context) -> Result<Vec<Plan>, Error> {
        let sources = sources::all(context.settings.effort);
        Ok(sources.iter().map(|source| bench::plan(source, context)).collect())
    }

    fn open(&mut self, dataset: &str, context: &Context) -> Result<Opened, Error> {
        let sources = sources::all(context.settings.effort);
        let found = sources.iter().find(|source| source.id == dataset);
        let source = found.ok_or_else(|| Error::Unknown {
            what: "data set of the suite k-median",
            got: dataset.to_owned(),
            known: sources.iter().map(|source| source.id.clone()).collect(),
        })?;
        Ok(match data::read(source, context)? {
            data::Read::Ready(instance) => Opened::Ready(Box::new(bench::Bench::new(instance)?)),
            data::Read::LeftOut { reason } => Opened::LeftOut { reason },
        })
    }

    fn report(&self, records: &[Record], _: &Context, page: &mut Page) -> Result<(), Error> {
        chapter::write(records, page)
    }

    fn summary(&self, records: &[Record]) -> Vec<Vec<String>> {
        chapter::summary(records)
    }
}
