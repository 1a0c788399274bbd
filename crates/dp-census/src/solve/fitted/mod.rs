//! Consistent rows of whole numbers, level after level from the top, each drawn to its share of the row above as far as the noise asks.
//!
//! As [`cumulative_top_down`](super::cumulative_top_down), with what noisy values say about the regions used in three places:
//!
//! 1. Upwards (`upwards`): every row has a best linear estimate from its own noisy row and all below, without bias. Beside it stand
//!    estimates that are not linear and have less noise: the sum of the monotone fits of its parts, pooled with its own noisy row, and the row
//!    of the closest table over all levels at once (`joint`) without its bias (`correct`). How far to go from the linear one to the first is settled
//!    for each level and column by Stein's unbiased estimate of the risk, and so is how far leaves go to their joint rows; of the two, each cell takes the one with the
//!    smaller risk. What is compared with has no bias, so that small biases of thousands of parts, which add up, show.
//! 2. Downwards (`prior`): given the row above, the groups of a part are expected in proportion to its public number of groups, with a
//!    scatter whose law is fitted to all parts of the level by maximum likelihood. A part without signal becomes its share of its parent.
//! 3. The closest rows that add up, weighted by how precise each cell is by then, in real numbers to a hundredth of a group; then in whole
//!    numbers by `whole_rows`.
//!
//! The root's own row is smoothed between 1 and 2 (`smooth`), where noisy values say that it is smooth.
//!
//! Where noise is mostly less than half a group, 2 and 3 are left out: the leaves of the joint table are rounded, and added up.
//!
//! What is seen of regions that have no groups by public numbers is noise, and is left out from the start.
//!
//! All of it is of linear time but for the Newton steps of 1 and 3, of which there are some ten each.

mod correct;
mod joint;
mod pooled;
mod prior;
mod smooth;
mod upwards;

use rayon::prelude::*;

use self::joint::Joint;
pub(crate) use self::joint::are_leaves_rounded;
use self::prior::{Likelihoods, Part, Scatter};
use self::upwards::Upwards;
use super::Problem;
use super::cumulative_top_down::{Split, closest_root, steps, totals_of};
use super::problem::{Family, families};
use super::whole_rows::Targets;

/// A table, and how nearly its splits were solved in real numbers.
#[derive(Debug, Clone, PartialEq)]
pub struct Solution {
    /// Counts, not cumulative: nonnegative, children add up to their parent, `groups` in all.
    pub counts: Vec<i64>,
    /// The largest difference between a row and the sum of its parts before they were made whole numbers, in groups.
    pub residual: f64,
}

/// Consistent counts for a noisy cumulative table with these variances of the noise of each level, the root's first. `totals` are the
/// numbers of groups of the leaves, if public; without them, nothing is drawn to the row above.
///
/// # Panics
/// If there is not one variance per level; and if there are totals, but not one per leaf, one is negative, or they do not add up.
pub fn solve(problem: &Problem<'_>, variances: &[f64], totals: Option<&[i64]>) -> Solution {
    solve_drawn(problem, variances, totals, true)
}

/// The same, or with regions that are not drawn to the row above.
pub(crate) fn solve_drawn(
    problem: &Problem<'_>,
    variances: &[f64],
    totals: Option<&[i64]>,
    draws: bool,
) -> Solution {
    let (tree, bins) = (problem.tree(), problem.bins());
    assert_eq!(variances.len(), tree.levels(), "a variance per level");
    let of_leaf = variances[tree.levels() - 1];
    let of_nodes = totals.map(|leaves| totals_of(tree, leaves, problem.groups()));
    let known = of_nodes.as_deref().and_then(|totals| without_noise(problem, totals));
    let problem = &known.as_deref().map_or(*problem, |noisy| problem.with_noisy(noisy));
    let joint = Joint::new(problem, of_leaf);
    if let Some(joint) = joint.as_ref().filter(|_| joint::is_nearly_whole(of_leaf)) {
        let counts = joint.rounded(problem, totals);
        return Solution { counts, residual: joint.residual };
    }
    let totals = of_nodes.as_deref();
    let upwards = Upwards::new(*problem, variances, totals, joint.as_ref());
    let mut counts = vec![0; problem.noisy().len()];
    let root = smooth::smoothed(upwards.row(0), upwards.variances(0), problem.groups());
    counts[..bins].copy_from_slice(&closest_root(&root, problem.groups()));
    let mut residual: f64 = 0.0;
    for level in 0..tree.levels() - 1 {
        let families = families(tree, bins, level, &mut counts);
        let parts: Vec<Parts<'_>> = families
            .into_par_iter()
            .filter_map(|family| Parts::new(&upwards, family, totals, draws))
            .collect();
        let scatter = (draws && totals.is_some()).then(|| {
            Scatter::fitted(&parts.iter().flat_map(|parts| &parts.likelihoods).collect::<Vec<_>>())
        });
        let off = parts.into_par_iter().map(|parts| parts.divide(scatter.as_ref()));
        residual = residual.max(off.reduce(|| 0.0, f64::max));
    }
    Solution { counts, residual }
}

/// The noisy cells, with zeros for regions that are known to have no groups: what was seen of these is noise. None if there are no such regions.
fn without_noise(problem: &Problem<'_>, totals: &[i64]) -> Option<Vec<i64>> {
    if totals.iter().all(|&groups| groups > 0) {
        return None;
    }
    let mut noisy = problem.noisy().to_vec();
    let rows = noisy.chunks_exact_mut(problem.bins()).zip(totals);
    rows.filter(|(_, groups)| **groups == 0).for_each(|(row, _)| row.fill(0));
    Some(noisy)
}

/// The same for as many levels as there are variances, with each region below them at its share of the row above, as in [`spread`].
pub(crate) fn solve_upper(
    problem: &Problem<'_>,
    variances: &[f64],
    totals: Option<&[i64]>,
    draws: bool,
) -> Solution {
    let (tree, levels) = (problem.tree(), variances.len());
    if levels == tree.levels() {
        return solve_drawn(problem, variances, totals, draws);
    }
    let upper = tree.upper(levels);
    let totals = totals.map(|leaves| totals_of(tree, leaves, problem.groups()));
    let of_upper = totals.as_ref().map(|totals| &totals[upper.leaves()]);
    let mut solution = solve_drawn(&problem.upper(&upper), variances, of_upper, draws);
    solution.counts.resize(problem.noisy().len(), 0);
    spread_below(problem, levels, totals.as_deref(), &mut solution.counts);
    solution
}

/// The closest row of the root, and for every other region its share of the row above by its number of groups; equal shares if that is not
/// public. Of the noisy table only the first row is used.
///
/// # Panics
/// As [`solve`].
pub fn spread(problem: &Problem<'_>, totals: Option<&[i64]>) -> Vec<i64> {
    let root: Vec<f64> = problem.row(0).iter().map(|&noisy| noisy as f64).collect();
    spread_root(problem, &root, totals)
}

/// The same, of a row that is smoothed first, where the noise of its cells has this variance.
pub(crate) fn spread_smoothed(
    problem: &Problem<'_>,
    variance: f64,
    totals: Option<&[i64]>,
) -> Vec<i64> {
    let root: Vec<f64> = problem.row(0).iter().map(|&noisy| noisy as f64).collect();
    let variances = vec![variance.max(1e-9); root.len()];
    let root = smooth::smoothed(&root, &variances, problem.groups());
    spread_root(problem, &root, totals)
}

fn spread_root(problem: &Problem<'_>, root: &[f64], totals: Option<&[i64]>) -> Vec<i64> {
    let (tree, bins) = (problem.tree(), problem.bins());
    let totals = totals.map(|leaves| totals_of(tree, leaves, problem.groups()));
    let mut counts = vec![0; problem.noisy().len()];
    counts[..bins].copy_from_slice(&closest_root(root, problem.groups()));
    spread_below(problem, 1, totals.as_deref(), &mut counts);
    counts
}

/// Fills all levels but the first so many from the rows above. `totals` are of all regions.
fn spread_below(problem: &Problem<'_>, levels: usize, totals: Option<&[i64]>, counts: &mut [i64]) {
    let (tree, bins) = (problem.tree(), problem.bins());
    for level in levels - 1..tree.levels() - 1 {
        families(tree, bins, level, counts).into_par_iter().for_each(|family| {
            let Family { parent, children, rows } = family;
            let (starts, sums) = steps(parent);
            let Some(&all) = sums.last() else { return };
            let ends = totals.map(|totals| &totals[children.clone()]);
            let alike = (children.len() as f64).recip();
            let share = |i: usize| ends.map_or(alike, |ends| ends[i] as f64 / all as f64);
            let values: Vec<f64> = (0..children.len())
                .flat_map(|i| sums.iter().map(move |&sum| (i, sum)))
                .map(|(i, sum)| share(i) * sum as f64)
                .collect();
            let weights = vec![1.0; values.len()];
            let targets = Targets { totals: &sums, values: &values, weights: &weights, ends };
            fill(rows, bins, &starts, &targets.rows());
        });
    }
}

/// Rows of counts from cumulative ones at the bins at which they may grow.
fn fill(rows: &mut [i64], bins: usize, starts: &[usize], whole: &[i64]) {
    for (row, sums) in rows.chunks_exact_mut(bins).zip(whole.chunks_exact(starts.len())) {
        let mut before = 0;
        for (&start, &sum) in starts.iter().zip(sums) {
            row[start] = sum - before;
            before = sum;
        }
    }
}

/// A node's row that is to be divided, with what is known of its parts at the bins at which it grows.
struct Parts<'a> {
    rows: &'a mut [i64],
    bins: usize,
    starts: Vec<usize>,
    totals: Vec<i64>,
    lengths: Vec<f64>,
    /// Row-major: means of each child over the steps, and their variances.
    means: Vec<f64>,
    variances: Vec<f64>,
    ends: Option<Vec<i64>>,
    /// Of the children's values, if the numbers of their groups are public.
    likelihoods: Vec<Likelihoods>,
}

impl<'a> Parts<'a> {
    fn new(
        upwards: &Upwards<'_>,
        family: Family<'a>,
        ends: Option<&[i64]>,
        draws: bool,
    ) -> Option<Self> {
        let Family { parent, children, rows } = family;
        let (starts, totals) = steps(parent);
        if starts.is_empty() {
            return None;
        }
        let next = starts.iter().skip(1).copied().chain([parent.len()]);
        let runs: Vec<_> = starts.iter().zip(next).map(|(&from, to)| from..to).collect();
        let (mut means, mut variances) = (Vec::new(), Vec::new());
        for child in children.clone() {
            for run in &runs {
                let (mean, variance) = upwards.mean(child, run.clone());
                means.push(mean);
                variances.push(variance);
            }
        }
        let lengths = runs.iter().map(|run| run.len() as f64).collect();
        let ends = ends.map(|ends| ends[children].to_vec());
        let likelihoods = Vec::new();
        let bins = parent.len();
        let mut parts =
            Self { rows, bins, starts, totals, lengths, means, variances, ends, likelihoods };
        if draws && parts.ends.is_some() {
            let of_child = |child| parts.part(child).likelihoods();
            parts.likelihoods = (0..parts.children()).map(of_child).collect();
        }
        Some(parts)
    }

    fn children(&self) -> usize {
        self.rows.len() / self.bins
    }

    fn part(&self, child: usize) -> Part<'_> {
        let cells = child * self.starts.len()..(child + 1) * self.starts.len();
        let ends =
            self.ends.as_ref().expect("scatter is fitted where the numbers of groups are public");
        Part {
            groups: ends[child],
            parent: &self.totals,
            means: &self.means[cells.clone()],
            variances: &self.variances[cells],
        }
    }

    /// Fills the rows, and says by how much the real ones did not add up.
    fn divide(mut self, scatter: Option<&Scatter>) -> f64 {
        if let Some(scatter) = scatter {
            let of_child = |(child, likelihoods)| scatter.drawn(&self.part(child), likelihoods);
            let drawn: Vec<_> = self.likelihoods.iter().enumerate().flat_map(of_child).collect();
            (self.means, self.variances) = drawn.into_iter().unzip();
        }
        let weights: Vec<f64> =
            self.variances.iter().map(|variance| 1.0 / variance.max(1e-6)).collect();
        let split = Split::weighted(self.lengths, self.totals, self.means, weights, self.ends);
        let (whole, residual) = split.solve_nearly();
        fill(self.rows, self.bins, &self.starts, &whole);
        residual
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::solve::random::{self, Shape};
    use rand::RngExt;

    /// Whatever is seen of them, also where a whole branch of the tree is empty.
    #[test]
    fn what_is_seen_of_regions_without_groups_changes_nothing() {
        let mut rng = random::generator(105);
        let shape = Shape { levels: 4, fan_out: 3, bins: 7, weight: 5, groups: 60, noise: 30 };
        let mut empty = 0;
        for round in 0..200 {
            let case = random::case(&mut rng, shape);
            let tree = &case.tree;
            let leaves = tree.leaves().len();
            let mut totals = vec![0; leaves];
            for _ in 0..case.groups {
                let leaf = rng.random_range(0..leaves.div_ceil(2));
                totals[leaf] += 1;
            }
            let variances = vec![[4.0, 100.0][round % 2]; tree.levels()];
            let problem = case.problem();
            let of_nodes = totals_of(tree, &totals, case.groups);
            let mut other = problem.noisy().to_vec();
            let rows = other.chunks_exact_mut(case.bins).zip(&of_nodes).filter(|row| *row.1 == 0);
            for (row, _) in rows {
                empty += 1;
                for cell in row {
                    *cell += rng.random_range(-50..50);
                }
            }
            let before = solve(&problem, &variances, Some(&totals));
            assert_eq!(before, solve(&problem.with_noisy(&other), &variances, Some(&totals)));
            assert!(before.residual.is_finite());
        }
        assert!(empty > 300, "{empty}");
    }

    /// Nobody is anywhere: zeros, by numbers.
    #[test]
    fn a_hierarchy_without_groups_is_all_zeros() {
        let mut rng = random::generator(106);
        let shape = Shape { levels: 3, fan_out: 3, bins: 5, weight: 5, groups: 0, noise: 30 };
        for variance in [0.01, 4.0, 100.0] {
            let case = random::case(&mut rng, shape);
            let none = vec![0; case.tree.leaves().len()];
            let variances = vec![variance; case.tree.levels()];
            let solved = solve(&case.problem(), &variances, Some(&none));
            assert!(solved.counts.iter().all(|&count| count == 0) && solved.residual <= 0.0);
        }
    }
}
