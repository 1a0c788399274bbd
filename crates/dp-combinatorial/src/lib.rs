//! Submodular maximisation, set cover and metric k-median under pure differential privacy.
//!
//! All of it rests on one observation: a record that counts only until it is served pays for being
//! served once, however many choices are made ([`CreditedRun`](dp_mechanism::CreditedRun)).
//!
//! # What is not protected
//! Running time and memory access patterns depend on the data.

mod error;
mod incidence;
pub mod k_median;
pub mod set_cover;
pub mod submodular;

pub use error::CombinatorialError;
pub use incidence::Incidence;

pub use dp_accounting::{AddRemove, Budget, Delta, Ledger, Receipt};
pub use dp_mechanism::{
    Certificate, ChaCha20Rng, Mechanism, Release, ReleaseRng, SelectionRule, chacha_from_os,
};
