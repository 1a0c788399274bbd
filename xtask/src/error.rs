//! What can stop a command. Each message is one line that names the value and what was wanted.

pub(crate) use quietus::table::{TableError, TableProblem};

use std::fmt;
use std::io;
use std::path::{Path, PathBuf};

/// Why a command stopped.
#[derive(Debug)]
pub(crate) enum Error {
    /// The operating system refused; `action` reads as "cannot {action} {path}".
    Io { action: &'static str, path: PathBuf, source: io::Error },
    /// A path that must be a folder is something else.
    NotAFolder { path: PathBuf },
    /// Another evaluation writes to this folder.
    Busy { path: PathBuf },
    /// A setting on the command line is out of range.
    Setting { name: &'static str, got: String, want: &'static str },
    /// A name that is not in the list of those that exist.
    Unknown { what: &'static str, got: String, known: Vec<String> },
    /// A table cannot be used.
    Table(TableError),
    /// A file is not the one that the manifest describes.
    Checksum { path: PathBuf, want: String, got: String },
    /// The manifest or another file of ours does not parse.
    Malformed { path: PathBuf, reason: String },
    /// A folder to import from has none of the manifest's files.
    NothingToImport { path: PathBuf },
    /// The results file holds cells that were made with other settings.
    OtherSettings { path: PathBuf, line: usize, field: String, found: String, now: String },
    /// The results file is full of something else at this line.
    CorruptResults { path: PathBuf, line: usize, reason: String },
    /// A library crate refused public settings.
    Library { what: &'static str, reason: String },
    /// A child process could not be started or did not answer as it should.
    Process { command: String, reason: String },
}

impl Error {
    /// Adds what was attempted to an operating system error.
    pub(crate) fn io(action: &'static str, path: &Path) -> impl FnOnce(io::Error) -> Self + use<> {
        let path = path.to_path_buf();
        move |source| Self::Io { action, path, source }
    }

    /// Wraps a library crate's own message.
    pub(crate) fn library<E: fmt::Display + ?Sized>(what: &'static str, error: &E) -> Self {
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
            Self::Busy { path } => write!(
                f,
                "{} is in use by another evaluation; choose another --out",
                path.display()
            ),
            Self::Setting { name, got, want } => write!(f, "{name} must be {want}, got {got}"),
            Self::Unknown { what, got, known } => {
                write!(
                    f,
                    "there is no {what} `{}`; these exist: {}",
                    got.escape_debug(),
                    known.join(", ")
                )
            }
            Self::Table(error) => error.fmt(f),
            Self::Checksum { path, want, got } => {
                write!(
                    f,
                    "{} is refused: sha256 is {got}, the manifest says {want}",
                    path.display()
                )
            }
            Self::Malformed { path, reason } => {
                write!(f, "cannot make sense of {}: {reason}", path.display())
            }
            Self::NothingToImport { path } => {
                write!(f, "{} holds no file of datasets/manifest.toml", path.display())
            }
            Self::OtherSettings { path, line, field, found, now } => write!(
                f,
                "cannot resume: {}, line {line} was made with {field} = {found}, this run has {now}; \
                 repeat the earlier settings, choose another --out, or leave out --resume",
                path.display()
            ),
            Self::CorruptResults { path, line, reason } => {
                write!(f, "{}, line {line} is not a result: {reason}", path.display())
            }
            Self::Library { what, reason } => write!(f, "{what}: {reason}"),
            Self::Process { command, reason } => write!(f, "`{command}` {reason}"),
        }
    }
}

impl std::error::Error for Error {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::Io { source, .. } => Some(source),
            Self::Table(error) => Some(error),
            _ => None,
        }
    }
}

impl From<TableError> for Error {
    fn from(error: TableError) -> Self {
        Self::Table(error)
    }
}
