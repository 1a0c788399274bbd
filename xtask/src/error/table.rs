//! What can be wrong in a table.

use super::shown::{in_words, names, shown};
use std::fmt;

/// What is wrong in one place of a table.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum TableProblem {
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
    /// `cell` is `None` where it is private.
    NotWhole {
        column: usize,
        name: String,
        cell: Option<String>,
    },
    Negative {
        column: usize,
        name: String,
    },
    /// Of a private cell, which is not shown.
    NotALeaf {
        column: usize,
        name: String,
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
                write!(f, "the first line must name the columns, and none is called `{name}`")
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
            Self::NotWhole { column, name, cell: Some(cell) } => {
                write!(
                    f,
                    "column {column} ({}): `{}` is not a whole number of 64 bits",
                    shown(name),
                    shown(cell)
                )
            }
            Self::NotWhole { column, name, cell: None } => {
                write!(f, "column {column} ({}) is not a whole number of 64 bits", shown(name))
            }
            Self::Negative { column, name } => {
                write!(f, "column {column} ({}) is below 0", shown(name))
            }
            Self::NotALeaf { column, name } => {
                write!(f, "column {column} ({}) is not a region of the lowest level", shown(name))
            }
            #[cfg(feature = "parquet")]
            Self::OtherKind { column, name, kind } => {
                write!(
                    f,
                    "column {column} ({}) is {kind}; text and whole numbers can be read",
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
            Self::NeedsParquet => write!(
                f,
                "Parquet is read by `cargo run --release -p xtask --features parquet -- release census ...`"
            ),
        }
    }
}
