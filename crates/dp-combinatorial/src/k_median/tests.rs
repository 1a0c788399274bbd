use std::sync::Arc;

use dp_accounting::{Budget, Delta};
use dp_mechanism::{Certificate, ChaCha20Rng, Mechanism, SelectionRule};
use rand::{RngExt, SeedableRng};

use super::*;

fn budget(epsilon: f64, delta: f64) -> Budget {
    Budget::new(epsilon, delta).unwrap()
}

/// A field of 400 places, and users around two of them.
fn two_towns(users: usize) -> (Arc<Metric>, Vec<u32>) {
    let mut rng = ChaCha20Rng::seed_from_u64(11);
    let points: Vec<f64> = (0..800).map(|_| rng.random_range(0.0..1.0)).collect();
    let metric = Metric::from_points(&points, 2).unwrap();
    let near = |town: u32| -> Vec<u32> {
        let mut all: Vec<u32> = (0..400).collect();
        all.sort_by_key(|&node| metric.distance(node, town));
        all.truncate(12);
        all
    };
    let towns = [near(7), near(300)].concat();
    let users = (0..users).map(|_| towns[rng.random_range(0..towns.len())]).collect();
    (Arc::new(metric), users)
}

fn plans(power: Power, metric: &Arc<Metric>) -> Vec<MetricClustering> {
    let budget = budget(1.0, 1e-6);
    let delta = Delta::new(1e-6).unwrap();
    let picks = MetricBicriteria::builder(2, power, budget, 10_000);
    let approximate = picks.certificate(Certificate::Approximate { delta });
    let mut plans: Vec<MetricClustering> = [
        picks,
        picks.rule(SelectionRule::NoisyMax).base(Base::Diameter),
        picks.certificate(Certificate::Composition).picks(4),
        approximate.rule(SelectionRule::Exponential).picks(20),
    ]
    .into_iter()
    .map(|settings| MetricClustering::Bicriteria(settings.build(metric).unwrap()))
    .collect();
    for way in [Denoise::Neighbourhoods, Denoise::Exchangeable, Denoise::Threshold(0.5)] {
        let settings =
            MetricHistogram::builder(2, power, budget).denoise(vec![way, Denoise::Uniform]);
        plans.push(MetricClustering::Histogram(settings.build(metric).unwrap()));
    }
    plans
}

#[test]
fn every_plan_finds_two_towns_of_many_users() {
    for power in [Power::Median, Power::Means] {
        let (metric, users) = two_towns(20_000);
        let weights = exact_weights(&metric, &users);
        let best = FasterPam::new(2, power).post_search(&metric, &weights).unwrap().cost;
        let mut rng = ChaCha20Rng::seed_from_u64(12);
        for plan in plans(power, &metric) {
            assert!(plan.receipt().within_budget());
            let release = plan.simulate(&users, &mut rng).unwrap().output;
            let cost = exact_cost(&metric, power, &weights, &release.centres);
            let name = plan.receipt().spent().name().to_owned();
            assert!(cost < 1.2 * best, "{cost} for {best} by {name}");
            assert!(release.centres.is_sorted() && release.centres.len() == 2);
            let counted: f64 = release.users.iter().sum();
            assert!((counted - 20_000.0).abs() < 2_000.0, "{counted}");
        }
    }
}

/// Neither a user at no node nor the number of threads shows, and a plan without users runs.
#[test]
fn what_must_not_matter_does_not() {
    let (metric, users) = two_towns(3_000);
    for plan in plans(Power::Median, &metric) {
        let run = |users: &[u32], threads| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            let mut rng = ChaCha20Rng::seed_from_u64(13);
            pool.install(|| plan.simulate(users, &mut rng).unwrap().output)
        };
        let nowhere = [&[400, u32::MAX], users.as_slice(), &[4_000]].concat();
        let release = run(&users, 1);
        assert_eq!(run(&nowhere, 3), release);
        assert_eq!(run(&[], 1).centres.len(), 2);
    }
}

#[test]
fn settings_out_of_range_are_refused_by_name() {
    let (metric, _) = two_towns(1);
    let refused =
        |settings: MetricBicriteriaBuilder| settings.build(&metric).unwrap_err().to_string();
    let plan = |k, hint| MetricBicriteria::builder(k, Power::Median, budget(1.0, 1e-9), hint);
    assert_eq!(refused(plan(0, 9)), "k must be at least 1, got 0");
    assert_eq!(
        refused(plan(401, 9)),
        "k must be at most the number of nodes, which is 400, got 401"
    );
    assert_eq!(refused(plan(2, 0)), "users_hint must be at least 1, got 0");
    assert_eq!(refused(plan(2, 9).picks(0)), "picks must be at least 1, got 0");
    for (picks, counts, names) in [
        (0.0, 0.5, "share of the picks must be above 0, got 0"),
        (0.7, -0.5, "share of the counts must be above 0, got -0.5"),
        (f64::NAN, 0.5, "share of the picks must be above 0, got NaN"),
        (0.75, 0.5, "shares must be at most 1 together, got 1.25"),
    ] {
        assert_eq!(refused(plan(2, 9).shares(picks, counts)), names);
    }
    // What the picks get, or the credit in steps, is nothing that anybody has asked for.
    for certificate in [Certificate::Subsampled, Certificate::Composition] {
        let tiny = MetricBicriteria::builder(2, Power::Means, budget(1e-19, 0.0), 9);
        let names = refused(tiny.certificate(certificate).shares(0.01, 0.5));
        assert!(names.starts_with("epsilon must be so large"), "{names}");
        assert!(names.ends_with("got 1e-19"), "{names}");
    }
    let delta = Delta::new(1e-6).unwrap();
    let approximate = plan(2, 9).certificate(Certificate::Approximate { delta });
    assert!(refused(approximate).starts_with("delta of the certificate must be"));
    let composed = plan(2, 9).certificate(Certificate::Composition).rule(SelectionRule::NoisyMax);
    assert!(composed.build(&metric).is_err());
    let histogram = |k, ways| {
        let settings = MetricHistogram::builder(k, Power::Means, budget(1.0, 0.0)).denoise(ways);
        settings.build(&metric).unwrap_err().to_string()
    };
    assert_eq!(histogram(0, vec![Denoise::Uniform]), "k must be at least 1, got 0");
    assert_eq!(histogram(3, vec![]), "denoise must not be empty");
    for wild in [f64::NAN, -1.0, f64::INFINITY] {
        assert!(histogram(3, vec![Denoise::Threshold(wild)]).starts_with("threshold must be"));
    }
}

#[test]
fn the_number_of_picks_is_public_and_bounded() {
    let (metric, _) = two_towns(1);
    let rounds = |k, hint| {
        let settings = MetricBicriteria::builder(k, Power::Median, budget(1.0, 0.0), hint);
        settings.build(&metric).unwrap().rounds()
    };
    // 2 k ln n, rounded up: 4 ln 1000 = 27.6; and never more than there are nodes.
    assert_eq!([rounds(2, 1_000), rounds(2, 1), rounds(400, u64::MAX)], [28, 3, 400]);
}

#[test]
fn settings_survive_a_file() {
    let settings = MetricBicriteria::builder(3, Power::Means, budget(0.5, 0.0), 77).picks(9);
    let text = serde_json::to_string(&settings).unwrap();
    assert_eq!(serde_json::from_str::<MetricBicriteriaBuilder>(&text).unwrap(), settings);
    let settings = MetricHistogram::builder(3, Power::Means, budget(0.5, 0.0));
    let text = serde_json::to_string(&settings).unwrap();
    assert_eq!(serde_json::from_str::<MetricHistogramBuilder>(&text).unwrap(), settings);
}

#[test]
fn the_rule_takes_picks_only_where_nodes_are_very_many_and_users_few() {
    assert_eq!(Method::default_rule(1_000, 0.1, 5_000), Method::Histogram);
    assert_eq!(Method::default_rule(1_000, 1.0, 50_000), Method::Bicriteria);
    assert_eq!(Method::default_rule(1_000_000, 1.0, 50_000), Method::Histogram);
}

/// More points than distances are kept for, with both mechanisms.
#[test]
fn a_kd_tree_serves_where_a_matrix_does_not_fit() {
    let mut rng = ChaCha20Rng::seed_from_u64(14);
    let points: Vec<f64> =
        (0..2 * Metric::KD_TREE_FROM).map(|_| rng.random_range(0.0..1.0)).collect();
    let metric = Arc::new(Metric::from_points(&points, 2).unwrap());
    let users: Vec<u32> = (0..2_000)
        .map(|i| {
            let town = [5, 9][i % 2];
            if rng.random() { town } else { rng.random_range(0..20_000) }
        })
        .collect();
    let plan = MetricClustering::new(&metric, 2, Power::Median, budget(2.0, 0.0), 2_000).unwrap();
    assert!(matches!(plan, MetricClustering::Bicriteria(_)));
    let centres = plan.simulate(&users, &mut rng).unwrap().output.centres;
    let near = |town| centres.iter().any(|&c| metric.distance(c, town) < metric.diameter() / 20);
    assert!(near(5) && near(9), "{centres:?}");
}
