//! Deliberately broken clusterings, most of them as published, each with its corrected twin. What each one is stands
//! in `mutants.toml`.

mod baselines;
mod distance;
mod map;
mod passes;
mod private_box;
mod private_centres;
mod published_dpm;
mod recentred;
mod rings;

use dp_audit::harness::MutantCheck;
pub(crate) use published_dpm::with_printed_sensitivity;

pub(crate) fn all() -> Vec<MutantCheck> {
    let code = [
        &map::code()[..],
        &distance::code(),
        &published_dpm::code(),
        &baselines::code(),
        &recentred::code(),
        &rings::code(),
        &private_centres::code(),
        &private_box::code(),
        &passes::code(),
    ];
    let code = code.concat();
    dp_audit::harness::mutants(include_str!("mutants.toml"), &code)
}
