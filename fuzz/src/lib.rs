//! What every parser, state and builder of the workspace is fed: whole inputs, the same with changes, and what a corpus has collected.
//!
//! An input is refused or used; none panics, runs without an end or takes more memory than its size explains. `cargo test -p quietus-fuzz`
//! feeds the corpus and some changed inputs to each of [`TARGETS`]. How to search for longer is in the README beside this crate.

#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;

mod arguments;
mod bytes;
mod files;
mod plans;
mod states;

use dp_audit::hostile::{changed_bytes, changed_json};
use dp_mechanism::ChaCha20Rng;
use rand::{RngExt, SeedableRng};
use std::path::{Path, PathBuf};

/// Something that reads what others may have written.
#[derive(Clone, Copy, Debug)]
pub struct Target {
    /// Its name, and that of its folder in the corpus.
    pub name: &'static str,
    /// How its inputs are changed.
    pub kind: Kind,
    /// Whole inputs, as the code of today writes them: what the corpus begins with.
    pub seeds: fn() -> Vec<Vec<u8>>,
    /// Reads an input and uses it as far as it goes. True if it was used to the end, false if something was refused.
    pub run: fn(&[u8]) -> bool,
}

/// What an input is made of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Structure is kept, values become odd.
    Json,
    /// Any bytes may change.
    Bytes,
    /// Each byte is a choice.
    Choices,
}

/// All of them.
pub const TARGETS: [&[Target]; 4] =
    [&plans::TARGETS, &states::TARGETS, &files::TARGETS, &arguments::TARGETS];

impl Target {
    /// The files of the corpus.
    pub fn folder(&self) -> PathBuf {
        Path::new(env!("CARGO_MANIFEST_DIR")).join("corpus").join(self.name)
    }

    /// An input with changes: the same for the same number.
    pub fn changed(&self, whole: &[u8], number: u64) -> Vec<u8> {
        let mut rng = ChaCha20Rng::seed_from_u64(number);
        match self.kind {
            Kind::Choices => (0..64).map(|_| rng.random()).collect(),
            // Now and then what is no JSON any more.
            Kind::Json if !number.is_multiple_of(8) => std::str::from_utf8(whole)
                .ok()
                .and_then(|text| changed_json(text, &mut rng).ok())
                .map_or_else(|| changed_bytes(whole, &mut rng), String::into_bytes),
            _ => changed_bytes(whole, &mut rng),
        }
    }
}

/// A generator for draws on made-up data.
fn rng() -> ChaCha20Rng {
    ChaCha20Rng::seed_from_u64(1)
}

/// As JSON.
fn json(value: &impl serde::Serialize) -> Vec<u8> {
    serde_json::to_vec(value).expect("plain fields")
}
