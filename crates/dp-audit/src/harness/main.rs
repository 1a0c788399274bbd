//! The `main` of a crate's claims target.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::{Arc, mpsc};

use libtest_mimic::{Arguments, Failed, Trial};

use super::suite::{complaint_about_claim, complaint_about_mutant};
use super::tightness::{self, Tightness};
use super::{Effort, Suite, mutant_line, releasing_types, summary};
use crate::{AuditReport, Claim, Mutant};

/// Where a run of all tests leaves its report: a folder, for the crates of a workspace as seen from theirs.
const REPORTS: &str = "DP_AUDIT_REPORTS";

/// Runs the claims of a crate.
///
/// Without arguments of its own, and with those of `cargo test`, each claim and each mutant is a test at quick
/// effort; if the variable `DP_AUDIT_REPORTS` names a folder and no test was filtered out, what they found is written to
/// `CRATE.json` there, so that nobody has to run them twice. `--audit-ids` prints lines of the crate's name and an id of the suite, `--audit-tightness` what belongs into the
/// crate's `claims/tightness.toml`: the share of each claim that its check reaches, below which it must not fall.
/// `--audit-json FOLDER [--deep SEED] [--only ID ...]` runs them one after the other, prints a line for each,
/// and writes an [`AuditReport`] to `CRATE.json` in that folder.
pub fn main(suite: Suite) -> ExitCode {
    let arguments: Vec<OsString> = std::env::args_os().skip(1).collect();
    match Request::read(&arguments) {
        Ok(Request::Tests) => as_tests(suite),
        Ok(Request::Ids) => {
            suite.ids().iter().for_each(|id| tell(&format!("{} {id}", suite.crate_name)));
            ExitCode::SUCCESS
        }
        Ok(Request::Tightness) => {
            for line in tightness::lines(&suite) {
                tell(&line);
            }
            ExitCode::SUCCESS
        }
        Ok(Request::Audit { folder, effort, only }) => {
            match audit(&suite, &folder, effort, &only) {
                Ok(report) => {
                    tell(&format!("{}: {}", suite.crate_name, summary(&report, effort)));
                    if report.no_surprise() { ExitCode::SUCCESS } else { ExitCode::FAILURE }
                }
                Err(error) => refuse(&error.to_string()),
            }
        }
        Err(why) => refuse(&why),
    }
}

#[allow(clippy::print_stdout, reason = "this is a program's main")]
fn tell(line: &str) {
    println!("{line}");
}

#[allow(clippy::print_stderr, reason = "this is a program's main")]
fn refuse(why: &str) -> ExitCode {
    eprintln!("error: {why}");
    ExitCode::from(2)
}

/// What the arguments ask for.
#[derive(Debug, PartialEq)]
enum Request {
    Tests,
    Ids,
    Tightness,
    Audit { folder: PathBuf, effort: Effort, only: Vec<String> },
}

impl Request {
    fn read(arguments: &[OsString]) -> Result<Self, String> {
        let text = |word: &OsString| word.to_string_lossy().into_owned();
        let ours = |word: &&OsString| text(word).starts_with("--audit-");
        if arguments.iter().find(ours).is_none() {
            return Ok(Self::Tests);
        }
        if arguments == ["--audit-ids"] {
            return Ok(Self::Ids);
        }
        if arguments == ["--audit-tightness"] {
            return Ok(Self::Tightness);
        }
        let (mut folder, mut effort, mut only) = (None, Effort::quick(), Vec::new());
        let mut words = arguments.iter();
        while let Some(word) = words.next() {
            let mut value = || words.next().ok_or(format!("{} needs a value", text(word)));
            match text(word).as_str() {
                "--audit-json" => folder = Some(PathBuf::from(value()?)),
                "--deep" => {
                    let seed = text(value()?);
                    let seed = seed.parse().map_err(|_| format!("`{seed}` is no seed"))?;
                    effort = Effort::deep(seed);
                }
                "--only" => only.push(text(value()?)),
                other => return Err(format!("`{other}` is no argument of an audit")),
            }
        }
        let folder = folder.ok_or("an audit needs --audit-json FOLDER")?;
        Ok(Self::Audit { folder, effort, only })
    }
}

/// What a test has found, with its place in the suite.
enum Outcome {
    Claim(usize, Claim),
    Mutant(usize, Mutant),
}

/// Each check as a test of its own, and one that none is missing.
fn as_tests(suite: Suite) -> ExitCode {
    let Suite { crate_name, folder, checks, mutants } = suite;
    let effort = Effort::quick();
    let mechanisms: Vec<String> = checks.iter().map(|check| check.mechanism.clone()).collect();
    let mut trials = vec![Trial::test("every_release_has_a_claim", move || {
        every_release_is_named(folder, &mechanisms).map_err(Failed::from)
    })];
    let known = Arc::new(Tightness::read(folder));
    let (found, outcomes) = mpsc::channel();
    trials.extend(checks.into_iter().enumerate().map(|(place, check)| {
        let (name, known, found) = (check.id.clone(), Arc::clone(&known), found.clone());
        let run = move || {
            let claim = check.claim(crate_name, effort);
            found.send(Outcome::Claim(place, claim.clone())).map_err(|error| error.to_string())?;
            complaint_about_claim(&claim)?;
            Ok(known.as_ref().as_ref().map_err(Clone::clone)?.complaint(&claim)?)
        };
        Trial::test(name, run).with_kind("claim")
    }));
    trials.extend(mutants.into_iter().enumerate().map(|(place, check)| {
        let (name, found) = (check.row.id.clone(), found.clone());
        let run = move || {
            let mutant = check.mutant(effort);
            found
                .send(Outcome::Mutant(place, mutant.clone()))
                .map_err(|error| error.to_string())?;
            Ok(complaint_about_mutant(&mutant, mutant_line(&mutant, &check.row, effort))?)
        };
        Trial::test(name, run).with_kind("mutant")
    }));
    let all = trials.len();
    let conclusion = libtest_mimic::run(&Arguments::from_args(), trials);
    let whole = conclusion.num_passed + conclusion.num_failed == all as u64;
    if let Some(reports) = std::env::var_os(REPORTS).filter(|_| whole)
        && let Err(error) = write(Path::new(&reports), crate_name, &in_order(outcomes.try_iter()))
    {
        return refuse(&format!("the report cannot be written: {error}"));
    }
    conclusion.exit_code()
}

/// The report of tests that ended in any order.
fn in_order(outcomes: impl Iterator<Item = Outcome>) -> AuditReport {
    let (mut claims, mut mutants) = (BTreeMap::new(), BTreeMap::new());
    for outcome in outcomes {
        match outcome {
            Outcome::Claim(place, claim) => drop(claims.insert(place, claim)),
            Outcome::Mutant(place, mutant) => drop(mutants.insert(place, mutant)),
        }
    }
    AuditReport { claims: claims.into_values().collect(), mutants: mutants.into_values().collect() }
}

/// Every type of the crate with a release of its own must be audited, by name.
fn every_release_is_named(folder: &str, mechanisms: &[String]) -> Result<(), String> {
    let releasing = releasing_types(Path::new(folder)).map_err(|error| error.to_string())?;
    let named = |name: &String| {
        mechanisms.iter().any(|mechanism| mechanism.split([',', ':', ' ']).any(|w| w == name))
    };
    match releasing.iter().find(|name| !named(name)) {
        Some(name) => Err(format!("{name} has a release and no claim")),
        None => Ok(()),
    }
}

/// Ids that are not of this suite may be of another crate's, but one of them must be.
fn audit(suite: &Suite, folder: &Path, effort: Effort, only: &[String]) -> io::Result<AuditReport> {
    let known = suite.ids();
    if !only.is_empty() && !only.iter().any(|id| known.contains(&id.as_str())) {
        let why =
            format!("{} has no claim or mutant of these: {}", suite.crate_name, only.join(", "));
        return Err(io::Error::new(io::ErrorKind::InvalidInput, why));
    }
    let report = suite.run(effort, only, &mut |line| tell(&line));
    write(folder, suite.crate_name, &report)?;
    Ok(report)
}

fn write(folder: &Path, crate_name: &str, report: &AuditReport) -> io::Result<()> {
    let file = File::create(folder.join(format!("{crate_name}.json")))?;
    Ok(serde_json::to_writer(file, report)?)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(words: &[&str]) -> Result<Request, String> {
        Request::read(&words.iter().map(OsString::from).collect::<Vec<_>>())
    }

    #[test]
    fn arguments_of_a_test_run_are_left_to_the_test_runner() {
        assert_eq!(read(&[]), Ok(Request::Tests));
        assert_eq!(read(&["--list", "count"]), Ok(Request::Tests));
        assert_eq!(read(&["--audit-ids"]), Ok(Request::Ids));
        assert_eq!(read(&["--audit-tightness"]), Ok(Request::Tightness));
    }

    #[test]
    fn an_audit_says_where_how_deep_and_what() {
        let folder = PathBuf::from("x");
        let quick =
            Request::Audit { folder: folder.clone(), effort: Effort::quick(), only: vec![] };
        assert_eq!(read(&["--audit-json", "x"]), Ok(quick));
        let only = vec!["a".to_owned(), "M3".to_owned()];
        let deep = Request::Audit { folder, effort: Effort::deep(7), only };
        let words = ["--audit-json", "x", "--only", "a", "--deep", "7", "--only", "M3"];
        assert_eq!(read(&words), Ok(deep));
    }

    #[test]
    fn what_an_audit_does_not_know_is_refused() {
        for words in [
            &["--audit-json"][..],
            &["--audit-ids", "x"],
            &["--audit-json", "x", "--deep", "often"],
            &["--audit-json", "x", "--quick"],
        ] {
            assert!(read(words).is_err(), "{words:?}");
        }
    }

    #[test]
    fn a_release_without_a_claim_is_named() {
        let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../dp-mechanism");
        let why = every_release_is_named(folder, &["PoissonSample, thinning".to_owned()]);
        assert!(why.is_err_and(|why| why.ends_with("has a release and no claim")));
    }
}
