//! What can go wrong when a primitive is calibrated.

use std::fmt;

/// A public setting that a primitive cannot be built from. Never about data.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub enum MechanismError {
    /// A loss or sensitivity that must be positive is zero.
    NotPositive {
        /// Which setting.
        name: &'static str,
    },
    /// The noise would not fit in the integers of the samplers.
    TooMuchNoise {
        /// Which setting asks for it.
        name: &'static str,
        /// Its value.
        got: f64,
    },
    /// Shares of a budget add up to more than 1, or there are none.
    Shares {
        /// Their sum.
        got: f64,
    },
    /// A response needs at least one symbol that a record favours and one that it does not, and at most
    /// [`MAX_SYMBOLS`](crate::SubsetResponse::MAX_SYMBOLS).
    Symbols {
        /// All of them.
        symbols: u32,
        /// Those that a record favours.
        favoured: u32,
    },
    /// There is no proof that this is private.
    NoProof {
        /// What was asked for.
        what: &'static str,
    },
}

impl fmt::Display for MechanismError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Self::NotPositive { name } => write!(f, "{name} must be > 0, got 0"),
            Self::TooMuchNoise { name, got } => write!(
                f,
                "{name} = {got:e} asks for more noise than 64-bit integers can carry; \
                 allow a larger loss or a smaller sensitivity"
            ),
            Self::Shares { got } => {
                write!(f, "shares of a budget must be positive and add up to at most 1, got {got}")
            }
            Self::Symbols { symbols, favoured } => write!(
                f,
                "a response needs 1 <= favoured < symbols <= 65536, got {favoured} of {symbols}"
            ),
            Self::NoProof { what } => write!(f, "{what} is not proved to be private"),
        }
    }
}

impl std::error::Error for MechanismError {}
