//! Re-centring as the bench sees it: on DPM's cuts and after LSH-Splits.

use std::collections::BTreeMap;

use dp_cluster::ClusterError;
use dp_cluster::dpm::Clustering;
use dp_cluster::lsh_splits::LshSplits;
use dp_cluster::recentring::{DpmRecentred, Recentred, Rounds, part_of};
use dp_geometry::PublicBall;
use dp_mechanism::{Mechanism, Release};
use rand::rngs::ChaCha20Rng;
use serde_json::Value;

use super::algorithms::{Algorithm, Outcome, budget};
use crate::data::catalogue::Recipe;
use crate::data::prepare::Dataset;
use crate::error::Error;

/// What LSH-Splits gets of the budget before the rounds.
const START: f64 = 0.3;

/// DPM's cuts, then rounds.
pub(super) struct AfterDpm;

/// LSH-Splits, then rounds.
pub(super) struct AfterLshSplits;

fn params(recipe: &Recipe) -> BTreeMap<String, Value> {
    let (low, high) = recipe.range;
    let range = ("range".to_owned(), vec![low, high].into());
    BTreeMap::from([range, ("k".to_owned(), recipe.k.into())])
}

fn outcome<R: dp_accounting::Relation>(release: Release<Clustering, R>) -> Outcome {
    let receipt = Some(release.receipt.to_string());
    Outcome { centres: release.output.centres, receipt }
}

impl Algorithm for AfterDpm {
    fn id(&self) -> &'static str {
        "dpm-recentred"
    }

    fn relation(&self) -> Option<&'static str> {
        Some("add-remove")
    }

    fn params(&self, recipe: &Recipe) -> BTreeMap<String, Value> {
        params(recipe)
    }

    fn run(
        &self,
        dataset: &Dataset,
        epsilon: f64,
        rng: &mut ChaCha20Rng,
    ) -> Result<Outcome, Error> {
        let budget = budget(epsilon, dataset.recipe.delta())?;
        let builder = DpmRecentred::builder(dataset.domain.clone(), budget);
        let release = builder
            .clusters(dataset.recipe.k)
            .build()
            .and_then(|plan| plan.release(dataset.points.view(), rng));
        release.map(outcome).map_err(|error| Error::library("dpm-recentred", &error))
    }
}

impl Algorithm for AfterLshSplits {
    fn id(&self) -> &'static str {
        "lsh-splits-recentred"
    }

    fn relation(&self) -> Option<&'static str> {
        Some("add-remove")
    }

    fn params(&self, recipe: &Recipe) -> BTreeMap<String, Value> {
        let mut params = params(recipe);
        params.insert("start".to_owned(), START.into());
        params
    }

    fn run(
        &self,
        dataset: &Dataset,
        epsilon: f64,
        rng: &mut ChaCha20Rng,
    ) -> Result<Outcome, Error> {
        let Recipe { k, .. } = *dataset.recipe;
        let budget = budget(epsilon, dataset.recipe.delta())?;
        let domain = &dataset.domain;
        let mut release = || -> Result<Release<Clustering, _>, ClusterError> {
            let middle = (0..domain.dim()).map(|i| domain.middle(i)).collect();
            let ball = PublicBall::new(middle, domain.diagonal() / 2.0)?;
            let start = LshSplits::builder(ball, k, part_of(budget, START)?);
            // Anybody may know where the hyperplanes lie.
            let start = start.public_seed(1).build()?;
            let plan = Recentred::new(start, domain.clone(), budget, Rounds::default(), Some(k))?;
            plan.release(dataset.points.view(), rng)
        };
        release().map(outcome).map_err(|error| Error::library("lsh-splits-recentred", &error))
    }
}
