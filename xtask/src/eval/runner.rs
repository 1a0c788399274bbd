//! Runs cells one after another: a cell that fails is noted and the others go on, a stop between two
//! cells loses nothing.
//!
//! Cells do not run side by side, although `--jobs` threads work inside each: `seconds` would
//! measure the neighbours as well.

use crate::error::Error;
use crate::eval::record::Record;
use crate::eval::results::Results;
use crate::progress::Progress;
use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, Ordering};

/// A cell, or the preparation of a data set, that did not work.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Failure {
    pub(crate) what: String,
    pub(crate) reason: String,
}

/// What became of some cells.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Tally {
    pub(crate) finished: usize,
    /// Cells that an earlier run had finished.
    pub(crate) kept: usize,
    pub(crate) failures: Vec<Failure>,
    pub(crate) interrupted: bool,
}

/// Runs each planned cell that is not in `results` yet. `planned` carries the settings of a record;
/// `work` fills in what was measured. Only results that cannot be written end this early.
pub(crate) fn run_cells(
    planned: &[Record],
    mut work: impl FnMut(&Record) -> Result<Record, Error>,
    results: &mut Results,
    stop: &AtomicBool,
    progress: &mut Progress,
    units: u64,
) -> Result<Tally, Error> {
    let mut tally = Tally::default();
    for plan in planned {
        if results.has(plan)? {
            tally.kept += 1;
            continue;
        }
        if stop.load(Ordering::Relaxed) {
            tally.interrupted = true;
            break;
        }
        let name = name_of(plan);
        progress.doing(&name);
        match guarded(|| work(plan)) {
            Ok(record) => {
                results.push(record)?;
                tally.finished += 1;
            }
            Err(reason) => {
                progress.say(&format!("error: {name} failed: {reason}"));
                tally.failures.push(Failure { what: name.clone(), reason });
            }
        }
        progress.advance(units, &name);
    }
    Ok(tally)
}

/// Turns both an error and a panic into a reason.
pub(crate) fn guarded<T>(work: impl FnOnce() -> Result<T, Error>) -> Result<T, String> {
    match catch_unwind(AssertUnwindSafe(work)) {
        Ok(Ok(value)) => Ok(value),
        Ok(Err(error)) => Err(error.to_string()),
        Err(payload) => Err(format!("it panicked: {}", panic_text(payload.as_ref()))),
    }
}

fn panic_text(payload: &(dyn Any + Send)) -> &str {
    payload
        .downcast_ref::<&str>()
        .copied()
        .or_else(|| payload.downcast_ref::<String>().map(String::as_str))
        .unwrap_or("without a message")
}

/// A cell's name for people.
pub(crate) fn name_of(record: &Record) -> String {
    let epsilon =
        record.epsilon.map_or(String::new(), |epsilon| format!(", epsilon {}", short(epsilon)));
    format!("{}, {}{epsilon}, run {}", record.dataset, record.algorithm, record.run + 1)
}

/// Four significant digits at most: an epsilon that follows from others has sixteen.
fn short(value: f64) -> f64 {
    format!("{value:.3e}").parse().unwrap_or(value)
}

#[cfg(test)]
mod tests {
    use super::{Failure, Tally, name_of, run_cells};
    use crate::error::Error;
    use crate::eval::record::Record;
    use crate::eval::record::tests::example;
    use crate::eval::results::tests::SmallDisk;
    use crate::eval::results::{FILE, Results};
    use crate::progress::Progress;
    use std::path::Path;
    use std::sync::atomic::{AtomicBool, Ordering};

    fn plan() -> Vec<Record> {
        (0..4).map(|run| example("synth-10d", "dpm", run)).collect()
    }

    fn run(
        out: &Path,
        resume: bool,
        stop: &AtomicBool,
        work: impl FnMut(&Record) -> Result<Record, Error>,
    ) -> Tally {
        let mut results = Results::open(out, resume).unwrap();
        run_cells(&plan(), work, &mut results, stop, &mut Progress::silent(), 1).unwrap()
    }

    #[test]
    fn a_cell_that_errs_or_panics_is_listed_and_the_others_go_on() {
        let out = tempfile::tempdir().unwrap();
        let tally = run(out.path(), false, &AtomicBool::new(false), |plan| match plan.run {
            1 => Err(Error::library("dpm", "no such depth")),
            2 => panic!("a bug with number {}", 7),
            _ => Ok(plan.clone()),
        });
        let failure = |run, reason: &str| Failure {
            what: format!("synth-10d, dpm, epsilon 1, run {run}"),
            reason: reason.to_owned(),
        };
        assert_eq!(tally.finished, 2);
        assert_eq!(
            tally.failures,
            [failure(2, "dpm: no such depth"), failure(3, "it panicked: a bug with number 7")]
        );
    }

    #[test]
    fn a_stop_keeps_the_finished_cells_and_resume_neither_loses_nor_repeats_one() {
        let out = tempfile::tempdir().unwrap();
        let stop = AtomicBool::new(false);
        let first = run(out.path(), false, &stop, |plan| {
            stop.store(plan.run == 1, Ordering::Relaxed);
            Ok(plan.clone())
        });
        assert_eq!((first.finished, first.interrupted), (2, true));

        let mut ran = Vec::new();
        let second = run(out.path(), true, &AtomicBool::new(false), |plan| {
            ran.push(plan.run);
            Ok(plan.clone())
        });
        assert_eq!((second.kept, second.finished, ran), (2, 2, vec![2, 3]));
        let lines = std::fs::read_to_string(out.path().join(FILE)).unwrap();
        let straight = tempfile::tempdir().unwrap();
        run(straight.path(), false, &AtomicBool::new(false), |plan| Ok(plan.clone()));
        assert_eq!(lines, std::fs::read_to_string(straight.path().join(FILE)).unwrap());
    }

    #[test]
    fn a_failed_cell_runs_again_on_resume() {
        let out = tempfile::tempdir().unwrap();
        let go = AtomicBool::new(false);
        run(
            out.path(),
            false,
            &go,
            |plan| {
                if plan.run == 1 { panic!("once") } else { Ok(plan.clone()) }
            },
        );
        let second = run(out.path(), true, &go, |plan| Ok(plan.clone()));
        assert_eq!((second.kept, second.finished, second.failures.len()), (3, 1, 0));
    }

    #[test]
    fn names_of_cells_are_short() {
        let name = |epsilon| name_of(&Record { epsilon, ..example("letter", "dpm", 0) });
        assert_eq!(name(Some(45.240_949)), "letter, dpm, epsilon 45.24, run 1");
        assert_eq!(name(Some(1_065.667)), "letter, dpm, epsilon 1066, run 1");
        assert_eq!(name(Some(0.1)), "letter, dpm, epsilon 0.1, run 1");
        assert_eq!(name(None), "letter, dpm, run 1");
    }

    #[test]
    fn a_full_disk_ends_the_run_with_the_finished_cells_in_hand() {
        let room = 2 * serde_json::to_vec(&plan()[0]).unwrap().len() + 40;
        let mut results = Results::with_sink("OUT/results.jsonl".into(), Box::new(SmallDisk(room)));
        let error = run_cells(
            &plan(),
            |plan| Ok(plan.clone()),
            &mut results,
            &AtomicBool::new(false),
            &mut Progress::silent(),
            1,
        )
        .unwrap_err();
        assert!(error.to_string().starts_with("cannot append to OUT/results.jsonl: "), "{error}");
        assert_eq!(results.records().len(), 2);
    }
}
