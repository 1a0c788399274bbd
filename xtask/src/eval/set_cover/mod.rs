//! The suite `set-cover`: orders of public sets in which few are the first to hold some user.

mod bench;
mod chapter;
mod data;
mod methods;

use crate::error::Error;
use crate::eval::record::Record;
use crate::eval::settings::Effort;
use crate::eval::suite::{Context, Opened, Plan, Suite};
use crate::report::page::Page;

/// The suite's name on the command line.
const SUITE: &str = "set-cover";

/// The suite; its report needs nothing but records.
#[derive(Debug, Default)]
pub(crate) struct SetCover;

impl Suite for SetCover {
    fn id(&self) -> &'static str {
        SUITE
    }

    /// In a quick evaluation, one generated family.
    fn plan(&self, context: &Context) -> Result<Vec<Plan>, Error> {
        let all = match context.settings.effort {
            Effort::Quick => &data::SOURCES[..1],
            Effort::Standard | Effort::Full => &data::SOURCES[..],
        };
        Ok(all.iter().map(|source| bench::plan(source, context)).collect())
    }

    fn open(&mut self, dataset: &str, context: &Context) -> Result<Opened, Error> {
        let source = data::source(dataset)?;
        if let Some(family) = data::read(source, context)? {
            return Ok(Opened::Ready(Box::new(bench::Bench::new(family))));
        }
        let (set, _) = source.file().unwrap_or_default();
        let published = &context.manifest.set(set)?.published;
        let folder = context.settings.datasets.display();
        Ok(Opened::LeftOut { reason: format!("not in {folder}; published at {published}") })
    }

    fn report(&self, records: &[Record], _: &Context, page: &mut Page) -> Result<(), Error> {
        chapter::write(records, page)
    }

    fn summary(&self, records: &[Record]) -> Vec<Vec<String>> {
        chapter::summary(records)
    }
}

#[cfg(test)]
mod tests;
