//! A noisy count of every node, and then nothing but computation.

use std::sync::Arc;

use dp_accounting::{AddRemove, Budget, Epsilon, ParamError, Receipt, Step};
use dp_mechanism::{Algorithm, Draws, NoisyCount, Private};
use serde::{Deserialize, Serialize};

use super::candidates::{Counted, Denoise, best};
use super::cells::{self, Cells};
use super::clustering::Clustering;
use super::cost::Power;
use super::faster_pam::{checked_k, exact_weights};
use super::metric::Metric;
use crate::CombinatorialError;
use crate::error::in_terms_of;

/// On the receipt.
const NODES: &str = "counts of the nodes";
const ONE_NODE: &str = "count of one node";

/// What cells get where they help: half, which is what the rest can spare. Measured.
const SHARE_OF_CELLS: f64 = 0.5;

/// Settings of [`MetricHistogram`]. Nothing here depends on data.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct MetricHistogramSettings {
    /// How noisy counts become weights. If there are several ways, the solution with the smallest noisy cost
    /// is released, which favours those that follow the noise. Default: [`Denoise::Neighbourhoods`] alone.
    pub denoise: Vec<Denoise>,
    /// What share of epsilon counts of cells get, eight for each centre; of the nodes in a cell together, noise in their own counts is far more. Below 1.
    /// Default: none. See [`recommended`](Self::recommended).
    pub cells_share: f64,
}

impl MetricHistogramSettings {
    /// By public facts. `users_hint` is roughly the number of users, as publicly known; it must not be counted.
    ///
    /// Half of epsilon for counts of cells where there are at least 32 nodes for each centre, at most `4 / epsilon` users for each node, and nodes are near the
    /// middle of their cell, as in a plane. Users who are spread over many nodes show in cells and not at nodes, and centres are up to a third closer; if few nodes have
    /// most users, half of the budget would have done nearly as well, and they are up to a tenth further.
    pub fn recommended(metric: &Metric, k: usize, epsilon: Epsilon, users_hint: u64) -> Self {
        let help = cells::help(metric, k, epsilon.get(), users_hint);
        Self { cells_share: if help { SHARE_OF_CELLS } else { 0.0 }, ..Self::default() }
    }
}

impl Default for MetricHistogramSettings {
    fn default() -> Self {
        Self { denoise: vec![Denoise::Neighbourhoods], cells_share: 0.0 }
    }
}

/// Metric k-median or k-means from a noisy count of every node, and of cells of nodes.
///
/// # Guarantee
/// `epsilon`-DP under [`AddRemove`] of users: a user is at one node and in one cell, whose counts get two-sided geometric
/// noise of their shares of epsilon. Everything else is computed from the noisy counts and public distances.
///
/// # Utility
/// A search for the smallest expected cost given the noisy counts. The noise of a node moves users by
/// `sqrt(2) / epsilon`; with more than `1 / epsilon` users per node, or where most nodes have none, it is
/// hardly felt.
///
/// # Complexity
/// `O(users + nodes)` draws and counts. [`Denoise::Neighbourhoods`] looks at `nodes * min(nodes / 4, 4096)`
/// distances at most, for cells around points that are far from each other, and at a fraction of them where
/// a place has few neighbours, as in the plane; a plan with cells at `nodes * min(8 k, 4096)` at most. Then the searches, see [`FasterPam`](super::FasterPam).
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
    /// Of nodes.
    epsilon: Epsilon,
    count: NoisyCount,
    cells: Option<Cells>,
}

impl MetricHistogram {
    /// For `k` centres among the nodes of a metric within this budget, of which only `epsilon` is used.
    ///
    /// # Errors
    /// [`CombinatorialError`] if `k` is zero or above the number of nodes, if there is no way to denoise,
    /// if the share of cells is negative or not below 1, or if `epsilon` is too small for 64-bit noise.
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
        let (share, all) = (settings.cells_share, budget.epsilon());
        if !(0.0..1.0).contains(&share) {
            return Err(CombinatorialError::real("cells_share", share, "at least 0 and below 1"));
        }
        let (epsilon, count, cells) = if share > 0.0 {
            let too_little = in_terms_of(budget);
            let parts = all.split(&[1.0 - share, share])?;
            let count = NoisyCount::geometric(parts[0]).map_err(&too_little)?;
            (parts[0], count, Some(Cells::new(metric, k, parts[1]).map_err(too_little)?))
        } else {
            (all, NoisyCount::geometric(all)?, None)
        };
        Ok(Self { k, power, budget, settings, metric: Arc::clone(metric), epsilon, count, cells })
    }

    /// The standard error of the sum of [`users`](Clustering::users) over these places, each given once. What is no node adds nothing.
    pub fn standard_error(&self, places: &[u32]) -> f64 {
        let noise = self.count.standard_deviation().powi(2);
        let nodes = self.metric.nodes();
        let places: Vec<u32> =
            places.iter().copied().filter(|&place| (place as usize) < nodes).collect();
        let variance = match &self.cells {
            Some(cells) => cells.variance(&places, noise),
            None => noise * places.len() as f64,
        };
        variance.sqrt()
    }

    /// That of one place, at most.
    pub fn place_error(&self) -> f64 {
        let noise = self.count.standard_deviation().powi(2);
        self.cells.as_ref().map_or(noise, |cells| cells.most_variance(noise)).sqrt()
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
        let nodes = Step::parallel(NODES, vec![Step::spend(ONE_NODE, self.count.loss())]);
        let spent = match &self.cells {
            Some(cells) => Step::sequential("counts", vec![nodes, cells.spent()]),
            None => nodes,
        };
        Receipt::new("metric-histogram", AddRemove, self.budget, spent)
    }

    fn shape(_: &&[u32]) {}

    fn check(&self, (): &()) -> Result<(), CombinatorialError> {
        Ok(())
    }

    fn run(&self, users: Private<&[u32]>, draws: &mut Draws<'_>) -> Clustering {
        let counts = users.map(|users| exact_weights(&self.metric, users));
        let of_cells = self.cells.as_ref().map(|cells| cells.release(counts.as_ref(), draws));
        let counts = counts.cells(self.metric.nodes());
        let noisy: Vec<i64> = (0..counts.len())
            .map(|node| {
                let draws = &mut draws.part(ONE_NODE, 0, node as u64);
                self.count.release(counts.at(node).map(|&count| count), draws)
            })
            .collect();
        let cells = self.cells.as_ref().zip(of_cells.as_deref());
        let counted = Counted { noisy: &noisy, epsilon: self.epsilon.get(), cells };
        let centres = best(&self.metric, self.k, self.power, &self.settings.denoise, &counted);
        let users = match cells {
            Some((cells, counts)) => {
                cells.agreed(&noisy, counts, self.count.standard_deviation().powi(2))
            }
            None => noisy.iter().map(|&count| count as f64).collect(),
        };
        let places = (0..u32::try_from(noisy.len()).expect("ids are u32")).collect();
        Clustering { centres, places, users }
    }
}
