//! The one error type of the crate.

use std::fmt;

use dp_accounting::ParamError;
use dp_geometry::GeometryError;
use dp_mechanism::MechanismError;

/// Why a plan could not be built, or something that arrived was refused. Never about a record.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum LocalError {
    /// A public setting is out of range.
    Setting {
        /// Name of the setting.
        name: &'static str,
        /// Its value.
        got: f64,
        /// What would be accepted.
        want: &'static str,
    },
    /// A symbol that no client can send.
    Symbol {
        /// What was received.
        got: u32,
        /// Symbols are below this.
        symbols: u32,
    },
    /// A class of clients that there is not.
    Class {
        /// What was received.
        got: u32,
        /// Classes are below this.
        classes: u32,
    },
    /// Counts of other classes or symbols.
    Counts {
        /// Classes and symbols that were expected.
        expected: (u32, u32),
        /// Those that arrived.
        got: (u32, u32),
    },
    /// There is no client of this number.
    Client {
        /// The number that was received.
        got: u32,
        /// Numbers are below this.
        clients: u32,
    },
    /// This client has answered already.
    Repeated {
        /// Its number.
        client: u32,
    },
    /// Another round.
    Round {
        /// What was received or asked for.
        got: u8,
        /// What would have been in order.
        expected: u8,
    },
    /// Made for a plan with other settings.
    Plan {
        /// The hash that was received.
        got: u64,
        /// That of the plan.
        expected: u64,
    },
    /// Made for another session.
    Session {
        /// The number that was received.
        got: u64,
        /// That of the session.
        expected: u64,
    },
    /// Of a form that this version does not read.
    Version {
        /// What was received.
        got: u8,
        /// What would be read.
        expected: u8,
    },
    /// Bytes end too early.
    Truncated {
        /// What they were to be.
        what: &'static str,
    },
    /// A checksum does not fit.
    Damaged {
        /// What it is of.
        what: &'static str,
    },
    /// Not what it says it is.
    Malformed {
        /// What it says.
        what: &'static str,
    },
    /// Records do not have the dimension of the box.
    Dimension {
        /// Of the box.
        expected: usize,
        /// Of the records.
        got: usize,
    },
    /// A privacy parameter is out of range.
    Param(ParamError),
    /// A response cannot be calibrated.
    Mechanism(MechanismError),
    /// The public box is too extreme to divide.
    Geometry(GeometryError),
}

impl fmt::Display for LocalError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Setting { name, got, want } => write!(f, "{name} must be {want}, got {got}"),
            Self::Symbol { got, symbols } => {
                write!(f, "symbols are below {symbols}, got {got}")
            }
            Self::Class { got, classes } => {
                write!(f, "classes of clients are below {classes}, got {got}")
            }
            Self::Counts { expected, got } => write!(
                f,
                "counts must have {} classes of {} symbols, got {} of {}",
                expected.0, expected.1, got.0, got.1
            ),
            Self::Client { got, clients } => {
                write!(f, "numbers of clients are below {clients}, got {got}")
            }
            Self::Repeated { client } => write!(f, "client {client} has answered already"),
            Self::Round { got, expected } => write!(f, "round {got} instead of {expected}"),
            Self::Plan { got, expected } => {
                write!(f, "made for plan {got:016x}, this is {expected:016x}")
            }
            Self::Session { got, expected } => {
                write!(f, "made for session {got}, this is {expected}")
            }
            Self::Version { got, expected } => write!(f, "version {got} instead of {expected}"),
            Self::Truncated { what } => write!(f, "the {what} is truncated"),
            Self::Damaged { what } => write!(f, "the {what} is damaged: its checksum does not fit"),
            Self::Malformed { what } => write!(f, "the {what} is malformed"),
            Self::Dimension { expected, got } => {
                write!(f, "records must have {expected} coordinates, got {got}")
            }
            Self::Param(error) => error.fmt(f),
            Self::Mechanism(error) => error.fmt(f),
            Self::Geometry(error) => error.fmt(f),
        }
    }
}

impl std::error::Error for LocalError {}

impl From<ParamError> for LocalError {
    fn from(error: ParamError) -> Self {
        Self::Param(error)
    }
}

impl From<MechanismError> for LocalError {
    fn from(error: MechanismError) -> Self {
        Self::Mechanism(error)
    }
}

impl From<GeometryError> for LocalError {
    fn from(error: GeometryError) -> Self {
        Self::Geometry(error)
    }
}
