//! What a public setting can be refused for.

use std::fmt;

/// A public setting was refused. It never carries anything computed from a record.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum ParamError {
    /// `got` lies outside what `want` describes; NaN lies outside everything.
    OutOfRange {
        /// The setting, as its type spells it in lower case.
        name: &'static str,
        /// The refused value.
        got: f64,
        /// The values that would have been accepted, in words.
        want: &'static str,
    },
    /// A list that must hold at least one value is empty.
    Empty {
        /// The setting.
        name: &'static str,
    },
}

impl fmt::Display for ParamError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::OutOfRange { name, got, want } => write!(f, "{name} must be {want}, got {got}"),
            Self::Empty { name } => write!(f, "{name} must not be empty"),
        }
    }
}

impl std::error::Error for ParamError {}
