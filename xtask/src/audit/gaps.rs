//! The interval size of DPM: pairs of data sets whose gaps move as far as they can.

use dp_accounting::Budget;
use dp_audit::{Scripted, compare};
use dp_cluster::dpm::{BudgetSplit, Dpm, IntervalSize};
use dp_geometry::{Points, PublicBox};
use dp_mechanism::{ChaCha20Rng, Mechanism, Ratio, SecureDraws};
use rand::{RngExt, SeedableRng};

use super::check::{Effort, Found};
use super::primitives::choice_loss;

/// A data set in the unit square and the point that its neighbour has more.
pub(super) struct GapCase {
    name: String,
    points: Vec<[f64; 2]>,
    added: [f64; 2],
}

/// Alternating gaps with the new point below all in one dimension and above all in the other, which
/// shifts the order of the gaps against each other; duplicates; and random sets.
pub(super) fn cases(effort: Effort) -> Vec<GapCase> {
    let mut cases = Vec::new();
    for half in [10, 20, 50] {
        // Gaps 0, g, 0, g, .. in one dimension and g, 0, g, 0, .. in the other.
        let gap = 0.9 / f64::from(half);
        let place = |i: i32, first: i32| 0.05 + gap * f64::from((i + first) / 2);
        let points = (0..=2 * half).map(|i| [place(i, 0), place(i, 1)]).collect();
        let name = format!("{} points with alternating gaps", 2 * half + 1);
        cases.push(GapCase { name, points, added: [0.05, 0.96] });
    }
    for added in [[0.5, 0.5], [0.0, 1.0]] {
        let name = "fifty copies of one point".to_owned();
        cases.push(GapCase { name, points: vec![[0.5, 0.5]; 50], added });
    }
    for added in [[0.3, 0.3], [1.0, 1.0]] {
        cases.push(GapCase { name: "no points".to_owned(), points: vec![], added });
    }
    let mut rng = effort.rng(30);
    for i in 0..effort.of(100, 5_000) {
        let n = rng.random_range(1..80);
        // Rounded to a lattice now and then, for ties.
        let lattice = if i % 2 == 0 { 1e9 } else { 20.0 };
        let mut place = || (rng.random::<f64>() * lattice).round() / lattice;
        let points = (0..n).map(|_| [place(), place()]).collect();
        let added = [place(), place()];
        cases.push(GapCase { name: format!("random set {i} of {n}"), points, added });
    }
    cases
}

impl GapCase {
    fn points(&self, with_added: bool) -> Vec<[f64; 2]> {
        self.points.iter().chain(with_added.then_some(&self.added)).copied().collect()
    }
}

/// The exact loss of the estimate of the plan itself, as a multiple of what it claims.
pub(super) fn estimated_interval(effort: Effort) -> Found {
    let mut found = Found::claim(1.0);
    // Small and large shares: small ones for typical sizes, large ones concentrate the choice.
    for epsilon in [1.0, 8.0] {
        let budget = Budget::new(4.0 * epsilon, 1e-6).expect("valid");
        let dpm = Dpm::builder(PublicBox::cube(2, 0.0, 1.0).expect("valid"), budget)
            .interval_size(IntervalSize::Estimated)
            .split(BudgetSplit::Pure { interval: 0.25, counts: 0.1, cuts: 0.1 })
            .max_depth(1)
            .build()
            .expect("valid settings");
        for case in cases(effort) {
            let [without, with] = [false, true]
                .map(|added| Points::new(case.points(added).concat(), 2).expect("whole rows"));
            for noisy_count in [1, 20, i64::try_from(case.points.len()).expect("small") + 1, 200] {
                let mut rng = ChaCha20Rng::seed_from_u64(1);
                let mut honest = SecureDraws::new(&mut rng);
                let mut outcomes = Scripted::new([noisy_count].into_iter(), &mut honest);
                let run = |points: &Points, draws: &mut dyn dp_mechanism::Draws| {
                    dpm.run(points.view(), draws)
                };
                let comparison = compare(run, &without, &with, &mut outcomes);
                let whole = comparison.diverged.is_none() && comparison.outputs_equal;
                let loss = comparison
                    .steps
                    .get(1)
                    .filter(|_| whole)
                    .map_or(f64::INFINITY, |step| step.forward.max(step.backward) / epsilon);
                found.see(loss, || {
                    format!("{}, noisy count {noisy_count}, epsilon {epsilon}", case.name)
                });
            }
        }
    }
    found
}

/// The published estimate: gaps averaged over dimensions position by position, a rank that is
/// claimed to move by at most 2, at an epsilon of 1.
pub(super) fn averaged_by_position(effort: Effort) -> Found {
    let mut found = Found::claim(1.0);
    let rate = Ratio::new(1, 2 * 2).expect("valid"); // epsilon / (2 sensitivity)
    for case in cases(effort).iter().filter(|case| case.points.len() > 1) {
        let [here, there] = [false, true].map(|added| published_scores(&case.points(added)));
        found.see(choice_loss(&here, &there, rate), || case.name.clone());
    }
    found
}

/// Minus the distance of the rank of each candidate width from the 65th percentile.
fn published_scores(points: &[[f64; 2]]) -> Vec<i64> {
    let columns = [0, 1].map(|i| {
        let mut column: Vec<f64> = points.iter().map(|point| point[i]).collect();
        column.sort_by(f64::total_cmp);
        column
    });
    let gaps = points.len() - 1;
    let average =
        |j: usize| columns.iter().map(|column| column[j + 1] - column[j]).sum::<f64>() / 2.0;
    let averages: Vec<f64> = (0..gaps).map(average).collect();
    #[allow(clippy::cast_possible_truncation, reason = "a small number")]
    let target = (0.65 * gaps as f64).round() as i64;
    (0..60)
        .map(|step| 1e-4 * 1.2_f64.powi(step))
        .map(|width| averages.iter().filter(|gap| **gap <= width).count())
        .map(|rank| -(i64::try_from(rank).expect("small") - target).abs())
        .collect()
}
