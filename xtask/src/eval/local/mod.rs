//! The suite `local`: k-means of clients who trust nobody, beside k-means that sees their records and what needs no method at all.

mod chapter;
mod data;
mod methods;

use crate::error::Error;
use crate::eval::family::{Bench, Card, Family, Label};
use crate::eval::record::Record;
use crate::eval::settings::Effort;
use crate::eval::suite::Context;
use crate::report::page::Page;
use data::K;
use dp_cluster::metrics::squared_inertia;
use dp_geometry::Points;
use dp_mechanism::ChaCha20Rng;
use methods::{METHODS, Method};
use quietus_datasets::seed::named_rng;
use quietus_datasets::sets::planted::{Planted, Set};

/// The suite.
#[derive(Debug)]
pub(crate) struct Local;

impl Family for Local {
    const ID: &'static str = "local";
    type Source = Set;
    type Method = Method;
    type Bench = Clients;

    fn sources(effort: Effort) -> Vec<Set> {
        data::sets(effort)
    }

    fn card(set: &Set, _: &Context) -> Result<Card, Error> {
        Ok(Card {
            id: set.id.clone(),
            n: set.n,
            d: set.dim,
            params: vec![("k", K.into())],
            units: (set.n * set.dim / 100_000) as u64 + 1,
            file: None,
        })
    }

    fn methods(_: &Set, _: Effort) -> Vec<Method> {
        METHODS.to_vec()
    }

    fn label(method: Method) -> Label {
        method.label()
    }

    fn more_epsilons(effort: Effort) -> &'static [f64] {
        if effort == Effort::Quick { &[] } else { &[1.0, 2.0, 4.0] }
    }

    fn open(set: Set, _: &Context) -> Result<Option<Clients>, Error> {
        let planted = set.generate()?;
        let mut rng = named_rng(&["local", "reference", &set.id]);
        let mut best = f64::INFINITY;
        for _ in 0..3 {
            let centres = methods::solved(&planted.records, &mut rng)?;
            best = best.min(squared_inertia(planted.records.view(), centres.view()));
        }
        Ok(Some(Clients { planted, best }))
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
    planted: Planted,
    best: f64,
}

impl Bench for Clients {
    type Method = Method;
    type Found = Points;

    fn checksum(&self) -> &str {
        &self.planted.checksum
    }

    fn run(&self, method: Method, epsilon: f64, rng: &mut ChaCha20Rng) -> Result<Points, Error> {
        method.run(&self.planted, epsilon, rng)
    }

    fn measure(
        &mut self,
        method: Method,
        epsilon: f64,
        centres: &Points,
    ) -> Result<Vec<(&'static str, f64)>, Error> {
        let cost = squared_inertia(self.planted.records.view(), centres.view());
        let mut metrics = vec![("inertia_squared", cost), ("cost_ratio", cost / self.best)];
        if let Some((bytes, rounds)) = method.sends(&self.planted.public_box, epsilon) {
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
