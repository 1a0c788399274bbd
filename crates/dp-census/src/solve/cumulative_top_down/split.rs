use super::estimates::Estimates;
use crate::solve::newton::{self, Dual};
use std::ops::Range;

/// One row in whole numbers, to be split among the children of its node: the closest nondecreasing nonnegative rows to some targets
/// that add up to it.
///
/// Children cannot grow where their sum does not, so between two bins at which the parent's row grows all rows are constant. There
/// is one column per *step* of the parent, weighing as much as the bins that it lasts, with the mean over them as its target: a row of
/// a million bins with twenty occupied sizes makes a problem of twenty columns.
///
/// The dual has a multiplier per step; a child's row is the isotonic fit to its targets plus the multipliers times its variance.
pub(super) struct Split {
    /// Bins that each step lasts.
    lengths: Vec<f64>,
    /// What the children add up to at each step, increasing.
    totals: Vec<f64>,
    /// Row-major: a row per child, a column per step.
    targets: Vec<f64>,
    /// The inverse precision of each child's targets.
    variances: Vec<f64>,
}

/// How the row of a node was split in real numbers: evidence for [`certify`](super::certify).
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Optimum {
    /// Row-major: a row per child, a column per bin at which the parent's row grows.
    pub(super) rows: Vec<f64>,
    /// One per column.
    multipliers: Vec<f64>,
}

/// Steps over which a child's fit is constant and can move.
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
        (starts, totals): (&[usize], &[i64]),
    ) -> Self {
        let ends = starts.iter().skip(1).copied().chain([bins]);
        let lengths = starts.iter().zip(ends).map(|(start, end)| (end - start) as f64).collect();
        let mut targets = Vec::with_capacity(children.len() * starts.len());
        children.clone().for_each(|child| estimates.push_means(child, starts, &mut targets));
        let variances = children.map(|child| 1.0 / estimates.precision(child)).collect();
        let totals = totals.iter().map(|&total| total as f64).collect();
        Self { lengths, totals, targets, variances }
    }

    /// As [`new`](Self::new), for noisy rows at hand.
    #[cfg(test)]
    pub(super) fn of_rows(
        rows: &[Vec<i64>],
        precision: &[f64],
        (starts, totals): (&[usize], &[i64]),
    ) -> Self {
        let ends = starts.iter().skip(1).copied().chain([rows[0].len()]);
        let runs: Vec<_> = starts.iter().copied().zip(ends).collect();
        let mean = |row: &Vec<i64>, (start, end): (usize, usize)| {
            row[start..end].iter().sum::<i64>() as f64 / (end - start) as f64
        };
        let targets = rows.iter().flat_map(|row| runs.iter().map(move |&run| mean(row, run)));
        Self {
            targets: targets.collect(),
            lengths: runs.iter().map(|(start, end)| (end - start) as f64).collect(),
            totals: totals.iter().map(|&total| total as f64).collect(),
            variances: precision.iter().map(|precision| 1.0 / precision).collect(),
        }
    }

    fn steps(&self) -> usize {
        self.lengths.len()
    }

    fn targets_of(&self, child: usize) -> &[f64] {
        &self.targets[child * self.steps()..][..self.steps()]
    }

    /// The optimum, to rounding error.
    pub(super) fn solve(&self) -> Optimum {
        let largest = self.targets.iter().chain(&self.totals).fold(0.0, |a: f64, b| a.max(b.abs()));
        // The gradient is in groups times bins.
        let longest = self.lengths.iter().copied().fold(1.0, f64::max);
        let (_, multipliers) = newton::maximise(self, longest * (1e-11 + 2e-15 * largest));
        let mut rows = vec![0.0; self.targets.len()];
        let mut pool = Vec::new();
        for (child, row) in rows.chunks_exact_mut(self.steps()).enumerate() {
            let fill = |piece: Piece| row[piece.start..piece.end].fill(piece.value);
            self.fit(child, &multipliers, &mut pool, fill);
        }
        Optimum { rows, multipliers }
    }

    /// The row that the multipliers ask of a child, by pooling adjacent violators: its positive pieces, the last first.
    fn fit(
        &self,
        child: usize,
        multipliers: &[f64],
        pool: &mut Vec<(f64, f64, usize)>,
        piece: impl FnMut(Piece),
    ) {
        pool.clear();
        let variance = self.variances[child];
        let cells = self.targets_of(child).iter().zip(multipliers).zip(&self.lengths).enumerate();
        for (step, ((target, multiplier), &length)) in cells {
            let mut last = ((target + variance * multiplier) * length, length, step);
            while let Some(&before) = pool.last().filter(|b| b.0 * last.1 >= last.0 * b.1) {
                last = (last.0 + before.0, last.1 + before.1, before.2);
                pool.pop();
            }
            pool.push(last);
        }
        let mut end = self.steps();
        let positive = pool.iter().rev().take_while(|(sum, ..)| *sum > 0.0);
        let pieces = positive.map(|&(sum, weight, start)| {
            let piece = Piece { start, end, value: sum / weight, weight };
            end = start;
            piece
        });
        pieces.for_each(piece);
    }

    /// The largest violation of an optimality condition, in groups: of a sum, or of a child's fit given the multipliers.
    ///
    /// # Panics
    /// If the optimum has another shape.
    pub(super) fn violation(&self, optimum: &Optimum) -> f64 {
        let Optimum { rows, multipliers } = optimum;
        assert_eq!(rows.len(), self.targets.len(), "a cell per child and step");
        assert_eq!(multipliers.len(), self.steps(), "a multiplier per step");
        let rows = || rows.chunks_exact(self.steps());
        let missing =
            |(step, total): (usize, &f64)| (total - rows().map(|row| row[step]).sum::<f64>()).abs();
        let sums = self.totals.iter().enumerate().map(missing).fold(0.0, f64::max);
        let fits =
            rows().enumerate().map(|(child, row)| self.violation_of(child, row, multipliers));
        fits.fold(sums, f64::max)
    }

    /// The cone of nondecreasing nonnegative rows is generated by the indicators of the last steps. So a row in it is the closest one
    /// if and only if no suffix of the weighted differences is positive, and those are 0 that begin where the row grows.
    fn violation_of(&self, child: usize, row: &[f64], multipliers: &[f64]) -> f64 {
        if row[0] < 0.0 || !row.is_sorted() {
            return f64::INFINITY;
        }
        let (mut suffix, mut weight, mut worst): (f64, f64, f64) = (0.0, 0.0, 0.0);
        let targets = self.targets_of(child);
        for step in (0..self.steps()).rev() {
            let target = targets[step] + self.variances[child] * multipliers[step];
            suffix += self.lengths[step] * (target - row[step]);
            weight += self.lengths[step];
            let grows = row[step] > if step == 0 { 0.0 } else { row[step - 1] };
            let off = if grows { suffix.abs() } else { suffix };
            worst = worst.max(off / weight);
        }
        worst
    }
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
        let missing = |(step, total): (usize, &f64)| {
            let rows = self.targets.chunks_exact(self.steps());
            (total - rows.map(|row| row[step]).sum::<f64>()) / variance
        };
        self.totals.iter().enumerate().map(missing).collect()
    }

    fn at(&self, multipliers: &[f64], _: Option<&Point>) -> Point {
        let (mut pieces, mut pool) = (Vec::new(), Vec::new());
        for (child, &variance) in self.variances.iter().enumerate() {
            self.fit(child, multipliers, &mut pool, |piece| pieces.push((piece, variance)));
        }
        let sums = self.constant_on(&pieces, |piece, _| piece.value);
        let cells = self.lengths.iter().zip(&self.totals).zip(sums);
        let gradient = cells.map(|((length, total), sum)| length * (total - sum)).collect();
        Point { gradient, pieces }
    }

    fn gradient<'a>(&self, point: &'a Point) -> &'a [f64] {
        &point.gradient
    }

    fn react(&self, point: &Point, damping: f64, direction: &[f64], out: &mut [f64]) {
        let mut up_to = vec![0.0; self.steps() + 1];
        for (step, (value, length)) in direction.iter().zip(&self.lengths).enumerate() {
            up_to[step + 1] = up_to[step] + value * length;
        }
        let moved = self.constant_on(&point.pieces, |piece, variance| {
            variance * (up_to[piece.end] - up_to[piece.start]) / piece.weight
        });
        let cells = out.iter_mut().zip(direction).zip(&self.lengths).zip(moved);
        cells.for_each(|(((out, value), length), moved)| *out = damping * value + length * moved);
    }

    fn precondition(&self, point: &Point, damping: f64) -> Vec<f64> {
        let moved = self.constant_on(&point.pieces, |piece, variance| variance / piece.weight);
        let cells = self.lengths.iter().zip(moved);
        // Any positive number keeps it correct where no fit can move.
        cells.map(|(length, moved)| (damping + length * length * moved).max(1e-12)).collect()
    }

    fn solve_approximately(&self, diagonal: &Vec<f64>, rhs: &mut [f64]) {
        rhs.iter_mut().zip(diagonal).for_each(|(cell, pivot)| *cell /= pivot);
    }
}

impl Split {
    /// For each step the sum over the pieces that it lies in.
    fn constant_on(&self, pieces: &[(Piece, f64)], value: impl Fn(&Piece, f64) -> f64) -> Vec<f64> {
        let mut jumps = vec![0.0; self.steps() + 1];
        for (piece, variance) in pieces {
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
