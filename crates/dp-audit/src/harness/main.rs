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
    let code = |ended: Result<u8, String>| ended.map_or_else(|why| refuse(&why), ExitCode::from);
    match Request::read(&arguments) {
        Ok(Request::Tests) => {
            let reports = std::env::var_os(REPORTS).map(PathBuf::from);
            code(as_tests(suite, &Arguments::from_args(), reports.as_deref()))
        }
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
            code(audited(&suite, &folder, effort, &only))
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

/// Each check as a test of its own, and one that none is missing. The code to exit with, as a test runner has it.
fn as_tests(suite: Suite, arguments: &Arguments, reports: Option<&Path>) -> Result<u8, String> {
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
    let conclusion = libtest_mimic::run(arguments, trials);
    let whole = conclusion.num_passed + conclusion.num_failed == all as u64;
    if let Some(reports) = reports.filter(|_| whole) {
        write(reports, crate_name, &in_order(outcomes.try_iter()))
            .map_err(|error| format!("the report cannot be written: {error}"))?;
    }
    Ok(if conclusion.has_failed() { 101 } else { 0 })
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

/// Runs them one after the other. The code to exit with: 1 if anything is not as it should be.
fn audited(suite: &Suite, folder: &Path, effort: Effort, only: &[String]) -> Result<u8, String> {
    let report = audit(suite, folder, effort, only).map_err(|error| error.to_string())?;
    tell(&format!("{}: {}", suite.crate_name, summary(&report, effort)));
    Ok(u8::from(!report.no_surprise()))
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
    use super::super::{Check, Found, MutantCode, mutants};
    use super::*;
    use crate::Method;

    fn seen(loss: f64) -> Found {
        let mut found = Found::claim(1.0);
        found.see(loss, || "here".to_owned());
        found
    }

    const TWICE: MutantCode = ("M1", |_| seen(2.0), |_| seen(1.0));

    /// A crate in this folder with one claim, of which half is known to be reached, and one mutant.
    fn of_one_claim(folder: &Path, loss: f64, code: MutantCode) -> Suite {
        let put = |name: &str, text: &str| {
            let path = folder.join(name);
            std::fs::create_dir_all(path.parent().expect("a folder")).expect("a new folder");
            std::fs::write(path, text).expect("a new file");
        };
        put("src/lib.rs", "impl Mine {\n    pub fn release(\n");
        put("claims/tightness.toml", "mine = 0.5\n");
        let table = "[[mutant]]\nid = \"M1\"\nwhat = \"x\"\nreference = \"y\"\nlayer = \"exact\"\nexpected = 2.0\nseconds = 1.0\n";
        let claim = move |_| seen(loss);
        let checks = vec![Check::new("mine", "Mine", "add-remove", Method::Exact, claim)];
        let folder = folder.to_str().expect("a plain name").to_owned().leak();
        Suite { crate_name: "dp-mine", folder, checks, mutants: mutants(table, &[code]) }
    }

    /// Arguments of tests whose failures are not those of this run.
    fn elsewhere(folder: &Path) -> Arguments {
        Arguments {
            logfile: Some(folder.join("log").display().to_string()),
            ..Arguments::default()
        }
    }

    /// How a run ends that is all right but for this, as tests and as an audit. Of a blind check or a twin that proves little an audit says nothing.
    #[test]
    fn a_run_ends_well_only_if_all_of_it_does() {
        let cases: [(&str, f64, MutantCode, [u8; 2]); 6] = [
            ("nothing", 0.5, TWICE, [0, 0]),
            ("a broken claim", 1.5, TWICE, [101, 1]),
            ("a blind check", 0.25, TWICE, [101, 0]),
            ("a missed mutant", 0.5, ("M1", |_| seen(1.0), |_| seen(1.0)), [101, 1]),
            ("a flagged twin", 0.5, ("M1", |_| seen(2.0), |_| seen(2.0)), [101, 1]),
            ("a small twin", 0.5, ("M1", |_| seen(2.0), |_| seen(0.1)), [101, 0]),
        ];
        for (what, loss, code, expected) in cases {
            let folder = tempfile::tempdir().expect("a folder");
            let suite = || of_one_claim(folder.path(), loss, code);
            let tests = as_tests(suite(), &elsewhere(folder.path()), None);
            let audit = audited(&suite(), folder.path(), Effort::quick(), &[]);
            assert_eq!([tests, audit], expected.map(Ok), "{what}");
        }
    }

    /// A report of some tests would be read as one of all.
    #[test]
    fn a_report_of_tests_is_of_all_of_them() {
        let folder = tempfile::tempdir().expect("a folder");
        let report = folder.path().join("dp-mine.json");
        let ran = |filter: Option<&str>| {
            let filter = filter.map(str::to_owned);
            let arguments = Arguments { filter, ..elsewhere(folder.path()) };
            let suite = of_one_claim(folder.path(), 1.5, TWICE);
            as_tests(suite, &arguments, Some(folder.path())).expect("a report")
        };
        assert!(ran(Some("M1")) == 0 && !report.exists());
        assert_eq!(ran(None), 101);
        let text = std::fs::read_to_string(&report).expect("written");
        let read: AuditReport = serde_json::from_str(&text).expect("a report");
        assert_eq!((read.claims.len(), read.mutants.len(), read.claims[0].pass), (1, 1, false));
    }

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

    /// By its own name, which may stand among other words, but not within one.
    #[test]
    fn a_claim_about_another_name_is_none() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path();
        of_one_claim(path, 0.5, TWICE);
        let named = |mechanism: &str| {
            every_release_is_named(path.to_str().expect("a plain name"), &[mechanism.to_owned()])
        };
        for name in ["Mine", "Mine, clipped", "sum: Mine", "Other, Mine"] {
            assert!(named(name).is_ok(), "{name}");
        }
        for name in ["", "Minefield", "NotMine", "Mi, ne", "mine"] {
            assert!(named(name).is_err(), "{name}");
        }
    }

    #[test]
    fn a_release_without_a_claim_is_named() {
        let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../dp-mechanism");
        let why = every_release_is_named(folder, &["PoissonSample, thinning".to_owned()]);
        assert!(why.is_err_and(|why| why.ends_with("has a release and no claim")));
    }
}
