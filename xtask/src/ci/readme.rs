//! The commands of the README, taken from it, so that what it promises is what is run.

use super::metadata::{self, Metadata, Target};
use crate::bench::cargo;
use crate::error::Error;
use quietus_datasets::workspace;
use std::process::{Command, Output};

/// How many there should be: the evaluation and the tests.
const COMMANDS: usize = 2;

/// The words after `cargo` of each command in a block marked `sh`.
pub(super) fn commands() -> Result<Vec<String>, Error> {
    let path = workspace::root().join("README.md");
    let text = std::fs::read_to_string(&path).map_err(Error::io("read", &path))?;
    Ok(in_blocks(&text))
}

/// What is wrong with them; empty means that nothing is.
pub(super) fn complaints(commands: &[String]) -> Vec<String> {
    let number = commands.len();
    let wrong = || format!("README.md holds {number} commands, not {COMMANDS}");
    (number != COMMANDS).then(wrong).into_iter().collect()
}

/// Examples that measure for minutes, or write into a folder that one names.
const LONGER: [&str; 4] = ["candidates", "limits", "planted", "manual"];

/// What is wrong with the examples of the crates: each runs without arguments and prints something. They have been built with the tests.
pub(super) fn run_examples() -> Result<Vec<String>, Error> {
    let Metadata { packages, target_directory } = metadata::of_members()?;
    let mut names: Vec<_> = packages.iter().flat_map(|package| &package.targets).collect();
    names.retain(|target| target.kind == ["example"] && !LONGER.contains(&&*target.name));
    let built = cargo().args(["build", "-q", "--workspace", "--examples"]).status();
    if !built.is_ok_and(|status| status.success()) {
        return Ok(vec!["the examples cannot be built".to_owned()]);
    }
    let folder = target_directory.join("debug/examples");
    let shows = |run: Output| run.status.success() && !run.stdout.is_empty();
    names.retain(|name| !Command::new(folder.join(&name.name)).output().is_ok_and(shows));
    Ok(names
        .iter()
        .map(|Target { name, .. }| format!("example {name} fails, or shows nothing"))
        .collect())
}

fn in_blocks(text: &str) -> Vec<String> {
    let mut inside = false;
    let mut found = Vec::new();
    for line in text.lines() {
        match line.strip_prefix("```") {
            Some(language) => inside = !inside && language == "sh",
            None if inside => found.extend(line.strip_prefix("cargo ").map(str::to_owned)),
            None => {}
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_cargo_commands_in_shell_blocks_count() {
        let text = "cargo a\n```sh\ncargo b c\nls\n```\ncargo d\n```toml\ncargo e\n```\n```sh\ncargo f\n```";
        assert_eq!(in_blocks(text), ["b c", "f"]);
        assert!(complaints(&in_blocks(text)).is_empty() && !complaints(&[]).is_empty());
    }
}
