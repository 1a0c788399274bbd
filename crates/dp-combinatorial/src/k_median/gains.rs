//! What one more centre would save, for all nodes at once, kept up to date.

use rayon::prelude::*;

use super::cost::{Costs, Power};
use super::metric::{KdTree, Storage};
use crate::Sizes;

/// Weighted clients, what each costs at present, and for every node what a centre there would save.
///
/// # Complexity
/// A centre costs one pass over the clients, and one over the nodes for each client that it serves
/// better: a client's cost only falls, and how often it does is a few times on average, not once
/// per centre. With points in a kd-tree only nodes nearer than the client's present centre are seen.
pub(super) struct Gains<'a> {
    costs: Costs<'a>,
    clients: Vec<u32>,
    weights: Vec<u64>,
    current: Vec<u32>,
    /// By node, or by place in the kd-tree.
    savings: Vec<i64>,
    /// By node, if `savings` are not.
    by_node: Vec<i64>,
    to_chosen: Vec<u32>,
}

/// A client whose cost falls, or begins.
struct Change {
    client: u32,
    weight: u64,
    old: u32,
    new: u32,
}

impl<'a> Gains<'a> {
    /// Clients with weights; before any centre each costs what `base` says.
    ///
    /// Sums must fit: total weight times [`Costs::most`] below `2^63`.
    pub(super) fn new(
        costs: Costs<'a>,
        clients: Vec<u32>,
        weights: Vec<u64>,
        base: Vec<u32>,
    ) -> Self {
        let nodes = costs.metric.nodes();
        let mut all = Self {
            costs,
            clients,
            weights,
            current: base,
            savings: vec![0; nodes],
            by_node: Vec::new(),
            to_chosen: Vec::new(),
        };
        let begin = |at: usize| Change {
            client: all.clients[at],
            weight: all.weights[at],
            old: all.current[at],
            new: 0,
        };
        let changes: Vec<Change> = (0..all.clients.len()).map(begin).collect();
        all.apply(&changes, 1);
        all
    }

    /// For every node what a centre there would save.
    pub(super) fn scores(&self) -> &[i64] {
        if self.by_node.is_empty() { &self.savings } else { &self.by_node }
    }

    /// Opens a centre.
    pub(super) fn open(&mut self, centre: u32) {
        let mut to_chosen = std::mem::take(&mut self.to_chosen);
        self.costs.fill(centre, &self.clients, &mut to_chosen);
        let mut changes = Vec::new();
        for (at, &new) in to_chosen.iter().enumerate() {
            let old = self.current[at];
            if new < old {
                let (client, weight) = (self.clients[at], self.weights[at]);
                changes.push(Change { client, weight, old, new });
                self.current[at] = new;
            }
        }
        self.to_chosen = to_chosen;
        self.apply(&changes, -1);
    }

    /// Adds `sign` times what each client's change from `old` to `new` takes from every node's saving.
    fn apply(&mut self, changes: &[Change], sign: i64) {
        let (nodes, shift) = (self.costs.metric.nodes(), self.costs.shift);
        let sizes = self.costs.metric.sizes();
        let squared = |steps: u32| {
            let steps = u64::from(steps);
            u32::try_from((steps * steps) >> shift).unwrap_or(u32::MAX)
        };
        match (self.costs.metric.storage(), self.costs.power) {
            (Storage::Short(all), Power::Median) if shift == 0 => {
                by_tiles(sizes, &mut self.savings, |start, tile| {
                    narrow(all, (nodes, start), sizes, changes, sign, tile);
                });
            }
            (Storage::Short(all), Power::Median) => {
                let cost = |steps: u16| u32::from(steps) >> shift;
                by_tiles(sizes, &mut self.savings, |start, tile| {
                    wide(all, nodes, start, changes, sign, tile, cost);
                });
            }
            (Storage::Short(all), Power::Means) => {
                // 16 bits squared fit in 32, which keeps the loop in narrow lanes.
                let cost = |steps: u16| (u32::from(steps) * u32::from(steps)) >> shift;
                by_tiles(sizes, &mut self.savings, |start, tile| {
                    wide(all, nodes, start, changes, sign, tile, cost);
                });
            }
            (Storage::Long(all), Power::Median) => {
                by_tiles(sizes, &mut self.savings, |start, tile| {
                    wide(all, nodes, start, changes, sign, tile, |steps| steps >> shift);
                });
            }
            (Storage::Long(all), Power::Means) => {
                by_tiles(sizes, &mut self.savings, |start, tile| {
                    wide(all, nodes, start, changes, sign, tile, squared);
                });
            }
            (Storage::Points(tree), _) => {
                by_subtrees(tree, self.costs, changes, sign, &mut self.savings);
                self.by_node.resize(nodes, 0);
                for (&node, &gain) in tree.nodes().iter().zip(&self.savings) {
                    self.by_node[node as usize] = gain;
                }
            }
        }
    }
}

fn by_tiles(sizes: Sizes, gains: &mut [i64], work: impl Fn(usize, &mut [i64]) + Sync) {
    let size = sizes.tile.min(Sizes::MOST_TILE);
    gains.par_chunks_mut(size).enumerate().for_each(|(number, tile)| work(number * size, tile));
}

/// What the change takes from a node at this cost.
fn saved(cost: u32, old: u32, new: u32) -> u32 {
    old.saturating_sub(cost) - new.saturating_sub(cost)
}

fn wide<T: Copy>(
    all: &[T],
    nodes: usize,
    start: usize,
    changes: &[Change],
    sign: i64,
    tile: &mut [i64],
    cost: impl Fn(T) -> u32,
) {
    for change in changes {
        let row = &all[change.client as usize * nodes + start..][..tile.len()];
        let weight = sign * weight_of(change);
        for (gain, &steps) in tile.iter_mut().zip(row) {
            *gain += weight * i64::from(saved(cost(steps), change.old, change.new));
        }
    }
}

/// As [`wide`] for distances of 16 bits, with sums of 32 bits that are emptied before they overflow.
fn narrow(
    all: &[u16],
    (nodes, start): (usize, usize),
    sizes: Sizes,
    changes: &[Change],
    sign: i64,
    tile: &mut [i64],
) {
    let mut sums = [0_u32; Sizes::MOST_TILE];
    let mut bound = 0_u64;
    let empty = |sums: &mut [u32; Sizes::MOST_TILE], tile: &mut [i64]| {
        for (gain, sum) in tile.iter_mut().zip(sums.iter_mut()) {
            *gain += sign * i64::from(*sum);
            *sum = 0;
        }
    };
    for change in changes {
        let light = u16::try_from(change.weight).ok().filter(|&weight| weight <= sizes.heaviest);
        let fits = light.zip(u16::try_from(change.old).ok());
        let Some((weight, old)) = fits else {
            let one = std::slice::from_ref(change);
            wide(all, nodes, start, one, sign, tile, u32::from);
            continue;
        };
        let new = u16::try_from(change.new).expect("below the old cost");
        let row = &all[change.client as usize * nodes + start..][..tile.len()];
        let most = u64::from(weight) * u64::from(old - new);
        bound += most;
        if bound > sizes.narrow.into() {
            empty(&mut sums, tile);
            bound = most;
        }
        for (sum, &steps) in sums.iter_mut().zip(row) {
            let saved = old.saturating_sub(steps) - new.saturating_sub(steps);
            *sum += u32::from(saved) * u32::from(weight);
        }
    }
    empty(&mut sums, tile);
}

fn by_subtrees(tree: &KdTree, costs: Costs<'_>, changes: &[Change], sign: i64, gains: &mut [i64]) {
    let mut rest = gains;
    let mut parts = Vec::new();
    for (number, range) in tree.subtrees(costs.metric.sizes().subtrees) {
        let (part, after) = rest.split_at_mut(range.len());
        parts.push((number, range, part));
        rest = after;
    }
    parts.into_par_iter().for_each(|(number, range, part)| {
        for change in changes {
            let weight = sign * weight_of(change);
            let reach = costs.reach(change.old);
            tree.within(change.client, reach, (number, range.clone()), &mut |place, steps| {
                let saved = saved(costs.of(steps), change.old, change.new);
                part[place - range.start] += weight * i64::from(saved);
            });
        }
    });
}

fn weight_of(change: &Change) -> i64 {
    i64::try_from(change.weight).expect("the caller sees to the total")
}

#[cfg(test)]
mod tests {
    use dp_mechanism::ChaCha20Rng;
    use rand::{RngExt, SeedableRng};

    use super::*;
    use crate::k_median::metric::{Metric, Width};

    fn plain(costs: Costs<'_>, clients: &[u32], weights: &[u64], now: &[u32]) -> Vec<i64> {
        let saving = |node: u32| {
            let of = |at: usize| {
                let cost = costs.of(costs.metric.between(clients[at], node));
                i64::try_from(weights[at]).unwrap() * i64::from(now[at].saturating_sub(cost))
            };
            (0..clients.len()).map(of).sum()
        };
        (0..u32::try_from(costs.metric.nodes()).unwrap()).map(saving).collect()
    }

    /// Every storage, both powers, small and large weights: gains are those of the definition after
    /// every step, and what is saved adds up to what the clients cost less.
    #[test]
    fn kept_gains_are_those_of_the_definition() {
        let mut rng = ChaCha20Rng::seed_from_u64(1);
        let nodes = 300;
        let points: Vec<f64> = (0..2 * nodes).map(|_| rng.random_range(0.0..1.0)).collect();
        for (width, keep) in [(Width::Bits16, true), (Width::Bits24, true), (Width::Bits24, false)]
        {
            let metric = Metric::from_points_as(&points, 2, width, keep).unwrap();
            for (power, heavy) in [(Power::Median, 3), (Power::Median, 200_000), (Power::Means, 50)]
            {
                for bits in [10, Costs::SCORE_BITS] {
                    let costs = Costs::new(&metric, power, bits);
                    let clients: Vec<u32> = (0..300).filter(|_| rng.random()).collect();
                    let weights: Vec<u64> =
                        clients.iter().map(|_| rng.random_range(0..=heavy)).collect();
                    let base = |&c: &u32| costs.of(metric.between(metric.centre().0, c));
                    let mut now: Vec<u32> = clients.iter().map(base).collect();
                    let mut gains =
                        Gains::new(costs, clients.clone(), weights.clone(), now.clone());
                    for _ in 0..12 {
                        assert_eq!(gains.scores(), plain(costs, &clients, &weights, &now));
                        let centre = rng.random_range(0..300);
                        gains.open(centre);
                        for (now, &client) in now.iter_mut().zip(&clients) {
                            *now = (*now).min(costs.of(metric.between(client, centre)));
                        }
                        assert_eq!(gains.current, now);
                    }
                }
            }
        }
    }
}
