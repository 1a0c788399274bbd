//! Local search among candidate centres: swap while it helps. **Not private**; free on a release.
//!
//! ```
//! use dp_cluster::coreset::PrivateCoreset;
//! use dp_cluster::local_search::{LocalSearch, LocalSearchSettings, Objective};
//! use dp_geometry::Points;
//! use rand::{SeedableRng, rngs::ChaCha20Rng};
//!
//! let towns = Points::new(vec![0.0, 1.0, 2.0, 10.0, 11.0], 1)?;
//! let coreset = PrivateCoreset::assume_public(towns.clone(), vec![1.0, 1.0, 1.0, 1.0, 5.0])?;
//! let search = LocalSearch::new(2, Objective::KMedian, LocalSearchSettings::default())?;
//! let fit = search.post_fit(&coreset, towns.view(), &mut ChaCha20Rng::seed_from_u64(1))?;
//! assert_eq!((fit.chosen, fit.cost), (vec![1, 4], 3.0));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # Utility
//! At a local optimum, up to the tolerance: for the k-median objective 5 times the best choice of
//! `k` candidates with single swaps, 4 times with double swaps (`3 + 2/p`); for the k-means
//! objective 25 and 16 (`(3 + 2/p)^2`).
//!
//! # Source
//! Arya, Garg, Khandekar, Meyerson, Munagala, Pandit (2004); Kanungo, Mount, Netanyahu, Piatko,
//! Silverman, Wu (2004) for squared distances.

mod algorithm;
mod nearest_three;
mod objective;
mod params;
mod plus_plus;
#[cfg(test)]
mod tests;

pub use algorithm::{LocalSearchFit, SearchStop};
pub use objective::Objective;
pub use params::{LocalSearch, LocalSearchSettings};
pub(crate) use plus_plus::improve_seeding;
