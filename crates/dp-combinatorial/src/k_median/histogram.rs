//! A noisy count of every node, and then nothing but computation.

use std::sync::Arc;

use dp_accounting::{AddRemove, Budget, ParamError, Receipt, Step};
use dp_mechanism::{Algorithm, Draws, NoisyCount, Private};
use serde::{Deserialize, Serialize};

use super::candidates::{Denoise, best};
use super::clustering::Clustering;
use super::cost::Power;
use super::faster_pam::{checked_k, exact_weights};
use super::metric::Metric;
use crate::CombinatorialError;

/// On the receipt.
const ONE_NODE: &str = "count of one node";

/// Settings of [`MetricHistogram`]. Nothing here depends on data.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct MetricHistogramSettings {
    /// How noisy counts become weights. If there are several ways, the solution with the smallest noisy cost
    /// is released, which favours those that follow the noise. Default: [`Denoise::Neighbourhoods`] alone.
    pub denoise: Vec<Denoise>,
}

impl MetricHistogramSettings {
    /// One prior for all nodes where there are fewer than 16 for each centre, and the default otherwise.
    ///
    /// Where a centre serves a few nodes, its users are told apart node by node, and neighbourhoods of 4 to 64 nodes mix those of several
    /// centres. With one user per node on average and `epsilon` 1 one prior was 4 to 24 % closer on graphs with 3 to 10 nodes for each
    /// centre; in the plane, with 8 to 15, from 17 % closer to 4 % further.
    pub fn for_sizes(k: usize, nodes: usize) -> Self {
        let few = nodes < k.saturating_mul(16);
        if few { Self { denoise: vec![Denoise::Exchangeable] } } else { Self::default() }
    }
}

impl Default for MetricHistogramSettings {
    fn default() -> Self {
        Self { denoise: vec![Denoise::Neighbourhoods] }
    }
}

/// Metric k-median or k-means from a noisy count of every node.
///
/// # Guarantee
/// `epsilon`-DP under [`AddRemove`] of users: a user is at one node, whose count gets two-sided geometric
/// noise. Everything else is computed from the noisy counts and public distances.
///
/// # Utility
/// A search for the smallest expected cost given the noisy counts. The noise of a node moves users by
/// `sqrt(2) / epsilon`; with more than `1 / epsilon` users per node, or where most nodes have none, it is
/// hardly felt.
///
/// # Complexity
/// `O(users + nodes)` draws and counts. [`Denoise::Neighbourhoods`] looks at `nodes * min(nodes / 4, 4096)`
/// distances at most, for cells around points that are far from each other, and at a fraction of them where
/// a place has few neighbours, as in the plane. Then the searches, see [`FasterPam`](super::FasterPam).
///
/// # Bad records
/// A user at no node is dropped.
///
/// # Source
/// Ghosh, Roughgarden, Sundararajan (2009) for the noise; Robbins (1956) for what is
/// done about it.
#[derive(Clone, Debug, PartialEq)]
pub struct MetricHistogram {
    k: usize,
    power: Power,
    budget: Budget,
    settings: MetricHistogramSettings,
    metric: Arc<Metric>,
    count: NoisyCount,
}

impl MetricHistogram {
    /// For `k` centres among the nodes of a metric within this budget, of which only `epsilon` is used.
    ///
    /// # Errors
    /// [`CombinatorialError`] if `k` is zero or above the number of nodes, if there is no way to denoise,
    /// or if `epsilon` is too small for 64-bit noise.
    pub fn new(
        metric: &Arc<Metric>,
        k: usize,
        power: Power,
        budget: Budget,
        settings: MetricHistogramSettings,
    ) -> Result<Self, CombinatorialError> {
        checked_k(k, metric)?;
        if settings.denoise.is_empty() {
            return Err(ParamError::Empty { name: "denoise" }.into());
        }
        settings.denoise.iter().try_for_each(|way| way.checked())?;
        let count = NoisyCount::geometric(budget.epsilon())?;
        Ok(Self { k, power, budget, settings, metric: Arc::clone(metric), count })
    }

    /// The settings it was built from.
    pub fn settings(&self) -> &MetricHistogramSettings {
        &self.settings
    }
}

impl Algorithm for MetricHistogram {
    type Relation = AddRemove;
    type Data<'a> = &'a [u32];
    type Shape = ();
    type Output = Clustering;
    type Error = CombinatorialError;

    fn cost(&self) -> Receipt<AddRemove> {
        let one = Step::spend(ONE_NODE, self.count.loss());
        let spent = Step::parallel("counts of the nodes", vec![one]);
        Receipt::new("metric-histogram", AddRemove, self.budget, spent)
    }

    fn shape(_: &&[u32]) {}

    fn check(&self, (): &()) -> Result<(), CombinatorialError> {
        Ok(())
    }

    fn run(&self, users: Private<&[u32]>, draws: &mut Draws<'_>) -> Clustering {
        let counts = users.map(|users| exact_weights(&self.metric, users));
        let counts = counts.cells(self.metric.nodes());
        let noisy: Vec<i64> = (0..counts.len())
            .map(|node| {
                let draws = &mut draws.part(ONE_NODE, 0, node as u64);
                self.count.release(counts.at(node).map(|&count| count), draws)
            })
            .collect();
        let (denoise, epsilon) = (&self.settings.denoise, self.budget.epsilon().get());
        let centres = best(&self.metric, self.k, self.power, denoise, epsilon, &noisy);
        let places = (0..u32::try_from(noisy.len()).expect("ids are u32")).collect();
        Clustering { centres, places, users: noisy.iter().map(|&count| count as f64).collect() }
    }
}
