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
//! let scale = Ratio::new(5, 2).expect("in range"); // 2.5
//! let noise = DiscreteLaplace::new(scale).expect("positive");
//! let noisy_count = 1_000 + noise.sample(&mut bits);
//! # let _ = noisy_count;
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # What matters
//! - [`Bits`]: the source, two methods. [`SecureBits`] wraps any cryptographic generator;
//!   [`chacha_from_os`] makes one. Tests put an enumerating source in its place and so run these
//!   very samplers over every possible draw (`tests/enumeration.rs`).
//! - [`bernoulli`], [`bernoulli_exp`]: coins with rational and exponential probability.
//! - [`choose_exponentially`]: an index drawn by exponential weights of integer scores.
//! - [`Geometric`], [`DiscreteLaplace`], [`DiscreteGaussian`]: integer noise.
//!
//! # What is not protected
//! The running time of these reference forms depends on the value drawn. Do not let an adversary
//! time a release.

mod bernoulli;
mod bits;
mod choice;
mod gaussian;
mod geometric;
mod laplace;
mod ratio;

pub use bernoulli::{bernoulli, bernoulli_exp};
pub use bits::{Bits, SecureBits, chacha_from_os, uniform_by_words};
pub use choice::choose_exponentially;
pub use gaussian::DiscreteGaussian;
pub use geometric::Geometric;
pub use laplace::DiscreteLaplace;
pub use ratio::Ratio;

pub use rand::rngs::{ChaCha20Rng, SysError};

// Lets unit tests share the enumerating tape of `tests/exact`.
#[cfg(test)]
extern crate self as dp_noise;
