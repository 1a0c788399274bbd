//! Metric k-median: the local search, and both private mechanisms.

use std::hint::black_box;
use std::sync::Arc;

use criterion::{Criterion, criterion_group, criterion_main};
use dp_accounting::Budget;
use dp_combinatorial::k_median::{
    FasterPam, Metric, MetricBicriteria, MetricBicriteriaSettings, MetricHistogram,
    MetricHistogramSettings, Power, exact_weights,
};
use dp_mechanism::{ChaCha20Rng, Mechanism};
use rand::{RngExt, SeedableRng};

/// A small metric when criterion only tries whether a benchmark runs.
fn size(full: usize) -> usize {
    if std::env::args().any(|argument| argument == "--test") { full / 50 } else { full }
}

/// Points in a square, and as many users as there are nodes, most of them near a diagonal.
fn instance(nodes: usize) -> (Arc<Metric>, Vec<u32>) {
    let mut rng = ChaCha20Rng::seed_from_u64(0);
    let points: Vec<f64> = (0..2 * nodes).map(|_| rng.random_range(0.0..1.0)).collect();
    let near = |point: &[f64]| (point[0] - point[1]).abs() < 0.1;
    let busy: Vec<u32> =
        (0..).zip(points.chunks(2)).filter(|(_, point)| near(point)).map(|(id, _)| id).collect();
    let users = (0..nodes).map(|_| busy[rng.random_range(0..busy.len())]).collect();
    (Arc::new(Metric::from_points(&points, 2).expect("a metric")), users)
}

fn searches(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("k-median/5000 nodes");
    group.sample_size(10);
    let (metric, _) = instance(size(5_000));
    let weights = vec![1; metric.nodes()];
    for k in [20, 100] {
        let search = FasterPam::new(k.min(metric.nodes() / 5), Power::Median);
        group.bench_function(format!("search, k {k}"), |bencher| {
            bencher.iter(|| search.post_search(black_box(&metric), &weights).expect("it fits"));
        });
    }
    group.finish();
}

fn mechanisms(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("k-median/10000 nodes, k 20");
    group.sample_size(10);
    let (metric, users) = instance(size(10_000));
    let budget = Budget::new(1.0, 0.0).expect("valid");
    let k = 20.min(metric.nodes() / 5);
    let mut rng = ChaCha20Rng::seed_from_u64(1);
    let (hint, settings) = (users.len() as u64, MetricBicriteriaSettings::default());
    let picks = MetricBicriteria::new(&metric, k, Power::Median, budget, hint, settings);
    let picks = picks.expect("valid");
    group.bench_function("bicriteria", |bencher| {
        bencher.iter(|| picks.simulate(black_box(&users), &mut rng).expect("it fits"));
    });
    let settings = MetricHistogramSettings::default();
    let counts = MetricHistogram::new(&metric, k, Power::Median, budget, settings).expect("valid");
    group.bench_function("histogram", |bencher| {
        bencher.iter(|| counts.simulate(black_box(&users), &mut rng).expect("it fits"));
    });
    group.bench_function("weights", |bencher| {
        bencher.iter(|| exact_weights(&metric, black_box(&users)));
    });
    group.finish();
}

criterion_group!(benches, searches, mechanisms);
criterion_main!(benches);
