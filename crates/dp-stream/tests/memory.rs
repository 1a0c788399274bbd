//! Bounds on memory, measured by a counting allocator. Alone in its binary, so that no other test
//! allocates meanwhile.

use dp_stream::{ChaCha20Rng, Event, MonitorBuilder, StreamShape, ThreshMonitor, Universe};
use peak_alloc::PeakAlloc;
use rand::{RngExt, SeedableRng};

#[global_allocator]
static ALLOCATOR: PeakAlloc = PeakAlloc;

/// A session holds one byte per user. In a step, each counted event has 9 bytes and each distinct item up
/// to 76, twice that while a buffer grows, whatever the number of events: repeated ones are looked at
/// 65,536 at a time, or as many as count.
#[test]
fn a_session_needs_one_byte_per_user_and_a_bounded_step() {
    let users = 4_000_000_u32;
    let shape = StreamShape { universe: Universe::Bits64, users, steps: 100 };
    let plan =
        ThreshMonitor::builder(shape, 1.0, 4).and_then(MonitorBuilder::build).expect("valid");
    let mut rng = ChaCha20Rng::seed_from_u64(1);
    let before = ALLOCATOR.current_usage();
    let mut monitor = plan.start(&mut rng);
    let session = ALLOCATOR.current_usage() - before;
    assert!((users as usize..users as usize + 100_000).contains(&session), "{session} bytes");
    // A flood: 10,000 users show 500 items ten thousand times, in portions.
    ALLOCATOR.reset_peak_usage();
    for _ in 0..100 {
        let portion: Vec<Event> = (0..50_000)
            .map(|_| Event { user: rng.random_range(0..10_000), item: rng.random_range(0..500) })
            .collect();
        monitor.add(&portion);
    }
    let used = ALLOCATOR.peak_usage() - before - session;
    let portion = 50_000 * size_of::<Event>();
    // At most four items of each user count; 120,000 repeated events at most wait, with 4 lists.
    assert!(used <= portion + 2 * 40_000 * 9 + 8_000_000, "{used} bytes in a step");
    assert!(monitor.step(0, &[], &mut rng).is_ok());
}
