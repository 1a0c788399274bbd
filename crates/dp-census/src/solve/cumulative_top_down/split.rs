use std::ops::Range;

use super::dual::Piece;
use super::estimates::Estimates;
use super::exchange::{Columns, Exchange};
use crate::solve::isotonic::{self, Isotonic};
use crate::solve::newton;
use crate::solve::whole_rows::Targets;

/// One row in whole numbers, to be split among the children of its node: the closest nondecreasing nonnegative rows to some targets
/// that add up to it.
///
/// Children cannot grow where their sum does not, so between two bins at which the parent's row grows all rows are constant. There
/// is one column per *step* of the parent, weighing as much as the bins that it lasts, with the mean over them as its target: a row of
/// a million bins with twenty occupied sizes makes a problem of twenty columns.
///
/// The dual has a multiplier per step, and a child's row is the isotonic fit to its targets plus the multipliers times its variance: in
/// real numbers found by Newton's method, in whole numbers from there by [`Exchange`].
pub(in crate::solve) struct Split {
    /// Bins that each step lasts.
    pub(super) lengths: Vec<f64>,
    /// What the children add up to at each step, increasing.
    pub(super) totals: Vec<i64>,
    /// Row-major: a row per child, a column per step.
    pub(super) targets: Vec<f64>,
    /// What the square of a distance counts, cell by cell: bins over variance.
    pub(super) weights: Vec<f64>,
    /// The inverse precision of each child's targets, where it is the same at all steps.
    pub(super) variances: Vec<f64>,
    /// Where each child's row must end, if that is public.
    pub(super) ends: Option<Vec<i64>>,
    /// How much a sum moves with its multiplier where nothing is held up: the bins of each step over its weight, in all children.
    pub(super) freedom: Vec<f64>,
    /// The mean over steps, the scale of damping.
    pub(super) mean_freedom: f64,
}

/// What may be missing in a sum of real rows, in groups, before they become whole numbers.
const NEARLY: f64 = 0.01;
/// Fractions of a group to which targets are rounded.
const FRACTIONS: f64 = 256.0;
/// The largest weight of a child where they differ, and have to be rounded.
const WEIGHTS: f64 = 1_048_576.0;
/// Children times steps to the third up to which whole numbers are optimal, within a few tenths of a second. Beyond, the real
/// optimum is rounded. Children are public; steps are the bins in which the row of their parent grows, which follows from noisy rows.
pub(super) const MOST_WORK: usize = 1 << 26;
/// Units per cell that may have to be moved; more come from a search that was given up.
const MOST_UNITS: usize = 4;

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
        let precision = children.clone().map(|child| estimates.precision(child));
        let lengths: Vec<f64> = runs.iter().map(|run| run.len() as f64).collect();
        let weights = product(precision.clone(), &lengths);
        let ends = ends.map(|ends| ends[children].to_vec());
        let split = Self::weighted(lengths, totals, targets, weights, ends);
        Self { variances: precision.map(f64::recip).collect(), ..split }
    }

    /// With a weight for each cell. It can be solved nearly only.
    pub(in crate::solve) fn weighted(
        lengths: Vec<f64>,
        totals: Vec<i64>,
        targets: Vec<f64>,
        weights: Vec<f64>,
        ends: Option<Vec<i64>>,
    ) -> Self {
        let mut freedom = vec![0.0; lengths.len()];
        for weights in weights.chunks_exact(lengths.len().max(1)) {
            let cells = freedom.iter_mut().zip(&lengths).zip(weights);
            cells.for_each(|((sum, length), weight)| *sum += length / weight);
        }
        let mean_freedom = freedom.iter().sum::<f64>() / lengths.len() as f64;
        let variances = Vec::new();
        Self { lengths, totals, targets, weights, variances, ends, freedom, mean_freedom }
    }

    /// Near to the closest rows in whole numbers, and by how much real ones did not add up.
    pub(in crate::solve) fn solve_nearly(&self) -> (Vec<i64>, f64) {
        let (residual, multipliers) = self.multipliers(NEARLY);
        (self.near(&multipliers), residual)
    }

    fn near(&self, multipliers: &[f64]) -> Vec<i64> {
        let values = self.rows_at(multipliers);
        let ends = self.ends.as_deref();
        Targets { totals: &self.totals, values: &values, weights: &self.weights, ends }.rows()
    }

    pub(super) fn children(&self) -> usize {
        self.targets.len() / self.steps().max(1)
    }

    pub(super) fn steps(&self) -> usize {
        self.lengths.len()
    }

    /// Children times steps.
    pub(super) fn cells(&self) -> usize {
        self.targets.len()
    }

    pub(super) fn targets_of(&self, child: usize) -> &[f64] {
        &self.targets[child * self.steps()..][..self.steps()]
    }

    /// The closest rows in whole numbers, row-major, with the multipliers that prove it to [`certify`](Self::certify).
    pub(super) fn solve(&self, most_work: usize) -> (Vec<i64>, Vec<i128>) {
        let small = self.cells().saturating_mul(self.steps().saturating_pow(2)) <= most_work;
        // The fewer units are in the wrong place, the fewer have to be moved.
        let (_, multipliers) = self.multipliers(if small { 0.0 } else { NEARLY });
        let columns = self.columns();
        let whole_multipliers = self.whole_multipliers(&multipliers);
        if small {
            let rows = self.one_by_one(&columns, &whole_multipliers);
            if let Some(found) = Exchange::new(&columns, rows).settle(MOST_UNITS * self.cells()) {
                return found;
            }
        }
        (
            self.near(&multipliers),
            whole_multipliers.into_iter().map(|multiplier| 2 * multiplier).collect(),
        )
    }

    /// By how much a unit step in a child's row comes closer under the multipliers, in weighted squares with the most precise child
    /// weighing 1; the rows are the closest ones if none does.
    pub(super) fn certify(&self, rows: &[i64], multipliers: &[i128]) -> f64 {
        // A search that ran away proves nothing, and its sums would not fit 128 bits.
        if multipliers.iter().any(|multiplier| multiplier.unsigned_abs() > 1 << 100) {
            return f64::INFINITY;
        }
        let columns = self.columns();
        let free = self.steps() - usize::from(self.ends.is_some());
        let largest = self.weights().into_iter().fold(1.0, f64::max);
        let unit = 2.0 * FRACTIONS * largest;
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
            let gain = (-proof.raise.min(proof.lower)).max(0) as f64 / unit;
            if proof.feasible { gain } else { f64::INFINITY }
        };
        rows.chunks_exact(self.steps()).enumerate().map(of_child).fold(0.0, f64::max)
    }

    /// Where the row of a child must not go beyond.
    fn limit(&self, child: usize) -> i64 {
        let all = self.totals.last().copied().unwrap_or(0);
        self.ends.as_ref().map_or(all, |ends| ends[child])
    }

    /// In whole numbers. Weights of children that differ are rounded to a millionth of the largest.
    fn columns(&self) -> Columns {
        let (mut curvature, mut target) = (Vec::new(), Vec::new());
        for (child, weight) in self.weights().into_iter().enumerate() {
            let weight = FRACTIONS * weight;
            for (mean, length) in self.targets_of(child).iter().zip(&self.lengths) {
                curvature.push(whole(weight * length));
                target.push(whole(weight * mean * length));
            }
        }
        let ends_are_fixed = self.ends.is_some();
        Columns { totals: self.totals.clone(), curvature, target, ends_are_fixed }
    }

    /// Of the children, in proportion to their precision; all 1 if they are alike.
    fn weights(&self) -> Vec<f64> {
        let least = self.variances.iter().copied().fold(f64::INFINITY, f64::min);
        let alike = self.variances.iter().all(|&variance| variance <= least);
        let weight =
            |variance: f64| if alike { 1.0 } else { (WEIGHTS * least / variance).round().max(1.0) };
        self.variances.iter().map(|&variance| weight(variance)).collect()
    }

    /// As [`columns`](Self::columns) weighs them.
    fn whole_multipliers(&self, multipliers: &[f64]) -> Vec<i128> {
        let unit = FRACTIONS * self.weights()[0] * self.variances[0];
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
                // Beyond that there is nothing but saturated noise.
                let most = i128::from(weight) << 51;
                fit.push((columns.target[cell] + multiplier).clamp(-most, most), weight);
            }
            // Whatever is too much is moved later.
            let limit = self.ends.as_ref().map_or(1 << 52, |ends| ends[child]);
            rows.extend(fit.pieces(0..=limit).flat_map(|(value, n)| std::iter::repeat_n(value, n)));
            rows.extend(self.ends.as_ref().map(|ends| ends[child]));
        }
        rows
    }

    /// The closest rows in real numbers, to rounding error.
    #[cfg(test)]
    pub(super) fn solve_real(&self) -> Vec<f64> {
        self.rows_at(&self.multipliers(0.0).1)
    }

    /// Those of the optimum in real numbers, to so many groups, with what is missing in the sums.
    fn multipliers(&self, nearly: f64) -> (f64, Vec<f64>) {
        let totals = self.totals.iter().map(|&total| total as f64);
        let values = totals.chain(self.targets.iter().copied());
        let largest = values.fold(0.0, |most: f64, value| most.max(value.abs()));
        // The gradient is in groups times bins.
        let longest = self.lengths.iter().copied().fold(1.0, f64::max);
        let tolerance = longest * (nearly.max(1e-11) + 2e-15 * largest);
        let most_steps = <Self as newton::Dual>::MAX_STEPS;
        let (residual, multipliers, _) = newton::maximise(self, tolerance, most_steps);
        (residual / longest, multipliers)
    }

    fn rows_at(&self, multipliers: &[f64]) -> Vec<f64> {
        let mut rows = vec![0.0; self.cells()];
        let mut pool = Vec::new();
        for (child, row) in rows.chunks_exact_mut(self.steps().max(1)).enumerate() {
            let fill = |piece: Piece| row[piece.start..piece.end].fill(piece.value);
            self.fit(child, multipliers, &mut pool, fill);
        }
        rows
    }
}

/// Precision of each child times bins of each step, row-major.
fn product(precision: impl Iterator<Item = f64>, lengths: &[f64]) -> Vec<f64> {
    precision.flat_map(|precision| lengths.iter().map(move |length| precision * length)).collect()
}

#[expect(clippy::cast_possible_truncation, reason = "far below 2^127: a target is below 2^36")]
fn whole(value: f64) -> i128 {
    value.round() as i128
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
        let lengths: Vec<f64> = runs.iter().map(|(start, end)| (end - start) as f64).collect();
        let weights = product(precision.iter().copied(), &lengths);
        let split = Self::weighted(lengths, totals, targets.collect(), weights, ends);
        Self { variances: precision.iter().map(|precision| 1.0 / precision).collect(), ..split }
    }
}
