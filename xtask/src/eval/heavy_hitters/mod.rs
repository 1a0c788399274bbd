//! The suite `heavy-hitters`: which items are popular in each step of a stream, found privately.

mod chapter;
mod figures;
mod measure;
mod methods;
mod streams;
#[cfg(test)]
mod tests;
mod throughput;

use crate::error::Error;
use crate::eval::family::Family;
use crate::eval::record::Record;
use crate::eval::suite::{Context, Opened, Plan, Suite};
use crate::report::page::Page;
use streams::Streams;

/// The suite: streams, and what one step costs whatever the stream.
#[derive(Debug)]
pub(crate) struct HeavyHitters;

impl Suite for HeavyHitters {
    fn id(&self) -> &'static str {
        Streams::ID
    }

    fn plan(&self, context: &Context) -> Result<Vec<Plan>, Error> {
        let mut plans = Streams.plan(context)?;
        plans.push(throughput::plan(&context.settings));
        Ok(plans)
    }

    fn open(&mut self, dataset: &str, context: &Context) -> Result<Opened, Error> {
        if dataset == throughput::DATASET {
            return Ok(Opened::Ready(Box::new(throughput::Throughput::new())));
        }
        Streams.open(dataset, context)
    }

    fn report(&self, records: &[Record], context: &Context, page: &mut Page) -> Result<(), Error> {
        chapter::write(records, &context.settings, page)
    }

    fn summary(&self, records: &[Record]) -> Vec<Vec<String>> {
        chapter::summary(records)
    }
}
