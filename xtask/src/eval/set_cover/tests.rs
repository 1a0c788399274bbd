//! The suite from cells to the report, on the generated family.

use super::{SetCover, data};
use crate::eval::family::testing::{first_run, left_out, metric, reported};
use crate::eval::record::Record;
use crate::eval::settings::Effort;
use quietus_datasets::manifest::Manifest;

#[test]
fn families_that_are_not_here_are_left_out_with_their_publisher() {
    let files: Vec<_> = data::SOURCES.iter().filter_map(data::Source::file).collect();
    assert_eq!(left_out(&mut SetCover, Effort::Standard), (data::SOURCES.len(), files.len()));
    // Every file that is looked for is in the manifest.
    let manifest = Manifest::of_workspace().unwrap();
    for (set, path) in files {
        assert!(manifest.set(set).unwrap().files.iter().any(|entry| entry.path == path), "{path}");
    }
}

#[test]
fn the_generated_family_runs_and_is_reported() {
    let is_select = |cell: &Record| cell.algorithm == "set-cover-select";
    let (records, page) = first_run(&mut SetCover, ("random-x10", 1.0), is_select);
    let of = |algorithm, name| metric(&records, (algorithm, ""), name);
    assert!((of("greedy", "cost_ratio") - 1.0).abs() < 1e-12);
    assert!((of("greedy", "share_served_by_as_many") - 1.0).abs() < 1e-12);
    // The gaps are wide: 1.1 against 2 and more.
    let select = of("set-cover-select", "cost_ratio");
    assert!(select < 1.25, "{select}");
    for worse in ["random", "set-cover-composition", "set-cover-gupta", "set-cover-as-published"] {
        assert!(of(worse, "cost_ratio") > 1.5 * select, "{worse}");
    }
    assert!(page.text.contains("| set-cover-select (noisy max), ε 1 |"), "{}", page.text);
    // A second epsilon makes curves.
    let more = records.iter().filter_map(|record| {
        Some(Record { epsilon: Some(2.0 * record.epsilon?), ..record.clone() })
    });
    let records: Vec<Record> = records.iter().cloned().chain(more).collect();
    let page = reported(&SetCover, &records);
    assert_eq!(page.plots.len(), 1);
    assert!(page.text.contains("by two standard errors, at no epsilon here."), "{}", page.text);
}
