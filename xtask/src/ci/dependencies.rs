//! Rules for crates of others: where they come from, their licence, the compiler they need.

use crate::ci::metadata::{self, Package};
use crate::ci::toolchain::{promised, version};
use crate::error::Error;
use spdx::{Expression, ParseMode};

const CRATES_IO: &str = "registry+https://github.com/rust-lang/crates.io-index";

/// Settings of cargo-deny, with the licences that ask for nothing beyond a notice.
const DENY: &str = include_str!("../../../deny.toml");

/// Whether an SPDX expression can be satisfied with allowed licences only. Older crates write `/`
/// for `OR`. What does not parse is not allowed.
fn is_allowed(expression: &str) -> bool {
    let settings: toml::Table = DENY.parse().expect("a test reads it");
    let allowed = settings["licenses"]["allow"].as_array().expect("a list");
    let parsed = Expression::parse_mode(expression, ParseMode::LAX);
    let is_there = |one: String| allowed.iter().any(|name| name.as_str() == Some(&one));
    parsed.is_ok_and(|parsed| parsed.evaluate(|one| is_there(one.to_string())))
}

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
        Some(expression) if !is_allowed(expression) => {
            found.push(format!("{name} is under `{expression}`, which deny.toml does not allow"));
        }
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
    use super::{CRATES_IO, complaints, is_allowed};
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
        thing 1.2.3 is under `GPL-3.0-only`, which deny.toml does not allow
        thing 1.2.3 needs Rust 1.96, we promise 1.95
        ");
    }

    #[test]
    fn a_choice_with_one_allowed_side_is_fine_and_a_sum_needs_all() {
        for fine in [
            "MIT",
            "MIT/Apache-2.0",
            "GPL-3.0-only OR MIT",
            "(MIT OR Apache-2.0) AND Unicode-3.0",
            "Apache-2.0 WITH LLVM-exception OR Apache-2.0 OR MIT",
        ] {
            assert!(is_allowed(fine), "{fine}");
        }
        for not in [
            "GPL-3.0-only",
            "MIT AND GPL-3.0-only",
            "Apache-2.0 WITH Odd-exception",
            "(MIT",
            "MIT)",
            "MIT Apache-2.0",
            "OR",
            "",
        ] {
            assert!(!is_allowed(not), "{not}");
        }
    }
}
