//! Maps under a distance.

use super::Home;
use std::fs;

const MAP: &str = "release map --data p.csv --range east=0,40 --range north=0,40 --unit km --k 2 --delta 1e-6 --simulations 2";

fn with_places() -> Home {
    let home = Home::new();
    let row = |i: u32| format!("{},{}\n", [8, 31][i as usize % 2], 20 + i * 7 % 3);
    let rows: String = (0..2_000).map(row).collect();
    home.write("p.csv", format!("east,north\n{rows}").as_bytes());
    home
}

/// An empty place in the only column is a blank line, which no reader of text counts: it may not decide whether there is a release.
#[test]
fn a_file_of_one_column_whose_number_of_rows_is_public_is_refused_whatever_it_holds() {
    let home = Home::new();
    let words = "release map --data p.csv --range x=0,10 --unit m --within 2 --rows 3 --k 1 --delta 1e-6 --epsilon 1 --out out --no-ledger";
    let refused = ["x\n1\n2\n3\n", "x\n1\n\n3\n"].map(|text| {
        home.write("p.csv", text.as_bytes());
        home.refused(words)
    });
    assert!(refused[0].contains("two columns") && refused[0] == refused[1], "{refused:?}");
}

/// Two towns; where anybody is, is hidden to within two kilometres.
#[test]
fn a_map_says_in_metres_what_is_hidden_and_its_centres_are_where_people_are() {
    let home = with_places();
    let said =
        home.ok(&format!("{MAP} --within 2000 --rows 2000 --epsilon 0.5 --out out --no-ledger"));
    assert!(
        said.contains("to within 2000 metres") && said.contains("Not hidden: that somebody is"),
        "{said}"
    );
    let table = fs::read_to_string(home.path("out/centres.csv")).unwrap();
    for line in table.lines().skip(1) {
        let cells: Vec<&str> = line.split(',').collect();
        let [count, east, north] = [2, 7, 11].map(|cell| cells[cell].parse::<f64>().unwrap());
        let near = (east - 8.0).abs().min((east - 31.0).abs());
        assert!(near < 1.0 && (north - 21.0).abs() < 1.0, "{table}");
        assert!((count - 1_000.0).abs() < 100.0 && cells[6] == "yes", "{table}");
    }
    home.ok("verify out");
    let map = fs::read_to_string(home.path("out/map.csv")).unwrap();
    assert!(map.starts_with("east,north,records\n") && map.lines().count() > 2);
    let plan = home
        .ok(&format!("{MAP} --within 2000 --rows 2000 --accuracy 2").replace("release", "plan"));
    assert!(plan.starts_with("Epsilon ") && plan.contains("2 records at most"), "{plan}");
}

#[test]
fn distances_that_hide_nothing_and_degrees_are_refused_by_name() {
    let home = with_places();
    let refused = |words: &str| home.refused(&format!("{words} --epsilon 1 --out out --no-ledger"));
    for metres in ["0", "-1", "NaN", "inf"] {
        let error = refused(&format!("{MAP} --within {metres} --rows 2000"));
        assert!(error.contains("--within must be metres, finite and above 0"), "{error}");
    }
    let error = refused(&MAP.replace("--unit km", "--unit degrees"));
    assert!(error.contains("degrees are none"), "{error}");
    let error = refused(&MAP.replace("north=0,40", "Longitude=0,40"));
    assert!(error.contains("`Longitude`") && error.contains("degrees are none"), "{error}");
    let error = refused(&format!("{MAP} --within 500"));
    assert!(error.contains("--rows"), "{error}");
    for (relation, rows) in [("--within 500", 1_999), ("--replace-one", 2_001)] {
        let error = refused(&format!("{MAP} {relation} --rows {rows}"));
        assert!(error.contains(&rows.to_string()) && error.contains("2000"), "{error}");
    }
    assert!(home.folders().is_empty());
}

#[test]
fn a_ledger_of_one_distance_takes_a_larger_one_only_in_so_many_words() {
    let home = with_places();
    let show = home.ok("ledger new data.ledger --dataset p --within 500 --epsilon 2 --delta 1e-5");
    assert!(show.contains("within 500 metres"), "{show}");
    let words = format!("{MAP} --rows 2000 --epsilon 0.5 --ledger data.ledger");
    let error = home.refused(&format!("{words} --within 800 --out out"));
    assert!(error.contains("distance 500") && error.contains("800"), "{error}");
    let error = home.refused(&format!("{words} --within 300 --charge-within 500 --out out"));
    assert!(error.contains("--charge-within"), "{error}");
    home.refused(&format!("{words} --replace-one --out out"));
    assert_eq!(home.intents(), 0);
    let said = home.ok(&format!("{words} --within 800 --charge-within 500 --out out"));
    assert!(said.contains("to within 800 metres") && said.contains("under within 500"), "{said}");
    home.ok(&format!("{words} --within 500 --out other"));
    for out in ["out", "other"] {
        home.ok(&format!("verify {out} --ledger data.ledger"));
    }
    assert!(home.ok("ledger show data.ledger").contains("spent: epsilon"));
}
