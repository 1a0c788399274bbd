use std::ops::Range;

use crate::{CensusError, RegionTree};

/// The largest number of groups, and the largest absolute value of a noisy cell, that the solvers take: about `6.9e10`.
///
/// With [`MAX_WEIGHT`] and [`MAX_LEVELS`] it keeps every marginal cost along a path of the tree below `2^63`. A mechanism saturates
/// its noisy cells here, which changes nothing but the weight of absurd outliers.
pub const MAX_VALUE: i64 = 1 << 36;

/// The largest weight of a level.
pub const MAX_WEIGHT: u32 = 1 << 20;

/// The largest number of levels that the solvers take.
pub const MAX_LEVELS: usize = 16;

/// A noisy table with everything public that a solver needs.
#[derive(Debug, Clone, Copy)]
pub struct Problem<'a> {
    tree: &'a RegionTree,
    bins: usize,
    noisy: &'a [i64],
    level_weights: &'a [u32],
    groups: i64,
}

impl<'a> Problem<'a> {
    /// `noisy` has `tree.len()` rows and `bins` columns; `level_weights` has one weight per level, the root's first; `groups` is
    /// the public number of groups.
    ///
    /// # Errors
    /// No bin, a table or list of weights of another length, a weight outside of 1 to [`MAX_WEIGHT`], more than [`MAX_LEVELS`]
    /// levels, `groups` outside of 0 to [`MAX_VALUE`], or a cell above [`MAX_VALUE`] in absolute value.
    pub fn new(
        tree: &'a RegionTree,
        bins: usize,
        noisy: &'a [i64],
        level_weights: &'a [u32],
        groups: i64,
    ) -> Result<Self, CensusError> {
        let levels = tree.levels();
        if levels > MAX_LEVELS {
            let (name, got) = ("the number of levels", levels as i128);
            return Err(CensusError::OutOfRange { name, got, want: "at most 16" });
        }
        if bins == 0 {
            return Err(CensusError::NoBins);
        }
        if tree.len().checked_mul(bins) != Some(noisy.len()) {
            return Err(CensusError::TableLength { regions: tree.len(), bins, cells: noisy.len() });
        }
        if level_weights.len() != levels {
            return Err(CensusError::NumberOfWeights { levels, weights: level_weights.len() });
        }
        if let Some(level) = level_weights.iter().position(|&w| w == 0 || w > MAX_WEIGHT) {
            return Err(CensusError::Weight { level, weight: level_weights[level] });
        }
        if !(0..=MAX_VALUE).contains(&groups) {
            let (name, got) = ("the number of groups", groups.into());
            return Err(CensusError::OutOfRange { name, got, want: "between 0 and 2^36" });
        }
        if noisy.iter().any(|cell| !(-MAX_VALUE..=MAX_VALUE).contains(cell)) {
            return Err(CensusError::NoisyCell);
        }
        Ok(Self { tree, bins, noisy, level_weights, groups })
    }

    /// The part of it that is about the levels of `tree`, which are the first ones.
    pub(crate) fn upper<'b>(&self, tree: &'b RegionTree) -> Problem<'b>
    where
        'a: 'b,
    {
        let noisy = &self.noisy[..tree.len() * self.bins];
        let level_weights = &self.level_weights[..tree.levels()];
        Problem { tree, bins: self.bins, noisy, level_weights, groups: self.groups }
    }

    /// The same with these noisy cells in place of its own, which are as many and no larger.
    pub(crate) fn with_noisy<'b>(&self, noisy: &'b [i64]) -> Problem<'b>
    where
        'a: 'b,
    {
        Problem { noisy, ..*self }
    }

    /// The hierarchy.
    pub fn tree(&self) -> &'a RegionTree {
        self.tree
    }

    /// Number of columns.
    pub fn bins(&self) -> usize {
        self.bins
    }

    /// The public number of groups.
    pub fn groups(&self) -> i64 {
        self.groups
    }

    /// The whole noisy table.
    pub fn noisy(&self) -> &'a [i64] {
        self.noisy
    }

    /// One weight per level, the root's first.
    pub fn level_weights(&self) -> &'a [u32] {
        self.level_weights
    }

    /// The noisy row of a node.
    pub fn row(&self, node: usize) -> &'a [i64] {
        &self.noisy[node * self.bins..][..self.bins]
    }

    /// The weight of each node.
    pub(crate) fn node_weights(&self) -> Vec<i64> {
        let levels = self.level_weights.iter().enumerate();
        levels.flat_map(|(l, &w)| self.tree.level(l).map(move |_| i64::from(w))).collect()
    }

    /// The weighted sum of squared distances of `table` to the noisy one.
    pub fn objective(&self, table: &[i64]) -> i128 {
        assert_eq!(table.len(), self.noisy.len(), "a table of the same shape");
        let mut total = 0;
        for (level, &weight) in self.level_weights.iter().enumerate() {
            let nodes = self.tree.level(level);
            let cells = nodes.start * self.bins..nodes.end * self.bins;
            let squares = |(x, y): (&i64, &i64)| i128::from(x - y) * i128::from(x - y);
            let sum: i128 = table[cells.clone()].iter().zip(&self.noisy[cells]).map(squares).sum();
            total += i128::from(weight) * sum;
        }
        total
    }
}

/// A node's row and those of its children, which are still to be filled.
pub(crate) struct Family<'a> {
    pub(crate) parent: &'a [i64],
    pub(crate) children: Range<usize>,
    pub(crate) rows: &'a mut [i64],
}

/// The families of the nodes of one level; they share no row that is still to be filled.
pub(crate) fn families<'a>(
    tree: &RegionTree,
    bins: usize,
    level: usize,
    table: &'a mut [i64],
) -> Vec<Family<'a>> {
    let (done, mut rest) = table.split_at_mut(tree.level(level).end * bins);
    let done = &*done;
    let mut families = Vec::with_capacity(tree.level(level).len());
    for node in tree.level(level) {
        let children = tree.children(node);
        let (rows, after) = rest.split_at_mut(children.len() * bins);
        rest = after;
        families.push(Family { parent: &done[node * bins..][..bins], children, rows });
    }
    families
}

/// Fills the rows of all inner nodes of `table` with the sums of their children.
pub(crate) fn add_up(tree: &RegionTree, bins: usize, table: &mut [i64]) {
    for node in (0..tree.leaves().start).rev() {
        let children = tree.children(node);
        let (head, tail) = table.split_at_mut(children.start * bins);
        let sum = &mut head[node * bins..][..bins];
        sum.fill(0);
        for row in tail[..children.len() * bins].chunks_exact(bins) {
            sum.iter_mut().zip(row).for_each(|(total, cell)| *total += cell);
        }
    }
}

/// Whether each inner row is the sum of its children.
pub(crate) fn adds_up(tree: &RegionTree, bins: usize, table: &[i64]) -> bool {
    let mut sum = vec![0; bins];
    (0..tree.leaves().start).all(|node| {
        sum.fill(0);
        for row in tree.children(node).map(|child| &table[child * bins..][..bins]) {
            sum.iter_mut().zip(row).for_each(|(total, cell)| *total += cell);
        }
        sum == table[node * bins..][..bins]
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn settings_out_of_range_are_refused() {
        let tree = RegionTree::from_parents(&[None, Some(0)]).expect("valid");
        let new = |bins, noisy: &[i64], weights: &[u32], groups| {
            Problem::new(&tree, bins, noisy, weights, groups).err()
        };
        assert_eq!(new(2, &[0; 4], &[1, 1], 0), None);
        assert_eq!(new(0, &[], &[1, 1], 0), Some(CensusError::NoBins));
        let wrong = CensusError::TableLength { regions: 2, bins: 2, cells: 3 };
        assert_eq!(new(2, &[0; 3], &[1, 1], 0), Some(wrong));
        let wrong = CensusError::NumberOfWeights { levels: 2, weights: 1 };
        assert_eq!(new(2, &[0; 4], &[1], 0), Some(wrong));
        let wrong = CensusError::Weight { level: 1, weight: 0 };
        assert_eq!(new(2, &[0; 4], &[1, 0], 0), Some(wrong));
        let (name, got, want) = ("the number of groups", -1, "between 0 and 2^36");
        let wrong = CensusError::OutOfRange { name, got, want };
        assert_eq!(new(2, &[0; 4], &[1, 1], -1), Some(wrong));
        assert_eq!(new(2, &[0, i64::MIN, 0, 0], &[1, 1], 0), Some(CensusError::NoisyCell));
        assert_eq!(new(2, &[0, MAX_VALUE + 1, 0, 0], &[1, 1], 0), Some(CensusError::NoisyCell));
        let deep: Vec<Option<u32>> = (0..17_u32).map(|i| i.checked_sub(1)).collect();
        let deep = RegionTree::from_parents(&deep).expect("valid");
        let refused = Problem::new(&deep, 1, &[0; 17], &[1; 17], 0).err();
        let (name, got, want) = ("the number of levels", 17, "at most 16");
        assert_eq!(refused, Some(CensusError::OutOfRange { name, got, want }));
        assert_eq!((MAX_LEVELS, MAX_VALUE), (16, 1 << 36), "as messages say");
    }
}
