//! LSH-Splits: private clustering by random hyperplanes.
//!
//! Hyperplanes through the centre of a public ball cut the records in two, level by level; a part
//! is cut for as long as its noisy count says that it is large. What remains are small parts, whose
//! noisy means and noisy sizes form a [`PrivateCoreset`](crate::coreset::PrivateCoreset); weighted
//! k-means on it is post-processing.
//!
//! ```
//! use dp_cluster::lsh_splits::{LshSplits, LshSplitsSettings};
//! use dp_cluster::{Budget, Mechanism, Points, PublicBall, chacha_from_os};
//!
//! // Ten thousand points around (-5, 0) and (5, 0); the ball is public knowledge.
//! let coords = (0..10_000).flat_map(|i| [if i % 2 == 0 { -5.0 } else { 5.0 }, 0.0]).collect();
//! let points = Points::new(coords, 2)?;
//! let ball = PublicBall::new(vec![0.0, 0.0], 10.0)?;
//!
//! let settings = LshSplitsSettings { public_seed: 2024, ..Default::default() };
//! let plan = LshSplits::new(ball, 2, Budget::new(1.0, 1e-6)?, settings)?;
//! println!("{}", plan.receipt()); // the whole cost, before any data is touched
//! let release = plan.release(points.view(), &mut chacha_from_os()?)?;
//! assert!(release.output.centres.len() <= 2);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # Guarantee
//! `(epsilon, delta)`-DP under [`AddRemove`](dp_accounting::AddRemove) for the budget given. A record
//! lies in at most one part per level and in at most one leaf, so the counts of a level cost as much
//! as one of them, and the sums of all leaves as much as one. A sum carries the number of its
//! records as one more coordinate, so that both share one noise.
//!
//! # Utility
//! A part of `m` records gets a centre with noise of standard deviation about
//! `noise_multiplier * radius / m` in each coordinate.
//!
//! # Source
//! Chang, Ghazi, Kumar, Manurangsi, "Locally private k-means in one round" (2021), for the tree of
//! random hyperplanes; the form here is that of its central-model implementation, with the
//! departures listed in the project's errata page. [`Form::Published`] is without them.
//!
//! # What is not protected
//! Running time and memory access patterns depend on the data.

mod budget;
mod codes;
mod mechanism;
mod params;
mod sums;
#[cfg(test)]
mod tests;
mod tree;

pub use budget::BudgetSplit;
pub(crate) use codes::{CodeCounter, Codes};
pub use mechanism::{LshSplits, SplitsState};
pub use params::{Form, LshSplitsSettings};
pub(crate) use sums::{PartCounter, PartSums};
