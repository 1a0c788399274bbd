//! Bounds on memory, measured by a counting allocator. Alone in its binary, so that no other test
//! allocates meanwhile.

use dp_accounting::Budget;
use dp_cluster::dpm::Dpm;
use dp_geometry::{Points, PublicBox};
use dp_mechanism::{ChaCha20Rng, Mechanism};
use peak_alloc::PeakAlloc;
use rand::SeedableRng;

#[global_allocator]
static ALLOCATOR: PeakAlloc = PeakAlloc;

/// DPM stays within `3 n d` bytes beyond its input, plus 8 MiB for the histograms of these shapes.
#[test]
fn dpm_needs_at_most_three_bytes_per_coordinate() {
    let pool = rayon::ThreadPoolBuilder::new().num_threads(1).build().expect("a pool");
    for (n, dim) in [(6_000_000, 1), (1_000_000, 10), (150_000, 100)] {
        let coords = (0..n * dim).map(|i| f64::from(u32::try_from(i % 997).expect("small")));
        let points = Points::new(coords.collect(), dim).expect("whole rows");
        let public_box = PublicBox::cube(dim, 0.0, 1_000.0).expect("valid");
        let budget = Budget::new(1.0, 1e-9).expect("valid");
        let dpm = Dpm::builder(public_box, budget).build().expect("valid");
        let mut rng = ChaCha20Rng::seed_from_u64(1);
        let before = ALLOCATOR.current_usage();
        ALLOCATOR.reset_peak_usage();
        let release = pool.install(|| dpm.release(points.view(), &mut rng));
        let used = ALLOCATOR.peak_usage() - before;
        assert!(release.is_ok());
        assert!(used <= 3 * n * dim + (8 << 20), "{used} bytes for {n} x {dim}");
        assert!(used >= n * dim, "{used} bytes: the allocator was not counting");
    }
}
