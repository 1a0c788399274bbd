//! The part of `cargo metadata` that the checks read.

use crate::bench::cargo;
use crate::error::Error;
use quietus_datasets::workspace;
use serde::Deserialize;
use std::path::PathBuf;

/// What cargo knows about packages.
#[derive(Clone, Debug, Deserialize)]
pub(crate) struct Metadata {
    pub(crate) packages: Vec<Package>,
    pub(crate) target_directory: PathBuf,
}

/// One package; `source` is `None` for what lives in the workspace.
#[derive(Clone, Debug, Deserialize)]
pub(crate) struct Package {
    pub(crate) name: String,
    pub(crate) version: String,
    pub(crate) license: Option<String>,
    pub(crate) source: Option<String>,
    pub(crate) rust_version: Option<String>,
    pub(crate) manifest_path: PathBuf,
    pub(crate) dependencies: Vec<Dependency>,
    pub(crate) targets: Vec<Target>,
}

/// What cargo builds of a package.
#[derive(Clone, Debug, Deserialize)]
pub(crate) struct Target {
    pub(crate) name: String,
    pub(crate) kind: Vec<String>,
}

/// A line of a package's manifest; `kind` is `None`, `dev` or `build`.
#[derive(Clone, Debug, Deserialize)]
pub(crate) struct Dependency {
    pub(crate) name: String,
    pub(crate) kind: Option<String>,
    pub(crate) path: Option<PathBuf>,
}

/// Our own packages, without looking at the crates of others: needs no network.
pub(crate) fn of_members() -> Result<Metadata, Error> {
    ask(&["--no-deps"])
}

/// The whole dependency graph, for all platforms and with every feature.
pub(crate) fn of_everything() -> Result<Metadata, Error> {
    ask(&["--all-features"])
}

fn ask(more: &[&str]) -> Result<Metadata, Error> {
    let failed = |reason: String| Error::Process { command: "cargo metadata".to_owned(), reason };
    let output = cargo()
        .args(["metadata", "--format-version", "1", "--locked"])
        .args(more)
        .current_dir(workspace::root())
        .stderr(std::process::Stdio::inherit())
        .output()
        .map_err(|error| failed(error.to_string()))?;
    if !output.status.success() {
        return Err(failed(format!("ended with {}", output.status)));
    }
    serde_json::from_slice(&output.stdout).map_err(|error| failed(error.to_string()))
}
