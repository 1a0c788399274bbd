//! The suite `stable`: k-means with a constant factor from cells that are stable, beside what is recommended and what needs no collector.

mod chapter;
mod data;
mod methods;

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
use methods::{METHODS, Method};
use quietus_datasets::sets::planted::{Planted, Set};

/// The suite.
#[derive(Debug)]
pub(crate) struct Stable;

impl Family for Stable {
    const ID: &'static str = "stable";
    type Source = Set;
    type Method = Method;
    type Bench = Records;

    fn sources(effort: Effort) -> Vec<Set> {
        data::sets(effort)
    }

    fn card(set: &Set, _: &Context) -> Result<Card, Error> {
        Ok(Card {
            id: set.id.clone(),
            n: set.n,
            d: set.dim,
            params: vec![("k", set.k.into())],
            units: (set.n * set.dim * set.k / 100_000) as u64 + 1,
            file: None,
        })
    }

    /// A local search goes through all records for every swap: half an hour for ten million.
    fn runs(set: &Set, settings: &Settings) -> u32 {
        let most = [1, 2, 5][usize::from(set.n <= 1_000_000) + usize::from(set.n <= 100_000)];
        settings.runs_asked.unwrap_or(settings.runs.min(most))
    }

    fn methods(_: &Set, _: Effort) -> Vec<Method> {
        METHODS.to_vec()
    }

    fn label(method: Method) -> Label {
        method.label()
    }

    fn more_epsilons(effort: Effort) -> &'static [f64] {
        if effort == Effort::Quick { &[] } else { &[0.3, 1.0, 4.0] }
    }

    fn open(set: Set, _: &Context) -> Result<Option<Records>, Error> {
        let planted = set.generate()?;
        let best = squared_inertia(planted.records.view(), planted.means.view())?;
        Ok(Some(Records { planted, best }))
    }

    fn report(records: &[Record], _: &Context, page: &mut Page) -> Result<(), Error> {
        chapter::write(records, page);
        Ok(())
    }

    fn summary(records: &[Record]) -> Vec<Vec<String>> {
        tables::closing(records, &[("cost_ratio", "cost"), ("additive", "additive")])
    }
}

/// Records, and what the means of the planted clusters cost.
pub(crate) struct Records {
    planted: Planted,
    best: f64,
}

impl Bench for Records {
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
        _: Method,
        _: f64,
        centres: &Points,
    ) -> Result<Vec<(&'static str, f64)>, Error> {
        let cost = squared_inertia(self.planted.records.view(), centres.view())?;
        let squared_diagonal = self.planted.public_box.diagonal().powi(2);
        Ok(vec![
            ("inertia_squared", cost),
            ("cost_ratio", cost / self.best),
            ("additive", (cost - self.best) / squared_diagonal),
        ])
    }
}

/// Run 0 of every algorithm on the quick set: cells that are stable find the clusters, and the recommended plan is not behind them.
#[cfg(test)]
#[test]
fn the_quick_set_runs_and_is_reported() {
    use crate::eval::family::testing::{first_run, metric};
    let (records, page) = first_run(&mut Stable, ("stable-n10000-d4-k8", 1.0), |_| false);
    let cost = |name| metric(&records, name, "cost_ratio");
    assert!(cost(("private-centres", "")) < 1.5, "{records:?}");
    assert!(cost(("private-kmeans", "")) < 1.01 && cost(("public-uniform", "")) > 5.0);
    assert!(metric(&records, ("stemmer-kaplan", ""), "additive") >= 0.0);
    assert!(page.text.contains("| stemmer-kaplan"), "{}", page.text);
}
