//! The only file of the suite that knows the algorithm crates: each algorithm as the bench sees it.

use crate::data::catalogue::Recipe;
use crate::data::prepare::Dataset;
use crate::error::Error;
use crate::eval::clustering::{as_published, recentred, studies};
use dp_accounting::Budget;
use dp_cluster::dpm::{BudgetSplit, CutWeights, Dpm};
use dp_cluster::kmeans::KMeans;
use dp_geometry::{Points, PublicBox};
use dp_mechanism::Mechanism;
use rand::rngs::ChaCha20Rng;
use serde_json::Value;
use std::collections::BTreeMap;

/// What one run gives back.
#[derive(Debug)]
pub(crate) struct Outcome {
    pub(crate) centres: Points,
    /// The receipt as people read it; `None` for what is not private.
    pub(crate) receipt: Option<String>,
}

/// An algorithm or a baseline: stable names, public settings, one run.
pub(crate) trait Algorithm: Send + Sync {
    /// Stable id, as in results.jsonl.
    fn id(&self) -> &'static str;

    /// Which setting of the algorithm this is.
    #[allow(clippy::unnecessary_literal_bound, reason = "variants have names of their own")]
    fn variant(&self) -> &str {
        "default"
    }

    /// Neighbouring relation of the guarantee; `None` for what is not private.
    fn relation(&self) -> Option<&'static str>;

    /// Whether it spends a budget without keeping what it promises: published code.
    fn claims_only(&self) -> bool {
        false
    }

    /// Public settings that decide the outcome.
    fn params(&self, recipe: &Recipe) -> BTreeMap<String, Value>;

    /// One run. `epsilon` and the recipe's delta are ignored by what is not private.
    fn run(&self, dataset: &Dataset, epsilon: f64, rng: &mut ChaCha20Rng)
    -> Result<Outcome, Error>;
}

/// The algorithms of the tables, baselines first.
pub(crate) fn all() -> Vec<Box<dyn Algorithm>> {
    vec![
        Box::new(KMeansPlusPlus),
        Box::new(as_published::Dpm),
        Box::new(as_published::DpLloyd),
        Box::new(DpmTree::default()),
        Box::new(recentred::AfterDpm),
        Box::new(recentred::AfterLshSplits),
    ]
}

/// Those of the tables and every variant that a study tries.
pub(crate) fn all_variants() -> Vec<Box<dyn Algorithm>> {
    all().into_iter().chain(studies::variants()).collect()
}

/// k-means++ with Lloyd on the data itself.
struct KMeansPlusPlus;

impl Algorithm for KMeansPlusPlus {
    fn id(&self) -> &'static str {
        "kmeans++"
    }

    fn relation(&self) -> Option<&'static str> {
        None
    }

    fn params(&self, recipe: &Recipe) -> BTreeMap<String, Value> {
        BTreeMap::from([("k".to_owned(), recipe.k.into())])
    }

    fn run(
        &self,
        dataset: &Dataset,
        _epsilon: f64,
        rng: &mut ChaCha20Rng,
    ) -> Result<Outcome, Error> {
        let centres = exact_kmeans(&dataset.points, dataset.recipe.k, rng)?;
        Ok(Outcome { centres, receipt: None })
    }
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
        Some("add-remove")
    }

    fn params(&self, recipe: &Recipe) -> BTreeMap<String, Value> {
        let (low, high) = recipe.range;
        BTreeMap::from([("range".to_owned(), vec![low, high].into())])
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
        let plan = plan.map_err(|error| Error::library("dpm", &error))?;
        let release = plan
            .release(dataset.points.view(), rng)
            .map_err(|error| Error::library("dpm", &error))?;
        let receipt = Some(release.receipt.to_string());
        Ok(Outcome { centres: release.output.centres, receipt })
    }
}

pub(super) fn budget(epsilon: f64, delta: f64) -> Result<Budget, Error> {
    Budget::new(epsilon, delta).map_err(|error| Error::library("budget", &error))
}

/// DPM with its default settings.
pub(crate) fn dpm_plan(domain: &PublicBox, epsilon: f64, delta: f64) -> Result<Dpm, Error> {
    let builder = Dpm::builder(domain.clone(), budget(epsilon, delta)?);
    builder.build().map_err(|error| Error::library("dpm", &error))
}

/// Non-private k-means; also what reference clusterings are made of.
pub(crate) fn exact_kmeans(
    points: &Points,
    k: usize,
    rng: &mut ChaCha20Rng,
) -> Result<Points, Error> {
    let library = |error: &dyn std::fmt::Display| Error::library("kmeans++", error);
    let solver = KMeans::builder(k).build().map_err(|error| library(&error))?;
    let fit = solver.exact_fit(points.view(), None, rng).map_err(|error| library(&error))?;
    Ok(fit.centres)
}
