//! The search itself.
//!
//! Its sizes decide by how many clients there are, which are the nodes with a weight. Weights are plain numbers here: out of draws, or from a
//! caller who says that they are public. A mechanism's own counts are `Private` and do not get here.

use std::ops::{Range, RangeInclusive};

use rayon::prelude::*;

use super::blocks::by_neighbourhood;
use super::caches::{Buffers, Caches, Swap, id};
use super::{FasterPam, Solution, clients_of, exact_cost};
use crate::k_median::cost::Costs;
use crate::k_median::gains::Gains;
use crate::k_median::metric::Metric;

/// Candidates of which the best is taken.
pub(super) const BLOCK: usize = 32;
/// Most blocks that are looked at together.
const MOST_TOGETHER: usize = 16;
/// Clients of the search for a start, at least and at most. It takes a few hundredths of a second and leaves
/// few swaps to the search on all of them.
const SAMPLE: RangeInclusive<usize> = 2_048..=4_096;
/// With fewer clients of the sample per centre than this it leaves too many.
const SAMPLE_PER_CENTRE: usize = 40;
/// Weights are scaled down to this total, so that their costs fit in 62 bits.
const MOST_WEIGHT: u64 = 1 << 30;
/// Below this number of costs a block is not worth waking other threads.
const PARALLEL_FROM: usize = 1 << 16;

pub(super) fn search(settings: &FasterPam, metric: &Metric, weights: &[u64]) -> Solution {
    let (clients, scaled) = scaled_clients(weights);
    let mut clients: Vec<(u32, u32)> = clients.into_iter().zip(scaled).collect();
    by_neighbourhood(metric, &mut clients);
    let start = start(settings, metric, &clients);
    let costs = Costs::new(metric, settings.power, Costs::SEARCH_BITS);
    let mut caches = Caches::new(costs, &clients, start);
    let (swaps, converged) = improve(settings, &mut caches);
    let mut centres = caches.centres;
    centres.sort_unstable();
    let cost = exact_cost(metric, settings.power, weights, &centres);
    let cost = cost.expect("there are centres, and all are nodes");
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

/// Centres chosen one after another, each as the one that saves most; when nothing is left to save,
/// the first nodes that are none yet.
pub(super) fn greedy(costs: Costs<'_>, k: usize, clients: &[(u32, u32)]) -> Vec<u32> {
    let base = vec![costs.most(); clients.len()];
    let (clients, weights) = clients.iter().map(|&(node, w)| (node, u64::from(w))).unzip();
    let mut gains = Gains::new(costs, clients, weights, base);
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

/// Centres to start from: a search on a sample of the clients, if there are many; else greedy.
fn start(settings: &FasterPam, metric: &Metric, clients: &[(u32, u32)]) -> Vec<u32> {
    let size = settings.k.saturating_mul(SAMPLE_PER_CENTRE).max(*SAMPLE.start());
    let sample = if size > *SAMPLE.end() || clients.len() <= 2 * size {
        Vec::new()
    } else {
        sample(clients, size)
    };
    // A few heavy clients may be all of the sample.
    if sample.len() < size / 2 {
        let costs = Costs::new(metric, settings.power, Costs::SEARCH_BITS);
        return greedy(costs, settings.k, clients);
    }
    let mut nodes: Vec<u32> = sample.iter().map(|&(node, _)| node).collect();
    nodes.sort_unstable();
    let part = metric.part(&nodes);
    let place = |node| id(nodes.binary_search(&node).expect("it is of the sample"));
    let sample: Vec<(u32, u32)> = sample.iter().map(|&(node, w)| (place(node), w)).collect();
    let costs = Costs::new(&part, settings.power, Costs::SEARCH_BITS);
    let mut caches = Caches::new(costs, &sample, greedy(costs, settings.k, &sample));
    improve(settings, &mut caches);
    caches.centres.into_iter().map(|centre| nodes[centre as usize]).collect()
}

/// At most so many clients, and for how many of so many equal parts of the total weight they stand.
/// Where clients come by neighbourhood, every neighbourhood has its share.
pub(super) fn sample(clients: &[(u32, u32)], size: usize) -> Vec<(u32, u32)> {
    let total: u64 = clients.iter().map(|&(_, weight)| u64::from(weight)).sum();
    let parts_up_to = |weight: u64| {
        let parts = u128::from(weight) * size as u128 / u128::from(total.max(1));
        u32::try_from(parts).expect("at most all")
    };
    let mut before = 0;
    let weighed = clients.iter().map(|&(node, weight)| {
        let first = parts_up_to(before);
        before += u64::from(weight);
        (node, parts_up_to(before) - first)
    });
    weighed.filter(|&(_, parts)| parts > 0).collect()
}

/// Swaps until a whole pass finds nothing; the number of swaps and whether it came to that.
///
/// Candidates are looked at in blocks, one after another, and the best of a block is taken if it helps.
/// When nothing has helped for a while, more blocks are looked at together; those after one that helps are
/// forgotten.
pub(super) fn improve(settings: &FasterPam, caches: &mut Caches<'_>) -> (usize, bool) {
    let nodes = caches.costs.metric.nodes();
    let mut is_centre = vec![false; nodes];
    caches.centres.iter().for_each(|&centre| is_centre[centre as usize] = true);
    let (mut swaps, mut next, mut since_swap, mut together) = (0, 0, 0, 1);
    let mut looks = nodes as u64 * u64::from(settings.max_passes);
    while since_swap < nodes {
        let seen = look_at(caches, &is_centre, next..nodes.min(next + together * BLOCK));
        together = MOST_TOGETHER.min(2 * together);
        for block in seen.chunks(BLOCK) {
            if looks < block.len() as u64 {
                return (swaps, false);
            }
            looks -= block.len() as u64;
            since_swap += block.len();
            next = (next + block.len()) % nodes;
            if let Some(swap) = block.iter().flatten().min().filter(|swap| swap.change < 0) {
                is_centre[caches.centres[swap.slot] as usize] = false;
                is_centre[swap.position] = true;
                caches.swap(swap.slot, id(swap.position));
                swaps += 1;
                (since_swap, together) = (0, 1);
                break;
            }
        }
    }
    (swaps, true)
}

/// The best swap of every candidate that is no centre.
fn look_at(caches: &Caches<'_>, is_centre: &[bool], nodes: Range<usize>) -> Vec<Option<Swap>> {
    let look = |buffers: &mut Buffers, position: usize| {
        (!is_centre[position]).then(|| caches.best_slot(position, buffers))
    };
    if nodes.len() * caches.clients() < PARALLEL_FROM {
        let mut buffers = Buffers::default();
        return nodes.map(|position| look(&mut buffers, position)).collect();
    }
    nodes.into_par_iter().with_min_len(8).map_init(Buffers::default, look).collect()
}
