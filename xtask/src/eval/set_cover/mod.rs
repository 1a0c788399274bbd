//! The suite `set-cover`: orders of public sets in which few are the first to hold some user.

mod chapter;
mod methods;
#[cfg(test)]
mod tests;

use crate::error::Error;
use crate::eval::family::{Bench, Card, Family, Label};
use crate::eval::record::Record;
use crate::eval::settings::{Effort, Settings};
use crate::eval::suite::Context;
use crate::eval::tables;
use crate::report::page::Page;
use dp_combinatorial::Incidence;
use dp_combinatorial::set_cover::{Cover, exact_cost, exact_greedy};
use dp_mechanism::ChaCha20Rng;
use methods::{METHODS, Method};
use quietus_datasets::sets::set_cover::{self as data, Source};

/// Most runs of a family on which a run takes seconds.
const RUNS_IF_LARGE: u32 = 5;

/// The suite.
#[derive(Debug)]
pub(crate) struct SetCover;

impl Family for SetCover {
    const ID: &'static str = "set-cover";
    type Source = &'static Source;
    type Method = Method;
    type Bench = Sets;

    /// In a quick evaluation, one generated family.
    fn sources(effort: Effort) -> Vec<&'static Source> {
        let some = if effort == Effort::Quick { 1 } else { data::SOURCES.len() };
        data::SOURCES[..some].iter().collect()
    }

    fn card(source: &&'static Source, _: &Context) -> Result<Card, Error> {
        Ok(Card {
            id: source.id.to_owned(),
            n: source.users as usize,
            d: source.sets as usize,
            params: vec![("sets", source.sets.into())],
            units: u64::from(source.sets) * u64::from(source.sets) / 1_000_000 + 1,
            file: source.file(),
        })
    }

    fn runs(source: &&'static Source, settings: &Settings) -> u32 {
        let most = if source.is_large() { RUNS_IF_LARGE } else { u32::MAX };
        settings.runs_asked.unwrap_or(settings.runs.min(most))
    }

    fn methods(source: &&'static Source, _: Effort) -> Vec<Method> {
        METHODS.into_iter().filter(|method| method.is_main() || !source.is_large()).collect()
    }

    fn label(method: Method) -> Label {
        method.label()
    }

    /// A grid around the epsilon asked for.
    fn more_epsilons(effort: Effort) -> &'static [f64] {
        if effort == Effort::Quick { &[] } else { &[0.1, 0.5, 1.0, 2.0, 4.0] }
    }

    fn open(source: &'static Source, context: &Context) -> Result<Option<Sets>, Error> {
        let Some((incidence, checksum)) = data::read(source, &context.shelf())? else {
            return Ok(None);
        };
        let greedy = exact_cost(&exact_greedy(&incidence), &incidence);
        let (greedy, unservable) = (greedy.sets_used, greedy.unserved);
        Ok(Some(Sets { incidence, checksum, greedy, unservable }))
    }

    fn report(records: &[Record], _: &Context, page: &mut Page) -> Result<(), Error> {
        chapter::write(records, page)
    }

    fn summary(records: &[Record]) -> Vec<Vec<String>> {
        tables::closing(records, &[("cost_ratio", "cost / greedy")])
    }
}

/// A family of sets over users.
pub(crate) struct Sets {
    incidence: Incidence,
    checksum: String,
    /// Sets that greedy uses.
    greedy: usize,
    /// Users who are in no set.
    unservable: usize,
}

impl Bench for Sets {
    type Method = Method;
    type Found = Cover;

    fn checksum(&self) -> &str {
        &self.checksum
    }

    fn run(&self, method: Method, epsilon: f64, rng: &mut ChaCha20Rng) -> Result<Cover, Error> {
        method.run(&self.incidence, epsilon, rng)
    }

    fn measure(
        &mut self,
        _: Method,
        _: f64,
        cover: &Cover,
    ) -> Result<Vec<(&'static str, f64)>, Error> {
        let cost = cover.exact_cost(&self.incidence).sets_used as f64;
        // How good the order is for a partial cover of as many sets as greedy takes for all.
        let first = &cover.order[..self.greedy.min(cover.order.len())];
        let left = exact_cost(first, &self.incidence).unserved - self.unservable;
        let servable = (self.incidence.users() - self.unservable).max(1);
        Ok(vec![
            ("cost", cost),
            ("greedy_cost", self.greedy as f64),
            ("cost_ratio", cost / self.greedy.max(1) as f64),
            ("share_served_by_as_many", 1.0 - left as f64 / servable as f64),
        ])
    }
}
