//! The private algorithms at their default settings. `k` is that of the recipe where one is needed.

use super::{Algorithm, Outcome};
use crate::error::Error;
use dp_accounting::Budget;
use dp_cluster::dp_lloyd::{DpLloyd, DpLloydSettings};
use dp_cluster::dpm::{BudgetSplit, CutWeights, Dpm, DpmSettings};
use dp_cluster::em_mc::{EmMc, EmMcSettings};
use dp_cluster::lsh_splits::{LshSplits, LshSplitsSettings};
use dp_cluster::private_kmeans::{PrivateKMeans, PrivateKMeansSettings};
use dp_cluster::recentring::{self, DpmRecentred, DpmRecentredSettings, Recentred, Rounds};
use dp_geometry::{Points, PointsView, PublicBall};
use dp_mechanism::Mechanism;
use quietus_datasets::catalogue::Recipe;
use quietus_datasets::prepare::Dataset;
use rand::RngExt;
use rand::rngs::ChaCha20Rng;
use serde_json::Value;
use std::collections::BTreeMap;
use std::fmt::Display;

/// What a start other than DPM's cuts gets of the budget before re-centring.
const START: f64 = 0.3;

/// Plans for a data set within a budget and releases; public coins come from the generator too.
type Run = Box<dyn Fn(&Dataset, Budget, &mut ChaCha20Rng) -> Result<Outcome, Error> + Send + Sync>;

/// One private algorithm as the bench sees it.
pub(crate) struct Private {
    id: &'static str,
    variant: String,
    /// Whether the number of clusters is given, and not left to the algorithm.
    k_given: bool,
    run: Run,
}

impl Private {
    fn new(
        id: &'static str,
        k_given: bool,
        run: impl Fn(&Dataset, Budget, &mut ChaCha20Rng) -> Result<Outcome, Error>
        + Send
        + Sync
        + 'static,
    ) -> Self {
        Self { id, variant: "default".to_owned(), k_given, run: Box::new(run) }
    }

    /// Under a name of its own, for settings other than the default ones.
    fn named(self, variant: &str) -> Self {
        Self { variant: variant.to_owned(), ..self }
    }
}

impl Algorithm for Private {
    fn id(&self) -> &'static str {
        self.id
    }

    fn variant(&self) -> &str {
        &self.variant
    }

    fn relation(&self) -> Option<&'static str> {
        Some("add-remove")
    }

    fn params(&self, recipe: &Recipe) -> BTreeMap<String, Value> {
        let (low, high) = recipe.range;
        let mut params = BTreeMap::from([("range".to_owned(), vec![low, high].into())]);
        if self.k_given {
            params.insert("k".to_owned(), recipe.k.into());
        }
        params
    }

    fn run(
        &self,
        dataset: &Dataset,
        epsilon: f64,
        rng: &mut ChaCha20Rng,
    ) -> Result<Outcome, Error> {
        (self.run)(dataset, super::budget(epsilon, dataset.recipe.delta())?, rng)
    }
}

/// Those of the tables.
pub(super) fn all() -> Vec<Private> {
    let lloyd = Private::new("dp-lloyd", true, |dataset, budget, rng| {
        let recipe = dataset.recipe;
        let settings = DpLloydSettings {
            expected_records: Some(recipe.n as u64),
            public_seed: rng.random(),
            ..Default::default()
        };
        let plan = DpLloyd::new(dataset.domain.clone(), recipe.k, budget, settings);
        released("dp-lloyd", plan, dataset, rng, |output| output.centres)
    });
    let em_mc = Private::new("em-mc", true, |dataset, budget, rng| {
        let settings = EmMcSettings { public_seed: rng.random(), ..Default::default() };
        let plan = EmMc::new(dataset.domain.clone(), dataset.recipe.k, budget, settings);
        released("em-mc", plan, dataset, rng, |output| output.centres)
    });
    let lsh_splits = Private::new("lsh-splits", true, |dataset, budget, rng| {
        let plan = lsh_plan(dataset, budget, rng);
        released("lsh-splits", plan, dataset, rng, |output| output.centres)
    });
    let lsh_recentred = Private::new("lsh-splits-recentred", true, |dataset, budget, rng| {
        let part = recentring::part_of(budget, START)?;
        let start = lsh_plan(dataset, part, rng)?;
        let (domain, k) = (dataset.domain.clone(), dataset.recipe.k);
        let plan = Recentred::new(start, domain, budget, Rounds::default(), Some(k));
        released("lsh-splits-recentred", plan, dataset, rng, |output| output.centres)
    });
    // The plan that the documentation recommends: its steps follow from public facts.
    let recommended = Private::new("private-kmeans", true, |dataset, budget, rng| {
        let recipe = dataset.recipe;
        let settings = PrivateKMeansSettings {
            expected_records: Some(recipe.n as u64),
            public_seed: rng.random(),
            ..Default::default()
        };
        let plan = PrivateKMeans::new(dataset.domain.clone(), recipe.k, budget, settings);
        released("private-kmeans", plan, dataset, rng, |output| output.centres)
    });
    // The same without a number of clusters: at most twice as many.
    let own_k = Private::new("private-kmeans", false, |dataset, budget, rng| {
        let recipe = dataset.recipe;
        let settings = PrivateKMeansSettings {
            finds_k: true,
            expected_records: Some(recipe.n as u64),
            public_seed: rng.random(),
            ..Default::default()
        };
        let plan = PrivateKMeans::new(dataset.domain.clone(), 2 * recipe.k, budget, settings);
        released("private-kmeans", plan, dataset, rng, |output| output.centres)
    });
    let default = dpm("default", BudgetSplit::default(), CutWeights::default());
    let (given, own) = (dpm_recentred(true), dpm_recentred(false).named("own k"));
    vec![
        lloyd,
        em_mc,
        lsh_splits,
        default,
        lsh_recentred,
        given,
        own,
        recommended,
        own_k.named("own k"),
    ]
}

/// Density-based partitioning; finds the number of clusters by itself.
pub(crate) fn dpm(variant: &str, split: BudgetSplit, weights: CutWeights) -> Private {
    let dpm = Private::new("dpm", false, move |dataset, budget, rng| {
        let settings = DpmSettings { split, weights, ..Default::default() };
        let plan = Dpm::new(dataset.domain.clone(), budget, settings);
        released("dpm", plan, dataset, rng, |output| output.centres)
    });
    dpm.named(variant)
}

/// DPM's cuts, then rounds of re-centring.
fn dpm_recentred(k_given: bool) -> Private {
    Private::new("dpm-recentred", k_given, move |dataset, budget, rng| {
        let clusters = k_given.then_some(dataset.recipe.k);
        let settings = DpmRecentredSettings { clusters, ..Default::default() };
        let plan = DpmRecentred::new(dataset.domain.clone(), budget, settings);
        released("dpm-recentred", plan, dataset, rng, |output| output.centres)
    })
}

/// Random hyperplanes.
fn lsh_plan(dataset: &Dataset, budget: Budget, rng: &mut ChaCha20Rng) -> Result<LshSplits, Error> {
    let ball = PublicBall::around(&dataset.domain)?;
    let settings = LshSplitsSettings { public_seed: rng.random(), ..Default::default() };
    Ok(LshSplits::new(ball, dataset.recipe.k, budget, settings)?)
}

/// Releases a plan that may not have come about.
fn released<M, E: Display>(
    id: &'static str,
    plan: Result<M, E>,
    dataset: &Dataset,
    rng: &mut ChaCha20Rng,
    centres: impl FnOnce(M::Output) -> Points,
) -> Result<Outcome, Error>
where
    M: for<'a> Mechanism<Data<'a> = PointsView<'a>>,
    M::Error: Display,
{
    let plan = plan.map_err(|error| Error::library(id, &error))?;
    let release = plan.simulate(dataset.points.view(), rng);
    let release = release.map_err(|error| Error::library(id, &error))?;
    let receipt = Some(format!("{:#}", release.receipt));
    Ok(Outcome { centres: centres(release.output), receipt })
}
