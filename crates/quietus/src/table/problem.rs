//! What can be wrong in a table.

use crate::shown::{in_words, names, shown};
use std::path::{Path, PathBuf};

/// A table that cannot be used: which, where and why.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[error("{}{}: {problem}", path.display(), place(path, *line))]
pub struct TableError {
    /// The file.
    pub path: PathBuf,
    /// From 1, the header included; in a Parquet file the number of the row. 0 stands for the file as a whole.
    pub line: u64,
    /// What is wrong there.
    pub problem: TableProblem,
}

/// What is wrong in one place of a table.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
#[allow(
    missing_docs,
    reason = "the message of each says what it is, and the fields are what it names"
)]
pub enum TableProblem {
    #[error("the file is empty")]
    Empty,
    #[error("the first line must name the columns, it holds numbers")]
    NoHeader,
    #[error("there is a header and no data")]
    NoRows,
    #[error("{}: {got} cells, the header has {want}", ragged(*got, *want))]
    Ragged { got: usize, want: usize },
    #[error("column {column} ({}): `{}` is not a number", shown(name), shown(cell))]
    NotANumber { column: usize, name: String, cell: String },
    #[error("column {column} ({}): `{}` is not finite", shown(name), shown(cell))]
    NotFinite { column: usize, name: String, cell: String },
    #[error("column {column} ({}): `{}` is not a class number", shown(name), shown(cell))]
    NotALabel { column: usize, name: String, cell: String },
    #[error("{got} rows, there must be {want}")]
    Rows { got: usize, want: usize },
    #[error("{got} columns, there must be {want}")]
    Columns { got: usize, want: usize },
    #[error("{}", in_words(reason))]
    Unreadable { reason: String },
    /// A quoted cell that the file ends in.
    #[error("a quote begins a cell here and none ends it")]
    OpenQuote,
    /// A quoted cell that goes on behind its last quote.
    #[error("a quote begins a cell here, and behind the one that ends it there is more")]
    AfterQuote,
    /// `name` is `None` in the header.
    #[error("{} has a line break", column_or_its_name(*column, name.as_deref()))]
    LineBreak { column: usize, name: Option<String> },
    /// By its name here and in the file; `header` is `None` where the first line may be private.
    #[error("{}", no_column(name, there, header.as_deref()))]
    NoColumn { name: String, there: String, header: Option<Vec<String>> },
    #[error("two columns are called `{name}`")]
    TwoColumns { name: String },
    /// A name that differs from an optional column's in case or in what is no letter.
    #[error(
        "column {column} is called `{}`: rename it to `{want}` if that is what it is, and to something else if not",
        shown(name)
    )]
    NearName { column: usize, name: String, want: &'static str },
    #[error("column {column} ({}) is empty", shown(name))]
    NoName { column: usize, name: String },
    #[error("column {column} ({}) is not UTF-8", shown(name))]
    NotText { column: usize, name: String },
    #[error(
        "column {column} ({}): `{}` is not a whole number of 64 bits",
        shown(name),
        shown(cell)
    )]
    NotWhole { column: usize, name: String, cell: String },
    #[error("column {column} ({}) is below 0", shown(name))]
    Negative { column: usize, name: String },
    /// A record that is longer than any should be.
    #[error("a record begins here that is longer than {most} bytes")]
    LongRecord { most: u64 },
    /// A file that goes on where it should have ended.
    #[error("there is more than {most} bytes; if that is right, say so with --most-bytes")]
    TooManyBytes { most: u64 },
    /// A column of a Parquet file that is neither text nor whole numbers.
    #[cfg(feature = "parquet")]
    #[error("column {column} ({}) is {kind}; text and numbers can be read", shown(name))]
    OtherKind { column: usize, name: String, kind: String },
    /// A column of a Parquet file in a compression that this build cannot undo.
    #[cfg(feature = "parquet")]
    #[error(
        "column {column} ({}) is compressed with {codec}; snappy and gzip can be read, and zstd with `--features zstd`",
        shown(name)
    )]
    Codec { column: usize, name: String, codec: String },
    /// This build cannot read Parquet.
    #[cfg(not(feature = "parquet"))]
    #[error("this build cannot read Parquet: install it with `--features parquet`")]
    NeedsParquet,
    /// What is said here does not fit the rest, in a library crate's words.
    #[error("{}", in_words(reason))]
    Refused { reason: String },
}

/// Where in the file, after its name.
fn place(path: &Path, line: u64) -> String {
    let binary = path.extension().is_some_and(|e| e.eq_ignore_ascii_case("parquet"));
    match (line, binary) {
        (0, _) => String::new(),
        (_, true) => format!(", row {line}"),
        (_, false) => format!(", line {line}"),
    }
}

fn ragged(got: usize, want: usize) -> String {
    if got < want {
        format!("column {} is missing", got + 1)
    } else {
        format!("column {} is too many", want + 1)
    }
}

fn column_or_its_name(column: usize, name: Option<&str>) -> String {
    match name {
        None => format!("the name of column {column}"),
        Some(name) => format!("column {column} ({})", shown(name)),
    }
}

fn no_column(name: &str, there: &str, header: Option<&[String]>) -> String {
    match header {
        Some(header) => format!("there is no column `{there}`; these exist: {}", names(header)),
        None => format!(
            "the first line must name the columns, and none is called `{}`; `quietus check` shows them, `--column {}=THERE` says what it is called",
            shown(there),
            shown(name)
        ),
    }
}
