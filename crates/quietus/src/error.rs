//! What can stop a command. Each message is one line that names the value and what was wanted, and never what a private cell holds.

use crate::shown::{in_words, shown};
use crate::table::TableError;
use std::fmt;
use std::io;
use std::path::{Path, PathBuf};

/// Why a command stopped.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The operating system refused; `action` reads as "cannot {action} {path}".
    #[error("cannot {action} {}: {source}", path.display())]
    Io {
        /// What was attempted.
        action: &'static str,
        /// On what.
        path: PathBuf,
        /// Why not.
        source: io::Error,
    },
    /// A path that must be a folder is something else.
    #[error("{} is not a folder", path.display())]
    NotAFolder {
        /// The path.
        path: PathBuf,
    },
    /// A setting on the command line is out of range.
    #[error("{name} must be {want}, got {}", shown(got))]
    Setting {
        /// Its flag.
        name: &'static str,
        /// What was given.
        got: String,
        /// What can be.
        want: &'static str,
    },
    /// A name that is not in the list of those that exist.
    #[error("there is no {what} `{}`; these exist: {}", shown(got), known.join(", "))]
    Unknown {
        /// Of what kind.
        what: &'static str,
        /// The name.
        got: String,
        /// Those that exist.
        known: Vec<String>,
    },
    /// A table cannot be used.
    #[error("{0}")]
    Table(#[from] TableError),
    /// A library crate refused public settings.
    #[error("{what}: {}", in_words(reason))]
    Library {
        /// What was refused.
        what: &'static str,
        /// In the library's words.
        reason: String,
    },
    /// A folder is taken: what is in it is kept.
    #[error("{} {}: choose another --out", path.display(), what_is_there(*.release))]
    Taken {
        /// The folder.
        path: PathBuf,
        /// Whether it holds a release.
        release: bool,
    },
    /// A ledger is not whole, is of another relation, or refuses.
    #[error("ledger {}: {}", path.display(), in_words(reason))]
    Ledger {
        /// The file.
        path: PathBuf,
        /// Why.
        reason: String,
    },
    /// What was drawn is lost, and spent all the same.
    #[error("{cause}; nothing was released, but it was drawn and counts as spent")]
    Lost {
        /// What stopped it.
        #[source]
        cause: Box<Error>,
    },
    /// A run of a session stopped after it had its lease.
    #[error("{cause}; the session counts as spent as before, and the same command goes on with it")]
    Interrupted {
        /// What stopped it.
        #[source]
        cause: Box<Error>,
    },
    /// A release by passes stopped after its first draw, and is kept.
    #[error(
        "{cause}; nothing was released, it counts as spent, and the same command with --resume goes on"
    )]
    Unfinished {
        /// What stopped it.
        #[source]
        cause: Box<Error>,
    },
    /// A release is in its place, and what comes after that failed.
    #[error(
        "{cause}; the release is in {} all the same, and spent{}",
        out.display(),
        if *.ledger { ": `quietus ledger recover` writes what the ledger lacks" } else { "" }
    )]
    Released {
        /// Where it is.
        out: PathBuf,
        /// Whether there is a ledger that does not know of it yet.
        ledger: bool,
        /// What failed.
        #[source]
        cause: Box<Error>,
    },
    /// A folder is not what it says.
    #[error("{} is refused: {}", path.display(), in_words(reason))]
    NotVerified {
        /// The folder.
        path: PathBuf,
        /// Why.
        reason: String,
    },
}

impl Error {
    /// Adds what was attempted to an operating system error.
    pub fn io(action: &'static str, path: &Path) -> impl FnOnce(io::Error) -> Self + use<> {
        let path = path.to_path_buf();
        move |source| Self::Io { action, path, source }
    }

    /// Wraps a library crate's own message.
    pub fn library<E: fmt::Display + ?Sized>(what: &'static str, error: &E) -> Self {
        Self::Library { what, reason: error.to_string() }
    }

    /// What the program ends with when a release is there and is not all that it should be.
    pub const INCOMPLETE: u8 = 3;

    /// What the program ends with: 1, or [`INCOMPLETE`](Self::INCOMPLETE).
    #[must_use]
    pub fn code(&self) -> u8 {
        match self {
            Self::Released { .. } => Self::INCOMPLETE,
            _ => 1,
        }
    }
}

fn what_is_there(release: bool) -> &'static str {
    if release {
        "holds a release; another one of the same people costs its budget again, and the costs add up"
    } else {
        "is not empty"
    }
}
