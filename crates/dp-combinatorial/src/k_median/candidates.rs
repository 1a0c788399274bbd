//! From noisy counts to centres. Post-processing.

use serde::{Deserialize, Serialize};

use super::cells::Cells;
use super::cost::{Costs, Power};
use super::faster_pam::{FasterPam, nearest_costs};
use super::metric::Metric;
use super::net::Net;
use super::shrink::{posterior_means, posterior_means_by_neighbourhood};
use crate::CombinatorialError;

/// How noisy counts become weights for the search.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Denoise {
    /// Posterior means, with a prior fitted to the noisy counts of nodes in neighbourhoods that are about
    /// as busy. Good wherever the users are. The neighbourhoods have 64, 16 and 4 nodes on average, or more:
    /// there are at most 4,096 of them.
    Neighbourhoods,
    /// Posterior means with one prior for all nodes: for metrics without neighbourhoods.
    ///
    /// Both kinds of means are corrected by counts of cells, if there are any.
    Exchangeable,
    /// Counts below so many times `(ln nodes + 1) / epsilon` are zero. At 0 all that are positive count, at
    /// 1 hardly any empty node does.
    Threshold(f64),
    /// Equal weights, whatever the counts: the public solution.
    Uniform,
}

impl Denoise {
    pub(super) fn checked(self) -> Result<(), CombinatorialError> {
        match self {
            Self::Threshold(got) if !(got.is_finite() && got >= 0.0) => {
                let (name, want) = ("threshold", "finite and at least 0");
                Err(CombinatorialError::real(name, got, want))
            }
            _ => Ok(()),
        }
    }

    fn weights(self, metric: &Metric, counted: &Counted<'_>) -> Vec<u64> {
        let &Counted { epsilon, noisy, .. } = counted;
        match self {
            Self::Neighbourhoods => {
                counted.in_units(posterior_means_by_neighbourhood(metric, epsilon, noisy))
            }
            Self::Exchangeable => counted.in_units(posterior_means(noisy, epsilon)),
            Self::Threshold(factor) => {
                let threshold = factor * ((noisy.len() as f64).ln() + 1.0) / epsilon;
                let kept = |&count: &i64| {
                    if (count as f64) < threshold { 0 } else { u64::try_from(count).unwrap_or(0) }
                };
                noisy.iter().map(kept).collect()
            }
            Self::Uniform => vec![1; noisy.len()],
        }
    }
}

/// What was released.
pub(super) struct Counted<'a> {
    /// Of each node, with noise of this epsilon.
    pub(super) noisy: &'a [i64],
    pub(super) epsilon: f64,
    /// And of cells, if these were counted.
    pub(super) cells: Option<(&'a Cells, &'a [i64])>,
}

impl Counted<'_> {
    fn in_units(&self, means: Vec<f64>) -> Vec<u64> {
        match self.cells {
            Some((cells, counts)) => in_units(&cells.corrected(means, counts)),
            None => in_units(&means),
        }
    }
}

/// Weights are integers; means are counted in units of a 64th of a user.
pub(super) fn in_units(means: &[f64]) -> Vec<u64> {
    #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "saturates")]
    means.iter().map(|mean| (mean.max(0.0) * 64.0).round() as u64).collect()
}

/// Where nobody is known to be anywhere all nodes are alike: the public solution, which a search without weights would not find.
pub(super) fn or_alike(mut weights: Vec<u64>) -> Vec<u64> {
    if weights.iter().all(|&weight| weight == 0) {
        weights.fill(1);
    }
    weights
}

/// The centres for the weights made in one way; of several ways, those with the smallest noisy cost.
pub(super) fn best(
    metric: &Metric,
    k: usize,
    power: Power,
    ways: &[Denoise],
    counted: &Counted<'_>,
) -> Vec<u32> {
    let solve = |way: &Denoise| {
        let weights = or_alike(way.weights(metric, counted));
        let weights = moved_to_a_net(metric, k, weights);
        let search = FasterPam::new(k, power);
        search.post_search(metric, &weights).expect("checked when built").centres
    };
    if let [way] = ways {
        return solve(way);
    }
    let all = ways.iter().map(solve);
    let cost = |centres: &Vec<u32>| noisy_cost(metric, power, counted.noisy, centres);
    all.min_by_key(cost).expect("there is a way")
}

/// Of many nodes with users the users are moved to the nearest point of a net; centres may still be any node.
fn moved_to_a_net(metric: &Metric, k: usize, weights: Vec<u64>) -> Vec<u64> {
    if weights.iter().filter(|&&weight| weight > 0).count() <= metric.sizes().clients {
        return weights;
    }
    let net =
        Net::nested(metric, &[metric.sizes().net.max(4 * k)]).pop().expect("one was asked for");
    let mut moved = vec![0_u64; weights.len()];
    for (&point, weight) in net.nearest.iter().zip(weights) {
        moved[point as usize] = moved[point as usize].saturating_add(weight);
    }
    moved
}

/// What the noisy counts say that these centres cost: no bias for centres fixed beforehand.
fn noisy_cost(metric: &Metric, power: Power, noisy: &[i64], centres: &[u32]) -> i128 {
    let costs = Costs::new(metric, power, Costs::SEARCH_BITS);
    let all: Vec<u32> = (0..u32::try_from(noisy.len()).expect("ids are u32")).collect();
    let nearest = nearest_costs(costs, &all, centres);
    nearest.iter().zip(noisy).map(|(&cost, &count)| i128::from(cost) * i128::from(count)).sum()
}
