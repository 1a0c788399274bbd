//! What the search knows about every client: its two nearest centres.

use super::blocks::{Blocks, LANES};
use crate::k_median::cost::Costs;

/// A client's part in the choice of a swap.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Client {
    /// Slot of the nearest centre, the first of equal ones.
    slot: u32,
    /// Its cost.
    first: u32,
    weight: u32,
}

/// Centres by slot, and costs from all of them to all clients.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Caches<'a> {
    pub(super) costs: Costs<'a>,
    k: usize,
    /// Of the clients.
    nodes: Vec<u32>,
    blocks: Blocks,
    pub(super) centres: Vec<u32>,
    /// `k` costs per client.
    table: Vec<u32>,
    clients: Vec<Client>,
    /// Cost of the second nearest centre; `u32::MAX` if there is none, which no cost exceeds.
    second: Vec<u32>,
    /// By slot: what its clients would pay more without it.
    removal: Vec<i64>,
}

/// Memory that is used again and again.
#[derive(Debug, Default)]
pub(super) struct Buffers {
    to_middles: Vec<u32>,
    block: Vec<u32>,
    changes: Vec<i64>,
}

/// The best swap for a candidate.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Swap {
    /// Of the total cost.
    pub(super) change: i64,
    /// Position of the candidate in the order of the search.
    pub(super) position: usize,
    pub(super) slot: usize,
}

impl<'a> Caches<'a> {
    /// Clients are nodes with weights; the total weight times any cost must be below `2^62`. Any order of
    /// clients will do; the nearer neighbours are to each other, the fewer are looked at.
    pub(super) fn new(costs: Costs<'a>, clients: &[(u32, u32)], centres: Vec<u32>) -> Self {
        let k = centres.len();
        let nodes: Vec<u32> = clients.iter().map(|&(node, _)| node).collect();
        let mut table = vec![0; k * nodes.len()];
        let mut row = Vec::new();
        for (slot, &centre) in centres.iter().enumerate() {
            costs.fill(centre, &nodes, &mut row);
            for (costs, &cost) in table.chunks_exact_mut(k).zip(&row) {
                costs[slot] = cost;
            }
        }
        let blocks = Blocks::new(costs.metric, &nodes);
        let client = |&(_, weight)| Client { slot: 0, first: 0, weight };
        let clients: Vec<Client> = clients.iter().map(client).collect();
        let second = vec![0; clients.len()];
        let removal = Vec::new();
        let mut all = Self { costs, k, nodes, blocks, centres, table, clients, second, removal };
        (0..all.clients.len()).for_each(|at| all.look_up(at));
        all.sum_up();
        all
    }

    /// Finds the two nearest centres of a client.
    fn look_up(&mut self, at: usize) {
        let (mut slot, mut first, mut second) = (0, u32::MAX, u32::MAX);
        for (number, &cost) in (0..).zip(&self.table[at * self.k..(at + 1) * self.k]) {
            if cost < first {
                (slot, first, second) = (number, cost, first);
            } else {
                second = second.min(cost);
            }
        }
        let client = &mut self.clients[at];
        (client.slot, client.first, self.second[at]) = (slot, first, second);
    }

    /// What follows from the two nearest centres of all clients.
    fn sum_up(&mut self) {
        self.blocks.set_reach(self.costs, &self.second);
        self.removal = vec![0; self.k];
        for (client, &second) in self.clients.iter().zip(&self.second) {
            self.removal[client.slot as usize] += times(client.weight, second - client.first);
        }
    }

    /// How many clients there are.
    pub(super) fn clients(&self) -> usize {
        self.nodes.len()
    }

    /// The best slot for a candidate.
    pub(super) fn best_slot(&self, position: usize, buffers: &mut Buffers) -> Swap {
        let Buffers { to_middles, block, changes } = buffers;
        let candidate = id(position);
        changes.clear();
        changes.extend_from_slice(&self.removal);
        let mut saved = 0;
        for number in self.blocks.near(self.costs.metric, candidate, to_middles) {
            let range = number * LANES..self.nodes.len().min((number + 1) * LANES);
            self.costs.fill(candidate, &self.nodes[range.clone()], block);
            let seconds = &self.second[range.clone()];
            // Of those within reach still most have nobody to win; this test takes a few instructions.
            let nearer = block.iter().zip(seconds).map(|(cost, second)| u32::from(cost < second));
            if nearer.sum::<u32>() == 0 {
                continue;
            }
            for ((&cost, &second), client) in block.iter().zip(seconds).zip(&self.clients[range]) {
                if cost < second {
                    let nearer = client.first.saturating_sub(cost);
                    saved += times(client.weight, nearer);
                    changes[client.slot as usize] -=
                        times(client.weight, second - cost.max(client.first));
                }
            }
        }
        let (change, slot) = changes.iter().zip(0..).min().expect("there is a centre");
        Swap { change: change - saved, position, slot }
    }

    /// Puts a candidate in a slot.
    pub(super) fn swap(&mut self, slot: usize, candidate: u32) {
        let mut costs = Vec::new();
        self.costs.fill(candidate, &self.nodes, &mut costs);
        self.centres[slot] = candidate;
        for (at, cost) in costs.into_iter().enumerate() {
            let old = std::mem::replace(&mut self.table[at * self.k + slot], cost);
            // Neither of its two nearest was in the slot, nor is one now.
            if old.min(cost) <= self.second[at] {
                self.look_up(at);
            }
        }
        self.sum_up();
    }
}

pub(super) fn id(node: usize) -> u32 {
    u32::try_from(node).expect("ids are u32")
}

fn times(weight: u32, cost: u32) -> i64 {
    i64::from(weight) * i64::from(cost)
}
