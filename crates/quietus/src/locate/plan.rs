//! What is asked for, and the mechanism that does it.

use crate::error::Error;
use dp_accounting::{AddRemove, Budget, Receipt};
use dp_combinatorial::CombinatorialError;
use dp_combinatorial::k_median::{Clustering, Edge, Metric, MetricClustering, MetricError, Power};
use dp_mechanism::{Algorithm, Draws, Mechanism, Private};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::sync::Arc;

/// How far public places are from each other.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Distances {
    /// As the crow flies: the coordinates of each place, one after the other.
    Points {
        /// Of how many dimensions.
        dim: usize,
        /// All of them.
        coordinates: Vec<f64>,
    },
    /// Along roads: two places and a length in whole units.
    Roads(Vec<Edge>),
}

/// All that is public.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LocateSettings {
    /// The places there are, from elsewhere than the people.
    pub places: Vec<String>,
    /// How far they are from each other.
    pub distances: Distances,
    /// The column that says at which place somebody is.
    pub column: String,
    /// The column that says whose row it is; without it each is of somebody else.
    pub person: Option<String>,
    /// How many centres.
    pub k: usize,
    /// Whether centres are near in squares, and not as near as can be.
    pub squares: bool,
    /// About how many people there are: public.
    pub people: u64,
    /// Pure differential privacy.
    pub epsilon: f64,
}

/// A release of places that people are near to.
///
/// # Guarantee
/// `epsilon`-DP under [`AddRemove`] of a row, or of a person where there is a column that names them.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "LocateSettings", into = "LocateSettings")]
pub struct LocatePlan {
    settings: LocateSettings,
    metric: Arc<Metric>,
    run: MetricClustering,
    numbers: BTreeMap<String, u32>,
}

impl TryFrom<LocateSettings> for LocatePlan {
    type Error = Error;

    fn try_from(settings: LocateSettings) -> Result<Self, Error> {
        Self::new(settings)
    }
}

impl From<LocatePlan> for LocateSettings {
    fn from(plan: LocatePlan) -> Self {
        plan.settings
    }
}

impl LocatePlan {
    /// Checks all settings.
    ///
    /// # Errors
    /// Names the setting and its limits.
    pub fn new(settings: LocateSettings) -> Result<Self, Error> {
        let budget = Budget::new(settings.epsilon, 0.0)
            .map_err(|error| Error::library("--epsilon", &error))?;
        let mut numbers = BTreeMap::new();
        for (number, name) in (0..).zip(&settings.places) {
            if numbers.insert(name.clone(), number).is_some() {
                let reason = format!("`{name}` is there twice");
                return Err(Error::Library { what: "the places", reason });
            }
        }
        let metric = match &settings.distances {
            Distances::Points { dim, coordinates } => Metric::from_points(coordinates, *dim),
            Distances::Roads(roads) => Metric::from_graph(settings.places.len(), roads, None),
        };
        let metric = metric.map_err(|error| match error {
            MetricError::Unreachable { from, to } => {
                let [from, to] = [from, to].map(|place| &settings.places[place]);
                let reason = format!("no road leads from `{from}` to `{to}`");
                Error::Library { what: "the places", reason }
            }
            MetricError::TooLong { from, to } => {
                let [from, to] = [from, to].map(|place| &settings.places[place]);
                let reason = format!(
                    "`{from}` is further than 16777215 from `{to}` by road: give lengths in a larger unit"
                );
                Error::Library { what: "the places", reason }
            }
            error => Error::library("the places", &error),
        })?;
        let metric = Arc::new(metric);
        if metric.nodes() != settings.places.len() {
            let (name, got) = ("the places", metric.nodes().to_string());
            return Err(Error::Setting { name, got, want: "as many as there are coordinates of" });
        }
        let power = if settings.squares { Power::Means } else { Power::Median };
        let run = MetricClustering::new(&metric, settings.k, power, budget, settings.people);
        let run = run.map_err(|error| Error::library("the plan", &error))?;
        Ok(Self { settings, metric, run, numbers })
    }

    /// What was asked for.
    pub fn settings(&self) -> &LocateSettings {
        &self.settings
    }

    /// The number of a place; `None` if there is none of this name.
    pub fn place(&self, name: &str) -> Option<u32> {
        self.numbers.get(name).copied()
    }

    /// The standard error of the number of people at one place, at most, where all of them are counted.
    pub(super) fn place_error(&self) -> Option<f64> {
        match &self.run {
            MetricClustering::Histogram(plan) => Some(plan.place_error()),
            MetricClustering::Bicriteria(_) => None,
        }
    }

    /// For each centre the number of people who are nearest to it, and its standard error where that is known.
    pub(super) fn served(&self, found: &Clustering) -> Vec<(f64, Option<f64>)> {
        let mut served = vec![(0.0, Vec::new()); found.centres.len()];
        for (place, people) in found.places.iter().zip(&found.users) {
            let far = |centre: &u32| self.metric.distance(*place, *centre).unwrap_or(u32::MAX);
            let nearest = (0..).zip(&found.centres).min_by_key(|(_, centre)| far(centre));
            if let Some((nearest, _)) = nearest {
                let (sum, places): &mut (f64, Vec<u32>) = &mut served[nearest];
                *sum += people;
                places.push(*place);
            }
        }
        let error = |places: &[u32]| match &self.run {
            MetricClustering::Histogram(plan) => Some(plan.standard_error(places)),
            MetricClustering::Bicriteria(_) => None,
        };
        served.into_iter().map(|(people, places)| (people, error(&places))).collect()
    }
}

impl Algorithm for LocatePlan {
    type Relation = AddRemove;
    type Data<'a> = &'a [u32];
    type Shape = ();
    type Output = Clustering;
    type Error = CombinatorialError;

    fn cost(&self) -> Receipt<AddRemove> {
        self.run.receipt()
    }

    fn shape(people: &&[u32]) {
        MetricClustering::shape(people);
    }

    fn check(&self, shape: &()) -> Result<(), CombinatorialError> {
        self.run.check(shape)
    }

    fn run(&self, people: Private<&[u32]>, draws: &mut Draws<'_>) -> Clustering {
        self.run.run(people, draws)
    }
}
