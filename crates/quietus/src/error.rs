//! What can stop a command. Each message is one line that names the value and what was wanted, and never what a private cell holds.

use crate::shown::{in_words, shown};
use crate::table::TableError;
use std::fmt;
use std::io;
use std::path::{Path, PathBuf};

/// Why a command stopped.
#[derive(Debug)]
#[non_exhaustive]
pub enum Error {
    /// The operating system refused; `action` reads as "cannot {action} {path}".
    Io {
        /// What was attempted.
        action: &'static str,
        /// On what.
        path: PathBuf,
        /// Why not.
        source: io::Error,
    },
    /// A path that must be a folder is something else.
    NotAFolder {
        /// The path.
        path: PathBuf,
    },
    /// A setting on the command line is out of range.
    Setting {
        /// Its flag.
        name: &'static str,
        /// What was given.
        got: String,
        /// What can be.
        want: &'static str,
    },
    /// A name that is not in the list of those that exist.
    Unknown {
        /// Of what kind.
        what: &'static str,
        /// The name.
        got: String,
        /// Those that exist.
        known: Vec<String>,
    },
    /// A table cannot be used.
    Table(TableError),
    /// A library crate refused public settings.
    Library {
        /// What was refused.
        what: &'static str,
        /// In the library's words.
        reason: String,
    },
    /// A folder is taken: what is in it is kept.
    Taken {
        /// The folder.
        path: PathBuf,
        /// Whether it holds a release.
        release: bool,
    },
    /// A ledger is not whole, is of another relation, or refuses.
    Ledger {
        /// The file.
        path: PathBuf,
        /// Why.
        reason: String,
    },
    /// What was drawn is lost, and spent all the same.
    Lost {
        /// What stopped it.
        cause: Box<Error>,
    },
    /// A run of a session stopped after it had its lease.
    Interrupted {
        /// What stopped it.
        cause: Box<Error>,
    },
    /// A release by passes stopped after its first draw, and is kept.
    Unfinished {
        /// What stopped it.
        cause: Box<Error>,
    },
    /// A folder is not what it says.
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
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Io { action, path, source } => {
                write!(f, "cannot {action} {}: {source}", path.display())
            }
            Self::NotAFolder { path } => write!(f, "{} is not a folder", path.display()),
            Self::Setting { name, got, want } => {
                write!(f, "{name} must be {want}, got {}", shown(got))
            }
            Self::Unknown { what, got, known } => {
                write!(f, "there is no {what} `{}`; these exist: {}", shown(got), known.join(", "))
            }
            Self::Table(error) => error.fmt(f),
            Self::Library { what, reason } => write!(f, "{what}: {}", in_words(reason)),
            Self::Taken { path, release: true } => write!(
                f,
                "{} holds a release; another one of the same people costs its budget again, and the costs add up: choose another --out",
                path.display()
            ),
            Self::Taken { path, release: false } => {
                write!(f, "{} is not empty: choose another --out", path.display())
            }
            Self::Ledger { path, reason } => {
                write!(f, "ledger {}: {}", path.display(), in_words(reason))
            }
            Self::Lost { cause } => {
                write!(f, "{cause}; nothing was released, but it was drawn and counts as spent")
            }
            Self::Interrupted { cause } => write!(
                f,
                "{cause}; the session counts as spent as before, and the same command goes on with it"
            ),
            Self::Unfinished { cause } => write!(
                f,
                "{cause}; nothing was released, it counts as spent, and the same command with --resume goes on"
            ),
            Self::NotVerified { path, reason } => {
                write!(f, "{} is refused: {}", path.display(), in_words(reason))
            }
        }
    }
}

impl std::error::Error for Error {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::Io { source, .. } => Some(source),
            Self::Table(error) => Some(error),
            Self::Lost { cause } | Self::Interrupted { cause } | Self::Unfinished { cause } => {
                Some(cause)
            }
            _ => None,
        }
    }
}

impl From<TableError> for Error {
    fn from(error: TableError) -> Self {
        Self::Table(error)
    }
}
