//! Checks by programs that may not be installed: without one, its step says how to get it and goes on.

use crate::error::Error;
use quietus_datasets::workspace;
use std::process::Command;

/// Words that are nearly right; what is meant is in `typos.toml`.
pub(super) fn spelling() -> Result<Vec<String>, Error> {
    complaints("typos --format brief", "`pip install typos` or `cargo install typos-cli`")
}

/// The guide as a book.
pub(super) fn book() -> Result<Vec<String>, Error> {
    complaints("mdbook build docs", "`cargo install mdbook --no-default-features`")
}

/// What is known against the crates of others, by a database that has to be fetched.
pub(super) fn advisories() -> Result<Vec<String>, Error> {
    complaints("cargo-deny --color never check advisories", "`cargo install cargo-deny`")
}

/// What a program says at the root, line by line, if it fails.
#[expect(clippy::unnecessary_wraps, reason = "as the other checks")]
fn complaints(words: &str, how_to_get: &str) -> Result<Vec<String>, Error> {
    let (program, arguments) = words.split_once(' ').unwrap_or((words, ""));
    let command = &mut Command::new(program);
    let Ok(output) = command.args(arguments.split(' ')).current_dir(workspace::root()).output()
    else {
        println!("      SKIPPED: no {program} here; {how_to_get}");
        return Ok(Vec::new());
    };
    let said =
        [output.stdout, output.stderr].map(|text| String::from_utf8_lossy(&text).into_owned());
    let lines = said.concat();
    let failed = !output.status.success();
    Ok(lines.lines().filter(|_| failed).map(str::to_owned).collect())
}
