use crate::RegionTree;
use crate::solve::Problem;
use crate::solve::tree::round::apportion;

/// How much each subtree of a bin demands at a price, in real numbers.
///
/// At price `p` a leaf demands `max(0, noisy + p / weight)`. A node that is offered price `p` offers
/// its children the price `q` with `p = q + weight (demand of the children at q - noisy)`, which
/// weighs its own distance against theirs; so its demand is piecewise linear in `p` too, with one
/// breakpoint for each leaf below.
pub(super) struct Demand<'a> {
    tree: &'a RegionTree,
    weights: Vec<i64>,
    /// Leaves below each node, counted from the first leaf.
    leaves_below: Vec<std::ops::Range<usize>>,
    /// `(price, change of the slope of demand there)`, ascending for each node of the current level.
    events: Vec<(f64, f64)>,
    /// For each level between root and leaves, `(price at the node, price for its children)`.
    lists: Vec<Vec<(f64, f64)>>,
    /// Price for the children of each node, while handing down.
    inner_prices: Vec<f64>,
    parts: Vec<f64>,
    thresholds: Vec<i64>,
    /// For each inner node, the slope of its children's demand once all leaves below take part.
    last_slopes: Vec<f64>,
}

impl<'a> Demand<'a> {
    pub(super) fn new(problem: &Problem<'a>) -> Self {
        let tree = problem.tree();
        let leaves = tree.leaves();
        let weights = problem.node_weights();
        let mut leaves_below: Vec<_> = (0..tree.len())
            .map(|n| n.wrapping_sub(leaves.start)..(n + 1).wrapping_sub(leaves.start))
            .collect();
        for node in (0..leaves.start).rev() {
            let children = tree.children(node);
            leaves_below[node] =
                leaves_below[children.start].start..leaves_below[children.end - 1].end;
        }
        Self {
            tree,
            leaves_below,
            events: vec![(0.0, 0.0); leaves.len()],
            lists: vec![vec![(0.0, 0.0); leaves.len()]; tree.levels().saturating_sub(1)],
            inner_prices: vec![0.0; leaves.start],
            parts: Vec::new(),
            thresholds: Vec::new(),
            last_slopes: last_slopes(tree, &weights),
            weights,
        }
    }

    /// The breakpoints of the root, ascending.
    pub(super) fn root_list(&mut self, noisy: &[i64], list: &mut [(f64, f64)]) {
        if self.tree.levels() == 1 {
            let start = -(self.weights[0] * noisy[0]) as f64;
            list[0] = (start, start);
            return;
        }
        self.fill_lists(0, noisy);
        list.copy_from_slice(&self.lists[0]);
    }

    /// Demand of the root at a price.
    pub(super) fn root_total(&self, list: &[(f64, f64)], noisy: i64, price: f64) -> f64 {
        let weight = self.weights[0] as f64;
        if self.tree.levels() == 1 {
            return (noisy as f64 + price / weight).max(0.0);
        }
        self.total(0, list, noisy, price).0
    }

    /// Splits the integer `counts[0]` down the tree, close to the real demand at the price.
    pub(super) fn hand_down(
        &mut self,
        noisy: &[i64],
        root_list: &[(f64, f64)],
        price: f64,
        counts: &mut [i64],
    ) {
        if self.tree.levels() == 1 {
            return;
        }
        self.fill_lists(1, noisy);
        self.inner_prices[0] = self.total(0, root_list, noisy[0], price).1;
        for level in 0..self.tree.levels() - 1 {
            let last = level + 2 == self.tree.levels();
            for node in self.tree.level(level) {
                let price = self.inner_prices[node];
                let children = self.tree.children(node);
                let mut parts = std::mem::take(&mut self.parts);
                parts.clear();
                if last {
                    let rise = price / self.weights[children.start] as f64;
                    parts.extend(
                        noisy[children.clone()].iter().map(|&y| (y as f64 + rise).max(0.0)),
                    );
                } else {
                    for child in children.clone() {
                        let list = &self.lists[level + 1][self.leaves_below[child].clone()];
                        let (total, inner) = self.total(child, list, noisy[child], price);
                        self.inner_prices[child] = inner;
                        parts.push(total);
                    }
                }
                let total = counts[node];
                apportion(&parts, total, &mut counts[children]);
                self.parts = parts;
            }
        }
    }

    /// Real demand of every leaf, for a price at the root.
    pub(super) fn real_leaves(
        &mut self,
        noisy: &[i64],
        root_list: &[(f64, f64)],
        price: f64,
        leaves: &mut [f64],
    ) {
        let (tree, first) = (self.tree, self.tree.leaves().start);
        if tree.levels() == 1 {
            leaves[0] = self.root_total(root_list, noisy[0], price);
            return;
        }
        self.fill_lists(1, noisy);
        self.inner_prices[0] = self.total(0, root_list, noisy[0], price).1;
        for node in 1..tree.len() {
            let price = self.inner_prices[tree.parent(node).expect("only the root has none")];
            if node >= first {
                let rise = price / self.weights[node] as f64;
                leaves[node - first] = (noisy[node] as f64 + rise).max(0.0);
            } else {
                let list = &self.lists[tree.level_of(node)][self.leaves_below[node].clone()];
                self.inner_prices[node] = self.total(node, list, noisy[node], price).1;
            }
        }
    }

    /// Demand of an inner node at a price, and the price for its children.
    fn total(&self, node: usize, list: &[(f64, f64)], noisy: i64, price: f64) -> (f64, f64) {
        let (noisy, weight) = (noisy as f64, self.weights[node] as f64);
        let after = list.partition_point(|breakpoint| breakpoint.0 <= price);
        if after == 0 {
            return (0.0, price + weight * noisy);
        }
        let (left, left_inner) = list[after - 1];
        let inner = match list.get(after) {
            Some(&(right, right_inner)) => {
                left_inner + (price - left) * ((right_inner - left_inner) / (right - left))
            }
            None => left_inner + (price - left) / (1.0 + weight * self.last_slopes[node]),
        };
        ((noisy + (price - inner) / weight).max(0.0), inner)
    }

    /// Computes the lists of all inner levels from `top` downwards, bottom-up.
    fn fill_lists(&mut self, top: usize, noisy: &[i64]) {
        let leaf_level = self.tree.levels() - 1;
        for level in (top..leaf_level).rev() {
            for node in self.tree.level(level) {
                let below = self.leaves_below[node].clone();
                if level + 1 == leaf_level {
                    self.leaf_events(node, noisy);
                } else {
                    // The lists of the children, ascending each, stand side by side.
                    self.events[below.clone()].sort_by(|a, b| a.0.total_cmp(&b.0));
                }
                let list = &mut self.lists[level][below.clone()];
                let (weight, noisy) = (self.weights[node] as f64, noisy[node] as f64);
                merge_own_cost(weight, noisy, &mut self.events[below], list);
            }
        }
    }

    fn leaf_events(&mut self, node: usize, noisy: &[i64]) {
        let children = self.tree.children(node);
        let weight = self.weights[children.start];
        self.thresholds.clear();
        self.thresholds.extend(noisy[children].iter().map(|y| -(weight * y)));
        self.thresholds.sort_unstable();
        let jump = 1.0 / weight as f64;
        let events = &mut self.events[self.leaves_below[node].clone()];
        events.iter_mut().zip(&self.thresholds).for_each(|(event, &at)| *event = (at as f64, jump));
    }
}

fn last_slopes(tree: &RegionTree, weights: &[i64]) -> Vec<f64> {
    let inner = tree.leaves().start;
    let mut slopes = vec![0.0; inner];
    for node in (0..inner).rev() {
        let of_child = |child: usize| match slopes.get(child) {
            Some(slope) => slope / (1.0 + weights[child] as f64 * slope),
            None => 1.0 / weights[child] as f64,
        };
        slopes[node] = tree.children(node).map(of_child).sum();
    }
    slopes
}

/// From the events of a node's children to those of the node, in place, with its list.
fn merge_own_cost(weight: f64, noisy: f64, events: &mut [(f64, f64)], list: &mut [(f64, f64)]) {
    let (mut total, mut slope, mut at, mut own_slope) = (0.0, 0.0, 0.0, 0.0);
    for (event, entry) in events.iter_mut().zip(list) {
        let (inner, jump) = *event;
        total += slope * (inner - at);
        slope += jump;
        at = inner;
        let price = inner + weight * (total - noisy);
        let next = slope / (1.0 + weight * slope);
        *entry = (price, inner);
        *event = (price, next - own_slope);
        own_slope = next;
    }
}

/// The price at which the total demand is `groups`, by bisection; nothing is demanded below all of
/// `starts`.
pub(super) fn clearing_price(
    starts: impl Iterator<Item = f64>,
    total: impl Fn(f64) -> f64,
    groups: f64,
) -> f64 {
    let mut low = starts.fold(f64::INFINITY, f64::min);
    let mut width = 1.0;
    while total(low + width) < groups {
        low += width;
        width *= 2.0;
    }
    let mut high = low + width;
    loop {
        let middle = low.midpoint(high);
        if middle <= low || middle >= high {
            return high;
        }
        if total(middle) < groups { low = middle } else { high = middle }
    }
}
