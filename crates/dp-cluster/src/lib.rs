//! Differentially private Euclidean clustering and its non-private baselines.

pub mod dpm;
mod error;
pub mod kmeans;
pub mod metrics;
mod nearest;

pub use error::ClusterError;
pub use nearest::{Assignment, nearest};
