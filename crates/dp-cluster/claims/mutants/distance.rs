//! Broken forms of noise on every record and of soft steps.

use dp_audit::harness::MutantCode;
use dp_cluster::Points;
use dp_cluster::coreset::PrivateCoreset;
use dp_cluster::distance::NoisedPoints;
use dp_mechanism::Source;

use crate::distance::{Setting, added, as_it_is, honest, moves, steps};

pub(crate) fn code() -> [MutantCode; 3] {
    [
        ("M75", |effort| moves(effort, drawn_twice), |effort| moves(effort, honest)),
        ("M76", |effort| steps(effort, nearest_centre), |effort| steps(effort, as_it_is)),
        (
            "M77",
            |effort| steps(effort, residuals_of_twice_the_radius),
            |effort| steps(effort, as_it_is),
        ),
    ]
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
