//! The suite `distance`: k-means where only a record's place has to be hidden, up to a distance, beside standard privacy.

mod chapter;
mod figures;
mod frontier;
mod methods;
mod sources;
#[cfg(test)]
mod tests;

use crate::error::Error;
use crate::eval::family::{Bench, Card, Family, Label};
use crate::eval::record::Record;
use crate::eval::settings::{Effort, Settings};
use crate::eval::suite::Context;
use crate::eval::tables;
use crate::report::page::Page;
use dp_cluster::metrics::squared_inertia;
use dp_geometry::Points;
use dp_mechanism::ChaCha20Rng;
use methods::Method;
use quietus_datasets::seed::named_rng;
use quietus_datasets::sets::distance::{Origin, Role, Scaled, Source};
use sources::FRONTIER_EPSILON;

/// As in the paper.
const RUNS: u32 = 10;

/// The suite.
#[derive(Debug)]
pub(crate) struct Distance;

impl Family for Distance {
    const ID: &'static str = "distance";
    type Source = Source;
    type Method = Method;
    type Bench = Inertia;

    fn sources(effort: Effort) -> Vec<Source> {
        sources::all(effort)
    }

    fn card(source: &Source, context: &Context) -> Result<Card, Error> {
        let file = match source.set.origin {
            Origin::Blobs => None,
            Origin::File { set, file } => {
                Some((set, context.manifest.set(set)?.files[file].path.clone()))
            }
        };
        Ok(Card {
            id: source.id(),
            n: source.set.n,
            d: source.dim(),
            params: vec![("k", source.k.into()), ("set", source.set.name.into())],
            units: (source.set.n * source.dim() * source.k / 100_000).max(1) as u64,
            file,
        })
    }

    fn runs(_: &Source, settings: &Settings) -> u32 {
        let quick = settings.effort == Effort::Quick;
        settings.runs_asked.unwrap_or(if quick { settings.runs } else { RUNS })
    }

    fn methods(source: &Source, _: Effort) -> Vec<Method> {
        methods::all(source)
    }

    fn label(method: Method) -> Label {
        method.label()
    }

    fn more_epsilons(effort: Effort) -> &'static [f64] {
        if effort == Effort::Quick { &[] } else { &[0.1, 1.0] }
    }

    /// The frontier is at one epsilon.
    fn cells(source: &Source, settings: &Settings) -> Vec<(Method, Option<f64>)> {
        let mut epsilons = vec![settings.epsilon];
        epsilons.extend(Self::more_epsilons(settings.effort));
        if source.set.role == Role::Frontier {
            epsilons = vec![FRONTIER_EPSILON];
        }
        epsilons.sort_by(f64::total_cmp);
        epsilons.dedup();
        let at = |method: Method| {
            let paid = epsilons.iter().map(|&epsilon| (method, Some(epsilon)));
            if method.label().has_epsilon { paid.collect() } else { vec![(method, None)] }
        };
        methods::all(source).into_iter().flat_map(at).collect()
    }

    fn open(source: Source, context: &Context) -> Result<Option<Inertia>, Error> {
        let Some(data) = source.read(&context.shelf())? else { return Ok(None) };
        let mut rng = named_rng(&["distance", "best", &source.id()]);
        let best = methods::all(&source)[0].run(&data, 1.0, &mut rng)?;
        let best = squared_inertia(data.points.view(), best.view())?;
        Ok(Some(Inertia { data, best }))
    }

    fn report(records: &[Record], _: &Context, page: &mut Page) -> Result<(), Error> {
        chapter::write(records, page)
    }

    fn summary(records: &[Record]) -> Vec<Vec<String>> {
        tables::closing(records, &[("cost_ratio", "cost")])
    }
}

/// Records, and the cost of the best run that is not private.
pub(crate) struct Inertia {
    data: Scaled,
    best: f64,
}

impl Bench for Inertia {
    type Method = Method;
    type Found = Points;

    fn checksum(&self) -> &str {
        &self.data.checksum
    }

    fn run(&self, method: Method, epsilon: f64, rng: &mut ChaCha20Rng) -> Result<Points, Error> {
        method.run(&self.data, epsilon, rng)
    }

    fn measure(
        &mut self,
        _: Method,
        _: f64,
        centres: &Points,
    ) -> Result<Vec<(&'static str, f64)>, Error> {
        let cost = squared_inertia(self.data.points.view(), centres.view())?;
        Ok(vec![("inertia_squared", cost), ("cost_ratio", cost / self.best)])
    }
}
