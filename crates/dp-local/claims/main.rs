//! What clients are promised, and mistakes made with it.
#![allow(clippy::disallowed_methods, reason = "toys and mutants open what a mechanism must not")]

mod answers;
mod kmeans;
mod mutants;

use dp_audit::harness::Suite;

fn main() -> std::process::ExitCode {
    dp_audit::harness::main(Suite {
        crate_name: env!("CARGO_PKG_NAME"),
        folder: env!("CARGO_MANIFEST_DIR"),
        checks: [answers::checks(), kmeans::checks()].concat(),
        mutants: mutants::all(),
    })
}
