//! The suite from cells to the report, on the generated stream.

use super::HeavyHitters;
use crate::eval::family::testing::{first_run, left_out, metric};
use crate::eval::settings::Effort;
use quietus_datasets::sets::heavy_hitters as data;

#[test]
fn sets_that_are_not_here_are_left_out_with_their_publisher() {
    let all = data::SOURCES.len();
    let generated = data::SOURCES.iter().filter(|source| source.is_generated()).count();
    assert_eq!(left_out(&mut HeavyHitters, Effort::Quick), (all + 1, all - generated));
}

#[test]
fn the_generated_stream_runs_and_is_reported() {
    let (records, page) = first_run(&mut HeavyHitters, ("zipf-drift", 1.0), |_| true);
    let of = |algorithm, name| metric(&records, (algorithm, ""), name);
    assert_eq!((of("exact", "recall"), of("exact", "precision")), (1.0, 1.0));
    // With one report per user it finds small counts and uses its users up.
    assert!(of("thresh-monitor", "recall") > 0.3 && of("thresh-monitor", "precision") > 0.5);
    assert!(of("thresh-monitor", "recall") > of("basic-histograms", "recall"));
    assert!(page.text.contains("| thresh-monitor (k=1), ε 1 |"), "{}", page.text);
    assert_eq!(page.plots.len(), 2);
}
