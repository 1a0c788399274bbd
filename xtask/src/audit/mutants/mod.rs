//! Deliberately broken variants, most of them as published, each with its corrected twin.
//!
//! What each one is stands in `mutants.toml`; here is which code shows it, and one file per family
//! holds that code. Nothing in this folder can be reached from a library crate.

mod baselines;
mod cells;
mod census;
mod classics;
mod counts;
mod farthest;
mod floats;
mod gaussian;
mod k_median;
mod published_dpm;
mod recentred;
mod regions;
mod seeds;
mod selection;
mod set_cover;
mod stream;
mod submodular;
mod thresholds;
mod toys;

use serde::Deserialize;

use super::check::{Effort, Found, MutantCheck, MutantRow};
pub(crate) use census::{published_chain, true_epsilon_of_the_chain};
pub(super) use published_dpm::with_printed_sensitivity;
pub(super) use toys::{Side, for_each_one_more, pure_loss_of_one_more};

const TABLE: &str = include_str!("mutants.toml");

/// Every mutant of the table, with its code.
pub(super) fn all() -> Vec<MutantCheck> {
    let mut rows = rows();
    let with_row = |(id, mutant, twin)| {
        let row = rows.extract_if(.., |row| row.id == id).next()?;
        Some(MutantCheck { row, mutant, twin })
    };
    code().into_iter().filter_map(with_row).collect()
}

fn rows() -> Vec<MutantRow> {
    #[derive(Deserialize)]
    struct Table {
        mutant: Vec<MutantRow>,
    }
    let table: Table = toml::from_str(TABLE).expect("a test reads the table");
    table.mutant
}

type Code = (&'static str, fn(Effort) -> Found, fn(Effort) -> Found);

/// In the order of the table: id, mutant, twin.
fn code() -> Vec<Code> {
    use cells::{half_the_logarithm, reach_of_the_noise, released_counts};
    use counts::{half_over_epsilon, one_over_half_epsilon};
    use regions::{for_one_region, for_two_regions, laplace_counts};
    use selection::Picks;
    use thresholds::{Leaves, a_tenth_too_much, all_that_is_carried};
    let from_papers: [Code; 15] = [
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
        ("M14", census::chain_as_published, census::chain_of_the_library),
        ("M14-appears", census::no_column_for_empty_groups, census::a_column_for_empty_groups),
        (
            "M14-outgrown",
            census::dropped_beyond_the_last_column,
            census::counted_in_the_last_column,
        ),
        (
            "M14-quantity",
            census::noise_for_a_quantity_of_one,
            census::noise_for_a_quantity_of_three,
        ),
        (
            "M15",
            |effort| farthest::histogram(effort, 1.0),
            |effort| farthest::histogram(effort, 2.0),
        ),
    ];
    let groups: &[&[Code]] = &[
        &published_dpm::code(),
        &from_papers,
        &classics::code(),
        &from_habits(),
        &baselines::code(),
        &recentred::code(),
        &stream::code(),
        &submodular::code(),
        &set_cover::code(),
        &k_median::code(),
        &[("M60", census::zero_where_no_group_is, census::as_it_comes)],
    ];
    groups.concat()
}

fn from_habits() -> [Code; 3] {
    use counts::{epsilon_as_rate, epsilon_as_scale};
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
    ]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn table_and_code_name_the_same_mutants_in_the_same_order() {
        let in_table: Vec<String> = rows().into_iter().map(|row| row.id).collect();
        let in_code: Vec<&str> = code().iter().map(|(id, ..)| *id).collect();
        assert_eq!(in_table, in_code);
        assert_eq!(all().len(), in_code.len());
    }

    #[test]
    fn mutants_are_numbered_in_order_some_of_them_in_several_forms() {
        let number = |id: &str| id.trim_start_matches('M').parse().expect("M and a number");
        let mut numbers: Vec<u32> = all().iter().map(|check| number(check.row.number())).collect();
        numbers.dedup();
        assert!(numbers.is_sorted_by(|a, b| a < b), "{numbers:?}");
        // Those that the project set out with.
        assert_eq!(numbers[..18], (1..=18).collect::<Vec<_>>());
    }

    #[test]
    fn every_row_says_what_it_is_and_expects_an_overspend() {
        for MutantRow { id, what, reference, layer, expected, seconds } in rows() {
            assert!(!what.is_empty() && !reference.is_empty(), "{id}");
            let layers = ["exact", "range", "statistical", "gaussian"];
            assert!(layers.contains(&layer.as_str()), "{id}: {layer}");
            assert!(expected > 1.0 && seconds > 0.0, "{id}");
        }
    }
}
