//! `cargo xtask mutants`: one-line slips in the source itself, made by cargo-mutants, against the tests and claims of each crate.
//!
//! What is changed is set in `.cargo/mutants.toml`; what was thought of each survivor in `survivors.toml`.

mod verdicts;

use std::path::Path;
use std::process::Command;

use serde::Deserialize;

use crate::Ending;
use crate::bench::cargo;
use crate::cli::MutantsArgs;
use crate::error::Error;
use quietus_datasets::{files, workspace};
use verdicts::{Verdicts, key};

/// Crates with code between a record and a draw.
const CRATES: [&str; 10] = [
    "dp-noise",
    "dp-accounting",
    "dp-mechanism",
    "dp-geometry",
    "dp-cluster",
    "dp-local",
    "dp-combinatorial",
    "dp-stream",
    "dp-census",
    "quietus",
];

/// Of cargo-mutants: the names of mutants, to which verdicts are given, may change from one to the next.
const VERSION: &str = "27.1.0";

/// What became of the mutants of one crate.
#[derive(Debug, Default, PartialEq)]
struct Tally {
    /// Did not compile.
    unviable: usize,
    /// A test or a claim failed, or ran out of time.
    caught: usize,
    /// Their names.
    survivors: Vec<String>,
}

impl Tally {
    /// The share of those that compile and are not known to be equal in effect which were caught.
    fn kill_rate(&self, verdicts: &Verdicts) -> f64 {
        let harmless = self.survivors.iter().filter(|name| verdicts.is_equivalent(name)).count();
        let judged = self.caught + self.survivors.len() - harmless;
        if judged == 0 { 1.0 } else { self.caught as f64 / judged as f64 }
    }
}

/// Runs the mutants of the crates and prints the table; a survivor without a verdict makes the ending incomplete.
pub(crate) fn command(args: &MutantsArgs) -> Result<Ending, Error> {
    if let Some(got) = args.crates.iter().find(|name| !CRATES.contains(&name.as_str())) {
        return Err(Error::unknown("crate", got, CRATES));
    }
    let verdicts = Verdicts::read()?;
    install()?;
    let wanted = |name: &&&str| args.crates.is_empty() || args.crates.iter().any(|c| c == **name);
    let mut tallies = Vec::new();
    for name in CRATES.iter().filter(wanted) {
        println!("{name}");
        tallies.push((name, run(name, args.sample)?));
    }
    let mut unjudged = Vec::new();
    let (caught, survived, unviable) = ("caught", "survived", "unviable");
    println!("\n{:<18}{caught:>8}{survived:>10}{unviable:>10}{:>11}", "crate", "kill rate");
    for (name, tally) in tallies {
        let rate = 100.0 * tally.kill_rate(&verdicts);
        let survived = tally.survivors.len();
        println!("{name:<18}{:>8}{survived:>10}{:>10}{rate:>10.1}%", tally.caught, tally.unviable);
        for survivor in tally.survivors {
            match verdicts.of(&survivor) {
                Some(verdict) => println!("    {survivor}\n        {verdict}"),
                None => unjudged.push(survivor),
            }
        }
    }
    for survivor in &unjudged {
        eprintln!("error: it survived, and {} has no verdict: {survivor}", Verdicts::FILE);
    }
    Ok(if unjudged.is_empty() { Ending::Complete } else { Ending::Incomplete })
}

/// All mutants of a crate, or about so many of them, always the same ones.
fn run(name: &str, sample: Option<usize>) -> Result<Tally, Error> {
    let out = workspace::root().join("target").join("mutants").join(name);
    files::create_folder(&out)?;
    let mut words =
        vec!["mutants".to_owned(), "--no-shuffle".into(), "--package".into(), name.into()];
    if let Some(sample) = sample {
        let all = count(&words)?;
        // In turn, so that a sample has mutants from every file.
        words.extend(["--shard".into(), format!("0/{}", (all / sample.max(1)).max(1))]);
        words.extend(["--sharding", "round-robin"].map(Into::into));
    }
    // That the tests pass without a mutant is what `cargo xtask ci` has shown.
    words.extend(
        ["--baseline", "skip", "--timeout", "300", "--no-times", "--output"].map(Into::into),
    );
    words.push(out.display().to_string());
    if is_committed()? {
        // What is built already is used again. A copy is for those who are in the middle of a change.
        words.push("--in-place".into());
    }
    // Documentation is compiled once per test and notices little that the tests do not.
    words.extend(["--", "--lib", "--tests"].map(Into::into));
    // Its exit code says whether there are survivors; what went wrong is in its output.
    cargo_mutants(&words).status().map_err(|error| failed(&words, error.to_string()))?;
    read(&out.join("mutants.out").join("outcomes.json"))
}

/// Whether every tracked file is as it was committed, so that changing one for a moment loses nothing.
fn is_committed() -> Result<bool, Error> {
    let words = ["status", "--porcelain", "--untracked-files=no"];
    let mut command = Command::new("git");
    let status = command.args(words).current_dir(workspace::root()).output().map_err(|error| {
        Error::Process { command: "git status".to_owned(), reason: error.to_string() }
    })?;
    Ok(status.status.success() && status.stdout.is_empty())
}

/// Puts the tool in place if it is missing; unoptimised, since it only starts compilers.
fn install() -> Result<(), Error> {
    let missing = |mut command: Command| command.output().is_ok_and(|got| !got.status.success());
    if missing(cargo_mutants(&["mutants".to_owned(), "--version".to_owned()])) {
        let words = ["install", "--debug", "--locked", "cargo-mutants", "--version", VERSION];
        println!("cargo {}", words.join(" "));
        let words = words.map(str::to_owned);
        let status = cargo_mutants(&words).status();
        status.map_err(|error| failed(&words, error.to_string()))?;
    }
    Ok(())
}

/// How many mutants there are.
fn count(words: &[String]) -> Result<usize, Error> {
    let mut command = cargo_mutants(words);
    let listed =
        command.arg("--list").output().map_err(|error| failed(words, error.to_string()))?;
    if !listed.status.success() {
        return Err(failed(words, String::from_utf8_lossy(&listed.stderr).into_owned()));
    }
    Ok(String::from_utf8_lossy(&listed.stdout).lines().count())
}

fn cargo_mutants(words: &[String]) -> Command {
    let mut command = cargo();
    command.args(words).current_dir(workspace::root());
    command
}

/// What cargo-mutants writes of each mutant.
fn read(path: &Path) -> Result<Tally, Error> {
    #[derive(Deserialize)]
    struct Outcomes {
        outcomes: Vec<Outcome>,
    }
    #[derive(Deserialize)]
    struct Outcome {
        scenario: serde_json::Value,
        summary: String,
    }
    let text = std::fs::read_to_string(path).map_err(Error::io("read", path))?;
    let read: Outcomes =
        serde_json::from_str(&text).map_err(|error| Error::malformed(path, error))?;
    let mut tally = Tally::default();
    for Outcome { scenario, summary } in read.outcomes {
        match summary.as_str() {
            "CaughtMutant" | "Timeout" => tally.caught += 1,
            "Unviable" => tally.unviable += 1,
            "MissedMutant" => {
                let name = scenario["Mutant"]["name"].as_str().unwrap_or("a mutant without a name");
                tally.survivors.push(key(name));
            }
            _ => {}
        }
    }
    Ok(tally)
}

fn failed(words: &[String], reason: String) -> Error {
    Error::Process { command: format!("cargo {}", words.join(" ")), reason }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn outcomes_are_counted_and_survivors_named_without_their_line() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("outcomes.json");
        let text = r#"{"outcomes": [
            {"scenario": "Baseline", "summary": "Success"},
            {"scenario": {"Mutant": {"name": "a.rs:3:9: replace f with 0"}}, "summary": "CaughtMutant"},
            {"scenario": {"Mutant": {"name": "a.rs:4:9: replace g with 0"}}, "summary": "MissedMutant"},
            {"scenario": {"Mutant": {"name": "a.rs:5:9: replace h with 0"}}, "summary": "Unviable"}
        ]}"#;
        std::fs::write(&path, text).expect("written");
        let tally = read(&path).expect("as it is written");
        let survivors = vec!["a.rs: replace g with 0".to_owned()];
        assert_eq!(tally, Tally { unviable: 1, caught: 1, survivors });
        let none = Verdicts::default();
        assert!((tally.kill_rate(&none) - 0.5).abs() < 1e-12);
    }

    #[test]
    fn a_crate_without_mutants_is_refused() {
        let args = MutantsArgs { crates: vec!["dp-check".into()], sample: None };
        let message = command(&args).expect_err("unknown").to_string();
        assert!(message.starts_with("there is no crate `dp-check`; these exist: dp-noise"));
    }
}
