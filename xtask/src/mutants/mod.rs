//! `cargo xtask mutants`: one-line slips in the source itself, made by cargo-mutants, against the tests and claims of each crate.
//!
//! What is changed is set in `.cargo/mutants.toml`; what was thought of each survivor in `survivors.toml`.

mod verdicts;

use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

use rand::SeedableRng;
use rand::rngs::ChaCha20Rng;
use rand::seq::SliceRandom;
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
    let start = Instant::now();
    let verdicts = Verdicts::read()?;
    install()?;
    let wanted = |name: &&str| args.crates.is_empty() || args.crates.iter().any(|c| c == name);
    let wanted: Vec<&str> = CRATES.into_iter().filter(wanted).collect();
    let tallies = match args.minutes {
        Some(minutes) => vec![look(&wanted, start + Duration::from_secs(60 * minutes))?],
        None => wanted
            .into_iter()
            .map(|name| {
                println!("{name}");
                Ok((name, run(name, args.sample)?))
            })
            .collect::<Result<_, Error>>()?,
    };
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
    let (word, fails) = if args.minutes.is_some() { ("note", false) } else { ("error", true) };
    for survivor in &unjudged {
        eprintln!("{word}: it survived, and {} has no verdict: {survivor}", Verdicts::FILE);
    }
    Ok(if fails && !unjudged.is_empty() { Ending::Incomplete } else { Ending::Complete })
}

/// One of the crates, and its mutants one after the other in an order of their own, until there is no time for another. The commit decides
/// which, so that it can be done again, and the next one looks elsewhere.
fn look<'a>(crates: &[&'a str], end: Instant) -> Result<(&'a str, Tally), Error> {
    let commit = git(&["rev-parse", "HEAD"])?;
    let mut rng = ChaCha20Rng::seed_from_u64(seed(&commit));
    let mut crates = crates.to_vec();
    crates.shuffle(&mut rng);
    let name = crates[0];
    let all = count(&of_crate(name))?;
    let mut order: Vec<usize> = (0..all).collect();
    order.shuffle(&mut rng);
    println!(
        "{name}: of {all} mutants as many as there is time for, as commit {} has them",
        commit.trim()
    );
    let (mut tally, mut longest) = (Tally::default(), Duration::ZERO);
    for one in order {
        let start = Instant::now();
        if start + longest > end {
            break;
        }
        let shard = format!("{one}/{all}");
        let found = tested(name, &["--shard", &shard, "--sharding", "round-robin"], LOOK_SECONDS)?;
        tally.unviable += found.unviable;
        tally.caught += found.caught;
        tally.survivors.extend(found.survivors);
        longest = longest.max(start.elapsed());
    }
    Ok((name, tally))
}

/// The first 64 bits of the name of a commit.
fn seed(commit: &str) -> u64 {
    commit
        .chars()
        .take(16)
        .fold(0, |seed, digit| seed << 4 | u64::from(digit.to_digit(16).unwrap_or(0)))
}

/// For how long the tests may run on one mutant, in seconds: what takes longer counts as caught.
const SECONDS: u32 = 300;

/// The same where there is little time: several times what the tests of a small crate take.
const LOOK_SECONDS: u32 = 90;

fn of_crate(name: &str) -> Vec<String> {
    ["mutants", "--no-shuffle", "--package", name].map(str::to_owned).to_vec()
}

/// All mutants of a crate, or about so many of them, always the same ones.
fn run(name: &str, sample: Option<usize>) -> Result<Tally, Error> {
    let Some(sample) = sample else { return tested(name, &[], SECONDS) };
    // In turn, so that a sample has mutants from every file.
    let shard = format!("0/{}", (count(&of_crate(name))? / sample.max(1)).max(1));
    tested(name, &["--shard", &shard, "--sharding", "round-robin"], SECONDS)
}

/// What became of the mutants of a crate that `which` chooses.
fn tested(name: &str, which: &[&str], seconds: u32) -> Result<Tally, Error> {
    let out = workspace::root().join("target").join("mutants").join(name);
    files::create_folder(&out)?;
    let seconds = seconds.to_string();
    let mut words = of_crate(name);
    words.extend(which.iter().copied().map(str::to_owned));
    // That the tests pass without a mutant is what `cargo xtask ci` has shown.
    words.extend(
        ["--baseline", "skip", "--timeout", &seconds, "--no-times", "--output"].map(Into::into),
    );
    words.push(out.display().to_string());
    if git(&["status", "--porcelain", "--untracked-files=no"])?.is_empty() {
        // What is built already is used again. A copy is for those who are in the middle of a change.
        words.push("--in-place".into());
    }
    // Documentation is compiled once per test and notices little that the tests do not.
    words.extend(["--", "--lib", "--tests"].map(Into::into));
    // Its exit code says whether there are survivors; what went wrong is in its output.
    cargo_mutants(&words).status().map_err(|error| failed(&words, error.to_string()))?;
    read(&out.join("mutants.out").join("outcomes.json"))
}

/// What git says.
fn git(words: &[&str]) -> Result<String, Error> {
    let refused = |reason| Error::Process { command: format!("git {}", words.join(" ")), reason };
    let output = Command::new("git").args(words).current_dir(workspace::root()).output();
    let output = output.map_err(|error| refused(error.to_string()))?;
    if !output.status.success() {
        return Err(refused(String::from_utf8_lossy(&output.stderr).into_owned()));
    }
    Ok(String::from_utf8_lossy(&output.stdout).into_owned())
}

/// Puts the tool in place if it is missing; unoptimised, since it only starts compilers.
fn install() -> Result<(), Error> {
    if tool().exists() {
        return Ok(());
    }
    let root = tools();
    let words = ["install", "--debug", "--locked", "cargo-mutants", "--version", VERSION, "--root"];
    let mut words = words.map(str::to_owned).to_vec();
    words.push(root.display().to_string());
    println!("cargo {}", words.join(" "));
    let mut command = cargo();
    command.args(&words).env("CARGO_PROFILE_DEV_DEBUG", "0").current_dir(workspace::root());
    let status = command.status().map_err(|error| failed(&words, error.to_string()))?;
    if status.success() { Ok(()) } else { Err(failed(&words, status.to_string())) }
}

/// Tools of our own, one folder for each version.
fn tools() -> PathBuf {
    workspace::root().join("target").join("tools").join(format!("cargo-mutants-{VERSION}"))
}

fn tool() -> PathBuf {
    tools().join("bin").join(format!("cargo-mutants{}", std::env::consts::EXE_SUFFIX))
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
    let mut command = Command::new(tool());
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
    fn every_commit_has_an_order_of_its_own() {
        assert_eq!(seed("00000000000000ff00000000000000000000000a\n"), 255);
        assert_ne!(seed("d7059d2aaaaaaaaa"), seed("e7059d2aaaaaaaaa"));
    }

    #[test]
    fn a_crate_without_mutants_is_refused() {
        let args = MutantsArgs { crates: vec!["dp-check".into()], ..MutantsArgs::default() };
        let message = command(&args).expect_err("unknown").to_string();
        assert!(message.starts_with("there is no crate `dp-check`; these exist: dp-noise"));
    }
}
