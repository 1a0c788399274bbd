//! Exact samplers over random bits.
//!
//! A sampler here turns uniform random bits into a draw from *exactly* the stated distribution: its
//! parameters are rationals, its arithmetic is on integers, and no floating-point type occurs in
//! the crate. That closes the holes that floating-point noise leaves open (the set of reachable
//! outputs depends on the input, probabilities are rounded). The crate knows scales and variances;
//! it does not know privacy. `dp-mechanism` is where a scale meets a privacy loss.
//!
//! ```
//! use dp_noise::{Bits, DiscreteLaplace, Ratio, SecureBits, chacha_from_os};
//!
//! let mut rng = chacha_from_os()?;
//! let mut bits = SecureBits::new(&mut rng);
//! let noise = DiscreteLaplace::new(Ratio::new(5, 2)?)?; // of scale 2.5
//! let noisy_count = 1_000 + noise.sample(&mut bits);
//! # let _ = noisy_count;
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # What matters
//! - [`Bits`]: the source, two methods. [`SecureBits`] wraps any cryptographic generator;
//!   [`chacha_from_os`] makes one for a release. Tests put an enumerating source in its place and
//!   so run these very samplers over every possible draw (`tests/noise`).
//! - [`Geometric`], [`DiscreteLaplace`], [`DiscreteGaussian`]: integer noise, cheap to construct.
//! - [`RoundedGaussian`]: continuous normal noise, rounded to an integer.
//! - [`TimingSafeGeometric`], [`TimingSafeLaplace`], [`TableGaussian`]: the same laws from tables,
//!   in a fixed number of words. [`TruncatedLaplace`], [`TruncatedGeometric`]: cut off.
//! - [`choose_exponentially`], [`permute_and_flip`], [`noisy_max`]: an index that favours high
//!   integer scores.
//! - [`PoissonSkips`]: the records that a Poisson sample keeps, or only how many. [`RareHits`]: the same for
//!   probabilities far below one in a word and grids of up to `2^128` cells.
//! - [`bernoulli`], [`bernoulli_exp`]: coins with rational and exponential probability.
//! - [`mod@reference`]: plain forms of the published algorithms, to compare with.
//!
//! # How exactness and speed go together
//! Irrational probabilities are known to about 58 bits by fixed-point arithmetic with a proved
//! error. A uniform real, of which one word is drawn, is compared with them; only when it falls
//! into the strip of doubt are more words drawn and the probability computed to as many bits as it
//! takes. With words of 3 to 6 bits the doubt is frequent, and enumeration covers it.
//!
//! # What is not protected
//! Unless a sampler says that it is timing-safe, its running time depends on the value drawn. Do
//! not let an adversary time a release. Timing-safe in words, comparisons and memory:
//! [`TimingSafeGeometric`], [`TimingSafeLaplace`], [`TruncatedGeometric`]. In words only: [`TableGaussian`], which reads its table
//! where the value is, so that the cache can tell; [`choose_exponentially`], which makes the same passes over the scores. All others are
//! not, and there is no timing-safe Gaussian beyond the table.

#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;

mod bernoulli;
mod bits;
mod blocks;
mod choice;
mod digits;
mod error;
mod exp;
mod flip;
mod gaussian;
mod geometric;
mod laplace;
mod lazy;
mod noisy_max;
mod poisson;
mod rare;
mod ratio;
pub mod reference;
mod rounded;
mod scaled;
mod shares;
mod skips;
mod source;
mod table;
mod timing_safe;
mod truncated;

pub use bernoulli::{bernoulli, bernoulli_exp};
pub use bits::{Bits, SecureBits, uniform_by_words};
pub use choice::{Level, choose_exponentially, choose_level};
pub use error::NoiseError;
pub use flip::permute_and_flip;
pub use gaussian::DiscreteGaussian;
pub use geometric::Geometric;
pub use laplace::DiscreteLaplace;
pub use noisy_max::{noisy_max, noisy_max_with_value};
pub use rare::{RareHits, bernoulli_exp_scaled};
pub use ratio::Ratio;
pub use rounded::RoundedGaussian;
pub use skips::{KeptIndexes, PoissonSkips};
pub use source::{ReleaseRng, chacha_from_os, insecure_reproducible};
pub use table::TableGaussian;
pub use timing_safe::{TimingSafeGeometric, TimingSafeLaplace, TruncatedGeometric};
pub use truncated::TruncatedLaplace;

pub use rand::rngs::{ChaCha20Rng, SysError};

// Lets unit tests share the enumerating tape of `tests/noise`.
#[cfg(test)]
extern crate self as dp_noise;

#[cfg(test)]
#[path = "../tests/noise/exact.rs"]
#[allow(dead_code, reason = "the proofs in tests/noise use more of it than the unit tests")]
mod exact;
#[cfg(test)]
#[path = "../tests/noise/rounded_law.rs"]
mod rounded_law;
