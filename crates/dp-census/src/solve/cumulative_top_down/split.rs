use std::ops::Range;

use super::estimates::Estimates;
use super::exchange::{Columns, Exchange};
use crate::solve::edf::Schedule;
use crate::solve::isotonic::{self, Isotonic};
use crate::solve::newton::{self, Dual};

/// One row in whole numbers, to be split among the children of its node: the closest nondecreasing nonnegative rows to some targets
/// that add up to it.
///
/// Children cannot grow where their sum does not, so between two bins at which the parent's row grows all rows are constant. There
/// is one column per *step* of the parent, weighing as much as the bins that it lasts, with the mean over them as its target: a row of
/// a million bins with twenty occupied sizes makes a problem of twenty columns.
///
/// The dual has a multiplier per step, and a child's row is the isotonic fit to its targets plus the multipliers times its variance: in
/// real numbers found by Newton's method, in whole numbers from there by [`Exchange`].
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

/// Fractions of a group to which targets are rounded.
const FRACTIONS: f64 = 256.0;
/// The largest weight of a child where they differ, and have to be rounded.
const WEIGHTS: f64 = 65_536.0;
/// Steps beyond which whole numbers are not optimal, just less than 1 away from the optimum in real numbers.
const MOST_STEPS: usize = 255;

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

    /// The closest rows in whole numbers, row-major, with the multipliers that prove it to [`certify`](Self::certify).
    pub(super) fn solve(&self) -> (Vec<i64>, Vec<i128>) {
        let multipliers = self.multipliers();
        let columns = self.columns();
        let whole_multipliers = self.whole_multipliers(&multipliers);
        if self.steps() <= MOST_STEPS {
            let rows = self.one_by_one(&columns, &whole_multipliers);
            if let Some(found) = Exchange::new(&columns, rows).settle() {
                return found;
            }
        }
        let mut rows = vec![0; self.cells()];
        Schedule::new(&self.totals, &self.rows_at(&multipliers)).fill(&mut rows);
        (rows, whole_multipliers.into_iter().map(|multiplier| 2 * multiplier).collect())
    }

    /// The least that a unit step in a child's row costs under the multipliers: the rows are the closest ones if it is not negative.
    pub(super) fn certify(&self, rows: &[i64], multipliers: &[i128]) -> i128 {
        let columns = self.columns();
        let free = self.steps() - usize::from(self.ends.is_some());
        let of_child = |(child, row): (usize, &[i64])| {
            let cells = child * self.steps()..child * self.steps() + free;
            let cells = columns.curvature[cells.clone()].iter().zip(&columns.target[cells]);
            // Twice the cost, for multipliers that are not even.
            let items: Vec<(i128, u64)> = cells
                .zip(multipliers)
                .map(|((&curvature, target), multiplier)| {
                    let weight = u64::try_from(2 * curvature).expect("a weight times bins");
                    (2 * target + multiplier, weight)
                })
                .collect();
            let proof = isotonic::certify(&items, &row[..free], 0..=self.limit(child));
            if proof.feasible { proof.raise.min(proof.lower) } else { i128::MIN }
        };
        rows.chunks_exact(self.steps()).enumerate().map(of_child).min().unwrap_or(0)
    }

    /// Where the row of a child must not go beyond.
    fn limit(&self, child: usize) -> i64 {
        let all = self.totals.last().copied().unwrap_or(0);
        self.ends.as_ref().map_or(all, |ends| ends[child])
    }

    /// In whole numbers: exact if the children are leaves, and with weights and targets to a fraction of `1e-4` or so if not.
    fn columns(&self) -> Columns {
        let (mut curvature, mut target) = (Vec::new(), Vec::new());
        for child in 0..self.variances.len() {
            let weight = FRACTIONS * self.weight(child);
            for (mean, length) in self.targets_of(child).iter().zip(&self.lengths) {
                curvature.push(whole(weight * length));
                target.push(whole(weight * mean * length));
            }
        }
        let ends_are_fixed = self.ends.is_some();
        Columns { totals: self.totals.clone(), curvature, target, ends_are_fixed }
    }

    /// In proportion to the precision; 1 if all are alike.
    fn weight(&self, child: usize) -> f64 {
        let least = self.least_variance();
        let alike = self.variances.iter().all(|&variance| variance <= least);
        if alike { 1.0 } else { (WEIGHTS * least / self.variances[child]).round().max(1.0) }
    }

    fn least_variance(&self) -> f64 {
        self.variances.iter().copied().fold(f64::INFINITY, f64::min)
    }

    /// As [`columns`](Self::columns) weighs them.
    fn whole_multipliers(&self, multipliers: &[f64]) -> Vec<i128> {
        let unit = FRACTIONS * self.weight(0) * self.variances[0];
        let scaled = multipliers.iter().zip(&self.lengths);
        scaled.map(|(multiplier, length)| whole(unit * length * multiplier)).collect()
    }

    /// The rows that are the closest ones for these multipliers, whatever they add up to.
    fn one_by_one(&self, columns: &Columns, multipliers: &[i128]) -> Vec<i64> {
        let steps = self.steps();
        let mut rows = Vec::with_capacity(self.cells());
        let mut fit = Isotonic::default();
        for child in 0..self.variances.len() {
            fit.clear();
            for (step, multiplier) in
                multipliers.iter().enumerate().take(steps - usize::from(self.ends.is_some()))
            {
                let cell = child * steps + step;
                let weight = u64::try_from(columns.curvature[cell]).expect("a weight times bins");
                fit.push(columns.target[cell] + multiplier, weight);
            }
            let limit = self.limit(child);
            rows.extend(fit.pieces(0..=limit).flat_map(|(value, n)| std::iter::repeat_n(value, n)));
            rows.extend(self.ends.as_ref().map(|ends| ends[child]));
        }
        rows
    }

    /// The closest rows in real numbers, to rounding error.
    #[cfg(test)]
    pub(super) fn solve_real(&self) -> Vec<f64> {
        self.rows_at(&self.multipliers())
    }

    /// Those of the optimum in real numbers.
    fn multipliers(&self) -> Vec<f64> {
        let totals = self.totals.iter().map(|&total| total as f64);
        let values = totals.chain(self.targets.iter().copied());
        let largest = values.fold(0.0, |most: f64, value| most.max(value.abs()));
        // The gradient is in groups times bins.
        let longest = self.lengths.iter().copied().fold(1.0, f64::max);
        newton::maximise(self, longest * (1e-11 + 2e-15 * largest)).1
    }

    fn rows_at(&self, multipliers: &[f64]) -> Vec<f64> {
        let mut rows = vec![0.0; self.cells()];
        let mut pool = Vec::new();
        for (child, row) in rows.chunks_exact_mut(self.steps()).enumerate() {
            let fill = |piece: Piece| row[piece.start..piece.end].fill(piece.value);
            self.fit(child, multipliers, &mut pool, fill);
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
    value.round() as i128
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
