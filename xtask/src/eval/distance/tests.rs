//! The suite from cells to the report, on a generated set.

use super::Distance;
use crate::eval::family::testing::{first_run, left_out, metric};
use crate::eval::settings::Effort;

#[test]
fn sets_that_are_not_here_are_left_out_with_their_publisher() {
    assert_eq!(left_out(&mut Distance, Effort::Full), (28, 27));
}

/// The smaller the distance, the better the map; noise on every point is worse than the map.
#[test]
fn a_generated_set_runs_and_is_reported() {
    let (records, page) = first_run(&mut Distance, ("blobs-k8", 0.1), |_| true);
    let cost = |algorithm, variant| metric(&records, (algorithm, variant), "cost_ratio");
    assert!((cost("kmeans++", "default") - 1.0).abs() < 0.05);
    let (near, far) = (cost("map", "ρ 0.008"), cost("map", "ρ 1"));
    assert!(near < 1.2 && near < far, "{near} {far}");
    assert!(cost("noised-points", "ρ 0.05") > 1.5 * cost("map", "ρ 0.05"));
    assert!(cost("public-uniform", "default") > 2.0 * near);
    assert!(page.text.contains("| map (ρ 0.05) | 1 |"), "{}", page.text);
    assert!(page.text.contains("Of 5 cells of the map"), "{}", page.text);
}
