//! Words that are nearly right, found by `typos` where that is installed.

use crate::error::Error;
use quietus_datasets::workspace;
use std::process::Command;

/// A complaint for each, in the words of `typos`; what is meant is in `typos.toml`.
#[expect(clippy::unnecessary_wraps, reason = "as the other checks")]
pub(super) fn check_workspace() -> Result<Vec<String>, Error> {
    let root = workspace::root();
    let Ok(output) = Command::new("typos").args(["--format", "brief"]).current_dir(&root).output()
    else {
        println!("      SKIPPED: no typos here; `pip install typos` or `cargo install typos-cli`");
        return Ok(Vec::new());
    };
    let lines = String::from_utf8_lossy(&output.stdout);
    let mut found: Vec<String> = lines.lines().map(str::to_owned).collect();
    if found.is_empty() && !output.status.success() {
        found.push(String::from_utf8_lossy(&output.stderr).into_owned());
    }
    Ok(found)
}
