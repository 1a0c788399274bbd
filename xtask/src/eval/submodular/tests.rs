//! The suite from cells to the report, on the generated instance.

use super::{Submodular, data};
use crate::cli::EvalArgs;
use crate::data::manifest::Manifest;
use crate::eval::record::Record;
use crate::eval::settings::{Effort, Settings};
use crate::eval::suite::{Context, Opened, Suite};
use crate::report::page::Page;

fn context(folder: &std::path::Path) -> Context {
    let args = EvalArgs {
        suites: vec!["submodular".to_owned()],
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
    for source in data::sources(Effort::Full).filter(|source| !source.is_generated()) {
        let Opened::LeftOut { reason } = Submodular.open(source.id, &context).unwrap() else {
            panic!("{} is not here", source.id)
        };
        assert!(reason.contains("published at"), "{reason}");
    }
}

#[test]
fn the_grid_has_the_pairs_of_the_full_evaluation() {
    let pairs: usize =
        data::SOURCES.iter().filter(|s| s.is_generated()).map(|source| source.ks.len()).sum();
    assert_eq!(pairs, 30);
}

/// Run 0 of every algorithm, twice: the same numbers, and a report that shows them.
#[test]
fn the_generated_instance_runs_and_is_reported() {
    let folder = tempfile::tempdir().unwrap();
    let context = context(folder.path());
    let mut suite = Submodular;
    let plan = suite.plan(&context).unwrap().swap_remove(0);
    let Opened::Ready(mut bench) = suite.open(&plan.dataset, &context).unwrap() else {
        panic!("generated")
    };
    let mut records = Vec::new();
    for cell in plan.cells.iter().filter(|cell| cell.run == 0) {
        let record = bench.run(cell).unwrap();
        assert_eq!(record.metrics, bench.run(cell).unwrap().metrics, "{}", cell.algorithm);
        records.push(record);
    }
    let of = |algorithm: &str, variant: &str| {
        let is = |r: &&Record| r.algorithm == algorithm && r.variant == variant;
        records.iter().find(is).unwrap().metrics["value_ratio"]
    };
    assert!((of("greedy", "k=20") - 1.0).abs() < 1e-12);
    assert!(of("pure-greedy", "k=20") > 0.9 && of("pure-greedy", "k=20") <= 1.02);
    assert!(of("composition-greedy", "k=20") < of("pure-greedy", "k=20"));
    assert!(of("pure-continuous-greedy", "20 blocks, 1 of each; 4 steps, best of 8") > 0.4);
    let mut page = Page::default();
    suite.report(&records, &context, &mut page).unwrap();
    assert!(page.text.contains("| coverage-1e3x1e3 | k=20 |"), "{}", page.text);
    assert!(suite.summary(&records).len() > 3);
}
