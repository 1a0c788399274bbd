//! Releases by passes, from files to files: those that are stopped and go on, and those from tables that somebody else has counted.

use crate::commands::{Seen, files_of, named};
use crate::items::Unsynced;
use clap::Parser;
use dp_accounting::{AddRemove, Budget};
use dp_audit::harness::{Check, Effort, Found};
use dp_audit::{Method as By, Neighbours, compare};
use dp_cluster::dpm::{Dpm, DpmSettings};
use dp_cluster::passes::{Asked, ByPasses, Passes, Question};
use dp_cluster::{PointsView, PublicBox};
use dp_mechanism::{Mechanism, SecureSource, Source};
use quietus::cli::{Cli, Command, Family, PassArgs, TargetArgs};
use quietus::cluster::release_cluster_by_passes;
use quietus::map::{Hides, release_map_by_passes};
use quietus::passes::{PassDraws, PassTold};
use quietus::{Error, Gate, LedgerFile, Said};
use rand::RngExt;
use std::fs;
use std::path::Path;

const OF_DPM: &str =
    "cluster --range x=0,1 --method dpm --simulations 1 --from-tables HOME/t.csv --resume";
const OF_MAP: &str = "map --range x=0,1 --unit m --k 1,2 --simulations 1 --from-tables HOME/t.csv";

pub(crate) fn checks() -> Vec<Check> {
    let check = |id, what, words, run: fn(Effort) -> Found| {
        Check::new(id, named(what, [words]), "add-remove", By::Exact, run)
    };
    vec![
        check("quietus-cluster-tables", "ClusterPlan, from tables to files", OF_DPM, |effort| {
            from_tables(
                effort,
                OF_DPM,
                &Dpm::new(unit(), budget(), DpmSettings::default()).expect("valid"),
            )
        }),
        check("quietus-map-tables", "MapPlan, from tables to files", OF_MAP, |effort| {
            from_tables(effort, OF_MAP, &AddRemove.map(unit(), None, budget()).expect("valid"))
        }),
    ]
}

fn unit() -> PublicBox {
    PublicBox::cube(1, 0.0, 1.0).expect("valid")
}

fn budget() -> Budget {
    Budget::new(1.0, 1e-6).expect("valid")
}

fn args_of(family: &mut Family) -> (&mut PassArgs, &mut TargetArgs) {
    match family {
        Family::Cluster(args) => (&mut args.passes, &mut args.target),
        Family::Map(args) => (&mut args.passes, &mut args.target),
        other => unreachable!("{other:?} has no passes"),
    }
}

fn once(family: &Family, source: &mut dyn Source, told: &mut PassTold<'_>) -> Result<Said, Error> {
    let draws: &mut PassDraws<'_> = &mut |_, draw| draw(source);
    match family {
        Family::Cluster(args) => {
            release_cluster_by_passes(args, &Gate::default(), &Unsynced, draws, told)
        }
        Family::Map(args) => release_map_by_passes(args, &Gate::default(), &Unsynced, draws, told),
        other => unreachable!("{other:?} has no passes"),
    }
}

fn new_ledger(family: &mut Family) {
    if let Some(path) = &args_of(family).1.ledger {
        let _ = fs::remove_file(path);
        let limit = Budget::new(9.0, 1e-3).expect("valid");
        LedgerFile::create(path, "p", AddRemove, limit, "its name", &Unsynced)
            .expect("a folder of our own");
    }
}

/// Out of core, with a new ledger if it is to have one. With `--resume`, of a release that was stopped after its first pass.
pub(crate) fn release(
    home: &Path,
    family: &Family,
    source: &mut dyn Source,
) -> Result<Said, Error> {
    let mut family = family.clone();
    new_ledger(&mut family);
    let mut stopped = String::new();
    if std::mem::take(&mut args_of(&mut family).0.resume) {
        let (data, away) = (home.join("p.csv"), home.join("away.csv"));
        // Nobody finds the file any more when it is to be read again.
        let said = once(&family, source, &mut |pass, _| {
            if pass == 1 {
                fs::rename(&data, &away).expect("a folder of our own");
            }
        });
        stopped = said.expect_err("there is no file").to_string();
        fs::rename(&away, &data).expect("a folder of our own");
        args_of(&mut family).0.resume = true;
    }
    let said = once(&family, source, &mut |_, _| ())?;
    Ok(Said { text: stopped + &said.text, ..said })
}

/// What somebody sees of all commands that answer the passes of a release, each with a table of the same points.
fn answered<P>(
    home: &Path,
    family: &Family,
    plan: &P,
    points: &[f64],
    source: &mut dyn Source,
) -> Seen
where
    P: ByPasses<Question = Question> + Clone,
{
    let mut family = family.clone();
    new_ledger(&mut family);
    let (mut all, state) = (String::new(), home.join("out.PRIVATE-state/PRIVATE-state.json"));
    loop {
        let passes = match fs::read(&state) {
            Err(_) => Passes::new(plan.clone()).expect("has tables"),
            Ok(text) => Passes::from_bytes(plan.clone(), &kept(&text)).expect("whole"),
        };
        args_of(&mut family).0.resume = state.exists();
        fs::write(home.join("t.csv"), table(passes.asked(), points)).expect("a folder of our own");
        let said = once(&family, source, &mut |pass, what| {
            all.extend([pass.to_string().as_str(), ": ", what, "\n"]);
        });
        if said.is_err() || home.join("out").exists() {
            return files_of(home, said).map(|(text, files)| (all + &text, files));
        }
        all += &said.map(|said| said.text + &said.aside).unwrap_or_default();
    }
}

/// The passes that a state holds, in hexadecimal.
fn kept(state: &[u8]) -> Vec<u8> {
    let state: serde_json::Value = serde_json::from_slice(state).expect("ours");
    let digits = state["passes"].as_str().expect("text").as_bytes();
    let digit = |byte: u8| char::from(byte).to_digit(16).expect("a digit");
    let byte = |two: &[u8]| u8::try_from(digit(two[0]) << 4 | digit(two[1])).expect("two digits");
    digits.chunks(2).map(byte).collect()
}

/// In CSV, as the SQL has it.
fn table(asked: &Asked<Question>, points: &[f64]) -> String {
    let mut tally = asked.tally().expect("has a table");
    tally.add(PointsView::new(points, 1).expect("one column")).expect("few rows");
    let bytes = tally.into_table().to_bytes();
    // The number of records and the entries are between 32 bytes about the question, and a hash.
    let (numbers, _) = bytes[32..bytes.len() - 8].as_chunks::<8>();
    let mut numbers = numbers.iter().map(|number| i64::from_le_bytes(*number));
    let (signature, rows) = (asked.signature(), numbers.next().expect("is there"));
    let cells: Vec<String> = (0..)
        .zip(numbers)
        .filter(|(_, value)| *value != 0)
        .map(|(entry, value): (usize, i64)| format!("{signature},{entry},{value}\n"))
        .collect();
    format!(
        "signature,entry,value\n{signature},rows,{rows}\n{signature},cells,{}\n{}",
        cells.len(),
        cells.concat()
    )
}

fn from_tables<P>(effort: Effort, words: &str, plan: &P) -> Found
where
    P: ByPasses<Question = Question> + Clone,
{
    let (mut rng, mut found) = (effort.rng(102), Found::claim(1.0));
    let home = tempfile::tempdir().expect("a place for files");
    let all = format!(
        "quietus release {words} --epsilon 1 --delta 1e-6 --data nowhere.csv --ledger HOME/l.ledger --out HOME/out"
    );
    let all = all.replace("HOME", home.path().to_str().expect("Unicode"));
    let Command::Release { family } = Cli::parse_from(all.split_whitespace()).command else {
        unreachable!("a release");
    };
    let claimed = plan.receipt().zcdp().expect("all steps are zCDP").get();
    for number in 0..effort.of(12, 200) {
        let others: Vec<f64> = (0..6).map(|_| rng.random_range(0.0..1.0)).collect();
        let own = [0.0, 1.0, 0.5, f64::NAN, rng.random_range(0.0..1.0)][number % 5];
        let with = [&others[..3], &[own], &others[3..]].concat();
        let run = |points: &Vec<f64>, source: &mut dyn Source| {
            answered(home.path(), &family, plan, points, source)
        };
        let neighbours = Neighbours::of_records(AddRemove, |points: &Vec<f64>| {
            points.iter().map(|x| x.to_bits()).collect::<Vec<_>>()
        });
        for (a, b) in [(&others, &with), (&with, &others)] {
            let seen = compare(&neighbours, run, a, b, &mut SecureSource::new(&mut rng));
            found.see(seen.rho() / claimed, || format!("{words}: {own} with {others:?}"));
        }
    }
    found
}
