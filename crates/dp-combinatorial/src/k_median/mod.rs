//! k-median.

mod cost;
mod gains;
mod metric;

pub use cost::Power;
pub use metric::{Edge, Metric, MetricError, Width};
