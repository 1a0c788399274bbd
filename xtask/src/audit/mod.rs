//! `cargo xtask audit`: every privacy claim checked on the code that makes the release, and the
//! checks checked on mutants.
//!
//! Claims live in the crate they are about; here they are run and put together. Those that have not moved there yet
//! are listed by one file per family of mechanisms; `mutants/` has the broken variants.

mod check;
mod k_median;
mod mutants;
mod set_cover;
mod submodular;
mod targets;

use std::collections::BTreeSet;
use std::path::Path;

use dp_audit::AuditReport;
use dp_audit::harness::{self, Effort, Suite, TOLERANCE};
use rand::rngs::{ChaCha20Rng, SysRng};
use rand::{Rng, SeedableRng};

use crate::Ending;
use crate::cli::AuditArgs;
use crate::error::Error;
use crate::{files, report, workspace};
use check::{Check, suites};

/// Runs the audits and writes OUT/audit.json; any surprise makes the ending incomplete.
pub(crate) fn command(args: &AuditArgs) -> Result<Ending, Error> {
    let effort = if args.deep { Effort::deep(fresh_seed()?) } else { Effort::quick() };
    let out = args.out.clone().unwrap_or_else(workspace::default_out);
    files::create_folder(&out)?;
    let report = run(effort, &args.only, &out)?;
    report::audit::write(&out, &report)?;
    println!("{}; {}", harness::summary(&report, effort), out.join("audit.html").display());
    Ok(if report.no_surprise() { Ending::Complete } else { Ending::Incomplete })
}

/// Runs everything, or what `only` names, and tells each result as it comes.
fn run(effort: Effort, only: &[String], out: &Path) -> Result<AuditReport, Error> {
    let own = suites(&checks(), mutants::all());
    let mut crates = targets::crates()?;
    if !only.is_empty() {
        let moved = targets::ids(&crates)?;
        let known = own.iter().flat_map(Suite::ids).chain(moved.iter().map(|(_, id)| id.as_str()));
        refuse_unknown(only, known)?;
        crates.retain(|name| moved.iter().any(|(at, id)| at == name && only.contains(id)));
    }
    let mut report = AuditReport::default();
    if !crates.is_empty() {
        report.merge(targets::run(&crates, effort, only, out)?);
    }
    for suite in &own {
        report.merge(suite.run(effort, only, &mut |line| println!("{line}")));
    }
    refuse_twice(&report)?;
    Ok(report)
}

fn checks() -> Vec<Check> {
    let all = [k_median::checks(), set_cover::checks(), submodular::checks()];
    all.into_iter().flatten().collect()
}

fn refuse_unknown<'a>(only: &[String], known: impl Iterator<Item = &'a str>) -> Result<(), Error> {
    let known: Vec<&str> = known.collect();
    match only.iter().find(|name| !known.contains(&name.as_str())) {
        Some(name) => {
            let known = known.into_iter().map(str::to_owned).collect();
            Err(Error::Unknown { what: "claim or mutant", got: name.clone(), known })
        }
        None => Ok(()),
    }
}

/// Two crates must not give the same name to different claims.
fn refuse_twice(report: &AuditReport) -> Result<(), Error> {
    let mut seen = BTreeSet::new();
    let claims = report.claims.iter().map(|claim| &claim.id);
    let mut ids = claims.chain(report.mutants.iter().map(|mutant| &mutant.id));
    match ids.find(|id| !seen.insert(*id)) {
        Some(id) => Err(Error::library("the claims", &format!("`{id}` is the name of two"))),
        None => Ok(()),
    }
}

fn fresh_seed() -> Result<u64, Error> {
    ChaCha20Rng::try_from_rng(&mut SysRng)
        .map(|mut rng| rng.next_u64())
        .map_err(|error| Error::library("the operating system's entropy", &error))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The promise of the project, at the size that fits in `cargo test`.
    #[test]
    fn every_claim_stands_every_mutant_is_caught_and_every_twin_passes() {
        let mut report = AuditReport::default();
        for suite in suites(&checks(), mutants::all()) {
            report.merge(suite.run(Effort::quick(), &[], &mut |_| {}));
        }
        for claim in &report.claims {
            assert!(claim.pass, "{claim:?}");
        }
        for mutant in &report.mutants {
            assert!(mutant.caught && mutant.twin_passed, "{mutant:?}");
            // A twin with next to no loss would pass any check; samples show less than there is.
            let least = if mutant.layer == "statistical" { 0.1 } else { 0.25 };
            assert!(mutant.twin_worst > least, "a twin that proves little: {mutant:?}");
        }
        assert!(report.pass() && refuse_twice(&report).is_ok());
        assert_eq!(report.mutants.len(), mutants::all().len());
    }

    /// Every type with a release of its own of the crates that have no claims target yet must be audited, by name.
    #[test]
    fn no_release_goes_unaudited() {
        let mut all = BTreeSet::new();
        for entry in std::fs::read_dir(workspace::root().join("crates")).expect("ours") {
            let folder = entry.expect("readable").path();
            if !folder.join("claims").is_dir() {
                all.append(&mut harness::releasing_types(&folder).expect("readable"));
            }
        }
        assert!(!all.is_empty());
        for name in all {
            let named = |check: &Check| check.mechanism.split([',', ':', ' ']).any(|w| w == name);
            assert!(checks().iter().any(named), "{name} has a release and no audit");
        }
    }

    #[test]
    fn an_unknown_id_is_refused_with_those_that_exist() {
        let own = suites(&checks(), mutants::all());
        let known = || own.iter().flat_map(Suite::ids);
        let error = refuse_unknown(&["M99".to_owned()], known()).expect_err("unknown");
        let message = error.to_string();
        assert!(message.starts_with("there is no claim or mutant `M99`; these exist: "));
        assert!(message.contains("M50"), "{message}");
        assert!(refuse_unknown(&["M50".to_owned()], known()).is_ok());
    }

    #[test]
    fn the_same_name_for_two_claims_is_refused() {
        let mut own = suites(&checks(), Vec::new());
        let only = [own[0].ids()[0].to_owned()];
        let mut report = own.remove(0).run(Effort::quick(), &only, &mut |_| {});
        assert!(refuse_twice(&report).is_ok());
        report.merge(report.clone());
        let message = refuse_twice(&report).expect_err("twice").to_string();
        assert!(message.contains(&only[0]) && message.contains("two"), "{message}");
    }
}
