//! The suite `submodular`: a few elements that serve as many users as possible.

mod chapter;
mod methods;
mod plan;
#[cfg(test)]
mod tests;

use crate::error::Error;
use crate::eval::family::{Bench, Card, Family, Label};
use crate::eval::record::Record;
use crate::eval::settings::{Effort, Settings};
use crate::eval::suite::Context;
use crate::report::page::Page;
use dp_combinatorial::submodular::exact_value;
use dp_mechanism::ChaCha20Rng;
use methods::{Constraint, METHODS, Method};
use quietus_datasets::seed::named_rng;
use quietus_datasets::sets::submodular::{self as data, Function, Source};
use std::collections::BTreeMap;

/// Most runs of an instance of a million users, unless asked for.
const RUNS_IF_LARGE: u32 = 3;

/// The suite.
#[derive(Debug)]
pub(crate) struct Submodular;

impl Family for Submodular {
    const ID: &'static str = "submodular";
    type Source = &'static Source;
    type Method = (Constraint, Method);
    type Bench = Users;

    /// In a quick evaluation one generated instance, in a full one also the largest.
    fn sources(effort: Effort) -> Vec<&'static Source> {
        let runs = |source: &&Source| match effort {
            Effort::Quick => source.id == "coverage-1e3x1e3",
            Effort::Standard => source.users < 1_000_000,
            Effort::Full => true,
        };
        data::SOURCES.iter().filter(runs).collect()
    }

    fn card(source: &&'static Source, context: &Context) -> Result<Card, Error> {
        let path = || -> Result<Option<(&str, String)>, Error> {
            let first = context.manifest.set(source.id)?.files.first();
            Ok(first.map(|file| (source.id, file.path.clone())))
        };
        Ok(Card {
            id: source.id.to_owned(),
            n: source.users,
            d: source.elements,
            params: Vec::new(),
            units: (source.users / 10_000 + source.elements / 100 + 1) as u64,
            file: if source.is_generated() { None } else { path()? },
        })
    }

    fn runs(source: &&'static Source, settings: &Settings) -> u32 {
        let most = if source.users >= 1_000_000 { RUNS_IF_LARGE } else { u32::MAX };
        settings.runs_asked.unwrap_or(settings.runs.min(most))
    }

    fn methods(source: &&'static Source, effort: Effort) -> Vec<(Constraint, Method)> {
        plan::methods_of(source, effort)
    }

    fn label((constraint, method): (Constraint, Method)) -> Label {
        method.label(constraint)
    }

    /// A grid around the epsilon asked for.
    fn more_epsilons(effort: Effort) -> &'static [f64] {
        match effort {
            Effort::Quick => &[],
            Effort::Standard => &[0.1, 1.0, 4.0],
            Effort::Full => &[0.1, 0.5, 1.0, 2.0, 4.0],
        }
    }

    fn open(source: &'static Source, context: &Context) -> Result<Option<Users>, Error> {
        let read = data::read(source, &context.shelf())?;
        Ok(read.map(|(function, checksum)| Users {
            function,
            n: source.users,
            checksum,
            greedy: BTreeMap::new(),
        }))
    }

    fn report(records: &[Record], context: &Context, page: &mut Page) -> Result<(), Error> {
        chapter::write(records, &context.settings, page)
    }

    fn summary(records: &[Record]) -> Vec<Vec<String>> {
        chapter::summary(records)
    }
}

/// What is maximised, over how many users.
pub(crate) struct Users {
    function: Function,
    n: usize,
    checksum: String,
    /// What greedy reaches without privacy, by constraint.
    greedy: BTreeMap<String, i64>,
}

impl Users {
    fn greedy_value(&mut self, constraint: Constraint) -> Result<i64, Error> {
        if let Some(value) = self.greedy.get(&constraint.name()) {
            return Ok(*value);
        }
        let mut rng = named_rng(&["greedy draws nothing"]);
        let chosen = METHODS[0].run(&self.function, constraint, 1.0, &mut rng)?;
        let value = exact_value(self.function.objective(), &chosen);
        self.greedy.insert(constraint.name(), value);
        Ok(value)
    }
}

impl Bench for Users {
    type Method = (Constraint, Method);
    type Found = Vec<usize>;

    fn checksum(&self) -> &str {
        &self.checksum
    }

    fn run(
        &self,
        (constraint, method): (Constraint, Method),
        epsilon: f64,
        rng: &mut ChaCha20Rng,
    ) -> Result<Vec<usize>, Error> {
        method.run(&self.function, constraint, epsilon, rng)
    }

    fn measure(
        &mut self,
        (constraint, _): (Constraint, Method),
        _: f64,
        chosen: &Vec<usize>,
    ) -> Result<Vec<(&'static str, f64)>, Error> {
        let greedy = self.greedy_value(constraint)?;
        let objective = self.function.objective();
        let value = exact_value(objective, chosen);
        let most = self.n as f64 * objective.most_credit() as f64;
        Ok(vec![
            ("value", value as f64),
            ("value_ratio", value as f64 / greedy.max(1) as f64),
            ("share_of_all", value as f64 / most),
        ])
    }
}
