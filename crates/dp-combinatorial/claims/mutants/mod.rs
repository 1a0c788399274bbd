//! Deliberately broken choices and counts, each with its corrected twin. What each one is stands in `mutants.toml`.

mod k_median;
mod set_cover;
mod submodular;

use dp_audit::harness::MutantCheck;

pub(crate) fn all() -> Vec<MutantCheck> {
    let code = [&submodular::code()[..], &set_cover::code(), &k_median::code()].concat();
    dp_audit::harness::mutants(include_str!("mutants.toml"), &code)
}
