//! What is asked for, and the mechanism that does it.

use crate::error::Error;
use dp_cluster::dp_lloyd::{BudgetSplit, DpLloyd};
use dp_cluster::dpm::Dpm;
use dp_cluster::recentring::DpmRecentred;
use dp_cluster::{AddRemove, Budget, ClusterError, Clustering, PointsView, PublicBox, Receipt};
use dp_mechanism::{Algorithm, Draws, Mechanism, Private};
use serde::{Deserialize, Serialize};

/// A column and its public bounds.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Axis {
    /// Its name.
    pub column: String,
    /// Numbers below count as this,
    pub low: f64,
    /// and numbers above as this.
    pub high: f64,
}

/// Which mechanism.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Method {
    /// The cuts of DPM, then rounds that move centres to where the points are.
    Recentred,
    /// The cuts of DPM alone.
    Dpm,
    /// Lloyd's iteration with noise; needs no delta, but a number of clusters.
    Lloyd,
}

impl Method {
    /// All of them, with their names.
    pub const ALL: [(&str, Self); 3] =
        [("recentred", Self::Recentred), ("dpm", Self::Dpm), ("lloyd", Self::Lloyd)];
}

/// All that is public.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ClusterSettings {
    /// The columns that make a point.
    pub axes: Vec<Axis>,
    /// The column that says whose row it is; without it each is of somebody else.
    pub person: Option<String>,
    /// How many clusters at most.
    pub k: Option<usize>,
    /// How.
    pub method: Method,
    /// Whether a range counts as long as another, however it is measured; centres are released in the columns' own units.
    pub scaled: bool,
    /// What may be spent.
    pub budget: Budget,
}

/// A release of centres and their counts.
///
/// # Guarantee
/// That of the mechanism: the budget, under [`AddRemove`] of a point.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "ClusterSettings", into = "ClusterSettings")]
pub struct ClusterPlan {
    settings: ClusterSettings,
    run: Run,
}

#[derive(Clone, Debug, PartialEq)]
enum Run {
    Recentred(DpmRecentred),
    Dpm(Dpm),
    Lloyd(DpLloyd),
}

impl TryFrom<ClusterSettings> for ClusterPlan {
    type Error = Error;

    fn try_from(settings: ClusterSettings) -> Result<Self, Error> {
        Self::new(settings)
    }
}

impl From<ClusterPlan> for ClusterSettings {
    fn from(plan: ClusterPlan) -> Self {
        plan.settings
    }
}

impl ClusterPlan {
    /// Checks all settings.
    ///
    /// # Errors
    /// Names the setting and its limits.
    pub fn new(settings: ClusterSettings) -> Result<Self, Error> {
        let ends = |of: fn(&Axis) -> f64| settings.axes.iter().map(of).collect();
        let bounds = PublicBox::new(ends(|axis| axis.low), ends(|axis| axis.high));
        let bounds = bounds.map_err(|error| Error::library("--range", &error))?;
        let bounds = if settings.scaled {
            PublicBox::cube(bounds.dim(), 0.0, 1.0).expect("a box of as many dimensions")
        } else {
            bounds
        };
        let refuse = |error: ClusterError| Error::library("the plan", &error);
        let (budget, k) = (settings.budget, settings.k);
        let run = match (settings.method, k) {
            (Method::Recentred, k) => {
                let builder = DpmRecentred::builder(bounds, budget);
                let builder = match k {
                    Some(k) => builder.clusters(k),
                    None => builder,
                };
                Run::Recentred(builder.build().map_err(refuse)?)
            }
            (Method::Dpm, None) => Run::Dpm(Dpm::builder(bounds, budget).build().map_err(refuse)?),
            (Method::Dpm, Some(k)) => {
                let (name, got) = ("--k", format!("{k} with dpm"));
                let want = "left out, as it finds the number of clusters itself; or use recentred";
                return Err(Error::Setting { name, got, want });
            }
            (Method::Lloyd, Some(k)) => {
                let builder = DpLloyd::builder(bounds, k, budget);
                let pure = budget.delta().get() <= 0.0;
                let builder = if pure { builder.split(BudgetSplit::Pure) } else { builder };
                Run::Lloyd(builder.build().map_err(refuse)?)
            }
            (Method::Lloyd, None) => {
                let (name, got) = ("--k", "nothing with lloyd".to_owned());
                return Err(Error::Setting { name, got, want: "the number of clusters" });
            }
        };
        Ok(Self { settings, run })
    }

    /// What was asked for.
    pub fn settings(&self) -> &ClusterSettings {
        &self.settings
    }

    /// A number of a column as the mechanism takes it.
    pub(super) fn inwards(&self, axis: usize, value: f64) -> f64 {
        let Axis { low, high, .. } = self.settings.axes[axis];
        let value = value.clamp(low, high);
        if self.settings.scaled { (value - low) / (high - low) } else { value }
    }

    /// A released coordinate in the unit of its column.
    pub(super) fn outwards(&self, axis: usize, released: f64) -> f64 {
        let Axis { low, high, .. } = self.settings.axes[axis];
        if self.settings.scaled { low + released * (high - low) } else { released }
    }
}

impl Algorithm for ClusterPlan {
    type Relation = AddRemove;
    type Data<'a> = PointsView<'a>;
    type Shape = usize;
    type Output = Clustering;
    type Error = ClusterError;

    fn cost(&self) -> Receipt<AddRemove> {
        match &self.run {
            Run::Recentred(plan) => plan.receipt(),
            Run::Dpm(plan) => plan.receipt(),
            Run::Lloyd(plan) => plan.receipt(),
        }
    }

    fn shape(points: &PointsView<'_>) -> usize {
        points.dim()
    }

    fn check(&self, dim: &usize) -> Result<(), ClusterError> {
        match &self.run {
            Run::Recentred(plan) => plan.check(dim),
            Run::Dpm(plan) => plan.check(dim),
            Run::Lloyd(plan) => plan.check(dim),
        }
    }

    fn run(&self, points: Private<PointsView<'_>>, draws: &mut Draws<'_>) -> Clustering {
        match &self.run {
            Run::Recentred(plan) => plan.run(points, draws),
            Run::Dpm(plan) => plan.run(points, draws),
            Run::Lloyd(plan) => plan.run(points, draws),
        }
    }
}
