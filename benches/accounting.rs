//! Accounting: both bounds of the queries that are compared with other libraries, one thread.

use std::hint::black_box;

use criterion::{Criterion, criterion_group, criterion_main};
use dp_accounting::{
    Accuracy, Budget, Composition, Delta, Epsilon, Event, Question, calibrate,
    gaussian_noise_multiplier,
};

fn composition(events: impl IntoIterator<Item = Event>, count: u64) -> Composition {
    events
        .into_iter()
        .try_fold(Composition::new(), |all, event| all.with(event, count))
        .expect("the counts are in range")
}

fn accounting(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("accounting");
    group.sample_size(10);
    let delta = Delta::new(1e-6).expect("in range");
    let gaussian = |s: f64| Event::gaussian(s).expect("in range");
    let laplace = |scale: f64| Event::laplace(scale).expect("in range");
    let sampled = |event: Event, rate: f64| event.poisson_sampled(rate).expect("in range");
    let queries = [
        ("dp-sgd q=.01 sigma=1 T=1e4", composition([sampled(gaussian(1.0), 0.01)], 10_000)),
        ("laplace(.01) k=1e4", composition([laplace(100.0)], 10_000)),
        (
            "1000 distinct laplace",
            composition((0..1000).map(|i| laplace(50.0 + f64::from(i) / 10.0)), 1),
        ),
        ("gaussian(20) k=1e4, closed form", composition([gaussian(20.0)], 10_000)),
        // A sampling rate of almost 1 keeps the closed form away: the general engine does all the work.
        (
            "gaussian(20) k=1e4, general engine",
            composition([sampled(gaussian(20.0), 1.0_f64.next_down())], 10_000),
        ),
        (
            "discrete gaussian(20) k=1e3",
            composition([Event::discrete_gaussian(400.0, 1).expect("in range")], 1000),
        ),
        (
            "discrete laplace(sens 3) k=1e4",
            composition([Event::discrete_laplace(0.1, 3).expect("in range")], 10_000),
        ),
    ];
    for (name, query) in &queries {
        group.bench_function(*name, |b| b.iter(|| black_box(query.epsilon(delta))));
    }
    let few = composition([sampled(laplace(0.3), 0.5)], 7);
    for gap in [1e-4, 1e-6] {
        let accuracy = Accuracy::within(gap).expect("in range");
        group.bench_function(format!("a few sampled laplace, gap {gap:e}"), |b| {
            b.iter(|| black_box(few.profile(accuracy).ask(Question::Epsilon(delta))));
        });
    }
    for delta in [1e-6, 1e-300] {
        let budget = Budget::new(1.0, delta).expect("in range");
        group.bench_function(format!("gaussian noise multiplier, delta={delta:e}"), |b| {
            b.iter(|| gaussian_noise_multiplier(black_box(budget)));
        });
    }
    let budget = Budget::new(2.0, 1e-6).expect("in range");
    group.bench_function("calibrate dp-sgd q=.01 T=1e4 to 1e-6", |b| {
        b.iter(|| {
            calibrate(black_box(budget), 0.3, 20.0, |sigma| {
                Composition::new().with(Event::gaussian(sigma)?.poisson_sampled(0.01)?, 10_000)
            })
        });
    });
    let training = composition([sampled(gaussian(1.0), 0.01)], 10_000);
    let epsilons: Vec<Epsilon> =
        (0..60).map(|i| Epsilon::new(f64::from(i) / 10.0).expect("in range")).collect();
    group.bench_function("dp-sgd q=.01 sigma=1 T=1e4, 60 deltas", |b| {
        b.iter(|| training.deltas(black_box(&epsilons)));
    });
    group.finish();
}

criterion_group!(benches, accounting);
criterion_main!(benches);
