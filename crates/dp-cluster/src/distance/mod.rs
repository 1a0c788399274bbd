//! Clusterings of records that are hidden up to a distance, other than the [map](crate::map).
//!
//! [`NoisedPoints`] is the plain way, for any dimension: noise on every record, then any solver. It is what every record could do at home, and
//! pays for that: its noise does not become less with more records. It is here as a baseline.
//!
//! ```
//! use dp_cluster::distance::NoisedPoints;
//! use dp_cluster::kmeans::KMeans;
//! use dp_cluster::{Budget, Mechanism, Points, PublicBox, chacha_from_os};
//! use dp_mechanism::Nearby;
//!
//! let coords = (0..4_000).map(|i| f64::from(i * 7 % 11 + i * i % 23)).collect();
//! let records = Points::new(coords, 4)?;
//! let public_box = PublicBox::cube(4, 0.0, 40.0)?;
//! let budget = Budget::new(1.0, 1e-6)?;
//! let plan = NoisedPoints::new(public_box, Nearby::new(0.1)?, 1_000, budget)?;
//! let mut rng = chacha_from_os()?;
//! let noised = plan.release(records.view(), &mut rng)?.output;
//! let fit = KMeans::builder(3).build()?.post_fit(&noised, &mut rng)?; // free
//! assert_eq!(fit.centres.len(), 3);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # Source
//! Epasto, Mirrokni, Narayanan, Zhong, "k-Means Clustering with Distance-Based Privacy" (2023).

mod noised_points;
#[cfg(test)]
mod tests;

pub use noised_points::NoisedPoints;
