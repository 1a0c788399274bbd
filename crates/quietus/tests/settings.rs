//! Plans in files that somebody has changed: each value of the plan of each family becomes another that makes no sense, and the plan is read, or
//! refused in a line; nothing panics, and nothing takes memory for a number.
#![allow(clippy::unwrap_used, reason = "a panic is how a test fails, in its helpers too")]

use clap::Parser;
use dp_accounting::{AddRemove, ReplaceOne, Within};
use dp_census::{Census, From0};
use dp_mechanism::Mechanism;
use peak_alloc::PeakAlloc;
use quietus::cli::{Cli, Command};
use quietus::cluster::ClusterPlan;
use quietus::groups::GroupPlan;
use quietus::items::ItemsPlan;
use quietus::locate::LocatePlan;
use quietus::map::MapPlan;
use quietus::sets::SetPlan;
use quietus::top::TopPlan;
use quietus::{Gate, RealDisk, release, run_ledger};
use serde::de::DeserializeOwned;
use serde_json::{Value, json};
use std::fmt::Display;
use std::fs;

#[global_allocator]
static ALLOCATOR: PeakAlloc = PeakAlloc;

/// A plan takes less, whatever is asked of it.
const MOST_MEMORY: usize = 64 << 20;

/// Of a release of this file, the plan as it is kept.
fn planned(words: &str) -> Value {
    let home = tempfile::tempdir().unwrap();
    let path = |name: &str| home.path().join(name).to_str().unwrap().to_owned();
    fs::write(path("p.csv"), "a,b,c\nx,1,2\ny,2,3\nz,2,5\n").unwrap();
    fs::write(path("places.csv"), "place,e,n\nx,0,0\ny,3,4\nz,5,5\n").unwrap();
    fs::write(path("regions.csv"), "region,parent\nUS,\nGA,US\nAL,US\n").unwrap();
    fs::write(path("table.csv"), "region,size,groups\nGA,1,2\nAL,2,1\n").unwrap();
    let words = words.replace("PLACES", &path("places.csv"));
    let words = words.replace("REGIONS", &path("regions.csv")).replace("TABLE", &path("table.csv"));
    let data = if words.starts_with("census") {
        String::new()
    } else {
        format!("--data {}", path("p.csv"))
    };
    let ledger = if words.starts_with("items") {
        let new = format!("quietus ledger new {} --dataset d --epsilon 9", path("ledger"));
        let Command::Ledger { command } = Cli::parse_from(new.split_whitespace()).command else {
            unreachable!("it is about a ledger")
        };
        run_ledger(&command, &RealDisk).unwrap();
        format!("--ledger {}", path("ledger"))
    } else {
        "--no-ledger".to_owned()
    };
    let files = format!("{data} --out {} {ledger}", path("out"));
    let words = format!("quietus release {words} {files}");
    let Command::Release { family } = Cli::parse_from(words.split_whitespace()).command else {
        unreachable!("it is a release")
    };
    release(&family, &Gate::default(), &RealDisk).unwrap();
    serde_json::from_str(&fs::read_to_string(path("out/plan.json")).unwrap()).unwrap()
}

/// What each value may become.
fn odd() -> Vec<Value> {
    vec![
        Value::Null,
        json!(true),
        json!(0),
        json!(-1),
        json!(1),
        json!(0.5),
        json!(-0.0),
        json!(1e-320),
        json!(1e308),
        json!(u64::MAX),
        json!(i64::MIN),
        json!(1_u64 << 40),
        json!(""),
        json!("NaN"),
        json!("x"),
        json!([]),
        json!([1, 1]),
        json!(["x", "x"]),
        json!({}),
    ]
}

/// Every value with its way from the top.
fn ways(value: &Value, way: &str, all: &mut Vec<String>) {
    all.push(way.to_owned());
    match value {
        Value::Object(map) => map.iter().for_each(|(name, value)| {
            ways(value, &format!("{way}/{name}"), all);
        }),
        Value::Array(list) => list.iter().enumerate().for_each(|(at, value)| {
            ways(value, &format!("{way}/{at}"), all);
        }),
        _ => {}
    }
}

/// How many are refused and how many are read, with all that a plan says of itself before it sees a record.
fn changed<P: DeserializeOwned>(words: &str, says: impl Fn(&P) -> String) -> (usize, usize) {
    let good = planned(words);
    assert!(!says(&serde_json::from_value(good.clone()).unwrap()).is_empty(), "{words}");
    let (mut all, mut counts) = (Vec::new(), (0, 0));
    ways(&good, "", &mut all);
    for way in all {
        for odd in odd() {
            let mut plan = good.clone();
            *plan.pointer_mut(&way).unwrap() = odd.clone();
            let before = ALLOCATOR.current_usage();
            ALLOCATOR.reset_peak_usage();
            // From text, as a file is: errors have no line breaks, and no number is one that JSON cannot have.
            match serde_json::from_str::<P>(&plan.to_string()) {
                Ok(plan) => {
                    assert!(!says(&plan).contains("NaN"), "{way} = {odd}");
                    counts.1 += 1;
                }
                Err(error) => {
                    assert!(error.to_string().lines().count() == 1, "{way} = {odd}: {error}");
                    counts.0 += 1;
                }
            }
            let used = ALLOCATOR.peak_usage().saturating_sub(before);
            assert!(used < MOST_MEMORY, "{way} = {odd} takes {used} bytes");
        }
    }
    counts
}

fn of<P: DeserializeOwned, R: Display>(words: &str, receipt: impl Fn(&P) -> R) -> (usize, usize) {
    changed(words, |plan| receipt(plan).to_string())
}

#[test]
fn plans_with_any_other_value_are_read_or_refused() {
    let counts = [
        of("count --by a --groups x,y --epsilon 1", GroupPlan::receipt),
        of("histogram --of b --bounds 0,10 --bins 3 --epsilon 1", GroupPlan::receipt),
        of(
            "mean --of b --bounds 0,10 --rows 100 --by a --groups x --epsilon 1",
            GroupPlan::receipt,
        ),
        of(
            "cluster --range b=0,9 --range c=-5,1e9 --k 2 --rows 100 --outside 0.1 --simulations 1 --epsilon 1 --delta 1e-6",
            ClusterPlan::<AddRemove>::receipt,
        ),
        of(
            "cluster --range b=0,9 --at-most 5 --rows 100 --simulations 1 --epsilon 1 --delta 1e-6",
            ClusterPlan::<AddRemove>::receipt,
        ),
        of(
            "cluster --range b=0,9 --method lloyd --k 2 --simulations 1 --epsilon 1",
            ClusterPlan::<AddRemove>::receipt,
        ),
        of(
            "cluster --range b=0,9 --range c=0,9 --unscaled --within 0.5 --rows 3 --k 2 --simulations 1 --epsilon 1 --delta 1e-6",
            ClusterPlan::<Within>::receipt,
        ),
        of(
            "map --range b=0,9 --range c=0,9 --unit m --k 2 --simulations 1 --epsilon 1 --delta 1e-6",
            MapPlan::<AddRemove>::receipt,
        ),
        of(
            "map --range b=0,9 --range c=0,9 --unit m --replace-one --rows 3 --k 2 --simulations 1 --epsilon 1 --delta 1e-6",
            MapPlan::<ReplaceOne>::receipt,
        ),
        of("top --person a --item b --items 1,2,3 --epsilon 1", TopPlan::receipt),
        of("coverage --k 1 --person a --set b --sets 1,2 --epsilon 1", SetPlan::receipt),
        of("cover --k 1 --person a --set b --sets 1,2 --epsilon 1", SetPlan::receipt),
        of(
            "items --user a --item b --time c --items 1,2,3 --from 0 --step 1 --until 4 --steps 9 --reports-per-user 2 --epsilon 4",
            ItemsPlan::receipt,
        ),
        of(
            "census --regions REGIONS --table TABLE --groups 3 --largest 3 --epsilon 1",
            Census::<From0>::receipt,
        ),
        of(
            "locate --places PLACES --at e,n --k 1 --rows 4 --place a --epsilon 1",
            LocatePlan::receipt,
        ),
    ];
    let (refused, read) = counts.iter().fold((0, 0), |sum, one| (sum.0 + one.0, sum.1 + one.1));
    assert!(refused > 1_500 && read > 100, "{counts:?}");
}
