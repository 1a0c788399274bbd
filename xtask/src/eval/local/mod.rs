//! The suite `local`: k-means of clients who trust nobody, beside k-means that sees their records and what needs no method at all.

mod chapter;
mod methods;

use crate::error::Error;
use crate::eval::family::{Bench, Card, Family, Label};
use crate::eval::record::Record;
use crate::eval::settings::Effort;
use crate::eval::suite::Context;
use crate::report::page::Page;
use dp_cluster::metrics::squared_inertia;
use dp_geometry::Points;
use dp_mechanism::ChaCha20Rng;
use methods::{METHODS, Method};
use quietus_datasets::seed::named_rng;
use quietus_datasets::sets::clients::{self, K, Source};

/// The suite.
#[derive(Debug)]
pub(crate) struct Local;

impl Family for Local {
    const ID: &'static str = "local";
    type Source = Source;
    type Method = Method;
    type Bench = Clients;

    fn sources(effort: Effort) -> Vec<Source> {
        match effort {
            Effort::Quick => clients::sources(100_000, &[]).into_iter().take(1).collect(),
            Effort::Standard => clients::sources(1_000_000, &[10_000, 100_000]),
            Effort::Full => clients::sources(1_000_000, &[10_000, 100_000, 10_000_000]),
        }
    }

    fn card(source: &Source, context: &Context) -> Result<Card, Error> {
        let (n, d) = source.size();
        Ok(Card {
            id: source.id(),
            n,
            d,
            params: vec![("k", K.into())],
            units: (n * d / 100_000) as u64 + 1,
            file: source.file(&context.shelf())?,
        })
    }

    fn methods(_: &Source, _: Effort) -> Vec<Method> {
        METHODS.to_vec()
    }

    fn label(method: Method) -> Label {
        method.label()
    }

    fn more_epsilons(effort: Effort) -> &'static [f64] {
        if effort == Effort::Quick { &[] } else { &[1.0, 2.0, 4.0] }
    }

    fn open(source: Source, context: &Context) -> Result<Option<Clients>, Error> {
        let Some(all) = source.open(&context.shelf())? else { return Ok(None) };
        let mut rng = named_rng(&["local", "reference", &source.id()]);
        let mut best = f64::INFINITY;
        for _ in 0..3 {
            let centres = methods::solved(&all.records, None, &mut rng)?;
            best = best.min(squared_inertia(all.records.view(), centres.view())?);
        }
        Ok(Some(Clients { all, best }))
    }

    fn report(records: &[Record], _: &Context, page: &mut Page) -> Result<(), Error> {
        chapter::write(records, page);
        Ok(())
    }

    fn summary(records: &[Record]) -> Vec<Vec<String>> {
        chapter::summary(records)
    }
}

/// Records of clients, and the cost of k-means with the records in hand.
pub(crate) struct Clients {
    all: clients::Clients,
    best: f64,
}

impl Bench for Clients {
    type Method = Method;
    type Found = Points;

    fn checksum(&self) -> &str {
        &self.all.checksum
    }

    fn run(&self, method: Method, epsilon: f64, rng: &mut ChaCha20Rng) -> Result<Points, Error> {
        method.run(&self.all, epsilon, rng)
    }

    fn measure(
        &mut self,
        method: Method,
        epsilon: f64,
        centres: &Points,
    ) -> Result<Vec<(&'static str, f64)>, Error> {
        let cost = squared_inertia(self.all.records.view(), centres.view())?;
        let mut metrics = vec![("inertia_squared", cost), ("cost_ratio", cost / self.best)];
        if let Some((bytes, rounds)) = method.sends(&self.all.public_box, epsilon) {
            metrics.extend([("bytes_per_client", bytes as f64), ("rounds", rounds as f64)]);
        }
        Ok(metrics)
    }
}

/// Run 0 of every algorithm on the quick set: the order that the chapter is about, and a report that shows it.
#[cfg(test)]
#[test]
fn the_quick_set_runs_and_is_reported() {
    use crate::eval::family::testing::{first_run, metric};
    let quick = ("local-planted-d2-n100000", 4.0);
    let (records, page) = first_run(&mut Local, quick, |_| false);
    let cost = |algorithm| metric(&records, (algorithm, ""), "cost_ratio");
    assert!(cost("kmeans++") < 1.5 && cost("local-k-means") < 1.1, "{records:?}");
    assert!(cost("local-private-centers") > cost("local-k-means"), "{records:?}");
    assert!(cost("public-uniform") > 3.0 && cost("laplace-records") > 3.0, "{records:?}");
    assert!(page.text.contains("| local-k-means, ε 4 | 1 |"), "{}", page.text);
}
