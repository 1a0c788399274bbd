//! The suite from cells to the report, on the generated instance.

use super::{Submodular, data};
use crate::eval::family::testing::{first_run, left_out, metric};
use crate::eval::settings::Effort;

#[test]
fn sets_that_are_not_here_are_left_out_with_their_publisher() {
    assert_eq!(left_out(&mut Submodular, Effort::Full), (data::SOURCES.len(), 4));
}

#[test]
fn the_grid_has_the_pairs_of_the_full_evaluation() {
    let pairs: usize =
        data::SOURCES.iter().filter(|s| s.is_generated()).map(|source| source.ks.len()).sum();
    assert_eq!(pairs, 30);
}

#[test]
fn the_generated_instance_runs_and_is_reported() {
    let (records, page) = first_run(&mut Submodular, ("coverage-1e3x1e3", 1.0), |_| true);
    let of = |algorithm, variant| metric(&records, (algorithm, variant), "value_ratio");
    assert!((of("greedy", "k=20") - 1.0).abs() < 1e-12);
    assert!(of("pure-greedy", "k=20") > 0.9 && of("pure-greedy", "k=20") <= 1.02);
    assert!(of("composition-greedy", "k=20") < of("pure-greedy", "k=20"));
    assert!(of("pure-continuous-greedy", "20 blocks, 1 of each; 4 steps, best of 8") > 0.4);
    assert!(page.text.contains("| coverage-1e3x1e3 | k=20 |"), "{}", page.text);
}
