//! Rules for crates of others: where they come from, their licence, the compiler they need.

use crate::ci::licence;
use crate::ci::metadata::{self, Package};
use crate::ci::toolchain::{promised, version};
use crate::error::Error;

const CRATES_IO: &str = "registry+https://github.com/rust-lang/crates.io-index";

/// Complaints about the workspace's dependencies.
pub(crate) fn check_workspace() -> Result<Vec<String>, Error> {
    let packages = metadata::of_everything()?.packages;
    let outside = packages.iter().filter(|package| package.source.is_some()).count();
    println!("      {outside} crates from outside");
    Ok(complaints(&packages, &promised()?))
}

fn complaints(packages: &[Package], promised: &str) -> Vec<String> {
    packages.iter().flat_map(|package| complaints_about(package, promised)).collect()
}

fn complaints_about(package: &Package, promised: &str) -> Vec<String> {
    let name = format!("{} {}", package.name, package.version);
    let mut found = Vec::new();
    if let Some(source) = package.source.as_deref().filter(|&source| source != CRATES_IO) {
        found.push(format!("{name} comes from {source}; only crates.io and paths are allowed"));
    }
    match package.license.as_deref() {
        None => found.push(format!("{name} names no licence")),
        Some(expression) if !licence::is_allowed(expression) => found.push(format!(
            "{name} is under `{expression}`, which the list in xtask/src/ci/licence.rs does not allow"
        )),
        Some(_) => {}
    }
    if let Some(needed) = &package.rust_version
        && version(needed) > version(promised)
    {
        found.push(format!("{name} needs Rust {needed}, we promise {promised}"));
    }
    found
}

#[cfg(test)]
mod tests {
    use super::{CRATES_IO, complaints};
    use crate::ci::metadata::Package;

    fn package(change: impl FnOnce(&mut Package)) -> Package {
        let mut package = Package {
            name: "thing".to_owned(),
            version: "1.2.3".to_owned(),
            license: Some("MIT".to_owned()),
            source: Some(CRATES_IO.to_owned()),
            rust_version: Some("1.70".to_owned()),
            manifest_path: "Cargo.toml".into(),
            dependencies: Vec::new(),
            targets: Vec::new(),
        };
        change(&mut package);
        package
    }

    #[test]
    fn each_rule_has_its_complaint() {
        assert!(complaints(&[package(|_| {})], "1.95").is_empty());
        let bad = [
            package(|p| p.source = Some("git+https://example.org/x".into())),
            package(|p| p.license = None),
            package(|p| p.license = Some("GPL-3.0-only".into())),
            package(|p| p.rust_version = Some("1.96".into())),
        ];
        insta::assert_snapshot!(complaints(&bad, "1.95").join("\n"), @r"
        thing 1.2.3 comes from git+https://example.org/x; only crates.io and paths are allowed
        thing 1.2.3 names no licence
        thing 1.2.3 is under `GPL-3.0-only`, which the list in xtask/src/ci/licence.rs does not allow
        thing 1.2.3 needs Rust 1.96, we promise 1.95
        ");
    }
}
