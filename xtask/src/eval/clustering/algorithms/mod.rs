//! Each algorithm as the bench sees it; the private ones are in a file of their own.

mod private;

use crate::error::Error;
use crate::eval::clustering::{as_published, studies};
use dp_accounting::Budget;
use dp_cluster::kmeans::{KMeans, KMeansSettings};
use dp_geometry::Points;
use quietus_datasets::catalogue::Recipe;
use quietus_datasets::prepare::Dataset;
use rand::RngExt;
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
    let baselines: [Box<dyn Algorithm>; 4] = [
        Box::new(KMeansPlusPlus),
        Box::new(PublicUniform),
        Box::new(as_published::Dpm),
        Box::new(as_published::DpLloyd),
    ];
    let private = private::all().into_iter().map(|one| Box::new(one) as Box<dyn Algorithm>);
    baselines.into_iter().chain(private).collect()
}

/// Those of the tables and every variant that a study tries.
pub(crate) fn all_variants() -> Vec<Box<dyn Algorithm>> {
    all().into_iter().chain(studies::variants()).collect()
}

/// k-means++ with Lloyd on the data itself, best of a few starts: a single one may miss a cluster, and
/// whoever is compared with it would look better than they are.
struct KMeansPlusPlus;

const STARTS: usize = 5;

impl Algorithm for KMeansPlusPlus {
    fn id(&self) -> &'static str {
        "kmeans++"
    }

    fn relation(&self) -> Option<&'static str> {
        None
    }

    fn params(&self, recipe: &Recipe) -> BTreeMap<String, Value> {
        BTreeMap::from([("k".to_owned(), recipe.k.into()), ("starts".to_owned(), STARTS.into())])
    }

    fn run(
        &self,
        dataset: &Dataset,
        _epsilon: f64,
        rng: &mut ChaCha20Rng,
    ) -> Result<Outcome, Error> {
        let settings = KMeansSettings { restarts: STARTS, ..Default::default() };
        let centres = fit(dataset.recipe.k, settings, &dataset.points, rng)?;
        Ok(Outcome { centres, receipt: None })
    }
}

/// Centres that share out the public box evenly: k-means on uniform points. Who is behind it need not have looked at the records.
struct PublicUniform;

const UNIFORM_POINTS: usize = 4_096;

impl Algorithm for PublicUniform {
    fn id(&self) -> &'static str {
        "public-uniform"
    }

    fn relation(&self) -> Option<&'static str> {
        None
    }

    fn params(&self, recipe: &Recipe) -> BTreeMap<String, Value> {
        let points = UNIFORM_POINTS.into();
        BTreeMap::from([("k".to_owned(), recipe.k.into()), ("uniform_points".to_owned(), points)])
    }

    fn run(
        &self,
        dataset: &Dataset,
        _epsilon: f64,
        rng: &mut ChaCha20Rng,
    ) -> Result<Outcome, Error> {
        let (domain, dim) = (&dataset.domain, dataset.domain.dim());
        let coords = (0..UNIFORM_POINTS * dim).map(|place| {
            let axis = place % dim;
            domain.min(axis) + domain.width(axis) * rng.random::<f64>()
        });
        let points = Points::new(coords.collect(), dim)?;
        let centres = exact_kmeans(&points, dataset.recipe.k, rng)?;
        Ok(Outcome { centres, receipt: None })
    }
}

pub(crate) fn budget(epsilon: f64, delta: f64) -> Result<Budget, Error> {
    Budget::new(epsilon, delta).map_err(|error| Error::library("budget", &error))
}

pub(crate) use private::{Private, dpm};

/// One start of non-private k-means: what reference clusterings are made of.
pub(crate) fn exact_kmeans(
    points: &Points,
    k: usize,
    rng: &mut ChaCha20Rng,
) -> Result<Points, Error> {
    fit(k, KMeansSettings::default(), points, rng)
}

fn fit(
    k: usize,
    settings: KMeansSettings,
    points: &Points,
    rng: &mut ChaCha20Rng,
) -> Result<Points, Error> {
    Ok(KMeans::new(k, settings)?.exact_fit(points.view(), None, rng)?.centres)
}
