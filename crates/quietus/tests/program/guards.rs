//! What every kind of release must refuse, leave out, or say, tried with each of them.

use super::{COUNT, Home, with_ledger};
use std::fs;
use std::process::Command;

const ITEMS: &str = "release items --data log.csv --user who --item what --time when --items A,B,C --from 0 --step 1 --steps 4 \
                     --reports-per-user 4 --items-per-step 2 --items-per-user 3 --epsilon 2 --ledger data.ledger --out out";

/// 100 users, each with item A in each of four steps.
fn with_log() -> Home {
    let home = Home::new();
    let rows = (0..400).map(|row| format!("u{},A,{}", row % 100, row / 100));
    let lines: Vec<String> = std::iter::once("who,what,when".to_owned()).chain(rows).collect();
    home.write("log.csv", (lines.join("\n") + "\n").as_bytes());
    home.ok("ledger new data.ledger --dataset log --epsilon 5");
    home
}

fn edited(home: &Home, name: &str, from: &str, to: &str) -> [String; 2] {
    let before = fs::read_to_string(home.path(name)).unwrap();
    let after = before.replace(from, to);
    assert_ne!(before, after);
    home.write(name, after.as_bytes());
    [before, after]
}

fn sha256(text: &str) -> String {
    let digest = hmac_sha256::Hash::hash(text.as_bytes());
    digest.iter().fold(String::new(), |text, byte| text + &format!("{byte:02x}"))
}

#[test]
fn a_ledger_is_not_begun_anew() {
    let home = with_ledger("5");
    home.ok(&format!("{COUNT} --out out"));
    let before = fs::read(home.path("data.ledger")).unwrap();
    home.refused("ledger new data.ledger --dataset people --epsilon 5");
    assert_eq!(fs::read(home.path("data.ledger")).unwrap(), before);
}

/// Three of four rows have no name, and are not one person's; what is said is marked as private.
#[test]
fn rows_without_a_name_are_nobodys_in_every_kind_of_release() {
    let home = Home::new();
    home.write("p.csv", b"who,town,x,when\n1,A,1,0\n,A,2,0\n,B,3,0\n \t,A,3,0\n");
    home.write("places.csv", b"place,at\nA,0\nB,3\n");
    for words in [
        "count --person who --by town --groups A,B",
        "histogram --person who --of x --bounds 0,9 --bins 3",
        "mean --person who --of x --bounds 0,9",
        "cluster --person who --range x=0,10 --k 1",
        "map --person who --range x=0,10 --range when=0,1 --unit km --k 1 --delta 1e-6",
        "locate --places places.csv --at at --k 1 --rows 9 --place town --person who",
        "cover --person who --set town --sets A,B",
        "coverage --k 1 --person who --set town --sets A,B",
        "top --person who --item town --items A,B",
        "items --user who --item town --time when --items A,B --from 0 --step 1 --steps 1 --reports-per-user 2",
    ] {
        let said = home.ok(&format!("check {words} --data p.csv --epsilon 1"));
        assert!(said.starts_with("PRIVATE: "), "{words}: {said}");
        let mut lines = said.lines().map(str::trim_start);
        assert!(lines.any(|line| line.starts_with("3  ") && line.ends_with("nobody's")), "{said}");
    }
}

#[test]
fn what_is_public_is_not_read_from_the_data() {
    let home = Home::new();
    home.write("p.csv", b"who,what,item,set,time,place,from,to,length\nu,A,A,A,1,A,A,B,3\n");
    home.write("places.csv", b"place\nA\nB\n");
    let items = "items --user who --item what --time time --reports-per-user 2";
    for words in [
        format!("{items} --items A --boundaries-from p.csv --until 1 --ledger l"),
        format!("{items} --items-from p.csv --from 0 --step 1 --steps 2 --until 1 --ledger l"),
        "top --person who --item what --items-from p.csv --no-ledger".to_owned(),
        "cover --person who --set what --sets-from p.csv --no-ledger".to_owned(),
        "coverage --k 1 --person who --set what --sets-from p.csv --no-ledger".to_owned(),
        "locate --places places.csv --roads p.csv --k 1 --rows 1 --no-ledger".to_owned(),
        "locate --places p.csv --at length --k 1 --rows 1 --no-ledger".to_owned(),
    ] {
        let error = home.refused(&format!("release {words} --data p.csv --epsilon 1 --out out"));
        assert!(error.contains("are the same file"), "{words}: {error}");
    }
}

#[test]
fn a_number_at_the_end_of_the_public_ones_is_none_of_them() {
    let home = Home::new();
    home.write("p.csv", b"who,what\n1,0\n1,2\n");
    let said =
        home.ok("check top --data p.csv --person who --item what --numbers-below 2 --epsilon 1");
    assert!(said.contains("1  rows left out: not one of the public items"), "{said}");
}

/// Without a header, the first line is somebody's.
#[test]
fn the_first_line_of_persons_is_not_shown() {
    let home = Home::new();
    home.write("regions.csv", b"region,parent\nUS,\nGA,US\nAL,US\n");
    home.write("units.csv", b"unit,region\na,GA\nb,AL\n");
    home.write("p.csv", b"house 7,Person 4711\na,x\n");
    let error = home.refused(
        "release census --regions regions.csv --units units.csv --data p.csv --largest 3 --epsilon 1 --no-ledger --out out",
    );
    assert!(!error.contains("4711"), "{error}");
}

#[test]
fn reports_say_what_became_of_rows_without_numbers() {
    let home = Home::new();
    home.write("p.csv", b"x,y\n1,1\n2,2\n3,3\n");
    let (left_out, middle) =
        ("without a number in every column are left out", "counts as the middle of its range");
    for (words, public) in [
        ("map --unit km --simulations 1", "--within 5 --rows 3"),
        ("cluster --simulations 1", "--within 5 --rows 3 --unscaled --method nearby-kmeans"),
    ] {
        let all = format!("release {words} --data p.csv --range x=0,10 --range y=0,10 --k 1");
        let all = format!("{all} --delta 1e-6 --epsilon 1 --no-ledger");
        let said = home.ok(&format!("{all} --out {}", &words[..3]));
        assert!(said.contains(left_out) && !said.contains(middle), "{words}: {said}");
        let said = home.ok(&format!("{all} {public} --out {}-public", &words[..3]));
        assert!(said.contains(middle) && !said.contains(left_out), "{words}: {said}");
    }
}

#[test]
fn a_map_by_passes_is_charged_for_the_smaller_distance() {
    let home = Home::new();
    home.write("p.csv", b"x,y\n1,1\n2,2\n3,3\n");
    home.ok("ledger new data.ledger --dataset p --within 500 --epsilon 5 --delta 1e-5");
    home.ok(
        "release map --data p.csv --range x=0,10 --range y=0,10 --unit km --k 1 --delta 1e-6 --epsilon 1 --simulations 1 \
         --within 800 --charge-within 500 --rows 3 --out-of-core --ledger data.ledger --out out",
    );
    home.ok("verify out --ledger data.ledger");
}

/// The receipt follows from another plan as well: there is one group as there was.
#[test]
fn a_plan_with_other_words_is_not_verified() {
    let home = with_ledger("5");
    home.ok(&format!("{COUNT} --out out"));
    let [before, after] = edited(&home, "out/plan.json", "\"C\"", "\"Z\"");
    home.refused("verify out");
    // With the digest to match, the ledger has another one.
    edited(&home, "out/release.json", &sha256(&before), &sha256(&after));
    home.ok("verify out");
    home.refused("verify out --ledger data.ledger");
}

#[test]
fn a_session_is_verified_with_its_own_newest_state() {
    let home = with_log();
    home.ok(&format!("{ITEMS} --until 1"));
    home.ok(&format!("{} --until 2", ITEMS.replace("--out out", "--out two")));
    home.ok("verify out --ledger data.ledger");
    let state = "out/PRIVATE-state.json";
    let [whole, _] = edited(&home, state, "\"salt\":\"", "\"salt\":\"0");
    home.refused("verify out --ledger data.ledger");
    home.write(state, whole.as_bytes());
    home.ok("verify out --ledger data.ledger");
    for name in ["PRIVATE-state.json", "items.csv", "items.svg", "report.txt"] {
        fs::copy(home.path("two").join(name), home.path("out").join(name)).unwrap();
    }
    for words in ["verify out", "verify out --ledger data.ledger"] {
        let error = home.refused(words);
        assert!(error.contains("of another session"), "{error}");
    }
}

#[test]
fn a_session_says_its_cap_and_leaves_nothing_unfinished() {
    let home = with_log();
    let said = home.ok(&format!("{ITEMS} --until 1"));
    assert!(said.contains("Of a user 2 items count in a step"), "{said}");
    let part = home.path("out/.quietus-PRIVATE-state.json.part");
    fs::write(&part, "private").unwrap();
    home.ok(&format!("{ITEMS} --until 1"));
    assert!(!part.exists());
}

#[cfg(unix)]
#[test]
fn a_folder_that_was_there_is_closed_to_others_by_a_session() {
    use std::os::unix::fs::PermissionsExt;
    let home = with_log();
    fs::create_dir(home.path("out")).unwrap();
    fs::set_permissions(home.path("out"), fs::Permissions::from_mode(0o755)).unwrap();
    home.ok(&format!("{ITEMS} --until 1"));
    assert_eq!(fs::metadata(home.path("out")).unwrap().permissions().mode() & 0o777, 0o700);
}

/// So many bins take far longer to draw than the signal takes to come.
#[cfg(unix)]
#[test]
fn a_signal_after_the_intent_says_that_it_counts() {
    let home = with_ledger("5");
    home.write("p.csv", b"x\n1\n2\n");
    let words = "release histogram --data p.csv --of x --bounds 0,10 --bins 16000000 --epsilon 0.1 --ledger data.ledger --out out";
    let child = home.command(words).spawn().unwrap();
    while home.intents() == 0 {
        std::thread::sleep(std::time::Duration::from_millis(2));
    }
    Command::new("kill").args(["-TERM", &child.id().to_string()]).status().unwrap();
    let output = child.wait_with_output().unwrap();
    let error = String::from_utf8(output.stderr).unwrap();
    assert!(!output.status.success() && error.contains("counts as spent"), "{error}");
}

/// Whoever a link belongs to could lead private states elsewhere.
#[cfg(unix)]
#[test]
fn no_state_goes_where_a_link_leads() {
    let home = with_log();
    home.write("p.csv", b"x,y\n1,1\n2,2\n");
    home.ok("ledger new points.ledger --dataset p --epsilon 5 --delta 1e-5");
    fs::create_dir(home.path("elsewhere")).unwrap();
    std::os::unix::fs::symlink(home.path("elsewhere"), home.path("out")).unwrap();
    let passes = "release cluster --data p.csv --range x=0,10 --range y=0,10 --k 1 --delta 1e-6 --epsilon 1 --simulations 1 \
                  --out-of-core --ledger points.ledger --out out";
    for words in [&format!("{ITEMS} --until 1"), passes] {
        let error = home.refused(words);
        assert!(error.contains("link"), "{error}");
        assert!(fs::read_dir(home.path("elsewhere")).unwrap().next().is_none());
    }
}

#[test]
fn a_ledger_has_the_relation_that_was_asked_for() {
    let home = Home::new();
    for (place, relation) in
        ["add-remove", "add-only", "replace-one", "member-of-group"].iter().enumerate()
    {
        let new = format!("ledger new {place} --dataset p --epsilon 1 --relation {relation}");
        for said in [home.ok(&new), home.ok(&format!("ledger show {place}"))] {
            assert!(said.contains(&format!("under {relation}")), "{said}");
        }
    }
}

#[test]
fn of_each_person_the_first_row_counts_in_every_kind_of_release() {
    let home = Home::new();
    home.write("p.csv", b"who,town,x\n1,A,1\n2,B,2\n1,B,9\n");
    home.write("places.csv", b"place,at\nA,0\nB,3\n");
    for words in [
        "count --by town --groups A,B",
        "histogram --of x --bounds 0,9 --bins 3",
        "mean --of x --bounds 0,9",
        "cluster --range x=0,10 --k 1",
        "map --range x=0,10 --unit km --k 1 --delta 1e-6",
        "locate --places places.csv --at at --k 1 --rows 9 --place town",
    ] {
        let said = home.ok(&format!("check {words} --person who --data p.csv --epsilon 1"));
        let again = "1  left out: not the first of their person";
        assert!(said.contains(again), "{words}: {said}");
    }
}

#[test]
fn numbers_have_the_decimal_mark_that_was_said_in_every_kind_of_release() {
    let home = Home::new();
    home.write("p.csv", b"x;y\n1,5;2,5\n1.5;2.5\n");
    for (words, left_out) in [
        ("histogram --of x --bounds 0,9 --bins 3", "left out: no number"),
        ("mean --of x --bounds 0,9", "left out: no number"),
        ("cluster --range x=0,9 --range y=0,9 --k 1", "left out: no number in some column"),
        ("map --range x=0,9 --range y=0,9 --unit m --k 1 --delta 1e-6", "no number in some column"),
    ] {
        for mark in ["", "--decimal-comma"] {
            let said =
                home.ok(&format!("check {words} {mark} --delimiter ; --data p.csv --epsilon 1"));
            let line = said.lines().find(|line| line.contains(left_out)).unwrap();
            assert!(line.trim_start().starts_with("1  "), "{words} {mark}: {said}");
        }
    }
    // And it is the one of the two that has the mark.
    home.write("p.csv", b"x;y\n1,5;2,5\n");
    for words in ["cluster", "map --unit m --delta 1e-6"] {
        let words = format!("check {words} --range x=0,9 --range y=0,9 --k 1 --decimal-comma");
        let said = home.ok(&format!("{words} --delimiter ; --data p.csv --epsilon 1"));
        assert!(said.contains("1  points\n"), "{said}");
    }
}

/// What is listed twice would be one thing in the data and two in the release.
#[test]
fn what_is_public_is_listed_once_in_every_kind_of_release() {
    let home = Home::new();
    home.write("places.csv", b"place,at\nA,0\nB,3\nA,5\n");
    for words in [
        "count --by town --groups A,B,A",
        "cover --person who --set town --sets A,B,A",
        "coverage --k 1 --person who --set town --sets A,B,A",
        "top --person who --item town --items A,B,A",
        "items --user who --item town --time when --items A,B,A --from 0 --step 1 --steps 1 --reports-per-user 2",
        "locate --places places.csv --at at --k 1 --rows 9 --place town",
    ] {
        let error = home.refused(&format!("plan {words} --epsilon 1"));
        assert!(error.contains("`A` is there twice"), "{words}: {error}");
    }
}

#[test]
fn times_before_the_first_step_and_after_the_last_are_of_none() {
    let home = with_log();
    home.write("log.csv", b"who,what,when\na,A,-1\na,A,0\na,A,3\na,A,4\n");
    let said =
        home.ok(&ITEMS.replace("release", "check").replace("--ledger data.ledger --out out", ""));
    assert!(said.contains("2  count"), "{said}");
    assert!(said.contains("2  rows left out: before the first step or after the last"), "{said}");
}

/// Another number of rows than the public one is told before anything is spent.
#[test]
fn rows_of_another_number_cost_nothing() {
    let home = Home::new();
    home.write("p.csv", b"x,y\n1,1\n2,2\n3,3\n");
    home.ok("ledger new data.ledger --dataset p --within 1 --epsilon 5 --delta 1e-5");
    for words in ["map --unit m", "map --unit m --out-of-core", "cluster --unscaled"] {
        let words = format!("release {words} --data p.csv --range x=0,10 --range y=0,10 --k 1");
        let words = format!("{words} --delta 1e-6 --epsilon 1 --within 1 --rows 4");
        let error = home.refused(&format!("{words} --ledger data.ledger --out out"));
        assert!(error.starts_with("error: ") || error.contains("\nerror: "), "{error}");
        let lines = fs::read_to_string(home.path("data.ledger")).unwrap().lines().count();
        assert_eq!(lines, 1, "{words}");
    }
}

/// Whoever counts in kilometres is told all in kilometres.
#[test]
fn a_map_is_in_the_unit_of_its_columns() {
    let home = Home::new();
    let rows: String = (0..500).map(|row| ["8,20\n", "31,20\n"][row % 2]).collect();
    home.write("p.csv", format!("x,y\n{rows}").as_bytes());
    home.ok(
        "release map --data p.csv --range x=0,40 --range y=0,40 --unit km --k 2 --delta 1e-6 --epsilon 1 --simulations 2 \
         --within 500 --rows 500 --no-ledger --out out",
    );
    let numbers = |name: &str, cells: std::ops::Range<usize>| -> Vec<f64> {
        let table = fs::read_to_string(home.path("out").join(name)).unwrap();
        let of_line = |line: &str| -> Vec<f64> {
            let all: Vec<&str> = line.split(',').collect();
            all[cells.clone()].iter().map(|cell| cell.parse().unwrap()).collect()
        };
        table.lines().skip(1).flat_map(of_line).collect()
    };
    for (name, cells) in [("map.csv", 0..2), ("centres.csv", 7..15)] {
        let numbers = numbers(name, cells);
        assert!(
            !numbers.is_empty() && numbers.iter().all(|x| (0.0..=40.0).contains(x)),
            "{name}: {numbers:?}"
        );
    }
}

#[test]
fn a_column_is_one_axis_and_a_place_is_somewhere() {
    let home = Home::new();
    for words in ["cluster --k 1", "map --unit m --k 1 --delta 1e-6"] {
        let error = home.refused(&format!("plan {words} --range x=0,1 --range x=0,2 --epsilon 1"));
        assert!(error.contains("once for each column"), "{words}: {error}");
    }
    for nowhere in ["inf", "-inf", "NaN", "1e999"] {
        home.write("places.csv", format!("place,at\nA,0\nB,{nowhere}\n").as_bytes());
        let words =
            "plan locate --places places.csv --at at --k 1 --rows 9 --place town --epsilon 1";
        let error = home.refused(words);
        assert!(error.contains("line 3") && error.contains("is no number"), "{error}");
    }
}
