//! The suite from cells to the report, on generated instances.

use super::KMedian;
use crate::eval::family::testing::{first_run, left_out, metric};
use crate::eval::settings::Effort;
use quietus_datasets::sets::k_median::or_library;
use std::path::Path;

#[test]
fn sets_that_are_not_here_are_left_out_with_their_publisher() {
    assert_eq!(left_out(&mut KMedian, Effort::Standard), (40, 22));
}

#[test]
fn a_generated_instance_runs_and_is_reported() {
    let instance = ("pmed-hotspots-q1-n10000", 1.0);
    let (records, page) = first_run(&mut KMedian, instance, |_| true);
    let cost = |algorithm| metric(&records, (algorithm, ""), "cost_ratio");
    assert!((cost("faster-pam") - 1.0).abs() < 1e-12);
    assert!(cost("metric-clustering") < 1.05, "{}", cost("metric-clustering"));
    assert!(cost("metric-histogram") < 1.05, "{}", cost("metric-histogram"));
    assert!(cost("metric-bicriteria") < 1.2, "{}", cost("metric-bicriteria"));
    assert!(cost("public-uniform") > 1.3, "{}", cost("public-uniform"));
    assert!(page.text.contains("| metric-histogram (one prior) | 1 |"), "{}", page.text);
    for other in ["approximate-greedy", "public-uniform"] {
        let text = format!("costs more than `{other}` in 0 of 1 cells.");
        assert!(page.text.contains(&text), "{}", page.text);
    }
}

#[test]
fn the_last_of_a_repeated_edge_counts() {
    let metric = or_library(" 3 4 1\n 1 2 5\n 2 3 7\n 2 1 9\n 1 3 99", Path::new("toy")).unwrap();
    assert_eq!(
        [metric.distance(0, 1), metric.distance(1, 2), metric.distance(0, 2)],
        [9, 7, 16].map(Some)
    );
    let refused = |text| or_library(text, Path::new("toy")).err().unwrap().to_string();
    assert!(refused("3 x 1").contains("`x` is not a number"));
    assert!(refused("3").contains("the first line is missing"));
    assert!(refused("3 1 1\n 0 2 5").contains("which is no node"));
}
