//! `cargo xtask audit`: every privacy claim checked on the code that makes the release, and the
//! checks checked on mutants.
//!
//! Claims live in the crate they are about; here they are run and put together.

mod targets;

use std::collections::BTreeSet;
use std::path::Path;

use dp_audit::AuditReport;
use dp_audit::harness::{self, Effort};
use rand::rngs::{ChaCha20Rng, SysRng};
use rand::{Rng, SeedableRng};

use crate::Ending;
use crate::cli::AuditArgs;
use crate::error::Error;
use crate::report;
use quietus_datasets::{files, workspace};

/// Runs the audits, or takes what tests have found, and writes OUT/audit.json; any surprise makes the ending incomplete.
pub(crate) fn command(args: &AuditArgs) -> Result<Ending, Error> {
    let effort = if args.deep { Effort::deep(fresh_seed()?) } else { Effort::quick() };
    let out = args.out.clone().unwrap_or_else(workspace::default_out);
    files::create_folder(&out)?;
    let report = match &args.found {
        Some(folder) => targets::read(&targets::crates()?, folder)?,
        None => run(effort, &args.only, &out)?,
    };
    refuse_twice(&report)?;
    report::audit::write(&out, &report)?;
    println!("{}; {}", harness::summary(&report, effort), out.join("audit.html").display());
    Ok(if report.no_surprise() { Ending::Complete } else { Ending::Incomplete })
}

/// Runs everything, or what `only` names.
fn run(effort: Effort, only: &[String], out: &Path) -> Result<AuditReport, Error> {
    let mut crates = targets::crates()?;
    if !only.is_empty() {
        let known = targets::ids(&crates)?;
        refuse_unknown(only, known.iter().map(|(_, id)| id.as_str()))?;
        crates.retain(|name| known.iter().any(|(at, id)| at == name && only.contains(id)));
    }
    targets::run(&crates, effort, only, out)
}

fn refuse_unknown<'a>(only: &[String], known: impl Iterator<Item = &'a str>) -> Result<(), Error> {
    let known: Vec<&str> = known.collect();
    match only.iter().find(|name| !known.contains(&name.as_str())) {
        Some(name) => Err(Error::unknown("claim or mutant", name, known)),
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
    use dp_audit::Method;
    use dp_audit::harness::{Check, Found, Suite};

    use super::*;

    /// A crate that releases something keeps claims about it, which name every type with a release.
    #[test]
    fn a_crate_that_releases_has_claims() {
        let mut with_claims = 0;
        for entry in std::fs::read_dir(workspace::root().join("crates")).expect("ours") {
            let folder = entry.expect("readable").path();
            if folder.join("claims").is_dir() {
                with_claims += 1;
                continue;
            }
            // Below the layer of mechanisms nothing knows records.
            let manifest = std::fs::read_to_string(folder.join("Cargo.toml")).expect("readable");
            if !manifest.contains("dp-mechanism") {
                continue;
            }
            let releasing = harness::releasing_types(&folder).expect("readable");
            assert!(releasing.is_empty(), "{releasing:?} of {} have no claims", folder.display());
        }
        assert!(with_claims > 0);
    }

    #[test]
    fn an_unknown_id_is_refused_with_those_that_exist() {
        let refused = |only: &str| refuse_unknown(&[only.to_owned()], ["M50", "M51"].into_iter());
        let message = refused("M99").expect_err("unknown").to_string();
        assert!(message.starts_with("there is no claim or mutant `M99`; these exist: "));
        assert!(message.contains("M50"), "{message}");
        assert!(refused("M50").is_ok());
    }

    #[test]
    fn the_same_name_for_two_claims_is_refused() {
        let check = Check::new("toy", "Toy", "add-remove", Method::Exact, |_| {
            let mut found = Found::claim(1.0);
            found.see(0.5, String::new);
            found
        });
        let suite =
            Suite { crate_name: "toys", folder: "", checks: vec![check], mutants: Vec::new() };
        let mut report = suite.run(Effort::quick(), &[], &mut |_| {});
        assert!(refuse_twice(&report).is_ok());
        report.merge(report.clone());
        let message = refuse_twice(&report).expect_err("twice").to_string();
        assert!(message.contains("toy") && message.contains("two"), "{message}");
    }
}
