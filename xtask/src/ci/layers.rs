//! The picture in ARCHITECTURE.md, executable: an arrow only ever points down, siblings never meet.

use crate::ci::metadata::{self, Metadata, Package};
use crate::error::Error;
use crate::workspace;
use std::path::Path;

/// The auditor: above the mechanisms, and in the tests of everybody.
const AUDITOR: &str = "dp-audit";

/// Lowest layer first; crates of one layer do not know each other.
const LAYERS: [&[&str]; 4] = [
    &["dp-noise", "dp-check"],
    &["dp-accounting"],
    &["dp-geometry", "dp-mechanism"],
    &["dp-cluster", "dp-local", "dp-combinatorial", "dp-stream", "dp-census", AUDITOR],
];

/// Complaints about the crates of the workspace.
pub(crate) fn check_workspace() -> Result<Vec<String>, Error> {
    let root = workspace::root();
    let map = std::fs::read_to_string(root.join("ARCHITECTURE.md")).unwrap_or_default();
    Ok(complaints(&metadata::of_members()?, &map))
}

fn complaints(metadata: &Metadata, map: &str) -> Vec<String> {
    let mut found = Vec::new();
    for package in metadata.packages.iter().filter(|package| is_library(package)) {
        found.extend(arrows(package));
        let name = &package.name;
        let folder = package.manifest_path.parent().unwrap_or(Path::new(""));
        if !folder.join("README.md").is_file() {
            found.push(format!("{name} has no README.md"));
        }
        if !map.contains(name.as_str()) {
            found.push(format!("{name} is not on the map in ARCHITECTURE.md"));
        }
    }
    found
}

/// A package of ours in `crates/`.
fn is_library(package: &Package) -> bool {
    let folder = package.manifest_path.parent().and_then(Path::parent);
    package.source.is_none() && folder.is_some_and(|folder| folder.ends_with("crates"))
}

fn arrows(package: &Package) -> Vec<String> {
    let name = &package.name;
    let Some(own) = layer(name) else {
        return vec![format!("{name} is in no layer of xtask/src/ci/layers.rs")];
    };
    let mut found = Vec::new();
    for other in package.dependencies.iter().filter(|other| other.path.is_some()) {
        let in_tests = other.kind.as_deref() == Some("dev");
        match layer(&other.name) {
            _ if other.name == AUDITOR && in_tests => {}
            _ if other.name == AUDITOR => {
                found.push(format!("{name} may use {AUDITOR} in its tests only"));
            }
            Some(below) if below < own => {}
            Some(_) => {
                found.push(format!("{name} may not use {}: it is not below it", other.name));
            }
            None => found.push(format!("{name} may not use {}: it is in no layer", other.name)),
        }
    }
    found
}

fn layer(name: &str) -> Option<usize> {
    LAYERS.iter().position(|layer| layer.contains(&name))
}

#[cfg(test)]
mod tests {
    use super::{arrows, complaints, is_library};
    use crate::ci::metadata::{Dependency, Metadata, Package};
    use std::path::Path;

    fn package(folder: &Path, name: &str, uses: &[(&str, Option<&str>)]) -> Package {
        let own = folder.join("crates").join(name);
        std::fs::create_dir_all(&own).unwrap();
        std::fs::write(own.join("README.md"), "").unwrap();
        let dependency = |&(name, kind): &(&str, Option<&str>)| Dependency {
            name: name.to_owned(),
            kind: kind.map(str::to_owned),
            path: Some(folder.join("crates").join(name)),
        };
        Package {
            name: name.to_owned(),
            version: "0.1.0".to_owned(),
            license: None,
            source: None,
            rust_version: None,
            manifest_path: own.join("Cargo.toml"),
            dependencies: uses.iter().map(dependency).collect(),
            targets: Vec::new(),
        }
    }

    #[test]
    fn arrows_point_down_and_the_auditor_is_for_tests() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name, uses: &[(&str, Option<&str>)]| package(folder.path(), name, uses);
        let packages = vec![
            at("dp-noise", &[(super::AUDITOR, Some("dev"))]),
            at("dp-mechanism", &[("dp-noise", None), ("dp-geometry", None)]),
            at("dp-cluster", &[("dp-mechanism", None), (super::AUDITOR, None)]),
            at("dp-stream", &[("dp-cluster", Some("dev"))]),
            at("dp-accounting", &[("dp-mechanism", None), ("helper", None)]),
            at("dp-new", &[]),
        ];
        let map = "dp-noise dp-mechanism dp-cluster dp-stream dp-accounting dp-new";
        insta::assert_snapshot!(complaints(&Metadata { packages }, map).join("\n"), @r"
        dp-mechanism may not use dp-geometry: it is not below it
        dp-cluster may use dp-audit in its tests only
        dp-stream may not use dp-cluster: it is not below it
        dp-accounting may not use dp-mechanism: it is not below it
        dp-accounting may not use helper: it is in no layer
        dp-new is in no layer of xtask/src/ci/layers.rs
        ");
    }

    #[test]
    fn the_arrows_of_this_workspace_point_down() {
        let packages = crate::ci::metadata::of_members().unwrap().packages;
        let libraries: Vec<_> = packages.iter().filter(|package| is_library(package)).collect();
        assert!(libraries.len() >= 6, "all crates are seen");
        let found: Vec<String> = libraries.iter().flat_map(|package| arrows(package)).collect();
        assert_eq!(found, Vec::<String>::new());
    }

    #[test]
    fn a_crate_is_explained_and_on_the_map() {
        let folder = tempfile::tempdir().unwrap();
        let packages = vec![package(folder.path(), "dp-noise", &[])];
        std::fs::remove_file(folder.path().join("crates/dp-noise/README.md")).unwrap();
        insta::assert_snapshot!(complaints(&Metadata { packages }, "").join("\n"), @r"
        dp-noise has no README.md
        dp-noise is not on the map in ARCHITECTURE.md
        ");
    }
}
