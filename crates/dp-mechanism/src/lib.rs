//! Calibrated primitives: the one place where noise meets a privacy loss.
//!
//! A primitive is built from a loss and a sensitivity, knows the loss it will cost before any data
//! exists ([`loss`](NoisyCount::loss)), and is the only way out of a [`Private`] value. Draws go through [`Draws`], which charges
//! them to the receipt. In a release they
//! come from a cryptographic generator behind exact samplers ([`SecureSource`]); in an audit the
//! same code runs on a tape that sees the exact law of every draw (`dp-audit`).
//!
//! ```
//! use dp_accounting::Epsilon;
//! use dp_mechanism::{Draws, NoisyCount, SecureSource, chacha_from_os};
//!
//! let count = NoisyCount::geometric(Epsilon::new(0.5)?)?;
//! let mut rng = chacha_from_os()?;
//! let released = count.release(1_234, &mut Draws::unplanned(&mut SecureSource::new(&mut rng)));
//! println!("about {released} people, sd {:.1}", count.standard_deviation());
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # What matters
//! - [`Private`]: what was computed from records; it can be computed with, not looked at.
//! - [`Draws`]: how every mechanism of the workspace gets randomness, metered; [`Source`], [`Law`]: what is behind it.
//! - [`NoisyCount`], [`ExponentialMechanism`], [`GaussianSum`], [`GeometricSum`], [`PoissonSample`],
//!   [`SubsetResponse`], [`CreditedRun`], [`ThresholdReports`], [`StableHistogram`]: the primitives.
//! - [`Modulus`], [`Nearby`]: sensitivities as a function of how far a record moves, in a metric that is a type.
//! - [`passes`]: mechanisms that need of the records a few tables of integers, so that the records may be anywhere.
//! - [`Algorithm`]: what an author writes; [`Mechanism`], [`Release`]: the face that users see, plan first, then release.
//!
//! Out of scope: what a loss means and how losses add up (`dp-accounting`).

#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;

mod count;
mod count_test;
mod credited;
mod draws;
mod error;
mod exponential;
mod geometric_sum;
mod jumps;
mod lookup;
mod mechanism;
mod meter;
mod nearby;
pub mod passes;
mod private;
mod rational;
mod reports;
mod response;
mod source;
mod sparse_scores;
mod stable;
mod subsample;
mod sum;

pub use count::NoisyCount;
pub use count_test::CountTest;
pub use credited::{
    Certificate, CreditedReports, CreditedRun, CreditedSelection, Part, Selected, SelectionRule,
};
pub use draws::Draws;
pub use error::MechanismError;
pub use exponential::ExponentialMechanism;
pub use geometric_sum::GeometricSum;
pub use jumps::JumpSizes;
pub use mechanism::{Algorithm, Mechanism, Release};
pub use meter::Usage;
pub use nearby::{Change, Coordinates, Metres, Metric, Modulus, Nearby, Rule};
pub use private::{Cells, CellsRef, Private};
pub use reports::{Grid, ReportNoise, Reported, ThresholdReports, Touched};
pub use response::SubsetResponse;
pub use source::{Coin, Law, Noise, SecureSource, Source};
pub use sparse_scores::SparseScores;
pub use stable::{Kept, StableHistogram};
pub use subsample::PoissonSample;
pub use sum::GaussianSum;

pub use dp_noise::{
    ChaCha20Rng, DiscreteGaussian, DiscreteLaplace, Geometric, RareHits, Ratio, ReleaseRng,
    RoundedGaussian, SysError, chacha_from_os,
};
pub use rand::CryptoRng;
