//! The one error type of the crate.

use dp_accounting::ParamError;
use dp_geometry::GeometryError;
use dp_mechanism::MechanismError;

/// Why a plan could not be built, or something that arrived was refused. Never about a record.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum LocalError {
    /// A public number is out of range.
    #[error("{name} must be {want}, got {got}")]
    OutOfRange {
        /// Name of the setting.
        name: &'static str,
        /// Its value.
        got: i128,
        /// What would be accepted.
        want: &'static str,
    },
    /// A state says what no server of its plan has left behind: its checksum stops damage, not somebody who makes one that fits.
    #[error(
        "no server leaves such a state: {what} must be between {least:e} and {most:e}, got {got:e}"
    )]
    State {
        /// What is wrong.
        what: &'static str,
        /// Its value.
        got: f64,
        /// The least that it may be.
        least: f64,
        /// And the most.
        most: f64,
    },
    /// No cells, or more than can be decoded.
    #[error("cells must be at least 1 and at most {most}, got {got}")]
    Cells {
        /// How many were asked for.
        got: u32,
        /// The most that there may be.
        most: u32,
    },
    /// A symbol that no client can send.
    #[error("symbols are below {symbols}, got {got}")]
    Symbol {
        /// What was received.
        got: u32,
        /// Symbols are below this.
        symbols: u32,
    },
    /// A class of clients that there is not.
    #[error("classes of clients are below {classes}, got {got}")]
    Class {
        /// What was received.
        got: u32,
        /// Classes are below this.
        classes: u32,
    },
    /// Counts of other classes or symbols.
    #[error("counts must have {} classes of {} symbols, got {} of {}", .expected.0, .expected.1, .got.0, .got.1)]
    Counts {
        /// Classes and symbols that were expected.
        expected: (u32, u32),
        /// Those that arrived.
        got: (u32, u32),
    },
    /// There is no client of this number.
    #[error("numbers of clients are below {clients}, got {got}")]
    Client {
        /// The number that was received.
        got: u32,
        /// Numbers are below this.
        clients: u32,
    },
    /// This client has answered already.
    #[error("client {client} has answered already")]
    Repeated {
        /// Its number.
        client: u32,
    },
    /// Another round.
    #[error("round {got} instead of {expected}")]
    Round {
        /// What was received or asked for.
        got: u8,
        /// What would have been in order.
        expected: u8,
    },
    /// Made for a plan with other settings.
    #[error("made for plan {got:016x}, this is {expected:016x}")]
    Plan {
        /// The hash that was received.
        got: u64,
        /// That of the plan.
        expected: u64,
    },
    /// Made for another session.
    #[error("made for session {got}, this is {expected}")]
    Session {
        /// The number that was received.
        got: u64,
        /// That of the session.
        expected: u64,
    },
    /// Of a form that this version does not read.
    #[error("version {got} instead of {expected}")]
    Version {
        /// What was received.
        got: u8,
        /// What would be read.
        expected: u8,
    },
    /// Bytes end too early.
    #[error("the {what} is truncated")]
    Truncated {
        /// What they were to be.
        what: &'static str,
    },
    /// A checksum does not fit.
    #[error("the {what} is damaged: its checksum does not fit")]
    Damaged {
        /// What it is of.
        what: &'static str,
    },
    /// Not what it says it is.
    #[error("the {what} is malformed")]
    Malformed {
        /// What it says.
        what: &'static str,
    },
    /// Records do not have the dimension of the box.
    #[error("records must have {expected} coordinates, got {got}")]
    Dimension {
        /// Of the box.
        expected: usize,
        /// Of the records.
        got: usize,
    },
    /// A real number is out of range.
    #[error(transparent)]
    Param(#[from] ParamError),
    /// A response cannot be calibrated.
    #[error(transparent)]
    Mechanism(#[from] MechanismError),
    /// The public box is too extreme to divide.
    #[error(transparent)]
    Geometry(#[from] GeometryError),
}

impl LocalError {
    /// A real number that is out of range.
    pub(crate) fn real(name: &'static str, got: f64, want: &'static str) -> Self {
        ParamError::OutOfRange { name, got, want }.into()
    }
}
