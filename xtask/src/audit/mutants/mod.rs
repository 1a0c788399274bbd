//! Deliberately broken variants, most of them as published, each with its corrected twin.
//!
//! What each one is stands in `mutants.toml`; here is which code shows it, and one file per family
//! holds that code. Nothing in this folder can be reached from a library crate.

mod k_median;
mod set_cover;
mod submodular;

use super::check::MutantCheck;
use dp_audit::harness::{MutantCode as Code, toys};
pub(super) use toys::{Side, for_each_one_more, pure_loss_of_one_more};

const TABLE: &str = include_str!("mutants.toml");

/// Every mutant of the table, with its code.
pub(super) fn all() -> Vec<MutantCheck> {
    dp_audit::harness::mutants(TABLE, &code())
}

/// In the order of the table: id, mutant, twin.
fn code() -> Vec<Code> {
    let groups: &[&[Code]] = &[&submodular::code(), &set_cover::code(), &k_median::code()];
    groups.concat()
}
