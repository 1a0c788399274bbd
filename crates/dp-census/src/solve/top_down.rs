//! Consistent counts level by level: the scheme of the `TopDown` algorithm.
//!
//! The root is made nonnegative with the public number of groups, then each node, its row being
//! settled, is split among its children: the closest nonnegative integers that add up to it, bin by
//! bin. As in the baseline of Fioretto, Van Hentenryck, Zhu (2021), Section 11, no later level
//! corrects an earlier one. Each step is solved in integers at once, so that no separate rounding is
//! needed: real solutions of one step share a fraction, and which of them are rounded up does not
//! change the cost. Here they take turns from bin to bin. Weights of levels play no role.

use rayon::prelude::*;

use super::Problem;
use super::problem::{adds_up, families};
use super::tree::Certificate;

/// Consistent nonnegative counts with `groups` in all. `n log f` for `n` cells and fan-out `f`.
pub fn solve(problem: &Problem<'_>) -> Vec<i64> {
    let (tree, bins) = (problem.tree(), problem.bins());
    let mut counts = vec![0; problem.noisy().len()];
    let mut split = Split::default();
    split.noisy.extend_from_slice(problem.row(0));
    split.run(problem.groups(), 0);
    counts[..bins].copy_from_slice(&split.parts);
    for level in 0..tree.levels() - 1 {
        families(tree, bins, level, &mut counts).into_par_iter().for_each_init(
            Split::default,
            |split, family| {
                for (bin, &total) in family.parent.iter().enumerate() {
                    split.noisy.clear();
                    split
                        .noisy
                        .extend(family.children.clone().map(|child| problem.row(child)[bin]));
                    split.run(total, bin);
                    let cells = family.rows[bin..].iter_mut().step_by(bins);
                    cells.zip(&split.parts).for_each(|(cell, &part)| *cell = part);
                }
            },
        );
    }
    counts
}

/// Certificate: whether a unit exchange between two children of a node, or two bins of the root,
/// comes closer to the noisy counts. Linear time, exact.
///
/// # Panics
/// If the table has another shape.
pub fn certify(problem: &Problem<'_>, counts: &[i64]) -> Certificate {
    let (tree, bins) = (problem.tree(), problem.bins());
    assert_eq!(counts.len(), problem.noisy().len(), "a table of the same shape");
    let groups: i128 = counts[..bins].iter().map(|&count| i128::from(count)).sum();
    let feasible = groups == i128::from(problem.groups())
        && counts.iter().all(|&count| count >= 0)
        && adds_up(tree, bins, counts);
    if !feasible {
        return Certificate { feasible, gain: 0 };
    }
    let cells = |row: usize| {
        let cells = row * bins..(row + 1) * bins;
        counts[cells.clone()].iter().zip(&problem.noisy()[cells])
    };
    // Convex costs and one sum: optimal if and only if the dearest unit costs no more than the cheapest one that could be had instead.
    let mut root = Best::default();
    cells(0).for_each(|(&count, &noisy)| root.add(count, noisy));
    let families = (0..tree.leaves().start).into_par_iter().map(|node| {
        let mut of_bins = vec![Best::default(); bins];
        for child in tree.children(node) {
            let cells = of_bins.iter_mut().zip(cells(child));
            cells.for_each(|(best, (&count, &noisy))| best.add(count, noisy));
        }
        of_bins.iter().map(Best::gain).max().unwrap_or(0)
    });
    Certificate { feasible, gain: families.max().unwrap_or(0).max(root.gain()) }
}

/// The cheapest unit more and the dearest unit less among some cells.
#[derive(Debug, Clone, Copy)]
struct Best {
    up: i64,
    down: i64,
}

impl Default for Best {
    fn default() -> Self {
        Self { up: i64::MAX, down: i64::MIN }
    }
}

impl Best {
    fn add(&mut self, count: i64, noisy: i64) {
        self.up = self.up.min(2 * (count - noisy) + 1);
        if count > 0 {
            self.down = self.down.max(2 * (count - noisy) - 1);
        }
    }

    fn gain(&self) -> i64 {
        if self.down > self.up { self.down - self.up } else { 0 }
    }
}

/// Splits a total into the closest nonnegative integers to some noisy ones.
#[derive(Debug, Default)]
struct Split {
    noisy: Vec<i64>,
    parts: Vec<i64>,
    sorted: Vec<i64>,
}

impl Split {
    /// Every part is `max(0, noisy + shift)` for the largest integer shift that the total allows, and
    /// the units still missing go to parts that the next shift would raise, from part `turn` on.
    fn run(&mut self, total: i64, turn: usize) {
        self.parts.clear();
        if total == 0 {
            self.parts.resize(self.noisy.len(), 0);
            return;
        }
        // Projection onto a simplex in whole numbers. Its multiplier is the shift, and the parts that stay positive are the largest ones: take
        // them in, largest first, until the next would be negative at the shift of those before it (Held, Wolfe, Crowder, 1974).
        self.sorted.clone_from(&self.noisy);
        self.sorted.sort_unstable_by(|a, b| b.cmp(a));
        let mut shift = i64::MAX;
        let mut sum = 0;
        for (&noisy, active) in self.sorted.iter().zip(1..) {
            // Shares of the total if the largest `active` parts share it: part of it if positive.
            if active > 1 && noisy + shift < 0 {
                break;
            }
            sum += noisy;
            shift = (total - sum).div_euclid(active);
        }
        self.parts.extend(self.noisy.iter().map(|noisy| (noisy + shift).max(0)));
        let mut missing = total - self.parts.iter().sum::<i64>();
        let n = self.noisy.len();
        for i in (0..n).map(|i| (turn + i) % n) {
            if missing == 0 {
                break;
            }
            if self.noisy[i] + shift >= 0 {
                self.parts[i] += 1;
                missing -= 1;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::RegionTree;
    use crate::solve::MAX_VALUE;
    use crate::solve::random::{self, Shape};
    use crate::solve::{cost_table, tree};

    #[test]
    fn every_step_is_certified() {
        let mut rng = random::generator(73);
        let shape = Shape { levels: 4, fan_out: 5, bins: 6, weight: 1, groups: 40, noise: 15 };
        for _ in 0..3_000 {
            let case = random::case(&mut rng, shape);
            let proof = certify(&case.problem(), &solve(&case.problem()));
            assert!(proof.is_optimal(), "{proof:?} {case:?}");
        }
    }

    /// One level is the whole problem: the same optimum as the tables, and no level beats the tree.
    #[test]
    fn exact_for_one_level_and_not_for_more() {
        let mut rng = random::generator(74);
        let shape = Shape { levels: 2, fan_out: 4, bins: 5, weight: 1, groups: 9, noise: 5 };
        let mut worse = 0;
        for _ in 0..2_000 {
            let case = random::case(&mut rng, shape);
            let problem = case.problem();
            let cost = problem.objective(&solve(&problem));
            if case.tree.levels() == 1 {
                let oracle =
                    cost_table::solve_exhaustively(&problem, case.groups).expect("feasible");
                assert_eq!(cost, problem.objective(&oracle), "{case:?}");
            } else {
                let optimum = problem.objective(&tree::solve(&problem));
                assert!(cost >= optimum);
                worse += usize::from(cost > optimum);
            }
        }
        assert!(worse > 100, "{worse}");
    }

    #[test]
    fn leftover_units_take_turns() {
        let pair = RegionTree::from_parents(&[None, Some(0), Some(0)]).expect("valid");
        let problem = Problem::new(&pair, 2, &[1, 1, 0, 0, 0, 0], &[1, 1], 2).expect("valid");
        assert_eq!(solve(&problem), [1, 1, 1, 0, 0, 1]);
    }

    #[test]
    fn edges() {
        let pair = RegionTree::from_parents(&[None, Some(0), Some(0)]).expect("valid");
        let most = MAX_VALUE;
        for (noisy, groups) in [
            ([-most, most, most, -most, -most, most], most),
            ([most; 6], 0),
            ([-most; 6], most),
            ([-5, -6, -7, -8, -9, -9], 1),
            ([1_000_000_000, 0, 0, 0, 3, 3], 1_000_000_000),
        ] {
            let problem = Problem::new(&pair, 2, &noisy, &[1, 1], groups).expect("valid");
            let counts = solve(&problem);
            assert!(certify(&problem, &counts).is_optimal(), "{noisy:?} {counts:?}");
        }
        let problem = Problem::new(&pair, 1, &[4, 1, 1], &[1, 1], 4).expect("valid");
        assert!(!certify(&problem, &[4, 4, 0]).is_optimal());
        assert!(!certify(&problem, &[4, 4, 1]).feasible);
    }

    /// The root is a step of its own, and a number below zero is none.
    #[test]
    fn other_roots_are_not_certified() {
        let tree = RegionTree::from_parents(&[None]).expect("valid");
        let problem = Problem::new(&tree, 2, &[5, 1], &[1], 6).expect("valid");
        assert!(certify(&problem, &[5, 1]).is_optimal());
        assert!(!certify(&problem, &[3, 3]).is_optimal());
        assert!(!certify(&problem, &[7, -1]).feasible);
    }
}
