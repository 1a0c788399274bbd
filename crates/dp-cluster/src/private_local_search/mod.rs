//! Private choice of centres among candidates: swaps by the exponential mechanism.
//!
//! From any `k` of the candidates, rounds of one swap each: out with one centre, in with one candidate, chosen with a probability that
//! falls with the cost of what results. In the end one of all sets seen is chosen in the same way. Candidates must be public, or
//! released before, as by [`PrivateCentres`](crate::private_centres::PrivateCentres).
//!
//! ```
//! use dp_cluster::private_local_search::{PrivateLocalSearch, PrivateLocalSearchSettings};
//! use dp_cluster::{Budget, Mechanism, Points, PublicBox, chacha_from_os};
//!
//! let coords = (0..9_000).map(|i| f64::from(i % 3) * 4.0).collect();
//! let points = Points::new(coords, 1)?;
//! let candidates = Points::new((0..10).map(f64::from).collect(), 1)?; // public
//! let public_box = PublicBox::cube(1, 0.0, 9.0)?;
//! let plan = PrivateLocalSearch::new(candidates, public_box, 3, Budget::new(1.0, 1e-6)?, PrivateLocalSearchSettings::default())?;
//! let clustering = plan.release(points.view(), &mut chacha_from_os()?)?.output;
//! assert_eq!(clustering.centres.len(), 3);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # When is it worth what
//! A choice costs the square of the box's diagonal over its epsilon, in cost, however small clusters are. Where candidates came with counts, k-means on
//! these is free and was better on every planted set (the table of [`private_centres`](crate::private_centres)); without any delta, or with candidates
//! that were given, this is what there is.
//!
//! # Source
//! Gupta, Ligett, McSherry, Roth, Talwar (SODA 2010), Algorithm 3, for sums of distances; Balcan, Dick, Liang, Mou, Zhang (ICML 2017) for squares;
//! Stemmer and Kaplan (NeurIPS 2018), Theorem 2.1.

mod choices;
mod costs;
mod mechanism;
mod params;
#[cfg(test)]
mod tests;

pub(crate) use choices::{Spending, SwapPlan};
pub use mechanism::PrivateLocalSearch;
pub(crate) use mechanism::SIZE;
pub use params::PrivateLocalSearchSettings;
pub(crate) use params::SIZES;
