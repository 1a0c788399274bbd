//! What is refused before anything is spent.

use super::{COUNT, with_ledger};
use std::fs;

#[test]
fn without_a_ledger_somebody_must_say_so() {
    let home = with_ledger("1");
    let words = COUNT.replace("--ledger data.ledger", "--out out");
    let error = home.refused(&words);
    assert!(error.contains("--no-ledger"), "{error}");
    home.ok(&format!("{words} --no-ledger"));
    let error = home.refused(&format!("{COUNT} --out out"));
    assert!(error.contains("holds a release") && home.intents() == 0, "{error}");
}

/// Words that reach nobody are no success; but who has read enough may stop.
#[cfg(target_os = "linux")]
#[test]
fn words_that_cannot_be_written_are_an_error() {
    let home = with_ledger("1");
    let words =
        ["plan count --epsilon 1", "meaning --epsilon 1 --delta 1e-6", "ledger show data.ledger"];
    for words in words {
        let full = fs::OpenOptions::new().write(true).open("/dev/full").unwrap();
        let output = home.command(words).stdout(full).output().unwrap();
        let error = String::from_utf8(output.stderr).unwrap();
        assert!(!output.status.success() && error.contains("standard output"), "{error}");
        let mut child = home.command(words).spawn().unwrap();
        drop(child.stdout.take());
        assert!(child.wait().unwrap().success(), "{words}");
    }
}

#[cfg(unix)]
#[test]
fn one_file_under_two_names_is_not_public_and_private() {
    let home = with_ledger("1");
    home.write("people.csv", b"group\nA\n");
    fs::hard_link(home.path("people.csv"), home.path("groups.csv")).unwrap();
    let error = home.refused("release count --data people.csv --by group --groups-from groups.csv --epsilon 1 --out out --ledger data.ledger");
    assert!(error.contains("are the same file"), "{error}");
}

#[test]
fn what_is_wrong_with_the_file_is_refused_before_anything_is_spent() {
    let home = with_ledger("1");
    for (content, want) in [
        (&b"city\nA\n"[..], "none is called `town`"),
        (b"", "the file is empty"),
        (b"town\n\"A\n", "none ends it"),
    ] {
        home.write("people.csv", content);
        let error = home.refused(&format!("{COUNT} --out out"));
        assert!(error.contains(want), "{error}");
    }
    fs::remove_file(home.path("people.csv")).unwrap();
    home.refused(&format!("{COUNT} --out out"));
    assert!(home.intents() == 0 && home.folders().is_empty());
}

#[test]
fn a_flag_that_would_do_nothing_is_refused_before_anything_is_spent() {
    let home = with_ledger("1");
    for (flag, want) in [
        ("--column city=town", "no column `city` to call otherwise; these are read: town;"),
        ("--column town=a --column town=b", "`town` is renamed twice"),
        ("--accuracy 3", "--accuracy must be left out"),
    ] {
        let error = home.refused(&format!("{COUNT} --out out {flag}"));
        assert!(error.contains(want), "{error}");
    }
    assert!(home.intents() == 0 && home.folders().is_empty());
}

/// Without its column each row would be another individual.
#[test]
fn a_column_of_persons_that_is_said_to_be_there_must_be() {
    let home = with_ledger("1");
    home.write("regions.csv", b"region,parent\nUS,\nGA,US\nAL,US\n");
    home.write("units.csv", b"unit,region\na,GA\nb,AL\n");
    home.write("people.csv", b"unit,Who\na,x\nb,x\n");
    let check = "check census --regions regions.csv --units units.csv --data people.csv --largest 3 --epsilon 1";
    home.ok(&format!("{check} --column person=Who"));
    let error = home.refused(&format!("{check} --column person=who"));
    assert!(
        error.contains("none is called `who`") && error.contains("--column person="),
        "{error}"
    );
}

#[test]
fn a_release_that_was_changed_is_not_verified() {
    let home = with_ledger("1");
    home.ok(&format!("{COUNT} --out out"));
    home.ok("verify out --ledger data.ledger");
    for (name, from, to) in [
        ("plan.json", "0.1", "0.2"),
        ("receipt.json", "0.1", "0.05"),
        ("release.json", "count", "mean"),
    ] {
        let path = home.path("out").join(name);
        let text = fs::read_to_string(&path).unwrap();
        assert!(text.contains(from), "{text}");
        fs::write(&path, text.replace(from, to)).unwrap();
        home.refused("verify out");
        fs::write(&path, text).unwrap();
    }
    home.ok("ledger new other.ledger --dataset x --epsilon 1");
    let error = home.refused("verify out --ledger other.ledger");
    assert!(error.contains("has not counted it"), "{error}");
}

/// The message names the column and what was given for it, not its place in a box.
#[test]
fn bounds_that_are_none_are_refused_by_the_name_of_their_column() {
    let home = with_ledger("1");
    home.write("people.csv", b"age,cost\n1,2\n");
    for command in ["cluster --k 2", "map --unit m --k 2"] {
        for (ranges, want) in [
            ("--range age=0,9 --range age=0,9", "once for each column, got `age=0,9`"),
            ("--range age=0,9 --range cost=9,0", "the lower one first, got `cost=9,0`"),
            ("--range age=0,9 --range cost=3,3", "the lower one first, got `cost=3,3`"),
            (
                "--range age=0,9 --range cost=0,inf",
                "finite numbers, the lower one first, got `cost=0,inf`",
            ),
            (
                "--range age=NaN,9 --range cost=0,9",
                "finite numbers, the lower one first, got `age=NaN,9`",
            ),
        ] {
            let words = format!(
                "release {command} {ranges} --data people.csv --epsilon 1 --delta 1e-6 --out out --no-ledger"
            );
            let error = home.refused(&words);
            assert!(error.starts_with("error: --range must be") && error.contains(want), "{error}");
        }
    }
    assert!(home.folders().is_empty());
}

#[test]
fn places_that_no_road_joins_are_named() {
    let home = with_ledger("1");
    home.write("people.csv", b"place\nx\n");
    home.write("places.csv", b"place\nx\ny\nz\n");
    home.write("roads.csv", b"from,to,length\nx,y,3\n");
    let error = home.refused("release locate --data people.csv --places places.csv --roads roads.csv --k 1 --rows 9 --epsilon 1 --out out --no-ledger");
    assert!(error.contains("no road leads from `x` to `z`"), "{error}");
    home.write("roads.csv", b"from,to,length\nx,y,3\ny,z,16777215\n");
    let error = home
        .refused("plan locate --places places.csv --roads roads.csv --k 1 --rows 9 --epsilon 1");
    assert!(error.contains("`x` is further than 16777215 from `z` by road"), "{error}");
}

/// Dates are shown as dates, numbers with their limit, and a plan needs no file.
#[test]
fn what_was_given_is_shown_as_it_was_and_with_its_limit() {
    let home = with_ledger("1");
    home.write("people.csv", b"when,who,what\n2024-01-01,a,x\n");
    let dates = "histogram --of when --bins 3 --epsilon 1 --bounds 2024-06-01,2024-01-01";
    let error = home.refused(&format!("plan {dates}"));
    assert!(error.contains("`2024-06-01,2024-01-01`") && !error.contains("19"), "{error}");
    let sets = "coverage --person who --set what --sets x,y,z --epsilon 1 --k 4";
    let error = home.refused(&format!("plan {sets}"));
    assert!(error.contains("1 to 3") && error.contains("got 4"), "{error}");
    let cluster = "cluster --range when=0,9 --epsilon 1 --delta 0.999999";
    let error = home.refused(&format!("plan {cluster} --k 1000000"));
    assert!(error.contains("1 to 4096") && error.contains("1000000"), "{error}");
    assert!(
        home.ok(&format!("plan {cluster} --k 2 --rows 1000")).contains("delta 0.999999 is large")
    );
    let narrow = "cluster --range when=0,1e-300 --unscaled --k 2 --epsilon 1 --delta 1e-6";
    let error = home.refused(&format!("plan {narrow}"));
    assert!(error.contains("at least 1e-75, got 1e-300"), "{error}");
    let error = home.refused(&format!("release {COUNT_WITHOUT} --out out --no-ledger"));
    assert!(error.contains("--data must be a file"), "{error}");
    let made = home.ok("ledger new large.ledger --dataset x --epsilon 1 --delta 0.5");
    assert!(made.contains("delta 0.5 is large"), "{made}");
    assert!(home.folders().is_empty());
}

const COUNT_WITHOUT: &str = "count --by who --groups a --epsilon 1";
