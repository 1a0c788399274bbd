//! Bounds on memory, measured by a counting allocator. Alone in its binary, so that no other test
//! allocates meanwhile.

use dp_accounting::Budget;
use dp_cluster::dpm::{Dpm, DpmSettings};
use dp_cluster::lsh_splits::{LshSplits, LshSplitsSettings};
use dp_cluster::map::{PrivateMap, PrivateMapSettings};
use dp_geometry::{Points, PublicBall, PublicBox};
use dp_mechanism::{ChaCha20Rng, Mechanism, Nearby};
use peak_alloc::PeakAlloc;
use rand::SeedableRng;

#[global_allocator]
static ALLOCATOR: PeakAlloc = PeakAlloc;

/// Beyond their input, DPM stays within `3 n d` bytes plus 8 MiB for the histograms of these shapes,
/// and LSH-Splits within `20 n` bytes plus 2 MiB for leaves and solver. A map needs no more for twenty times the records.
#[test]
fn releases_need_little_beyond_their_input() {
    let pool = rayon::ThreadPoolBuilder::new().num_threads(1).build().expect("a pool");
    for (n, dim) in [(6_000_000, 1), (1_000_000, 10), (150_000, 100)] {
        let coords = (0..n * dim).map(|i| f64::from(u32::try_from(i % 997).expect("small")));
        let points = Points::new(coords.collect(), dim).expect("whole rows");
        let public_box = PublicBox::cube(dim, 0.0, 1_000.0).expect("valid");
        let ball = PublicBall::around(&public_box).expect("valid");
        let budget = Budget::new(1.0, 1e-9).expect("valid");
        let dpm = Dpm::new(public_box, budget, DpmSettings::default()).expect("valid");
        let mut rng = ChaCha20Rng::seed_from_u64(1);
        let before = ALLOCATOR.current_usage();
        ALLOCATOR.reset_peak_usage();
        let release = pool.install(|| dpm.simulate(points.view(), &mut rng));
        let used = ALLOCATOR.peak_usage() - before;
        assert!(release.is_ok());
        assert!(used <= 3 * n * dim + (8 << 20), "{used} bytes for {n} x {dim}");
        assert!(used >= n * dim, "{used} bytes: the allocator was not counting");

        let lsh = LshSplits::new(ball, 8, budget, LshSplitsSettings::default()).expect("valid");
        let before = ALLOCATOR.current_usage();
        ALLOCATOR.reset_peak_usage();
        let release = pool.install(|| lsh.simulate(points.view(), &mut rng));
        let used = ALLOCATOR.peak_usage() - before;
        assert!(release.is_ok());
        assert!(used <= 20 * n + (2 << 20), "{used} bytes for {n} x {dim}");
        assert!(used >= 4 * n, "{used} bytes: the allocator was not counting");
    }
    let of_a_map = [50_000_usize, 1_000_000].map(|n| {
        let coords = (0..2 * n).map(|i| f64::from(u32::try_from(i % 997).expect("small")));
        let points = Points::new(coords.collect(), 2).expect("whole rows");
        let square = PublicBox::cube(2, 0.0, 1_000.0).expect("valid");
        let budget = Budget::new(1.0, 1e-9).expect("valid");
        let near = Nearby::new(20.0).expect("valid");
        let settings = PrivateMapSettings::default();
        let map = PrivateMap::within(square, near, n as u64, budget, settings);
        let map = map.expect("valid");
        let mut rng = ChaCha20Rng::seed_from_u64(1);
        let before = ALLOCATOR.current_usage();
        ALLOCATOR.reset_peak_usage();
        let release = pool.install(|| map.simulate(points.view(), &mut rng));
        let used = ALLOCATOR.peak_usage() - before;
        assert!(release.is_ok());
        used
    });
    let [few, many] = of_a_map;
    let vertices = 129 * 129;
    assert!(few >= 8 * vertices, "{few} bytes: the allocator was not counting");
    assert!(many <= few + (64 << 10) && many <= 4 << 20, "{few} bytes, then {many}");
}
