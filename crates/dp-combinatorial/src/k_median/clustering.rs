//! What both mechanisms release, and the choice between them.

use std::sync::Arc;

use dp_accounting::{AddRemove, Budget, Receipt};
use dp_mechanism::{Algorithm, Draws, Private};
use serde::{Deserialize, Serialize};

use super::bicriteria::{MetricBicriteria, MetricBicriteriaSettings};
use super::cost::Power;
use super::faster_pam::checked_k;
use super::histogram::{MetricHistogram, MetricHistogramSettings};
use super::metric::Metric;
use crate::CombinatorialError;

/// Private centres, and the noisy counts they were computed from.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Clustering {
    /// Nodes, ascending and distinct.
    pub centres: Vec<u32>,
    /// Nodes at which users were counted; which they are says nothing beyond what is released here.
    pub places: Vec<u32>,
    /// For every place an estimate of how many users are nearest to it, without bias and so at times
    /// negative.
    pub users: Vec<f64>,
}

/// Which mechanism.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Method {
    /// [`MetricHistogram`].
    Histogram,
    /// [`MetricBicriteria`].
    Bicriteria,
}

impl Method {
    /// The histogram, unless there are so many nodes that distances are not kept (20,000), fewer than `1 / epsilon` users for each of them, and nothing
    /// to be won from [cells](MetricHistogramSettings::recommended): then most of the work would go into noise.
    ///
    /// Where cells do help, as in the plane, the histogram was better in experiments with 1,000 to 25,000 nodes, users concentrated on some of the
    /// nodes or spread smoothly (once picks were 1 % closer). Without them it is worse by up to a fifth where fewer than `1 / epsilon` per node are spread smoothly. Metrics of
    /// many nodes without cells were not compared.
    ///
    /// `users_hint` is roughly the number of users, as publicly known. It must not be counted.
    pub fn default_rule(
        users_hint: u64,
        epsilon: f64,
        nodes: usize,
        settings: &MetricHistogramSettings,
    ) -> Self {
        let is_thin = users_hint as f64 * epsilon < nodes as f64;
        let is_large = nodes >= Metric::KD_TREE_FROM;
        if is_thin && is_large && settings.cells_share == 0.0 {
            Self::Bicriteria
        } else {
            Self::Histogram
        }
    }
}

/// Metric k-median or k-means with the mechanism that suits the size. See the [module](super).
///
/// ```
/// use std::sync::Arc;
///
/// use dp_accounting::Budget;
/// use dp_combinatorial::k_median::{Metric, MetricClustering, Power};
/// use dp_mechanism::{Mechanism, chacha_from_os};
///
/// // Eight stops along a road, public; users at two of them, private.
/// let metric = Arc::new(Metric::from_points(&[0.0, 1.0, 2.0, 3.0, 10.0, 11.0, 12.0, 13.0], 1)?);
/// let users = [vec![1; 4_000], vec![6; 6_000]].concat();
///
/// let plan = MetricClustering::new(&metric, 2, Power::Median, Budget::new(1.0, 0.0)?, 10_000)?;
/// println!("{}", plan.receipt());
/// let release = plan.release(&users, &mut chacha_from_os()?)?;
/// assert_eq!(release.output.centres, [1, 6]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
#[allow(clippy::large_enum_variant, reason = "there is one plan, not a list of them")]
pub enum MetricClustering {
    /// By a histogram of all nodes.
    Histogram(MetricHistogram),
    /// By repeated private choices.
    Bicriteria(MetricBicriteria),
}

impl MetricClustering {
    /// A plan by [`Method::default_rule`], with settings that are [recommended](MetricHistogramSettings::recommended), or those of picks by default.
    ///
    /// # Errors
    /// Those of the mechanism that is chosen.
    pub fn new(
        metric: &Arc<Metric>,
        k: usize,
        power: Power,
        budget: Budget,
        users_hint: u64,
    ) -> Result<Self, CombinatorialError> {
        checked_k(k, metric)?;
        let epsilon = budget.epsilon();
        let settings = MetricHistogramSettings::recommended(metric, k, epsilon, users_hint);
        match Method::default_rule(users_hint, epsilon.get(), metric.nodes(), &settings) {
            Method::Histogram => {
                MetricHistogram::new(metric, k, power, budget, settings).map(Self::Histogram)
            }
            Method::Bicriteria => {
                let settings = MetricBicriteriaSettings::default();
                MetricBicriteria::new(metric, k, power, budget, users_hint, settings)
                    .map(Self::Bicriteria)
            }
        }
    }
}

impl Algorithm for MetricClustering {
    type Relation = AddRemove;
    type Data<'a> = &'a [u32];
    type Shape = ();
    type Output = Clustering;
    type Error = CombinatorialError;

    fn cost(&self) -> Receipt<AddRemove> {
        match self {
            Self::Histogram(plan) => plan.cost(),
            Self::Bicriteria(plan) => plan.cost(),
        }
    }

    fn shape(_: &&[u32]) {}

    fn check(&self, shape: &()) -> Result<(), CombinatorialError> {
        match self {
            Self::Histogram(plan) => plan.check(shape),
            Self::Bicriteria(plan) => plan.check(shape),
        }
    }

    fn run(&self, users: Private<&[u32]>, draws: &mut Draws<'_>) -> Clustering {
        match self {
            Self::Histogram(plan) => plan.run(users, draws),
            Self::Bicriteria(plan) => plan.run(users, draws),
        }
    }
}
