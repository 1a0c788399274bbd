//! Broken variants of re-centring: the real code with something put between it and its draws.

use dp_audit::harness::MutantCode;
use dp_cluster::Clustering;
use dp_geometry::Points;
use dp_mechanism::{Mechanism, RoundedGaussian, Source};

use super::rings::{Instead, scaled};
use crate::recentred::{Plan, honest, one_round_as_drawn, rounds, vectors};
use crate::rings::is_of_sum;

pub(crate) fn code() -> [MutantCode; 5] {
    [
        ("M30", |effort| rounds(effort, exact_search), |effort| rounds(effort, honest)),
        ("M31", |effort| vectors(effort, nothing_for_the_empty), |effort| vectors(effort, honest)),
        ("M32", |effort| rounds(effort, each_round_as_if_alone), |effort| rounds(effort, honest)),
        (
            "M32-sampled",
            |effort| one_round_as_drawn(effort, |noise| scaled(noise, (1, 4))),
            |effort| one_round_as_drawn(effort, |noise| noise),
        ),
        ("M33", |effort| vectors(effort, exact_counts), |effort| vectors(effort, honest)),
    ]
}

fn through(
    plan: &Plan,
    points: &Points,
    draws: &mut dyn Source,
    law: impl Fn(usize, i64, RoundedGaussian) -> Option<RoundedGaussian>,
) -> Clustering {
    plan.replay(points.view(), &mut Instead { draws, law, number: 0 }).0
}

/// The radius is searched for by exact counts.
fn exact_search(plan: &Plan, points: &Points, draws: &mut dyn Source) -> Clustering {
    through(plan, points, draws, |_, _, noise| is_of_sum(noise).then_some(noise))
}

/// Sums and counts that are 0 get no noise, as those of a centre without points.
fn nothing_for_the_empty(plan: &Plan, points: &Points, draws: &mut dyn Source) -> Clustering {
    through(plan, points, draws, |_, value, noise| {
        (value != 0 || !is_of_sum(noise)).then_some(noise)
    })
}

/// Every one of four rounds gets the noise of a budget that it has for itself. A plan of one round
/// is as it should be.
fn each_round_as_if_alone(plan: &Plan, points: &Points, draws: &mut dyn Source) -> Clustering {
    let rounds = plan.rounds() as u128;
    through(plan, points, draws, |_, _, noise| {
        Some(if is_of_sum(noise) { scaled(noise, (1, rounds)) } else { noise })
    })
}

/// Merging goes by the exact numbers of points: the last two entries of a vector get no noise.
fn exact_counts(plan: &Plan, points: &Points, draws: &mut dyn Source) -> Clustering {
    let width = points.dim() + 2;
    // `vectors` looks at one round, which begins with eight counts of the search.
    through(plan, points, draws, |number, _, noise| {
        let coordinate = number < 8 || (number - 8) % width < width - 2;
        coordinate.then_some(noise)
    })
}
