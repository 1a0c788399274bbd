//! What can stop a command. Each message is one line that names the value and what was wanted.

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
    /// A setting on the command line is out of range.
    Setting { name: &'static str, got: String, want: &'static str },
    /// A name that is not in the list of those that exist.
    Unknown { what: &'static str, got: String, known: Vec<String> },
    /// A table cannot be used; `line` counts from 1 and includes the header. In a Parquet file it is the number of the row.
    Table { path: PathBuf, line: u64, problem: TableProblem },
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
    /// A folder is taken: what is in it is kept.
    Taken { path: PathBuf, release: bool },
    /// A child process could not be started or did not answer as it should.
    Process { command: String, reason: String },
}

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
            Self::Setting { name, got, want } => write!(f, "{name} must be {want}, got {got}"),
            Self::Unknown { what, got, known } => {
                write!(f, "there is no {what} `{}`; these exist: {}", shown(got), known.join(", "))
            }
            Self::Table { path, line: 0, problem } => write!(f, "{}: {problem}", path.display()),
            Self::Table { path, line, problem } => {
                let binary = path.extension().is_some_and(|e| e.eq_ignore_ascii_case("parquet"));
                let unit = if binary { "row" } else { "line" };
                write!(f, "{}, {unit} {line}: {problem}", path.display())
            }
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
            Self::Library { what, reason } => write!(f, "{what}: {}", in_words(reason)),
            Self::Taken { path, release: true } => write!(
                f,
                "{} holds a release; another one of the same people costs its budget again, and the costs add up: choose another --out",
                path.display()
            ),
            Self::Taken { path, release: false } => {
                write!(f, "{} is not empty: choose another --out", path.display())
            }
            Self::Process { command, reason } => write!(f, "`{command}` {reason}"),
        }
    }
}

impl std::error::Error for Error {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::Io { source, .. } => Some(source),
            _ => None,
        }
    }
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

/// A name or a cell on one line: control characters escaped, and cut where it is long.
fn shown(text: &str) -> String {
    cut(text, 60)
}

/// As [`shown`], of a sentence that may hold names.
fn in_words(reason: &str) -> String {
    cut(reason, 300)
}

fn names(header: &[String]) -> String {
    let mut names: Vec<String> = header.iter().take(20).map(|name| shown(name)).collect();
    if header.len() > names.len() {
        names.push(format!("and {} more", header.len() - names.len()));
    }
    names.join(", ")
}

fn cut(text: &str, most: usize) -> String {
    let mut shown = String::new();
    for (i, letter) in text.chars().enumerate() {
        if i == most {
            shown.push_str("...");
            break;
        }
        match letter {
            '"' | '\'' | '\\' => shown.push(letter),
            other => shown.extend(other.escape_debug()),
        }
    }
    shown
}

#[cfg(test)]
mod tests {
    use super::{TableProblem, cut, names};

    #[test]
    fn names_stay_on_one_line_and_short() {
        assert_eq!(cut("O'Hara \\ \"x\" \u{e9}", 60), "O'Hara \\ \"x\" \u{e9}");
        assert_eq!(cut("a\n\u{1b}[31mb", 60), "a\\n\\u{1b}[31mb");
        assert_eq!(cut("abcdef", 3), "abc...");
        let reason = format!("`{}\r`", "x".repeat(1000));
        let refused = TableProblem::Refused { reason }.to_string();
        assert!(refused.len() < 310 && !refused.contains('\r'), "{refused}");
        let header: Vec<String> = (0..1000).map(|i| format!("{i}\n")).collect();
        assert!(names(&header).ends_with("19\\n, and 980 more"), "{}", names(&header));
    }
}
