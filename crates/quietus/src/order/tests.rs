//! Whatever dies at whichever call: nothing is drawn that the ledger does not count, no release is torn, and the next run works.

use crate::cli::{Cli, Command, Family};
use crate::disk::failing::{FailingDisk, Fault};
#[cfg(unix)]
use crate::disk::waiting::WaitingDisk;
use crate::disk::{Disk, RealDisk};
use crate::error::Error;
use crate::groups::{GroupPlan, Noisy, Tally};
use crate::ledger::{Book, Entry, LedgerFile, State, sha256_hex};
use crate::run::{Said, group_job, ledger, release_groups};
use crate::stop::Gate;
use crate::verify::verify;
use approx::assert_abs_diff_eq;
use clap::Parser;
use dp_accounting::{AddRemove, Budget};
use dp_mechanism::{ChaCha20Rng, Mechanism};
use rand::SeedableRng;
use std::cell::Cell;
use std::fs;
use std::path::{Path, PathBuf};
use tempfile::TempDir;

const FILES: [&str; 7] = [
    "groups.csv",
    "groups.svg",
    "plan.json",
    "receipt.json",
    "receipt.txt",
    "release.json",
    "report.txt",
];

struct Home {
    folder: TempDir,
}

impl Home {
    fn new(limit: &str) -> Self {
        let home = Self { folder: tempfile::tempdir().unwrap() };
        fs::write(home.path("people.csv"), "town\nA\nB\nA\n").unwrap();
        let words = format!("quietus ledger new LEDGER --dataset people --epsilon {limit}");
        match home.command(&words) {
            Command::Ledger { command } => ledger(&command, &RealDisk).unwrap(),
            other => panic!("{other:?}"),
        };
        home
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn command(&self, words: &str) -> Command {
        let words = words.replace("LEDGER", self.path("data.ledger").to_str().unwrap());
        let words = words.replace("HOME", self.folder.path().to_str().unwrap());
        Cli::try_parse_from(words.split_whitespace()).unwrap().command
    }

    fn family(&self, out: &str) -> Family {
        let words = format!(
            "quietus release count --by town --groups A,B,C --epsilon 0.25 --data HOME/people.csv --out HOME/{out} --ledger LEDGER"
        );
        match self.command(&words) {
            Command::Release { family } => family,
            other => panic!("{other:?}"),
        }
    }

    fn release(&self, out: &str, disk: &dyn Disk, drawn: &Cell<bool>) -> Result<Said, Error> {
        let draw = |plan: &GroupPlan, tally: &Tally| -> Noisy {
            drawn.set(true);
            plan.simulate(tally, &mut ChaCha20Rng::seed_from_u64(1)).unwrap().output
        };
        release_groups(&group_job(&self.family(out)).unwrap(), &Gate::default(), disk, draw)
    }

    fn book(&self) -> Book {
        LedgerFile::at(&self.path("data.ledger")).read().unwrap()
    }

    fn intents(&self) -> usize {
        self.book().entries().iter().filter(|entry| matches!(entry, Entry::Intent { .. })).count()
    }

    /// Folders that hold something that was drawn.
    fn noisy_folders(&self) -> Vec<PathBuf> {
        let mut found = Vec::new();
        for entry in fs::read_dir(self.folder.path()).unwrap() {
            let path = entry.unwrap().path();
            if path.join("groups.csv").exists() {
                found.push(path);
            }
        }
        found
    }

    fn names(&self) -> Vec<String> {
        let entries = fs::read_dir(self.folder.path()).unwrap();
        let mut names: Vec<String> =
            entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
        names.sort();
        names
    }

    fn whole(&self, out: &Path) {
        let said = verify(out, Some(&self.path("data.ledger"))).unwrap();
        assert!(said.ends_with("The ledger has counted it.\n"), "{said}");
        let mut names: Vec<String> = fs::read_dir(out)
            .unwrap()
            .map(|entry| entry.unwrap().file_name().into_string().unwrap())
            .collect();
        names.sort();
        assert_eq!(names, FILES);
        assert_eq!(fs::read_to_string(out.join("groups.csv")).unwrap().lines().count(), 4);
    }
}

#[test]
fn a_release_is_counted_and_whole_and_an_over_budget_one_reads_nothing() {
    let home = Home::new("0.5");
    for out in ["a", "b"] {
        home.release(out, &RealDisk, &Cell::default()).unwrap();
        home.whole(&home.path(out));
    }
    fs::remove_file(home.path("people.csv")).unwrap();
    let drawn = Cell::default();
    let error = home.release("c", &RealDisk, &drawn).unwrap_err().to_string();
    assert!(error.contains("budget exceeded") && !drawn.get(), "{error}");
    assert_eq!(
        (home.intents(), home.names()),
        (2, ["a", "b", "data.ledger"].map(str::to_owned).to_vec())
    );
}

#[test]
fn whatever_call_fails_or_is_the_last_nothing_is_lost_or_uncounted() {
    for fault in [Fault::Once, Fault::Death] {
        for at in 0.. {
            let home = Home::new("5");
            let (disk, drawn) = (FailingDisk::new(at, fault), Cell::default());
            let result = home.release("out", &disk, &drawn);
            if !disk.failed() {
                assert!(result.is_ok() && at > 20, "{at} calls");
                break;
            }
            let intents = home.intents();
            assert!(!drawn.get() || intents == 1, "{fault:?} {at}: drawn and not counted");
            // What a disk refuses once is taken back.
            let taken_back = drawn.get() || intents == 0;
            assert!(taken_back || fault == Fault::Death, "{at}: counted and not drawn");
            assert!(home.noisy_folders().len() <= intents, "{fault:?} {at}");
            let out = home.path("out");
            if out.exists() {
                home.whole(&out);
            }
            assert!(result.is_err() || out.exists(), "{fault:?} {at}: success without a release");
            if let Err(error @ Error::Lost { .. }) = &result {
                assert!(!out.exists() && drawn.get(), "{fault:?} {at}: {error}");
            }
            // Whoever reads of an error knows whether there is a release.
            let released = matches!(&result, Err(Error::Released { ledger: true, .. }));
            assert_eq!(released, result.is_err() && out.exists(), "{fault:?} {at}: {result:?}");
            if let Err(error) = &result {
                assert_eq!(error.code(), if released { 3 } else { 1 }, "{error}");
            }

            // The next run works, and what is left over goes.
            home.release("next", &RealDisk, &Cell::default()).unwrap();
            home.whole(&home.path("next"));
            let recovered = LedgerFile::at(&home.path("data.ledger")).recover(&RealDisk).unwrap();
            for found in &recovered {
                let state = if found.out.exists() { State::Done } else { State::Lost };
                assert_eq!(found.state, state, "{fault:?} {at}");
            }
            assert!(home.book().unfinished() == 0 && home.intents() == intents + 1);
            let expected = home.book().account::<AddRemove>().unwrap().spent().unwrap().get();
            assert_abs_diff_eq!(expected, 0.25 * (intents + 1) as f64, epsilon = 1e-9);
            // Before there was an intent nothing was drawn, and what is left is an empty folder.
            let left = home.names().into_iter().filter(|name| name.starts_with(".quietus-"));
            for part in left {
                assert!(intents == 0 && fs::read_dir(home.path(&part)).unwrap().next().is_none());
            }
            if out.exists() {
                home.whole(&out);
            }
        }
    }
}

/// A loss of power takes what nobody has waited for: neither a draw nor a name nor a line of the ledger is built on that.
#[cfg(unix)]
#[test]
fn what_a_release_is_built_on_is_on_the_disk() {
    let (home, disk) = (Home::new("5"), WaitingDisk::default());
    let (path, limit) = (home.path("data.ledger"), Budget::new(5.0, 0.0).unwrap());
    fs::remove_file(&path).unwrap();
    LedgerFile::create(&path, "people", AddRemove, limit, "id", &disk).unwrap();
    disk.nothing_would_be_lost("of a new ledger");
    for out in ["a", "deep/er/b"] {
        let draw = |plan: &GroupPlan, tally: &Tally| -> Noisy {
            disk.nothing_would_be_lost("the draw");
            plan.simulate(tally, &mut ChaCha20Rng::seed_from_u64(1)).unwrap().output
        };
        let job = group_job(&home.family(out)).unwrap();
        release_groups(&job, &Gate::default(), &disk, draw).unwrap();
        disk.nothing_would_be_lost("the end");
        home.whole(&home.path(out));
    }
}

#[test]
fn a_changed_ledger_is_refused_and_a_torn_end_is_written_over() {
    let home = Home::new("5");
    home.release("a", &RealDisk, &Cell::default()).unwrap();
    let path = home.path("data.ledger");
    let text = fs::read_to_string(&path).unwrap();
    let lines: Vec<&str> = text.split_inclusive('\n').collect();
    assert_eq!(lines.len(), 3);
    for changed in [
        lines[0].to_owned() + lines[2],
        text.replace("\"epsilon\":5.0", "\"epsilon\":9.0"),
        lines[1].to_owned(),
        String::new(),
        text.clone() + "x\n",
    ] {
        assert_ne!(changed, text);
        fs::write(&path, &changed).unwrap();
        assert!(LedgerFile::at(&path).read().is_err(), "{changed}");
    }
    for cut in 1..lines[2].len() {
        fs::write(&path, &text[..text.len() - cut]).unwrap();
        assert_eq!(home.intents(), 1);
        if cut % 40 == 1 {
            home.release(&format!("b{cut}"), &RealDisk, &Cell::default()).unwrap();
            assert_eq!(home.intents(), 2);
            assert!(
                fs::read_to_string(&path).unwrap().starts_with(&(lines[0].to_owned() + lines[1]))
            );
        }
    }
}

/// What a line of another format means nobody here knows.
#[test]
fn a_ledger_of_another_format_is_refused() {
    let home = Home::new("5");
    let path = home.path("data.ledger");
    let text = fs::read_to_string(&path).unwrap();
    let entry = text.trim_end().split_once(' ').unwrap().1;
    let entry = entry.replace("\"format\":1", "\"format\":2");
    fs::write(&path, format!("{} {entry}\n", sha256_hex(&[entry.as_bytes()]))).unwrap();
    let error = LedgerFile::at(&path).read().unwrap_err().to_string();
    assert!(error.contains("it is of format 2, this program knows 1"), "{error}");
}

/// One release that died is enough to be told of it.
#[test]
fn the_next_release_says_that_one_was_never_finished() {
    let home = Home::new("5");
    let said = || home.release(&home.intents().to_string(), &RealDisk, &Cell::default());
    assert!(!said().unwrap().aside.contains("never finished"));
    let receipt = group_job(&home.family("a")).unwrap().plan.receipt();
    let [release, family, out, part, plan] =
        ["dead", "count", "/no/out", "/no/.quietus-1.part", "plan"].map(str::to_owned);
    let intent = |receipt| Entry::Intent { release, family, out, part, plan, receipt };
    LedgerFile::at(&home.path("data.ledger")).intend(&receipt, intent, &RealDisk).unwrap();
    assert!(said().unwrap().aside.contains("1 earlier release(s)"));
}

/// A ledger is not signed, so whoever hands one on could name any folder in it.
#[test]
fn a_folder_that_no_release_is_written_to_stays_whatever_a_ledger_says() {
    let home = Home::new("5");
    let precious = home.path("precious");
    fs::create_dir(&precious).unwrap();
    fs::write(precious.join("letter"), "").unwrap();
    let receipt = group_job(&home.family("a")).unwrap().plan.receipt();
    let ledger = LedgerFile::at(&home.path("data.ledger"));
    let (name, part) = (|| "count".to_owned(), precious.to_str().unwrap().to_owned());
    let out = home.path("a").to_str().unwrap().to_owned();
    let intent = |receipt| Entry::Intent {
        release: name(),
        family: name(),
        out,
        part,
        plan: name(),
        receipt,
    };
    ledger.intend(&receipt, intent, &RealDisk).unwrap();
    // Nor is what stands by then where the release should have gone taken for it.
    fs::create_dir(home.path("a")).unwrap();
    fs::write(home.path("a").join("novel"), "").unwrap();
    let recovered = ledger.recover(&RealDisk).unwrap();
    assert_eq!((recovered[0].state, &recovered[0].removed), (State::Lost, &None));
    assert!(precious.join("letter").exists() && home.path("a").join("novel").exists());
}

/// A disk that is full while a ledger is made leaves none that is in the way.
#[test]
fn a_ledger_that_cannot_be_written_is_not_there() {
    let home = tempfile::tempdir().unwrap();
    let path = home.path().join("data.ledger");
    for at in 0.. {
        let disk = FailingDisk::new(at, Fault::Once);
        let limit = Budget::new(1.0, 0.0).unwrap();
        let made = LedgerFile::create(&path, "people", AddRemove, limit, "id", &disk);
        assert_eq!(made.is_ok(), path.exists(), "call {at}");
        if made.is_ok() {
            assert!(at > 2 && !disk.failed());
            break;
        }
    }
}

#[test]
fn a_release_that_is_being_written_is_left_alone() {
    let home = Home::new("5");
    let target =
        crate::order::Target { out: home.path("out"), ledger: Some(home.path("data.ledger")) };
    let (gate, plan) = (Gate::default(), group_job(&home.family("out")).unwrap().plan);
    let order = crate::order::Order::new("count", &target, plan.receipt(), &plan, &gate, &RealDisk);
    let order = order.unwrap();
    let ledger = LedgerFile::at(&home.path("data.ledger"));
    let during = Cell::new(None);
    order.carry_out(|| during.set(Some(ledger.recover(&RealDisk).unwrap())), &[]).unwrap();
    let during = during.take().unwrap();
    assert_eq!((during.len(), during[0].state), (1, State::Open));
    assert!(home.path("out").exists() && ledger.recover(&RealDisk).unwrap().is_empty());
}

/// Of several that are made for one place at once, those that cannot come there are not paid for.
#[test]
fn a_place_that_another_release_comes_to_costs_nothing() {
    let home = Home::new("5");
    let plan = group_job(&home.family("out")).unwrap().plan;
    let gate = Gate::default();
    for ledger in [Some(home.path("data.ledger")), None] {
        let out = home.path(if ledger.is_some() { "out" } else { "uncounted" });
        let target = crate::order::Target { out, ledger };
        let order = || {
            let order =
                crate::order::Order::new("count", &target, plan.receipt(), &plan, &gate, &RealDisk);
            order.unwrap()
        };
        let (first, second, third) = (order(), order(), order());
        let drawn = Cell::new(0);
        let draw = || drawn.set(drawn.get() + 1);
        let during = Cell::new(None);
        let draws_meanwhile = || {
            draw();
            if target.ledger.is_some() {
                during.set(Some(second.carry_out(draw, &[]).unwrap_err().to_string()));
            }
        };
        first.carry_out(draws_meanwhile, &[]).unwrap();
        let after = third.carry_out(draw, &[]).unwrap_err().to_string();
        assert!(after.contains("holds a release") && !after.contains("spent"), "{after}");
        if let Some(during) = during.take() {
            assert!(during.contains("another release is being written"), "{during}");
        }
        assert_eq!((drawn.get(), home.intents()), (1, 1));
    }
}

#[test]
fn a_ledger_of_another_relation_is_refused() {
    let home = Home::new("5");
    for (of, name) in [("--relation member-of-group", "member-of-group"), ("--within 5", "within")]
    {
        fs::remove_file(home.path("data.ledger")).unwrap();
        let words = format!("quietus ledger new LEDGER --dataset x --epsilon 1 {of}");
        let Command::Ledger { command } = home.command(&words) else { panic!() };
        ledger(&command, &RealDisk).unwrap();
        let error = home.release("out", &RealDisk, &Cell::default()).unwrap_err().to_string();
        let want = format!("it is under {name}, the release under add-remove;");
        assert!(error.contains(&want), "{error}");
    }
}

/// Two that have both asked whether their receipts fit: the second of them is asked again.
#[test]
fn of_two_that_fit_by_themselves_one_is_counted() {
    let home = Home::new("0.3");
    let receipt = group_job(&home.family("a")).unwrap().plan.receipt();
    let ledger = LedgerFile::at(&home.path("data.ledger"));
    let book = ledger.read().unwrap();
    book.fits(&receipt).unwrap();
    let intend = |release: &str| {
        let name = || release.to_owned();
        let intent = |receipt| {
            let (release, family, out, part, plan) = (name(), name(), name(), name(), name());
            Entry::Intent { release, family, out, part, plan, receipt }
        };
        ledger.intend(&receipt, intent, &RealDisk)
    };
    intend("one").unwrap();
    intend("two").unwrap_err();
    assert_eq!(ledger.read().unwrap().entries().len(), 2);
}
