//! The suite from cells to the report, on the quick set.

use super::Local;
use crate::cli::EvalArgs;
use crate::data::manifest::Manifest;
use crate::eval::record::Record;
use crate::eval::settings::Settings;
use crate::eval::suite::{Context, Opened, Suite};
use crate::report::page::Page;

/// Run 0 of every algorithm: the order that the chapter is about, and a report that shows it.
#[test]
fn the_quick_set_runs_and_is_reported() {
    let folder = tempfile::tempdir().unwrap();
    let args = EvalArgs {
        suites: vec!["local".to_owned()],
        quick: true,
        epsilon: 4.0,
        seed: 3,
        out: Some(folder.path().join("out")),
        ..EvalArgs::default()
    };
    let settings = Settings::new(&args).unwrap();
    let context = Context { settings, manifest: Manifest::of_workspace().unwrap() };
    let mut suite = Local;
    let plan = suite.plan(&context).unwrap().swap_remove(0);
    let Opened::Ready(mut bench) = suite.open(&plan.dataset, &context).unwrap() else {
        panic!("generated")
    };
    let run = |cell: &Record| bench.run(cell).unwrap();
    let records: Vec<Record> = plan.cells.iter().filter(|cell| cell.run == 0).map(run).collect();
    let cost = |algorithm: &str| {
        let record = records.iter().find(|record| record.algorithm == algorithm).unwrap();
        record.metrics["cost_ratio"]
    };
    assert!(cost("kmeans++") < 1.5 && cost("local-k-means") < 1.1, "{records:?}");
    assert!(cost("public-uniform") > 3.0 && cost("laplace-records") > 3.0, "{records:?}");
    let mut page = Page::default();
    suite.report(&records, &context, &mut page).unwrap();
    assert!(page.text.contains("| local-k-means, ε 4 | 1 |"), "{}", page.text);
    assert_eq!(suite.summary(&records).len(), records.len() + 1);
}
