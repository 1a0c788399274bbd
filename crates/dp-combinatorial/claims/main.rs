//! What set covers, submodular maximisation and metric clustering promise, and mistakes made with them.
#![allow(clippy::disallowed_methods, reason = "toys and mutants open what a mechanism must not")]

mod k_median;
mod mutants;
mod set_cover;
mod submodular;

use dp_audit::harness::Suite;

fn main() -> std::process::ExitCode {
    dp_audit::harness::main(Suite {
        crate_name: env!("CARGO_PKG_NAME"),
        folder: env!("CARGO_MANIFEST_DIR"),
        checks: [k_median::checks(), set_cover::checks(), submodular::checks()].concat(),
        mutants: mutants::all(),
    })
}
