//! `cargo xtask audit`: every privacy claim checked on the code that makes the release, and the
//! checks checked on mutants.
//!
//! One file per family of mechanisms lists its checks; `mutants/` has the broken variants.

mod census;
mod census_tables;
mod check;
mod coreset;
mod credited;
mod dp_lloyd;
mod dpm;
mod em_mc;
mod gaps;
mod k_median;
mod lsh_splits;
mod mutants;
mod neighbours;
mod primitives;
mod recentred;
mod samplers;
mod set_cover;
mod splits;
mod stream;
mod submodular;
mod table;

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::Instant;

use dp_audit::{AuditReport, Claim, Mutant};
use rand::rngs::{ChaCha20Rng, SysRng};
use rand::{Rng, SeedableRng};

use crate::Ending;
use crate::cli::AuditArgs;
use crate::error::Error;
use crate::{files, report, workspace};
use check::{Check, Effort, Found, MutantCheck};
pub(crate) use mutants::{published_chain, true_epsilon_of_the_chain};

/// A loss may exceed its claim by this factor before it counts: the rounding of `f64` probabilities.
const TOLERANCE: f64 = 1.0 + 1e-9;

/// Runs the audits and writes OUT/audit.json; any surprise makes the ending incomplete.
pub(crate) fn command(args: &AuditArgs) -> Result<Ending, Error> {
    let effort = if args.deep { Effort::deep(fresh_seed()?) } else { Effort::quick() };
    let out = args.out.clone().unwrap_or_else(workspace::default_out);
    files::create_folder(&out)?;
    refuse_unknown(&args.only)?;
    let report = run(effort, &args.only, &mut |line| println!("{line}"));
    report::audit::write(&out, &report)?;
    println!("{}", table::summary(&report, effort, &out.join("audit.html")));
    Ok(if table::passed(&report) { Ending::Complete } else { Ending::Incomplete })
}

/// Runs everything, or what `only` names, and tells each result as it comes.
fn run(effort: Effort, only: &[String], tell: &mut dyn FnMut(String)) -> AuditReport {
    let wanted = |id: &str| only.is_empty() || only.iter().any(|name| name == id);
    let mut report = AuditReport::default();
    for check in checks().iter().filter(|check| wanted(check.id)) {
        let claim = run_check(check, effort);
        tell(table::claim_line(&claim));
        report.claims.push(claim);
    }
    // The number of a mutant stands for all of its forms.
    for check in mutants::all().iter().filter(|c| wanted(&c.row.id) || wanted(c.row.number())) {
        let mutant = run_mutant(check, effort);
        tell(table::mutant_line(&mutant, &check.row, effort));
        report.mutants.push(mutant);
    }
    report
}

fn checks() -> Vec<Check> {
    let all = [
        samplers::checks(),
        primitives::checks(),
        credited::checks(),
        dpm::checks(),
        lsh_splits::checks(),
        dp_lloyd::checks(),
        em_mc::checks(),
        coreset::checks(),
        recentred::checks(),
        stream::checks(),
        census::checks(),
        k_median::checks(),
        set_cover::checks(),
        submodular::checks(),
    ];
    all.into_iter().flatten().collect()
}

fn run_check(check: &Check, effort: Effort) -> Claim {
    let (found, seconds) = timed(|| (check.run)(effort));
    let found = found.unwrap_or_else(|why| Found::panicked(&why));
    Claim {
        id: check.id.to_owned(),
        crate_name: check.crate_name.to_owned(),
        mechanism: check.mechanism.to_owned(),
        relation: check.relation.to_owned(),
        method: check.method,
        claimed: found.claimed,
        worst: found.worst,
        tightness: found.worst / found.claimed,
        // Had it lost this much more everywhere, the worst case found would have crossed the claim.
        resolution: (found.claimed / found.worst).max(check.resolution),
        cases: found.cases,
        seconds,
        pass: found.stands(),
        witness: found.witness,
    }
}

fn run_mutant(check: &MutantCheck, effort: Effort) -> Mutant {
    let (outcomes, seconds) = timed(|| ((check.mutant)(effort), (check.twin)(effort)));
    let (mutant, twin) =
        outcomes.unwrap_or_else(|why| (Found::panicked(&why), Found::panicked(&why)));
    // What is known must be found again: a harness that called everything unbounded, or nothing
    // much, would have caught nothing. A check that saw nothing has caught nothing either.
    let (worst, expected) = (mutant.worst / mutant.claimed, check.row.expected);
    let as_known = worst >= 0.9 * expected && worst.is_finite() == expected.is_finite();
    Mutant {
        id: check.row.id.clone(),
        layer: check.row.layer.clone(),
        expected,
        worst,
        caught: mutant.cases > 0 && !mutant.stands() && as_known,
        twin_passed: twin.stands(),
        twin_worst: twin.worst / twin.claimed,
        seconds,
        witness: mutant.witness,
    }
}

/// The result and its duration; a panic becomes its message.
///
/// Cases are tiny, so waking other threads would take longer than the work: one thread it is.
fn timed<T: Send>(run: impl FnOnce() -> T + Send) -> (Result<T, String>, f64) {
    let start = Instant::now();
    let pool = rayon::ThreadPoolBuilder::new().num_threads(1).build().expect("one thread");
    let result = pool.install(|| catch_unwind(AssertUnwindSafe(run))).map_err(|panic| {
        let text = panic.downcast_ref::<String>().map(String::as_str);
        text.or_else(|| panic.downcast_ref::<&str>().copied()).unwrap_or("no message").to_owned()
    });
    (result, start.elapsed().as_secs_f64())
}

fn refuse_unknown(only: &[String]) -> Result<(), Error> {
    let mut known: Vec<String> = checks().iter().map(|check| check.id.to_owned()).collect();
    for row in mutants::all().into_iter().map(|check| check.row) {
        for name in [row.number(), &row.id] {
            if !known.iter().any(|known| known == name) {
                known.push(name.to_owned());
            }
        }
    }
    match only.iter().find(|name| !known.contains(name)) {
        Some(name) => Err(Error::Unknown { what: "claim or mutant", got: name.clone(), known }),
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
        let report = run(Effort::quick(), &[], &mut |_| {});
        for claim in &report.claims {
            assert!(claim.pass, "{claim:?}");
        }
        for mutant in &report.mutants {
            assert!(mutant.caught && mutant.twin_passed, "{mutant:?}");
            // A twin with next to no loss would pass any check; samples show less than there is.
            let least = if mutant.layer == "statistical" { 0.1 } else { 0.25 };
            assert!(mutant.twin_worst > least, "a twin that proves little: {mutant:?}");
        }
        assert!(report.pass());
        let first = report.mutants.first().map(|mutant| (mutant.id.as_str(), mutant.worst));
        assert!(first.is_some_and(|(id, x)| id == "M1" && (x - 1.4186).abs() < 2e-3), "{first:?}");
        assert_eq!(report.mutants.len(), mutants::all().len());
    }

    #[test]
    fn a_mutant_that_panics_is_not_caught_and_its_twin_does_not_pass() {
        let row = mutants::all().swap_remove(0).row;
        let panicking = MutantCheck { row, mutant: |_| panic!("why"), twin: |_| Found::claim(1.0) };
        let mutant = run_mutant(&panicking, Effort::quick());
        assert!(!mutant.caught && !mutant.twin_passed, "{mutant:?}");
        assert_eq!(mutant.witness, "panicked: why");
    }

    /// Every type of the library crates with a release of its own must be audited, by name.
    #[test]
    fn no_release_goes_unaudited() {
        let releasing = releasing_types();
        assert!(releasing.contains("Dpm") && releasing.contains("NoisyCount"), "{releasing:?}");
        assert!(releasing.contains("Monitor") && releasing.contains("Decider"), "{releasing:?}");
        for name in releasing {
            let named = |check: &Check| check.mechanism.split([',', ':', ' ']).any(|w| w == name);
            assert!(checks().iter().any(named), "{name} has a release and no audit");
        }
    }

    /// How methods begin that let something out.
    const RELEASING: [&str; 5] = [
        "    pub fn release(",
        "    pub fn select(",
        "    pub fn step<",
        "    pub fn decide<",
        "    pub fn step_shards<",
    ];

    /// Names after `impl` in blocks that hold one of these, and after `impl Mechanism for`.
    fn releasing_types() -> std::collections::BTreeSet<String> {
        let mut found = std::collections::BTreeSet::new();
        let mut folders = vec![workspace::root().join("crates")];
        while let Some(folder) = folders.pop() {
            for entry in std::fs::read_dir(&folder).expect("a folder of ours") {
                let path = entry.expect("readable").path();
                if path.is_dir() && !path.ends_with("tests") {
                    folders.push(path);
                } else if path.extension().is_some_and(|extension| extension == "rs") {
                    let text = std::fs::read_to_string(&path).expect("UTF-8");
                    let mut block = String::new();
                    for line in text.lines().filter(|line| !line.trim_start().starts_with("//")) {
                        let mechanism = line.split_once(" Mechanism for ");
                        if let Some((_, name)) = mechanism.filter(|_| line.starts_with("impl")) {
                            found.insert(first_word(name));
                        } else if let Some(name) = line.strip_prefix("impl ") {
                            block = first_word(name);
                        } else if RELEASING.iter().any(|start| line.starts_with(start)) {
                            found.insert(block.clone());
                        }
                    }
                }
            }
        }
        found
    }

    fn first_word(text: &str) -> String {
        text.chars().take_while(|c| c.is_alphanumeric()).collect()
    }

    #[test]
    fn an_audit_cannot_pass_on_nothing() {
        let claimed = 1.0;
        let nothing = Found { claimed, worst: 0.0, witness: String::new(), cases: 0 };
        assert!(!nothing.stands());
        let undefined = Found { claimed, worst: f64::NAN, witness: String::new(), cases: 9 };
        assert!(!undefined.stands());
        assert!(!AuditReport::default().pass());
        let (panicked, _) = timed(|| panic!("why"));
        assert!(!Found::panicked(&panicked.expect_err("it panicked")).stands());
    }

    #[test]
    fn an_unknown_id_is_refused_with_those_that_exist() {
        let message = refuse_unknown(&["M99".to_owned()]).expect_err("unknown").to_string();
        assert!(message.starts_with("there is no claim or mutant `M99`; these exist: "));
        assert!(message.contains("dpm-cut") && message.contains("M4"), "{message}");
    }
}
