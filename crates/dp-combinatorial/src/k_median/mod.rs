//! Metric k-median and k-means: where to put `k` centres among public places so that private users are
//! near one.
//!
//! ```
//! use std::sync::Arc;
//!
//! use dp_accounting::Budget;
//! use dp_combinatorial::k_median::{Metric, MetricBicriteria, MetricBicriteriaSettings, Power};
//! use dp_mechanism::{Mechanism, chacha_from_os};
//!
//! // A street grid of 20 by 20 corners, one unit apart; users at the corners of its diagonal.
//! let corner = |x: u32, y: u32| 20 * x + y;
//! let streets = (0..20).flat_map(|x| (0..19).flat_map(move |y| {
//!     [(corner(x, y), corner(x, y + 1), 1), (corner(y, x), corner(y + 1, x), 1)]
//! }));
//! let metric = Arc::new(Metric::from_graph(400, &streets.collect::<Vec<_>>(), None)?);
//! let users: Vec<u32> = (0..40_000).map(|i| corner(i % 20, i % 20)).collect();
//!
//! let budget = Budget::new(1.0, 0.0)?;
//! let settings = MetricBicriteriaSettings::default();
//! let plan = MetricBicriteria::new(&metric, 2, Power::Means, budget, 50_000, settings)?;
//! let release = plan.release(&users, &mut chacha_from_os()?)?;
//! println!("{:?}, for {}", release.output.centres, release.receipt);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! - [`MetricClustering`]: picks a mechanism and its settings by public facts; start here.
//! - [`MetricHistogram`], [`MetricBicriteria`]: the mechanisms, both pure by default.
//! - [`Metric`]: public distances, from a matrix, points or a graph.
//! - [`FasterPam`]: the search on weights that are public or released.
//!
//! # Shapes and units
//! Users are node ids, one `u32` each; an id that is no node is dropped. Centres are node ids.
//!
//! # What is not protected
//! Running time and memory access patterns depend on the data.

mod bicriteria;
mod candidates;
mod cells;
mod clustering;
mod cost;
pub mod faster_pam;
mod gains;
mod histogram;
mod metric;
mod net;
mod shrink;
#[cfg(test)]
mod tests;

pub use bicriteria::{Base, MetricBicriteria, MetricBicriteriaSettings};
pub use candidates::Denoise;
pub use clustering::{Clustering, Method, MetricClustering};
pub use cost::Power;
pub use faster_pam::{FasterPam, Solution, exact_cost, exact_weights};
pub use histogram::{MetricHistogram, MetricHistogramSettings};
pub use metric::{Edge, Metric, MetricError, Width};
