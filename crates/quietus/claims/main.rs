//! What releases from files promise, from the rows of a file to every byte that comes out, and mistakes made with them.
#![allow(clippy::disallowed_methods, reason = "mutants open what a mechanism must not")]

mod census;
mod commands;
mod groups;
mod items;
mod maps;
mod mutants;
mod sets;
mod top;

use dp_audit::harness::Suite;

fn main() -> std::process::ExitCode {
    dp_audit::harness::main(Suite {
        crate_name: env!("CARGO_PKG_NAME"),
        folder: env!("CARGO_MANIFEST_DIR"),
        checks: [
            groups::checks(),
            commands::checks(),
            maps::checks(),
            sets::checks(),
            census::checks(),
            top::checks(),
            items::checks(),
        ]
        .concat(),
        mutants: mutants::all(),
    })
}
