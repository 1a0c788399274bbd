use std::ops::Range;

use super::estimates::Estimates;
use crate::solve::edf::Schedule;
use crate::solve::network::{Costs, Free, Network};
use crate::solve::newton::{self, Dual};

/// One row in whole numbers, to be split among the children of its node: the closest nondecreasing nonnegative rows to some targets
/// that add up to it.
///
/// Children cannot grow where their sum does not, so between two bins at which the parent's row grows all rows are constant. There
/// is one column per *step* of the parent, weighing as much as the bins that it lasts, with the mean over them as its target: a row of
/// a million bins with twenty occupied sizes makes a problem of twenty columns.
///
/// In real numbers the dual has a multiplier per step, and a child's row is the isotonic fit to its targets plus the multipliers times
/// its variance. In whole numbers it is a minimum cost flow.
pub(super) struct Split {
    /// Bins that each step lasts.
    lengths: Vec<f64>,
    /// What the children add up to at each step, increasing.
    totals: Vec<i64>,
    /// Row-major: a row per child, a column per step.
    targets: Vec<f64>,
    /// The inverse precision of each child's targets.
    variances: Vec<f64>,
    /// Where each child's row must end, if that is public.
    ends: Option<Vec<i64>>,
}

/// Whole parts of a weight or a target that differ between children.
const FRACTIONS: f64 = 256.0;
/// The largest weight of a child where they differ.
const WEIGHTS: f64 = 65_536.0;

/// Steps over which a child's fit is constant. One that cannot move has infinite weight.
#[derive(Debug, Clone, Copy)]
struct Piece {
    start: usize,
    end: usize,
    value: f64,
    weight: f64,
}

impl Split {
    /// For the children of a node whose row grows at the bins `starts` to `totals`.
    pub(super) fn new(
        estimates: &Estimates<'_>,
        children: Range<usize>,
        bins: usize,
        (starts, totals): (&[usize], Vec<i64>),
        ends: Option<&[i64]>,
    ) -> Self {
        let next = starts.iter().skip(1).copied().chain([bins]);
        let runs: Vec<Range<usize>> = starts.iter().zip(next).map(|(&a, b)| a..b).collect();
        let mut targets = Vec::with_capacity(children.len() * starts.len());
        children.clone().for_each(|child| estimates.push_means(child, &runs, &mut targets));
        Self {
            lengths: runs.iter().map(|run| run.len() as f64).collect(),
            totals,
            targets,
            variances: children.clone().map(|child| 1.0 / estimates.precision(child)).collect(),
            ends: ends.map(|ends| ends[children].to_vec()),
        }
    }

    fn steps(&self) -> usize {
        self.lengths.len()
    }

    /// Children times steps.
    pub(super) fn cells(&self) -> usize {
        self.targets.len()
    }

    fn targets_of(&self, child: usize) -> &[f64] {
        &self.targets[child * self.steps()..][..self.steps()]
    }

    /// The closest rows in whole numbers, row-major, with the labels of the [`network`](Self::network) that prove it.
    ///
    /// Starts from the optimum in real numbers, made whole by earliest deadlines, and moves units as long as that gains.
    pub(super) fn solve(&self) -> (Vec<i64>, Vec<i128>) {
        let real = self.solve_real();
        let mut whole = vec![0; self.cells()];
        Schedule::new(&self.totals, &real).fill(&mut whole);
        let labels = self.labels_of(&real);
        let mut network = self.network(&whole, labels);
        network.cancel_all_negative_cycles();
        (network.rows.split_off(self.steps()), network.labels)
    }

    /// The network of some rows, below the parent's, which is fixed.
    pub(super) fn network(&self, rows: &[i64], labels: Vec<i128>) -> Network {
        let rows = [&self.totals, rows].concat();
        let free = Free { root: false, totals: self.ends.is_none() };
        Network::new(self.steps(), self.costs(), free, rows, labels)
    }

    /// In whole numbers: exact if the children are leaves, and with weights and targets to a fraction of `1e-4` or so if not.
    fn costs(&self) -> Costs {
        let least = self.variances.iter().copied().fold(f64::INFINITY, f64::min);
        let alike = self.variances.iter().all(|&variance| variance <= least);
        let (mut curvature, mut target) = (vec![0; self.steps()], vec![0; self.steps()]);
        for (child, variance) in self.variances.iter().enumerate() {
            let weight = if alike { 1.0 } else { (WEIGHTS * least / variance).round().max(1.0) };
            for (mean, length) in self.targets_of(child).iter().zip(&self.lengths) {
                curvature.push(whole(FRACTIONS * weight * length));
                target.push(whole((FRACTIONS * weight * mean * length).round()));
            }
        }
        Costs { curvature, target }
    }

    /// Labels under which the real optimum would have no reduced costs: the marginal cost of a group from the last step down.
    fn labels_of(&self, real: &[f64]) -> Vec<i128> {
        let Costs { curvature, target } = self.costs();
        let steps = self.steps();
        let mut labels = vec![0; self.cells() + steps + 1];
        let (root, children) = labels.split_at_mut(steps);
        root.fill(i128::MAX);
        for child in 0..self.variances.len() {
            let mut label = 0;
            for step in (0..steps).rev() {
                let cell = child * steps + step;
                let desired = curvature[steps + cell] as f64 * real[cell];
                label += 2 * (whole(desired.round()) - target[steps + cell]);
                children[cell] = label;
                root[step] = root[step].min(label);
            }
        }
        labels
    }

    /// The closest rows in real numbers, to rounding error.
    pub(super) fn solve_real(&self) -> Vec<f64> {
        let totals = self.totals.iter().map(|&total| total as f64);
        let largest =
            totals.chain(self.targets.iter().copied()).fold(0.0, |a: f64, b| a.max(b.abs()));
        // The gradient is in groups times bins.
        let longest = self.lengths.iter().copied().fold(1.0, f64::max);
        let (_, multipliers) = newton::maximise(self, longest * (1e-11 + 2e-15 * largest));
        let mut rows = vec![0.0; self.cells()];
        let mut pool = Vec::new();
        for (child, row) in rows.chunks_exact_mut(self.steps()).enumerate() {
            let fill = |piece: Piece| row[piece.start..piece.end].fill(piece.value);
            self.fit(child, &multipliers, &mut pool, fill);
        }
        rows
    }

    /// The row that the multipliers ask of a child, by pooling adjacent violators: its positive pieces, the last first.
    fn fit(
        &self,
        child: usize,
        multipliers: &[f64],
        pool: &mut Vec<(f64, f64, usize)>,
        mut piece: impl FnMut(Piece),
    ) {
        pool.clear();
        let (mut end, mut limit) = (self.steps(), f64::INFINITY);
        if let Some(ends) = &self.ends {
            end -= 1;
            limit = ends[child] as f64;
            piece(Piece { start: end, end: end + 1, value: limit, weight: f64::INFINITY });
        }
        let variance = self.variances[child];
        let cells = self.targets_of(child)[..end].iter().zip(multipliers).zip(&self.lengths);
        for (step, ((target, multiplier), &length)) in cells.enumerate() {
            let mut last = ((target + variance * multiplier) * length, length, step);
            while let Some(&before) = pool.last().filter(|b| b.0 * last.1 >= last.0 * b.1) {
                last = (last.0 + before.0, last.1 + before.1, before.2);
                pool.pop();
            }
            pool.push(last);
        }
        for &(sum, weight, start) in pool.iter().rev().take_while(|(sum, ..)| *sum > 0.0) {
            let free = sum / weight;
            let (value, weight) =
                if free < limit { (free, weight) } else { (limit, f64::INFINITY) };
            piece(Piece { start, end, value, weight });
            end = start;
        }
    }

    /// For each step the sum over the pieces that it lies in.
    fn constant_on(&self, point: &Point, value: impl Fn(&Piece, f64) -> f64) -> Vec<f64> {
        let mut jumps = vec![0.0; self.steps() + 1];
        for (piece, variance) in &point.pieces {
            let value = value(piece, *variance);
            jumps[piece.start] += value;
            jumps[piece.end] -= value;
        }
        for step in 1..self.steps() {
            jumps[step] += jumps[step - 1];
        }
        jumps.pop();
        jumps
    }
}

#[expect(clippy::cast_possible_truncation, reason = "far below 2^127: a target is below 2^36")]
fn whole(value: f64) -> i128 {
    value as i128
}

/// The gradient somewhere, with the pieces of all fits and the variances of their children.
pub(super) struct Point {
    gradient: Vec<f64>,
    pieces: Vec<(Piece, f64)>,
}

impl Dual for Split {
    type Point = Point;
    /// Its diagonal.
    type Factors = Vec<f64>;

    /// Optimal if no row is held up by its neighbours or by zero.
    fn start(&self) -> Vec<f64> {
        let variance: f64 = self.variances.iter().sum();
        let missing = |(step, &total): (usize, &i64)| {
            let rows = self.targets.chunks_exact(self.steps());
            (total as f64 - rows.map(|row| row[step]).sum::<f64>()) / variance
        };
        self.totals.iter().enumerate().map(missing).collect()
    }

    fn at(&self, multipliers: &[f64], _: Option<&Point>) -> Point {
        let (mut pieces, mut pool) = (Vec::new(), Vec::new());
        for (child, &variance) in self.variances.iter().enumerate() {
            self.fit(child, multipliers, &mut pool, |piece| pieces.push((piece, variance)));
        }
        let mut point = Point { gradient: Vec::new(), pieces };
        let sums = self.constant_on(&point, |piece, _| piece.value);
        let cells = self.lengths.iter().zip(&self.totals).zip(sums);
        let missing = cells.map(|((length, &total), sum)| length * (total as f64 - sum));
        point.gradient = missing.collect();
        point
    }

    fn gradient<'a>(&self, point: &'a Point) -> &'a [f64] {
        &point.gradient
    }

    fn react(&self, point: &Point, damping: f64, direction: &[f64], out: &mut [f64]) {
        let mut up_to = vec![0.0; self.steps() + 1];
        for (step, (value, length)) in direction.iter().zip(&self.lengths).enumerate() {
            up_to[step + 1] = up_to[step] + value * length;
        }
        let moved = self.constant_on(point, |piece, variance| {
            variance * (up_to[piece.end] - up_to[piece.start]) / piece.weight
        });
        let cells = out.iter_mut().zip(direction).zip(&self.lengths).zip(moved);
        cells.for_each(|(((out, value), length), moved)| *out = damping * value + length * moved);
    }

    fn precondition(&self, point: &Point, damping: f64) -> Vec<f64> {
        let moved = self.constant_on(point, |piece, variance| variance / piece.weight);
        let cells = self.lengths.iter().zip(moved);
        // Any positive number keeps it correct where no fit can move.
        cells.map(|(length, moved)| (damping + length * length * moved).max(1e-12)).collect()
    }

    fn solve_approximately(&self, diagonal: &Vec<f64>, rhs: &mut [f64]) {
        rhs.iter_mut().zip(diagonal).for_each(|(cell, pivot)| *cell /= pivot);
    }
}

#[cfg(test)]
impl Split {
    /// For noisy rows at hand, of leaves.
    pub(super) fn of_rows(
        rows: &[Vec<i64>],
        precision: &[f64],
        (starts, totals): (&[usize], Vec<i64>),
        ends: Option<Vec<i64>>,
    ) -> Self {
        let next = starts.iter().skip(1).copied().chain([rows[0].len()]);
        let runs: Vec<_> = starts.iter().copied().zip(next).collect();
        let mean = |row: &Vec<i64>, (start, end): (usize, usize)| {
            row[start..end].iter().sum::<i64>() as f64 / (end - start) as f64
        };
        let targets = rows.iter().flat_map(|row| runs.iter().map(move |&run| mean(row, run)));
        Self {
            targets: targets.collect(),
            lengths: runs.iter().map(|(start, end)| (end - start) as f64).collect(),
            totals,
            variances: precision.iter().map(|precision| 1.0 / precision).collect(),
            ends,
        }
    }
}
