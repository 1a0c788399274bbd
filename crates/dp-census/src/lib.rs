//! Hierarchies of group sizes under differential privacy.
//!
//! A *group* (a household, a taxi) belongs to one leaf region of a tree and has a size. For every region the table holds how many
//! groups of each size it has. The counts of a region are the sums of those of its children, and the number of groups is public.
//!
//! - [`RegionTree`]: the shape of the hierarchy, of any depth and with any fan-out.
//! - [`solve`]: deterministic least squares that makes noisy tables consistent, nonnegative and integral again. Nothing in there
//!   draws noise or reads private data that has not been noised; each solution comes with a certificate.

mod error;
pub mod solve;
mod tree;

pub use error::CensusError;
pub use tree::RegionTree;
