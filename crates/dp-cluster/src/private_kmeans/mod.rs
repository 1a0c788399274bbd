//! Private k-means for data that nobody has looked at: one plan that chooses its own steps, by public facts alone.
//!
//! A start finds about where the clusters are, then rounds of [re-centring](crate::recentring) move its centres to where the points are.
//! Which start, how much it gets, and how many rounds there are follows from the number of dimensions, of clusters, the budget, and about how
//! many records there are, if that is public. The receipt names what was chosen.
//!
//! ```
//! use dp_cluster::private_kmeans::PrivateKMeans;
//! use dp_cluster::{Budget, Mechanism, Points, PublicBox, chacha_from_os};
//!
//! // Ten thousand points around (-5, .., -5) and (5, .., 5); the box is public knowledge, and much too wide.
//! let coords = (0..40_000).map(|i| if (i / 4) % 2 == 0 { -5.0 } else { 5.0 }).collect();
//! let points = Points::new(coords, 4)?;
//! let public_box = PublicBox::cube(4, -1e4, 1e4)?;
//!
//! let plan = PrivateKMeans::builder(public_box, 2, Budget::new(1.0, 1e-6)?).expected_records(10_000).build()?;
//! println!("{}", plan.receipt()); // the whole cost, before any data is touched
//! println!("excess of the squared inertia: {:?}", plan.forecast()); // and how good it may become
//! let release = plan.release(points.view(), &mut chacha_from_os()?)?;
//! for (centre, count) in release.output.centres.view().rows().zip(&release.output.counts) {
//!     println!("{centre:.2?}: about {count} points");
//! }
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # What is chosen
//! - [`Start::Rings`] in more than three dimensions, and in one; [`Start::Map`] in two and three. [`start`](PrivateKMeansBuilder::start)
//!   overrules it: rings hardly see the width of the box, a map wants one that fits.
//! - No centre is split in a round: after these starts, splits undo more than they find.
//! - The start's share and the number of rounds by the *signal*, `n mu / (k sqrt(d))`: how long a typical cluster's sum is in standard
//!   deviations of the noise that the whole budget would put on it.
//!
//! # Guarantee
//! `(epsilon, delta)`-DP under [`AddRemove`](dp_accounting::AddRemove) for the budget given, by zero-concentrated DP composed over the start
//! and the rounds. All choices are made before any record is seen.
//!
//! # Utility
//! On separate clusters the squared inertia is within a few thousandths of that of k-means without privacy as long as the signal is
//! above 20 or so; [`forecast`](PrivateKMeans::forecast) says how far. Below 5 expect nothing.
//!
//! # What is not protected
//! Running time and memory access patterns depend on the data.

mod mechanism;
mod params;
#[cfg(test)]
mod tests;

pub use mechanism::PrivateKMeans;
pub use params::{PrivateKMeansBuilder, Start};
