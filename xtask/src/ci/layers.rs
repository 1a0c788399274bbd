//! The picture in ARCHITECTURE.md, executable: an arrow only ever points down, siblings never meet.

use crate::ci::metadata::{self, Metadata, Package};
use crate::error::Error;
use quietus_datasets::{files, workspace};
use std::path::Path;

/// The auditor: above the mechanisms, and in the tests of everybody.
const AUDITOR: &str = "dp-audit";

/// Lowest layer first; crates of one layer do not know each other.
const LAYERS: [&[&str]; 5] = [
    &["dp-noise", "dp-check"],
    &["dp-accounting"],
    &["dp-geometry", "dp-mechanism"],
    &["dp-cluster", "dp-local", "dp-combinatorial", "dp-stream", "dp-census", AUDITOR],
    &["quietus"],
];

/// The modules of this tool, lowest layer first: a report does not know what it reports, an evaluation not who calls it.
const MODULES: [&[&str]; 8] = [
    &["error", "progress"],
    &["cli"],
    &["datasets"],
    &["report"],
    &["eval"],
    &["bench"],
    &["ci", "mutants"],
    &["audit"],
];

/// Complaints about the crates of the workspace, and the modules of this tool.
pub(crate) fn check_workspace() -> Result<Vec<String>, Error> {
    let root = workspace::root();
    let map = std::fs::read_to_string(root.join("ARCHITECTURE.md")).unwrap_or_default();
    let mut found = complaints(&metadata::of_members()?, &map);
    for path in files::below(&root.join("xtask/src"), "rs")? {
        let text = std::fs::read_to_string(&path).map_err(Error::io("read", &path))?;
        let within = path.strip_prefix(root.join("xtask/src")).unwrap_or(&path);
        found.extend(arrows_of_module(within, &text));
    }
    Ok(found)
}

/// Names of modules after `crate::` that are not below the module of this file.
fn arrows_of_module(path: &Path, text: &str) -> Vec<String> {
    let Some(own) = path.iter().next().and_then(|name| Path::new(name).file_stem()) else {
        return Vec::new();
    };
    let own = own.to_string_lossy();
    let layer = |name: &str| MODULES.iter().position(|layer| layer.contains(&name));
    if own == "main" {
        return Vec::new();
    }
    let Some(place) = layer(&own) else {
        return vec![format!("xtask's module {own} is in no layer of xtask/src/ci/layers.rs")];
    };
    let is_no_name = |c: char| !c.is_ascii_alphanumeric() && c != '_';
    let names = text.split("crate::").skip(1).flat_map(|rest| match rest.strip_prefix('{') {
        Some(list) => list.split('}').next().unwrap_or("").split(is_no_name).collect(),
        None => rest.split(is_no_name).take(1).collect::<Vec<_>>(),
    });
    let mut above: Vec<&str> = names.filter(|name| *name != own).collect();
    above.retain(|name| layer(name).is_some_and(|other| other > place));
    above.sort_unstable();
    above.dedup();
    let complaint =
        |name: &str| format!("xtask's {} may not use {name}: it is not below it", path.display());
    above.into_iter().map(complaint).collect()
}

fn complaints(metadata: &Metadata, map: &str) -> Vec<String> {
    let mut found = Vec::new();
    for package in metadata.packages.iter().filter(|package| is_library(package)) {
        found.extend(arrows(package));
        let name = &package.name;
        let folder = package.manifest_path.parent().unwrap_or(Path::new(""));
        let text = |file| std::fs::read_to_string(folder.join(file)).unwrap_or_default();
        let tested = text("src/lib.rs").contains("include_str!(\"../README.md\")");
        if !tested || !text("README.md").contains("\nfn main()") {
            found.push(format!("{name} has no README.md with a program that its tests compile"));
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
    use super::{arrows, arrows_of_module, complaints, is_library};
    use crate::ci::metadata::{Dependency, Metadata, Package};
    use std::path::Path;

    fn package(folder: &Path, name: &str, uses: &[(&str, Option<&str>)]) -> Package {
        let own = folder.join("crates").join(name);
        std::fs::create_dir_all(own.join("src")).unwrap();
        std::fs::write(own.join("README.md"), "\nfn main() {}").unwrap();
        std::fs::write(own.join("src/lib.rs"), "include_str!(\"../README.md\")").unwrap();
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
        insta::assert_snapshot!(complaints(&Metadata { packages, target_directory: "".into() }, map).join("\n"), @r"
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
        assert_eq!(super::check_workspace().unwrap(), Vec::<String>::new());
    }

    #[test]
    fn arrows_between_modules_point_down() {
        let of = |path: &str, text| arrows_of_module(Path::new(path), text).join(", ");
        let lines =
            "use crate::eval::record::Record;\nuse crate::{datasets, bench}; crate::report::x()";
        assert_eq!(
            of("report/page.rs", lines),
            "xtask's report/page.rs may not use bench: it is not below it, \
             xtask's report/page.rs may not use eval: it is not below it"
        );
        assert_eq!(of("audit/mod.rs", lines), "");
        assert!(of("new.rs", "").contains("new is in no layer"));
    }

    #[test]
    fn a_crate_is_explained_and_on_the_map() {
        let folder = tempfile::tempdir().unwrap();
        let packages = vec![package(folder.path(), "dp-noise", &[])];
        std::fs::remove_dir_all(folder.path().join("crates/dp-noise")).unwrap();
        insta::assert_snapshot!(complaints(&Metadata { packages, target_directory: "".into() }, "").join("\n"), @r"
        dp-noise has no README.md with a program that its tests compile
        dp-noise is not on the map in ARCHITECTURE.md
        ");
    }
}
