use std::ops::Range;

use rayon::prelude::*;

use super::correct::{Corrected, Pair, corrected};
use super::joint::Joint;
use super::pooled::{Block, pool};
use crate::solve::{MAX_VALUE, Problem};

/// For each region an estimate of its cumulative row from all noisy rows, and its variance.
pub(super) struct Upwards<'a> {
    problem: Problem<'a>,
    /// Of the noisy rows of the lowest level.
    of_leaf: f64,
    /// Estimates and their variances, row-major: of inner nodes, or of the root if there are no others; of all nodes if there is a joint table.
    rows: Vec<f64>,
    variances: Vec<f64>,
}

/// Columns to either side over which risks are averaged: one column's estimate says little.
const WINDOW: usize = 6;
/// By how much of the best share a distance counts as bias beforehand, as small biases of fits of parts add up over all of them.
const CAUTION: f64 = 0.5;
/// An estimate counts as having at least this share of the variance of the linear one, as its risk is an estimate too.
const LEAST_RISK: f64 = 0.3;

impl<'a> Upwards<'a> {
    pub(super) fn new(
        problem: Problem<'a>,
        variances: &[f64],
        totals: Option<&[i64]>,
        joint: Option<&Joint>,
    ) -> Self {
        let (tree, bins) = (problem.tree(), problem.bins());
        let of_leaf = variances[tree.levels() - 1].max(1e-9);
        if tree.levels() == 1 {
            let rows = as_real(problem.row(0)).collect();
            return Self { problem, of_leaf, rows, variances: vec![of_leaf; bins] };
        }
        // What has no groups, as far as that is public, has no noise either.
        let is_known = |node: usize| totals.is_some_and(|totals| totals[node] == 0);
        let follows = joint.map(|joint| joint.follows(tree, is_known));
        let joint_row = |node: usize| {
            let cells = node * bins..(node + 1) * bins;
            joint
                .zip(follows.as_ref())
                .map(|(joint, follows)| (&joint.rows[cells.clone()], &follows[cells]))
        };
        let leaf = |node: usize| {
            Estimate::of_noisy(problem.row(node), if is_known(node) { 0.0 } else { of_leaf })
        };
        let mut levels = Vec::new();
        let mut below = Vec::new();
        if joint.is_some() {
            let mut leaves: Vec<Estimate> = tree.leaves().map(leaf).collect();
            take_joint(&mut leaves, tree.leaves().map(joint_row));
            levels.push(leaves);
        }
        for level in (0..tree.levels() - 1).rev() {
            let first = tree.level(level + 1).start;
            let sum = |node: usize| {
                let mut sums = Sums::new(bins);
                for child in tree.children(node).filter(|&child| !is_known(child)) {
                    let limit = totals.map(|totals| totals[child] as f64);
                    match below.get(child - first) {
                        Some(estimate) => sums.add(estimate, limit),
                        None => sums.add(&leaf(child), limit),
                    }
                }
                sums
            };
            let sums: Vec<Sums> = tree.level(level).into_par_iter().map(sum).collect();
            let seen = sums.iter().map(|sums| {
                (&sums.linear[..], sums.of_linear, &sums.fitted[..], &sums.follows[..])
            });
            let mix = Mix::new(seen);
            let own = variances[level].max(1e-9);
            let rows = tree.level(level).map(|node| problem.row(node));
            let mut nodes: Vec<Estimate> =
                rows.zip(&sums).map(|(row, sums)| Estimate::pooled(row, own, sums, &mix)).collect();
            take_corrected(&mut nodes, tree.level(level).map(joint_row));
            levels.push(nodes.clone());
            below = nodes;
        }
        let nodes = || levels.iter().rev().flatten();
        let rows = nodes().flat_map(|node| node.row.iter().copied()).collect();
        let variances = nodes().flat_map(|node| node.risks.iter().copied()).collect();
        Self { problem, of_leaf, rows, variances }
    }

    /// The estimate of an inner node, or of the root.
    pub(super) fn row(&self, node: usize) -> &[f64] {
        let bins = self.problem.bins();
        &self.rows[node * bins..][..bins]
    }

    /// What the cells of that are off by, as variances.
    pub(super) fn variances(&self, node: usize) -> &[f64] {
        let bins = self.problem.bins();
        &self.variances[node * bins..][..bins]
    }

    /// Mean of a node's estimate over a run of columns, and its variance.
    pub(super) fn mean(&self, node: usize, run: Range<usize>) -> (f64, f64) {
        let (start, length) = (node * self.problem.bins(), run.len() as f64);
        let cells = start + run.start..start + run.end;
        let Some(row) = self.rows.get(cells.clone()) else {
            let sum: f64 = as_real(&self.problem.row(node)[run]).sum();
            return (sum / length, self.of_leaf / length);
        };
        let variance: f64 = self.variances[cells].iter().sum();
        (row.iter().sum::<f64>() / length, variance / (length * length))
    }
}

fn as_real(row: &[i64]) -> impl Iterator<Item = f64> {
    row.iter().map(|&cell| cell as f64)
}

/// What is known of a node's row, cell by cell.
#[derive(Clone)]
struct Estimate {
    /// The best linear one without bias, as in [`cumulative_top_down`](crate::solve::cumulative_top_down), and its variance.
    linear: Vec<f64>,
    of_linear: f64,
    /// The one with the least estimated risk, that risk, and the covariance with the linear one.
    row: Vec<f64>,
    risks: Vec<f64>,
    follows: Vec<f64>,
}

impl Estimate {
    /// Where there is nothing but noisy values.
    fn of_noisy(row: &[i64], variance: f64) -> Self {
        let linear: Vec<f64> = as_real(row).collect();
        let variances = vec![variance; row.len()];
        Self {
            row: linear.clone(),
            linear,
            of_linear: variance,
            risks: variances.clone(),
            follows: variances,
        }
    }

    /// From a node's own noisy row, whose noise has the variance `own`, and the sums over its children.
    fn pooled(noisy: &[i64], own: f64, sums: &Sums, mix: &Mix) -> Self {
        let of_sum = sums.of_linear;
        if of_sum <= 0.0 {
            return Self::of_noisy(noisy, 0.0);
        }
        let most = MAX_VALUE as f64;
        // By inverse variance. Nothing true is beyond, and the sum of many saturated cells may be.
        let pool = |noisy: f64, below: f64, risk: f64| {
            ((noisy * risk + below * own) / (own + risk)).clamp(-2.0 * most, 2.0 * most)
        };
        let of_linear = own * of_sum / (own + of_sum);
        let cells = || as_real(noisy).zip(&sums.linear);
        let linear = cells().map(|(noisy, &sum)| pool(noisy, sum, of_sum)).collect();
        let (mut row, mut risks, mut follows) = (Vec::new(), Vec::new(), Vec::new());
        for (column, (noisy, &sum)) in cells().enumerate() {
            let (below, risk, of_below) =
                mix.at(column, (sum, of_sum), (sums.fitted[column], sums.follows[column]));
            row.push(pool(noisy, below, risk));
            risks.push(own * risk / (own + risk));
            // In the linear estimate the own cell counts `of_linear / own`, and the sum `of_linear / of_sum`.
            follows.push(of_linear * (risk + own * of_below / of_sum) / (own + risk));
        }
        Self { linear, of_linear, row, risks, follows }
    }
}

/// Without the nodes that are known, with the joint rows of the others.
fn with_noise<J>(nodes: &mut [Estimate], joint: Vec<J>) -> (Vec<&mut Estimate>, Vec<J>) {
    nodes.iter_mut().zip(joint).filter(|(node, _)| node.of_linear > 0.0).unzip()
}

/// Takes the joint rows of the leaves where their combination with the noisy ones has less risk. Of these rows there is also the share of the
/// linear variance that they follow.
fn take_joint<'j>(
    nodes: &mut [Estimate],
    joint: impl Iterator<Item = Option<(&'j [f64], &'j [f64])>>,
) {
    let Some(joint) = joint.collect::<Option<Vec<_>>>() else { return };
    let (mut nodes, joint) = with_noise(nodes, joint);
    let follows = |node: &Estimate, shares: &[f64]| {
        shares.iter().map(|share| share * node.of_linear).collect::<Vec<f64>>()
    };
    let follows: Vec<_> =
        nodes.iter().zip(&joint).map(|(node, (_, shares))| follows(node, shares)).collect();
    let seen = nodes.iter().zip(&joint).zip(&follows);
    let seen = seen
        .map(|((node, (row, _)), follows)| (&node.linear[..], node.of_linear, *row, &follows[..]));
    let mix = Mix::new(seen);
    for ((node, (row, _)), follows) in nodes.iter_mut().zip(&joint).zip(&follows) {
        for column in 0..row.len() {
            let linear = (node.linear[column], node.of_linear);
            let (value, risk, of_value) = mix.at(column, linear, (row[column], follows[column]));
            if risk < node.risks[column] {
                (node.row[column], node.risks[column], node.follows[column]) =
                    (value, risk, of_value);
            }
        }
    }
}

/// Takes the joint rows of the inner nodes of a level without their bias, [`corrected`], where they have less risk.
fn take_corrected<'j>(
    nodes: &mut [Estimate],
    joint: impl Iterator<Item = Option<(&'j [f64], &'j [f64])>>,
) {
    let Some(joint) = joint.collect::<Option<Vec<_>>>() else { return };
    let (mut nodes, joint) = with_noise(nodes, joint);
    let pairs = nodes.iter().zip(joint).map(|(node, (other, follows))| Pair {
        linear: &node.linear,
        variance: node.of_linear,
        other,
        follows,
    });
    let found = corrected(&pairs.collect::<Vec<_>>());
    for (node, Corrected { row, risks }) in nodes.iter_mut().zip(found) {
        for (column, (value, follows)) in row.into_iter().zip(risks).enumerate() {
            let risk = follows.clamp(LEAST_RISK * node.of_linear, node.of_linear);
            if risk <= node.risks[column] {
                (node.row[column], node.risks[column], node.follows[column]) =
                    (value, risk, follows);
            }
        }
    }
}

/// Sums over the children of a node.
struct Sums {
    linear: Vec<f64>,
    of_linear: f64,
    fitted: Vec<f64>,
    /// Covariance of the fitted sum with the linear one, by Stein's identity: how much each fit follows its own noise.
    follows: Vec<f64>,
    blocks: Vec<Block>,
}

impl Sums {
    fn new(bins: usize) -> Self {
        let zeros = || vec![0.0; bins];
        let (linear, fitted, follows) = (zeros(), zeros(), zeros());
        Self { linear, of_linear: 0.0, fitted, follows, blocks: Vec::new() }
    }

    /// One child, and the closest nondecreasing row to its estimate within 0 and its number of groups.
    fn add(&mut self, child: &Estimate, limit: Option<f64>) {
        self.linear.iter_mut().zip(&child.linear).for_each(|(sum, value)| *sum += value);
        self.of_linear += child.of_linear;
        pool(&child.row, &child.risks, &mut self.blocks);
        let limit = limit.unwrap_or(f64::INFINITY);
        let mut end = child.row.len();
        for block in self.blocks.iter().rev() {
            let mean = block.mean();
            let free = 0.0 < mean && mean < limit;
            let value = mean.clamp(0.0, limit);
            for column in block.start..end {
                self.fitted[column] += value;
                if free {
                    // What the cell follows, times the share with which it enters its mean.
                    self.follows[column] +=
                        child.follows[column] / (child.risks[column] * block.weight);
                }
            }
            end = block.start;
        }
    }
}

/// How far to go from the linear estimates of a level to other ones, and the risk that is left as a share of the linear variance.
struct Mix(Vec<(f64, f64)>);

impl Mix {
    /// For the nodes of a level: the linear estimate, its variance, the other one, and the covariance of both.
    fn new<'e>(nodes: impl Iterator<Item = (&'e [f64], f64, &'e [f64], &'e [f64])>) -> Self {
        // With `n` the linear estimate of variance `V` without bias, `f` the other one and `C` their covariance, the risk of
        // `n + a (f - n)` is `V + a^2 E (f - n)^2 - 2 a (V - C)`. All in units of `V`, and averaged over the nodes of the level.
        let (mut squares, mut saved, mut count) = (Vec::new(), Vec::new(), 0.0);
        for (linear, variance, other, follows) in nodes.filter(|node| node.1 > 0.0) {
            squares.resize(linear.len(), 0.0);
            saved.resize(linear.len(), 0.0);
            count += 1.0;
            for (column, (&linear, &other)) in linear.iter().zip(other).enumerate() {
                squares[column] += (other - linear).powi(2) / variance;
                saved[column] += 1.0 - follows[column] / variance;
            }
        }
        let windows = over_windows(&squares).into_iter().zip(over_windows(&saved));
        let best = |(squares, saved): (f64, f64)| {
            let (squares, saved) = (squares / count, saved / count);
            // The best share is `saved` over the expected square. One square says little: with caution, what is beyond it
            // is taken for bias, and the other one is left out where that is much more.
            let best = if squares > 0.0 { saved / squares } else { 0.0 };
            let share = (best - CAUTION * (1.0 - best)).clamp(0.0, 1.0);
            let risk = 1.0 + share * share * squares - 2.0 * share * saved;
            (share, risk.clamp(LEAST_RISK, 1.0))
        };
        Self(windows.map(best).collect())
    }

    /// The combination, its risk, and its covariance with the linear estimate. The latter comes with its variance, and the other one with
    /// the covariance of both.
    fn at(
        &self,
        column: usize,
        (linear, variance): (f64, f64),
        (other, follows): (f64, f64),
    ) -> (f64, f64, f64) {
        let (share, risk) = self.0[column];
        let part = |of_linear: f64, of_other: f64| of_linear + share * (of_other - of_linear);
        (part(linear, other), risk * variance, part(variance, follows))
    }
}

/// Means over the columns around each.
fn over_windows(values: &[f64]) -> Vec<f64> {
    let mut sums = vec![0.0];
    for (column, value) in values.iter().enumerate() {
        sums.push(sums[column] + value);
    }
    let window = |c: usize| (c.saturating_sub(WINDOW), (c + WINDOW + 1).min(values.len()));
    let mean = |(from, to): (usize, usize)| (sums[to] - sums[from]) / (to - from) as f64;
    (0..values.len()).map(|column| mean(window(column))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::RegionTree;
    use crate::solve::random;
    use rand::RngExt;

    /// A tree by the parents of all nodes but the root, the cumulative truth by that of its leaves, and noise of this width in each level.
    struct Case {
        tree: RegionTree,
        bins: usize,
        truth: Vec<i64>,
        noise: Vec<u32>,
    }

    impl Case {
        fn new(parents: &[usize], bins: usize, leaves: &[i64], noise: &[u32]) -> Self {
            let parents = parents.iter().map(|&parent| u32::try_from(parent).ok());
            let parents: Vec<_> = std::iter::once(None).chain(parents).collect();
            let tree = RegionTree::from_parents(&parents).expect("valid");
            let mut truth = vec![0; tree.leaves().start * bins];
            truth.extend_from_slice(leaves);
            for node in (1..tree.len()).rev() {
                let parent = tree.parent(node).expect("not the root");
                (0..bins).for_each(|c| truth[parent * bins + c] += truth[node * bins + c]);
            }
            Self { tree, bins, truth, noise: noise.to_vec() }
        }

        /// Mean square of the error of the root's cells over some draws of noise, without and with the joint table, in units of the variance of
        /// the best linear estimate.
        fn errors(&self) -> [f64; 2] {
            let Self { tree, bins, truth, noise } = self;
            let of_level = |&noise: &u32| f64::from(noise * (noise + 1)) / 3.0;
            let variances: Vec<f64> = noise.iter().map(of_level).collect();
            let weights: Vec<u32> = noise.iter().map(|&n| (1 << 20) / n.pow(2)).collect();
            let totals: Vec<i64> = truth.chunks_exact(*bins).map(|row| row[bins - 1]).collect();
            let (mut rng, mut linear) = (random::generator(96), 0.0);
            for (level, &own) in variances.iter().enumerate().rev() {
                let parts =
                    |next: usize| tree.level(next).len() as f64 / tree.level(level).len() as f64;
                linear = if level + 1 == variances.len() {
                    own
                } else {
                    (own.recip() + (parts(level + 1) * linear).recip()).recip()
                };
            }
            let mut sums = [0.0; 2];
            for _ in 0..DRAWS {
                let cells = truth.chunks_exact(*bins).enumerate();
                let noisy: Vec<i64> = cells
                    .flat_map(|(node, row)| row.iter().map(move |&cell| (node, cell)))
                    .map(|(node, cell)| {
                        let most = i64::from(noise[tree.level_of(node)]);
                        cell + rng.random_range(-most..=most)
                    })
                    .collect();
                let problem =
                    Problem::new(tree, *bins, &noisy, &weights, totals[0]).expect("valid");
                let joint = Joint::new(&problem, 1.0).expect("a small table");
                for (sum, joint) in sums.iter_mut().zip([None, Some(&joint)]) {
                    let upwards = Upwards::new(problem, &variances, Some(&totals), joint);
                    let cells = upwards.row(0).iter().zip(truth);
                    *sum += cells.map(|(cell, &truth)| (cell - truth as f64).powi(2)).sum::<f64>();
                }
            }
            sums.map(|sum| sum / (DRAWS * bins) as f64 / linear)
        }
    }

    const DRAWS: usize = 20;

    /// Sixty zones of a few sizes each, and as many columns that are empty: order holds most cells, so that joint sums are close.
    #[test]
    fn joint_rows_are_taken_where_order_holds_most_cells() {
        let of_zone =
            |zone: i64| (0..40).map(move |column| if column < zone % 5 { 0 } else { 500 });
        let truth: Vec<i64> = (0..60).flat_map(of_zone).collect();
        let [_, all] = Case::new(&[0; 60], 40, &truth, &[20, 20]).errors();
        assert!(all < 0.5, "{all}");
    }

    /// Households by size in 400 areas, 12 to a district: hardly any are large, so that noise in the last columns is cut off at the number of
    /// households in each area. Of one district that is hardly seen, but of the nation it is.
    #[test]
    fn small_biases_that_add_up_are_not_taken() {
        let districts = (0..4).flat_map(|state| std::iter::repeat_n(1 + state, 8));
        let areas = (0..32).flat_map(|district| std::iter::repeat_n(5 + district, 12));
        let parents: Vec<usize> = std::iter::repeat_n(0, 4).chain(districts).chain(areas).collect();
        let of_area = |area: i64| {
            // Six tenths of the households of a size or more are larger than it.
            let sizes = std::iter::successors(Some(40_000_i64), |left| Some(left * 6 / 10));
            sizes.skip(1).take(30).map(move |left| (40_000 - left) / (10 + area))
        };
        let truth: Vec<i64> = (0..384).flat_map(of_area).collect();
        let [plain, all] = Case::new(&parents, 30, &truth, &[110, 54, 19, 3]).errors();
        assert!(plain < 1.3 && all < 1.3, "{plain} {all}");
    }
}
