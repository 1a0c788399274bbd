//! What releases find that is there, and say of what is not.

use super::Home;
use rand::rngs::ChaCha20Rng;
use rand::{RngExt, SeedableRng};
use std::fs;

/// Ages and incomes, two groups that differ in age: in one raw box incomes would decide, and both centres be at one age.
#[test]
fn clusters_are_found_in_scaled_columns_and_come_back_in_their_units() {
    let home = Home::new();
    let row = |i: u32| format!("{},{}\n", [20, 70][i as usize % 2], 30_000 + i * 7 % 900);
    let rows: String = (0..20_000).map(row).collect();
    home.write("p.csv", format!("age,income\n{rows}").as_bytes());
    let words = "--range age=0,100 --range income=0,200000 --k 2 --rows 20000 --simulations 4 --epsilon 1 --delta 1e-6 --data p.csv";
    home.ok(&format!("release cluster {words} --out out --no-ledger"));
    let table = fs::read_to_string(home.path("out/centres.csv")).unwrap();
    let mut centres: Vec<Vec<f64>> = table
        .lines()
        .skip(1)
        .map(|line| line.replace("yes", "1").split(',').map(|cell| cell.parse().unwrap()).collect())
        .collect();
    centres.sort_by(|a, b| a[6].total_cmp(&b[6]));
    assert_eq!(centres.len(), 2, "{table}");
    // The centres' noise has a standard deviation of a few hundredths of a year; counts of some ten.
    for (centre, age) in centres.iter().zip([20.0, 70.0]) {
        assert!((centre[6] - age).abs() < 2.0 && (centre[1] - 10_000.0).abs() < 1_000.0, "{table}");
        assert!((centre[10] - 30_450.0).abs() < 4_000.0, "{table}");
        let [error, low, high] = [7, 8, 9].map(|column| centre[column]);
        assert!(0.0 < error && error < 2.0 && low < centre[6] && centre[6] < high, "{table}");
        assert!(centre[5] > 0.5 && centre[3] < centre[1] && centre[1] < centre[4], "{table}");
    }
    let text =
        home.ok(&format!("check cluster {words}").replace("income=0,200000", "income=0,1000"));
    assert!(text.starts_with("PRIVATE: ") && text.contains("outside in `income`"), "{text}");
    let plan = home.ok(&format!("plan cluster {words}"));
    assert!(plan.contains("excess"), "{plan}");
    let plan = home.ok(&format!("plan cluster {words}").replace("--epsilon 1", "--accuracy 0.01"));
    assert!(plan.starts_with("Epsilon 0.") && plan.contains("0.01 at most"), "{plan}");
    home.ok("verify out");
    assert!(!home.path("out/outside.csv").exists(), "nobody paid for it");

    let words = words.replace("age=0,100", "age=0,50") + " --outside 0.2";
    home.ok(&format!("release cluster {words} --out paid --no-ledger"));
    let outside = fs::read_to_string(home.path("paid/outside.csv")).unwrap();
    let cells: Vec<&str> = outside.lines().nth(1).unwrap().split(',').collect();
    assert!(
        cells[0] == "age" && (cells[1].parse::<f64>().unwrap() - 10_000.0).abs() < 300.0,
        "{outside}"
    );
    home.ok("verify paid");

    // As many as there are, also where nobody says how many to look for: of clusters that are about round and normal, which these were not.
    let mut coins = ChaCha20Rng::seed_from_u64(1);
    let mut sum = || (0..4).map(|_| coins.random::<f64>()).sum::<f64>();
    let mut row = |i: u32| {
        let (age, income) = (sum(), sum());
        format!("{},{}\n", [20.0, 35.0][i as usize % 2] + 2.0 * age, 30_000.0 + 8_000.0 * income)
    };
    let rows: String = (0..20_000).map(&mut row).collect();
    home.write("p.csv", format!("age,income\n{rows}").as_bytes());
    for (most, out) in [("", "found"), ("--at-most 6", "of-six")] {
        let words = words.replace("--k 2", most);
        home.ok(&format!("release cluster {words} --out {out} --no-ledger"));
        let table = fs::read_to_string(home.path(out).join("centres.csv")).unwrap();
        // In one of a hundred releases there is one more: one of them is two, or it is noise and says so.
        assert!([3, 4].contains(&table.lines().count()), "{table}");
        let found = table.lines().filter(|line| line.split(',').nth(5) == Some("yes")).count();
        assert!(found >= 2, "{table}");
        home.ok(&format!("verify {out}"));
    }
    for wrong in ["--k 2 --at-most 3", "--at-most 3 --method dpm", "--at-most 0"] {
        home.refused(&format!("plan cluster {}", words.replace("--k 2", wrong)));
    }
}

/// Noise alone makes centres too; they are said to be that.
#[test]
fn centres_of_nobody_have_no_signal() {
    let home = Home::new();
    home.write("p.csv", b"x\n3\n");
    home.ok("release cluster --range x=0,10 --k 3 --epsilon 0.5 --delta 1e-6 --data p.csv --simulations 8 --out out --no-ledger");
    let table = fs::read_to_string(home.path("out/centres.csv")).unwrap();
    assert!(table.lines().skip(1).all(|line| line.split(',').nth(5) == Some("no")), "{table}");
}

/// Three clinics that everybody can reach one of, and many that hardly anybody can.
#[test]
fn sets_that_serve_and_places_near_people_are_found() {
    let home = Home::new();
    let row = |i: usize| format!("{i},{}\n{i},few{}\n", ["A", "B", "C"][i % 3], i % 30);
    let rows: Vec<String> = (0..900).map(row).collect();
    home.write("p.csv", format!("person,set\n{}", rows.concat()).as_bytes());
    let names: Vec<String> = (0..30).map(|i| format!("few{i}\n")).collect();
    home.write("sets.csv", format!("set\n{}A\nB\nC\n", names.concat()).as_bytes());
    let words = "--sets-from sets.csv --data p.csv --epsilon 2";
    for release in ["cover", "cover --k 3", "coverage --k 3"] {
        let out = release.replace(' ', "");
        let said = home.ok(&format!("release {release} {words} --out {out} --no-ledger"));
        assert!(said.contains("persons fewer than the best"), "{said}");
        home.ok(&format!("verify {out}"));
        let table = fs::read_to_string(home.path(&out).join("sets.csv")).unwrap();
        let mut first: Vec<&str> = table.lines().skip(1).take(3).map(|line| &line[2..]).collect();
        first.sort_unstable();
        assert_eq!(first, ["A", "B", "C"], "{table}");
        assert_eq!(table.lines().count(), if release == "cover" { 34 } else { 4 });
    }
    let check = home.ok(&format!("check cover {words} --column set=person"));
    assert!(
        check.starts_with("PRIVATE: ") && check.contains("1800  left out: of no public set"),
        "{check}"
    );
    let plan = home.ok("plan coverage --k 3 --sets-from sets.csv --data p.csv --accuracy 20");
    assert!(plan.starts_with("Epsilon ") && plan.contains("loses 20 persons at most"), "{plan}");

    let homes: String = (0..2_000).map(|i| ["A\n", "A\n", "D\n", "nowhere\n"][i % 4]).collect();
    home.write("homes.csv", format!("place\n{homes}").as_bytes());
    home.write("places.csv", b"place,km\nA,0\nB,1\nC,6\nD,9\n");
    home.write("roads.csv", b"from,to,length\nA,B,1\nB,C,5\nC,D,3\n");
    let words = "--places places.csv --data homes.csv --k 2 --rows 2000";
    for (distances, out) in [("--at km", "by-km"), ("--roads roads.csv", "by-road")] {
        home.ok(&format!("release locate {words} {distances} --epsilon 1 --out {out} --no-ledger"));
        let table = fs::read_to_string(home.path(out).join("centres.csv")).unwrap();
        let lines: Vec<Vec<&str>> =
            table.lines().skip(1).map(|line| line.split(',').collect()).collect();
        for (line, (name, people)) in lines.iter().zip([("A", 1_000.0), ("D", 500.0)]) {
            let said: f64 = line[1].parse().unwrap();
            assert!(line[0] == name && (said - people).abs() < 30.0 && line[5] == "yes", "{table}");
        }
        home.ok(&format!("verify {out}"));
    }
    let plan = home.ok(&format!("plan locate {words} --at km --accuracy 3"));
    assert!(
        plan.starts_with("Epsilon ") && plan.contains("3 people at most at every place"),
        "{plan}"
    );
    home.refused(&format!("release locate {words} --epsilon 1 --out more --no-ledger"));
    home.write("roads.csv", b"from,to,length\nA,Z,1\n");
    let error = home.refused(&format!("plan locate {words} --roads roads.csv --epsilon 1"));
    assert!(error.contains("line 2") && error.contains("no place `Z`"), "{error}");
}
