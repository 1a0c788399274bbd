//! k-means with a constant factor: candidates for all records, then for those that are far from them, then a local search.
//!
//! Candidates come from cells with many records ([`private_centres`](crate::private_centres)). Clusters too small for that are looked for again
//! among the records that are farthest from all candidates so far, of which a public number is taken. From all candidates, `k` are chosen
//! by a [private local search](crate::private_local_search). This is the algorithm of the paper, with its errata; it is not
//! [`PrivateKMeans`](crate::private_kmeans::PrivateKMeans), which is what to use.
//!
//! ```
//! use dp_cluster::stemmer_kaplan::{StemmerKaplan, StemmerKaplanSettings};
//! use dp_cluster::{Budget, Mechanism, Points, PublicBox, chacha_from_os};
//!
//! let coords = (0..20_000).flat_map(|i| [f64::from(i % 2) * 0.5, f64::from(i % 97) * 1e-4]).collect();
//! let points = Points::new(coords, 2)?;
//! let public_box = PublicBox::cube(2, -1.0, 1.0)?;
//! let plan = StemmerKaplan::new(public_box, 2, Budget::new(1.0, 1e-6)?, StemmerKaplanSettings::default())?;
//! let clustering = plan.release(points.view(), &mut chacha_from_os()?)?.output;
//! assert!(!clustering.centres.is_empty());
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # Source
//! Stemmer and Kaplan (NeurIPS 2018), Algorithm Private-k-Means and Theorem 3.7. Departures: `docs/errata.md`.

mod farthest;
mod mechanism;
mod params;
#[cfg(test)]
mod tests;

pub use mechanism::StemmerKaplan;
pub use params::StemmerKaplanSettings;
