//! Maps and clusters under a distance.

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
    for family in ["map --unit m", "cluster --unscaled"] {
        let words = format!(
            "release {family} --data p.csv --range x=0,10 --within 2 --rows 3 --k 1 --delta 1e-6 --epsilon 1 --out out --no-ledger"
        );
        let refused = ["x\n1\n2\n3\n", "x\n1\n\n3\n"].map(|text| {
            home.write("p.csv", text.as_bytes());
            home.refused(&words)
        });
        assert!(refused[0].contains("two columns") && refused[0] == refused[1], "{refused:?}");
    }
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

const CLUSTERS: &str = "release cluster --data p.csv --unscaled --k 2 --delta 1e-6 --rows 2000";

/// Of two dimensions from a map, of four from noised points; where that is too much noise, by hiding whole points.
#[test]
fn clusters_say_what_is_hidden_up_to_a_distance_and_centres_are_where_points_are() {
    let home = Home::new();
    // Two clusters, of 8 and 32 in each column.
    let cell = |i: u32, of: u32| 24 * (i % 2) + 7 + i * (1 + of % 2) % 3;
    let row = |i: u32| [0, 1, 2, 3].map(|of| cell(i, of).to_string()).join(",") + "\n";
    let rows: String = (0..2_000).map(row).collect();
    home.write("p.csv", format!("a,b,c,d\n{rows}").as_bytes());
    home.ok("ledger new data.ledger --dataset p --within 0.25 --epsilon 4 --delta 1e-5");
    for (columns, within, way, ledger, off) in [
        ("ab", 0.25, "map", "--ledger data.ledger", 50.0),
        ("abcd", 0.25, "noised points and soft", "--ledger data.ledger", 50.0),
        // The standard error of these counts is 107.
        ("abcd", 30.0, "whole records hidden", "--no-ledger", 600.0),
    ] {
        let range = |name: char| format!("--range {name}=0,40");
        let ranges = columns.chars().map(range).collect::<Vec<_>>().join(" ");
        let out = format!("out{}{within}", columns.len());
        let words = format!("{CLUSTERS} {ranges} --within {within} --epsilon 1 --simulations 4");
        let said = home.ok(&format!("{words} --out {out} {ledger}"));
        let hidden = format!("where anybody is, to within {within} in the unit of the columns");
        assert!(said.contains(&hidden) && said.contains(way), "{said}");
        assert!(said.contains("Not hidden: that somebody is in the file"), "{said}");
        home.ok(&format!("verify {out} {}", ledger.replace("--no-ledger", "")));
        let table = fs::read_to_string(home.path(&out).join("centres.csv")).unwrap();
        assert!(home.path(&out).join("centres.svg").exists() && table.lines().count() == 3);
        for line in table.lines().skip(1) {
            let cells: Vec<f64> =
                line.replace("yes", "1").split(',').map(|cell| cell.parse().unwrap()).collect();
            assert!((cells[1] - 1_000.0).abs() < off && cells[5] > 0.5, "{table}");
            for at in cells[6..].chunks(4) {
                let far = (at[0] - 8.0).abs().min((at[0] - 32.0).abs());
                assert!(far < 1.0 && 0.0 < at[1] && at[1] < 1.0, "{table}");
                assert!(at[2] < at[0] && at[0] < at[3], "{table}");
            }
        }
        let plan = home.ok(&words.replace("release", "plan"));
        assert!(plan.contains(way) && plan.contains(&hidden), "{plan}");
        let check = home.ok(&words.replace("release", "check").replace("2000", "1999"));
        assert!(
            check.starts_with("PRIVATE: ") && check.contains("--rows must be 2000."),
            "{check}"
        );
    }
    // Whoever hides more hides less too, if that is said.
    let words =
        format!("{CLUSTERS} --range a=0,40 --range b=0,40 --epsilon 1 --simulations 1 --out more");
    let said = home.ok(&format!("{words} --within 0.5 --charge-within 0.25 --ledger data.ledger"));
    assert!(said.contains("to within 0.5 in") && said.contains("under within 0.25"), "{said}");
    home.ok("verify more --ledger data.ledger");
    let show = home.ok("ledger show data.ledger");
    assert!(show.contains("within 0.25 metres, or units of the columns"), "{show}");
}

/// Before anything is spent, and by the name of the flag.
#[test]
fn clusters_without_a_distance_in_one_unit_or_of_other_rows_are_refused() {
    let home = with_places();
    home.ok("ledger new data.ledger --dataset p --within 0.5 --epsilon 2 --delta 1e-5");
    let good = format!(
        "{CLUSTERS} --range east=0,40 --range north=0,40 --within 0.5 --epsilon 1 --simulations 1 --out out --ledger data.ledger"
    );
    for (from, to, want) in [
        ("--within 0.5", "--within 0", "--within must be a distance in the unit of the columns"),
        ("--within 0.5", "--within -1", "--within must be a distance in the unit of the columns"),
        ("--within 0.5", "--within NaN", "--within must be a distance in the unit of the columns"),
        ("--unscaled", "", "--within must be said with --unscaled"),
        ("east=0,40", "Longitude=0,40", "degrees are none"),
        ("--rows 2000", "", "--rows must be the public number of rows"),
        ("--rows 2000", "--rows 1999", "1999"),
        ("--rows 2000", "--rows 2001", "2001"),
        ("--k 2", "", "--k must be the number of clusters"),
        ("--k 2", "--at-most 2", "--at-most must be asked of private-kmeans"),
        ("--k 2", "--k 2 --person north", "--person must be left out with --within"),
        ("--k 2", "--k 2 --method dpm", "--method must be left out with --within"),
        ("--k 2", "--k 2 --out-of-core", "--out-of-core must be used with `map`"),
        ("--k 2", "--k 2 --from-tables t.csv", "--from-tables must be used with `map`"),
        ("--k 2", "--k 2 --explain-sql", "--explain-sql must be used with `map`"),
        ("--within 0.5", "--within 0.7", "distance 0.5"),
        ("--within 0.5", "--within 0.4 --charge-within 0.5", "--charge-within"),
        ("--within 0.5", "--within 0.7 --charge-within NaN", "--charge-within must be a distance"),
        ("--within 0.5", "--within 0.7 --charge-within 0.6", "distance 0.5"),
        ("--within 0.5", "", "--method must be another one without --within"),
    ] {
        let method =
            if to.is_empty() && from == "--within 0.5" { "--method nearby-kmeans" } else { "" };
        let error = home.refused(&format!("{} {method}", good.replace(from, to)));
        assert!(error.contains(want), "{to}: {error}");
    }
    assert!(home.intents() == 0 && home.folders().is_empty());
    home.ok(&good);
    home.ok("verify out --ledger data.ledger");
}
