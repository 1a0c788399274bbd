//! Differentially private Euclidean clustering and its non-private baselines.
//!
//! - [`private_kmeans`]: the recommended plan, which chooses its steps by public facts and a noisy count of the records, and finds out how many clusters there are if asked to. Start here.
//! - [`dpm`]: private clustering by recursive cuts; the number of clusters is not an input.
//! - [`dp_lloyd`]: Lloyd's iteration with noise; the oldest baseline, works without a delta.
//! - [`em_mc`]: private clustering by maximum coverage; also for k-median without a delta.
//! - [`lsh_splits`]: private clustering by random hyperplanes; fast, for many dimensions.
//! - [`private_box`]: a box around most records, inside of one that may be far too wide; on its own, and part of the plan above.
//! - [`recentring`]: rounds that move private centres to where the points are; the most accurate
//!   private clustering here, on DPM's cuts or on any other start.
//! - [`rings`]: private clustering by rings around centres; finds scale, place and clusters in any box, the best start for
//!   re-centring in more than three dimensions.
//! - [`private_centres`], [`private_local_search`]: candidates from cells that hold many records, and a private choice among candidates;
//!   [`stemmer_kaplan`] is both within one budget, with the farthest records in rounds of their own, as in the paper.
//! - [`coreset`]: released weighted points, which any solver may work on for free.
//! - [`map`]: one private map from which every clustering is free, in one to three dimensions; also for records that are only hidden up to a
//!   distance.
//! - [`distance`]: for records that are only hidden up to a distance: soft re-centring in any dimension; as baselines the published algorithm, and
//!   noise on every record.
//! - [`passes`]: the recommended plan, DPM, re-centring after it, LSH-Splits and the private map for records that do not fit in memory, or are on
//!   other machines.
//! - [`kmeans`]: weighted k-means++ and Lloyd, not private; a baseline, and free to use on whatever
//!   has been released.
//! - [`kmedian`], [`local_search`]: the same for sums of distances, and swaps among candidates.
//! - [`metrics`]: how good a clustering is; evaluation only, not private.
//!
//! ```
//! use dp_cluster::private_kmeans::{PrivateKMeans, PrivateKMeansSettings};
//! use dp_cluster::{Budget, Mechanism, Points, PublicBox, chacha_from_os};
//!
//! let points = Points::new(vec![0.5; 2_000], 2)?;
//! let plan = PrivateKMeans::new(PublicBox::cube(2, 0.0, 1.0)?, 3, Budget::new(1.0, 1e-6)?, PrivateKMeansSettings::default())?;
//! let release = plan.release(points.view(), &mut chacha_from_os()?)?;
//! assert!(release.receipt.within_budget());
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! Out of scope: reading files, plotting, declaring a public box for you; it may be as wide as you like.

mod asked;
mod buckets;
mod clustering;
mod comparison;
pub mod coreset;
pub mod distance;
pub mod dp_lloyd;
pub mod dpm;
pub mod em_mc;
mod error;
mod inside;
pub mod kmeans;
pub mod kmedian;
mod lanes;
pub mod local_search;
mod located;
pub mod lsh_splits;
pub mod map;
pub mod metrics;
mod nearest;
pub mod passes;
pub mod private_box;
pub mod private_centres;
pub mod private_kmeans;
pub mod private_local_search;
mod public_coins;
pub mod recentring;
mod residual;
pub mod rings;
mod sized_sum;
pub mod stemmer_kaplan;
mod table;
#[cfg(test)]
mod testing;
mod total_rho;

pub use clustering::{CentreError, Clustering};
pub use error::ClusterError;
pub use nearest::{Assignment, nearest};

pub use dp_accounting::{AddRemove, Budget, Ledger, Receipt};
pub use dp_geometry::{Points, PointsView, PublicBall, PublicBox};
pub use dp_mechanism::{ChaCha20Rng, Mechanism, Release, ReleaseRng, chacha_from_os};

/// Does the work on a thread of the pool: a loop in it that is shared out then starts at once, and otherwise the pool has to be woken for each.
pub(crate) fn in_pool<R: Send>(work: impl FnOnce() -> R + Send) -> R {
    rayon::scope(|_| work())
}

/// The examples of the two READMEs.
#[cfg(doctest)]
#[doc = include_str!("../../../README.md")]
struct WorkspaceReadme;

#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
