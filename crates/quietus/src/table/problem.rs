//! What can be wrong in a table.

use crate::shown::{in_words, names, shown};
use std::fmt;
use std::path::PathBuf;

/// A table that cannot be used: which, where and why.
#[derive(Clone, Debug, PartialEq)]
pub struct TableError {
    /// The file.
    pub path: PathBuf,
    /// From 1, the header included; in a Parquet file the number of the row. 0 stands for the file as a whole.
    pub line: u64,
    /// What is wrong there.
    pub problem: TableProblem,
}

impl fmt::Display for TableError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { path, line, problem } = self;
        let binary = path.extension().is_some_and(|e| e.eq_ignore_ascii_case("parquet"));
        match (line, binary) {
            (0, _) => write!(f, "{}: {problem}", path.display()),
            (_, true) => write!(f, "{}, row {line}: {problem}", path.display()),
            (_, false) => write!(f, "{}, line {line}: {problem}", path.display()),
        }
    }
}

impl std::error::Error for TableError {}

/// What is wrong in one place of a table.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
#[allow(
    missing_docs,
    reason = "the message of each says what it is, and the fields are what it names"
)]
pub enum TableProblem {
    Empty,
    NoHeader,
    NoRows,
    Ragged {
        got: usize,
        want: usize,
    },
    NotANumber {
        column: usize,
        name: String,
        cell: String,
    },
    NotFinite {
        column: usize,
        name: String,
        cell: String,
    },
    NotALabel {
        column: usize,
        name: String,
        cell: String,
    },
    Rows {
        got: usize,
        want: usize,
    },
    Columns {
        got: usize,
        want: usize,
    },
    Unreadable {
        reason: String,
    },
    /// A quoted cell that the file ends in.
    OpenQuote,
    /// A quoted cell that goes on behind its last quote.
    AfterQuote,
    /// `name` is `None` in the header.
    LineBreak {
        column: usize,
        name: Option<String>,
    },
    /// `header` is `None` where the first line may be private.
    NoColumn {
        name: String,
        header: Option<Vec<String>>,
    },
    TwoColumns {
        name: String,
    },
    /// A name that differs from an optional column's in case or in what is no letter.
    NearName {
        column: usize,
        name: String,
        want: &'static str,
    },
    NoName {
        column: usize,
        name: String,
    },
    NotText {
        column: usize,
        name: String,
    },
    NotWhole {
        column: usize,
        name: String,
        cell: String,
    },
    Negative {
        column: usize,
        name: String,
    },
    /// A record that is longer than any should be.
    LongRecord {
        most: u64,
    },
    /// A file that goes on where it should have ended.
    TooManyBytes {
        most: u64,
    },
    /// A column of a Parquet file that is neither text nor whole numbers.
    #[cfg(feature = "parquet")]
    OtherKind {
        column: usize,
        name: String,
        kind: String,
    },
    /// A column of a Parquet file in a compression that this build cannot undo.
    #[cfg(feature = "parquet")]
    Codec {
        column: usize,
        name: String,
        codec: String,
    },
    /// This build cannot read Parquet.
    #[cfg(not(feature = "parquet"))]
    NeedsParquet,
    /// What is said here does not fit the rest, in a library crate's words.
    Refused {
        reason: String,
    },
}

impl fmt::Display for TableProblem {
    #[expect(clippy::too_many_lines, reason = "one line or two for each message")]
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Empty => write!(f, "the file is empty"),
            Self::NoHeader => write!(f, "the first line must name the columns, it holds numbers"),
            Self::NoRows => write!(f, "there is a header and no data"),
            Self::Ragged { got, want } if got < want => {
                write!(f, "column {} is missing: {got} cells, the header has {want}", got + 1)
            }
            Self::Ragged { got, want } => {
                write!(f, "column {} is too many: {got} cells, the header has {want}", want + 1)
            }
            Self::NotANumber { column, name, cell } => {
                write!(f, "column {column} ({}): `{}` is not a number", shown(name), shown(cell))
            }
            Self::NotFinite { column, name, cell } => {
                write!(f, "column {column} ({}): `{}` is not finite", shown(name), shown(cell))
            }
            Self::NotALabel { column, name, cell } => {
                write!(
                    f,
                    "column {column} ({}): `{}` is not a class number",
                    shown(name),
                    shown(cell)
                )
            }
            Self::Rows { got, want } => write!(f, "{got} rows, there must be {want}"),
            Self::Columns { got, want } => write!(f, "{got} columns, there must be {want}"),
            Self::Unreadable { reason } | Self::Refused { reason } => {
                write!(f, "{}", in_words(reason))
            }
            Self::OpenQuote => write!(f, "a quote begins a cell here and none ends it"),
            Self::AfterQuote => {
                write!(
                    f,
                    "a quote begins a cell here, and behind the one that ends it there is more"
                )
            }
            Self::LineBreak { column, name: None } => {
                write!(f, "the name of column {column} has a line break")
            }
            Self::LineBreak { column, name: Some(name) } => {
                write!(f, "column {column} ({}) has a line break", shown(name))
            }
            Self::NoColumn { name, header: Some(header) } => {
                write!(f, "there is no column `{name}`; these exist: {}", names(header))
            }
            Self::NoColumn { name, header: None } => {
                write!(
                    f,
                    "the first line must name the columns, and none is called `{}`; `quietus check` shows them, `--column {}=THERE` says what it is called",
                    shown(name),
                    shown(name)
                )
            }
            Self::TwoColumns { name } => write!(f, "two columns are called `{name}`"),
            Self::NearName { column, name, want } => write!(
                f,
                "column {column} is called `{}`: rename it to `{want}` if that is what it is, and to something else if not",
                shown(name)
            ),
            Self::NoName { column, name } => {
                write!(f, "column {column} ({}) is empty", shown(name))
            }
            Self::NotText { column, name } => {
                write!(f, "column {column} ({}) is not UTF-8", shown(name))
            }
            Self::NotWhole { column, name, cell } => {
                write!(
                    f,
                    "column {column} ({}): `{}` is not a whole number of 64 bits",
                    shown(name),
                    shown(cell)
                )
            }
            Self::Negative { column, name } => {
                write!(f, "column {column} ({}) is below 0", shown(name))
            }
            Self::LongRecord { most } => {
                write!(f, "a record begins here that is longer than {most} bytes")
            }
            Self::TooManyBytes { most } => write!(
                f,
                "there is more than {most} bytes; if that is right, say so with --most-bytes"
            ),
            #[cfg(feature = "parquet")]
            Self::OtherKind { column, name, kind } => {
                write!(
                    f,
                    "column {column} ({}) is {kind}; text and numbers can be read",
                    shown(name)
                )
            }
            #[cfg(feature = "parquet")]
            Self::Codec { column, name, codec } => write!(
                f,
                "column {column} ({}) is compressed with {codec}; snappy and gzip can be read, and zstd with `--features zstd`",
                shown(name)
            ),
            #[cfg(not(feature = "parquet"))]
            Self::NeedsParquet => {
                write!(f, "this build cannot read Parquet: install it with `--features parquet`")
            }
        }
    }
}
