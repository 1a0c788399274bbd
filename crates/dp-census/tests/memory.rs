//! Bounds on the memory of the solvers, measured by a counting allocator. Alone in its binary, so
//! that no other test allocates meanwhile.

use dp_census::RegionTree;
use dp_census::solve::{Problem, chain, cumulative, edf, monotone_rows, top_down, tree};
use peak_alloc::PeakAlloc;
use rand::rngs::ChaCha20Rng;
use rand::{RngExt, SeedableRng};

#[global_allocator]
static ALLOCATOR: PeakAlloc = PeakAlloc;

const BINS: usize = 1_000;
const GROUPS: i64 = 50_000;

/// 1 + 10 + 300 regions.
fn regions() -> RegionTree {
    let inner = (0..10).map(|_| Some(0));
    let leaves = (0..300).map(|i| Some(1 + i / 30));
    let parents: Vec<_> = [None].into_iter().chain(inner).chain(leaves).collect();
    RegionTree::from_parents(&parents).expect("valid")
}

/// What a solver allocates at most, its result included, in sizes of the table.
fn tables_used<T>(cells: usize, solve: impl FnOnce() -> T + Send) -> f64
where
    T: Send,
{
    let pool = rayon::ThreadPoolBuilder::new().num_threads(1).build().expect("a pool");
    let before = ALLOCATOR.current_usage();
    ALLOCATOR.reset_peak_usage();
    let result = pool.install(solve);
    let used = ALLOCATOR.peak_usage() - before;
    drop(result);
    used as f64 / (8 * cells) as f64
}

/// A few sizes of the table each, so that a table that fits four or five times can be solved.
#[test]
fn solvers_need_a_few_times_the_table() {
    let regions = regions();
    let cells = regions.len() * BINS;
    let mut rng = ChaCha20Rng::seed_from_u64(83);
    let noisy: Vec<i64> = (0..cells).map(|_| rng.random_range(-60..=60)).collect();
    let problem = Problem::new(&regions, BINS, &noisy, &[1; 3], GROUPS).expect("valid");
    let rounded = || edf::round(&regions, &cumulative::solve(&problem).rows, GROUPS);
    let bounds = [
        ("chain", 1.6, tables_used(cells, || chain::solve(&problem))),
        ("tree", 4.5, tables_used(cells, || tree::solve(&problem))),
        ("top-down", 1.2, tables_used(cells, || top_down::solve(&problem))),
        ("monotone rows", 5.5, tables_used(cells, || monotone_rows::solve(&problem))),
        ("cumulative and rounding", 2.8, tables_used(cells, rounded)),
    ];
    for (name, most, used) in bounds {
        assert!(used <= most, "{name}: {used} tables, more than {most}");
        assert!(used >= 1.0, "{name}: {used}: the allocator was not counting");
    }
}
