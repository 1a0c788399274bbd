//! Mistakes made with the primitives, most of them as published, each with its corrected twin. What each one is stands
//! in `mutants.toml`.

mod cells;
mod classics;
mod counts;
mod farthest;
mod floats;
mod gaussian;
mod regions;
mod seeds;
mod selection;
mod thresholds;

use cells::{half_the_logarithm, reach_of_the_noise, released_counts};
use counts::{epsilon_as_rate, epsilon_as_scale, half_over_epsilon, one_over_half_epsilon};
use dp_audit::harness::{MutantCheck, MutantCode};
use regions::{for_one_region, for_two_regions, laplace_counts};
use selection::Picks;
use thresholds::{Leaves, a_tenth_too_much, all_that_is_carried};

pub(crate) fn all() -> Vec<MutantCheck> {
    let code = [&from_papers()[..], &classics::code(), &from_habits()].concat();
    dp_audit::harness::mutants(include_str!("mutants.toml"), &code)
}

fn from_papers() -> [MutantCode; 11] {
    [
        (
            "M5",
            |effort| thresholds::three_keys(effort, Leaves::AfterTheStep),
            |effort| thresholds::three_keys(effort, Leaves::AtOnce),
        ),
        (
            "M6",
            |effort| thresholds::two_steps(effort, Leaves::Never),
            |effort| thresholds::two_steps(effort, Leaves::AtOnce),
        ),
        (
            "M7",
            |effort| counts::rounds(effort, half_over_epsilon),
            |effort| counts::rounds(effort, one_over_half_epsilon),
        ),
        (
            "M8",
            |effort| thresholds::both_ways(effort, None),
            |effort| thresholds::both_ways(effort, Some(all_that_is_carried)),
        ),
        (
            "M8-choice",
            |effort| selection::repeated_choice(effort, false),
            |effort| selection::repeated_choice(effort, true),
        ),
        (
            "M9",
            |effort| thresholds::both_ways(effort, Some(a_tenth_too_much)),
            |effort| thresholds::both_ways(effort, Some(all_that_is_carried)),
        ),
        (
            "M10",
            |effort| selection::centres(effort, Picks::FromTheRecords),
            |effort| selection::centres(effort, Picks::FromABound),
        ),
        (
            "M11",
            |effort| released_counts(effort, half_the_logarithm),
            |effort| released_counts(effort, reach_of_the_noise),
        ),
        (
            "M12",
            |effort| gaussian::counts_of_both(effort, 1),
            |effort| gaussian::counts_of_both(effort, 2),
        ),
        (
            "M13",
            |effort| laplace_counts(effort, for_one_region),
            |effort| laplace_counts(effort, for_two_regions),
        ),
        (
            "M15",
            |effort| farthest::histogram(effort, 1.0),
            |effort| farthest::histogram(effort, 2.0),
        ),
    ]
}

fn from_habits() -> [MutantCode; 5] {
    [
        (
            "M17",
            |effort| counts::released(effort, epsilon_as_scale),
            |effort| counts::released(effort, epsilon_as_rate),
        ),
        ("M18", |effort| seeds::exact(effort, true), |effort| seeds::exact(effort, false)),
        (
            "M18-sampled",
            |effort| seeds::sampled(effort, true),
            |effort| seeds::sampled(effort, false),
        ),
        (
            "M12-curve",
            |effort| gaussian::count_by_the_curve(effort, gaussian::discrete),
            |effort| gaussian::count_by_the_curve(effort, gaussian::rounded),
        ),
        // A replaced record is in two keys.
        (
            "M125",
            |effort| crate::stable::neighbours(effort, 1, 2),
            |effort| crate::stable::neighbours(effort, 2, 2),
        ),
    ]
}
