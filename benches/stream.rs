//! Events per second of the monitor, on one thread, against the size of a batch.

use criterion::{BatchSize, Criterion, Throughput, criterion_group, criterion_main};
use dp_stream::{
    Event, Monitor, MonitorBuilder, SecureSource, StreamShape, ThreshMonitor, Universe,
};
use rand::rngs::ChaCha20Rng;
use rand::{RngExt, SeedableRng};

const USERS: u32 = 1_000_000;

/// Batches of uniform users and skewed items, most of them rare: `u^-2` has the tail of a Zipf law.
fn batches(size: usize) -> Vec<Vec<Event>> {
    let mut rng = ChaCha20Rng::seed_from_u64(0);
    let mut event = || {
        let u: f64 = rng.random_range(1e-4..1.0);
        #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "below 1e8")]
        let rank = (u.powi(-2) * 100.0) as u64;
        Event {
            user: rng.random_range(0..USERS),
            item: rank.wrapping_mul(2_654_435_761) >> 3 & 0xffff_ffff,
        }
    };
    let count = (2_000_000 / size).clamp(2, 20);
    (0..count).map(|_| (0..size).map(|_| event()).collect()).collect()
}

fn monitor(k: u8) -> (Monitor, ChaCha20Rng) {
    let universe = Universe::Range { size: 1 << 32 };
    let shape = StreamShape { universe, users: USERS, steps: 1 << 40 };
    let plan =
        ThreshMonitor::builder(shape, 1.0, k).and_then(MonitorBuilder::build).expect("valid");
    let mut rng = ChaCha20Rng::seed_from_u64(1);
    (plan.start_with(&mut SecureSource::new(&mut rng)), rng)
}

fn steps(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("stream");
    group.sample_size(10);
    for size in [1_000, 10_000, 100_000, 1_000_000] {
        let batches = batches(size);
        let (mut monitor, mut rng) = monitor(4);
        let mut next = 0_usize;
        group.throughput(Throughput::Elements(size as u64));
        group.bench_function(format!("step/{size}"), |bencher| {
            bencher.iter(|| {
                let batch = &batches[next % batches.len()];
                next += 1;
                monitor.step_with(next as u64, batch, &mut SecureSource::new(&mut rng))
            });
        });
    }
    group.finish();
}

fn starts_and_states(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("stream");
    group.sample_size(10);
    group.throughput(Throughput::Elements(USERS.into()));
    group.bench_function("start", |bencher| bencher.iter(|| monitor(4)));
    let (monitor, _) = monitor(4);
    group.bench_function("state", |bencher| {
        bencher.iter_batched(|| (), |()| monitor.state(), BatchSize::LargeInput);
    });
    group.finish();
}

criterion_group!(benches, steps, starts_and_states);
criterion_main!(benches);
