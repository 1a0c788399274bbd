//! The dynamic program over cost tables of Fioretto, Van Hentenryck, Zhu (2021), as published.
//!
//! A cost table gives the least cost of a subtree for each value that its root may take, within a
//! finite domain: a convex function that is linear between integers (CPWL, convex piecewise linear, in the paper). What replaces it are
//! its two slopes at one value (`tree`), which is all that an exchange of a unit looks at. Tables are merged upwards, then values are handed down. Time and memory grow with
//! the width of the domain, and the optimum within the domain is the optimum of the problem only if
//! the domain is wide enough. It is here as a readable reference: [`super::tree`] and
//! [`super::chain`] find the same optimum without tables.
//!
//! ```
//! use dp_census::solve::cost_table::CostTable;
//!
//! // The example of Table 5: two regions with noisy counts 3 and 0 under one with 2.
//! let georgia = CostTable::leaf(3, 1, 0..=4);
//! let new_york = CostTable::leaf(0, 1, 0..=4);
//! let mut us = CostTable::merge(&[georgia, new_york]);
//! us.add_node(2, 1);
//! assert_eq!(us.costs()[..5], [13, 5, 1, 1, 5]);
//! ```

use std::ops::RangeInclusive;

use super::Problem;
use crate::RegionTree;

/// Least cost for each value of a finite range.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CostTable {
    first: i64,
    costs: Vec<i128>,
}

impl CostTable {
    /// The cost `weight * (v - noisy)^2` for each `v` of the domain (Equation 4a).
    pub fn leaf(noisy: i64, weight: u32, domain: RangeInclusive<i64>) -> Self {
        let mut table = Self { first: *domain.start(), costs: domain.map(|_| 0).collect() };
        table.add_node(noisy, weight);
        table
    }

    /// The table with these costs from the value `first` on.
    pub fn new(first: i64, costs: Vec<i128>) -> Self {
        Self { first, costs }
    }

    /// The smallest value of the domain.
    pub fn first(&self) -> i64 {
        self.first
    }

    /// The cost of each value from the smallest on.
    pub fn costs(&self) -> &[i128] {
        &self.costs
    }

    /// Adds `weight * (v - noisy)^2`: the node itself, on top of its children.
    pub fn add_node(&mut self, noisy: i64, weight: u32) {
        for (value, cost) in (self.first..).zip(&mut self.costs) {
            *cost += i128::from(weight) * i128::from(value - noisy).pow(2);
        }
    }

    /// Least cost of children with a given total, for each total (Algorithm 1, `TableMerge`).
    ///
    /// For convex tables: start from the minimum of each child and take the steps up, and the steps
    /// down, in the order of their slopes. `n log n` in the sum of the children's widths.
    pub fn merge(children: &[Self]) -> Self {
        let lowest: Vec<usize> = children.iter().map(Self::index_of_minimum).collect();
        let minimum: i128 = children.iter().zip(&lowest).map(|(child, &i)| child.costs[i]).sum();
        let mut up = Vec::new();
        let mut down = Vec::new();
        for (child, &lowest) in children.iter().zip(&lowest) {
            up.extend(child.costs[lowest..].windows(2).map(|pair| pair[1] - pair[0]));
            down.extend(child.costs[..=lowest].windows(2).map(|pair| pair[0] - pair[1]));
        }
        let accumulate = |mut slopes: Vec<i128>| {
            slopes.sort_unstable();
            slopes.into_iter().scan(minimum, |cost, slope| {
                *cost += slope;
                Some(*cost)
            })
        };
        let mut costs: Vec<i128> = accumulate(down).collect();
        costs.reverse();
        costs.push(minimum);
        costs.extend(accumulate(up));
        Self { first: children.iter().map(|child| child.first).sum(), costs }
    }

    /// The same as [`CostTable::merge`] by trying all combinations: quadratic, for tables of any
    /// shape.
    pub fn merge_exhaustively(children: &[Self]) -> Self {
        let mut total = Self { first: 0, costs: vec![0] };
        for child in children {
            let mut costs = vec![i128::MAX; total.costs.len() + child.costs.len() - 1];
            for (i, a) in total.costs.iter().enumerate() {
                for (j, b) in child.costs.iter().enumerate() {
                    costs[i + j] = costs[i + j].min(a + b);
                }
            }
            total = Self { first: total.first + child.first, costs };
        }
        total
    }

    /// The least cost of any value up to each value: what an item of the chain passes on to the next
    /// (Equation 8b).
    pub fn running_minimum(&mut self) {
        let mut least = i128::MAX;
        for cost in &mut self.costs {
            least = least.min(*cost);
            *cost = least;
        }
    }

    /// The cost of one value; `None` outside of the domain.
    pub fn cost(&self, value: i64) -> Option<i128> {
        let index = usize::try_from(value.checked_sub(self.first)?).ok()?;
        self.costs.get(index).copied()
    }

    fn index_of_minimum(&self) -> usize {
        (0..self.costs.len()).min_by_key(|&i| self.costs[i]).expect("a table holds a value")
    }
}

/// How the tables of several children become one.
type Merge = fn(&[CostTable]) -> CostTable;

/// Exact integers for the problem of [`super::tree`] by cost tables, leaves up to `leaf_limit`.
///
/// Returns `None` if the leaves cannot hold `groups` in all.
pub fn solve(problem: &Problem<'_>, leaf_limit: i64) -> Option<Vec<i64>> {
    solve_with(problem, leaf_limit, CostTable::merge)
}

/// [`solve`] without any use of convexity: the oracle of the tests.
pub fn solve_exhaustively(problem: &Problem<'_>, leaf_limit: i64) -> Option<Vec<i64>> {
    solve_with(problem, leaf_limit, CostTable::merge_exhaustively)
}

fn solve_with(problem: &Problem<'_>, leaf_limit: i64, merge: Merge) -> Option<Vec<i64>> {
    let (tree, bins) = (problem.tree(), problem.bins());
    let columns: Vec<Vec<CostTable>> =
        (0..bins).map(|bin| column_tables(problem, bin, leaf_limit, merge)).collect();
    let roots: Vec<CostTable> = columns.iter().map(|tables| tables[0].clone()).collect();
    let totals = split(&roots, problem.groups(), merge)?;
    let mut counts = vec![0; tree.len() * bins];
    for (bin, (tables, total)) in columns.iter().zip(totals).enumerate() {
        counts[bin] = total;
        for node in 0..tree.leaves().start {
            let children = tree.children(node);
            let parts = split(&tables[children.clone()], counts[node * bins + bin], merge)?;
            children.zip(parts).for_each(|(child, part)| counts[child * bins + bin] = part);
        }
    }
    Some(counts)
}

/// The table of each node for one bin, bottom-up.
fn column_tables(
    problem: &Problem<'_>,
    bin: usize,
    leaf_limit: i64,
    merge: Merge,
) -> Vec<CostTable> {
    let tree: &RegionTree = problem.tree();
    let mut tables = vec![CostTable { first: 0, costs: Vec::new() }; tree.len()];
    for node in (0..tree.len()).rev() {
        let noisy = problem.row(node)[bin];
        let weight = problem.level_weights()[tree.level_of(node)];
        let children = tree.children(node);
        tables[node] = if children.is_empty() {
            CostTable::leaf(noisy, weight, 0..=leaf_limit)
        } else {
            let mut table = merge(&tables[children]);
            table.add_node(noisy, weight);
            table
        };
    }
    tables
}

/// Values of the children with a given total and the least cost (the top-down step).
fn split(children: &[CostTable], total: i64, merge: Merge) -> Option<Vec<i64>> {
    let mut rests: Vec<CostTable> = vec![CostTable { first: 0, costs: vec![0] }];
    for child in children.iter().rev() {
        let rest = merge(&[child.clone(), rests[rests.len() - 1].clone()]);
        rests.push(rest);
    }
    let mut left = total;
    let mut values = Vec::with_capacity(children.len());
    for (child, rest) in children.iter().zip(rests.iter().rev().skip(1)) {
        let domain = child.first..child.first + child.costs.len().cast_signed() as i64;
        let cost = |value: &i64| child.cost(*value)?.checked_add(rest.cost(left - value)?);
        let value = domain.filter(|v| cost(v).is_some()).min_by_key(|v| cost(v))?;
        values.push(value);
        left -= value;
    }
    (left == 0).then_some(values)
}

/// Least cost of the chain of [`super::chain`] by cost tables over `0..=groups` (Equation 8).
///
/// `ties[i]` holds the noisy values and weights that are tied to item `i`; the last item is fixed
/// to `groups`.
pub fn chain_cost(ties: &[Vec<(i64, u32)>], groups: i64) -> Option<i128> {
    let mut table = CostTable { first: 0, costs: (0..=groups).map(|_| 0).collect() };
    for item in ties {
        table.running_minimum();
        for &(noisy, weight) in item {
            table.add_node(noisy, weight);
        }
    }
    table.cost(groups)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Table 5 of the paper, with both ways of merging.
    #[test]
    fn the_cost_tables_of_the_tree_example() {
        let children = [CostTable::leaf(3, 1, 0..=4), CostTable::leaf(0, 1, 0..=4)];
        assert_eq!(children[0].costs(), [9, 4, 1, 0, 1]);
        assert_eq!(children[1].costs(), [0, 1, 4, 9, 16]);
        for merge in [CostTable::merge, CostTable::merge_exhaustively] {
            let mut us = merge(&children);
            us.add_node(2, 1);
            assert_eq!(us.costs()[..5], [13, 5, 1, 1, 5]);
        }
    }

    /// Table 6 of the paper: 3 and 3 in order under a tie with 2.
    #[test]
    fn the_cost_tables_of_the_chain_example() {
        let mut table = CostTable::leaf(3, 1, 0..=4);
        table.running_minimum();
        assert_eq!(table.costs(), [9, 4, 1, 0, 0]);
        table.add_node(3, 1);
        assert_eq!(table.costs(), [18, 8, 2, 0, 1]);
        table.add_node(2, 1);
        assert_eq!(table.costs(), [22, 9, 2, 1, 5]);
        let ties = [vec![(3, 1)], vec![(3, 1), (2, 1)]];
        let by_value: Vec<_> = (0..5).map(|v| chain_cost(&ties, v)).collect();
        // A first item above the last is not allowed, so that the domain ends at `v` here.
        assert_eq!(by_value, [22, 9, 2, 1, 5].map(Some));
    }

    #[test]
    fn a_total_beyond_the_domain_has_no_solution() {
        let tree = RegionTree::from_parents(&[None, Some(0), Some(0)]).expect("valid");
        let problem = Problem::new(&tree, 1, &[3, 1, 1], &[1, 1], 9).expect("valid");
        assert_eq!(solve(&problem, 4), None);
        assert_eq!(solve(&problem, 5).map(|x| x[1] + x[2]), Some(9));
    }
}
