//! Whatever dies at whichever call, every step is drawn once, under a lease, and the next run goes on; what is old or copied does not.

use super::{State, release_items};
use crate::cli::{Cli, Command, Family};
use crate::disk::Disk;
use crate::disk::failing::{FailingDisk, Fault, unsynced};
#[cfg(unix)]
use crate::disk::waiting::WaitingDisk;
use crate::error::Error;
use crate::ledger::{Entry, LedgerFile};
use crate::run::{Said, ledger};
use crate::session::STATE;
use crate::stop::Gate;
use crate::verify::verify;
use approx::assert_abs_diff_eq;
use clap::Parser;
use dp_accounting::AddRemove;
use dp_mechanism::{ChaCha20Rng, SecureSource};
use rand::SeedableRng;
use std::fs;
use std::path::{Path, PathBuf};
use tempfile::TempDir;

struct Home(TempDir);

/// What a session leaves in its folder.
const FILES: [&str; 8] = [
    STATE,
    "items.csv",
    "items.svg",
    "plan.json",
    "receipt.json",
    "receipt.txt",
    "release.json",
    "report.txt",
];

impl Home {
    fn new() -> Self {
        let home = Self(tempfile::tempdir().unwrap());
        // Item A is popular at once, B from step 2 on; everybody is there in the first step too, so that numbers matter.
        let row = |i: u32| {
            let (step, user) = (i / 60, i % 60);
            let item = if step < 2 || user < 30 { "A" } else { "B" };
            format!("u{},{item},{step}\n", (user * 7 + step) % 60)
        };
        let rows: String = (0..240).map(row).collect();
        fs::write(home.path("log.csv"), format!("who,what,when\n{rows}")).unwrap();
        home.ledger("data", 5);
        home
    }

    fn ledger(&self, name: &str, epsilon: u32) {
        let words = format!("quietus ledger new FILE --dataset log --epsilon {epsilon}");
        let words = words.replace("FILE", self.path(&format!("{name}.ledger")).to_str().unwrap());
        match Cli::try_parse_from(words.split(' ')).unwrap().command {
            Command::Ledger { command } => ledger(&command, &unsynced()).unwrap(),
            other => panic!("{other:?}"),
        };
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    fn run(&self, more: &str, until: u64, disk: &dyn Disk) -> Result<Said, Error> {
        let words = format!(
            "quietus release items --user who --item what --time when --items A,B,C --from 0 --step 1 --steps 4 --reports-per-user 4 --epsilon 4 --data {} {more} --until {until}",
            self.path("log.csv").display()
        );
        let mut words = words.replace("HOME", self.0.path().to_str().unwrap());
        // The time's column is said once.
        if more.contains("--time ") {
            words = words.replacen("--time when ", "", 1);
        }
        let Command::Release { family: Family::Items(args) } =
            Cli::try_parse_from(words.split_whitespace()).unwrap().command
        else {
            panic!("items")
        };
        release_items(&args, &Gate::default(), disk, &mut |step, draw| {
            let mut rng = ChaCha20Rng::seed_from_u64(step.map_or(77, |step| step));
            draw(&mut SecureSource::new(&mut rng));
        })
    }

    fn go(&self, until: u64, disk: &dyn Disk) -> Result<Said, Error> {
        self.run("--ledger HOME/data.ledger --out HOME/out", until, disk)
    }

    fn entries(&self) -> Vec<Entry> {
        LedgerFile::at(&self.path("data.ledger")).read().unwrap().entries().to_vec()
    }

    fn recover(&self) -> String {
        let command = crate::cli::LedgerCommand::Recover { file: self.path("data.ledger") };
        ledger(&command, &unsynced()).unwrap()
    }

    /// Step 1 is drawn and its state on the disk, under a lease that is still open.
    fn die_before_the_ledger_knows(&self) {
        for at in 0.. {
            let disk = FailingDisk::new(at, Fault::Death);
            let _ = self.go(2, &disk);
            let open = matches!(self.entries().last(), Some(Entry::Lease { .. }));
            let state = fs::read_to_string(self.path("out").join(STATE)).unwrap();
            if open && state.contains("\"next\":2") {
                break;
            }
            assert!(disk.failed(), "there is such a moment");
        }
    }

    /// All public files but for the random name, and how many steps they know.
    fn public(&self, out: &str) -> Vec<Vec<u8>> {
        let read = |name: &&str| fs::read(self.path(out).join(name)).unwrap();
        FILES.iter().filter(|name| **name != STATE && **name != "release.json").map(read).collect()
    }

    fn whole(&self) {
        let said = verify(&self.path("out"), Some(&self.path("data.ledger"))).unwrap();
        assert!(said.ends_with("The ledger has counted it.\n"), "{said}");
        let mut names: Vec<String> = fs::read_dir(self.path("out"))
            .unwrap()
            .map(|entry| entry.unwrap().file_name().into_string().unwrap())
            .filter(|name| !name.starts_with(".quietus-"))
            .collect();
        names.sort();
        assert_eq!(names, FILES);
        let book = LedgerFile::at(&self.path("data.ledger")).read().unwrap();
        assert_abs_diff_eq!(
            book.account::<AddRemove>().unwrap().spent().unwrap().get(),
            4.0,
            epsilon = 1e-9
        );
        assert_eq!(book.unfinished(), 0);
    }
}

fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    for entry in fs::read_dir(from).unwrap() {
        let entry = entry.unwrap();
        fs::copy(entry.path(), to.join(entry.file_name())).unwrap();
    }
}

/// A state that a loss of power takes, after the ledger has its hash, would end the session.
#[cfg(unix)]
#[test]
fn what_a_session_is_built_on_is_on_the_disk() {
    let (home, disk) = (Home::new(), WaitingDisk::default());
    for until in [1, 3, 4] {
        home.go(until, &disk).unwrap();
        disk.nothing_would_be_lost("the end of a run");
    }
    home.whole();
}

#[test]
fn several_runs_release_what_one_does() {
    let (one, many) = (Home::new(), Home::new());
    one.go(4, &unsynced()).unwrap();
    for until in [1, 1, 3, 4, 4, 9] {
        let said = many.go(until, &unsynced()).unwrap();
        many.whole();
        assert!(said.text.contains(&format!("{} of 4 steps", until.min(4))), "{}", said.text);
    }
    assert_eq!(one.public("out"), many.public("out"));
    let table = String::from_utf8(one.public("out")[0].clone()).unwrap();
    assert!(table.contains("\n0,0,1,A,") && table.contains("\n3,3,4,B,"), "{table}");
    let advances = |home: &Home| {
        home.entries().iter().filter(|entry| matches!(entry, Entry::Advance { .. })).count()
    };
    assert_eq!((advances(&one), advances(&many)), (1, 3));
    let said = many.go(2, &unsynced()).unwrap();
    assert!(said.aside.contains("No step is new"), "{}", said.aside);
    // What comes late for its step is left out, and nothing shows whether there was anything.
    let log = fs::read_to_string(many.path("log.csv")).unwrap();
    fs::write(many.path("log.csv"), log + "x,A,0\ny,A,1\n").unwrap();
    many.go(4, &unsynced()).unwrap();
    assert_eq!(one.public("out"), many.public("out"));
}

/// A plan that gives every user an order of their own, and a log in which all users who show four items would have the same first one, were they numbered as they
/// come. With somebody more on top it would be another one for most of them.
#[test]
fn which_items_count_does_not_depend_on_who_comes_first() {
    let mixed = |number: u64| {
        let mixed = (number ^ number >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ mixed >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ mixed >> 31
    };
    let step = mixed(0x243f_6a88_85a3_08d3);
    let rows: String = (0..2_000_u64)
        .flat_map(|user| {
            let first = (0..4).min_by_key(|item| mixed(item ^ mixed(step ^ user)));
            let shown = if first == Some(0) { 0..4 } else { 4..5 };
            shown.map(move |item| format!("u{user},i{item},1\n"))
        })
        .collect();
    for more in ["", "somebody,i4,1\n"] {
        let home = Home::new();
        fs::write(home.path("log.csv"), format!("who,what,when\n{more}{rows}")).unwrap();
        let words = "quietus release items --user who --item what --time when --items i0,i1,i2,i3,i4 --from 0 --step 2 --steps 1 \
                     --items-per-user 4 --find 400 --epsilon 0.5 --data HOME/log.csv --ledger HOME/data.ledger --out HOME/out --until 2";
        let words = words.replace("HOME", home.0.path().to_str().unwrap());
        let Command::Release { family: Family::Items(args) } =
            Cli::try_parse_from(words.split_whitespace()).unwrap().command
        else {
            panic!("items")
        };
        release_items(&args, &Gate::default(), &unsynced(), &mut |_, draw| {
            draw(&mut SecureSource::new(&mut ChaCha20Rng::seed_from_u64(5)));
        })
        .unwrap();
        let plan = fs::read_to_string(home.path("out").join("plan.json")).unwrap();
        assert!(plan.contains("\"spread\""), "{plan}");
        let table = fs::read_to_string(home.path("out").join("items.csv")).unwrap();
        let found = (0..4).filter(|item| table.contains(&format!(",i{item},"))).count();
        assert_eq!(found, 4, "{table}");
    }
}

#[test]
fn whatever_call_fails_or_is_the_last_every_step_is_drawn_under_a_lease_and_the_session_goes_on() {
    let unbroken = Home::new();
    unbroken.go(4, &unsynced()).unwrap();
    let mut kinds = [0; 3];
    for fault in [Fault::Once, Fault::Death] {
        for (before, until) in [(0, 2), (2, 4)] {
            for at in 0.. {
                let home = Home::new();
                if before > 0 {
                    home.go(before, &unsynced()).unwrap();
                }
                let entries = home.entries().len();
                let disk = FailingDisk::new(at, fault);
                let result = home.go(until, &disk);
                if !disk.failed() {
                    assert!(result.is_ok() && at > 15, "{at} calls");
                    break;
                }
                let out = home.path("out");
                let state = fs::read_to_string(out.join(STATE)).unwrap_or_default();
                let newer = state.contains(&format!("\"next\":{until}"));
                let leases = |from: usize| {
                    let all = home.entries();
                    all[from..].iter().filter(|entry| matches!(entry, Entry::Lease { .. })).count()
                };
                // What can be read was drawn under a lease, and follows from the state.
                assert!(!newer || leases(entries) == 1, "{fault:?} {at}: drawn without a lease");
                let table = fs::read_to_string(out.join("items.csv")).unwrap_or_default();
                assert!(newer || !table.contains(&format!("\n{},", until - 1)), "{fault:?} {at}");
                if at % 2 == 0 {
                    let said = home.recover();
                    assert!(!said.contains("left alone"), "{fault:?} {at}: {said}");
                    if state.is_empty() { kinds[0] += 1 } else { home.whole() }
                }
                kinds[1 + usize::from(newer)] += 1;
                home.go(until, &unsynced()).unwrap();
                home.whole();
                // Steps that were drawn are not drawn again; others are, under a lease of their own.
                assert!(leases(entries) <= 2 && (!newer || leases(entries) == 1), "{fault:?} {at}");
                home.go(4, &unsynced()).unwrap();
                home.whole();
                assert_eq!(home.public("out"), unbroken.public("out"), "{fault:?} {at}");
            }
        }
    }
    assert!(kinds.iter().all(|kind| *kind > 5), "{kinds:?}");
}

#[test]
fn an_old_or_copied_state_does_not_go_on() {
    let home = Home::new();
    home.go(1, &unsynced()).unwrap();
    copy(&home.path("out"), &home.path("copy"));
    home.go(2, &unsynced()).unwrap();
    let refused = |home: &Home, out: &str| {
        let (entries, state) = (home.entries(), fs::read(home.path(out).join(STATE)).ok());
        let public = home.public(out);
        let words = format!("--ledger HOME/data.ledger --out HOME/{out}");
        let error = home.run(&words, 4, &unsynced()).unwrap_err().to_string();
        assert_eq!(entries, home.entries(), "before any draw");
        assert_eq!(state, fs::read(home.path(out).join(STATE)).ok());
        assert_eq!(public, home.public(out), "nothing of a refused state is published");
        error
    };
    let error = refused(&home, "copy");
    assert!(error.contains("an old or copied state cannot go on"), "{error}");
    // Put back over the newer one.
    let newest = fs::read(home.path("out").join(STATE)).unwrap();
    fs::copy(home.path("copy").join(STATE), home.path("out").join(STATE)).unwrap();
    let error = refused(&home, "out");
    assert!(error.contains("run 1 of the session") && error.contains("has run 2"), "{error}");
    // Without any state, or with one that says more than it is.
    fs::remove_file(home.path("out").join(STATE)).unwrap();
    assert!(refused(&home, "out").contains("an old or copied state"));
    let text = fs::read_to_string(home.path("copy").join(STATE)).unwrap();
    let forged = text.replace("\"generation\":1", "\"generation\":2");
    assert_ne!(forged, text);
    fs::write(home.path("out").join(STATE), forged).unwrap();
    assert!(refused(&home, "out").contains("a copy that was changed"));
    // Of two copies of the newest, the first goes on.
    fs::write(home.path("out").join(STATE), newest).unwrap();
    fs::remove_dir_all(home.path("copy")).unwrap();
    copy(&home.path("out"), &home.path("copy"));
    home.run("--ledger HOME/data.ledger --out HOME/copy", 3, &unsynced()).unwrap();
    assert!(refused(&home, "out").contains("an old or copied state"));
    home.run("--ledger HOME/data.ledger --out HOME/copy", 4, &unsynced()).unwrap();
}

/// Nobody has read a step that is drawn again, also if an older copy of the folder comes in its place after a run has died.
#[test]
fn an_older_copy_in_the_same_place_draws_nothing_again_that_was_readable() {
    let (mut on, mut refused) = (0, 0);
    for at in 0.. {
        let home = Home::new();
        home.go(1, &unsynced()).unwrap();
        copy(&home.path("out"), &home.path("copy"));
        let disk = FailingDisk::new(at, Fault::Death);
        let _ = home.go(2, &disk);
        if !disk.failed() {
            break;
        }
        let readable = home.public("out") != home.public("copy");
        fs::remove_dir_all(home.path("out")).unwrap();
        copy(&home.path("copy"), &home.path("out"));
        let goes_on = home.go(2, &unsynced()).is_ok();
        assert!(!(goes_on && readable), "{at}: a step was drawn twice, and both could be read");
        if goes_on { on += 1 } else { refused += 1 }
    }
    assert!(on > 2 && refused > 2, "{on} went on, {refused} were refused");
}

/// A typing error in the first run is put right by the second.
#[test]
fn flags_may_change_while_nothing_was_drawn() {
    let home = Home::new();
    let words = "--ledger HOME/data.ledger --out HOME/out";
    let error = home.run(&format!("{words} --time tiem"), 2, &unsynced()).unwrap_err().to_string();
    assert!(error.contains("tiem"), "{error}");
    home.run(words, 4, &unsynced()).unwrap();
    home.whole();
}

/// A run that died may have left the newer state where the ledger says, so a copy of the older one waits for it.
#[test]
fn a_copy_does_not_take_the_place_of_one_whose_run_has_died() {
    let home = Home::new();
    home.go(1, &unsynced()).unwrap();
    copy(&home.path("out"), &home.path("copy"));
    home.die_before_the_ledger_knows();
    fs::rename(home.path("out"), home.path("away")).unwrap();
    let on_copy = || home.run("--ledger HOME/data.ledger --out HOME/copy", 2, &unsynced());
    let error = on_copy().unwrap_err().to_string();
    assert!(error.contains("put it back"), "{error}");
    assert!(home.recover().contains("left alone"));
    fs::rename(home.path("away"), home.path("out")).unwrap();
    let error = on_copy().unwrap_err().to_string();
    assert!(error.contains("an old or copied state cannot go on"), "{error}");
    home.go(4, &unsynced()).unwrap();
    home.whole();
}

/// It is whole, and not what the ledger asks for.
#[test]
fn a_session_in_the_folder_of_another_is_not_taken_for_it() {
    let home = Home::new();
    fs::remove_file(home.path("data.ledger")).unwrap();
    home.ledger("data", 10);
    home.run("--ledger HOME/data.ledger --out HOME/two", 3, &unsynced()).unwrap();
    home.go(1, &unsynced()).unwrap();
    home.die_before_the_ledger_knows();
    let exchange = || {
        for [from, to] in [["out", "away"], ["two", "out"], ["away", "two"]] {
            fs::rename(home.path(from), home.path(to)).unwrap();
        }
    };
    exchange();
    let said = home.recover();
    assert!(said.contains("left alone") && said.contains("holds another session"), "{said}");
    exchange();
    assert!(home.recover().contains("is whole, after 2 runs"));
}

#[test]
fn another_plan_ledger_or_folder_is_refused_and_so_is_a_second_process() {
    let home = Home::new();
    home.go(1, &unsynced()).unwrap();
    let refused = |more: &str| home.run(more, 2, &unsynced()).unwrap_err().to_string();
    home.ledger("other", 5);
    let error = refused("--ledger HOME/other.ledger --out HOME/out");
    assert!(error.contains("another ledger"), "{error}");
    let error = refused("--ledger HOME/data.ledger --out HOME/out --items-per-step 2");
    assert!(error.contains("another plan"), "{error}");
    let error = refused("--no-ledger --out HOME/out");
    assert!(error.contains("--ledger must be given"), "{error}");
    fs::create_dir(home.path("full")).unwrap();
    fs::write(home.path("full/letter"), "").unwrap();
    let error = refused("--ledger HOME/data.ledger --out HOME/full");
    assert!(error.contains("is not empty"), "{error}");
    // The whole budget is spent: a second session is refused, and leaves no folder.
    let error = refused("--ledger HOME/data.ledger --out HOME/deep/new");
    assert!(error.contains("budget exceeded") && !home.path("deep").exists(), "{error}");
    let disk = unsynced();
    let held = crate::session::SessionFolder::open(&home.path("out"), &disk).unwrap();
    let error = refused("--ledger HOME/data.ledger --out HOME/out");
    assert!(error.contains("another process is at work"), "{error}");
    assert!(home.recover().starts_with("0 release(s)"));
    drop(held);
    home.go(2, &unsynced()).unwrap();
    home.whole();
}

#[cfg(unix)]
#[test]
fn only_the_owner_reads_and_a_changed_file_is_not_verified() {
    use std::os::unix::fs::PermissionsExt;
    let home = Home::new();
    home.go(2, &unsynced()).unwrap();
    let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
    assert_eq!(mode(&home.path("out")), 0o700);
    for name in FILES {
        assert_eq!(mode(&home.path("out").join(name)), 0o600, "{name}");
    }
    // Somebody else gets all but the state, and can verify it.
    copy(&home.path("out"), &home.path("public"));
    fs::remove_file(home.path("public").join(STATE)).unwrap();
    verify(&home.path("public"), Some(&home.path("data.ledger"))).unwrap();
    let path = home.path("out").join("items.csv");
    let table = fs::read_to_string(&path).unwrap();
    fs::write(&path, table.replace(",A,", ",B,")).unwrap();
    let error = verify(&home.path("out"), None).unwrap_err().to_string();
    assert!(error.contains("items.csv does not follow"), "{error}");
    // The next run puts it right.
    home.go(2, &unsynced()).unwrap();
    home.whole();
}

/// Else whoever knows what is public and guesses the rows could compare their hash with that in the ledger.
#[test]
fn the_hash_of_a_state_in_the_ledger_cannot_be_guessed() {
    let salts = || {
        let home = Home::new();
        [2, 3].map(|until| {
            home.go(until, &unsynced()).unwrap();
            let text = fs::read(home.path("out").join(STATE)).unwrap();
            let salt = serde_json::from_slice::<State>(&text).unwrap().salt;
            // 128 bits, in hexadecimal.
            assert!(salt.len() >= 32 && salt.chars().all(|c| c.is_ascii_hexdigit()), "{salt}");
            let others = FILES.iter().filter(|name| **name != STATE);
            let others = others.map(|name| home.path("out").join(name));
            for public in others.chain([home.path("data.ledger")]) {
                let public = fs::read_to_string(public).unwrap();
                assert!(!public.contains(&salt), "it is in no other place");
            }
            salt
        })
    };
    let all = [salts(), salts()].concat();
    let different: std::collections::BTreeSet<&String> = all.iter().collect();
    assert_eq!(different.len(), 4, "of every session and run another one");
}
