use std::ops::Range;

use crate::RegionTree;
use crate::solve::Problem;

/// What one more, and one less, unit in a subtree would cost at best.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Slopes {
    /// Least increase of the cost by one more unit.
    up: i64,
    /// Largest decrease of the cost by one less unit; [`i64::MIN`] if there is none to take.
    down: i64,
}

impl Default for Slopes {
    fn default() -> Self {
        Self { up: i64::MAX, down: i64::MIN }
    }
}

impl Slopes {
    /// The better of two siblings.
    pub(super) fn beside(self, other: Self) -> Self {
        Self { up: self.up.min(other.up), down: self.down.max(other.down) }
    }

    /// What moving a unit from one sibling to another gains; 0 if it does not.
    pub(super) fn gain(self) -> i64 {
        // At most 2^63: the bounds of a problem keep finite slopes below 2^62.
        if self.down == i64::MIN { 0 } else { self.down.saturating_sub(self.up).max(0) }
    }

    /// The slopes of a node from those of its children, or of nothing for a leaf.
    fn below(children: Self, weight: i64, distance: i64, empty: bool) -> Self {
        let take = weight * (2 * distance - 1);
        Self {
            up: children.up + weight * (2 * distance + 1),
            down: if empty { i64::MIN } else { children.down + take },
        }
    }
}

/// Unit exchanges within one bin.
pub(super) struct Exchange<'a> {
    tree: &'a RegionTree,
    weights: Vec<i64>,
    slopes: Vec<Slopes>,
}

impl<'a> Exchange<'a> {
    pub(super) fn new(problem: &Problem<'a>) -> Self {
        let tree = problem.tree();
        let weights = problem.node_weights();
        Self { tree, weights, slopes: vec![Slopes::default(); tree.len()] }
    }

    /// The slopes of the whole bin, as of the last call.
    pub(super) fn root(&self) -> Slopes {
        self.slopes[0]
    }

    /// Makes the bin optimal for its total.
    pub(super) fn repair(&mut self, noisy: &[i64], counts: &mut [i64]) -> Slopes {
        for node in (0..self.tree.len()).rev() {
            while let Some((up, down)) = self.best_among(self.tree.children(node)) {
                self.walk(noisy, counts, up, 1);
                self.walk(noisy, counts, down, -1);
            }
            self.update(node, noisy, counts);
        }
        self.root()
    }

    /// Adds one unit (`1`) to an optimal bin, or takes one away (`-1`), and keeps it optimal.
    pub(super) fn step(&mut self, noisy: &[i64], counts: &mut [i64], unit: i64) -> Slopes {
        (0..self.tree.len()).rev().for_each(|node| self.update(node, noisy, counts));
        self.walk(noisy, counts, 0, unit);
        self.root()
    }

    /// The largest gain of an exchange between two children of any node.
    pub(super) fn largest_gain(&mut self, noisy: &[i64], counts: &[i64]) -> i64 {
        let mut gain = 0;
        for node in (0..self.tree.len()).rev() {
            let children = &self.slopes[self.tree.children(node)];
            let best = children.iter().fold(Slopes::default(), |best, &child| best.beside(child));
            gain = gain.max(best.gain());
            self.update(node, noisy, counts);
        }
        gain
    }

    /// Takes the best step at `node` and everywhere below it.
    fn walk(&mut self, noisy: &[i64], counts: &mut [i64], node: usize, unit: i64) {
        counts[node] += unit;
        let children = self.tree.children(node);
        let best = if unit > 0 {
            children.min_by_key(|&child| self.slopes[child].up)
        } else {
            children.rev().max_by_key(|&child| self.slopes[child].down)
        };
        if let Some(child) = best {
            self.walk(noisy, counts, child, unit);
        }
        self.update(node, noisy, counts);
    }

    fn update(&mut self, node: usize, noisy: &[i64], counts: &[i64]) {
        let children = self.tree.children(node);
        let below = if children.is_empty() {
            Slopes { up: 0, down: 0 }
        } else {
            let slopes = &self.slopes[children];
            slopes.iter().fold(Slopes::default(), |best, &child| best.beside(child))
        };
        let distance = counts[node] - noisy[node];
        self.slopes[node] = Slopes::below(below, self.weights[node], distance, counts[node] == 0);
    }

    fn best_among(&self, children: Range<usize>) -> Option<(usize, usize)> {
        let first = children.start;
        best_exchange(&self.slopes[children]).map(|(up, down)| (first + up, first + down))
    }
}

/// Where to add a unit and where to take one, if that gains anything.
pub(super) fn best_exchange(siblings: &[Slopes]) -> Option<(usize, usize)> {
    let best = siblings.iter().fold(Slopes::default(), |best, &sibling| best.beside(sibling));
    if best.down == i64::MIN || best.up >= best.down {
        return None;
    }
    let up = siblings.iter().position(|sibling| sibling.up == best.up)?;
    let down = siblings.iter().position(|sibling| sibling.down == best.down)?;
    Some((up, down))
}
