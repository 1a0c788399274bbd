//! Maps from file to files, under each relation that they can be asked for, and clusters under a distance.

use crate::commands::{Replayed, files_of, named, odd_or_plain};
use clap::Parser;
use dp_accounting::{AddRemove, ReplaceOne, Within};
use dp_audit::harness::{Check, Effort, Found};
use dp_audit::{Method as By, Neighbours, compare};
use dp_mechanism::{ChaCha20Rng, Mechanism, SecureSource, Source};
use quietus::cli::{Cli, Command, Family};
use quietus::cluster::{AnyClusters, cluster_plan, release_cluster};
use quietus::map::{AnyMap, map_plan, release_map};
use quietus::{Error, Gate, RealDisk, Said};
use rand::RngExt;
use std::fs;
use std::path::Path;

pub(crate) fn checks() -> Vec<Check> {
    let check = |id, relation, ways: &'static [&str], neighbour| {
        let plan = if ways[0].starts_with("map") { "MapPlan" } else { "ClusterPlan" };
        let what = named(&format!("{plan}, from file to files"), ways.iter().copied());
        Check::new(id, what, relation, By::Exact, move |effort| on_files(effort, ways, neighbour))
    };
    vec![
        check(
            "quietus-map-command",
            "add-remove",
            &["map --unit m", "map --unit m --median --person who"],
            Neighbour::Joins,
        ),
        check(
            "quietus-map-replaced",
            "replace-one",
            &["map --unit km --replace-one --rows 4"],
            Neighbour::Changes,
        ),
        check(
            "quietus-map-within",
            "within",
            &[
                "map --unit km --within 500 --rows 4",
                "map --unit m --within 0.5 --rows 4",
                "map --unit km --within 800 --charge-within 500 --rows 4",
            ],
            Neighbour::Moves(0.5),
        ),
        check(
            "quietus-cluster-within",
            "within",
            &[
                "cluster --unscaled --within 0.5 --rows 4",
                "cluster --unscaled --within 0.5 --rows 4 --outside 0.5",
                "cluster --unscaled --within 0.8 --charge-within 0.5 --rows 4",
            ],
            Neighbour::Moves(0.5),
        ),
        check(
            "quietus-map-passes",
            "add-remove",
            &[
                "map --unit m --out-of-core",
                "map --unit m --person who --out-of-core --ledger LEDGER",
            ],
            Neighbour::Joins,
        ),
        check(
            "quietus-map-passes-replaced",
            "replace-one",
            &["map --unit km --replace-one --rows 4 --out-of-core"],
            Neighbour::Changes,
        ),
        check(
            "quietus-map-passes-within",
            "within",
            &["map --unit km --within 500 --rows 4 --out-of-core"],
            Neighbour::Moves(0.5),
        ),
    ]
}

/// What somebody does.
#[derive(Clone, Copy)]
enum Neighbour {
    Joins,
    Changes,
    /// By so much at most, in the unit of the file.
    Moves(f64),
}

fn on_files(effort: Effort, ways: &[&str], neighbour: Neighbour) -> Found {
    let mut rng = effort.rng(97);
    let mut found = Found::claim(1.0);
    let home = tempfile::tempdir().expect("a place for files");
    let at = |name: &str| home.path().join(name).to_str().expect("Unicode").to_owned();
    for words in ways {
        let (data, out) = (at("p.csv"), at("out"));
        let uncounted = if words.contains("LEDGER") { "" } else { "--no-ledger" };
        let words = words.replace("LEDGER", &at("data.ledger"));
        let k = if words.starts_with("map") { "1,2" } else { "2" };
        let all = format!(
            "quietus release {words} --range x=0,10 --k {k} --epsilon 1 --delta 1e-6 --simulations 1 {uncounted} --data {data} --out {out}"
        );
        let Command::Release { family } = Cli::parse_from(all.split_whitespace()).command else {
            unreachable!("a release");
        };
        let claimed = claimed(&family);
        for _ in 0..effort.of(12, 400) {
            let others: Vec<Vec<u8>> =
                ["1", "2", "3"].map(|who| odd_or_plain("x,who", who, false, &mut rng)).into();
            // Who joins is one record however many rows they have, where the command says whose they are.
            let most = if words.contains("--person") { 4 } else { 1 };
            let odd = |rng: &mut ChaCha20Rng| -> Vec<u8> {
                let number = rng.random_range(1..=most);
                (0..number).flat_map(|_| odd_or_plain("x,who", "new", true, rng)).collect()
            };
            let (own, changed) = match neighbour {
                Neighbour::Joins => (None, odd(&mut rng)),
                Neighbour::Changes => (Some(odd(&mut rng)), odd(&mut rng)),
                Neighbour::Moves(far) => {
                    let from = rng.random_range(-1.0..11.0);
                    let to: f64 = from + far * [-1.0, 1.0, 0.5][rng.random_range(0..3)];
                    let row = |x: f64| format!("{x},new\n").into_bytes();
                    (Some(row(from)), row(to))
                }
            };
            let place = rng.random_range(0..=others.len());
            let rows = |own: Option<&Vec<u8>>| {
                let mut rows = others.clone();
                rows.splice(place..place, own.cloned());
                rows
            };
            let (before, after) = (rows(own.as_ref()), rows(Some(&changed)));
            let text = |rows: &Vec<Vec<u8>>| [b"x,who\n".to_vec(), rows.concat()].concat();
            let run = |rows: &Vec<Vec<u8>>, source: &mut dyn Source| {
                fs::write(home.path().join("p.csv"), text(rows)).expect("a folder of our own");
                files_of(home.path(), released(home.path(), &family, source))
            };
            let neighbours = match neighbour {
                Neighbour::Joins => Neighbours::of_records(AddRemove, Vec::clone),
                Neighbour::Changes => Neighbours::of_records(ReplaceOne, Vec::clone),
                Neighbour::Moves(far) => {
                    Neighbours::of_records(Within::new(far).expect("above 0"), Vec::clone)
                }
            };
            let mut source = SecureSource::new(&mut rng);
            let comparison = compare(&neighbours, run, &before, &after, &mut source);
            let share = comparison.rho() / claimed;
            found.see(share, || format!("{words}: {:?}", String::from_utf8_lossy(&text(&after))));
        }
    }
    found
}

fn released(home: &Path, family: &Family, source: &mut dyn Source) -> Result<Said, Error> {
    let (gate, draw) = (Gate::default(), Replayed(source));
    match family {
        Family::Map(args) if args.passes.out_of_core => {
            crate::passes::release(home, family, draw.0)
        }
        Family::Map(args) => release_map(args, &gate, &RealDisk, draw),
        Family::Cluster(args) => release_cluster(args, &gate, &RealDisk, draw),
        other => unreachable!("{other:?} is no map and no clusters"),
    }
}

/// What a command may lose, as zCDP.
fn claimed(family: &Family) -> f64 {
    let claimed = match family {
        Family::Map(args) => match map_plan(args).expect("valid") {
            AnyMap::AddRemove(plan) => plan.receipt().zcdp(),
            AnyMap::ReplaceOne(plan) => plan.receipt().zcdp(),
            AnyMap::Within(plan) => plan.receipt().zcdp(),
        },
        Family::Cluster(args) => match cluster_plan(args).expect("valid") {
            AnyClusters::AddRemove(plan) => plan.receipt().zcdp(),
            AnyClusters::Within(plan) => plan.receipt().zcdp(),
        },
        other => unreachable!("{other:?} is no map and no clusters"),
    };
    claimed.expect("Gaussian, or pure").get()
}
