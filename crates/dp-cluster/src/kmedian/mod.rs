//! Weighted k-median in Euclidean space. **Not private**; free on a release.
//!
//! Like [`kmeans`](crate::kmeans), for the sum of distances instead of squared distances: seeding,
//! then alternately nearest centres and geometric medians.
//!
//! ```
//! use dp_cluster::kmedian::{KMedian, KMedianSettings};
//! use dp_geometry::Points;
//! use rand::{SeedableRng, rngs::ChaCha20Rng};
//!
//! let points = Points::new(vec![0.0, 1.0, 5.0, 100.0, 101.0, 109.0], 1)?;
//! let solver = KMedian::new(2, KMedianSettings { restarts: 3, ..Default::default() })?;
//! let fit = solver.exact_fit(points.view(), None, &mut ChaCha20Rng::seed_from_u64(7))?;
//!
//! let mut centres = fit.centres.into_coords();
//! centres.sort_by(f64::total_cmp);
//! assert_eq!((centres, fit.inertia), (vec![1.0, 101.0], 14.0));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod algorithm;
mod median;
mod params;
#[cfg(test)]
mod tests;

pub use algorithm::KMedianFit;
pub use median::{GeometricMedian, exact_geometric_median};
pub use params::{KMedian, KMedianSettings};
