//! Hierarchies of group sizes under differential privacy.
//!
//! A *group* (a household, a taxi) belongs to one leaf region of a tree and has a size. For every region the table holds how many
//! groups of each size it has. The counts of a region are the sums of those of its children, and the number of groups is public.
//!
//! - [`RegionTree`]: the shape of the hierarchy, of any depth and with any fan-out.
//! - [`solve`]: deterministic least squares that makes noisy tables consistent, nonnegative and integral again. Nothing in there
//!   draws noise or reads private data that has not been noised; each solution comes with a certificate.

mod bins;
mod error;
mod hierarchy;
mod people;
pub mod release;
mod sizes;
pub mod solve;
mod tree;

pub use bins::{Bins, From0, From1};
pub use error::CensusError;
pub use hierarchy::Hierarchy;
pub use people::{GroupDirectory, MemberCount};
pub use release::{
    Census, CensusBuilder, GroupTable, LevelShares, Method, Privacy, Query, RealCensus,
    RealGroupTable, dearest_path,
};
pub use sizes::GroupSizes;
pub use tree::RegionTree;
