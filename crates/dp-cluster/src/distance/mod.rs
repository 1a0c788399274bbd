//! Clusterings of records that are hidden up to a distance, other than the [map](crate::map).
//!
//! [`NoisedPoints`] is the plain way, for any dimension: noise on every record, then any solver. It is what every record could do at home, and
//! pays for that: its noise does not become less with more records. It is here as a baseline, and as the start of [`SoftRecentred`] above three
//! dimensions, whose rounds share records among centres and so see where the mass is, not where the noise put it. [`RegionCoreset`] is the
//! published algorithm: noise on every record says where to look, and noisy counts of records what is there. It is a baseline, too. [`NearbyKMeans`] is
//! the plan to begin with: above three dimensions it is often cheaper to hide whole records, and it chooses.
//!
//! ```
//! use dp_cluster::distance::NearbyKMeans;
//! use dp_cluster::{Budget, Mechanism, Points, PublicBox, chacha_from_os};
//! use dp_mechanism::Nearby;
//!
//! let coords = (0..4_000).map(|i| f64::from(i * 7 % 11 + i * i % 23)).collect();
//! let records = Points::new(coords, 4)?;
//! let public_box = PublicBox::cube(4, 0.0, 40.0)?;
//! let budget = Budget::new(1.0, 1e-6)?;
//! let plan = NearbyKMeans::new(public_box, Nearby::new(0.1)?, 1_000, 3, budget, 0)?;
//! println!("{}", plan.receipt()); // the whole cost, and what was chosen
//! let mut rng = chacha_from_os()?;
//! let clustering = plan.release(records.view(), &mut rng)?.output;
//! assert_eq!(clustering.centres.len(), 3);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # Source
//! Epasto, Mirrokni, Narayanan, Zhong, "k-Means Clustering with Distance-Based Privacy" (2023).

mod nearby_kmeans;
mod noised_points;
mod quadtree;
mod region_coreset;
mod regions;
mod soft_recentred;
mod soft_step;
#[cfg(test)]
mod tests;

pub use nearby_kmeans::{NearbyKMeans, Way};
pub use noised_points::NoisedPoints;
pub use region_coreset::{RegionCoreset, RegionCoresetSettings, RegionRule};
pub use soft_recentred::SoftRecentred;
pub use soft_step::{SoftScratch, SoftStep};
