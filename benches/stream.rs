//! Events per second of the monitor, on one thread, against the size of a batch; beside it counters without privacy.

use std::collections::BTreeMap;

use criterion::{BatchSize, Criterion, Throughput, criterion_group, criterion_main};
use dp_stream::{
    Budget, Event, Method, Monitor, MonitorPlan, MonitorSettings, SecureSource, StreamShape,
    Threshold, Universe,
};
use rand::rngs::ChaCha20Rng;
use rand::{RngExt, SeedableRng};

const USERS: u32 = 1_000_000;

/// Batches of uniform users and skewed items, most of them rare: `u^-2` has the tail of a Zipf law.
fn batches(size: usize) -> Vec<Vec<Event>> {
    let mut rng = ChaCha20Rng::seed_from_u64(0);
    let mut event = || {
        let u: f64 = rng.random_range(1e-4..1.0);
        #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "below 1e10")]
        let rank = (u.powi(-2) * 100.0) as u64;
        Event {
            user: rng.random_range(0..USERS),
            item: rank.wrapping_mul(2_654_435_761) >> 3 & 0xffff_ffff,
        }
    };
    let count = (2_000_000 / size).clamp(2, 20);
    (0..count).map(|_| (0..size).map(|_| event()).collect()).collect()
}

/// The same with other items: multiples of the inverse of a multiplicative hash, which share one place in a table of 2^21 that
/// takes its upper bits, as tables without a key do.
fn crafted(mut batches: Vec<Vec<Event>>) -> Vec<Vec<Event>> {
    // 0x9e37_79b9_7f4a_7c15 times this is 1 modulo 2^64.
    let inverse = 0xf1de_83e1_9937_733d_u64;
    for event in batches.iter_mut().flatten() {
        event.item = inverse.wrapping_mul(event.item);
    }
    batches
}

/// Nobody reaches the threshold in `active`; otherwise the default threshold exhausts users from batches of 10^5 on.
fn monitor(k: u8, active: bool) -> (Monitor, ChaCha20Rng) {
    let shape = StreamShape { universe: Universe::Bits64, users: USERS, steps: 1 << 40 };
    let never = Threshold::Count { count: 1 << 30 };
    let mut settings = MonitorSettings::default();
    if active {
        settings.threshold = never;
    }
    let budget = Budget::new(1.0, 0.0).expect("valid");
    let plan = MonitorPlan::new(Method::ThreshMonitor, shape, budget, k, settings).expect("valid");
    let mut rng = ChaCha20Rng::seed_from_u64(1);
    (plan.start_with(&mut SecureSource::new(&mut rng)), rng)
}

/// A hash table with open addressing and a byte per user, without a key: what counting costs without privacy.
struct OpenCounter {
    slots: Vec<(u64, u32, u32)>,
    epoch: u32,
    distinct: usize,
    users: Vec<u8>,
}

impl OpenCounter {
    fn new() -> Self {
        Self {
            slots: vec![(0, 0, 0); 1 << 10],
            epoch: 0,
            distinct: 0,
            users: vec![0; USERS as usize],
        }
    }

    fn step(&mut self, events: &[Event]) -> usize {
        (self.epoch, self.distinct) = (self.epoch + 1, 0);
        for event in events {
            let charged = &mut self.users[event.user as usize];
            if *charged < 255 {
                *charged |= 1;
                if 2 * self.distinct > self.slots.len() {
                    self.grow();
                }
                let place = self.place(event.item);
                let slot = &mut self.slots[place];
                self.distinct += usize::from(slot.1 != self.epoch);
                *slot = (event.item, self.epoch, if slot.1 == self.epoch { slot.2 + 1 } else { 1 });
            }
        }
        self.distinct
    }

    fn place(&self, item: u64) -> usize {
        let mask = self.slots.len() - 1;
        let mut at = (item.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 32) as usize & mask;
        while self.slots[at].1 == self.epoch && self.slots[at].0 != item {
            at = (at + 1) & mask;
        }
        at
    }

    fn grow(&mut self) {
        let larger = vec![(0, 0, 0); 2 * self.slots.len()];
        for slot in std::mem::replace(&mut self.slots, larger) {
            if slot.1 == self.epoch {
                let place = self.place(slot.0);
                self.slots[place] = slot;
            }
        }
    }
}

/// The map of the standard library.
#[expect(clippy::disallowed_types, reason = "a peer to be compared with")]
type Map = std::collections::HashMap<u64, u32>;

fn count_by_map(counts: &mut Map, events: &[Event]) -> usize {
    counts.clear();
    for event in events {
        *counts.entry(event.item).or_default() += 1;
    }
    counts.len()
}

fn steps(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("stream");
    group.sample_size(10);
    for size in [1_000, 10_000, 100_000, 1_000_000] {
        let batches = batches(size);
        group.throughput(Throughput::Elements(size as u64));
        let crafted = crafted(batches.clone());
        let of_monitor = BTreeMap::from([
            ("active", (&batches, 4, true)),
            ("crafted", (&crafted, 4, true)),
            ("exhausted", (&batches, 1, false)),
        ]);
        for (name, (batches, k, active)) in of_monitor {
            let (mut monitor, mut rng) = monitor(k, active);
            let mut next = 0_usize;
            group.bench_function(format!("step/{size}/{name}"), |bencher| {
                bencher.iter(|| {
                    let batch = &batches[next % batches.len()];
                    next += 1;
                    monitor.step_with(next as u64, batch, &mut SecureSource::new(&mut rng))
                });
            });
        }
        let mut next = 0_usize;
        let mut batch = || {
            next += 1;
            &batches[next % batches.len()]
        };
        let mut open = OpenCounter::new();
        group.bench_function(format!("step/{size}/open addressing"), |bencher| {
            bencher.iter(|| open.step(batch()));
        });
        let mut map = Map::default();
        group.bench_function(format!("step/{size}/hash map"), |bencher| {
            bencher.iter(|| count_by_map(&mut map, batch()));
        });
    }
    group.finish();
}

fn starts_and_states(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("stream");
    group.sample_size(10);
    group.throughput(Throughput::Elements(USERS.into()));
    group.bench_function("start", |bencher| bencher.iter(|| monitor(4, true)));
    let (monitor, _) = monitor(4, true);
    group.bench_function("state", |bencher| {
        bencher.iter_batched(|| (), |()| monitor.state(), BatchSize::LargeInput);
    });
    group.finish();
}

criterion_group!(benches, steps, starts_and_states);
criterion_main!(benches);
