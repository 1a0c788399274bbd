//! Numbers of groups by size in every region of a hierarchy: private, consistent, in whole numbers.
//!
//! A *group* (a household, a taxi, an hour of a place) lies in one region and has a size. What is released says for the nation, each
//! state and each county how many groups have each size, such that counties add up to states, no number is negative and the number of
//! groups is right. Who belongs to a group is private.
//!
//! ```
//! use dp_census::{Census, CensusSettings, From0, GroupSizes, Hierarchy, Mechanism, Privacy, chacha_from_os};
//!
//! // Public: the regions, the sizes to tell apart (the last is "3 or more"), and that there are 6 households.
//! let nation = Hierarchy::new([("US", None), ("GA", Some("US")), ("NY", Some("US"))])?;
//! let bins = From0::up_to(3)?;
//! let privacy = Privacy::pure(1.0)?;
//! let plan = Census::new(nation.clone(), bins, 6, privacy, CensusSettings::default())?;
//! println!("{}", plan.receipt()); // the whole cost, before any data is touched
//!
//! // Private: how many households of each size there are.
//! let rows = [("GA", 3, 1), ("GA", 1, 2), ("NY", 3, 1), ("NY", 1, 1), ("NY", 2, 1)];
//! let sizes = GroupSizes::from_rows(&nation, bins, rows)?;
//! let release = plan.release(&sizes, &mut chacha_from_os()?)?;
//! assert!(release.output.is_consistent(nation.tree(), 6));
//! for (region, name) in ["US", "GA", "NY"].into_iter().enumerate() {
//!     println!("{name}: {:?} households of 0, 1, 2, 3 or more", &release.output[region]);
//! }
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # What matters
//! - [`Census`]: the plan. [`Method`] says how noise becomes a table (and when another than the default is closer), [`LevelShares`] which level is
//!   to be how accurate, [`Privacy`] what is promised: pure DP, or zCDP or Gaussian noise under these names. By default the
//!   shares are chosen from public facts and regions are drawn to the row above as far as noisy values ask; everything can be overridden.
//! - [`Hierarchy`], [`From0`], [`GroupSizes`]: regions, columns, the private table; [`GroupDirectory`] makes it from records of people.
//! - [`solve`]: the least-squares solvers as plain functions. They see nothing that has not been noised, and each solution comes with
//!   a certificate.
//!
//! # Who is protected
//! Neighbours differ in one individual who joins or leaves one group ([`MemberOfGroup`]). Which groups
//! exist, where they are and how many there are is public, as a list of addresses is. Who may be alone in a group is protected because
//! empty groups have a column; a table without one ([`From1`]) has the weaker relation in its type.
//!
//! # What is a public fact, and what is private
//! What is public can be wrong out loud: a region in two others, a circle, a group in an unknown region, a number of groups that is not
//! the announced one, shares that do not add up. Those are errors, before anything is spent. What depends on an individual cannot: a
//! negative quantity counts as 0, one above the most as the most, a record of an unknown group is dropped, a size above the last column
//! counts in it.
//!
//! Out of scope: reading files, choosing the largest size or the shares from the data, protecting where groups are.

#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;

mod bins;
mod error;
mod hierarchy;
pub mod passes;
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
    Census, CensusSettings, Certificate, Evidence, GroupTable, LevelShares, Method, Privacy, Query,
    RealCensus, RealGroupTable, Way, WithEvidence, dearest_path,
};
pub use sizes::{GroupSizes, TableShape};
pub use tree::RegionTree;

pub use dp_accounting::{Budget, Ledger, MemberOfGroup, Receipt};
pub use dp_mechanism::{Mechanism, Release, ReleaseRng, chacha_from_os};
