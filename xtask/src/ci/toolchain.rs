//! The oldest compiler that the workspace promises to build with.

use crate::error::Error;
use quietus_datasets::workspace;
use std::process::Command;

/// How the promise is checked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Plan {
    /// The current compiler is the oldest supported one: all other steps have checked it.
    SameAsCurrent(String),
    /// Words after `rustup`.
    Check(String),
}

/// Compares the promise with the compiler at hand.
pub(crate) fn plan() -> Result<Plan, Error> {
    let failed = |reason: String| Error::Process { command: "rustc --version".to_owned(), reason };
    let rustc = std::env::var_os("RUSTC").unwrap_or_else(|| "rustc".into());
    let output = Command::new(rustc)
        .arg("--version")
        .current_dir(workspace::root())
        .output()
        .map_err(|error| failed(error.to_string()))?;
    Ok(plan_for(&promised()?, &String::from_utf8_lossy(&output.stdout)))
}

/// `rust-version` of the workspace.
pub(crate) fn promised() -> Result<String, Error> {
    let path = workspace::root().join("Cargo.toml");
    let text = std::fs::read_to_string(&path).map_err(Error::io("read", &path))?;
    let manifest: toml::Table = text.parse().map_err(|error| Error::malformed(&path, error))?;
    manifest
        .get("workspace")
        .and_then(|workspace| workspace.get("package")?.get("rust-version")?.as_str())
        .map(str::to_owned)
        .ok_or_else(|| Error::malformed(&path, "no rust-version in [workspace.package]"))
}

fn plan_for(promised: &str, rustc: &str) -> Plan {
    let current = rustc.split_whitespace().nth(1).unwrap_or_default();
    if version(current) == version(promised) && !current.contains('-') {
        Plan::SameAsCurrent(current.to_owned())
    } else {
        Plan::Check(format!("run {promised} cargo check --workspace --all-targets"))
    }
}

/// Major, minor and patch; what is left out counts as 0.
pub(crate) fn version(text: &str) -> [u32; 3] {
    let plain = text.split(['-', '+']).next().unwrap_or_default();
    let mut parts = plain.split('.').map(|part| part.parse().unwrap_or(0));
    std::array::from_fn(|_| parts.next().unwrap_or(0))
}

#[cfg(test)]
mod tests {
    use super::{Plan, plan_for, promised, version};

    #[test]
    fn an_equal_version_is_already_checked_and_another_is_asked_for() {
        let plan = plan_for("1.95", "rustc 1.95.0 (59807616e 2026-04-14)\n");
        assert_eq!(plan, Plan::SameAsCurrent("1.95.0".to_owned()));
        let want = Plan::Check("run 1.95 cargo check --workspace --all-targets".to_owned());
        assert_eq!(plan_for("1.95", "rustc 1.97.1 (0 2026-10-01)"), want);
        assert_eq!(plan_for("1.95", "rustc 1.95.0-nightly (0 2026-02-01)"), want);
    }

    #[test]
    fn versions_compare_by_number() {
        assert!(version("1.100") > version("1.95.3"));
        assert_eq!(version("1.70"), version("1.70.0"));
    }

    #[test]
    fn the_workspace_makes_a_promise() {
        assert!(version(&promised().unwrap()) >= version("1.85"));
    }
}
