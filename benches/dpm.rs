//! DPM, its non-private baseline, and maps, on one thread.

use criterion::{Criterion, criterion_group, criterion_main};
use dp_accounting::Budget;
use dp_cluster::dpm::{Dpm, DpmSettings};
use dp_cluster::kmeans::{KMeans, KMeansSettings};
use dp_cluster::map::{PrivateMap, PrivateMapSettings};
use dp_geometry::PublicBox;
use dp_mechanism::{Mechanism, Nearby};
use quietus_benches::blobs;
use rand::SeedableRng;
use rand::rngs::ChaCha20Rng;

fn dpm(criterion: &mut Criterion) {
    let pool = rayon::ThreadPoolBuilder::new().num_threads(1).build().expect("one thread");
    let mut group = criterion.benchmark_group("dpm");
    group.sample_size(10);
    for (n, dim) in [(100_000, 10), (100_000, 100), (1_000_000, 10)] {
        let points = blobs(n, dim);
        let public_box = PublicBox::cube(dim, -100.0, 100.0).expect("valid");
        let budget = Budget::new(1.0, (n as f64).powf(-1.5)).expect("valid");
        let plan = Dpm::new(public_box, budget, DpmSettings::default()).expect("valid");
        let mut rng = ChaCha20Rng::seed_from_u64(1);
        group.bench_function(format!("{n}x{dim}"), |bencher| {
            bencher.iter(|| pool.install(|| plan.simulate(points.view(), &mut rng)));
        });
    }
    group.finish();
}

fn plan(criterion: &mut Criterion) {
    let public_box = PublicBox::cube(10, -100.0, 100.0).expect("valid");
    let budget = Budget::new(1.0, 3e-8).expect("valid");
    criterion.bench_function("dpm-plan", |bencher| {
        bencher.iter(|| Dpm::new(public_box.clone(), budget, DpmSettings::default()));
    });
}

fn kmeans(criterion: &mut Criterion) {
    let pool = rayon::ThreadPoolBuilder::new().num_threads(1).build().expect("one thread");
    let mut group = criterion.benchmark_group("kmeans++");
    group.sample_size(10);
    for (n, dim) in [(100_000, 10), (100_000, 100)] {
        let points = blobs(n, dim);
        let solver = KMeans::new(64, KMeansSettings::default()).expect("valid");
        let mut rng = ChaCha20Rng::seed_from_u64(1);
        group.bench_function(format!("{n}x{dim}"), |bencher| {
            bencher.iter(|| pool.install(|| solver.exact_fit(points.view(), None, &mut rng)));
        });
    }
    group.finish();
}

/// The sums, which are linear in the records; then a release, most of which is the fit of 65 x 65 vertices, with 16 clusters of it.
fn map(criterion: &mut Criterion) {
    let pool = rayon::ThreadPoolBuilder::new().num_threads(1).build().expect("one thread");
    let mut group = criterion.benchmark_group("map");
    group.sample_size(10);
    for n in [100_000, 1_000_000, 10_000_000] {
        let points = blobs(n, 2);
        let square = PublicBox::cube(2, -100.0, 100.0).expect("valid");
        let (near, budget) = (Nearby::new(5.0).expect("valid"), Budget::new(1.0, 1e-6));
        let settings = PrivateMapSettings { levels: Some(2..=6), ..Default::default() };
        let budget = budget.expect("valid");
        let plan = PrivateMap::within(square, near, n as u64, budget, settings).expect("valid");
        let mut rng = ChaCha20Rng::seed_from_u64(1);
        group.bench_function(format!("{n}x2/sums"), |bencher| {
            bencher.iter(|| pool.install(|| plan.count(points.view())));
        });
        group.bench_function(format!("{n}x2/release and 16 clusters"), |bencher| {
            bencher.iter(|| {
                pool.install(|| {
                    let release = plan.simulate(points.view(), &mut rng).expect("fits");
                    release.output.kmeans(16, &mut rng).expect("16 are few")
                })
            });
        });
    }
    group.finish();
}

criterion_group!(benches, dpm, plan, kmeans, map);
criterion_main!(benches);
