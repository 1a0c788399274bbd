//! What can stop a command. Each message is one line that names the value and what was wanted.

pub(crate) use quietus::table::TableError;

use std::fmt;
use std::io;
use std::path::{Path, PathBuf};

/// Why a command stopped.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Error {
    /// A data set, a file, a name or a setting is not what it should be.
    #[error(transparent)]
    Data(#[from] quietus_datasets::Error),
    /// Another evaluation writes to this folder.
    #[error("{} is in use by another evaluation; choose another --out", .path.display())]
    Busy { path: PathBuf },
    /// The results file holds cells that were made with other settings.
    #[error(
        "cannot resume: {}, line {line} was made with {field} = {found}, this run has {now}; \
         repeat the earlier settings, choose another --out, or leave out --resume",
        .path.display()
    )]
    OtherSettings { path: PathBuf, line: usize, field: String, found: String, now: String },
    /// The results file is full of something else at this line.
    #[error("{}, line {line} is not a result: {reason}", .path.display())]
    CorruptResults { path: PathBuf, line: usize, reason: String },
    /// A child process could not be started or did not answer as it should.
    #[error("`{command}` {reason}")]
    Process { command: String, reason: String },
}

impl Error {
    /// Adds what was attempted to an operating system error.
    pub(crate) fn io(action: &'static str, path: &Path) -> impl FnOnce(io::Error) -> Self + use<> {
        let named = quietus_datasets::Error::io(action, path);
        move |source| named(source).into()
    }

    /// Wraps a library crate's own message.
    pub(crate) fn library<E: fmt::Display + ?Sized>(what: &'static str, error: &E) -> Self {
        quietus_datasets::Error::library(what, error).into()
    }

    /// A file that does not parse.
    pub(crate) fn malformed(path: &Path, reason: impl fmt::Display) -> Self {
        quietus_datasets::Error::malformed(path, reason).into()
    }

    /// A name, and those that exist.
    pub(crate) fn unknown<'a>(
        what: &'static str,
        got: &str,
        known: impl IntoIterator<Item = &'a str>,
    ) -> Self {
        quietus_datasets::Error::unknown(what, got, known).into()
    }
}

/// Where it does not matter which method it was.
macro_rules! of_crates {
    ($($name:literal: $error:ty),+) => {
        $(impl From<$error> for Error {
            fn from(error: $error) -> Self {
                Self::library($name, &error)
            }
        })+
    };
}

of_crates!(
    "dp-cluster": dp_cluster::ClusterError,
    "dp-combinatorial": dp_combinatorial::CombinatorialError,
    "dp-census": dp_census::CensusError,
    "dp-geometry": dp_geometry::GeometryError,
    "dp-stream": dp_stream::StreamError,
    "dp-mechanism": dp_mechanism::MechanismError,
    "dp-accounting": dp_accounting::ParamError,
    "dp-local": dp_local::LocalError,
    "a number": std::num::TryFromIntError,
    "JSON": serde_json::Error,
    "threads": rayon::ThreadPoolBuildError
);

impl From<TableError> for Error {
    fn from(error: TableError) -> Self {
        quietus_datasets::Error::from(error).into()
    }
}
