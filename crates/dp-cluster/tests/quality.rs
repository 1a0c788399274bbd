//! Quality at a size where it means something: worse than half the published inertia is a failure.

use dp_accounting::Budget;
use dp_cluster::dpm::Dpm;
use dp_cluster::metrics::{distinct_clusters_found, squared_inertia};
use dp_geometry::{Points, PublicBox};
use dp_mechanism::{ChaCha20Rng, Mechanism};
use rand::{RngExt, SeedableRng};

/// 100,000 points in 64 clusters of standard deviation 1 in `[-100, 100]^10`, `epsilon = 1`,
/// `delta = n^-1.5`, five seeds. The published code reaches 1.35e7 and 63.6 clusters on average.
/// Uniform offsets stand in for Gaussian ones: the metric only sees their variance.
#[test]
fn dpm_finds_every_cluster_of_the_synthetic_set() {
    const N: usize = 100_000;
    const DIM: usize = 10;
    const CLUSTERS: usize = 64;
    let public_box = PublicBox::cube(DIM, -100.0, 100.0).expect("valid");
    let budget = Budget::new(1.0, (N as f64).powf(-1.5)).expect("valid");
    let dpm = Dpm::builder(public_box, budget).build().expect("valid");
    let mut total = 0.0;
    for seed in 0..5 {
        let mut rng = ChaCha20Rng::seed_from_u64(seed);
        let centres: Vec<f64> =
            (0..CLUSTERS * DIM).map(|_| rng.random_range(-100.0..100.0)).collect();
        let half_width = 3_f64.sqrt(); // of a uniform law with variance 1
        let coords = (0..N * DIM).map(|i| {
            let cluster = (i / DIM) % CLUSTERS;
            centres[cluster * DIM + i % DIM] + rng.random_range(-half_width..half_width)
        });
        let points = Points::new(coords.collect(), DIM).expect("whole rows");
        let centres = Points::new(centres.clone(), DIM).expect("whole rows");
        let released = dpm.release(points.view(), &mut rng).expect("the shape fits").output;
        assert_eq!(released.centres.len(), CLUSTERS, "seed {seed}");
        assert_eq!(distinct_clusters_found(released.centres.view(), centres.view()), CLUSTERS);
        total += squared_inertia(points.view(), released.centres.view());
    }
    let mean = total / 5.0;
    assert!(mean <= 3.0e6, "mean squared inertia {mean:.3e}");
    assert!(mean >= 1.0e6, "{mean:.3e} is below what the clusters themselves have");
}
