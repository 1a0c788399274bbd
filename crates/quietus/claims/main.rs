//! What releases from files promise, from the rows of a file to every byte that comes out, and mistakes made with them.
#![allow(clippy::disallowed_methods, reason = "mutants open what a mechanism must not")]

mod census;
mod commands;
mod groups;
mod items;
mod maps;
mod mutants;
mod passes;
mod sets;
mod top;

use clap::{Args, CommandFactory};
use dp_audit::harness::{Check, Suite};
use quietus::cli::{Cli, PassArgs};

/// Everything that `quietus release` can be asked for, and every way by passes, is named by a claim.
fn assert_all_are_named(checks: &[Check]) {
    let mut cli = Cli::command();
    let release = cli.find_subcommand_mut("release").expect("there is one");
    let families = release.get_subcommands().map(|family| format!("release {}", family.get_name()));
    let ways = PassArgs::augment_args(clap::Command::new("by passes"));
    let flags = ways.get_arguments().filter_map(clap::Arg::get_long);
    // This one prints SQL and draws nothing.
    let ways = flags.filter(|flag| *flag != "explain-sql").map(|flag| format!("--{flag}"));
    for name in families.chain(ways) {
        let mut said = checks.iter().flat_map(|check| check.mechanism().split([',', ':']));
        assert!(said.any(|part| part.trim() == name), "no claim names `{name}`");
    }
}

fn main() -> std::process::ExitCode {
    let checks = [
        groups::checks(),
        commands::checks(),
        maps::checks(),
        passes::checks(),
        sets::checks(),
        census::checks(),
        top::checks(),
        items::checks(),
    ]
    .concat();
    assert_all_are_named(&checks);
    dp_audit::harness::main(Suite {
        crate_name: env!("CARGO_PKG_NAME"),
        folder: env!("CARGO_MANIFEST_DIR"),
        checks,
        mutants: mutants::all(),
    })
}
