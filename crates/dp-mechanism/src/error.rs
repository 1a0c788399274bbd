//! What can go wrong when a primitive is calibrated.

use dp_accounting::plain_number;

/// A public setting that a primitive cannot be built from. Never about data.
#[derive(Clone, Copy, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum MechanismError {
    /// A loss or sensitivity that must be positive is zero.
    #[error("{name} must be > 0, got 0")]
    NotPositive {
        /// Which setting.
        name: &'static str,
    },
    /// The noise would not fit in the integers of the samplers.
    #[error(
        "{name} = {} asks for more noise than 64-bit integers can carry; allow a larger loss or a smaller sensitivity",
        plain_number(*got)
    )]
    TooMuchNoise {
        /// Which setting asks for it.
        name: &'static str,
        /// Its value.
        got: f64,
    },
    /// The loss is so large that the noise cannot be told from none.
    #[error("{name} = {} asks for less noise than 64-bit integers can express; allow a smaller loss", plain_number(*got))]
    TooLittleNoise {
        /// Which setting asks for it.
        name: &'static str,
        /// Its value.
        got: f64,
    },
    /// Shares of a budget add up to more than 1, or there are none.
    #[error("shares of a budget must be positive and add up to at most 1, got {}", plain_number(*got))]
    Shares {
        /// Their sum.
        got: f64,
    },
    /// A response needs at least one symbol that a record favours and one that it does not, and at most
    /// [`MAX_SYMBOLS`](crate::SubsetResponse::MAX_SYMBOLS).
    #[error("a response needs 1 <= favoured < symbols <= 65536, got {favoured} of {symbols}")]
    Symbols {
        /// All of them.
        symbols: u32,
        /// Those that a record favours.
        favoured: u32,
    },
    /// Somebody has to win.
    #[error("there must be at least one candidate to choose from, got 0")]
    NoCandidates,
    /// There is no such part of a run.
    #[error("the run has {parts} parts, counted from 0, got {got}")]
    Part {
        /// The number that was asked for.
        got: usize,
        /// How many there are.
        parts: usize,
    },
    /// There is no proof that this is private.
    #[error("{what} is not proved to be private")]
    NoProof {
        /// What was asked for.
        what: &'static str,
    },
}
