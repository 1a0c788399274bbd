//! Why nothing was counted, or nothing drawn.

use datafusion::arrow::datatypes::DataType;
use datafusion::error::DataFusionError;
use dp_cluster::passes::TableError;

/// Why a pass was refused. Unless it says otherwise, it came before the first draw of that pass.
///
/// What is printed holds names and settings, never a value of a record or a table; what the engine says of itself is in
/// [`source`](std::error::Error::source) only, because it may quote what it read.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// Nothing is there to count.
    #[error("no file is named `{0}`, or in a folder of that name")]
    NoFile(String),
    /// One file twice: its records would count twice.
    #[error("`{0}` is listed twice")]
    FileTwice(String),
    /// A name of a file that does not lead back to it.
    #[error("the name `{0}` cannot be written as a URL")]
    Name(String),
    /// A column that is not there.
    #[error("there is no column `{column}` in {place}")]
    NoColumn {
        /// Its name.
        column: String,
        /// Where.
        place: String,
    },
    /// One column for two coordinates.
    #[error("the column `{0}` is given twice")]
    ColumnTwice(String),
    /// A column that is no number: text, dates, truth values, decimals and lists are not turned into numbers here.
    #[error(
        "the column `{column}` of {place} is {got}: whole numbers and floats are counted; turn it into one of these first"
    )]
    NotNumeric {
        /// Its name.
        column: String,
        /// Where.
        place: String,
        /// Its type.
        got: DataType,
    },
    /// A column that has to be one of whole numbers of at most 63 bits.
    #[error("the column `{column}` of {place} is {got}: whole numbers are added up")]
    NotWhole {
        /// Its name.
        column: String,
        /// Where.
        place: String,
        /// Its type.
        got: DataType,
    },
    /// The directory, which is public, names a region that is none of the lowest level.
    #[error("the directory has a region `{0}`, which is none of the lowest level")]
    NoRegion(String),
    /// The question is about another hierarchy.
    #[error("the question is about another hierarchy: it has another number of leaf regions")]
    OtherHierarchy,
    /// Files whose columns differ.
    #[error("the column `{column}` is {got} in {place}, and {want} in the first file")]
    Drift {
        /// Its name.
        column: String,
        /// The file that differs.
        place: String,
        /// In the first file.
        want: String,
        /// In this one.
        got: String,
    },
    /// As many columns as the plan has dimensions.
    #[error("{got} columns are given, and the plan has {want} dimensions")]
    Dimension {
        /// Of the plan.
        want: usize,
        /// Columns.
        got: usize,
    },
    /// A file is gone, or it is not as it was when the run began.
    #[error("`{0}` has changed since it was listed: a release is of one set of files")]
    FileChanged(String),
    /// A state of other files or columns.
    #[error("the state belongs to other files or columns")]
    OtherRecords,
    /// As many records as the files say, each once, and the same ones in every pass.
    #[error(
        "what was counted is not every record of the files once, or not those of the first pass"
    )]
    NotEachOnce,
    /// Bytes that are no answer or state.
    #[error("the bytes are no whole answer or state of version 1")]
    Damaged,
    /// What was counted does not answer what was asked.
    #[error(transparent)]
    Table(#[from] TableError),
    /// The state after a pass could not be kept. Its noise is drawn and nobody has seen it.
    #[error("the state after a pass cannot be kept")]
    Keep(#[source] std::io::Error),
    /// Nobody to count.
    #[error("no worker answers, or none of this version: {0}")]
    NoWorker(String),
    /// A worker cannot listen.
    #[error("the worker cannot listen any longer")]
    Network(#[source] Box<dyn std::error::Error + Send + Sync>),
    /// The engine failed. Nothing was drawn on what it had counted, so the pass may be asked again.
    #[error("the engine failed; what it says of it may quote records")]
    Engine(#[from] DataFusionError),
}
