//! The suite `local`: k-means of clients who trust nobody, beside k-means that sees their records and what needs no method at all.

mod bench;
mod chapter;
mod data;
mod methods;
#[cfg(test)]
mod tests;

use crate::error::Error;
use crate::eval::record::Record;
use crate::eval::suite::{Context, Opened, Plan, Suite};
use crate::report::page::Page;

/// The suite's name on the command line.
const SUITE: &str = "local";

/// The suite; its report needs nothing but records.
#[derive(Debug, Default)]
pub(crate) struct Local;

impl Suite for Local {
    fn id(&self) -> &'static str {
        SUITE
    }

    fn plan(&self, context: &Context) -> Result<Vec<Plan>, Error> {
        let families = data::families(context.settings.effort);
        Ok(families.iter().map(|family| bench::plan(family, context)).collect())
    }

    fn open(&mut self, dataset: &str, context: &Context) -> Result<Opened, Error> {
        let families = data::families(context.settings.effort);
        let found = families.iter().find(|family| family.id == dataset);
        let family = found.ok_or_else(|| Error::Unknown {
            what: "data set of the suite local",
            got: dataset.to_owned(),
            known: families.iter().map(|family| family.id.clone()).collect(),
        })?;
        Ok(Opened::Ready(Box::new(bench::Bench::new(family)?)))
    }

    fn report(&self, records: &[Record], _: &Context, page: &mut Page) -> Result<(), Error> {
        chapter::write(records, page);
        Ok(())
    }

    fn summary(&self, records: &[Record]) -> Vec<Vec<String>> {
        chapter::summary(records)
    }
}
