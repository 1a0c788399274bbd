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
        all.sort_by_key(|&node| metric.between(node, town));
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
    let picks = MetricBicriteriaSettings::default();
    let approximate = Certificate::Approximate { delta };
    let (exponential, composition) = (SelectionRule::Exponential, Certificate::Composition);
    let mut plans: Vec<MetricClustering> = [
        picks,
        MetricBicriteriaSettings { rule: SelectionRule::NoisyMax, base: Base::Diameter, ..picks },
        MetricBicriteriaSettings { certificate: composition, picks: Some(4), ..picks },
        MetricBicriteriaSettings {
            certificate: approximate,
            rule: exponential,
            picks: Some(20),
            ..picks
        },
    ]
    .into_iter()
    .map(|settings| {
        let plan = MetricBicriteria::new(metric, 2, power, budget, 10_000, settings);
        MetricClustering::Bicriteria(plan.unwrap())
    })
    .collect();
    for way in [Denoise::Neighbourhoods, Denoise::Exchangeable, Denoise::Threshold(0.5)] {
        let settings = MetricHistogramSettings { denoise: vec![way, Denoise::Uniform] };
        let plan = MetricHistogram::new(metric, 2, power, budget, settings);
        plans.push(MetricClustering::Histogram(plan.unwrap()));
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
            let cost = exact_cost(&metric, power, &weights, &release.centres).unwrap();
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
    let asked = |k, power, budget, hint, settings| {
        MetricBicriteria::new(&metric, k, power, budget, hint, settings)
    };
    let refused = |k, hint, settings| {
        asked(k, Power::Median, budget(1.0, 1e-9), hint, settings).unwrap_err().to_string()
    };
    let default = MetricBicriteriaSettings::default();
    assert_eq!(refused(0, 9, default), "k must be at least 1, got 0");
    assert_eq!(
        refused(401, 9, default),
        "k must be at most the number of nodes, which is 400, got 401"
    );
    assert_eq!(refused(2, 0, default), "users_hint must be at least 1, got 0");
    let none = MetricBicriteriaSettings { picks: Some(0), ..default };
    assert_eq!(refused(2, 9, none), "picks must be at least 1, got 0");
    for (picks_share, counts_share, names) in [
        (0.0, 0.5, "share of the picks must be above 0, got 0"),
        (0.7, -0.5, "share of the counts must be above 0, got -0.5"),
        (f64::NAN, 0.5, "share of the picks must be above 0, got NaN"),
        (0.75, 0.5, "shares must be at most 1 together, got 1.25"),
    ] {
        let shares = MetricBicriteriaSettings { picks_share, counts_share, ..default };
        assert_eq!(refused(2, 9, shares), names);
    }
    // What the picks get, or the credit in steps, is nothing that anybody has asked for.
    for certificate in [Certificate::Subsampled, Certificate::Composition] {
        let settings = MetricBicriteriaSettings { certificate, picks_share: 0.01, ..default };
        let tiny = asked(2, Power::Means, budget(1e-19, 0.0), 9, settings);
        let names = tiny.unwrap_err().to_string();
        assert!(names.starts_with("epsilon must be so large"), "{names}");
        assert!(names.ends_with("got 1e-19"), "{names}");
    }
    let certificate = Certificate::Approximate { delta: Delta::new(1e-6).unwrap() };
    let approximate = MetricBicriteriaSettings { certificate, ..default };
    assert!(refused(2, 9, approximate).starts_with("delta of the certificate must be"));
    let (certificate, rule) = (Certificate::Composition, SelectionRule::NoisyMax);
    let composed = MetricBicriteriaSettings { certificate, rule, ..default };
    assert!(asked(2, Power::Median, budget(1.0, 1e-9), 9, composed).is_err());
    let histogram = |k, denoise| {
        let settings = MetricHistogramSettings { denoise };
        let plan = MetricHistogram::new(&metric, k, Power::Means, budget(1.0, 0.0), settings);
        plan.unwrap_err().to_string()
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
        let (budget, settings) = (budget(1.0, 0.0), MetricBicriteriaSettings::default());
        let plan = MetricBicriteria::new(&metric, k, Power::Median, budget, hint, settings);
        plan.unwrap().rounds()
    };
    // 2 k ln n, rounded up: 4 ln 1000 = 27.6; and never more than there are nodes.
    assert_eq!([rounds(2, 1_000), rounds(2, 1), rounds(400, u64::MAX)], [28, 3, 400]);
}

#[test]
fn settings_survive_a_file() {
    let settings = MetricBicriteriaSettings { picks: Some(9), ..Default::default() };
    let text = serde_json::to_string(&settings).unwrap();
    assert_eq!(serde_json::from_str::<MetricBicriteriaSettings>(&text).unwrap(), settings);
    let settings = MetricHistogramSettings { denoise: vec![Denoise::Uniform] };
    let text = serde_json::to_string(&settings).unwrap();
    assert_eq!(serde_json::from_str::<MetricHistogramSettings>(&text).unwrap(), settings);
    assert_eq!(
        serde_json::from_str::<MetricHistogramSettings>("{}").unwrap(),
        MetricHistogramSettings::default()
    );
}

/// As many users as places in a field, more of them to the east, and a centre for every eight places. The control is the setting that is not chosen.
#[test]
fn where_centres_serve_few_nodes_one_prior_is_closer() {
    let mut rng = ChaCha20Rng::seed_from_u64(31);
    let points: Vec<f64> = (0..1_600).map(|_| rng.random_range(0.0..1.0)).collect();
    let metric = Arc::new(Metric::from_points(&points, 2).unwrap());
    let mut users = Vec::new();
    while users.len() < 800 {
        let node = rng.random_range(0..800_u32);
        if rng.random_range(0.0..1.2) < 0.2 + points[2 * node as usize] {
            users.push(node);
        }
    }
    let weights = exact_weights(&metric, &users);
    let cost = |settings: MetricHistogramSettings| -> f64 {
        let plan =
            MetricHistogram::new(&metric, 100, Power::Median, budget(0.3, 0.0), settings).unwrap();
        let of_run = |run| {
            let mut rng = ChaCha20Rng::seed_from_u64(run);
            let centres = plan.simulate(&users, &mut rng).unwrap().output.centres;
            exact_cost(&metric, Power::Median, &weights, &centres).unwrap()
        };
        (0..6).map(of_run).sum()
    };
    let chosen = MetricHistogramSettings::for_sizes(100, 800);
    let other = MetricHistogramSettings::default();
    assert!(chosen != other && MetricHistogramSettings::for_sizes(50, 800) == other);
    let (chosen, other) = (cost(chosen), cost(other));
    assert!(chosen < 0.95 * other, "{chosen} {other}");
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
    let near = |town| centres.iter().any(|&c| metric.between(c, town) < metric.diameter() / 20);
    assert!(near(5) && near(9), "{centres:?}");
}
