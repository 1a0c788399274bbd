//! Bounds on memory, measured by a counting allocator. Alone in its binary, so that no other test
//! allocates meanwhile.

use dp_stream::{
    Budget, ChaCha20Rng, Event, Method, Monitor, MonitorPlan, MonitorSettings, SecureSource,
    StreamShape, Universe,
};
use peak_alloc::PeakAlloc;
use rand::{RngExt, SeedableRng};

#[global_allocator]
static ALLOCATOR: PeakAlloc = PeakAlloc;

const USERS: u32 = 400_000;

/// Small enough for a plan whose users all count at least once.
fn session(rng: &mut ChaCha20Rng) -> Monitor {
    let shape = StreamShape { universe: Universe::Bits64, users: USERS, steps: 100 };
    let budget = Budget::new(50.0, 0.0).expect("valid");
    let plan =
        MonitorPlan::new(Method::ThreshMonitor, shape, budget, 4, MonitorSettings::default())
            .expect("valid");
    plan.start_with(&mut SecureSource::new(rng))
}

/// Peak of a step beyond what was there before it, and how many events can have counted in it.
fn step(
    monitor: &mut Monitor,
    counted: usize,
    rng: &mut ChaCha20Rng,
    portions: impl Iterator<Item = Vec<Event>>,
) -> f64 {
    let before = ALLOCATOR.current_usage();
    ALLOCATOR.reset_peak_usage();
    let mut portion_bytes = 0;
    for portion in portions {
        portion_bytes = portion_bytes.max(portion.capacity() * size_of::<Event>());
        monitor.add(&portion);
    }
    let time = monitor.next_time();
    monitor.step_with(time, &[], &mut SecureSource::new(rng)).expect("in time");
    let peak = ALLOCATOR.peak_usage() - before - portion_bytes;
    // What the documentation of a plan promises.
    let most = 256 * counted + (8 << 20);
    assert!(peak <= most, "{peak} bytes for {counted} counted events, of {most}");
    // What stays is what the session says it holds, apart from reports and the plan.
    let held = monitor.memory_bytes();
    let now = ALLOCATOR.current_usage() - before + USERS as usize;
    assert!(held.abs_diff(now) <= 100_000, "{held} bytes said to be held, {now} are");
    peak as f64 / counted as f64
}

#[test]
fn a_session_needs_one_byte_per_user_and_a_bounded_step() {
    let mut rng = ChaCha20Rng::seed_from_u64(1);
    let before = ALLOCATOR.current_usage();
    drop(session(&mut rng));
    let monitor = session(&mut rng);
    let held = ALLOCATOR.current_usage() - before;
    assert!((USERS as usize..USERS as usize + 20_000).contains(&held), "{held} bytes");
    drop(monitor);
    let event = |user, item| Event { user, item };
    let users = |n: u32| (0..n).step_by(50_000).map(|first| first..first + 50_000);

    // Every user alone on one item: the most memory per event that the tables can take.
    let alone =
        users(USERS).map(|users| users.map(|user| event(user, u64::from(user) << 20)).collect());
    let a = step(&mut session(&mut rng), USERS as usize, &mut rng, alone);
    // Four items of every user, one after the other: three in four are looked at later.
    let four = users(USERS).map(|users| {
        users.flat_map(|user| (0..4).map(move |i| event(user, u64::from(user % 999) + i))).collect()
    });
    let b = step(&mut session(&mut rng), 4 * USERS as usize, &mut rng, four);
    // A flood: 10,000 users show 500 items five hundred times, of which four count.
    let mut other = ChaCha20Rng::seed_from_u64(2);
    let flood = (0..100).map(|_| {
        (0..50_000)
            .map(|_| event(other.random_range(0..10_000), other.random_range(0..500)))
            .collect()
    });
    let mut monitor = session(&mut rng);
    step(&mut monitor, 40_000, &mut rng, flood);
    // The same again needs nothing more.
    let held = monitor.memory_bytes();
    monitor.add(&[event(3, 3)]);
    monitor.step_with(1, &[], &mut SecureSource::new(&mut rng)).expect("in time");
    assert_eq!(monitor.memory_bytes(), held);
    // The bound is one that a step can come near to.
    println!("{a:.0} and {b:.0} bytes per counted event");
    assert!(a > 50.0 && b > 30.0, "{a} and {b} bytes per counted event");
}
