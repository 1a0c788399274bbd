//! Candidate centres: noisy means of the cells of random grids that hold many records.
//!
//! A cluster of any scale lies in one cell of a randomly shifted grid of a somewhat larger scale with a good probability. So records are put
//! into the cells of several grids at each of several scales; cells whose noisy count reaches a threshold are kept, and the noisy mean of each
//! is a candidate. There are more candidates than clusters; [`PrivateLocalSearch`](crate::private_local_search::PrivateLocalSearch) chooses among
//! them, and [`StemmerKaplan`](crate::stemmer_kaplan::StemmerKaplan) does both within one budget.
//!
//! ```
//! use dp_cluster::private_centres::{PrivateCentres, PrivateCentresSettings};
//! use dp_cluster::{Budget, Mechanism, Points, PublicBox, chacha_from_os};
//!
//! let coords = (0..20_000).flat_map(|i| [f64::from(i % 2) * 0.5, f64::from(i % 97) * 1e-4]).collect();
//! let points = Points::new(coords, 2)?;
//! let plan = PrivateCentres::new(PublicBox::cube(2, -1.0, 1.0)?, 2, Budget::new(1.0, 1e-6)?, PrivateCentresSettings::default())?;
//! let found = plan.release(points.view(), &mut chacha_from_os()?)?.output;
//! assert!(found.points().len() >= 2);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # When is it worth what
//! Squared inertia as a multiple of that of k-means without privacy: planted normal clusters in a box of side 2, 100,000 records, delta 1e-6, mean of 3 sets.
//!
//! | data | `epsilon` | k-means on all candidates | the same, subsamples | `StemmerKaplan` | each of these re-centred |
//! |---|---|---|---|---|---|
//! | 4 dimensions, 5 clusters | 1 | 1.0003 | 1.003 | 1.13 | 1.0000 |
//! | | 0.3 | 1.001 | 1.017 | 1.28 | 1.0001 or less |
//! | 4 dimensions, 8 clusters | 1 | 1.0002 | 1.017 | 1.22 | 1.0000 |
//! | | 0.3 | 1.002 | 1.056 | 1.15 | 1.0002 or less |
//! | 2 dimensions, 8 clusters | 1 | 1.0002 | 1.002 | 1.23 | 1.0000 |
//!
//! [`DpmRecentred`](crate::recentring::DpmRecentred) and [`PrivateKMeans`](crate::private_kmeans::PrivateKMeans) reach 1.0000 on all of them: nothing here is better than they are.
//! All records in all histograms beat subsamples. A cluster needs more records in one cell than the threshold: 156 of these plans at epsilon 1, 476 at 0.3.
//!
//! # Source
//! Stemmer and Kaplan (NeurIPS 2018), Algorithm Private-Centers and Lemma 3.1; Nissim and Stemmer (2018). Both ways of paying, Gaussian noise and
//! the bound of a cell instead of a private box: `docs/errata.md`.

mod buckets;
mod candidates;
mod mechanism;
mod params;
mod released;
mod subsamples;
#[cfg(test)]
mod tests;

pub(crate) use buckets::ShiftedGrid;
pub use candidates::Payment;
pub(crate) use candidates::{CandidatePlan, Change};
pub use mechanism::PrivateCentres;
pub use params::PrivateCentresSettings;
pub(crate) use params::without_thresholds;
pub use released::Candidates;
