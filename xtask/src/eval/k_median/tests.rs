//! The suite from cells to the report, on generated instances.

use super::KMedian;
use super::data::or_library;
use crate::cli::EvalArgs;
use crate::data::manifest::Manifest;
use crate::eval::record::Record;
use crate::eval::settings::Settings;
use crate::eval::suite::{Context, Opened, Suite};
use crate::report::page::Page;
use std::path::Path;

fn context(folder: &Path, quick: bool) -> Context {
    let args = EvalArgs {
        suites: vec!["k-median".to_owned()],
        quick,
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
    let context = context(folder.path(), false);
    let mut suite = KMedian;
    let plans = suite.plan(&context).unwrap();
    let missing: Vec<_> = plans.iter().filter(|plan| !plan.here).collect();
    assert_eq!((plans.len(), missing.len()), (40, 22));
    for plan in missing {
        let Opened::LeftOut { reason } = suite.open(&plan.dataset, &context).unwrap() else {
            panic!("{} is not here", plan.dataset)
        };
        assert!(reason.contains("published at"), "{reason}");
    }
}

/// Run 0 of every algorithm on one instance, twice: the same numbers, and a report that shows them.
#[test]
fn a_generated_instance_runs_and_is_reported() {
    let folder = tempfile::tempdir().unwrap();
    let context = context(folder.path(), true);
    let mut suite = KMedian;
    let plan = suite.plan(&context).unwrap().swap_remove(1);
    assert_eq!(plan.dataset, "pmed-hotspots-q1-n10000");
    let Opened::Ready(mut bench) = suite.open(&plan.dataset, &context).unwrap() else {
        panic!("generated")
    };
    let mut records: Vec<Record> = Vec::new();
    for cell in plan.cells.iter().filter(|cell| cell.run == 0) {
        let record = bench.run(cell).unwrap();
        assert_eq!(record.metrics, bench.run(cell).unwrap().metrics, "{}", cell.algorithm);
        records.push(record);
    }
    let cost = |algorithm: &str| {
        let record = records.iter().find(|record| record.algorithm == algorithm).unwrap();
        record.metrics["cost_ratio"]
    };
    assert!((cost("faster-pam") - 1.0).abs() < 1e-12);
    assert!(cost("metric-histogram") < 1.05, "{}", cost("metric-histogram"));
    assert!(cost("metric-bicriteria") < 1.2, "{}", cost("metric-bicriteria"));
    assert!(cost("public-uniform") > 1.3, "{}", cost("public-uniform"));
    let mut page = Page::default();
    suite.report(&records, &context, &mut page).unwrap();
    assert!(page.text.contains("| metric-histogram (one prior) | 1 |"), "{}", page.text);
    assert!(page.text.contains("in 0 of 1 cells."), "{}", page.text);
    assert_eq!(suite.summary(&records).len(), records.len() + 1);
}

#[test]
fn the_last_of_a_repeated_edge_counts() {
    let metric = or_library(" 3 4 1\n 1 2 5\n 2 3 7\n 2 1 9\n 1 3 99", Path::new("toy")).unwrap();
    assert_eq!([metric.distance(0, 1), metric.distance(1, 2), metric.distance(0, 2)], [9, 7, 16]);
    let refused = |text| or_library(text, Path::new("toy")).err().unwrap().to_string();
    assert!(refused("3 x 1").contains("`x` is not a number"));
    assert!(refused("3").contains("the first line is missing"));
    assert!(refused("3 1 1\n 0 2 5").contains("which is no node"));
}
