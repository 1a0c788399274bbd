//! Arguments that make no sense, at every flag of every family: each is refused or planned, without a panic, and what is refused is named.
#![allow(clippy::unwrap_used, reason = "tests")]

use clap::Parser;
use quietus::cli::{Cli, Command};
use quietus::plan;

/// Of each family the flags that a plan needs, with their values.
const FAMILIES: [&str; 12] = [
    "count --by a --groups x,y --epsilon 1",
    "histogram --of b --bounds 0,10 --bins 3 --by a --groups x,y --epsilon 1",
    "mean --of b --bounds 0,10 --rows 100 --by a --groups x --epsilon 1",
    "census --regions REGIONS --groups 20 --largest 3 --epsilon 1 --shares equal --most-quantity 1",
    "cluster --range b=0,9 --range c=-5,1e9 --k 2 --rows 100 --outside 0.1 --epsilon 1 --delta 1e-6",
    "cluster --range b=0,9 --at-most 5 --method private-kmeans --rows 100 --epsilon 1 --delta 1e-6",
    "cluster --range b=0,9 --range c=0,9 --within 3 --rows 20 --k 2 --method nearby-kmeans --epsilon 1 --delta 1e-6 --unscaled",
    "top --person a --item b --items x,y,z --epsilon 1",
    "items --user a --item b --time c --items x,y,z --from 0 --step 1 --steps 4 --reports-per-user 4 --epsilon 4",
    "map --range b=0,9 --range c=0,9 --unit m --within 3 --rows 20 --k 2 --epsilon 1 --delta 1e-6",
    "coverage --k 1 --person a --set b --sets x,y --epsilon 1",
    "cover --k 1 --person a --set b --sets x,y --epsilon 1",
];

const ODD: [&str; 16] = [
    "",
    "NaN",
    "inf",
    "-1",
    "0",
    "1e999",
    "99999999999999999999",
    "1000000",
    "-0.0",
    "0.999999",
    "x,x",
    "x",
    "b=5,1",
    "b=0,0",
    "3,3",
    "2024-01-01,2023-01-01",
];

#[test]
fn what_makes_no_sense_is_refused_by_name_and_never_a_panic() {
    let home = tempfile::tempdir().unwrap();
    let regions = home.path().join("regions.csv");
    std::fs::write(&regions, "region,parent\nUS,\nGA,US\nAL,US\n").unwrap();
    let (mut refused, mut planned, mut unclear) = (0, 0, Vec::new());
    for family in FAMILIES {
        let good: Vec<String> = family
            .replace("REGIONS", regions.to_str().unwrap())
            .split(' ')
            .map(str::to_owned)
            .collect();
        let run = |words: &[String]| {
            let all = ["quietus", "plan"].into_iter().chain(words.iter().map(String::as_str));
            match Cli::try_parse_from(all) {
                // In the words of the parser, over several lines.
                Err(error) => Err((error.to_string(), false)),
                Ok(Cli { command: Command::Plan { family } }) => {
                    plan(&family).map_err(|error| (error.to_string(), true))
                }
                Ok(other) => panic!("{other:?}"),
            }
        };
        assert!(run(&good).is_ok(), "{good:?}: {:?}", run(&good));
        for place in (2..good.len()).step_by(2) {
            for odd in ODD {
                let mut words = good.clone();
                words[place] = odd.to_owned();
                match run(&words) {
                    Ok(text) => {
                        planned += 1;
                        if text.contains("NaN") {
                            unclear.push(format!("{}: {text}", words.join(" ")));
                        }
                    }
                    Err((error, ours)) => {
                        refused += 1;
                        // The parser names what it does not take in words of its own.
                        let flags = words.iter().filter(|word| word.starts_with("--"));
                        let named = flags.into_iter().any(|flag| error.contains(&flag[2..]));
                        let fine =
                            !ours || (named || error.contains(odd)) && error.lines().count() == 1;
                        if !fine {
                            unclear.push(format!("{}: {error}", words.join(" ")));
                        }
                    }
                }
            }
        }
    }
    assert!(unclear.is_empty(), "{unclear:#?}");
    assert!(refused >= 200 && planned > 20, "{refused} refused, {planned} planned");
}
