//! The commands of the README, taken from it, so that what it promises is what is run.

use crate::error::Error;
use quietus_datasets::workspace;

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
    let right = number == COMMANDS;
    if right {
        Vec::new()
    } else {
        vec![format!("README.md holds {number} commands, not {COMMANDS}")]
    }
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

    #[test]
    fn the_readme_has_its_commands() {
        let commands = commands().expect("the README can be read");
        assert_eq!(complaints(&commands), Vec::<String>::new());
    }
}
