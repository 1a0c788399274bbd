//! Popular items step after step, from the rows of a log to every byte that comes out of all runs of a session: the exact law over the coins of the sample
//! and all reports.

use crate::commands::{Seen, files_of};
use clap::Parser;
use dp_accounting::{AddRemove, Budget};
use dp_audit::harness::{Check, Effort, Found};
use dp_audit::{Law, Method as By, Window, exact_law};
use dp_mechanism::{Mechanism, Source};
use dp_stream::{
    Event, Method, MonitorPlan, MonitorSettings, Report, StreamShape, Threshold, Universe,
};
use quietus::cli::{Cli, Command, Family, ItemsArgs};
use quietus::items::{items_plan, release_items};
use quietus::{Disk, Gate, LedgerFile, RealDisk};
use std::fs::{self, File};
use std::io;
use std::path::Path;

pub(crate) fn checks() -> Vec<Check> {
    let what = "ItemsPlan, all runs of a session from log to files: release items";
    vec![Check::new("quietus-items-command", what, "add-remove", By::Exact, on_files)]
}

/// Which items and steps are public, how much of a user counts, epsilon, and one above the threshold that follows: larger noisy counts are one
/// outcome. Times until when the runs of the session go.
const WAYS: [(&str, f64, i64, &[&str]); 3] = [
    ("--items A --from 0 --step 2 --steps 2 --reports-per-user 1", 1.0, 4, &["2", "4"]),
    (
        "--items A --boundaries 2024-01-01,2024-01-03,2024-02-01 --reports-per-user 1",
        3.0,
        2,
        &["2024-01-05", "2024-02-01"],
    ),
    ("--numbers-below 1 --from 0 --step 2 --steps 2 --reports-per-user 2", 1.0, 6, &["1", "4"]),
];

/// All rows of one user, odd ones as well; `1` is somebody else.
const OWN: [&str; 5] = [
    "2,A,0\n2,A,3\n2,0,1\n2,0,2\n2,A,2024-01-01\n2,A,2024-01-20 23:59\n",
    "2,A,1\n2,A,1\n2,A,0\n2,A,2024-01-02T12:00:01.5Z\n",
    "2,A,\n2,,1\n,A,1\n2,A\n2,A,-1\n2,A,99999999999999999999\n",
    "2,\u{fffd},1\n\" 2 \",\"A\n\",3\n2,A,3,3\n2,A,2024-02-31\n",
    "2,A,3.0\n2,0,3\n2,A,soon\n2,A,3\n2,A,2024-01-31T25:00\n2,A,2024-01-31\n",
];

/// What waits for no disk.
#[derive(Debug)]
pub(crate) struct Unsynced;

impl Disk for Unsynced {
    fn create_folder(&self, path: &Path) -> io::Result<()> {
        RealDisk.create_folder(path)
    }

    fn create_file(&self, path: &Path) -> io::Result<File> {
        RealDisk.create_file(path)
    }

    fn write(&self, file: &mut File, bytes: &[u8]) -> io::Result<()> {
        RealDisk.write(file, bytes)
    }

    fn sync(&self, _: &File) -> io::Result<()> {
        Ok(())
    }

    fn cut(&self, file: &File, len: u64) -> io::Result<()> {
        RealDisk.cut(file, len)
    }

    fn rename(&self, from: &Path, to: &Path) -> io::Result<()> {
        RealDisk.rename(from, to)
    }

    fn remove_file(&self, path: &Path) -> io::Result<()> {
        RealDisk.remove_file(path)
    }

    fn remove_empty(&self, path: &Path) -> io::Result<()> {
        RealDisk.remove_empty(path)
    }

    fn remove_all(&self, path: &Path) -> io::Result<()> {
        RealDisk.remove_all(path)
    }
}

fn args(home: &Path, words: &str, epsilon: f64, until: &str) -> ItemsArgs {
    let all = format!(
        "quietus release items --user who --item what --time when {words} --epsilon {epsilon} --until {until} --data HOME/p.csv --out HOME/out --ledger HOME/data.ledger"
    );
    let all = all.replace("HOME", home.to_str().expect("Unicode"));
    match Cli::parse_from(all.split_whitespace()).command {
        Command::Release { family: Family::Items(args) } => args,
        other => unreachable!("{other:?}"),
    }
}

fn on_files(effort: Effort) -> Found {
    let mut found = Found::claim(1.0);
    let home = tempfile::tempdir().expect("a place for files");
    for (words, epsilon, most, runs) in WAYS {
        let runs: Vec<ItemsArgs> =
            runs.iter().map(|until| args(home.path(), words, epsilon, until)).collect();
        assert!(items_plan(&runs[0]).expect("valid").receipt().within_budget());
        for own in &OWN[..effort.of(3, OWN.len())] {
            for others in ["", "1,A,1\n1,0,3\n1,A,2024-01-09\n"].iter().take(effort.of(1, 2)) {
                let law = |rows: &[&str]| law((home.path(), most), &runs, &rows.concat());
                let without = law(&[others]);
                // Who comes first gets a number first.
                for rows in [[*others, own], [own, *others]] {
                    let with = law(&rows);
                    let loss = with.pure_loss(&without).max(without.pure_loss(&with));
                    found.see(loss / epsilon, || format!("{words}: {own:?} of {rows:?}"));
                }
            }
        }
    }
    found
}

fn law((home, most): (&Path, i64), runs: &[ItemsArgs], rows: &str) -> Law<Vec<Seen>> {
    let plain = "a folder of our own";
    fs::write(home.join("p.csv"), format!("who,what,when\n{rows}")).expect(plain);
    exact_law(Window::new(0, most), |source: &mut dyn Source| {
        let path = home.join("data.ledger");
        let _ = fs::remove_file(&path);
        let limit = Budget::new(9.0, 0.0).expect("valid");
        LedgerFile::create(&path, "p", AddRemove, limit, "its name", &Unsynced).expect(plain);
        let mut seen = Vec::new();
        for (number, args) in (1..).zip(runs) {
            let said =
                release_items(args, &Gate::default(), &Unsynced, &mut |_, draw| draw(source));
            if number < runs.len() {
                // What is public after this run, its text and its errors.
                let said = said.map_err(|error| error.to_string());
                let read = |name: &str| fs::read(home.join("out").join(name)).unwrap_or_default();
                let files = ["items.csv", "items.svg", "report.txt"];
                let files = files.map(|name| (name.to_owned(), read(name))).to_vec();
                seen.push(said.map(|said| (said.text + &said.aside, files)));
                continue;
            }
            // The private state is nobody's to see; its name is.
            seen.push(files_of(home, said).map(|(text, mut files)| {
                for (name, content) in &mut files {
                    if name.starts_with("PRIVATE") {
                        content.clear();
                    }
                }
                (text, files)
            }));
        }
        seen
    })
    .under(AddRemove)
}

fn small(steps: u64) -> MonitorPlan {
    let shape = StreamShape { universe: Universe::Range { size: 1 }, users: 2, steps };
    let threshold = Threshold::Count { count: 2 };
    let settings = MonitorSettings { threshold, ..Default::default() };
    let budget = Budget::new(1.0, 0.0).expect("valid");
    MonitorPlan::new(Method::ThreshMonitor, shape, budget, 1, settings).expect("valid")
}

/// A state that is copied between two steps: both copies take the second one. What a kept user may cost is then spent twice.
pub(crate) fn copied(_: Effort, twice: bool) -> Found {
    let plan = small(2);
    let law = |events: &[Event]| -> Law<Vec<Report>> {
        exact_law(Window::new(0, 3), |source: &mut dyn Source| {
            let mut monitor = plan.start_with(source);
            monitor.step_with(0, &[], source).expect("in time");
            let state = serde_json::to_vec(&monitor.state()).expect("plain fields");
            let mut seen = Vec::new();
            for _ in 0..if twice { 2 } else { 1 } {
                let copy: dp_stream::MonitorState = serde_json::from_slice(&state).expect("whole");
                let mut monitor = copy.resume(&plan, 1).expect("of this plan");
                seen.extend(monitor.step_with(1, events, source).expect("in time"));
                // One is told from the other.
                seen.push(Report { time: 9, item: 0, noisy_count: 0 });
            }
            seen
        })
    };
    loss(law(&[Event { user: 0, item: 0 }]), law(&[]), "a step of both copies")
}

/// Numbers of users that are given anew in each run: somebody has two, and twice the reports.
pub(crate) fn numbered_anew(_: Effort, anew: bool) -> Found {
    let plan = small(2);
    let law = |there: bool| -> Law<Vec<Report>> {
        exact_law(Window::new(0, 3), |source: &mut dyn Source| {
            let mut monitor = plan.start_with(source);
            let mut seen = Vec::new();
            for step in 0..2 {
                let user = u32::from(anew && step == 1);
                let events = [Event { user, item: 0 }];
                let events = if there { &events[..] } else { &[] };
                seen.extend(monitor.step_with(step, events, source).expect("in time"));
            }
            seen
        })
    };
    loss(law(true), law(false), "two runs")
}

fn loss(with: Law<Vec<Report>>, without: Law<Vec<Report>>, of: &str) -> Found {
    let [with, without] = [with, without].map(|law| law.under(AddRemove));
    let mut found = Found::claim(1.0);
    found.see(with.pure_loss(&without).max(without.pure_loss(&with)), || of.to_owned());
    found
}
