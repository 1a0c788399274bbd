//! What the clusterings promise, and mistakes made with them.
#![allow(clippy::disallowed_methods, reason = "toys and mutants open what a mechanism must not")]

mod coreset;
mod distance;
mod dp_lloyd;
mod dpm;
mod em_mc;
mod lsh_splits;
mod many;
mod map;
mod mutants;
mod neighbours;
mod passes;
mod private_box;
mod private_centres;
mod private_kmeans;
mod recentred;
mod rings;
mod settings;

use dp_audit::harness::Suite;

fn main() -> std::process::ExitCode {
    dp_audit::harness::main(Suite {
        crate_name: env!("CARGO_PKG_NAME"),
        folder: env!("CARGO_MANIFEST_DIR"),
        checks: [
            dpm::checks(),
            lsh_splits::checks(),
            many::checks(),
            map::checks(),
            distance::checks(),
            dp_lloyd::checks(),
            em_mc::checks(),
            coreset::checks(),
            recentred::checks(),
            passes::checks(),
            rings::checks(),
            private_box::checks(),
            private_kmeans::checks(),
            private_centres::checks(),
            settings::checks(),
        ]
        .concat(),
        mutants: mutants::all(),
    })
}
