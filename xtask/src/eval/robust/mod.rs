//! The suite `robust`: private clusterings on kinds of data that they fail on, beside what information allows.

use crate::error::Error;
use crate::eval::clustering::{algorithms, measure};
use crate::eval::family::{Bench, Card, Family, Label};
use crate::eval::record::Record;
use crate::eval::settings::Effort;
use crate::eval::suite::Context;
use crate::eval::{summary, tables};
use crate::report::page::Page;
use dp_cluster::metrics::squared_inertia;
use dp_geometry::Points;
use dp_mechanism::ChaCha20Rng;
use quietus_datasets::prepare::Dataset;
use quietus_datasets::seed::named_rng;
use quietus_datasets::sets::robust::{self as data, SETS, Set};

const INTRODUCTION: &str = "\
Generated sets of kinds that clusterings fail on. **cost** is the squared inertia as a multiple of that of the best of five k-means++ \
without privacy, mean over runs ± standard deviation; where that is less than a thousandth of the cluster's range squared for each \
record and coordinate, that much is added to both. **floor** is what the same budget would lose in one round if the cluster of each \
record and the radius around four fifths of its records were known: no method here can be expected below it. `public-uniform` shares \
out the public box evenly and does not look at the records.";

/// Sets of more records are for a fuller evaluation.
const QUICK: usize = 5_000;

/// The suite.
#[derive(Debug)]
pub(crate) struct Robust;

/// An algorithm, by its number among all.
type Method = usize;

impl Family for Robust {
    const ID: &'static str = "robust";
    type Source = &'static Set;
    type Method = Method;
    type Bench = Records;

    fn sources(effort: Effort) -> Vec<&'static Set> {
        SETS.iter().filter(|set| effort != Effort::Quick || set.recipe.n <= QUICK).collect()
    }

    fn card(set: &&'static Set, _: &Context) -> Result<Card, Error> {
        let recipe = &set.recipe;
        Ok(Card {
            id: recipe.id.to_owned(),
            n: recipe.n,
            d: recipe.d,
            params: vec![("k", recipe.k.into())],
            units: (recipe.n * recipe.d * recipe.k / 100_000) as u64 + 1,
            file: None,
        })
    }

    fn methods(_: &&'static Set, _: Effort) -> Vec<Method> {
        (0..algorithms::all().len()).collect()
    }

    fn label(method: Method) -> Label {
        let algorithm = &algorithms::all()[method];
        Label {
            algorithm: algorithm.id(),
            variant: algorithm.variant().to_owned(),
            relation: algorithm.relation(),
            has_epsilon: algorithm.relation().is_some() || algorithm.claims_only(),
            ..Default::default()
        }
    }

    fn more_epsilons(effort: Effort) -> &'static [f64] {
        if effort == Effort::Quick { &[] } else { &[0.1, 0.3, 1.0] }
    }

    fn open(set: &'static Set, _: &Context) -> Result<Option<Records>, Error> {
        let dataset = data::generate(set)?;
        let mut rng = named_rng(&["robust", "reference", set.recipe.id]);
        let mut reference: Option<(f64, Points)> = None;
        for _ in 0..5 {
            let centres = algorithms::exact_kmeans(&dataset.points, set.recipe.k, &mut rng)?;
            let cost = squared_inertia(dataset.points.view(), centres.view())?;
            if reference.as_ref().is_none_or(|(least, _)| cost < *least) {
                reference = Some((cost, centres));
            }
        }
        let (best, centres) = reference.expect("five runs");
        let tiny = 1e-6 * (set.recipe.n * set.recipe.d) as f64;
        let tiny = if best < tiny { tiny } else { 0.0 };
        Ok(Some(Records { dataset, centres, best, tiny }))
    }

    fn report(records: &[Record], _: &Context, page: &mut Page) -> Result<(), Error> {
        page.chapter("Data that nobody has looked at");
        page.paragraph(INTRODUCTION);
        for id in summary::datasets(records) {
            page.section(id);
            let columns = [("cost_ratio", "cost"), ("floor", "floor"), ("seconds", "seconds")];
            tables::of_metrics(&summary::rows(records, id), &columns, page);
        }
        Ok(())
    }

    fn summary(records: &[Record]) -> Vec<Vec<String>> {
        tables::closing(records, &[("cost_ratio", "cost"), ("floor", "floor")])
    }
}

/// Records with what k-means finds that sees them.
pub(crate) struct Records {
    dataset: Dataset,
    centres: Points,
    best: f64,
    tiny: f64,
}

impl Bench for Records {
    type Method = Method;
    type Found = Points;

    fn checksum(&self) -> &str {
        &self.dataset.checksum
    }

    fn run(&self, method: Method, epsilon: f64, rng: &mut ChaCha20Rng) -> Result<Points, Error> {
        Ok(algorithms::all()[method].run(&self.dataset, epsilon, rng)?.centres)
    }

    fn measure(
        &mut self,
        method: Method,
        epsilon: f64,
        centres: &Points,
    ) -> Result<Vec<(&'static str, f64)>, Error> {
        let cost = squared_inertia(self.dataset.points.view(), centres.view())?;
        let ratio = (cost + self.tiny) / (self.best + self.tiny);
        let mut metrics = vec![("inertia_squared", cost), ("cost_ratio", ratio)];
        if Robust::label(method).has_epsilon {
            let lost = measure::floor(&self.dataset, &self.centres, epsilon)?;
            metrics.extend(lost.map(|lost| ("floor", 1.0 + lost / (self.best + self.tiny))));
        }
        Ok(metrics)
    }
}

/// Run 0 of every algorithm on a set with fewer records than clusters, and on one where the recommended plan has to be near the best.
#[cfg(test)]
#[test]
fn small_sets_run_and_are_reported() {
    use crate::eval::family::testing::{first_run, metric};
    let (records, _) = first_run(&mut Robust, ("fewer-than-k", 1.0), |_| false);
    assert!(records.len() > 8);
    let (records, page) = first_run(&mut Robust, ("few-d2", 1.0), |_| false);
    let cost = |algorithm| metric(&records, (algorithm, ""), "cost_ratio");
    assert!(cost("private-kmeans") < 1.3 && cost("public-uniform") > 3.0, "{records:?}");
    assert!(metric(&records, ("private-kmeans", ""), "floor") > 1.0);
    assert!(page.text.contains("| private-kmeans"), "{}", page.text);
}
