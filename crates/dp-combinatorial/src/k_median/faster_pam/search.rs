//! The search itself.

use rayon::prelude::*;

use super::caches::{Caches, Swap};
use super::{FasterPam, Solution, clients_of, exact_cost};
use crate::k_median::cost::Costs;
use crate::k_median::gains::Gains;
use crate::k_median::metric::Metric;

/// Candidates that are looked at together; of these the best is taken.
pub(super) const BLOCK: usize = 32;
/// Weights are scaled down to this total, so that their costs fit in 62 bits.
const MOST_WEIGHT: u64 = 1 << 30;
/// Below this number of costs a block is not worth waking other threads.
const PARALLEL_FROM: usize = 1 << 16;

pub(super) fn search(settings: &FasterPam, metric: &Metric, weights: &[u64]) -> Solution {
    let (clients, scaled) = scaled_clients(weights);
    let costs = Costs::new(metric, settings.power, Costs::SEARCH_BITS);
    let start = greedy(costs, settings.k, &clients, &scaled);
    let (clients, scaled) = by_centre(costs, &start, &clients, &scaled);
    let mut caches = Caches::new(costs, &clients, &scaled, start);
    let (swaps, converged) = improve(settings, costs, &clients, &mut caches);
    let mut centres = caches.centres;
    centres.sort_unstable();
    let cost = exact_cost(metric, settings.power, weights, &centres);
    Solution { centres, cost, swaps, converged }
}

/// Nodes with a weight left after scaling.
pub(super) fn scaled_clients(weights: &[u64]) -> (Vec<u32>, Vec<u32>) {
    let total: u128 = weights.iter().copied().map(u128::from).sum();
    let halvings = (0..u128::BITS)
        .find(|&halvings| total >> halvings <= MOST_WEIGHT.into())
        .expect("nothing is left of it in the end");
    let scaled: Vec<u64> = weights.iter().map(|w| w.checked_shr(halvings).unwrap_or(0)).collect();
    let (clients, scaled) = clients_of(&scaled);
    let fits = |weight| u32::try_from(weight).expect("at most the total");
    (clients, scaled.into_iter().map(fits).collect())
}

/// Clients of one centre next to each other. Their order changes no sum, but then most candidates are far
/// from long stretches of clients.
fn by_centre(
    costs: Costs<'_>,
    centres: &[u32],
    clients: &[u32],
    weights: &[u32],
) -> (Vec<u32>, Vec<u32>) {
    let (mut nearest, mut row) = (vec![(u32::MAX, 0); clients.len()], Vec::new());
    for (slot, &centre) in centres.iter().enumerate() {
        costs.fill(centre, clients, &mut row);
        for (nearest, &cost) in nearest.iter_mut().zip(&row) {
            *nearest = (cost, slot).min(*nearest);
        }
    }
    let mut order: Vec<usize> = (0..clients.len()).collect();
    order.sort_by_key(|&at| (nearest[at].1, nearest[at].0));
    order.into_iter().map(|at| (clients[at], weights[at])).unzip()
}

/// Centres chosen one after another, each as the one that saves most; when nothing is left to save,
/// the first nodes that are none yet.
pub(super) fn greedy(costs: Costs<'_>, k: usize, clients: &[u32], weights: &[u32]) -> Vec<u32> {
    let base = vec![costs.most(); clients.len()];
    let weights = weights.iter().copied().map(u64::from).collect();
    let mut gains = Gains::new(costs, clients.to_vec(), weights, base);
    let mut chosen = Vec::with_capacity(k);
    let mut is_chosen = vec![false; costs.metric.nodes()];
    let mut first_free = 0;
    while chosen.len() < k {
        let most = gains.scores().iter().copied().max().expect("there is a node");
        let best = gains.scores().iter().position(|&gain| gain == most).expect("it was found");
        let node = if most > 0 && !is_chosen[best] {
            best
        } else {
            while is_chosen[first_free] {
                first_free += 1;
            }
            first_free
        };
        is_chosen[node] = true;
        let node = u32::try_from(node).expect("ids are u32");
        gains.open(node);
        chosen.push(node);
    }
    chosen
}

/// Swaps until a whole pass finds nothing; the number of swaps and whether it came to that.
pub(super) fn improve(
    settings: &FasterPam,
    costs: Costs<'_>,
    clients: &[u32],
    caches: &mut Caches,
) -> (usize, bool) {
    let nodes = costs.metric.nodes();
    let mut is_centre = vec![false; nodes];
    caches.centres.iter().for_each(|&centre| is_centre[centre as usize] = true);
    let (mut swaps, mut next, mut since_swap) = (0, 0, 0);
    let mut looks = nodes as u64 * u64::from(settings.max_passes);
    while since_swap < nodes {
        let block = (next..nodes.min(next + BLOCK)).filter(|&node| !is_centre[node]);
        let block: Vec<usize> = block.collect();
        let length = BLOCK.min(nodes - next);
        if looks < length as u64 {
            return (swaps, false);
        }
        looks -= length as u64;
        since_swap += length;
        if let Some(swap) = best_of(costs, clients, caches, &block).filter(|s| s.change < 0) {
            let (candidate, mut row) = (id(swap.position), Vec::new());
            costs.fill(candidate, clients, &mut row);
            is_centre[caches.centres[swap.slot] as usize] = false;
            is_centre[swap.position] = true;
            caches.swap(swap.slot, candidate, &row);
            swaps += 1;
            since_swap = 0;
        }
        next = if next + BLOCK >= nodes { 0 } else { next + BLOCK };
    }
    (swaps, true)
}

/// The best swap of a block, the first of equal ones.
fn best_of(costs: Costs<'_>, clients: &[u32], caches: &Caches, block: &[usize]) -> Option<Swap> {
    let look = |(row, changes): &mut (Vec<u32>, Vec<i64>), &position: &usize| {
        costs.fill(id(position), clients, row);
        caches.best_slot(position, row, changes)
    };
    if block.len() * clients.len() < PARALLEL_FROM {
        let mut buffers = Default::default();
        return block.iter().map(|position| look(&mut buffers, position)).min();
    }
    block.par_iter().map_init(Default::default, look).min()
}

fn id(node: usize) -> u32 {
    u32::try_from(node).expect("ids are u32")
}
