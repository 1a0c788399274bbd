//! Solutions computed from noisy counts in several ways, and the best of them. Post-processing.

use rayon::prelude::*;
use serde::{Deserialize, Serialize};

use super::cost::{Costs, Power};
use super::faster_pam::{FasterPam, nearest_costs};
use super::metric::Metric;
use super::net::Net;
use crate::CombinatorialError;

/// Ways to make weights out of noisy counts. Each gives a solution by local search.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Candidates {
    /// Counts below so many times `(ln nodes + 1) / epsilon` count as zero. At 1 hardly any empty node
    /// keeps a weight; at 0 half of them do.
    pub thresholds: Vec<f64>,
    /// Counts are summed over the cells around so many points that are spread over the metric, as a
    /// share of the nodes; noise averages out in the cells.
    pub nets: Vec<f64>,
    /// Whether the solution for equal weights is among them, which is public.
    pub uniform: bool,
}

impl Default for Candidates {
    /// Thresholds 0, .25, .5 and 1, nets of a quarter, a sixteenth and a sixty-fourth, and the uniform
    /// solution.
    fn default() -> Self {
        Self {
            thresholds: vec![0.0, 0.25, 0.5, 1.0],
            nets: vec![1.0 / 4.0, 1.0 / 16.0, 1.0 / 64.0],
            uniform: true,
        }
    }
}

impl Candidates {
    /// Refuses what would give no solution.
    pub(super) fn checked(&self) -> Result<(), CombinatorialError> {
        let setting = |name, got, want| Err(CombinatorialError::Setting { name, got, want });
        if let Some(&got) = self.thresholds.iter().find(|t| !(t.is_finite() && **t >= 0.0)) {
            return setting("thresholds", got, "finite and at least 0");
        }
        if let Some(&got) = self.nets.iter().find(|net| !(**net > 0.0 && **net <= 1.0)) {
            return setting("nets", got, "above 0 and at most 1");
        }
        if self.thresholds.is_empty() && self.nets.is_empty() && !self.uniform {
            return setting("candidates", 0.0, "at least one");
        }
        Ok(())
    }
}

/// The centres with the smallest noisy cost among those of all candidates, the first of equal ones.
pub(super) fn best(
    metric: &Metric,
    k: usize,
    power: Power,
    candidates: &Candidates,
    epsilon: f64,
    noisy: &[i64],
) -> Vec<u32> {
    let nodes = noisy.len() as f64;
    let scale = (nodes.ln() + 1.0) / epsilon;
    let mut weights: Vec<Vec<u64>> = candidates
        .thresholds
        .iter()
        .map(|threshold| at_least(noisy, |_| threshold * scale))
        .collect();
    for share in &candidates.nets {
        #[allow(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "a share of nodes"
        )]
        let points = (share * nodes).ceil() as usize;
        weights.push(on_a_net(&Net::new(metric, points.max(k)), epsilon, noisy));
    }
    if candidates.uniform {
        weights.push(vec![1; noisy.len()]);
    }
    let search = |weights: &Vec<u64>| {
        let found =
            FasterPam::new(k, power).post_search(metric, weights).expect("checked when built");
        (noisy_cost(metric, power, noisy, &found.centres), found.centres)
    };
    let all: Vec<(i128, Vec<u32>)> = weights.par_iter().map(search).collect();
    all.into_iter().min_by_key(|(cost, _)| *cost).expect("there is a candidate").1
}

/// Noisy counts, with zero for those that are negative or below their threshold.
fn at_least(noisy: &[i64], threshold: impl Fn(usize) -> f64) -> Vec<u64> {
    let kept = |(at, &count): (usize, &i64)| {
        if (count as f64) < threshold(at) { 0 } else { u64::try_from(count).unwrap_or(0) }
    };
    noisy.iter().enumerate().map(kept).collect()
}

/// Counts summed over cells, at the points of the net. Sums below twice the standard deviation of their
/// noise count as zero.
fn on_a_net(net: &Net, epsilon: f64, noisy: &[i64]) -> Vec<u64> {
    let mut sums = vec![0_i64; noisy.len()];
    let mut sizes = vec![0_u32; noisy.len()];
    for (&point, &count) in net.nearest.iter().zip(noisy) {
        sums[point as usize] = sums[point as usize].saturating_add(count);
        sizes[point as usize] += 1;
    }
    at_least(&sums, |at| 2.0 * (2.0 * f64::from(sizes[at])).sqrt() / epsilon)
}

/// What the noisy counts say that these centres cost: no bias for any centres fixed beforehand.
fn noisy_cost(metric: &Metric, power: Power, noisy: &[i64], centres: &[u32]) -> i128 {
    let costs = Costs::new(metric, power, Costs::SEARCH_BITS);
    let all: Vec<u32> = (0..u32::try_from(noisy.len()).expect("ids are u32")).collect();
    let nearest = nearest_costs(costs, &all, centres);
    nearest.iter().zip(noisy).map(|(&cost, &count)| i128::from(cost) * i128::from(count)).sum()
}
