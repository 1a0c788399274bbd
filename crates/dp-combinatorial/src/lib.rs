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

pub use error::CombinatorialError;
pub use incidence::Incidence;
