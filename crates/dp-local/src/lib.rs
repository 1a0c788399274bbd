//! Clusters and frequencies from clients who trust nobody: one randomised byte each.
//!
//! Nobody collects records here. Each client randomises what it has and sends one symbol, of which no value is more than `e^epsilon` times
//! as likely for one record as for any other; the server counts symbols and decodes. Which client is asked what follows from public coins,
//! and nothing composes, since a client answers once.
//!
//! ```
//! use dp_local::{
//!     CellAnswer, Epsilon, FrequencyOracle, Mechanism, Oracle, PublicCoins, chacha_from_os,
//! };
//!
//! // Which of ten brands do 20,000 clients use?
//! let oracle = Oracle::best(Epsilon::new(1.0)?, 10, 20_000, PublicCoins::new(2026))?;
//! let mut rng = chacha_from_os()?; // each client has its own
//! let mut answers = oracle.no_answers();
//! for client in 0..20_000_u32 {
//!     let (class, brand) = (client % oracle.classes(), client % 3);
//!     answers.add(class, CellAnswer::new(&oracle, class).release(brand, &mut rng)?.output)?;
//! }
//! let sd = (20_000.0 * oracle.variance(0.0, 0.0)).sqrt();
//! println!("{:.0?}, each within {sd:.0} or so", oracle.estimate(&answers)?);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # What matters
//! - [`FrequencyOracle`]: how many clients are in each cell; [`LocalHashing`], [`HadamardResponse`], and [`Oracle::best`] of both.
//! - [`CodebookVector`]: the sum of bounded vectors, one byte each.
//! - [`LocalKMeans`]: k-means in a few rounds; a [`Session`] of it has [`Client`]s, who answer once, and a [`Server`].
//! - [`LocalPrivateCentres`]: the protocol that the paper sketches, as a baseline.
//! - [`Shuffled`]: what a shuffler adds, under its own name.
//! - [`PublicCoins`], [`SymbolCounts`]: what all sides know, and all that a server keeps.
//!
//! # What is not protected
//! That a client takes part, and when it answers. What a client says twice: use each answer once. Against clients who lie nothing
//! helps but their number; what one of them can do is bounded and stated.
//!
//! Out of scope: networks, keys, who a client is.

#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;

mod bytes;
mod centres;
mod codebook;
mod coins;
mod counts;
mod error;
mod kmeans;
mod oracle;
#[cfg(test)]
mod refusals;
mod shuffle;

pub use centres::{CentreCandidates, CentresForm, LocalPrivateCentres};
pub use codebook::{CodebookVector, Part, VectorAnswer, VectorSum};
pub use coins::PublicCoins;
pub use counts::SymbolCounts;
pub use error::LocalError;
pub use kmeans::{
    Client, LocalCentres, LocalKMeans, LocalKMeansSettings, Message, NotAnswered, Question,
    RoundAnswer, Server, Session,
};
pub use oracle::{CellAnswer, FrequencyOracle, HadamardResponse, LocalHashing, Oracle};

pub use shuffle::Shuffled;

pub use dp_accounting::Epsilon;
pub use dp_geometry::{Points, PublicBox};
pub use dp_mechanism::{Mechanism, ReleaseRng, chacha_from_os};
