//! Released weighted points: what solvers may work on without any further privacy cost.
//!
//! A [`PrivateCoreset`] stands in for the records that it was made from. Only mechanisms can make
//! one, so a solver that takes this type cannot be handed raw records by mistake;
//! [`PrivateCoreset::assume_public`] is the door for data that needs no protection.
//!
//! [`CoresetFromCentres`] makes one from centres that were released before: it counts, with noise, the
//! records nearest to each.
//!
//! ```
//! use dp_cluster::coreset::PrivateCoreset;
//! use dp_cluster::kmeans::{KMeans, KMeansSettings};
//! use dp_geometry::Points;
//! use rand::{SeedableRng, rngs::ChaCha20Rng};
//!
//! // Published town centres and their published numbers of inhabitants.
//! let towns = Points::new(vec![0.0, 1.0, 50.0], 1)?;
//! let coreset = PrivateCoreset::assume_public(towns, vec![3_000.0, 1_000.0, 500.0])?;
//! let fit = KMeans::new(2, KMeansSettings::default())?.post_fit(&coreset, &mut ChaCha20Rng::seed_from_u64(1))?;
//! assert_eq!(fit.squared_inertia, 750.0); // (0, 1) become 0.25; 50 stays
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod mechanism;
mod released;
#[cfg(test)]
mod tests;
mod weights;

pub use mechanism::{CoresetFromCentres, CoresetFromCentresSettings};
pub use released::PrivateCoreset;
pub use weights::WeightRule;
