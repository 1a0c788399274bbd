//! The interval size of DPM: pairs of data sets whose gaps move as far as they can.

use crate::neighbours::one_more;
use dp_accounting::{AnyRelation, Budget};
use dp_audit::harness::{Effort, Found};
use dp_audit::{Scripted, climb, compare, first_choice};
use dp_cluster::Clustering;
use dp_cluster::dpm::{BudgetSplit, Dpm, DpmSettings, IntervalSize};
use dp_geometry::{Points, PublicBox};
use dp_mechanism::{
    ChaCha20Rng, DiscreteGaussian, Geometric, Law, Mechanism, Ratio, SecureSource, Source,
};
use rand::{RngExt, SeedableRng};

use super::splits::Through;

/// A data set in the unit square and the point that its neighbour has more.
#[derive(Clone, Debug)]
pub(crate) struct GapCase {
    points: Vec<[f64; 2]>,
    added: [f64; 2],
    noisy_count: usize,
}

/// Alternating gaps with the new point below all in one dimension and above all in the other, which
/// shifts the order of the gaps against each other; duplicates; and random sets.
pub(crate) fn cases(effort: Effort) -> Vec<GapCase> {
    let case =
        |points: Vec<[f64; 2]>, added| GapCase { noisy_count: points.len() + 1, points, added };
    let mut cases = Vec::new();
    for half in [10, 20, 50] {
        // Gaps 0, g, 0, g, .. in one dimension and g, 0, g, 0, .. in the other.
        let gap = 0.9 / f64::from(half);
        let place = |i: i32, first: i32| 0.05 + gap * f64::from(i32::midpoint(i, first));
        let points = (0..=2 * half).map(|i| [place(i, 0), place(i, 1)]).collect();
        cases.push(case(points, [0.05, 0.96]));
    }
    for added in [[0.5, 0.5], [0.0, 1.0]] {
        cases.push(case(vec![[0.5, 0.5]; 50], added));
        cases.push(case(vec![], added));
    }
    cases.push(both_ways());
    let mut rng = effort.rng(30);
    for i in 0..effort.of(100, 1_000) {
        let n = rng.random_range(1..80);
        // Rounded to a lattice now and then, for ties.
        let lattice = if i % 2 == 0 { 1e9 } else { 20.0 };
        let mut place = || (rng.random::<f64>() * lattice).round() / lattice;
        let points = (0..n).map(|_| [place(), place()]).collect();
        cases.push(case(points, [place(), place()]));
    }
    cases
}

/// One gap per dimension is split that two candidates see: for the one below its target two gaps more are small, and so for the one
/// above, which moves their scores by twice the dimension towards and away from the target. Thresholds at a noisy count of
/// 20 are 0.103, 0.0689 and 0.0517 for the first three candidates.
fn both_ways() -> GapCase {
    let column = |gaps: [&[f64]; 3]| {
        let mut place = 0.01;
        let gaps = gaps.concat().into_iter();
        std::iter::once(place)
            .chain(gaps.map(|gap| {
                place += gap;
                place
            }))
            .collect::<Vec<f64>>()
    };
    let first = column([&[0.0; 10], &[0.13], &[0.075; 7]]);
    let second = column([&[0.0; 10], &[0.13], &[0.075, 0.075, 0.075, 0.075, 0.075, 0.075, 0.2]]);
    let points: Vec<[f64; 2]> = first.into_iter().zip(second).map(|(x, y)| [x, y]).collect();
    GapCase { noisy_count: points.len() + 1, points, added: [0.075; 2] }
}

/// Equal gaps of just the size up to which a candidate counts them: if a bound on gaps knew the records, all of them would tip with one more.
fn at_thresholds(dpm: &Dpm, noisy_count: usize) -> Vec<GapCase> {
    const CELLS: f64 = (1_u32 << 24) as f64;
    const RECORDS: u32 = 9;
    let equal = |gap: u32| {
        let place = |i: u32| (f64::from(i * gap) + 0.5) / CELLS;
        let points = (0..RECORDS).map(|i| [place(i); 2]).collect();
        GapCase { points, added: [1.0; 2], noisy_count }
    };
    // At gaps of nothing all are counted.
    let all = equal(0).scores(dpm);
    let mut cases = Vec::new();
    for (candidate, counted) in all.iter().enumerate() {
        let (mut low, mut high) = (0, (1 << 24) / RECORDS);
        while high - low > 1 {
            let middle = low.midpoint(high);
            let is_counted = equal(middle).scores(dpm)[candidate] == *counted;
            if is_counted { low = middle } else { high = middle }
        }
        cases.extend([equal(low), equal(high)]);
    }
    cases
}

impl GapCase {
    /// Of all candidates, without the added point.
    fn scores(&self, dpm: &Dpm) -> Vec<i64> {
        let points = Points::new(self.points(false).concat(), 2).expect("whole rows");
        let mut rng = ChaCha20Rng::seed_from_u64(1);
        let noisy_count = i64::try_from(self.noisy_count).expect("small");
        let mut honest = SecureSource::new(&mut rng);
        let mut outcomes = Scripted::new([noisy_count].into_iter(), &mut honest);
        first_choice(|draws| dpm.replay(points.view(), draws).0, &mut outcomes).scores
    }

    fn points(&self, with_added: bool) -> Vec<[f64; 2]> {
        self.points.iter().chain(with_added.then_some(&self.added)).copied().collect()
    }
}

/// The exact loss of the estimate of the plan itself, over all cases and what climbing from them
/// finds, as a multiple of what it claims.
pub(crate) fn estimated_interval(effort: Effort, through: Through) -> Found {
    let mut found = Found::claim(1.0);
    let mut rng = effort.rng(31);
    // Small and large shares: small ones for typical sizes, large ones concentrate the choice.
    for epsilon in [1.0, 8.0] {
        let dpm = estimating_plan(epsilon);
        for case in cases(effort) {
            for noisy_count in [1, 20, case.points.len() + 1, 200] {
                let case = GapCase { noisy_count, ..case.clone() };
                found.see(case.loss(&dpm, through) / epsilon, || {
                    format!("{case:?}, epsilon {epsilon}")
                });
            }
        }
        for case in [20, 200].into_iter().flat_map(|count| at_thresholds(&dpm, count)) {
            found
                .see(case.loss(&dpm, through) / epsilon, || format!("{case:?}, epsilon {epsilon}"));
        }
        for start in cases(effort).into_iter().rev().take(effort.of(2, 6)) {
            let steps = effort.of(800, 6_000);
            let loss = |case: &GapCase| case.loss(&dpm, through);
            let (case, worst) = climb(start, steps, &mut rng, GapCase::mutate, loss);
            found.see(worst / epsilon, || format!("{case:?}, epsilon {epsilon}"));
            found.cases += u64::from(steps);
        }
    }
    found.witness.truncate(400);
    found
}

/// A plan whose estimate of the interval size costs exactly `epsilon`.
fn estimating_plan(epsilon: f64) -> Dpm {
    let budget = Budget::new(4.0 * epsilon, 1e-6).expect("valid");
    Dpm::new(
        PublicBox::cube(2, 0.0, 1.0).expect("valid"),
        budget,
        DpmSettings {
            interval_size: IntervalSize::Estimated,
            split: BudgetSplit::Pure { interval: 0.25, counts: 0.1, cuts: 0.1 },
            max_depth: 1,
            ..Default::default()
        },
    )
    .expect("valid settings")
}

impl GapCase {
    /// Loss of the estimate on the pair, given the noisy count; infinite if the runs part ways.
    fn loss(&self, dpm: &Dpm, through: Through) -> f64 {
        let [without, with] = [false, true]
            .map(|added| Points::new(self.points(added).concat(), 2).expect("whole rows"));
        let mut rng = ChaCha20Rng::seed_from_u64(1);
        let mut honest = SecureSource::new(&mut rng);
        let noisy_count = i64::try_from(self.noisy_count).expect("small");
        let mut outcomes = Scripted::new([noisy_count].into_iter(), &mut honest);
        let run = |points: &Points, draws: &mut dyn Source| through(dpm, points, draws);
        let comparison = compare(&one_more(), run, &without, &with, &mut outcomes);
        let whole = comparison.diverged.is_none() && comparison.outputs_equal;
        let step = comparison.steps.get(1).filter(|_| whole);
        step.map_or(f64::INFINITY, |step| step.forward.max(step.backward))
    }

    /// Moves, adds or drops a point, moves the new one, or changes the noisy count.
    fn mutate(&mut self, rng: &mut ChaCha20Rng) {
        let place = [rng.random::<f64>(), rng.random::<f64>()];
        match rng.random_range(0..6) {
            0 | 1 if !self.points.is_empty() => {
                let i = rng.random_range(0..self.points.len());
                let dimension = rng.random_range(0..2);
                self.points[i][dimension] = place[dimension];
            }
            2 => self.points.push(place),
            3 if !self.points.is_empty() => {
                self.points.swap_remove(rng.random_range(0..self.points.len()));
            }
            4 => self.noisy_count = rng.random_range(1..150),
            _ => self.added = place,
        }
    }
}

/// The published estimate in the place of ours: the same plan, the same draws, but the first choice
/// scores each candidate by the rank of its width among gaps averaged over dimensions position by
/// position, at `exp(epsilon u / (2 sensitivity))` with the sensitivity of 2 that is claimed.
pub(crate) fn averaged_by_position(
    dpm: &Dpm,
    points: &Points,
    draws: &mut dyn Source,
) -> Clustering {
    struct Published<'a> {
        draws: &'a mut dyn Source,
        points: &'a Points,
        chosen: bool,
    }
    impl Source for Published<'_> {
        fn promised(&mut self, relation: Option<AnyRelation>) {
            self.draws.promised(relation);
        }

        fn draw(&mut self, law: Law<'_>) -> i64 {
            match law {
                Law::Choice { scores, rate } if !self.chosen => {
                    self.chosen = true;
                    let scores = published_scores(self.points, scores.len());
                    // Ours is epsilon / (4 d) for ranks summed over two dimensions.
                    let rate = rate.checked_mul(Ratio::new(2, 1).expect("valid"));
                    let rate = rate.expect("in range");
                    self.draws.draw(Law::Choice { scores: &scores, rate })
                }
                other => self.draws.draw(other),
            }
        }
        fn noisy_vector(&mut self, values: &mut [i64], noise: DiscreteGaussian) {
            self.draws.noisy_vector(values, noise);
        }

        fn noisy_max(&mut self, scores: &[i64], noise: Geometric) -> (usize, i64) {
            self.draws.noisy_max(scores, noise)
        }
    }
    dpm.replay(points.view(), &mut Published { draws, points, chosen: false }).0
}

/// Minus the distance of the rank of each candidate width from the 65th percentile.
fn published_scores(points: &Points, candidates: usize) -> Vec<i64> {
    let columns = [0, 1].map(|i| {
        let mut column: Vec<f64> = points.view().rows().map(|point| point[i]).collect();
        column.sort_by(f64::total_cmp);
        column
    });
    let gaps = points.len().saturating_sub(1);
    let average =
        |j: usize| columns.iter().map(|column| column[j + 1] - column[j]).sum::<f64>() / 2.0;
    let averages: Vec<f64> = (0..gaps).map(average).collect();
    #[allow(clippy::cast_possible_truncation, reason = "a small number")]
    let target = (0.65 * gaps as f64).round() as i64;
    // Widths from a thousandth of the range up, by factors of 1.9.
    std::iter::successors(Some(1e-3), |width| Some(width * 1.9))
        .take(candidates)
        .map(|width| averages.iter().filter(|gap| **gap <= width).count())
        .map(|rank| -(i64::try_from(rank).expect("small") - target).abs())
        .collect()
}
