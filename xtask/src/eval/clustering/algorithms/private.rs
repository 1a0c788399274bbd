//! The private algorithms at their default settings. `k` is that of the recipe where one is needed.

use super::{Algorithm, Outcome, budget};
use crate::data::catalogue::Recipe;
use crate::data::prepare::Dataset;
use crate::error::Error;
use dp_cluster::dpm::{BudgetSplit, CutWeights, Dpm};
use dp_cluster::private_kmeans::PrivateKMeans;
use dp_cluster::recentring::{self, Recentred, Rounds};
use dp_cluster::{dp_lloyd, em_mc, lsh_splits};
use dp_geometry::{Points, PointsView, PublicBall};
use dp_mechanism::Mechanism;
use rand::RngExt;
use rand::rngs::ChaCha20Rng;
use serde_json::Value;
use std::collections::BTreeMap;
use std::fmt::Display;

const ADD_REMOVE: Option<&str> = Some("add-remove");

/// What a start other than DPM's cuts gets of the budget before re-centring.
const START: f64 = 0.3;

fn range(recipe: &Recipe) -> BTreeMap<String, Value> {
    let (low, high) = recipe.range;
    BTreeMap::from([("range".to_owned(), vec![low, high].into())])
}

fn range_and_k(recipe: &Recipe) -> BTreeMap<String, Value> {
    let mut params = range(recipe);
    params.insert("k".to_owned(), recipe.k.into());
    params
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

/// Density-based partitioning; finds the number of clusters by itself.
#[derive(Debug, Default)]
pub(crate) struct DpmTree {
    /// A name for settings other than the default ones.
    pub(crate) variant: Option<String>,
    pub(crate) split: BudgetSplit,
    pub(crate) weights: CutWeights,
}

impl Algorithm for DpmTree {
    fn id(&self) -> &'static str {
        "dpm"
    }

    fn variant(&self) -> &str {
        self.variant.as_deref().unwrap_or("default")
    }

    fn relation(&self) -> Option<&'static str> {
        ADD_REMOVE
    }

    fn params(&self, recipe: &Recipe) -> BTreeMap<String, Value> {
        range(recipe)
    }

    fn run(
        &self,
        dataset: &Dataset,
        epsilon: f64,
        rng: &mut ChaCha20Rng,
    ) -> Result<Outcome, Error> {
        let budget = budget(epsilon, dataset.recipe.delta())?;
        let builder = Dpm::builder(dataset.domain.clone(), budget);
        let plan = builder.split(self.split).weights(self.weights).build();
        released(self.id(), plan, dataset, rng, |output| output.centres)
    }
}

/// Lloyd's iteration with noise, at what it is given.
pub(super) struct DpLloyd;

impl Algorithm for DpLloyd {
    fn id(&self) -> &'static str {
        "dp-lloyd"
    }

    fn relation(&self) -> Option<&'static str> {
        ADD_REMOVE
    }

    fn params(&self, recipe: &Recipe) -> BTreeMap<String, Value> {
        range_and_k(recipe)
    }

    fn run(
        &self,
        dataset: &Dataset,
        epsilon: f64,
        rng: &mut ChaCha20Rng,
    ) -> Result<Outcome, Error> {
        let recipe = dataset.recipe;
        let budget = budget(epsilon, recipe.delta())?;
        let builder = dp_lloyd::DpLloyd::builder(dataset.domain.clone(), recipe.k, budget);
        let builder = builder.expected_records(recipe.n as u64).public_seed(rng.random());
        released(self.id(), builder.build(), dataset, rng, |output| output.centres)
    }
}

/// Maximum coverage by the exponential mechanism.
pub(super) struct EmMc;

impl Algorithm for EmMc {
    fn id(&self) -> &'static str {
        "em-mc"
    }

    fn relation(&self) -> Option<&'static str> {
        ADD_REMOVE
    }

    fn params(&self, recipe: &Recipe) -> BTreeMap<String, Value> {
        range_and_k(recipe)
    }

    fn run(
        &self,
        dataset: &Dataset,
        epsilon: f64,
        rng: &mut ChaCha20Rng,
    ) -> Result<Outcome, Error> {
        let budget = budget(epsilon, dataset.recipe.delta())?;
        let builder = em_mc::EmMc::builder(dataset.domain.clone(), dataset.recipe.k, budget);
        let plan = builder.public_seed(rng.random()).build();
        released(self.id(), plan, dataset, rng, |output| output.centres)
    }
}

fn lsh_plan(
    dataset: &Dataset,
    budget: dp_accounting::Budget,
    rng: &mut ChaCha20Rng,
) -> Result<lsh_splits::LshSplits, Error> {
    let library = |error: &dyn Display| Error::library("lsh-splits", error);
    let ball = PublicBall::around(&dataset.domain).map_err(|error| library(&error))?;
    let builder = lsh_splits::LshSplits::builder(ball, dataset.recipe.k, budget);
    builder.public_seed(rng.random()).build().map_err(|error| library(&error))
}

/// Random hyperplanes.
pub(super) struct LshSplits;

impl Algorithm for LshSplits {
    fn id(&self) -> &'static str {
        "lsh-splits"
    }

    fn relation(&self) -> Option<&'static str> {
        ADD_REMOVE
    }

    fn params(&self, recipe: &Recipe) -> BTreeMap<String, Value> {
        range_and_k(recipe)
    }

    fn run(
        &self,
        dataset: &Dataset,
        epsilon: f64,
        rng: &mut ChaCha20Rng,
    ) -> Result<Outcome, Error> {
        let plan = lsh_plan(dataset, budget(epsilon, dataset.recipe.delta())?, rng);
        released(self.id(), plan, dataset, rng, |output| output.centres)
    }
}

/// Random hyperplanes with [`START`] of the budget, then rounds of re-centring with the rest.
pub(super) struct LshSplitsRecentred;

impl Algorithm for LshSplitsRecentred {
    fn id(&self) -> &'static str {
        "lsh-splits-recentred"
    }

    fn relation(&self) -> Option<&'static str> {
        ADD_REMOVE
    }

    fn params(&self, recipe: &Recipe) -> BTreeMap<String, Value> {
        range_and_k(recipe)
    }

    fn run(
        &self,
        dataset: &Dataset,
        epsilon: f64,
        rng: &mut ChaCha20Rng,
    ) -> Result<Outcome, Error> {
        let library = |error: &dyn Display| Error::library("lsh-splits-recentred", error);
        let budget = budget(epsilon, dataset.recipe.delta())?;
        let part = recentring::part_of(budget, START).map_err(|error| library(&error))?;
        let start = lsh_plan(dataset, part, rng)?;
        let (domain, k) = (dataset.domain.clone(), dataset.recipe.k);
        let plan = Recentred::new(start, domain, budget, Rounds::default(), Some(k));
        released(self.id(), plan, dataset, rng, |output| output.centres)
    }
}

/// DPM's cuts, then rounds of re-centring: the most accurate here.
pub(super) struct DpmRecentred {
    /// Whether the number of clusters is given or left to the algorithm.
    pub(super) k_given: bool,
}

impl Algorithm for DpmRecentred {
    fn id(&self) -> &'static str {
        "dpm-recentred"
    }

    #[allow(clippy::unnecessary_literal_bound, reason = "as the trait has it")]
    fn variant(&self) -> &str {
        if self.k_given { "default" } else { "own k" }
    }

    fn relation(&self) -> Option<&'static str> {
        ADD_REMOVE
    }

    fn params(&self, recipe: &Recipe) -> BTreeMap<String, Value> {
        if self.k_given { range_and_k(recipe) } else { range(recipe) }
    }

    fn run(
        &self,
        dataset: &Dataset,
        epsilon: f64,
        rng: &mut ChaCha20Rng,
    ) -> Result<Outcome, Error> {
        let budget = budget(epsilon, dataset.recipe.delta())?;
        let builder = recentring::DpmRecentred::builder(dataset.domain.clone(), budget);
        let builder = if self.k_given { builder.clusters(dataset.recipe.k) } else { builder };
        released(self.id(), builder.build(), dataset, rng, |output| output.centres)
    }
}

/// The plan that the documentation recommends: its steps follow from public facts.
pub(super) struct Recommended;

impl Algorithm for Recommended {
    fn id(&self) -> &'static str {
        "private-kmeans"
    }

    fn relation(&self) -> Option<&'static str> {
        ADD_REMOVE
    }

    fn params(&self, recipe: &Recipe) -> BTreeMap<String, Value> {
        range_and_k(recipe)
    }

    fn run(
        &self,
        dataset: &Dataset,
        epsilon: f64,
        rng: &mut ChaCha20Rng,
    ) -> Result<Outcome, Error> {
        let recipe = dataset.recipe;
        let budget = budget(epsilon, recipe.delta())?;
        let builder = PrivateKMeans::builder(dataset.domain.clone(), recipe.k, budget);
        let builder = builder.expected_records(recipe.n as u64).public_seed(rng.random());
        released(self.id(), builder.build(), dataset, rng, |output| output.centres)
    }
}
