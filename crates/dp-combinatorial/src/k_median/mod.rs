//! k-median.

mod cost;
pub mod faster_pam;
mod gains;
mod metric;

pub use cost::Power;
pub use faster_pam::{FasterPam, Solution, exact_cost, exact_weights};
pub use metric::{Edge, Metric, MetricError, Width};
