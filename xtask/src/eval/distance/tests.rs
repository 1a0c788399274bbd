//! The suite from cells to the report, on a generated set.

use super::Distance;
use crate::cli::EvalArgs;
use crate::data::manifest::Manifest;
use crate::eval::record::Record;
use crate::eval::settings::Settings;
use crate::eval::suite::{Context, Opened, Suite};
use crate::report::page::Page;
use std::path::Path;

fn context(folder: &Path, quick: bool) -> Context {
    let args = EvalArgs {
        suites: vec!["distance".to_owned()],
        quick,
        full: !quick,
        epsilon: 0.1,
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
    let mut suite = Distance;
    let plans = suite.plan(&context).unwrap();
    let missing: Vec<_> = plans.iter().filter(|plan| !plan.here).collect();
    assert_eq!((plans.len(), missing.len()), (28, 27));
    for plan in missing {
        let Opened::LeftOut { reason } = suite.open(&plan.dataset, &context).unwrap() else {
            panic!("{} is not here", plan.dataset)
        };
        assert!(reason.contains("published at"), "{reason}");
    }
}

/// Run 0 of every algorithm on the blobs, twice: the same numbers, and a report that shows them. The smaller the distance, the better the map; noise
/// on every point is worse than the map.
#[test]
fn a_generated_set_runs_and_is_reported() {
    let folder = tempfile::tempdir().unwrap();
    let context = context(folder.path(), true);
    let mut suite = Distance;
    let plan = suite.plan(&context).unwrap().swap_remove(0);
    assert_eq!(plan.dataset, "blobs-k8");
    let Opened::Ready(mut bench) = suite.open(&plan.dataset, &context).unwrap() else {
        panic!("generated")
    };
    let mut records: Vec<Record> = Vec::new();
    for cell in plan.cells.iter().filter(|cell| cell.run == 0) {
        let record = bench.run(cell).unwrap();
        assert_eq!(record.metrics, bench.run(cell).unwrap().metrics, "{}", cell.algorithm);
        records.push(record);
    }
    let cost = |algorithm: &str, variant: &str| {
        let named = |record: &&Record| record.algorithm == algorithm && record.variant == variant;
        records.iter().find(named).unwrap().metrics["cost_ratio"]
    };
    assert!((cost("kmeans++", "default") - 1.0).abs() < 0.05);
    let (near, far) = (cost("map", "ρ 0.008"), cost("map", "ρ 1"));
    assert!(near < 1.2 && near < far, "{near} {far}");
    assert!(cost("noised-points", "ρ 0.05") > 1.5 * cost("map", "ρ 0.05"));
    assert!(cost("public-uniform", "default") > 2.0 * near);
    let mut page = Page::default();
    suite.report(&records, &context, &mut page).unwrap();
    assert!(page.text.contains("| map (ρ 0.05) | 1 |"), "{}", page.text);
    assert!(page.text.contains("Of 5 cells of the map"), "{}", page.text);
    assert_eq!(suite.summary(&records).len(), records.len() + 1);
}
