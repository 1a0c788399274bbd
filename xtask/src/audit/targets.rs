//! The claims that crates keep beside their code: test targets of the name `claims`.

use std::path::Path;
use std::process::{Command, Stdio};

use dp_audit::AuditReport;
use dp_audit::harness::Effort;

use crate::bench::cargo;
use crate::ci::metadata::{self, Package};
use crate::error::Error;
use quietus_datasets::{files, workspace};

/// The crates with a target of that name.
pub(super) fn crates() -> Result<Vec<String>, Error> {
    let has_claims = |package: &Package| {
        package.targets.iter().any(|target| target.name == "claims" && target.kind == ["test"])
    };
    let packages = metadata::of_members()?.packages;
    Ok(packages.into_iter().filter(has_claims).map(|package| package.name).collect())
}

/// The ids of claims and mutants of these crates, each with its crate.
pub(super) fn ids(crates: &[String]) -> Result<Vec<(String, String)>, Error> {
    let output = claims(crates, &["--audit-ids"])
        .stderr(Stdio::inherit())
        .output()
        .map_err(|error| failed(&error.to_string()))?;
    let text = String::from_utf8_lossy(&output.stdout);
    let ids: Vec<(String, String)> = text
        .lines()
        .filter_map(|line| line.split_once(' '))
        .filter(|(name, _)| crates.iter().any(|known| known == name))
        .map(|(name, id)| (name.to_owned(), id.to_owned()))
        .collect();
    let answered = |name: &String| ids.iter().any(|(known, _)| known == name);
    match crates.iter().find(|name| !answered(name)) {
        Some(name) => Err(failed(&format!("named no claim of {name}"))),
        None => Ok(ids),
    }
}

/// Runs the claims of these crates, which print what they find, and collects their reports by way of files
/// in `out`.
pub(super) fn run(
    crates: &[String],
    effort: Effort,
    only: &[String],
    out: &Path,
) -> Result<AuditReport, Error> {
    let folder = files::part_path(&out.join("claims"));
    files::create_folder(&folder)?;
    let seed = effort.seed.to_string();
    let mut words = vec!["--audit-json", folder.to_str().ok_or_else(|| not_a_name(&folder))?];
    if effort.deep {
        words.extend(["--deep", &seed]);
    }
    words.extend(only.iter().flat_map(|id| ["--only", id]));
    // A broken claim makes its target fail: what counts is what is in the reports.
    claims(crates, &words).status().map_err(|error| failed(&error.to_string()))?;
    let report = read(crates, &folder)?;
    std::fs::remove_dir_all(&folder).map_err(Error::io("remove", &folder))?;
    Ok(report)
}

/// What the claims of these crates left in a folder, put together.
pub(super) fn read(crates: &[String], folder: &Path) -> Result<AuditReport, Error> {
    let mut report = AuditReport::default();
    for name in crates {
        let path = folder.join(format!("{name}.json"));
        let text = std::fs::read_to_string(&path)
            .map_err(|_| failed(&format!("left no report of {name}")))?;
        let found = serde_json::from_str(&text).map_err(|error| failed(&error.to_string()))?;
        report.merge(found);
    }
    Ok(report)
}

/// One command for all: they are built together.
fn claims(crates: &[String], words: &[&str]) -> Command {
    let mut command = cargo();
    command.current_dir(workspace::root()).args(["test", "--release", "--no-fail-fast"]);
    command.args(crates.iter().flat_map(|name| ["--package", name]));
    command.args(["--test", "claims", "--"]).args(words);
    command
}

fn failed(reason: &str) -> Error {
    Error::Process { command: "cargo test --test claims".to_owned(), reason: reason.to_owned() }
}

fn not_a_name(folder: &Path) -> Error {
    let reason = "its name is not Unicode".to_owned();
    Error::malformed(folder, reason)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_library_with_claims_is_found_and_only_those() {
        let found = crates().unwrap();
        let has_folder = |name: &&str| {
            workspace::root().join("crates").join(name).join("claims/main.rs").is_file()
        };
        assert!(found.iter().map(String::as_str).all(|name| has_folder(&name)), "{found:?}");
        let folders = std::fs::read_dir(workspace::root().join("crates")).unwrap();
        let names = folders.map(|entry| entry.unwrap().file_name().into_string().unwrap());
        for name in names.filter(|name| has_folder(&name.as_str())) {
            assert!(found.contains(&name), "{name} has claims and no target for them");
        }
        assert!(found.contains(&"dp-mechanism".to_owned()), "{found:?}");
    }
}
