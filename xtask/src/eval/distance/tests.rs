//! The suite from cells to the report, on a generated set.

use super::Distance;
use crate::eval::family::Family as _;
use crate::eval::family::testing::{first_run, left_out, metric, reported};
use crate::eval::record::Record;
use crate::eval::record::tests::example;
use crate::eval::settings::Effort;
use quietus_datasets::sets::distance::Source;

#[test]
fn sets_that_are_not_here_are_left_out_with_their_publisher() {
    assert_eq!(left_out(&mut Distance, Effort::Full), (43, 33));
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
    assert!(cost("region-coreset", "ρ 0.05") > cost("map", "ρ 0.05"));
    assert!(cost("region-coreset-true", "ρ 0.05") > cost("map", "ρ 0.05"));
    assert!(cost("soft-recentred", "ρ 0.05") < cost("noised-points", "ρ 0.05"));
    assert!(cost("private-kmeans", "default") < cost("public-uniform", "default"));
    assert!(cost("public-uniform", "default") > 2.0 * near);
    assert!(page.text.contains("| map (ρ 0.05) | 1 |"), "{}", page.text);
    assert!(page.text.contains("Of 5 cells of the map"), "{}", page.text);
}

/// A record as of a run, with the settings that figures read.
fn record(
    dataset: &str,
    (algorithm, rho): (&str, Option<f64>),
    k: u64,
    epsilon: f64,
    cost: f64,
) -> [Record; 2] {
    [0, 1].map(|run| {
        let mut record = example(dataset, algorithm, run);
        record.n = 1_000;
        record.epsilon = record.private.then_some(epsilon);
        record.variant = rho.map_or("default".to_owned(), |rho| format!("ρ {rho}"));
        record.params.insert("k".to_owned(), k.into());
        record.params.insert("set".to_owned(), "blobs".into());
        record.params.extend(rho.map(|rho| ("rho".to_owned(), rho.into())));
        record.metrics.insert("cost_ratio".to_owned(), cost + 0.01 * f64::from(run));
        record
    })
}

/// Figure 1 has the numbers of clusters at one distance, Figure 2 the distances at one number; the frontier says which of them pay.
#[test]
fn figures_and_frontier_are_drawn_from_records() {
    let mut records = Vec::new();
    for k in [4, 8] {
        let dataset = format!("blobs-k{k}");
        records.extend(record(&dataset, ("kmeans++", None), k, 1.0, 1.0));
        for rho in [0.05, 1.0] {
            records.extend(record(&dataset, ("noised-points", Some(rho)), k, 1.0, 3.0 + rho));
            records.extend(record(&dataset, ("region-coreset", Some(rho)), k, 1.0, 2.0 + rho));
            records.extend(record(&dataset, ("map", Some(rho)), k, 1.0, 1.0 + rho));
        }
    }
    records.extend(record("blobs-1000-k8", ("map-replace-one", None), 8, 0.1, 2.0));
    for rho in [0.008, 0.5] {
        records.extend(record("blobs-1000-k8", ("map", Some(rho)), 8, 0.1, 1.5 + rho));
    }
    let page = reported(&Distance, &records);
    let has = |text: &str| assert!(page.text.contains(text), "{text}: {}", page.text);
    has("### Figure 1: cost by the number of clusters, at ρ 0.05");
    has("| blobs | k 4 | k 8 |");
    has("### Figure 2: cost by the distance, at k 8");
    has("| blobs | ρ 0.05 | ρ 1 |");
    has("Of 4 cells of the paper's algorithm, the map has a lower mean cost in 4");
    has("### Where distance privacy pays");
    let names: Vec<&str> = page.plots.keys().map(String::as_str).collect();
    assert_eq!(
        names,
        [
            "plots/distance-figure-1-blobs.svg",
            "plots/distance-figure-2-blobs.svg",
            "plots/distance-frontier.svg"
        ]
    );
    // Of two distances one pays.
    let frontier = page.plots["plots/distance-frontier.svg"].standalone();
    assert_eq!(frontier.matches("<circle").count(), 2);
}

/// The table of targets has 16 clusters, so that a standard run has them; a quick one does not.
#[test]
fn standard_runs_have_sixteen_clusters() {
    let ids = |effort| Distance::sources(effort).iter().map(Source::id).collect::<Vec<_>>();
    let (standard, quick) = (ids(Effort::Standard), ids(Effort::Quick));
    for id in ["gowalla_nyc_latest-k8", "gowalla_nyc_latest-k16", "s1-k16", "foursquare_latest-k16"]
    {
        assert!(standard.iter().any(|got| got == id), "{id}: {standard:?}");
    }
    assert!(standard.iter().any(|id| id == "birch1-k16"));
    assert!(!quick.iter().any(|id| id == "s1-k16"), "{quick:?}");
}

/// Above three dimensions the plan that chooses is there, and no map.
#[test]
fn more_dimensions_have_a_plan_that_chooses() {
    let has = |id: &str, algorithm: &str| {
        let all = Distance::sources(Effort::Full);
        let source = all.iter().find(|source| source.id() == id).expect("a source");
        let methods = Distance::methods(source, Effort::Full);
        methods.into_iter().any(|method| Distance::label(method).algorithm == algorithm)
    };
    for id in ["shuttle-k8", "s1-k16"] {
        assert!(has(id, "private-kmeans") && has(id, "soft-recentred"), "{id}");
        assert_eq!((has(id, "map"), has(id, "nearby-kmeans")), (id == "s1-k16", id != "s1-k16"));
    }
}
