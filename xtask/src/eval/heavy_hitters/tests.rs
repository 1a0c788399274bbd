//! The suite from cells to the report, on the generated stream.

use super::HeavyHitters;
use super::data;
use crate::cli::EvalArgs;
use crate::data::manifest::Manifest;
use crate::eval::record::Record;
use crate::eval::settings::Settings;
use crate::eval::suite::{Context, Opened, Suite};
use crate::report::page::Page;

fn context(folder: &std::path::Path) -> Context {
    let args = EvalArgs {
        suites: vec!["heavy-hitters".to_owned()],
        quick: true,
        epsilon: 1.0,
        seed: 3,
        datasets: Some(folder.to_owned()),
        out: Some(folder.join("out")),
        ..EvalArgs::default()
    };
    Context { settings: Settings::new(&args).unwrap(), manifest: Manifest::of_workspace().unwrap() }
}

#[test]
fn sets_that_are_not_here_are_left_out_with_their_publisher() {
    let folder = tempfile::tempdir().unwrap();
    let context = context(folder.path());
    let mut suite = HeavyHitters;
    let plans = suite.plan(&context).unwrap();
    assert_eq!(plans.len(), data::SOURCES.len() + 1);
    for plan in plans.iter().filter(|plan| !plan.here) {
        let Opened::LeftOut { reason } = suite.open(&plan.dataset, &context).unwrap() else {
            panic!("{} is not here", plan.dataset)
        };
        assert!(reason.contains("published at"), "{reason}");
    }
}

/// Run 0 of every algorithm, twice: the same numbers, and a report that shows them.
#[test]
fn the_generated_stream_runs_and_is_reported() {
    let folder = tempfile::tempdir().unwrap();
    let context = context(folder.path());
    let mut suite = HeavyHitters;
    let plan = suite.plan(&context).unwrap().swap_remove(0);
    assert_eq!(plan.dataset, "zipf-drift");
    let Opened::Ready(mut bench) = suite.open(&plan.dataset, &context).unwrap() else {
        panic!("generated")
    };
    let first: Vec<&Record> = plan.cells.iter().filter(|cell| cell.run == 0).collect();
    let mut records = Vec::new();
    for cell in first {
        let record = bench.run(cell).unwrap();
        assert_eq!(record.metrics, bench.run(cell).unwrap().metrics, "{}", cell.algorithm);
        records.push(record);
    }
    let of = |algorithm: &str, metric: &str| {
        let record = records.iter().find(|record| record.algorithm == algorithm).unwrap();
        record.metrics[metric]
    };
    assert_eq!((of("exact", "recall"), of("exact", "precision")), (1.0, 1.0));
    // With one report per user it finds small counts and uses its users up.
    assert!(of("thresh-monitor", "recall") > 0.3 && of("thresh-monitor", "precision") > 0.5);
    assert!(of("thresh-monitor", "recall") > of("basic-histograms", "recall"));
    let mut page = Page::default();
    suite.report(&records, &context, &mut page).unwrap();
    assert!(page.text.contains("| thresh-monitor (k=1), ε 1 |"), "{}", page.text);
    assert_eq!(page.plots.len(), 2);
    assert_eq!(suite.summary(&records).len(), records.len() + 1);
}
