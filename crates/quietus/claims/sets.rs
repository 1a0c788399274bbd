//! Sets that serve people, from file to files: who takes part is a secret coin, so laws are compared and not transcripts.

use crate::commands::{Seen, files_of, named, odd_or_plain};
use clap::Parser;
use dp_accounting::AddRemove;
use dp_audit::harness::{Check, Effort, Found};
use dp_audit::{Law, Method as By, Window, exact_law};
use dp_mechanism::{Mechanism, Source};
use quietus::cli::{Cli, Command};
use quietus::sets::release_sets;
use quietus::{Gate, RealDisk, set_args};
use rand::RngExt;
use std::fs;

pub(crate) fn checks() -> Vec<Check> {
    let what = named("SetPlan, the command from file to files", WAYS);
    vec![Check::new("quietus-set-command", what, "add-remove", By::Exact, on_files)]
}

const WAYS: [&str; 4] = [
    "cover --sets A,B",
    "cover --k 1 --sets A,B",
    "coverage --k 1 --sets A,B,C",
    "coverage --k 2 --sets A,B",
];

fn on_files(effort: Effort) -> Found {
    let mut rng = effort.rng(100);
    let mut found = Found::claim(1.0);
    let home = tempfile::tempdir().expect("a place for files");
    let at = |name: &str| home.path().join(name).to_str().expect("Unicode").to_owned();
    for words in WAYS {
        let (data, out) = (at("p.csv"), at("out"));
        let all = format!(
            "quietus release {words} --person who --set town --epsilon 1 --no-ledger --data {data} --out {out}"
        );
        let Command::Release { family } = Cli::parse_from(all.split_whitespace()).command else {
            unreachable!("a release");
        };
        let (args, aim) = set_args(&family);
        for _ in 0..effort.of(4, 100) {
            let other = odd_or_plain("who,town", "1", false, &mut rng);
            let own: Vec<Vec<u8>> = (0..rng.random_range(1..4))
                .map(|_| odd_or_plain("who,town", "new", true, &mut rng))
                .collect();
            let law = |own: &[Vec<u8>]| -> Law<Seen> {
                // Whoever comes first is a record like any other.
                let (first, rest) = own.split_at(own.len().min(1));
                let text = [&b"who,town\n"[..], &first.concat(), &other, &rest.concat()].concat();
                fs::write(home.path().join("p.csv"), text).expect("a folder of our own");
                exact_law(Window::none(), |source: &mut dyn Source| {
                    let said =
                        release_sets(args, aim, &Gate::default(), &RealDisk, |plan, people| {
                            plan.replay(people, source).0
                        });
                    files_of(home.path(), said)
                })
                .under(AddRemove)
            };
            let (before, after) = (law(&[]), law(&own));
            let loss = before.pure_loss(&after).max(after.pure_loss(&before));
            found.see(loss, || format!("{words}: {:?}", String::from_utf8_lossy(&own.concat())));
        }
    }
    found
}
