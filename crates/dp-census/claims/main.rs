//! What a release of group sizes promises, from records to tables, and mistakes made with it.
#![allow(clippy::disallowed_methods, reason = "toys and mutants open what a mechanism must not")]

mod change;
mod laws;
mod mutants;
mod nation;
mod receipts;
mod records;
mod tables;

use dp_audit::harness::Suite;

fn main() -> std::process::ExitCode {
    dp_audit::harness::main(Suite {
        crate_name: env!("CARGO_PKG_NAME"),
        folder: env!("CARGO_MANIFEST_DIR"),
        checks: [
            change::checks(),
            tables::checks(),
            laws::checks(),
            records::checks(),
            receipts::checks(),
        ]
        .concat(),
        mutants: mutants::all(),
    })
}
