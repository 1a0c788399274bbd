//! By passes as from memory; and whatever dies at whichever call, the release goes on from its newest state, and nothing that was kept is drawn again.

use super::{Counting, PassDraws, STATE_OF, State, checksum_text};
use crate::cli::{Cli, Command, Family};
use crate::cluster::{release_cluster, release_cluster_by_passes};
use crate::disk::Disk;
use crate::disk::failing::{FailingDisk, Fault, unsynced};
#[cfg(unix)]
use crate::disk::waiting::WaitingDisk;
use crate::error::Error;
use crate::ledger::{Entry, LedgerFile};
use crate::map::{release_map, release_map_by_passes};
use crate::order::Draw;
use crate::run::{Said, ledger};
use crate::session::STATE;
use crate::stop::Gate;
use crate::verify::verify;
use clap::Parser;
use dp_accounting::AddRemove;
use dp_cluster::dpm::{Dpm, DpmSettings};
use dp_cluster::passes::{Asked, Passes, Question};
use dp_cluster::{Budget, PointsView, PublicBox};
use dp_mechanism::{ChaCha20Rng, Mechanism, SecureSource};
use rand::{RngExt, SeedableRng};
use std::collections::BTreeMap;
use std::fmt::Debug;
use std::fs;
use std::path::{Path, PathBuf};
use tempfile::TempDir;

struct Home(TempDir);

const DPM: &str =
    "cluster --range x=0,10 --range y=0,10 --method dpm --epsilon 4 --delta 1e-6 --simulations 1";

impl Home {
    /// Rows around three places, and such as say nothing.
    fn new() -> Self {
        let home = Self(tempfile::tempdir().unwrap());
        let mut rng = ChaCha20Rng::seed_from_u64(3);
        let row = |i: u32| match i % 40 {
            0 => format!("p{i},,3\n"),
            1 => format!("p{i},1,2,3\n"),
            2 => format!("p{i},-1e999,nan\n"),
            _ => {
                let [x, y] = [[1.0, 2.0], [8.0, 2.0], [5.0, 9.0]][i as usize % 3];
                let [dx, dy] = [0, 1].map(|_| rng.random_range(-0.5..0.5));
                format!("p{},{},{}\n", i % 900, x + dx, y + dy)
            }
        };
        let rows: String = (0..1_000).map(row).collect();
        fs::write(home.path("p.csv"), format!("who,x,y\n{rows}")).unwrap();
        home.ledger("data");
        home
    }

    fn ledger(&self, name: &str) {
        let words = "quietus ledger new FILE --dataset points --epsilon 50 --delta 1e-3";
        let words = words.replace("FILE", self.path(&format!("{name}.ledger")).to_str().unwrap());
        match Cli::try_parse_from(words.split(' ')).unwrap().command {
            Command::Ledger { command } => ledger(&command, &unsynced()).unwrap(),
            other => panic!("{other:?}"),
        };
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    fn state(&self, out: &str) -> PathBuf {
        self.path(&format!("{out}{STATE_OF}"))
    }

    fn family(&self, words: &str) -> Family {
        let words = format!("quietus release {words} --data HOME/p.csv");
        let words = words.replace("HOME", self.0.path().to_str().unwrap());
        match Cli::try_parse_from(words.split_whitespace()).unwrap().command {
            Command::Release { family } => family,
            other => panic!("{other:?}"),
        }
    }

    fn by_passes(
        &self,
        words: &str,
        disk: &dyn Disk,
        draws: &mut PassDraws<'_>,
        told: &mut dyn FnMut(u32),
    ) -> Result<Said, Error> {
        let (gate, told) = (&Gate::default(), &mut |pass: u32, _: &str| told(pass));
        match self.family(words) {
            Family::Cluster(args) => release_cluster_by_passes(&args, gate, disk, draws, told),
            Family::Map(args) => release_map_by_passes(&args, gate, disk, draws, told),
            other => panic!("{other:?}"),
        }
    }

    /// With draws of a pass that are the same whenever it is drawn.
    fn go(&self, more: &str, disk: &dyn Disk) -> Result<Said, Error> {
        let draws: &mut PassDraws<'_> = &mut |pass, draw| {
            draw(&mut SecureSource::new(&mut ChaCha20Rng::seed_from_u64(u64::from(pass) + 50)));
        };
        let words = format!("{DPM} --out-of-core --ledger HOME/data.ledger {more}");
        self.by_passes(&words, disk, draws, &mut |_| ())
    }

    fn entries(&self) -> Vec<Entry> {
        LedgerFile::at(&self.path("data.ledger")).read().unwrap().entries().to_vec()
    }

    fn recover(&self) -> String {
        let command = crate::cli::LedgerCommand::Recover { file: self.path("data.ledger") };
        ledger(&command, &unsynced()).unwrap()
    }

    /// What a release says, but for its random name.
    fn files(&self, out: &str) -> BTreeMap<String, Vec<u8>> {
        let entries = fs::read_dir(self.path(out)).unwrap().map(|entry| entry.unwrap().path());
        let content = |path: PathBuf| {
            let name = path.file_name().unwrap().to_str().unwrap().to_owned();
            (name, fs::read(path).unwrap())
        };
        entries.map(content).filter(|(name, _)| name != "release.json").collect()
    }

    fn whole(&self, out: &str) {
        let said = verify(&self.path(out), Some(&self.path("data.ledger"))).unwrap();
        assert!(said.ends_with("The ledger has counted it.\n"), "{said}");
        assert!(!self.state(out).exists(), "nothing private is left");
        let book = LedgerFile::at(&self.path("data.ledger")).read().unwrap();
        assert_eq!(book.unfinished(), 0);
        assert!(book.show().unwrap().contains("in its place"));
        for path in fs::read_dir(self.0.path()).unwrap().map(|entry| entry.unwrap().path()) {
            // Of a run that died before its first draw.
            let part = path.file_name().unwrap().to_str().unwrap().starts_with(".quietus-");
            assert!(!part || fs::read_dir(&path).unwrap().next().is_none(), "{}", path.display());
        }
    }

    /// Goes on if something was begun, and begins otherwise.
    fn again(&self) {
        let resume = self.go("--out HOME/out --resume", &unsynced());
        match resume {
            Ok(_) => {}
            Err(Error::Setting { name: "--resume", .. }) => {
                self.go("--out HOME/out", &unsynced()).unwrap();
            }
            Err(error) => panic!("{error}"),
        }
    }
}

struct Seeded<'a>(&'a mut ChaCha20Rng);

impl Draw for Seeded<'_> {
    fn draw<M: Mechanism<Error: Debug>>(self, plan: &M, data: M::Data<'_>) -> M::Output {
        plan.simulate(data, self.0).unwrap().output
    }
}

fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    for entry in fs::read_dir(from).unwrap() {
        let entry = entry.unwrap();
        fs::copy(entry.path(), to.join(entry.file_name())).unwrap();
    }
}

#[test]
fn a_release_by_passes_has_the_files_of_that_from_memory() {
    let home = Home::new();
    let recentred = DPM.replace("dpm", "recentred");
    let places = "map --range x=0,10 --range y=0,10 --unit km --k 2,3 --simulations 1 --epsilon 2 --delta 1e-6";
    let releases = [
        DPM.to_owned(),
        format!("{DPM} --person who --unscaled"),
        recentred.clone(),
        format!("{recentred} --k 3"),
        format!("{} --k 3", DPM.replace("dpm", "private-kmeans")),
        format!("{} --at-most 5 --rows 300", DPM.replace("dpm", "private-kmeans")),
        places.to_owned(),
        format!("{places} --person who"),
        format!("{places} --replace-one --rows 1000"),
    ];
    for (number, words) in releases.iter().enumerate() {
        let (direct, passes) = (format!("direct{number}"), format!("passes{number}"));
        let target = |out: &str| format!("{words} --no-ledger --out HOME/{out}");
        let (gate, mut rng) = (Gate::default(), ChaCha20Rng::seed_from_u64(9));
        let said = match home.family(&target(&direct)) {
            Family::Cluster(args) => release_cluster(&args, &gate, &unsynced(), Seeded(&mut rng)),
            Family::Map(args) => release_map(&args, &gate, &unsynced(), Seeded(&mut rng)),
            other => panic!("{other:?}"),
        };
        for (ledger, out) in
            [("--no-ledger", passes.clone()), ("--ledger HOME/data.ledger", passes + "l")]
        {
            if ledger != "--no-ledger" && words.contains("--replace-one") {
                // The ledger is one of people who come and go.
                continue;
            }
            let mut rng = ChaCha20Rng::seed_from_u64(9);
            let mut source = SecureSource::new(&mut rng);
            let (state, mut told) = (home.state(&out), Vec::new());
            let by_passes = home.by_passes(
                &format!("{words} --out-of-core {ledger} --out HOME/{out}"),
                &unsynced(),
                &mut |_, draw| draw(&mut source),
                &mut |pass| {
                    // Without a ledger, which alone could refuse a copy, nothing is kept that could be copied.
                    assert_eq!(state.join(STATE).exists(), pass > 0 && ledger != "--no-ledger");
                    told.push(pass);
                },
            );
            assert_eq!(by_passes.unwrap().text, said.as_ref().unwrap().text);
            assert_eq!(home.files(&out), home.files(&direct), "{words}");
            assert!(told.iter().copied().eq(0..told.len().try_into().unwrap()) && !told.is_empty());
            verify(&home.path(&out), None).unwrap();
            assert!(!state.exists());
        }
    }
    home.whole("passes0l");
}

#[test]
fn a_table_is_the_same_however_many_records_are_counted_at_once() {
    let unit = PublicBox::cube(2, 0.0, 1.0).unwrap();
    let dpm = Dpm::new(unit, Budget::new(4.0, 1e-6).unwrap(), DpmSettings::default()).unwrap();
    let passes = Passes::new(dpm).unwrap();
    let points: Vec<f64> = (0..14).map(|i| f64::from(i * i % 11) / 11.0).collect();
    let mut all = passes.asked().tally().unwrap();
    all.add(PointsView::new(&points, 2).unwrap()).unwrap();
    for at_once in [1, 2, 3, 7, 8] {
        let mut counting = Counting::new(passes.asked(), at_once).unwrap();
        points.chunks(2).for_each(|point| counting.add(point).unwrap());
        counting.count().unwrap();
        assert_eq!(counting.tally.into_table(), *all.table(), "{at_once}");
    }
}

#[test]
fn whatever_call_fails_or_is_the_last_the_release_goes_on_and_is_counted_once() {
    let unbroken = Home::new();
    unbroken.go("--out HOME/out", &unsynced()).unwrap();
    unbroken.whole("out");
    let mut kinds = [0; 3];
    for fault in [Fault::Once, Fault::Death] {
        for at in 0.. {
            let home = Home::new();
            let disk = FailingDisk::new(at, fault);
            let result = home.go("--out HOME/out", &disk);
            if !disk.failed() {
                assert!(result.is_ok() && at > 60, "{at} calls");
                break;
            }
            let count = |wanted: fn(&Entry) -> bool| {
                home.entries().iter().filter(|entry| wanted(entry)).count()
            };
            let state = home.state("out").join(STATE);
            let sessions = count(|entry| matches!(entry, Entry::Session { .. }));
            assert!(!state.exists() || sessions == 1, "{fault:?} {at}: drawn and not counted");
            if let Err(error @ Error::Unfinished { .. }) = &result {
                assert!(sessions == 1 && error.to_string().contains("--resume"), "{error}");
            }
            let released = matches!(&result, Err(Error::Released { ledger: true, .. }));
            let there = home.path("out").exists();
            assert_eq!(released, result.is_err() && there, "{fault:?} {at}: {result:?}");
            if there {
                verify(&home.path("out"), Some(&home.path("data.ledger"))).unwrap();
                kinds[2] += 1;
            } else {
                kinds[usize::from(state.exists())] += 1;
            }
            let answered = count(|entry| matches!(entry, Entry::Advance { .. }));
            if at % 2 == 0 {
                let said = home.recover();
                assert!(!said.contains("left alone"), "{fault:?} {at}: {said}");
            }
            let begun = home.state("out").join("release.json").exists();
            if result.is_ok() || home.path("out").exists() && !begun {
                // Nothing is to be gone on with.
                home.recover();
            } else {
                home.again();
            }
            home.whole("out");
            assert_eq!(home.files("out"), unbroken.files("out"), "{fault:?} {at}");
            assert_eq!(count(|entry| matches!(entry, Entry::Session { .. })), 1);
            assert_eq!(count(|entry| matches!(entry, Entry::Outcome { .. })), 1);
            // A pass that was kept is not drawn again.
            let open = count(|entry| matches!(entry, Entry::Withdrawn { .. }));
            let leases = count(|entry| matches!(entry, Entry::Lease { .. }));
            let advances = count(|entry| matches!(entry, Entry::Advance { .. }));
            assert!(
                leases == advances + open && open <= 1 && advances >= answered,
                "{fault:?} {at}"
            );
            let book = LedgerFile::at(&home.path("data.ledger")).read().unwrap();
            let spent = book.account::<AddRemove>().unwrap().spent().unwrap().get();
            assert!(spent <= 4.0 + 1e-9, "{spent}");
        }
    }
    assert!(kinds.iter().all(|kind| *kind > 3), "{kinds:?}");
}

/// A release that died after so many passes, and what it would have been.
fn stopped(passes: usize) -> Home {
    stopped_from(passes, Home::new)
}

fn stopped_from(passes: usize, new: impl Fn() -> Home) -> Home {
    for at in 0.. {
        let home = new();
        let disk = FailingDisk::new(at, Fault::Death);
        let _ = home.go("--out HOME/out", &disk);
        assert!(disk.failed(), "there is such a moment");
        let entries = home.entries();
        let advances = entries.iter().filter(|entry| matches!(entry, Entry::Advance { .. }));
        if advances.count() == passes {
            return home;
        }
    }
    unreachable!("the loop has no end")
}

#[test]
fn an_old_or_copied_state_does_not_go_on() {
    let home = stopped(1);
    copy(&home.state("out"), &home.state("copy"));
    let resume = |out: &str| home.go(&format!("--out HOME/{out} --resume"), &unsynced());
    let refused = |out: &str| {
        let entries = home.entries();
        let error = resume(out).unwrap_err().to_string();
        assert_eq!(entries, home.entries(), "before any draw");
        assert!(!home.path(out).exists());
        error
    };
    resume("out").unwrap();
    home.go("--out HOME/other", &unsynced()).unwrap();
    let error = refused("copy");
    assert!(error.contains("an old or copied state cannot go on"), "{error}");

    // Of two copies of the newest state, the first that goes on is the only one.
    let home = stopped(2);
    copy(&home.state("out"), &home.state("copy"));
    home.go("--out HOME/copy --resume", &unsynced()).unwrap();
    let error = home.go("--out HOME/out --resume", &unsynced()).unwrap_err().to_string();
    assert!(error.contains("an old or copied state cannot go on"), "{error}");
    // One that says that it is newer than it is; and another one of the newest generation, as there is after a crash and a withdrawn lease: what that has
    // drawn would be drawn again.
    for (from, to) in [("\"generation\":1", "\"generation\":2"), ("\"salt\":\"", "\"salt\":\"0")] {
        let home = stopped(1);
        let path = home.state("out").join(STATE);
        let text = fs::read_to_string(&path).unwrap();
        fs::write(&path, text.replace(from, to)).unwrap();
        let error = home.go("--out HOME/out --resume", &unsynced()).unwrap_err().to_string();
        assert!(error.contains("a copy that was changed"), "{error}");
    }
}

#[test]
fn numbers_beyond_their_range_are_cut_in_sql_as_well() {
    let Family::Cluster(args) = Home::new().family(&format!("{DPM} --no-ledger --explain-sql"))
    else {
        panic!("cluster")
    };
    let sql = crate::cluster::explain(&args, &unsynced()).unwrap();
    assert!(sql.contains("LEAST(GREATEST(r0, "), "{sql}");
}

/// Where every row is a place, one without a number is in the middle of its range, in metres, and "not a number" is none. No name ends a word of the statement.
#[test]
fn sql_takes_rows_as_a_release_does_whatever_names_hold() {
    let words = "map --range x=0,10 --range y=0,40 --unit km --k 2 --epsilon 2 --delta 1e-6 --within 100 --rows 999";
    let words = format!("{words} --column y=the\"y --no-ledger --explain-sql");
    let Family::Map(mut args) = Home::new().family(&words) else { panic!("map") };
    args.file.data = PathBuf::from("people's.csv");
    let sql = crate::map::explain(&args, &unsynced()).unwrap();
    let middle = super::sql_double(20_000.0);
    for want in [
        &format!("CASE WHEN r1 IS NULL OR isnan(r1) THEN {middle} ELSE LEAST("),
        "TRY_CAST(\"the\"\"y\" AS DOUBLE)",
        "FROM 'people''s.csv'",
    ] {
        assert!(sql.contains(want), "{want}: {sql}");
    }
}

#[test]
fn a_file_that_has_changed_between_two_passes_is_refused_before_a_draw() {
    let home = stopped(1);
    let unbroken = Home::new();
    unbroken.go("--out HOME/out", &unsynced()).unwrap();
    let text = fs::read_to_string(home.path("p.csv")).unwrap();
    let mut lines: Vec<&str> = text.lines().collect();
    let shorter = lines[..lines.len() - 1].join("\n");
    lines.swap(700, 701);
    let swapped = lines.join("\n");
    for changed in
        [shorter.clone(), text.clone() + "p1000,3,3\n", format!("{shorter}\np99,1,1\n"), swapped]
    {
        fs::write(home.path("p.csv"), changed).unwrap();
        let advances = |home: &Home| {
            home.entries().iter().filter(|entry| matches!(entry, Entry::Advance { .. })).count()
        };
        let before = advances(&home);
        let error = home.go("--out HOME/out --resume", &unsynced()).unwrap_err();
        insta::allow_duplicates! {
            insta::assert_snapshot!(error, @"the file: its rows are not those of the first pass: a release is of one file; put that back; nothing was released, it counts as spent, and the same command with --resume goes on");
        }
        assert_eq!(advances(&home), before);
        assert!(!matches!(home.entries().last(), Some(Entry::Lease { .. })));
    }
    // What is no part of a record may change.
    fs::write(home.path("p.csv"), text.replace("p99,", "p98,")).unwrap();
    home.again();
    home.whole("out");
    assert_eq!(home.files("out"), unbroken.files("out"));
}

/// What a pass has drawn is asked about in the next one, so it must not be drawn again after a loss of power.
#[cfg(unix)]
#[test]
fn what_a_pass_is_built_on_is_on_the_disk() {
    let (home, disk) = (Home::new(), WaitingDisk::default());
    let draws: &mut PassDraws<'_> = &mut |pass, draw| {
        disk.nothing_would_be_lost("the draw");
        draw(&mut SecureSource::new(&mut ChaCha20Rng::seed_from_u64(u64::from(pass))));
    };
    let words = format!("{DPM} --out-of-core --ledger HOME/data.ledger --out HOME/out");
    home.by_passes(&words, &disk, draws, &mut |_| ()).unwrap();
    disk.nothing_would_be_lost("the end");
    home.whole("out");
}

/// The same in one run: the file grows while its first pass is drawn.
#[test]
fn a_file_that_changes_during_a_run_is_refused() {
    let home = Home::new();
    let text = fs::read_to_string(home.path("p.csv")).unwrap();
    let draws: &mut PassDraws<'_> = &mut |pass, draw| {
        assert_eq!(pass, 0, "no second pass is drawn");
        draw(&mut SecureSource::new(&mut ChaCha20Rng::seed_from_u64(1)));
        fs::write(home.path("p.csv"), text.clone() + "p1000,3,3\n").unwrap();
    };
    let words = format!("{DPM} --out-of-core --ledger HOME/data.ledger --out HOME/out");
    let error = home.by_passes(&words, &unsynced(), draws, &mut |_| ()).unwrap_err().to_string();
    assert!(error.contains("its rows are not those of the first pass"), "{error}");
}

/// What is spent is not said to be unspent, wherever what a release goes on from may have gone.
#[test]
fn where_there_is_nothing_to_go_on_with_it_is_said_what_the_ledger_has() {
    let home = stopped(1);
    let resume = |out: &str| {
        home.go(&format!("--out HOME/{out} --resume"), &unsynced()).unwrap_err().to_string()
    };
    let shown = || LedgerFile::at(&home.path("data.ledger")).read().unwrap().show().unwrap();
    assert!(shown().contains(&format!("and spent: {}\n", home.path("out").display())));
    fs::rename(home.state("out"), home.path("elsewhere")).unwrap();
    let error = resume("out");
    assert!(error.contains("is spent, and what it goes on from is not there"), "{error}");
    assert!(resume("new").contains("nothing of one is spent"));
    fs::rename(home.path("elsewhere"), home.state("out")).unwrap();
    home.again();
    assert!(resume("out").contains("holds a release"));
    assert!(shown().contains(&format!("in its place: {}\n", home.path("out").display())));
    fs::remove_dir_all(home.path("out")).unwrap();
    assert!(resume("out").contains("is spent, and it is not there any more"));
}

/// A pipe is gone after the first pass, which is spent.
#[cfg(unix)]
#[test]
fn what_cannot_be_read_again_is_refused_before_anything_is_spent() {
    let home = Home::new();
    let draws: &mut PassDraws<'_> = &mut |_, _| panic!("nothing may be drawn");
    fs::remove_file(home.path("p.csv")).unwrap();
    std::os::unix::fs::symlink("/dev/null", home.path("p.csv")).unwrap();
    let words = format!("{DPM} --out-of-core --ledger HOME/data.ledger --out HOME/out");
    let error = home.by_passes(&words, &unsynced(), draws, &mut |_| ()).unwrap_err().to_string();
    assert!(error.contains("can be read again"), "{error}");
    assert!(home.entries().len() == 1 && !home.state("out").exists());
}

#[test]
fn another_plan_ledger_or_command_is_refused() {
    let home = stopped(1);
    home.ledger("other");
    let refused = |words: &str| home.go(words, &unsynced()).unwrap_err().to_string();
    let error = refused("--out HOME/out");
    assert!(error.contains("give --resume to go on"), "{error}");
    let error = refused("--out HOME/out --resume --unscaled");
    assert!(error.contains("another plan"), "{error}");
    let error = refused("--out HOME/new/out --resume");
    assert!(error.contains("nothing to go on with") && !home.path("new").exists(), "{error}");
    let draws: &mut PassDraws<'_> = &mut |_, _| panic!("nothing may be drawn");
    let mut by_passes = |words: &str| {
        home.by_passes(words, &unsynced(), draws, &mut |_| ()).unwrap_err().to_string()
    };
    let error = by_passes(&format!(
        "{DPM} --out-of-core --resume --ledger HOME/other.ledger --out HOME/out"
    ));
    assert!(error.contains("another ledger"), "{error}");
    let new = "--out-of-core --ledger HOME/data.ledger --out HOME/new/out";
    let error = by_passes(&format!("{DPM} --outside 0.1 {new}"));
    assert!(error.contains("without --outside"), "{error}");
    let error = by_passes(&format!("{} --k 3 {new}", DPM.replace("dpm", "lloyd")));
    assert!(error.contains("used with another method"), "{error}");
    let error = by_passes(&format!("{DPM} --column x=z {new}"));
    assert!(error.contains("none is called `z`"), "{error}");
    let places = "map --range x=0,10 --range y=0,10 --unit km --k 2 --epsilon 2 --delta 1e-6 --within 100 --rows 999";
    fs::remove_file(home.path("other.ledger")).unwrap();
    let error = by_passes(&format!("{places} --out-of-core --no-ledger --out HOME/new/out"));
    assert!(error.contains("their number is not that"), "{error}");
    for words in [DPM, &places.replace(" --within 100 --rows 999", "")] {
        let tables = "--from-tables HOME/t.csv --ledger HOME/data.ledger --out HOME/new/out";
        let error = by_passes(&format!("{words} --person who {tables}"));
        assert!(error.contains("left out where somebody else counts"), "{error}");
    }
    assert!(!home.path("new").exists() && !home.state("new/out").exists());
    let words = format!("quietus release {DPM} --data p.csv --out out --resume --ledger l");
    assert!(Cli::try_parse_from(words.split_whitespace()).is_err(), "--resume of what?");
    let error = home.by_passes(
        &format!("{DPM} --out-of-core --resume --no-ledger --out HOME/out"),
        &unsynced(),
        &mut |_, _| (),
        &mut |_| (),
    );
    assert!(error.unwrap_err().to_string().contains("--ledger must be given"));
    // A second process.
    let disk = unsynced();
    let held = crate::session::SessionFolder::open(&home.state("out"), &disk).unwrap();
    assert!(refused("--out HOME/out --resume").contains("another process is at work"));
    drop(held);
    home.again();
    home.whole("out");
}

#[cfg(unix)]
#[test]
fn only_the_owner_reads_a_state_and_records_do_not_show_in_its_length() {
    use std::os::unix::fs::PermissionsExt;
    let home = stopped(1);
    let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
    let state = home.state("out");
    assert_eq!((mode(&state), mode(&state.join(STATE))), (0o700, 0o600));
    let text = fs::read(state.join(STATE)).unwrap();
    let state: State = serde_json::from_slice(&text).unwrap();
    assert_eq!(state.checksum.len(), 16);
    for records in [0, 1, 1 << 40, u64::MAX] {
        assert_eq!(checksum_text(records).len(), 16, "{records}");
    }
}

#[cfg(unix)]
#[test]
fn a_folder_that_was_there_before_is_closed_to_others() {
    use std::os::unix::fs::PermissionsExt;
    let open = || {
        let home = Home::new();
        fs::create_dir(home.state("out")).unwrap();
        fs::set_permissions(home.state("out"), fs::Permissions::from_mode(0o755)).unwrap();
        home
    };
    let home = stopped_from(1, open);
    let state = home.state("out");
    assert!(state.join(STATE).exists());
    assert_eq!(fs::metadata(state).unwrap().permissions().mode() & 0o777, 0o700);
}

/// Counted before drawn: whatever dies then, the ledger has the pass.
#[test]
fn every_pass_is_drawn_under_an_open_lease() {
    let home = Home::new();
    let mut drawn = 0;
    let draws: &mut PassDraws<'_> = &mut |pass, draw| {
        let last = home.entries().pop();
        let next = u64::from(pass) + 1;
        assert!(
            matches!(last, Some(Entry::Lease { generation, .. }) if generation == next),
            "{last:?}"
        );
        drawn += 1;
        draw(&mut SecureSource::new(&mut ChaCha20Rng::seed_from_u64(next)));
    };
    let words = format!("{DPM} --out-of-core --ledger HOME/data.ledger --out HOME/out");
    home.by_passes(&words, &unsynced(), draws, &mut |_| ()).unwrap();
    assert!(drawn > 1, "{drawn}");
    home.whole("out");
}

/// Else whoever knows what is public and guesses the records could compare their hash with that in the ledger.
#[test]
fn the_hash_of_a_state_in_the_ledger_cannot_be_guessed() {
    let [one, other] = [stopped(1), stopped(1)].map(|home| {
        let text = fs::read(home.state("out").join(STATE)).unwrap();
        let state: State = serde_json::from_slice(&text).unwrap();
        for public in [home.path("data.ledger"), home.state("out").join("release.json")] {
            let public = fs::read_to_string(public).unwrap();
            assert!(!public.contains(&state.salt), "it is in no other place");
        }
        state
    });
    assert_eq!((&one.checksum, &one.passes), (&other.checksum, &other.passes), "all else is alike");
    // 128 bits, in hexadecimal.
    assert!(
        one.salt.len() >= 32 && one.salt.chars().all(|c| c.is_ascii_hexdigit()),
        "{}",
        one.salt
    );
    assert_ne!(one.salt, other.salt);
}

/// A pass that is counted elsewhere, from the words of the page: what each row counts as, and which lines a table has.
fn by_hand(asked: &Asked<Question>, points: &[f64], left_out: usize) -> Vec<String> {
    let mut tally = asked.tally().unwrap();
    tally.add(PointsView::new(&points[2 * left_out..], 2).unwrap()).unwrap();
    let bytes = tally.into_table().to_bytes();
    let (numbers, _) = bytes[32..bytes.len() - 8].as_chunks::<8>();
    let numbers: Vec<i64> = numbers.iter().map(|number| i64::from_le_bytes(*number)).collect();
    let (signature, rows) = (asked.signature(), numbers[0]);
    let entries = numbers[1..].iter().enumerate().filter(|(_, value)| **value != 0);
    let mut lines: Vec<String> =
        entries.map(|(entry, value)| format!("{signature},{entry},{value}")).collect();
    let cells = lines.len();
    lines.extend([format!("{signature},rows,{rows}"), format!("{signature},cells,{cells}")]);
    lines.reverse();
    lines
}

/// What the rows of a file count as, by the rules of the page.
fn points_of(text: &str) -> Vec<f64> {
    let number = |cell: &str| cell.parse::<f64>().ok().filter(|x| !x.is_nan());
    let mut points = Vec::new();
    for line in text.lines().skip(1) {
        let cells: Vec<&str> = line.split(',').collect();
        if let ([_, x, y], 3) = (&cells[..], cells.len())
            && let (Some(x), Some(y)) = (number(x), number(y))
        {
            points.extend([x, y].map(|x| x.clamp(0.0, 10.0) / 10.0));
        }
    }
    points
}

#[test]
fn a_release_from_tables_is_that_from_the_file_and_what_is_no_table_of_all_rows_is_refused() {
    let home = Home::new();
    let points = points_of(&fs::read_to_string(home.path("p.csv")).unwrap());
    home.go("--out HOME/direct", &unsynced()).unwrap();
    fs::rename(home.path("p.csv"), home.path("away.csv")).unwrap();
    let unit = PublicBox::cube(2, 0.0, 1.0).unwrap();
    let dpm = Dpm::new(unit, Budget::new(4.0, 1e-6).unwrap(), DpmSettings::default()).unwrap();
    let mut passes = Passes::new(dpm).unwrap();
    let words = format!("{DPM} --ledger HOME/data.ledger --out HOME/out --from-tables HOME/t.csv");
    let answer = |lines: &[String], resume: &str| {
        fs::write(home.path("t.csv"), format!("signature,entry,value\n{}\n", lines.join("\n")))
            .unwrap();
        let draws: &mut PassDraws<'_> = &mut |pass, draw| {
            draw(&mut SecureSource::new(&mut ChaCha20Rng::seed_from_u64(u64::from(pass) + 50)));
        };
        home.by_passes(&format!("{words} {resume}"), &unsynced(), draws, &mut |_| ())
    };
    let mut before = None;
    for pass in 0_u64.. {
        let asked = passes.asked().clone();
        let resume = if pass > 0 { "--resume" } else { "" };
        let lines = by_hand(&asked, &points, 0);
        let explained = match home.family(&words.replace("from-tables HOME/t.csv", "explain-sql")) {
            Family::Cluster(args) => crate::cluster::explain(&args, &unsynced()).unwrap(),
            other => panic!("{other:?}"),
        };
        assert!(explained.contains(&format!("SELECT '{}' AS signature", asked.signature())));
        assert!(
            explained.starts_with(&format!("-- Pass {}:", pass + 1))
                && explained.contains("p.csv'")
        );
        let change = |from: &str, to: &str| -> Vec<String> {
            lines.iter().map(|line| line.replace(from, to)).collect()
        };
        let first_entry = lines.len() - 1;
        let with = |line: String| [&lines[..first_entry], &[line]].concat();
        let entry: Vec<&str> = lines[first_entry].split(',').collect();
        let more = entry[2].parse::<i64>().unwrap() + (1 << 40);
        let mut lies = vec![
            (change("dptable1", "dptable2"), "not a whole table"),
            (change(&asked.signature()[9..25], "0123456789abcdef"), "another plan"),
            (change(&format!("-{pass}-"), "-77-"), "answers pass 78"),
            (lines[..first_entry].to_vec(), "not a whole table"),
            (lines[1..].to_vec(), "not a whole table"),
            (lines[..1].to_vec(), "not a whole table"),
            ([&lines[..], &lines[..1]].concat(), "not a whole table"),
            ([&lines[..], &lines[1..2]].concat(), "not a whole table"),
            (with(format!("x{},{},{}", entry[0], entry[1], entry[2])), "not a whole table"),
            ([&lines[..], &lines[first_entry..]].concat(), "not a whole table"),
            (with(format!("{},{},{more}", entry[0], entry[1])), "no records can make"),
            (with(format!("{},999999,{}", entry[0], entry[2])), "not a whole table"),
            (with(format!("{},{},1.5", entry[0], entry[1])), "not a whole table"),
        ];
        let signature = asked.signature();
        lies.push((
            change(&signature[signature.len() - 16..], "0123456789abcdef"),
            "another question",
        ));
        if !asked.question().name().starts_with("sums") {
            let minus = entry[2].parse::<i64>().unwrap() + 1;
            lies.push((with(format!("{},{},-{minus}", entry[0], entry[1])), "no records can make"));
            lies.push((with(format!("{},{},{minus}", entry[0], entry[1])), "no records can make"));
        }
        if let Some(before) = before.replace(lines.clone()) {
            lies.push((before, "answers pass"));
            lies.push((by_hand(&asked, &points, 1), "not one of all records"));
        }
        let entries = home.entries();
        for (lie, why) in lies {
            let error = answer(&lie, resume).unwrap_err().to_string();
            assert!(error.contains(why), "{why}: {error}");
            assert_eq!(home.entries(), entries, "before any draw");
        }
        let said = answer(&lines, resume).unwrap();
        let mut rng = ChaCha20Rng::seed_from_u64(pass + 50);
        let table = {
            let mut tally = asked.tally().unwrap();
            tally.add(PointsView::new(&points, 2).unwrap()).unwrap();
            tally.into_table()
        };
        let done = passes.simulate(&table, &mut rng).unwrap().is_some();
        assert_eq!(done, !said.text.is_empty());
        assert_eq!(done, home.path("out").exists());
        if done {
            break;
        }
        assert!(said.aside.contains(&format!("Pass {} is answered", pass + 1)), "{}", said.aside);
    }
    home.whole("out");
    assert_eq!(home.files("out"), home.files("direct"));
    let recentred = words.replace("dpm", "recentred").replace("HOME/out", "HOME/new/out");
    let error = home.by_passes(&recentred, &unsynced(), &mut |_, _| (), &mut |_| ());
    assert!(error.unwrap_err().to_string().contains("--method dpm") && !home.path("new").exists());
    let error =
        home.by_passes(&format!("{words} --person who"), &unsynced(), &mut |_, _| (), &mut |_| ());
    assert!(error.unwrap_err().to_string().contains("--person"));
}
