//! Clients in blocks of neighbours, so that most of them need not be looked at for most candidates.

use crate::k_median::cost::Costs;
use crate::k_median::metric::Metric;

/// Clients of a block.
pub(super) const LANES: usize = 16;

/// For every block of clients a node in its middle, and how near to it a candidate must be to be second
/// nearest, or nearer, to any of them.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Blocks {
    /// By node, which is the order of their distances in memory.
    middles: Vec<u32>,
    /// The block of each.
    numbers: Vec<usize>,
    /// For every client how far the middle of its block is, in steps.
    to_middle: Vec<u32>,
    /// By block, in steps.
    reach: Vec<u32>,
}

impl Blocks {
    /// Blocks of clients in the order given, which reach nowhere yet.
    pub(super) fn new(metric: &Metric, clients: &[u32]) -> Self {
        let mut middles = Vec::with_capacity(clients.len().div_ceil(LANES));
        let mut to_middle = Vec::with_capacity(clients.len());
        let mut row = Vec::new();
        for block in clients.chunks(LANES) {
            let radius = |&client: &u32| {
                metric.fill(client, block, &mut row);
                row.iter().copied().max()
            };
            let middle = block.iter().copied().min_by_key(radius).expect("chunks are not empty");
            metric.fill(middle, block, &mut row);
            to_middle.extend_from_slice(&row);
            middles.push((middle, middles.len()));
        }
        middles.sort_unstable();
        let (middles, numbers): (Vec<u32>, Vec<usize>) = middles.into_iter().unzip();
        let reach = vec![0; middles.len()];
        Self { middles, numbers, to_middle, reach }
    }

    /// Takes note of what each client pays at the second nearest centre.
    pub(super) fn set_reach(&mut self, costs: Costs<'_>, second: &[u32]) {
        let blocks = self.to_middle.chunks(LANES).zip(second.chunks(LANES));
        for (reach, (to_middle, second)) in self.reach.iter_mut().zip(blocks) {
            let reaches = to_middle.iter().zip(second).map(|(d, &cost)| d + costs.reach(cost));
            // By the triangle inequality; 2 for the rounding of the steps.
            *reach = 2 + reaches.max().expect("chunks are not empty");
        }
    }

    /// The blocks where the candidate may change something; `row` is a buffer.
    pub(super) fn near(
        &self,
        metric: &Metric,
        candidate: u32,
        row: &mut Vec<u32>,
    ) -> impl Iterator<Item = usize> {
        metric.fill(candidate, &self.middles, row);
        let blocks = row.iter().zip(&self.numbers);
        blocks.filter(|&(&distance, &block)| distance < self.reach[block]).map(|(_, &block)| block)
    }
}

/// Clients with their weights in an order in which neighbours are next to each other: in halves, again and
/// again, by which of two distant clients is nearer.
pub(super) fn by_neighbourhood(metric: &Metric, clients: &mut [(u32, u32)]) {
    if clients.len() <= LANES {
        return;
    }
    let nodes: Vec<u32> = clients.iter().map(|&(node, _)| node).collect();
    let (mut to_one, mut to_other) = (Vec::new(), Vec::new());
    metric.fill(nodes[0], &nodes, &mut to_one);
    let one = farthest(&nodes, &to_one);
    metric.fill(one, &nodes, &mut to_one);
    metric.fill(farthest(&nodes, &to_one), &nodes, &mut to_other);
    let nearer = to_one.iter().zip(&to_other).map(|(&a, &b)| i64::from(a) - i64::from(b));
    let mut keyed: Vec<_> = nearer.zip(clients.iter().copied()).collect();
    // Whole blocks, so that none is in both halves.
    let middle = (clients.len() / 2).next_multiple_of(LANES);
    if middle < clients.len() {
        keyed.select_nth_unstable(middle);
    }
    for (client, (_, keyed)) in clients.iter_mut().zip(keyed) {
        *client = keyed;
    }
    let (left, right) = clients.split_at_mut(middle);
    by_neighbourhood(metric, left);
    by_neighbourhood(metric, right);
}

fn farthest(nodes: &[u32], distances: &[u32]) -> u32 {
    let farthest = distances.iter().zip(nodes).max_by_key(|&(&distance, _)| distance);
    *farthest.expect("there are nodes").1
}
