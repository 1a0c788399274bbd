//! The suite on a tiny data set, from cells to the report.

use super::bench::Bench;
use super::{Clustering, plan};
use crate::cli::EvalArgs;
use crate::eval::evaluation;
use crate::eval::record::Record;
use crate::eval::results::FILE;
use crate::eval::session::Session;
use crate::eval::settings::Settings;
use crate::eval::suite::{Context, Suite, Workbench};
use quietus_datasets::catalogue::{Origin, Recipe};
use quietus_datasets::manifest::Manifest;
use quietus_datasets::prepare::{Dataset, prepare};
use quietus_datasets::sets::Shelf;
use std::path::Path;
use std::sync::atomic::AtomicBool;

static TINY: [Recipe; 1] = [Recipe {
    id: "tiny",
    origin: Origin::Blobs,
    n: 3_000,
    d: 3,
    k: 4,
    range: (-100.0, 100.0),
    k_search: [2, 3, 4, 5, 6],
}];

fn settings(out: &Path, resume: bool) -> Settings {
    let args = EvalArgs {
        suites: vec!["dpm".to_owned()],
        quick: true,
        epsilon: 1.0,
        seed: 3,
        out: Some(out.to_owned()),
        resume,
        ..EvalArgs::default()
    };
    Settings::new(&args).unwrap()
}

fn tiny() -> Dataset {
    let manifest = Manifest::of_workspace().unwrap();
    let shelf = Shelf { manifest: &manifest, folder: Path::new("unused") };
    prepare(&TINY[0], &shelf).unwrap().unwrap()
}

/// A record without what differs from machine to machine.
fn timeless(record: &Record) -> Record {
    Record { seconds: 0.0, peak_rss_mib: None, ..record.clone() }
}

#[test]
fn results_depend_on_neither_the_order_nor_the_threads() {
    let out = tempfile::tempdir().unwrap();
    let settings = settings(out.path(), false);
    let dataset = tiny();
    let references = vec![dataset.true_centres.clone().unwrap()];
    let mut bench = Bench::new(dataset, settings.clone());
    bench.references = references;
    let context = Context { settings, manifest: Manifest::of_workspace().unwrap() };
    let cells = plan::of(&TINY[0], &context).unwrap().cells;
    let mut run = |threads: usize, backwards: bool| -> Vec<Record> {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        let mut order: Vec<&Record> = cells.iter().collect();
        if backwards {
            order.reverse();
        }
        let mut records = Vec::new();
        for cell in order {
            records.push(timeless(&pool.install(|| bench.run(cell)).unwrap()));
        }
        if backwards {
            records.reverse();
        }
        records
    };
    let alone = run(1, false);
    assert!(alone.len() >= 4);
    assert_ne!(alone[1].metrics, alone[alone.len() / 2 + 1].metrics, "runs differ");
    assert_eq!(run(2, false), alone);
    assert_eq!(run(7, true), alone);
}

#[test]
fn an_evaluation_resumes_to_the_same_results_and_report() {
    let out = tempfile::tempdir().unwrap();
    let evaluate = |resume: bool, stop: bool| {
        let (settings, stop) = (settings(out.path(), resume), AtomicBool::new(stop));
        let suites: Vec<Box<dyn Suite>> = vec![Box::new(Clustering::of(&TINY))];
        let mut session = Session::open(&settings, &stop, suites).unwrap();
        session.run().unwrap();
        let evaluation = session.close();
        evaluation::write(&evaluation).unwrap();
        evaluation
    };
    let read = |name: &str| std::fs::read_to_string(out.path().join(name)).unwrap();

    let first = evaluate(false, false);
    assert!(first.failures.is_empty() && !first.interrupted);
    let (results, page) = (read(FILE), read("report.html"));
    let lines = results.lines().count();
    assert_eq!(lines, first.records.len());
    assert!(page.matches("<svg").count() >= 3, "two strips and a scatter");
    assert!(page.contains("add-remove"), "the receipt");

    // Nothing is left to do: the file stays as it is and the plots come from the kept centres.
    evaluate(true, false);
    assert_eq!((read(FILE), read("report.html")), (results.clone(), page));

    // The last line is cut, and then Ctrl-C comes at once: all others and a report remain.
    std::fs::write(out.path().join(FILE), &results[..results.len() - 30]).unwrap();
    let stopped = evaluate(true, true);
    assert!(stopped.interrupted && stopped.records.len() == lines - 1);
    assert!(read("report.md").contains("**Interrupted.**"));

    let last = evaluate(true, false);
    let all = |records: &[Record]| records.iter().map(timeless).collect::<Vec<_>>();
    assert_eq!(all(&last.records), all(&first.records));
}
