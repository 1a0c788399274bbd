//! Integers from a real solution of the cumulative model, by earliest deadline first.
//!
//! Rounding each cell alone would break the sums. Here the root is rounded, and then, from the top
//! down, each node hands its integer row to its children: between two sizes the parent's row grows
//! by some units, and each child has units that it may have (its real row has begun them) and units
//! that it must have (its real row has completed them). Unit jobs with opening times and deadlines
//! for which a fractional schedule exists, the real solution, also have an integral one, and taking
//! the earliest deadline first finds it.
//!
//! The parent's integers differ from the children's real sum, so the real rows are first read at
//! another time: at each size, at the point of the size axis at which their sum, interpolated
//! linearly, is the parent's integer. These *targets* are nondecreasing and sum to the parent
//! exactly, and each child ends less than 1 away from its target.
//!
//! Among all integers less than 1 away from the targets, those closest to them are sought by
//! `whole_rows`, column by column and by exchanges; earliest deadline first is for the rare
//! family where that ends further away.
//!
//! The result is exactly consistent, nonnegative, nondecreasing, and has the given number of groups,
//! for a tree of any depth, whatever the rounding errors of the real solution. It is close to the
//! integer optimum, not equal to it: a node's integers are chosen without a look at those below. On
//! a census the objective is about `1e-4` above the real optimum. For two levels, [`super::star`]
//! finds the optimum.

use rayon::prelude::*;

use super::problem::{adds_up, families};
use super::whole_rows::Targets;
use crate::RegionTree;

/// An integral table close to `rows`, as cumulative counts. `n` operations for `n` cells, and a sort
/// of the open children at each size.
///
/// # Panics
/// If `rows` does not have a row per node of the tree and a positive number of columns, or `groups`
/// is negative.
pub fn round(tree: &RegionTree, rows: &[f64], groups: i64) -> Vec<i64> {
    assert!(groups >= 0, "a negative number of groups");
    let bins = rows.len() / tree.len();
    assert!(bins > 0 && bins * tree.len() == rows.len(), "a row per node");
    let mut table = vec![0; rows.len()];
    round_root(&rows[..bins], groups, &mut table[..bins]);
    for level in 0..tree.levels() - 1 {
        families(tree, bins, level, &mut table).into_par_iter().for_each(|family| {
            let real = &rows[family.children.start * bins..family.children.end * bins];
            let schedule = Schedule::new(family.parent, real);
            if !schedule.closest(family.rows) {
                schedule.fill(family.rows);
            }
        });
    }
    table
}

fn round_root(real: &[f64], groups: i64, row: &mut [i64]) {
    let mut least = 0;
    for (cell, value) in row.iter_mut().zip(real) {
        #[expect(clippy::cast_possible_truncation, reason = "the cast saturates, then the clamp")]
        let rounded = value.round() as i64;
        least = rounded.clamp(least, groups);
        *cell = least;
    }
    row[row.len() - 1] = groups;
}

/// What an integral table is like beside the real one that it was rounded from.
#[derive(Debug, Clone, PartialEq)]
pub struct Certificate {
    /// Consistent, nonnegative, nondecreasing, and with the right number of groups.
    pub feasible: bool,
    /// For each level, the largest distance between an integer and the real number in its place.
    /// Below `l + 1/2` at level `l`, the root being level 0, but for rounding errors.
    pub distance: Vec<f64>,
}

/// Certificate of a rounded table; linear time.
///
/// # Panics
/// If the two tables are not of the shape of the tree.
pub fn certify(tree: &RegionTree, rows: &[f64], table: &[i64], groups: i64) -> Certificate {
    assert_eq!(rows.len(), table.len(), "tables of the same shape");
    let bins = table.len() / tree.len();
    let row = |node: usize| &table[node * bins..][..bins];
    let feasible = row(0)[bins - 1] == groups
        && (0..tree.len()).all(|node| row(node)[0] >= 0 && row(node).is_sorted())
        && adds_up(tree, bins, table);
    let distance = (0..tree.levels()).map(|level| {
        let nodes = tree.level(level);
        let cells = nodes.start * bins..nodes.end * bins;
        let pairs = rows[cells.clone()].iter().zip(&table[cells]);
        pairs.map(|(real, &integer)| (real - integer as f64).abs()).fold(0.0, f64::max)
    });
    Certificate { feasible, distance: distance.collect() }
}

/// The children of one node while they are filled, size by size.
struct Schedule<'a> {
    parent: &'a [i64],
    real: &'a [f64],
    bins: usize,
    /// Where on the size axis the children's sum is the parent's integer: after so many bins, and so
    /// much of the way to the next.
    clock: Vec<(usize, f64)>,
}

impl<'a> Schedule<'a> {
    fn new(parent: &'a [i64], real: &'a [f64]) -> Self {
        let bins = parent.len();
        let mut sums = vec![0.0; bins];
        for row in real.chunks_exact(bins) {
            sums.iter_mut().zip(row).for_each(|(sum, value)| *sum += value);
        }
        let children = (real.len() / bins) as f64;
        let mut after = 0;
        let clock = parent.iter().map(|&units| {
            let units = units as f64;
            while after < bins && sums[after] <= units {
                after += 1;
            }
            let left = if after == 0 { 0.0 } else { sums[after - 1] };
            // Beyond the last bin all children grow alike.
            let right = sums.get(after).map_or(left + children, |&sum| sum);
            (after, if right > left { ((units - left) / (right - left)).max(0.0) } else { 0.0 })
        });
        let clock = clock.collect();
        Self { parent, real, bins, clock }
    }

    fn target(&self, child: usize, bin: usize) -> f64 {
        let row = &self.real[child * self.bins..][..self.bins];
        let (after, share) = self.clock[bin];
        let left = if after == 0 { 0.0 } else { row[after - 1] };
        let right = row.get(after).map_or(left + 1.0, |&value| value);
        left + share * (right - left)
    }

    /// Whole numbers as close to the targets as `whole_rows` finds them. Says whether each is less than 1 away, as
    /// those of [`fill`](Self::fill) are.
    fn closest(&self, part: &mut [i64]) -> bool {
        let children = part.len() / self.bins;
        let cells = (0..children).flat_map(|child| (0..self.bins).map(move |bin| (child, bin)));
        let values: Vec<f64> = cells.map(|(child, bin)| self.target(child, bin)).collect();
        if values.iter().any(|value| !value.is_finite()) {
            return false;
        }
        let weights = vec![1.0; values.len()];
        let targets =
            Targets { totals: self.parent, values: &values, weights: &weights, ends: None };
        part.copy_from_slice(&targets.rows());
        part.iter().zip(&values).all(|(&whole, value)| (whole as f64 - value).abs() < 1.0)
    }

    fn fill(&self, part: &mut [i64]) {
        let children = part.len() / self.bins;
        let mut units = vec![0_i64; children];
        let mut before = units.clone();
        let mut deadlines = vec![0; children];
        let mut open: Vec<(usize, usize)> = Vec::new();
        // A unit of a child may be scheduled from the bin at which its target begins it (its release time), and must be by the one at which
        // it is complete (its deadline). Earliest deadline first meets all deadlines if anything does, by exchanging units of any other
        // schedule, and the real rows are a schedule that shares units out in fractions.
        for bin in 0..self.bins {
            before.copy_from_slice(&units);
            open.clear();
            let mut missing = self.parent[bin];
            for (child, units) in units.iter_mut().enumerate() {
                let target = self.target(child, bin);
                *units = completed(target).min(self.parent[bin]).max(*units);
                missing -= *units;
                if begun(target) > *units {
                    open.push((0, child));
                }
            }
            for (deadline, child) in &mut open {
                *deadline = self.deadline(*child, units[*child] + 1, &mut deadlines[*child]);
            }
            open.sort_unstable();
            let take = usize::try_from(missing.max(0)).map_or(open.len(), |n| n.min(open.len()));
            open[..take].iter().for_each(|&(_, child)| units[child] += 1);
            missing -= i64::try_from(take).expect("a number of children");
            if missing != 0 {
                // Only rounding errors of the real rows lead here; the sums stay exact.
                settle(missing, &before, &mut units);
            }
            (0..children).for_each(|child| part[child * self.bins + bin] = units[child]);
        }
    }

    /// The first bin at which the child's target completes its `unit`-th unit. `from` remembers where
    /// the last search ended: the deadlines of a child ascend.
    fn deadline(&self, child: usize, unit: i64, from: &mut usize) -> usize {
        while *from < self.bins && completed(self.target(child, *from)) < unit {
            *from += 1;
        }
        *from
    }
}

/// Distance from an integer within which a target counts as that integer. Its errors cannot add up
/// to a unit over the children of a node, so they cannot make the schedule infeasible.
fn slack(target: f64) -> f64 {
    1e-7 + 8.0 * f64::EPSILON * target
}

#[expect(clippy::cast_possible_truncation, reason = "targets are at most the number of groups")]
fn completed(target: f64) -> i64 {
    (target + slack(target)).floor() as i64
}

#[expect(clippy::cast_possible_truncation, reason = "targets are at most the number of groups")]
fn begun(target: f64) -> i64 {
    (target - slack(target)).ceil() as i64
}

/// Spreads missing units evenly, or takes surplus ones back, never below `before`.
fn settle(mut missing: i64, before: &[i64], units: &mut [i64]) {
    let children = i64::try_from(units.len()).expect("a number of children");
    while missing > 0 {
        let share = (missing / children).max(1);
        for units in units.iter_mut() {
            let given = share.min(missing);
            *units += given;
            missing -= given;
        }
    }
    for (units, &before) in units.iter_mut().zip(before) {
        let taken = (*units - before).min(-missing).max(0);
        *units -= taken;
        missing += taken;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::solve::cumulative;
    use crate::solve::random::{self, Shape};
    use rand::RngExt;

    fn check(tree: &RegionTree, rows: &[f64], groups: i64) {
        let table = round(tree, rows, groups);
        let certificate = certify(tree, rows, &table, groups);
        assert!(certificate.feasible, "{rows:?} {table:?}");
        for (level, &distance) in certificate.distance.iter().enumerate() {
            assert!(
                distance < level as f64 + 0.5 + 1e-6,
                "{distance} at {level}: {rows:?} {table:?}"
            );
        }
    }

    /// It adds up, but one child has fewer groups than none of a size.
    #[test]
    fn a_table_below_zero_is_not_feasible() {
        let tree = RegionTree::from_parents(&[None, Some(0), Some(0)]).expect("valid");
        let feasible = |table: &[i64]| {
            let rows: Vec<f64> = table.iter().map(|&cell| cell as f64).collect();
            certify(&tree, &rows, table, 2).feasible
        };
        assert!(feasible(&[0, 2, 0, 1, 0, 1]));
        assert!(!feasible(&[0, 2, -1, 1, 1, 1]));
        // Of a size in the middle there are fewer than none.
        assert!(!feasible(&[1, 2, 1, 0, 0, 2]));
    }

    #[test]
    fn rounds_solutions_of_any_depth() {
        let mut rng = random::generator(43);
        let shape = Shape { levels: 5, fan_out: 4, bins: 9, weight: 5, groups: 30, noise: 12 };
        for _ in 0..1_500 {
            let case = random::case(&mut rng, shape);
            check(&case.tree, &cumulative::solve(&case.problem()).rows, case.groups);
        }
    }

    /// Rows that no solver made: many cells exactly at integers and halves.
    #[test]
    fn rounds_arbitrary_rows() {
        let mut rng = random::generator(44);
        for _ in 0..1_500 {
            let levels = rng.random_range(1..=4);
            let tree = random::tree(&mut rng, levels, 6);
            let bins = rng.random_range(1..8);
            let mut rows = vec![0.0; tree.len() * bins];
            for leaf in tree.leaves() {
                let mut sum = 0.0;
                for cell in &mut rows[leaf * bins..][..bins] {
                    sum += f64::from(rng.random_range(0..5)) / 4.0;
                    *cell = sum;
                }
            }
            // Whole groups in all: lift the last bin of the last leaf.
            let total: f64 = tree.leaves().map(|leaf| rows[leaf * bins + bins - 1]).sum();
            let last = rows.len() - 1;
            rows[last] += total.ceil() - total;
            for node in (0..tree.leaves().start).rev() {
                for bin in 0..bins {
                    rows[node * bins + bin] =
                        tree.children(node).map(|c| rows[c * bins + bin]).sum();
                }
            }
            #[expect(clippy::cast_possible_truncation, reason = "small whole numbers")]
            check(&tree, &rows, total.ceil() as i64);
        }
    }

    /// Even nonsense comes out exactly consistent.
    #[test]
    fn bad_real_rows_cannot_break_the_sums() {
        let tree = RegionTree::from_parents(&[None, Some(0), Some(0)]).expect("valid");
        for rows in [
            [9.0, 1.0, -4.0, 2.0, f64::NAN, 7.0],
            [0.0; 6],
            [1e300, -1e300, 5.0, 0.0, 1e300, 1e308],
        ] {
            let table = round(&tree, &rows, 11);
            assert!(certify(&tree, &rows, &table, 11).feasible, "{rows:?} {table:?}");
        }
    }

    #[test]
    fn edges() {
        let root = RegionTree::from_parents(&[None]).expect("valid");
        assert_eq!(round(&root, &[5.0], 5), [5]);
        assert_eq!(round(&root, &[1.5, 2.5, 3.0], 3), [2, 3, 3]);
        let pair = RegionTree::from_parents(&[None, Some(0), Some(0)]).expect("valid");
        assert_eq!(round(&pair, &[0.0; 6], 0), [0; 6]);
        assert_eq!(
            round(&pair, &[1e9, 1e9, 1e9, 1e9, 0.0, 0.0], 1_000_000_000)[2..],
            [1_000_000_000, 1_000_000_000, 0, 0]
        );
        // Both leaves want half a unit, and as much in either is as close.
        assert_eq!(round(&pair, &[1.0, 2.0, 0.5, 0.5, 0.5, 1.5], 2)[2..], [1, 1, 0, 1]);
    }
}
