//! The suite `distance`: k-means where only a record's place has to be hidden, up to a distance, beside standard privacy.

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
const SUITE: &str = "distance";

/// The suite; its report needs nothing but records.
#[derive(Debug, Default)]
pub(crate) struct Distance;

impl Suite for Distance {
    fn id(&self) -> &'static str {
        SUITE
    }

    fn plan(&self, context: &Context) -> Result<Vec<Plan>, Error> {
        let sources = sources::all(context.settings.effort);
        sources.iter().map(|source| bench::plan(source, context)).collect()
    }

    fn open(&mut self, dataset: &str, context: &Context) -> Result<Opened, Error> {
        let sources = sources::all(context.settings.effort);
        let found = sources.iter().find(|source| source.id() == dataset);
        let source = found.ok_or_else(|| Error::Unknown {
            what: "data set of the suite distance",
            got: dataset.to_owned(),
            known: sources.iter().map(sources::Source::id).collect(),
        })?;
        Ok(match data::read(source, context)? {
            data::Read::Ready(scaled) => Opened::Ready(Box::new(bench::Bench::new(*scaled)?)),
            data::Read::LeftOut { reason } => Opened::LeftOut { reason },
        })
    }

    fn report(&self, records: &[Record], _: &Context, page: &mut Page) -> Result<(), Error> {
        chapter::write(records, page);
        Ok(())
    }

    fn summary(&self, records: &[Record]) -> Vec<Vec<String>> {
        chapter::summary(records)
    }
}
