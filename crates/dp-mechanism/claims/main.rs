//! What the primitives promise, and mistakes made with them.
#![allow(clippy::disallowed_methods, reason = "toys and mutants open what a mechanism must not")]

mod count_tests;
mod credited;
mod mutants;
mod primitives;
mod reports;
mod samplers;
mod stable;

use dp_audit::harness::Suite;

fn main() -> std::process::ExitCode {
    dp_audit::harness::main(Suite {
        crate_name: env!("CARGO_PKG_NAME"),
        folder: env!("CARGO_MANIFEST_DIR"),
        checks: [
            samplers::checks(),
            primitives::checks(),
            count_tests::checks(),
            credited::checks(),
            reports::checks(),
            stable::checks(),
        ]
        .concat(),
        mutants: mutants::all(),
    })
}
