//! Maps from file to files, under each relation that they can be asked for.

use crate::commands::{files_of, named, odd_or_plain};
use clap::Parser;
use dp_accounting::{AddRemove, ReplaceOne, Within};
use dp_audit::harness::{Check, Effort, Found};
use dp_audit::{Method as By, Neighbours, compare};
use dp_cluster::Points;
use dp_cluster::map::ReleasedMap;
use dp_mechanism::{ChaCha20Rng, Mechanism, SecureSource, Source};
use quietus::cli::{Cli, Command, Family};
use quietus::map::{AnyMap, DrawMap, Hides, MapPlan, map_plan, release_map};
use quietus::{Gate, RealDisk};
use rand::RngExt;
use std::fs;

pub(crate) fn checks() -> Vec<Check> {
    let check = |id, relation, ways: &'static [&str], neighbour| {
        let what = named("MapPlan, from file to files", ways.iter().copied());
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

struct Replayed<'a>(&'a mut dyn Source);

impl DrawMap for Replayed<'_> {
    fn draw<R: Hides>(self, plan: &MapPlan<R>, places: &Points) -> ReleasedMap {
        plan.replay(places.view(), self.0).0
    }
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
        let all = format!(
            "quietus release {words} --range x=0,10 --k 1,2 --epsilon 1 --delta 1e-6 --simulations 1 {uncounted} --data {data} --out {out}"
        );
        let Command::Release { family } = Cli::parse_from(all.split_whitespace()).command else {
            unreachable!("a release");
        };
        let Family::Map(args) = &family else { unreachable!("a map") };
        let claimed = match map_plan(args).expect("valid") {
            AnyMap::AddRemove(plan) => plan.receipt().zcdp(),
            AnyMap::ReplaceOne(plan) => plan.receipt().zcdp(),
            AnyMap::Within(plan) => plan.receipt().zcdp(),
        };
        let claimed = claimed.expect("Gaussian").get();
        for _ in 0..effort.of(12, 400) {
            let others: Vec<Vec<u8>> =
                ["1", "2", "3"].map(|who| odd_or_plain("x,who", who, false, &mut rng)).into();
            // Who joins is one record however many rows they have, where the command says whose they are.
            let most = if args.person.is_some() { 4 } else { 1 };
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
                let said = if args.passes.out_of_core {
                    crate::passes::release(home.path(), &family, source)
                } else {
                    release_map(args, &Gate::default(), &RealDisk, Replayed(source))
                };
                files_of(home.path(), said)
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
