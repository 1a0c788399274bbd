//! The suite from cells to the report, on the generated family.

use super::SetCover;
use super::data;
use crate::cli::EvalArgs;
use crate::data::manifest::Manifest;
use crate::eval::record::Record;
use crate::eval::settings::Settings;
use crate::eval::suite::{Context, Opened, Suite};
use crate::report::page::Page;

fn context(folder: &std::path::Path, quick: bool) -> Context {
    let args = EvalArgs {
        suites: vec!["set-cover".to_owned()],
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
fn families_that_are_not_here_are_left_out_with_their_publisher() {
    let folder = tempfile::tempdir().unwrap();
    let context = context(folder.path(), false);
    let mut suite = SetCover;
    let plans = suite.plan(&context).unwrap();
    assert_eq!(plans.len(), data::SOURCES.len());
    let away: Vec<_> = plans.iter().filter(|plan| !plan.here).collect();
    assert_eq!(away.len(), data::SOURCES.iter().filter(|source| source.file().is_some()).count());
    for plan in away {
        let Opened::LeftOut { reason } = suite.open(&plan.dataset, &context).unwrap() else {
            panic!("{} is not here", plan.dataset)
        };
        assert!(reason.contains("published at"), "{reason}");
    }
    // Every file that is looked for is in the manifest.
    for source in &data::SOURCES {
        if let Some((set, file)) = source.file() {
            let path = format!("{set}/{file}");
            assert!(context.manifest.set(set).unwrap().files.iter().any(|e| e.path == path));
        }
    }
}

/// Run 0 of every algorithm, twice: the same numbers, and a report that shows them.
#[test]
fn the_generated_family_runs_and_is_reported() {
    let folder = tempfile::tempdir().unwrap();
    let context = context(folder.path(), true);
    let mut suite = SetCover;
    let plan = suite.plan(&context).unwrap().swap_remove(0);
    assert_eq!(plan.dataset, "random-x10");
    let Opened::Ready(mut bench) = suite.open(&plan.dataset, &context).unwrap() else {
        panic!("generated")
    };
    let mut records: Vec<Record> = Vec::new();
    for cell in plan.cells.iter().filter(|cell| cell.run == 0) {
        let record = bench.run(cell).unwrap();
        if cell.algorithm == "set-cover-select" {
            assert_eq!(record.metrics, bench.run(cell).unwrap().metrics, "{}", cell.variant);
        }
        records.push(record);
    }
    let of = |algorithm: &str, metric: &str| {
        let record = records.iter().find(|record| record.algorithm == algorithm).unwrap();
        record.metrics[metric]
    };
    assert!((of("greedy", "cost_ratio") - 1.0).abs() < 1e-12);
    assert!((of("greedy", "share_served_by_as_many") - 1.0).abs() < 1e-12);
    // The gaps are wide: 1.1 against 2 and more.
    let select = of("set-cover-select", "cost_ratio");
    assert!(select < 1.25, "{select}");
    for worse in ["random", "set-cover-composition", "set-cover-gupta", "set-cover-as-published"] {
        assert!(of(worse, "cost_ratio") > 1.5 * select, "{worse}");
    }
    let mut page = Page::default();
    suite.report(&records, &context, &mut page).unwrap();
    assert!(page.text.contains("| set-cover-select (noisy max), ε 1 |"), "{}", page.text);
    assert_eq!(suite.summary(&records).len(), records.len() + 1);
    // A second epsilon makes curves.
    let more = records.iter().filter_map(|record| {
        Some(Record { epsilon: Some(2.0 * record.epsilon?), ..record.clone() })
    });
    let records: Vec<Record> = records.iter().cloned().chain(more).collect();
    let mut page = Page::default();
    suite.report(&records, &context, &mut page).unwrap();
    assert_eq!(page.plots.len(), 1);
    assert!(page.text.contains("by two standard errors, at no epsilon here."), "{}", page.text);
}
