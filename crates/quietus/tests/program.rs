//! The program as people run it: processes that are killed or many at once, odd individuals, the commands of its page.
#![allow(clippy::unwrap_used, reason = "tests")]

use quietus::LedgerFile;
use quietus::ledger::Entry;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::time::Duration;
use tempfile::TempDir;

struct Home(TempDir);

impl Home {
    fn new() -> Self {
        Self(tempfile::tempdir().unwrap())
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    fn write(&self, name: &str, content: &[u8]) {
        fs::write(self.path(name), content).unwrap();
    }

    /// The program in this folder, with words split at white space.
    fn command(&self, words: &str) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_quietus"));
        command.current_dir(self.0.path()).args(words.split_whitespace());
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        command
    }

    fn run(&self, words: &str) -> Output {
        self.command(words).output().unwrap()
    }

    fn ok(&self, words: &str) -> String {
        let output = self.run(words);
        assert!(output.status.success(), "{words}: {}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8(output.stdout).unwrap()
    }

    fn refused(&self, words: &str) -> String {
        let output = self.run(words);
        assert!(!output.status.success() && output.stdout.is_empty(), "{words}");
        String::from_utf8(output.stderr).unwrap()
    }

    fn intents(&self) -> usize {
        let book = LedgerFile::at(&self.path("data.ledger")).read().unwrap();
        book.entries().iter().filter(|entry| matches!(entry, Entry::Intent { .. })).count()
    }

    fn folders(&self) -> Vec<PathBuf> {
        let entries = fs::read_dir(self.0.path()).unwrap().map(|entry| entry.unwrap().path());
        entries.filter(|path| path.is_dir()).collect()
    }
}

const COUNT: &str =
    "release count --data people.csv --by town --groups A,B,C --epsilon 0.1 --ledger data.ledger";

fn with_ledger(limit: &str) -> Home {
    let home = Home::new();
    let rows: String = (0..2_000).map(|row| ["A\n", "B\n", "odd\n"][row % 3]).collect();
    home.write("people.csv", format!("town\n{rows}").as_bytes());
    home.ok(&format!("ledger new data.ledger --dataset people --epsilon {limit}"));
    home
}

fn is_part(path: &Path) -> bool {
    path.extension().is_some_and(|ending| ending == "part")
}

/// At any moment: what can be read is counted, what has its name is whole, and the next run works.
#[test]
fn killed_at_any_moment_nothing_is_lost_or_uncounted() {
    let home = with_ledger("100");
    for run in 0..60_u64 {
        let mut child = home.command(&format!("{COUNT} --out out{run}")).spawn().unwrap();
        std::thread::sleep(Duration::from_micros(run * 397 % 20_000));
        child.kill().unwrap();
        child.wait().unwrap();
        let noisy = home.folders().iter().filter(|path| path.join("groups.csv").exists()).count();
        assert!(noisy <= home.intents(), "run {run}");
    }
    home.ok(&format!("{COUNT} --out last"));
    home.ok("ledger recover data.ledger");
    for folder in home.folders() {
        if is_part(&folder) {
            assert_eq!(fs::read_dir(&folder).unwrap().count(), 0, "nothing was drawn for it");
        } else {
            home.ok(&format!("verify {} --ledger data.ledger", folder.display()));
        }
    }
    assert!(!home.ok("ledger show data.ledger").contains("no outcome yet"));
}

const ITEMS: &str = "release items --data log.csv --user who --item what --time when --items A,B,C --users 200 --from 0 --step 1 --steps 70 --reports-per-user 254 --items-per-step 2 --epsilon 100 --ledger data.ledger --out out";

/// In every step each of 150 users has two rows, one of them at least with item A, which is found.
fn with_log() -> Home {
    let home = Home::new();
    let row = |i: u32| {
        format!("u{},{},{}\n", i % 150, if i.is_multiple_of(7) { "B" } else { "A" }, i / 300)
    };
    let rows: String = (0..300 * 70).map(row).collect();
    home.write("log.csv", format!("who,what,when\n{rows}").as_bytes());
    home.ok("ledger new data.ledger --dataset log --epsilon 100");
    home
}

/// At any moment: what was readable once stays as it is, every step is there once, and the next run goes on.
#[test]
fn a_session_that_is_killed_at_any_moment_draws_nothing_twice_and_loses_nothing() {
    let home = with_log();
    let table = || fs::read_to_string(home.path("out/items.csv")).unwrap_or_default();
    let (mut before, mut died) = (String::new(), 0);
    for run in 1..=64_u64 {
        let mut child = home.command(&format!("{ITEMS} --until {run}")).spawn().unwrap();
        std::thread::sleep(Duration::from_micros(run * 397 % 25_000));
        child.kill().unwrap();
        died += u32::from(!child.wait().unwrap().success());
        if run % 8 == 0 {
            assert!(!home.ok("ledger recover data.ledger").contains("left alone"));
        }
        let after = table();
        assert!(after.starts_with(&before), "run {run}: what was released has changed");
        before = after;
    }
    assert!(died > 20, "{died} of 64 were killed");
    home.ok(&format!("{ITEMS} --until 70"));
    home.ok("verify out --ledger data.ledger");
    assert!(table().starts_with(&before));
    let steps: Vec<String> = table()
        .lines()
        .filter(|line| line.contains(",A,"))
        .map(|line| line.split(',').next().unwrap().to_owned())
        .collect();
    let all: Vec<String> = (0..70).map(|step| step.to_string()).collect();
    assert_eq!(steps, all, "each once");
    // Every generation has one advance, and every lease an end.
    let book = LedgerFile::at(&home.path("data.ledger")).read().unwrap();
    let (mut open, mut generations, mut sessions) = (0, Vec::new(), 0);
    for entry in book.entries() {
        match entry {
            Entry::Session { .. } => sessions += 1,
            Entry::Lease { .. } => open += 1,
            Entry::Withdrawn { .. } => open -= 1,
            Entry::Advance { generation, .. } => {
                open -= 1;
                generations.push(*generation);
            }
            _ => {}
        }
        assert!((0..=1).contains(&open), "one lease at a time");
    }
    assert!(generations.iter().copied().eq(1..=generations.len() as u64));
    assert!(
        open == 0 && sessions == 1 && home.ok("ledger show data.ledger").contains("session of")
    );
    assert!(!home.ok("ledger show data.ledger").contains("without an outcome"));
}

#[test]
fn of_many_processes_on_one_session_one_goes_on() {
    let home = with_log();
    let start = |_| home.command(&format!("{ITEMS} --until 20")).spawn().unwrap();
    let children: Vec<_> = (0..8).map(start).collect();
    for child in children {
        let output = child.wait_with_output().unwrap();
        let error = String::from_utf8_lossy(&output.stderr).into_owned();
        let none_new = output.status.success();
        assert!(none_new || error.contains("another process is at work"), "{error}");
    }
    let book = LedgerFile::at(&home.path("data.ledger")).read().unwrap();
    let leases = book.entries().iter().filter(|entry| matches!(entry, Entry::Lease { .. }));
    assert_eq!(leases.count(), 1);
    home.ok("verify out --ledger data.ledger");
}

/// Rows that no log should have: each run ends well and says the same words, whoever is in it.
#[test]
fn odd_users_of_a_log_change_no_exit_code_no_word_and_no_name_of_a_file() {
    let odd: [&[u8]; 12] = [
        b"x,A,0",
        b"x,A,",
        b",A,0",
        b"x,,0",
        b"x,A,99999999999999999999",
        b"x,A,-5",
        b"\xff,\xfe,\xff",
        b"u1,A,0",
        b"x,nowhere,0",
        b"x,A",
        b"\"A\n\",\"x\ny\",0",
        b"x,A,2024-01-01",
    ];
    let mut seen = Vec::new();
    for (number, row) in odd.iter().enumerate() {
        let home = Home::new();
        home.write("log.csv", &[&b"who,what,when\nu1,A,0\nu2,B,1\n"[..], row, b"\n"].concat());
        home.ok("ledger new data.ledger --dataset log --epsilon 1");
        let words = ITEMS.replace("--epsilon 100", "--epsilon 1").replace("254", "2");
        let mut said = Vec::new();
        for until in [1, 2, 70] {
            let output = home.run(&format!("{words} --until {until}"));
            assert_eq!(output.status.code(), Some(0), "row {number}");
            said.push((output.stdout, output.stderr));
        }
        let mut names: Vec<_> = fs::read_dir(home.path("out"))
            .unwrap()
            .map(|entry| entry.unwrap().file_name())
            .collect();
        names.sort();
        seen.push((said, names));
        let check =
            home.ok(&words.replace("release", "check").replace("--out out", "--out elsewhere"));
        assert!(check.starts_with("PRIVATE: ") && check.contains("3  rows\n"), "{check}");
    }
    assert!(seen.iter().all(|one| *one == seen[0]));
}

#[cfg(unix)]
#[test]
fn a_signal_leaves_no_trace_and_says_what_is_spent() {
    for signal in ["-TERM", "-HUP", "-INT"] {
        let home = with_ledger("100");
        for run in 0..8_u64 {
            let child = home.command(&format!("{COUNT} --out out{run}")).spawn().unwrap();
            std::thread::sleep(Duration::from_micros(3_000 + run * 1_000));
            // It may have ended by itself.
            let _ = Command::new("kill")
                .args([signal, &child.id().to_string()])
                .stderr(Stdio::null())
                .status();
            let output = child.wait_with_output().unwrap();
            let out = home.path(&format!("out{run}"));
            assert!(out.exists() || !output.status.success());
        }
        // A signal before the program listens ends it as it ends every program.
        assert!(home.folders().iter().all(|path| !is_part(path)), "{signal}");
    }
}

#[test]
fn many_processes_on_one_ledger_never_overspend() {
    let home = with_ledger("0.5");
    let start = |run| home.command(&format!("{COUNT} --out out{run}")).spawn().unwrap();
    let children: Vec<_> = (0..12).map(start).collect();
    let ended = children.into_iter().map(|child| child.wait_with_output().unwrap());
    let released = ended.filter(|output| output.status.success()).count();
    assert_eq!((released, home.folders().len(), home.intents()), (5, 5, 5));
    let error = home.refused(&format!("{COUNT} --out more"));
    assert!(error.contains("budget exceeded"), "{error}");
}

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

/// Whoever sees a failure would make, and pay for, a second release.
#[cfg(target_os = "linux")]
#[test]
fn a_release_whose_output_nobody_can_read_is_made_all_the_same() {
    let home = with_ledger("1");
    let full = fs::OpenOptions::new().write(true).open("/dev/full").unwrap();
    let status = home.command(&format!("{COUNT} --out out")).stdout(full).status().unwrap();
    assert!(status.success() && home.path("out").join("report.txt").exists(), "{status}");
    assert_eq!(home.intents(), 1);
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

/// Rows that no file should have: each release ends well and says the same words, whoever is in it.
#[test]
fn ten_odd_individuals_change_no_exit_code_no_word_and_no_name_of_a_file() {
    let odd: [&[u8]; 10] = [
        b"A,seven,1",
        b"A,,1",
        b",,",
        b"A,99999999999999999999999,1",
        b"A,-5e300,1",
        b"\xff\xfe,\xff,\xff",
        b"A,3,1",
        b"nowhere,3,77",
        b"A,3",
        b"\"A\n\",NaN,\"x\ny\"",
    ];
    for words in [
        "count --by town --groups A,B",
        "histogram --of x --bounds 0,10 --bins 2 --by town --groups A,B --person who",
        "mean --of x --bounds 0,10 --by town --groups A,B --person who",
        "cluster --range x=0,10 --range who=0,9 --k 1 --delta 1e-6",
        "cluster --range x=0,10 --k 1 --person who",
        "cluster --range x=0,10 --k 2 --delta 1e-6 --outside 0.5 --simulations 2",
        "cover --person who --set town --sets A,B",
        "coverage --k 1 --person who --set town --sets A,B,C",
        "locate --places places.csv --at at --k 1 --rows 9 --place town --person who",
        "map --range x=0,10 --unit km --k 1,3 --delta 1e-6 --simulations 2",
        "map --range x=0,10 --unit m --within 2 --rows 3 --k 1 --delta 1e-6 --simulations 2",
    ] {
        let places = words.starts_with("cluster") || words.starts_with("map");
        let released = match words.split(' ').next() {
            Some("cluster" | "map" | "locate") => "out/centres.csv",
            Some("cover" | "coverage") => "out/sets.csv",
            _ => "out/groups.csv",
        };
        let mut seen = Vec::new();
        for (number, row) in odd.iter().enumerate() {
            let home = Home::new();
            home.write("p.csv", &[&b"town,x,who\nA,1,1\nB,2,2\n"[..], row, b"\n"].concat());
            home.write("places.csv", b"place,at\nA,0\nB,4\n");
            let output = home
                .run(&format!("release {words} --data p.csv --epsilon 1 --out out --no-ledger"));
            assert_eq!(output.status.code(), Some(0), "{words}, row {number}");
            let mut names: Vec<_> = fs::read_dir(home.path("out"))
                .unwrap()
                .map(|entry| entry.unwrap().file_name())
                .collect();
            names.sort();
            // How many centres there are is noisy; groups are public.
            let table = fs::read_to_string(home.path(released)).unwrap();
            let lines = if places { table.lines().count().min(1) } else { table.lines().count() };
            seen.push((output.stdout, output.stderr, names, lines));
        }
        assert!(seen.iter().all(|one| *one == seen[0]), "{words}");
    }
}

#[test]
fn a_check_is_private_on_its_first_line_and_counts_every_row() {
    let home = Home::new();
    home.write("p.csv", "Stadt;Alter\nA;31,5\nB;200\nC;-3\nb;7\nA;alt\nA\n".as_bytes());
    let words = "--data p.csv --delimiter ; --decimal-comma --column town=Stadt --column age=Alter --by town --groups A,B,C --of age --bounds 0,120 --epsilon 1";
    let text = home.ok(&format!("check mean {words}"));
    assert!(text.starts_with("PRIVATE: "), "{text}");
    for want in [
        "columns: Stadt, Alter",
        "6  rows",
        "3  count",
        "1  of them as the lower bound",
        "1  of them as the upper bound",
        "1  left out: of no public group",
        "1  left out: no number",
        "1  left out: too few",
        "1  rows of `b`",
        "Less than 90 %",
    ] {
        assert!(text.contains(want), "{want}: {text}");
    }
    let plan = home.ok(&format!("plan mean {words}"));
    assert!(plan.contains("error of mean") && !plan.contains("PRIVATE"), "{plan}");
    assert!(home.folders().is_empty());
}

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

/// The same flags from a file, the scripts and the pages.
#[test]
fn settings_come_from_a_file_and_shells_and_manuals_know_every_command() {
    let home = with_ledger("1");
    home.write("plan.toml", b"by = 'town'\ngroups = ['A', 'B', 'C']\ndata = 'people.csv'\nepsilon = 5\nledger = 'data.ledger'\n");
    let error = home.refused("release count --settings plan.toml --out out");
    assert!(error.contains("budget exceeded"), "{error}");
    home.ok("release count --settings plan.toml --epsilon 0.5 --out out");
    home.ok("verify out --ledger data.ledger");
    assert!(
        home.ok("completions bash").contains("quietus__")
            && home.ok("completions fish").contains("cluster")
    );
    let manual = home.ok("manual");
    for word in [".TH", "coverage", "charge\\-within", "\\-\\-settings"] {
        assert!(manual.contains(word), "{word}");
    }
    assert!(home.ok("--version").starts_with("quietus "));
}

/// As spreadsheets, other systems and other languages write them; one command each.
#[test]
fn six_files_of_six_shapes_take_one_command_each() {
    let home = Home::new();
    let town = |i: u32| ["Ahlen", "Brunn", "Calw"][i as usize % 3];
    let rows = |of: &dyn Fn(u32) -> String, n: u32| (0..n).map(of).collect::<String>();
    let age = |i: u32| i * 37 % 91;
    let files = [
        (
            "semicolons.csv",
            format!("town;age\n{}", rows(&|i| format!("{};{},5\n", town(i), age(i)), 900)),
        ),
        (
            "mark.csv",
            format!("\u{feff}town,age\n{}", rows(&|i| format!("{},{}\n", town(i), age(i)), 900)),
        ),
        (
            "windows.csv",
            format!("town,age\r\n{}", rows(&|i| format!("{},{}\r\n", town(i), age(i)), 900)),
        ),
        (
            "names.csv",
            format!("Ort,Alter\n{}", rows(&|i| format!("{},{}\n", town(i), age(i)), 900)),
        ),
        (
            "dates.csv",
            format!(
                "town,day\n{}",
                rows(&|i| format!("{},2024-{:02}-11\n", town(i), 1 + i % 12), 900)
            ),
        ),
        (
            "million.csv",
            format!("town,age\n{}", rows(&|i| format!("{},{}\n", town(i), age(i)), 1_000_000)),
        ),
    ];
    for (name, content) in &files {
        home.write(name, content.as_bytes());
    }
    let by = "--by town --groups Ahlen,Brunn,Calw";
    for (words, file, lines, most) in [
        (
            format!("mean --of age --bounds 0,100 {by} --delimiter semicolon --decimal-comma"),
            0,
            4,
            300.0,
        ),
        (format!("count {by}"), 1, 4, 300.0),
        ("histogram --of age --bounds 0,100 --bins 10".to_owned(), 2, 11, 100.0),
        (
            format!("mean --of age --bounds 0,100 {by} --column town=Ort --column age=Alter"),
            3,
            4,
            300.0,
        ),
        ("histogram --of day --bounds 2024-01-01,2025-01-01 --bins 12".to_owned(), 4, 13, 75.0),
        (format!("count {by}"), 5, 4, 333_333.0),
    ] {
        let (out, name) = (format!("out{file}"), files[file].0);
        home.ok(&format!("release {words} --data {name} --epsilon 2 --out {out} --no-ledger"));
        let table = fs::read_to_string(home.path(&out).join("groups.csv")).unwrap();
        let first: Vec<&str> = table.lines().nth(1).unwrap().split(',').collect();
        let count: f64 = first[if words.starts_with("histogram") { 3 } else { 1 }].parse().unwrap();
        assert!(table.lines().count() == lines && (count - most).abs() < 30.0, "{name}: {table}");
    }
}

/// Every command of the page, as written there, on the made-up files.
#[test]
fn the_commands_of_the_page_work_as_they_are_written() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let page = fs::read_to_string(root.join("docs/own-files.md")).unwrap().replace("\\\n", " ");
    let home = Home::new();
    copy(&root.join("datasets/examples"), &home.path("datasets/examples"));
    let commands: Vec<&str> =
        page.lines().filter_map(|line| line.strip_prefix("quietus ")).collect();
    assert!(commands.len() >= 17, "{commands:?}");
    for words in commands {
        home.ok(words);
    }
}

fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    for entry in fs::read_dir(from).unwrap() {
        let entry = entry.unwrap();
        let (from, to) = (entry.path(), to.join(entry.file_name()));
        if from.is_dir() {
            copy(&from, &to);
        } else {
            fs::copy(from, to).unwrap();
        }
    }
}
