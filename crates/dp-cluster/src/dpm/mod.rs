//! DPM: private clustering by recursive cuts through sparse, central places.
//!
//! The space is cut in two again and again, each time by an axis-parallel plane that the
//! exponential mechanism picks for lying in a gap and near the middle of the points. What remains
//! are boxes; the centre of each is a noisy mean of the points inside. The number of clusters is
//! not an input.
//!
//! ```
//! use dp_accounting::Budget;
//! use dp_cluster::dpm::{Dpm, DpmSettings};
//! use dp_geometry::{Points, PublicBox};
//! use dp_mechanism::{Mechanism, chacha_from_os};
//!
//! // Ten thousand points around (-5, 0) and (5, 0); the box is public knowledge.
//! let coords = (0..10_000).flat_map(|i| [if i % 2 == 0 { -5.0 } else { 5.0 }, 0.0]).collect();
//! let points = Points::new(coords, 2)?;
//! let public_box = PublicBox::cube(2, -10.0, 10.0)?;
//!
//! let settings = DpmSettings { max_depth: 2, ..Default::default() };
//! let dpm = Dpm::new(public_box, Budget::new(1.0, 1e-6)?, settings)?;
//! println!("{}", dpm.receipt()); // the whole cost, before any data is touched
//! let release = dpm.release(points.view(), &mut chacha_from_os()?)?;
//! for centre in release.output.centres.view().rows() {
//!     println!("{centre:.2?}");
//! }
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # Guarantee
//! `(epsilon, delta)`-DP under [`AddRemove`](dp_accounting::AddRemove) for the budget given, by
//! zero-concentrated or Gaussian DP, whichever claims less, composed over the levels of the tree: a point lies in one node per level
//! and in one leaf, so the nodes of a level cost as much as one of them.
//!
//! # Source
//! Liebenow, Schütt, Braun, Gehrke, Thaeter, Mohammadi, "DPM: Clustering Sensitive Data through
//! Separation" (2023), Algorithm 1, with the corrections listed in the project's errata page.
//!
//! # What is not protected
//! Running time and memory access patterns depend on the data.

mod bins;
mod budget;
mod cell;
mod interval;
mod mechanism;
mod params;
mod path;
mod plan;
mod questions;
mod score;
mod sums;
#[cfg(test)]
mod tests;
mod tree;

pub(crate) use interval::Gaps;
pub(crate) use path::{Fate, Path, Walk};
pub(crate) use plan::{AfterAMiss, COUNTERS, Grown, TreeLosses, TreePlan, TreeSettings, TreeState};
pub(crate) use questions::{LeafCounter, LeafSums, Level, LevelCounter};
pub(crate) use tree::Rows;

pub use budget::BudgetSplit;
pub use interval::IntervalSize;
pub use mechanism::{Dpm, DpmState};
pub use params::DpmSettings;
pub use score::CutWeights;
