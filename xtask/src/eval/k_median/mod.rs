//! The suite `k-median`: centres among the nodes of a public metric, for private users at its nodes.

mod chapter;
mod methods;
mod sources;
#[cfg(test)]
mod tests;

use crate::error::Error;
use crate::eval::family::{Bench, Card, Family, Label};
use crate::eval::record::Record;
use crate::eval::settings::Effort;
use crate::eval::suite::Context;
use crate::eval::tables;
use crate::report::page::Page;
use dp_combinatorial::k_median::{FasterPam, exact_cost};
use dp_mechanism::ChaCha20Rng;
use methods::{METHODS, Method};
use quietus_datasets::sets::k_median::{self as data, Instance, Source, weights};

/// The suite.
#[derive(Debug)]
pub(crate) struct KMedian;

impl Family for KMedian {
    const ID: &'static str = "k-median";
    type Source = Source;
    type Method = Method;
    type Bench = Facilities;

    fn sources(effort: Effort) -> Vec<Source> {
        sources::all(effort)
    }

    fn card(source: &Source, _: &Context) -> Result<Card, Error> {
        let nodes = source.origin.nodes();
        Ok(Card {
            id: source.id.clone(),
            n: source.users,
            d: nodes,
            params: vec![("k", source.k.into()), ("power", source.power.exponent().into())],
            units: (nodes as u64).pow(2) / 1_000_000 + 1,
            file: source.origin.file(),
        })
    }

    fn methods(_: &Source, _: Effort) -> Vec<Method> {
        METHODS.to_vec()
    }

    fn label(method: Method) -> Label {
        method.label()
    }

    fn more_epsilons(effort: Effort) -> &'static [f64] {
        if effort == Effort::Quick { &[] } else { &[0.1, 0.5, 1.0] }
    }

    fn open(source: Source, context: &Context) -> Result<Option<Facilities>, Error> {
        let Some(instance) = data::read(source, &context.shelf())? else { return Ok(None) };
        let weights = weights(&instance);
        let (k, power) = (instance.source.k, instance.source.power);
        let found = FasterPam::new(k, power).post_search(&instance.metric, &weights);
        let best = found?.cost;
        Ok(Some(Facilities { instance, weights, best }))
    }

    fn report(records: &[Record], _: &Context, page: &mut Page) -> Result<(), Error> {
        chapter::write(records, page)
    }

    fn summary(records: &[Record]) -> Vec<Vec<String>> {
        tables::closing(records, &[("cost_ratio", "cost")])
    }
}

/// A metric with its users.
pub(crate) struct Facilities {
    instance: Instance,
    weights: Vec<u64>,
    /// The cost of the search on the true weights.
    best: f64,
}

impl Bench for Facilities {
    type Method = Method;
    type Found = Vec<u32>;

    fn checksum(&self) -> &str {
        &self.instance.checksum
    }

    fn run(&self, method: Method, epsilon: f64, rng: &mut ChaCha20Rng) -> Result<Vec<u32>, Error> {
        method.run(&self.instance, epsilon, rng)
    }

    fn measure(
        &mut self,
        _: Method,
        _: f64,
        centres: &Vec<u32>,
    ) -> Result<Vec<(&'static str, f64)>, Error> {
        let power = self.instance.source.power;
        let cost = exact_cost(&self.instance.metric, power, &self.weights, centres)?;
        Ok(vec![("cost", cost), ("cost_ratio", cost / self.best)])
    }
}
