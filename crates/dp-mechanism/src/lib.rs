//! Calibrated primitives: the one place where noise meets a privacy loss.
//!
//! A primitive is built from a loss and a sensitivity, knows the loss it will cost before any data
//! exists ([`loss`](NoisyCount::loss)), and draws only through [`Draws`]. In a release the draws
//! come from a cryptographic generator behind exact samplers ([`SecureDraws`]); in an audit the
//! same code runs on a tape that sees the exact law of every draw (`dp-audit`).
//!
//! ```
//! use dp_accounting::Epsilon;
//! use dp_mechanism::{NoisyCount, SecureDraws, chacha_from_os};
//!
//! let count = NoisyCount::geometric(Epsilon::new(0.5)?)?;
//! let mut rng = chacha_from_os()?;
//! let released = count.release(1_234, &mut SecureDraws::new(&mut rng));
//! println!("about {released} people, sd {:.1}", count.standard_deviation());
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # What matters
//! - [`Draws`], [`Law`]: how every mechanism of the workspace gets randomness.
//! - [`NoisyCount`], [`ExponentialMechanism`], [`GaussianSum`], [`GeometricSum`], [`PoissonSample`],
//!   [`CreditedRun`], [`ThresholdReports`]: the primitives.
//! - [`Mechanism`], [`Release`]: the face of an algorithm made of them, plan first, then release.
//!
//! Out of scope: what a loss means and how losses add up (`dp-accounting`).

mod count;
mod credited;
mod draws;
mod error;
mod exponential;
mod geometric_sum;
mod jumps;
mod lookup;
mod mechanism;
mod rational;
mod reports;
mod sparse_scores;
mod subsample;
mod sum;

pub use count::NoisyCount;
pub use credited::{
    Certificate, CreditedReports, CreditedRun, CreditedSelection, Part, Selected, SelectionRule,
};
pub use draws::{Coin, Draws, Law, Noise, SecureDraws};
pub use error::MechanismError;
pub use exponential::ExponentialMechanism;
pub use geometric_sum::GeometricSum;
pub use mechanism::{Mechanism, Release};
pub use reports::{Grid, ReportNoise, Reported, ThresholdReports, Touched};
pub use sparse_scores::SparseScores;
pub use subsample::PoissonSample;
pub use sum::GaussianSum;

pub use dp_noise::{
    ChaCha20Rng, DiscreteGaussian, DiscreteLaplace, Geometric, Ratio, ReleaseRng, SysError,
    chacha_from_os,
};
pub use rand::CryptoRng;
