//! What the search knows about every client: its two nearest centres.

use crate::k_median::cost::Costs;

/// Clients that are passed over together.
const LANES: usize = 16;

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
pub(super) struct Caches {
    k: usize,
    pub(super) centres: Vec<u32>,
    /// `k` costs per client.
    table: Vec<u32>,
    clients: Vec<Client>,
    /// Cost of the second nearest centre; `u32::MAX` if there is none, which no cost exceeds.
    second: Vec<u32>,
    /// By slot: what its clients would pay more without it.
    removal: Vec<i64>,
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

impl Caches {
    /// The total weight times any cost must be below `2^62`.
    pub(super) fn new(
        costs: Costs<'_>,
        clients: &[u32],
        weights: &[u32],
        centres: Vec<u32>,
    ) -> Self {
        let k = centres.len();
        let mut table = vec![0; k * clients.len()];
        let mut row = Vec::new();
        for (slot, &centre) in centres.iter().enumerate() {
            costs.fill(centre, clients, &mut row);
            for (costs, &cost) in table.chunks_exact_mut(k).zip(&row) {
                costs[slot] = cost;
            }
        }
        let client = |&weight| Client { slot: 0, first: 0, weight };
        let clients = weights.iter().map(client).collect();
        let second = vec![0; weights.len()];
        let mut all = Self { k, centres, table, clients, second, removal: Vec::new() };
        (0..all.clients.len()).for_each(|at| all.look_up(at));
        all.sum_removals();
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

    fn sum_removals(&mut self) {
        self.removal = vec![0; self.k];
        for (client, &second) in self.clients.iter().zip(&self.second) {
            self.removal[client.slot as usize] += times(client.weight, second - client.first);
        }
    }

    /// The best slot for a candidate, given its costs to all clients.
    pub(super) fn best_slot(&self, position: usize, costs: &[u32], changes: &mut Vec<i64>) -> Swap {
        changes.clear();
        changes.extend_from_slice(&self.removal);
        let mut saved = 0;
        for (at, (costs, second)) in costs.chunks(LANES).zip(self.second.chunks(LANES)).enumerate()
        {
            // Most candidates are far from most clients; this test takes a few instructions.
            let nearer = costs.iter().zip(second).map(|(cost, second)| u32::from(cost < second));
            if nearer.sum::<u32>() == 0 {
                continue;
            }
            for ((&cost, &second), client) in
                costs.iter().zip(second).zip(&self.clients[at * LANES..])
            {
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
    pub(super) fn swap(&mut self, slot: usize, candidate: u32, costs: &[u32]) {
        self.centres[slot] = candidate;
        for (at, &cost) in costs.iter().enumerate() {
            let old = std::mem::replace(&mut self.table[at * self.k + slot], cost);
            // Neither of its two nearest was in the slot, nor is one now.
            if old.min(cost) <= self.second[at] {
                self.look_up(at);
            }
        }
        self.sum_removals();
    }
}

fn times(weight: u32, cost: u32) -> i64 {
    i64::from(weight) * i64::from(cost)
}
