//! Re-centring: rounds that move private centres to where the points are.
//!
//! A private clustering loses most of its accuracy to one noisy average whose sensitivity is the size
//! of the space. Here the same budget is spent in rounds: each measures how far its centres are off,
//! with points clipped to a radius that most of them keep, so the noise shrinks with the error. On
//! clear clusters the result is as good as k-means without privacy.
//!
//! ```
//! use dp_accounting::Budget;
//! use dp_cluster::recentring::{DpmRecentred, DpmRecentredSettings};
//! use dp_geometry::{Points, PublicBox};
//! use dp_mechanism::{Mechanism, chacha_from_os};
//!
//! // Ten thousand points around (-5, 0) and (5, 0); the box is public knowledge.
//! let coords = (0..10_000).flat_map(|i| [if i % 2 == 0 { -5.0 } else { 5.0 }, 0.0]).collect();
//! let points = Points::new(coords, 2)?;
//! let public_box = PublicBox::cube(2, -100.0, 100.0)?;
//!
//! let settings = DpmRecentredSettings { clusters: Some(2), ..Default::default() };
//! let plan = DpmRecentred::new(public_box, Budget::new(1.0, 1e-6)?, settings)?;
//! println!("{}", plan.receipt()); // the whole cost, before any data is touched
//! let release = plan.release(points.view(), &mut chacha_from_os()?)?;
//! for centre in release.output.centres.view().rows() {
//!     println!("{centre:.2?}");
//! }
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # What happens
//! [`DpmRecentred`] starts from the middles of the cells that DPM's cuts leave, with the points that
//! the cuts sent to each; a cell large enough for two gets another cut if one misses. [`Recentred`]
//! starts from whatever any other mechanism has released. Then every round
//! 1. sends each point to its nearest centre,
//! 2. finds the radius within which a given share of all points lies, on a public grid, by halving it on
//!    noisy counts, but none above that of the round before if that had as many centres,
//! 3. scales residuals longer than the radius back to it, or to as little as six tenths of it where the noise of a centre's mean would be a
//!    tenth of the radius and more, and releases for every centre, with or
//!    without points, their noisy sum together with two noisy counts: points near it and points
//!    beyond twice the radius,
//! 4. moves each centre by its noisy mean residual, times a number that makes up for clipping, as far as that is more than noise: what earlier
//!    rounds have measured keeps its weight, as in a Kalman filter, of counts as well as of places; in
//!    the first round, where nobody knows how far off a start is, by the gain of James and Stein. A mean is a sum over
//!    a count; where noise explains how counts differ, over the mean of all. Counts
//!    that are released are those of the last round alone.
//!
//! Between rounds, from released values alone: centres that could be all noise are dropped, and
//! those that are one cluster are joined by Ward's method, on distances less what noise explains.
//! A centre most of whose points lie far beyond its radius is between clusters, or has been left
//! behind: it becomes several, a small step apart in public directions, with a longer radius. All of
//! this is deterministic, so no randomness is needed beside the noise.
//!
//! # Guarantee
//! `(epsilon, delta)`-DP under [`AddRemove`](dp_accounting::AddRemove) for the budget given, composed over
//! the start and the rounds, whose noise is Gaussian. In a round,
//! - one point changes each of the eight counts of the search for a radius by at most 1;
//! - it adds to the vector of one centre, chosen by this point and released values, a residual of at
//!   most `2^20` units and `0.3 * 2^20` units of one of the two counts. The vector's squared length
//!   is bounded in integers, and a unit is a public share of the radius.
//!
//! # Utility
//! With `rho` for the sums of a round, a cluster of `m` points in `d` dimensions and a radius `r`, a
//! centre is left with an error of length `f r`, `f = sqrt(1.09 d / (2 rho)) / m`. While the error
//! is what keeps points away, the next radius is about that; in the end it is the cluster's own
//! size, and the squared inertia exceeds that of k-means by a share of about `f^2` over the number
//! of rounds spent there. It works where `f` is well below 1/2.
//!
//! # When is it worth what
//! Squared inertia as a multiple of that of k-means without privacy with the same number of
//! clusters; mean and standard deviation of 20 runs at default settings, `delta = n^-1.5`.
//!
//! Made before residuals were clipped to less than the radius, which changes the last column most:
//!
//! | data | `n`, `d`, `k` | epsilon 1 | epsilon 0.3 | epsilon 0.1 |
//! |---|---|---|---|---|
//! | separate Gaussian blobs | 100,000, 10, 64 | 1.0015 +- .0001 | 1.013 +- .004 | 188 +- 54, 56 of 64 found |
//! | separate Gaussian blobs | 100,000, 100, 64 | 1.0051 +- .0001 | 1.26 +- .03 | |
//! | MNIST, 40-dimensional embedding | 60,000, 40, 10 | 1.0004 | 1.0016 +- .0001 | 1.011 +- .001 |
//! | letters, as in the DPM paper | 18,720, 16, 26 | 1.063 +- .013 | 1.29 +- .04 | 1.82 +- .17 |
//! | birch1, in a box of 0 to 1e6 (10 runs) | 100,000, 2, 100 | 1.0008 +- .0001 | 1.25 +- .03 | 1.60 +- .06 |
//! | skin colours (10 runs) | 245,057, 3, 2 | 1.003 | 1.003 | 1.003 |
//! | gas turbine, box of the DPM paper (10 runs) | 36,733, 11, 4 | 1.02 +- .03 | 1.42 +- .19 | 1.9 +- .6 |
//!
//! - Clusters of a thousand points and more that do not overlap: nothing is lost at epsilon 1, and
//!   little at 0.3. [`Dpm`](crate::dpm::Dpm) alone is 2.4 and 15 times as far off there.
//! - At epsilon 3 and 10 what is left is the difference between Lloyd's iteration from these starts
//!   and the best of ten of k-means++: letters 1.028 and 1.020, the blobs in 10 dimensions 1.0009.
//! - Overlapping clusters (letters): most of the gain is that of a few iterations of Lloyd.
//!   [`LshSplits`](crate::lsh_splits::LshSplits) is as good a start, at some values a better one:
//!   1.05 to 1.08 at epsilon 1 and 1.17 to 1.30 at 0.3, in six runs each with 0.3 of the budget.
//! - Where counts fail, so does everything: a cluster needs several times the noise of a count of
//!   the tree, about 170 points at epsilon 0.1 on the sets above, and cuts need more than that.
//! - Heavy tails: clipping pulls towards the bulk. Where k-means spends centres on a few far records
//!   these rounds do not follow: 7.2 times its inertia on shuttle with 7 clusters and a box of -5,000
//!   to 15,000, at every epsilon tried.
//! - Without `clusters`, centres nearer than one radius are joined: right for separate clusters, too
//!   few for overlapping ones.
//!
//! # Source
//! Iterated clipping balls for one mean: Biswas, Dong, Kamath, Ullman, "`CoinPress`: Practical Private
//! Mean and Covariance Estimation" (NeurIPS 2020). Cuts: the DPM paper, see
//! [`dpm`](crate::dpm). Joining: Ward (1963). Rounds for all clusters at once, the two counts, the
//! filter and the splitting are this project's.
//!
//! # What is not protected
//! Running time and memory access patterns depend on the data.

mod centres;
mod clipping;
mod dpm;
mod dpm_params;
mod generic;
mod merge;
mod plan;
mod questions;
mod radius;
mod recent;
mod round;
mod rounds;
mod split;
mod sums;
#[cfg(test)]
mod tests;

pub(crate) use clipping::clipped_to;
pub use dpm::{DpmRecentred, RecentredState};
pub use dpm_params::{DpmRecentredSettings, RecentredSplit};
pub use generic::{Recentred, part_of};
pub(crate) use plan::{Recentring, RoundState, Start};
pub(crate) use questions::{Hint, Labeller, Labels, Radii, RadiusCounter, SumCounter, Sums};
pub(crate) use radius::buckets;
pub use rounds::Rounds;
pub(crate) use sums::exact_sums;
