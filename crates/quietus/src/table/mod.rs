//! Named columns of a table in a file, row after row: for files that are larger than memory.
//!
//! The ending of the name decides about the format: `.parquet`, `.gz` (CSV in gzip), and CSV for everything else.
//!
//! # What an individual can and cannot do
//! In a private file no cell ends the reading: text that is no number, not UTF-8, empty, huge or of several lines is read as what it is,
//! and a row with too few or too many cells, or above [`MOST_RECORD`], is passed over. What is wrong with the file as a file is refused by line:
//! no such columns, a quote without an end, more bytes than [`Form::most_bytes`].

mod csv_file;
mod limits;
pub mod numbers;
#[cfg(feature = "parquet")]
mod parquet_file;
#[cfg(feature = "parquet")]
mod parquet_footer;
#[cfg(feature = "parquet")]
mod parquet_lengths;
#[cfg(feature = "parquet")]
mod parquet_pages;
#[cfg(feature = "parquet")]
mod parquet_texts;
mod problem;
mod quotes;
#[cfg(test)]
pub(crate) mod tests;

use crate::value::{Decimal, number};
use csv_file::CsvFile;
use limits::Limits;
pub use limits::MOST_RECORD;
pub use problem::{TableError, TableProblem};
use quotes::Long;
use std::borrow::Cow;
use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};

/// Whether an error may show what a cell holds. Where it is, an error always says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Secrecy {
    /// A row that is wrong is an error that shows it.
    Public,
    /// A row that is wrong is passed over.
    Private,
}

/// How a file is written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Form {
    /// What is between two cells of a row of CSV.
    pub delimiter: u8,
    /// Columns that are called otherwise in the file: the name here, the name there.
    pub renamed: Vec<(String, String)>,
    /// Where reading ends, counted in bytes of text after unpacking, or of values in Parquet.
    pub most_bytes: u64,
}

impl Default for Form {
    fn default() -> Self {
        Self { delimiter: b',', renamed: Vec::new(), most_bytes: 1 << 36 }
    }
}

/// A number of a type with fractions is no whole one from here on.
pub(crate) const MOST_WHOLE: f64 = 1e300;

impl Form {
    pub(crate) fn name_in_file<'a>(&'a self, name: &'a str) -> &'a str {
        let found = self.renamed.iter().find(|(here, _)| here == name);
        found.map_or(name, |(_, there)| there)
    }

    /// Whether somebody has said what this column is called in the file.
    pub(crate) fn renames(&self, name: &str) -> bool {
        self.renamed.iter().any(|(here, _)| here == name)
    }
}

/// What is in one row and column. Nothing at all is empty text.
#[derive(Clone, Copy, Debug)]
enum Cell<'a> {
    Text(&'a [u8]),
    #[cfg_attr(not(feature = "parquet"), expect(dead_code, reason = "CSV has text only"))]
    Whole(i64),
    #[cfg_attr(not(feature = "parquet"), expect(dead_code, reason = "CSV has text only"))]
    Real(f64),
}

/// A format: a header, then one row at a time.
trait Source {
    /// The names of all columns.
    fn header(&self) -> &[String];

    /// Chooses the columns to read, by position in the header; the others are not decoded.
    fn choose(&mut self, places: &[usize]) -> Result<(), TableProblem>;

    /// Goes to the next row; false after the last one. An error comes with its line, or 0.
    fn advance(&mut self) -> Result<bool, (u64, TableProblem)>;

    /// What is wrong with the shape of the current row.
    fn shape(&self) -> Option<TableProblem>;

    /// Where the current row is: its line, or in a binary format its number from 1.
    fn line(&self) -> u64;

    /// A cell of the current row, by position among the chosen columns.
    fn cell(&self, chosen: usize) -> Cell<'_>;
}

/// A file that is being read, at its current row.
pub struct Rows<'a> {
    source: Box<dyn Source + 'a>,
    path: PathBuf,
    secrecy: Secrecy,
    form: Form,
    /// Position in the header and name.
    chosen: Vec<(usize, String)>,
    passed_over: u64,
}

impl std::fmt::Debug for Rows<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Rows").field("path", &self.path).finish_non_exhaustive()
    }
}

impl Rows<'static> {
    /// Opens a file and reads its header.
    ///
    /// # Errors
    /// [`TableError`] if it cannot be read, is empty, or is in a format that this build cannot read.
    pub fn open(path: &Path, secrecy: Secrecy, form: &Form) -> Result<Self, TableError> {
        let unreadable = |error: std::io::Error| {
            table(path, 0, TableProblem::Unreadable { reason: error.to_string() })
        };
        let file = File::open(path).map_err(unreadable)?;
        if file.metadata().map_err(unreadable)?.is_dir() {
            let reason = "it is a folder".to_owned();
            return Err(table(path, 0, TableProblem::Unreadable { reason }));
        }
        let source: Box<dyn Source> = if is_binary(path) {
            open_parquet(file, form).map_err(|problem| table(path, 0, problem))?
        } else {
            csv(file, path, form, secrecy)?
        };
        Ok(Self::new(source, path, secrecy, form.clone()))
    }
}

impl<'a> Rows<'a> {
    fn new(source: Box<dyn Source + 'a>, path: &Path, secrecy: Secrecy, form: Form) -> Self {
        let (path, chosen) = (path.to_path_buf(), Vec::new());
        Self { source, path, secrecy, form, chosen, passed_over: 0 }
    }

    /// As [`open`](Rows::open), of public CSV that is somewhere else; `path` decides about compression and names it in errors.
    ///
    /// # Errors
    /// [`TableError`] if it cannot be read or is empty.
    pub fn from_csv(text: impl Read + 'a, path: &Path) -> Result<Self, TableError> {
        let form = Form::default();
        Ok(Self::new(csv(text, path, &form, Secrecy::Public)?, path, Secrecy::Public, form))
    }

    /// The names of all columns, as they are in the file.
    pub fn header(&self) -> &[String] {
        self.source.header()
    }

    fn has(&self, name: &str) -> bool {
        let name = self.form.name_in_file(name);
        self.source.header().iter().any(|heading| heading == name)
    }

    /// Whether there is a column of this name; an error if there is only one whose name is nearly the same, or if a private file lacks
    /// what is said to be called otherwise in it. Without it, what that column says would be left out without a word.
    ///
    /// # Errors
    /// [`TableProblem::NearName`], [`TableProblem::NoColumn`].
    pub fn has_exactly(&self, name: &'static str) -> Result<bool, TableError> {
        let letters = |text: &str| -> String {
            text.chars().filter(|c| c.is_alphabetic()).flat_map(char::to_lowercase).collect()
        };
        let header = self.source.header();
        if self.has(name) {
            return Ok(true);
        }
        // A public file shares names with the private one, and need not have them all.
        if self.secrecy == Secrecy::Private && self.form.name_in_file(name) != name {
            return Err(self.no_column(name));
        }
        match header.iter().position(|heading| letters(heading) == name) {
            None => Ok(false),
            Some(place) => {
                let (column, found) = (place + 1, header[place].clone());
                Err(self.in_header(TableProblem::NearName { column, name: found, want: name }))
            }
        }
    }

    /// Chooses the columns to read. From now on they go by their position in `names`.
    ///
    /// # Errors
    /// [`TableError`] unless there is exactly one column of each name.
    pub fn choose(&mut self, names: &[&str]) -> Result<(), TableError> {
        let header = self.source.header();
        let mut chosen = Vec::new();
        for name in names {
            let there = self.form.name_in_file(name);
            let mut places = (0..header.len()).filter(|&place| header[place] == there);
            match (places.next(), places.next()) {
                (Some(place), None) => chosen.push((place, there.to_owned())),
                (Some(_), Some(_)) => {
                    let name = there.to_owned();
                    return Err(self.in_header(TableProblem::TwoColumns { name }));
                }
                (None, _) => return Err(self.no_column(name)),
            }
        }
        let places: Vec<usize> = chosen.iter().map(|(place, _)| *place).collect();
        self.source.choose(&places).map_err(|problem| table(&self.path, 0, problem))?;
        self.chosen = chosen;
        Ok(())
    }

    fn no_column(&self, name: &str) -> TableError {
        // In text without a header, the first line of a private file is a record.
        let shown = is_binary(&self.path) || self.secrecy == Secrecy::Public;
        let header = shown.then(|| self.source.header().to_vec());
        let there = self.form.name_in_file(name).to_owned();
        self.in_header(TableProblem::NoColumn { name: name.to_owned(), there, header })
    }

    /// What is wrong with the header: a line of text, or none of a binary format.
    fn in_header(&self, problem: TableProblem) -> TableError {
        table(&self.path, u64::from(!is_binary(&self.path)), problem)
    }

    /// Goes to the next row; false after the last one. In a private file, rows of a wrong shape are passed over.
    ///
    /// # Errors
    /// [`TableError`] if the file is not what its name says, or a public row has a wrong shape.
    pub fn advance(&mut self) -> Result<bool, TableError> {
        loop {
            let more = self.source.advance();
            if !more.map_err(|(line, problem)| table(&self.path, line, problem))? {
                return Ok(false);
            }
            match (self.source.shape(), self.secrecy) {
                (None, _) => return Ok(true),
                (Some(problem), Secrecy::Public) => return Err(self.refuse(problem)),
                (Some(_), Secrecy::Private) => self.passed_over += 1,
            }
        }
    }

    /// Rows of a wrong shape so far. Private.
    pub fn passed_over(&self) -> u64 {
        self.passed_over
    }

    /// The line of the current row, or its number in a binary format.
    pub fn line(&self) -> u64 {
        self.source.line()
    }

    /// Text without white space around it; a whole number is its digits, nothing at all is empty. What is not UTF-8 is no text.
    pub fn text_or_none(&self, chosen: usize) -> Option<Cow<'_, str>> {
        match self.source.cell(chosen) {
            Cell::Whole(number) => Some(Cow::Owned(number.to_string())),
            Cell::Real(number) => Some(Cow::Owned(number.to_string())),
            Cell::Text(bytes) => {
                std::str::from_utf8(bytes).ok().map(|text| Cow::Borrowed(text.trim()))
            }
        }
    }

    /// As [`text_or_none`](Self::text_or_none), but neither empty nor "not a number" where the file holds numbers.
    pub fn name_or_none(&self, chosen: usize) -> Option<Cow<'_, str>> {
        match self.source.cell(chosen) {
            Cell::Real(number) if number.is_nan() => None,
            _ => self.text_or_none(chosen).filter(|text| !text.is_empty()),
        }
    }

    /// A number; what is none, "not a number" included, is `None`. What a file holds as a number has no decimal mark.
    pub fn number_or_none(&self, chosen: usize, decimal: Decimal) -> Option<f64> {
        match self.source.cell(chosen) {
            Cell::Whole(number) => Some(number as f64),
            Cell::Real(number) => (!number.is_nan()).then_some(number),
            Cell::Text(_) => number(&self.text_or_none(chosen)?, decimal),
        }
    }

    /// A whole number, also one that is written like 2.0 or is of a type with fractions; one beyond 64 bits is the closest there is.
    pub fn whole_or_none(&self, chosen: usize) -> Option<i64> {
        let real = match self.source.cell(chosen) {
            Cell::Whole(number) => return Some(number),
            Cell::Real(number) => number,
            Cell::Text(_) => {
                let text = self.text_or_none(chosen)?;
                match text.parse() {
                    Ok(number) => return Some(number),
                    Err(_) => number(&text, Decimal::Point)?,
                }
            }
        };
        // As SQL has it that counts elsewhere. What is NaN or infinite has no fraction that is 0, or is too large.
        let is_whole = real.fract() == 0.0 && real.abs() < MOST_WHOLE;
        #[allow(clippy::cast_possible_truncation, reason = "it stops at the ends")]
        is_whole.then_some(real as i64)
    }

    /// Text without white space around it.
    ///
    /// # Errors
    /// [`TableProblem::NotText`].
    pub fn text(&self, chosen: usize) -> Result<Cow<'_, str>, TableError> {
        let not_text = |column, name| TableProblem::NotText { column, name };
        self.text_or_none(chosen).ok_or_else(|| self.wrong(chosen, not_text))
    }

    /// As [`text`](Self::text), but not empty.
    ///
    /// # Errors
    /// Those of `text`, and [`TableProblem::NoName`].
    pub fn name(&self, chosen: usize) -> Result<Cow<'_, str>, TableError> {
        let text = self.text(chosen)?;
        if text.is_empty() {
            return Err(self.wrong(chosen, |column, name| TableProblem::NoName { column, name }));
        }
        Ok(text)
    }

    /// A whole number.
    ///
    /// # Errors
    /// [`TableProblem::NotWhole`].
    pub fn whole(&self, chosen: usize) -> Result<i64, TableError> {
        if let Cell::Whole(number) = self.source.cell(chosen) {
            return Ok(number);
        }
        let text = self.text(chosen)?;
        text.parse().map_err(|_| {
            let cell = text.clone().into_owned();
            self.wrong(chosen, |column, name| TableProblem::NotWhole { column, name, cell })
        })
    }

    /// A whole number that is not below 0.
    ///
    /// # Errors
    /// [`TableProblem::NotWhole`], [`TableProblem::Negative`].
    pub fn natural(&self, chosen: usize) -> Result<i64, TableError> {
        let number = self.whole(chosen)?;
        if number < 0 {
            return Err(self.wrong(chosen, |column, name| TableProblem::Negative { column, name }));
        }
        Ok(number)
    }

    /// Whether cells may be shown.
    pub fn secrecy(&self) -> Secrecy {
        self.secrecy
    }

    /// What is wrong with a cell of the current row; `problem` gets the column's number from 1 and its name.
    pub fn wrong(
        &self,
        chosen: usize,
        problem: impl FnOnce(usize, String) -> TableProblem,
    ) -> TableError {
        let (place, name) = &self.chosen[chosen];
        self.refuse(problem(place + 1, name.clone()))
    }

    /// What is wrong with the current row.
    pub fn refuse(&self, problem: TableProblem) -> TableError {
        table(&self.path, self.line(), problem)
    }
}

/// Calls `visit` with the named whole numbers of every row of a public CSV file, in the order of the names. One row is in memory at a
/// time. Returns the number of rows.
///
/// # Errors
/// [`TableError`] at the first row that does not have them.
pub fn for_each_row(
    file: impl Read,
    path: &Path,
    columns: &[&str],
    mut visit: impl FnMut(&[i64]),
) -> Result<usize, TableError> {
    let mut rows = Rows::from_csv(file, path)?;
    rows.choose(columns)?;
    let (mut row, mut count) = (vec![0; columns.len()], 0);
    while rows.advance()? {
        for (chosen, cell) in row.iter_mut().enumerate() {
            *cell = rows.whole(chosen)?;
        }
        visit(&row);
        count += 1;
    }
    Ok(count)
}

/// What a file of this form may hold.
fn limits_of(form: &Form) -> Limits {
    Limits { most_bytes: form.most_bytes, most_record: MOST_RECORD }
}

fn csv<'a>(
    text: impl Read + 'a,
    path: &Path,
    form: &Form,
    secrecy: Secrecy,
) -> Result<Box<dyn Source + 'a>, TableError> {
    let long = match secrecy {
        Secrecy::Public => Long::Refused,
        Secrecy::Private => Long::Ragged,
    };
    let file = CsvFile::open(text, is_compressed(path), form.delimiter, limits_of(form), long);
    Ok(Box::new(file.map_err(|(line, problem)| table(path, line, problem))?))
}

#[cfg(feature = "parquet")]
fn open_parquet(file: File, form: &Form) -> Result<Box<dyn Source>, TableProblem> {
    Ok(Box::new(parquet_file::ParquetFile::open(file, limits_of(form))?))
}

#[cfg(not(feature = "parquet"))]
fn open_parquet(_: File, _: &Form) -> Result<Box<dyn Source>, TableProblem> {
    Err(TableProblem::NeedsParquet)
}

pub(crate) fn is_binary(path: &Path) -> bool {
    has_ending(path, "parquet")
}

fn is_compressed(path: &Path) -> bool {
    has_ending(path, "gz")
}

fn has_ending(path: &Path, ending: &str) -> bool {
    path.extension().is_some_and(|found| found.eq_ignore_ascii_case(ending))
}

fn table(path: &Path, line: u64, problem: TableProblem) -> TableError {
    TableError { path: path.to_path_buf(), line, problem }
}
