//! Processes that are killed, stopped or many at once.

use super::{COUNT, Home, ITEMS, with_ledger, with_log};
use quietus::LedgerFile;
use quietus::ledger::Entry;
use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;

fn is_part(path: &Path) -> bool {
    path.extension().is_some_and(|ending| ending == "part")
}

/// At any moment: what can be read is counted, what has its name is whole, and the next run works.
#[test]
fn killed_at_any_moment_nothing_is_lost_or_uncounted() {
    let home = with_ledger("100");
    for run in 0..super::many("QUIETUS_KILLS", 60) {
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
        assert!(!is_part(&folder), "{}: nothing is left of what died", folder.display());
        home.ok(&format!("verify {} --ledger data.ledger", folder.display()));
    }
    assert!(!home.ok("ledger show data.ledger").contains("no outcome yet"));
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

/// At any moment: the release goes on where it was, is counted once, and is whole in the end.
#[test]
fn a_release_by_passes_that_is_killed_at_any_moment_goes_on() {
    let home = Home::new();
    let row = |i: u32| format!("{},{}\n", i % 7, [1, 9][i as usize % 2]);
    let rows: String = (0..2_000).map(row).collect();
    home.write("p.csv", format!("x,y\n{rows}").as_bytes());
    home.ok("ledger new data.ledger --dataset points --epsilon 100 --delta 1e-3");
    let words = "release cluster --range x=0,10 --range y=0,10 --method recentred --epsilon 1 --delta 1e-6 --data p.csv --out-of-core --ledger data.ledger";
    let mut died = 0;
    for run in 0..3_u64 {
        let words = format!("{words} --out out{run}");
        let state = home.path(&format!("out{run}.PRIVATE-state"));
        for attempt in 1.. {
            // Of a release that has not got to its first draw nothing is there to go on from.
            let resume = if state.join("release.json").exists() { "--resume" } else { "" };
            let mut child = home.command(&format!("{words} {resume}")).spawn().unwrap();
            std::thread::sleep(Duration::from_millis(attempt * 5 + run));
            child.kill().unwrap();
            child.wait().unwrap();
            if home.path(&format!("out{run}")).exists() {
                break;
            }
            died += 1;
        }
        home.ok("ledger recover data.ledger");
        home.ok(&format!("verify out{run} --ledger data.ledger"));
        assert!(!state.exists());
    }
    assert!(died > 2, "{died} were killed before they had ended");
    let book = LedgerFile::at(&home.path("data.ledger")).read().unwrap();
    let count = |wanted: fn(&Entry) -> bool| book.entries().iter().filter(|e| wanted(e)).count();
    assert_eq!(count(|entry| matches!(entry, Entry::Session { .. })), 3);
    assert_eq!(count(|entry| matches!(entry, Entry::Outcome { .. })), 3);
    let withdrawn = count(|entry| matches!(entry, Entry::Withdrawn { .. }));
    let advances = count(|entry| matches!(entry, Entry::Advance { .. }));
    assert_eq!(count(|entry| matches!(entry, Entry::Lease { .. })), advances + withdrawn);
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
