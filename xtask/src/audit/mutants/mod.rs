//! Deliberately broken variants, most of them as published, each with its corrected twin.
//!
//! What each one is stands in `mutants.toml`; here is which code shows it, and one file per family
//! holds that code. Nothing in this folder can be reached from a library crate.

mod baselines;
mod census;
mod k_median;
mod published_dpm;
mod recentred;
mod set_cover;
mod submodular;

use super::check::MutantCheck;
use dp_audit::harness::{MutantCode as Code, toys};
pub(super) use published_dpm::with_printed_sensitivity;
pub(super) use toys::{Side, for_each_one_more, pure_loss_of_one_more};

const TABLE: &str = include_str!("mutants.toml");

/// Every mutant of the table, with its code.
pub(super) fn all() -> Vec<MutantCheck> {
    dp_audit::harness::mutants(TABLE, &code())
}

/// In the order of the table: id, mutant, twin.
fn code() -> Vec<Code> {
    let census: [Code; 4] = [
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
    ];
    let groups: &[&[Code]] = &[
        &published_dpm::code(),
        &census,
        &baselines::code(),
        &recentred::code(),
        &submodular::code(),
        &set_cover::code(),
        &k_median::code(),
        &[("M60", census::zero_where_no_group_is, census::as_it_comes)],
    ];
    groups.concat()
}
