//! Broken forms of noise on every record, of soft steps, and of the plan that chooses.

use dp_audit::harness::MutantCode;
use dp_cluster::coreset::PrivateCoreset;
use dp_cluster::distance::RegionRule::{NoisedPoint, TruePoint};
use dp_cluster::distance::{NearbyKMeans, NoisedPoints, Way};
use dp_cluster::{Clustering, Points};
use dp_mechanism::{Law, Noise, Source};

use crate::distance::{
    Setting, added, as_chosen, as_it_is, chosen_moves, honest, moves, regions, steps,
};
use crate::private_centres::{Through, plainly, variance};

use super::private_centres::narrower;

pub(crate) fn code() -> [MutantCode; 7] {
    [
        ("M75", |effort| moves(effort, drawn_twice), |effort| moves(effort, honest)),
        ("M76", |effort| steps(effort, nearest_centre), |effort| steps(effort, as_it_is)),
        (
            "M77",
            |effort| steps(effort, residuals_of_twice_the_radius),
            |effort| steps(effort, as_it_is),
        ),
        (
            "M230",
            |effort| regions(effort, NoisedPoint, one_tree),
            |effort| regions(effort, NoisedPoint, plainly),
        ),
        (
            "M231",
            |effort| regions(effort, TruePoint, one_cell),
            |effort| regions(effort, TruePoint, plainly),
        ),
        (
            "M232",
            |effort| regions(effort, NoisedPoint, one_cell),
            |effort| regions(effort, NoisedPoint, plainly),
        ),
        (
            "M291",
            |effort| chosen_moves(effort, whole_records_for_the_whole_budget),
            |effort| chosen_moves(effort, as_chosen),
        ),
    ]
}

/// Whole records hidden with the noise for one that comes or goes: half of what a move needs.
fn whole_records_for_the_whole_budget(
    plan: &NearbyKMeans,
    points: &Points,
    draws: &mut dyn Source,
) -> Clustering {
    if plan.way() == Way::Whole {
        return as_chosen(plan, points, &mut Through::new(draws, half_as_wide));
    }
    as_chosen(plan, points, draws)
}

fn half_as_wide(_: &[f64], law: Law<'_>, draws: &mut dyn Source) -> i64 {
    match law {
        Law::Noisy { value, noise: Noise::Rounded(noise) } => {
            draws.draw(Law::Noisy { value, noise: narrower(noise, 4) })
        }
        other => draws.draw(other),
    }
}

/// Each of four grids of fine cells with the noise of one.
fn one_tree(variances: &[f64], law: Law<'_>, draws: &mut dyn Source) -> i64 {
    divided(variances, law, draws, |of_trees| if of_trees { 4 } else { 1 })
}

/// Regions, with noise for a record that comes or goes: if it moves, one cell has less and another more.
fn one_cell(variances: &[f64], law: Law<'_>, draws: &mut dyn Source) -> i64 {
    divided(variances, law, draws, |of_trees| if of_trees { 1 } else { 2 })
}

/// Counts with a part of the variance. Those of the trees are first, and wider than all of the regions.
fn divided(variances: &[f64], law: Law<'_>, draws: &mut dyn Source, by: fn(bool) -> u128) -> i64 {
    let is_count = |v: &f64| *v < 1e6;
    match law {
        Law::Noisy { value, noise: Noise::Rounded(noise) } if is_count(&variance(noise)) => {
            let of_trees = variances.iter().copied().find(is_count) == Some(variance(noise));
            draws.draw(Law::Noisy { value, noise: narrower(noise, by(of_trees)) })
        }
        other => draws.draw(other),
    }
}

/// Both algorithms of the paper draw the noised points, each its own, for the price of one draw.
fn drawn_twice(
    plan: &NoisedPoints,
    points: &Points,
    draws: &mut dyn Source,
) -> Vec<PrivateCoreset> {
    [honest(plan, points, draws), honest(plan, points, draws)].concat()
}

/// All of a record at its nearest centre, with the noise of soft weights.
fn nearest_centre(setting: &Setting, row: &[f64]) -> Vec<i64> {
    added(&setting.step.clone().hard(), row)
}

/// Twice the radius where the bound has the radius: residuals are not scaled back as far as they should be.
fn residuals_of_twice_the_radius(setting: &Setting, row: &[f64]) -> Vec<i64> {
    let (once, twice) = (&setting.step, &setting.longer);
    let (sums, mut longer) = (added(once, row), added(twice, row));
    for (at, sum) in longer.iter_mut().enumerate() {
        // In units of the radius that the bound has; counts stay.
        *sum = if (at + 1) % (row.len() + 1) == 0 { sums[at] } else { 2 * *sum };
    }
    longer
}
