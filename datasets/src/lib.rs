//! The data sets of the evaluation: the manifest of real ones with their checksums, and generators with named seeds.
//!
//! No data of others are in the repository. A file counts only if it is, byte for byte, the one of `manifest.toml`; what is
//! generated is the same bytes everywhere, because every stream of randomness has a [name](seed::named_rng).
//!
//! | module | what is there |
//! |---|---|
//! | [`manifest`], [`store`], [`import`] | which real sets there are, reading one, taking over a folder of them |
//! | [`catalogue`], [`prepare`] | sets of points with their public domain, and how each is made |
//! | [`synth`], [`nation`], [`generate`] | clusters, a made-up census, and both as files |
//! | [`sets`] | sets that are no points: tables of groups, families of sets, streams, metrics |
//! | [`seed`], [`files`], [`workspace`] | named generators, files that are whole or not there, where things are |
//!
//! Not for releases: everything here is public or made up.

/// Programs of the guide are tests of this crate, which is nobody's dependency but of the tools.
#[cfg(doctest)]
#[doc = include_str!("../../docs/guide/mechanism.md")]
pub struct Guide;

pub mod catalogue;
mod error;
pub mod files;
pub mod generate;
pub mod import;
pub mod list;
pub mod manifest;
pub mod nation;
pub mod prepare;
pub mod seed;
pub mod sets;
pub mod store;
pub mod synth;
pub mod workspace;

pub use error::Error;
