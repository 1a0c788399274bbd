//! Weighted k-means++ and Lloyd. **Not private.**
//!
//! Two uses are sound: on a private release (a weighted coreset, noisy centres), where it is
//! post-processing and costs nothing, and on data that is public or that nobody promised to
//! protect, where it is the baseline to compare with. The function is called
//! [`exact_fit`](KMeans::exact_fit), and `exact_` marks whatever is not private in this workspace.
//!
//! ```
//! use dp_cluster::kmeans::{KMeans, KMeansSettings};
//! use dp_geometry::Points;
//! use rand::{SeedableRng, rngs::ChaCha20Rng};
//!
//! let points = Points::new(vec![0.0, 1.0, 2.0, 100.0, 101.0, 102.0], 1)?;
//! let solver = KMeans::new(2, KMeansSettings { restarts: 3, ..Default::default() })?;
//! let fit = solver.exact_fit(points.view(), None, &mut ChaCha20Rng::seed_from_u64(7))?;
//!
//! let mut centres = fit.centres.into_coords();
//! centres.sort_by(f64::total_cmp);
//! assert_eq!(centres, [1.0, 101.0]);
//! assert_eq!(fit.squared_inertia, 4.0);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

#![cfg_attr(
    test,
    allow(clippy::float_cmp, reason = "the fast and the plain version agree exactly")
)]

mod algorithm;
pub(crate) mod data;
mod lloyd;
pub(crate) mod pairs;
pub(crate) mod params;
mod restarts;
mod seeding;
#[cfg(test)]
mod tests;

pub use algorithm::{KMeansFit, StopReason};
pub use data::MAX_MAGNITUDE;
pub(crate) use data::farthest;
pub use params::{KMeans, KMeansSettings};
pub(crate) use restarts::cheapest;
pub(crate) use seeding::draw;
