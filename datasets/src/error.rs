//! What is wrong with a data set, its file or its name. Each message is one line that names the value and what was wanted.

use quietus::table::TableError;
use std::fmt;
use std::io;
use std::path::{Path, PathBuf};

/// Why a data set cannot be had.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The operating system refused.
    #[error("cannot {action} {}: {source}", .path.display())]
    Io {
        /// What was attempted, as in "cannot {action} {path}".
        action: &'static str,
        /// On what.
        path: PathBuf,
        /// Why not.
        source: io::Error,
    },
    /// A path that must be a folder is something else.
    #[error("{} is not a folder", .path.display())]
    NotAFolder {
        /// The path.
        path: PathBuf,
    },
    /// A setting is out of range.
    #[error("{name} must be {want}, got {got}")]
    Setting {
        /// Its name on the command line.
        name: &'static str,
        /// Its value.
        got: String,
        /// What would be accepted.
        want: &'static str,
    },
    /// A name that is not in the list of those that exist.
    #[error("there is no {what} `{}`; these exist: {}", .got.escape_debug(), .known.join(", "))]
    Unknown {
        /// What it was to be the name of.
        what: &'static str,
        /// The name.
        got: String,
        /// Those that exist.
        known: Vec<String>,
    },
    /// A table cannot be used.
    #[error(transparent)]
    Table(#[from] TableError),
    /// A file is not the one that the manifest describes.
    #[error("{} is refused: sha256 is {got}, the manifest says {want}", .path.display())]
    Checksum {
        /// The file.
        path: PathBuf,
        /// By the manifest.
        want: String,
        /// Of the file.
        got: String,
    },
    /// The manifest or another file does not parse.
    #[error("cannot make sense of {}: {reason}", .path.display())]
    Malformed {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        reason: String,
    },
    /// A folder to import from has none of the manifest's files.
    #[error("{} holds no file of datasets/manifest.toml", .path.display())]
    NothingToImport {
        /// The folder.
        path: PathBuf,
    },
    /// A library crate refused public settings.
    #[error("{what}: {reason}")]
    Library {
        /// Of what.
        what: &'static str,
        /// Its own message.
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

    /// A file that does not parse.
    pub fn malformed(path: &Path, reason: impl fmt::Display) -> Self {
        Self::Malformed { path: path.to_path_buf(), reason: reason.to_string() }
    }

    /// A name, and those that exist.
    pub fn unknown<'a>(
        what: &'static str,
        got: &str,
        known: impl IntoIterator<Item = &'a str>,
    ) -> Self {
        let known = known.into_iter().map(str::to_owned).collect();
        Self::Unknown { what, got: got.to_owned(), known }
    }
}
