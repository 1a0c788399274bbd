//! The monitor from outside: what it reports, what it charges, what it refuses, and how it survives.

mod advice;
mod bad_input;
mod cells;
mod charges;
mod disk;
mod exact;
mod extremes;
mod forks;
mod kill;
mod kill_shards;
mod refusals;
mod relabel;
mod shard_errors;
mod shards;
mod states;
mod statistics;

use dp_stream::{
    Budget, ChaCha20Rng, Event, Method, MonitorPlan, MonitorSettings, StreamError, StreamShape,
    Threshold, Universe,
};
use rand::{RngExt, SeedableRng};

fn shape(size: u64, users: u32, steps: u64) -> StreamShape {
    StreamShape { universe: Universe::Range { size }, users, steps }
}

/// Pure, with an unusual generosity: little noise, so that small streams report something.
fn plan(size: u64, users: u32, steps: u64, k: u8, threshold: i64) -> MonitorPlan {
    pure(shape(size, users, steps), 4.0, k, from(threshold)).expect("valid")
}

/// By the pure method.
fn pure(
    shape: StreamShape,
    epsilon: f64,
    k: u8,
    settings: MonitorSettings,
) -> Result<MonitorPlan, StreamError> {
    let budget = Budget::new(epsilon, 0.0)?;
    MonitorPlan::new(Method::ThreshMonitor, shape, budget, k, settings)
}

/// From this noisy count on.
fn from(count: i64) -> MonitorSettings {
    by(Threshold::Count { count })
}

fn by(threshold: Threshold) -> MonitorSettings {
    MonitorSettings { threshold, ..Default::default() }
}

fn rng(seed: u64) -> ChaCha20Rng {
    ChaCha20Rng::seed_from_u64(seed)
}

/// Streams whose users mostly show an item that changes every ten steps.
fn shifting(users: u32, steps: u64, per_step: usize, items: u64, seed: u64) -> Vec<Vec<Event>> {
    let mut rng = rng(seed);
    let mut event = |time: u64| {
        let user = rng.random_range(0..users);
        let popular = rng.random_bool(0.3);
        let item = if popular { time / 10 % items } else { rng.random_range(0..items) };
        Event { user, item }
    };
    (0..steps).map(|time| (0..per_step).map(|_| event(time)).collect()).collect()
}

#[test]
fn sessions_can_be_sent_to_threads_and_shared() {
    fn check<T: Send + Sync>() {}
    check::<dp_stream::Monitor>();
    check::<dp_stream::MonitorPlan>();
    check::<dp_stream::Shard>();
    check::<dp_stream::Decider>();
}
