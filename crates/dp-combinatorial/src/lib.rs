//! Submodular maximisation, set cover and metric k-median under pure differential privacy.
//!
//! All of it rests on one observation: a record that counts only until it is served pays for being
//! served once, however many choices are made ([`CreditedRun`](dp_mechanism::CreditedRun)).
//!
//! ```
//! use dp_combinatorial::set_cover::{SetCoverSelect, SetCoverSelectSettings};
//! use dp_combinatorial::{Budget, Incidence, Mechanism, chacha_from_os};
//!
//! // Private: which of three public shops each of 900 people can walk to.
//! let lists: [&[u32]; 3] = [&[0, 1], &[0, 2], &[0, 1]];
//! let people = Incidence::from_slices(3, (0..900).map(|person| lists[person % 3]))?;
//!
//! let plan = SetCoverSelect::new(3, Budget::new(1.0, 0.0)?, SetCoverSelectSettings::default())?;
//! println!("{}", plan.receipt()); // the whole cost, before any data is touched
//! let release = plan.release(&people, &mut chacha_from_os()?)?;
//! println!("open shops in this order: {:?}", release.output.order);
//! # assert_eq!(release.output.order.len(), 3);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # What matters
//! - [`submodular`]: a few elements that serve as many users as well as possible, under a matroid.
//! - [`set_cover`]: an order of public sets in which every user is served early by few of them.
//! - [`k_median`]: centres in a public finite metric, near to where users are.
//! - [`Incidence`]: which users are in which sets, flat, readable from both sides.
//! - [`Certificate`]: which proof pays. The default, a secret sample, is pure; the others are there to
//!   compare with.
//!
//! Functions named `exact_*` and searches are not private: they are for evaluation, or for what has been
//! released.
//!
//! Out of scope: choosing `k`, the family or the metric from the data; reading files.
//!
//! # What is not protected
//! Running time and memory access patterns depend on the data.

#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;

mod error;
mod incidence;
pub mod k_median;
#[cfg(test)]
mod refusals;
pub mod set_cover;
mod sizes;
pub mod submodular;

pub use error::CombinatorialError;
pub use incidence::Incidence;
#[doc(hidden)]
pub use sizes::Sizes;

pub use dp_accounting::{AddRemove, Budget, Delta, Ledger, Receipt};
pub use dp_mechanism::{
    Certificate, ChaCha20Rng, Mechanism, Release, ReleaseRng, SelectionRule, chacha_from_os,
};
