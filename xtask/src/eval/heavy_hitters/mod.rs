//! The suite `heavy-hitters`: which items are popular in each step of a stream, found privately.

mod bench;
mod chapter;
mod data;
mod figures;
mod measure;
mod methods;
mod plan;
mod throughput;

use crate::error::Error;
use crate::eval::record::Record;
use crate::eval::suite::{Context, Opened, Plan, Suite};
use crate::report::page::Page;

/// The suite's name on the command line.
const SUITE: &str = "heavy-hitters";

/// The suite; its report needs nothing but records.
#[derive(Debug, Default)]
pub(crate) struct HeavyHitters;

impl Suite for HeavyHitters {
    fn id(&self) -> &'static str {
        SUITE
    }

    fn plan(&self, context: &Context) -> Result<Vec<Plan>, Error> {
        let mut plans: Vec<Plan> = data::SOURCES
            .iter()
            .map(|source| plan::of(source, context))
            .collect::<Result<_, _>>()?;
        plans.push(throughput::plan(&context.settings));
        Ok(plans)
    }

    fn open(&mut self, dataset: &str, context: &Context) -> Result<Opened, Error> {
        if dataset == throughput::DATASET {
            return Ok(Opened::Ready(Box::new(throughput::Throughput::new())));
        }
        let source = data::source(dataset)?;
        Ok(match data::read(source, context)? {
            data::Read::Ready(stream) => Opened::Ready(Box::new(bench::Bench::new(stream))),
            data::Read::LeftOut { reason } => Opened::LeftOut { reason },
        })
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
