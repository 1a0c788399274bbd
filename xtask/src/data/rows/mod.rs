//! Named columns of a table in a file, row after row: for files that are larger than memory.
//!
//! The ending of the name decides about the format: `.parquet`, `.gz` (CSV in gzip), and CSV for everything else.

mod csv_file;
#[cfg(feature = "parquet")]
mod parquet_file;
mod quotes;
#[cfg(test)]
pub(crate) mod tests;

use crate::error::{Error, TableProblem};
use crate::progress::Progress;
use csv_file::CsvFile;
use std::borrow::Cow;
use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};

/// Whether an error may show what a cell holds. Where it is, an error always says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Secrecy {
    Public,
    Private,
}

/// What is in one row and column. Nothing at all is empty text.
#[derive(Clone, Copy, Debug)]
enum Cell<'a> {
    Text(&'a [u8]),
    #[cfg_attr(not(feature = "parquet"), expect(dead_code, reason = "CSV has text only"))]
    Whole(i64),
}

/// A format: a header, then one row at a time.
trait Source {
    /// The names of all columns.
    fn header(&self) -> &[String];

    /// Chooses the columns to read, by position in the header; the others are not decoded.
    fn choose(&mut self, places: &[usize]) -> Result<(), TableProblem>;

    /// Goes to the next row; false after the last one. An error comes with its line, or 0.
    fn advance(&mut self) -> Result<bool, (u64, TableProblem)>;

    /// Where the current row is: its line, or in a binary format its number from 1.
    fn line(&self) -> u64;

    /// A cell of the current row, by position among the chosen columns.
    fn cell(&self, chosen: usize) -> Cell<'_>;
}

/// A file that is being read, at its current row.
pub(crate) struct Rows<'a> {
    source: Box<dyn Source + 'a>,
    path: PathBuf,
    secrecy: Secrecy,
    /// Position in the header and name.
    chosen: Vec<(usize, String)>,
}

impl Rows<'static> {
    /// Opens a file and reads its header.
    pub(crate) fn open(path: &Path, secrecy: Secrecy) -> Result<Self, Error> {
        let file = File::open(path).map_err(Error::io("read", path))?;
        let bytes = file.metadata().map_err(Error::io("read", path))?.len();
        // Bytes and not rows: how many rows a private file has is private.
        let meter = Meter::new(bytes, format!("reading {}", path.display()));
        let source: Box<dyn Source> = if is_binary(path) {
            open_parquet(file, meter).map_err(|problem| table(path, 0, problem))?
        } else {
            let text = Metered { file, meter };
            Box::new(CsvFile::open(text, is_compressed(path)).map_err(|(l, p)| table(path, l, p))?)
        };
        Ok(Self { source, path: path.to_path_buf(), secrecy, chosen: Vec::new() })
    }
}

impl<'a> Rows<'a> {
    /// As [`open`](Rows::open), of CSV that is somewhere else; `path` decides about compression and names it in errors.
    pub(crate) fn from_csv(text: impl Read + 'a, path: &Path) -> Result<Self, Error> {
        let source =
            CsvFile::open(text, is_compressed(path)).map_err(|(l, p)| table(path, l, p))?;
        let (source, path) = (Box::new(source), path.to_path_buf());
        Ok(Self { source, path, secrecy: Secrecy::Public, chosen: Vec::new() })
    }

    fn has(&self, name: &str) -> bool {
        self.source.header().iter().any(|heading| heading == name)
    }

    /// Whether there is a column of this name; an error if there is only one whose name is nearly the same. Without it, what that
    /// column says would be left out without a word.
    pub(crate) fn has_exactly(&self, name: &'static str) -> Result<bool, Error> {
        let letters = |text: &str| -> String {
            text.chars().filter(|c| c.is_alphabetic()).flat_map(char::to_lowercase).collect()
        };
        let header = self.source.header();
        if self.has(name) {
            return Ok(true);
        }
        match header.iter().position(|heading| letters(heading) == name) {
            None => Ok(false),
            Some(place) => {
                let (column, found) = (place + 1, header[place].clone());
                let problem = TableProblem::NearName { column, name: found, want: name };
                Err(table(&self.path, u64::from(!is_binary(&self.path)), problem))
            }
        }
    }

    /// Chooses the columns to read. From now on they go by their position in `names`.
    pub(crate) fn choose(&mut self, names: &[&str]) -> Result<(), Error> {
        let (header, binary) = (self.source.header(), is_binary(&self.path));
        let mut chosen = Vec::new();
        for &name in names {
            let mut places = (0..header.len()).filter(|&place| header[place] == name);
            let problem = match (places.next(), places.next()) {
                (Some(place), None) => {
                    chosen.push((place, name.to_owned()));
                    continue;
                }
                (Some(_), Some(_)) => TableProblem::TwoColumns { name: name.to_owned() },
                (None, _) => {
                    // In text without a header, the first line of a private file is a record.
                    let shown = binary || self.secrecy == Secrecy::Public;
                    let header = shown.then(|| header.to_vec());
                    TableProblem::NoColumn { name: name.to_owned(), header }
                }
            };
            return Err(table(&self.path, u64::from(!binary), problem));
        }
        let places: Vec<usize> = chosen.iter().map(|(place, _)| *place).collect();
        self.source.choose(&places).map_err(|problem| table(&self.path, 0, problem))?;
        self.chosen = chosen;
        Ok(())
    }

    /// Goes to the next row; false after the last one.
    pub(crate) fn advance(&mut self) -> Result<bool, Error> {
        self.source.advance().map_err(|(line, problem)| table(&self.path, line, problem))
    }

    /// The line of the current row, or its number in a binary format.
    pub(crate) fn line(&self) -> u64 {
        self.source.line()
    }

    /// Text without white space around it. A whole number is its digits; nothing at all is empty.
    pub(crate) fn text(&self, chosen: usize) -> Result<Cow<'_, str>, Error> {
        match self.source.cell(chosen) {
            Cell::Whole(number) => Ok(Cow::Owned(number.to_string())),
            Cell::Text(bytes) => match std::str::from_utf8(bytes) {
                Ok(text) => Ok(Cow::Borrowed(text.trim())),
                Err(_) => {
                    Err(self.wrong(chosen, |column, name| TableProblem::NotText { column, name }))
                }
            },
        }
    }

    /// As [`text`](Self::text), but not empty.
    pub(crate) fn name(&self, chosen: usize) -> Result<Cow<'_, str>, Error> {
        let text = self.text(chosen)?;
        if text.is_empty() {
            return Err(self.wrong(chosen, |column, name| TableProblem::NoName { column, name }));
        }
        Ok(text)
    }

    /// A whole number.
    pub(crate) fn whole(&self, chosen: usize) -> Result<i64, Error> {
        if let Cell::Whole(number) = self.source.cell(chosen) {
            return Ok(number);
        }
        let text = self.text(chosen)?;
        text.parse().map_err(|_| {
            let cell = (self.secrecy == Secrecy::Public).then(|| text.clone().into_owned());
            self.wrong(chosen, |column, name| TableProblem::NotWhole { column, name, cell })
        })
    }

    /// A whole number that is not below 0.
    pub(crate) fn natural(&self, chosen: usize) -> Result<i64, Error> {
        let number = self.whole(chosen)?;
        if number < 0 {
            return Err(self.wrong(chosen, |column, name| TableProblem::Negative { column, name }));
        }
        Ok(number)
    }

    /// Whether cells may be shown.
    pub(crate) fn secrecy(&self) -> Secrecy {
        self.secrecy
    }

    /// What is wrong with a cell of the current row; `problem` gets the column's number from 1 and its name.
    pub(crate) fn wrong(
        &self,
        chosen: usize,
        problem: impl FnOnce(usize, String) -> TableProblem,
    ) -> Error {
        let (place, name) = &self.chosen[chosen];
        self.refuse(problem(place + 1, name.clone()))
    }

    /// What is wrong with the current row.
    pub(crate) fn refuse(&self, problem: TableProblem) -> Error {
        table(&self.path, self.line(), problem)
    }
}

/// Calls `visit` with the named whole numbers of every row of a public CSV file, in the order of the names. One row is in memory at a
/// time. Returns the number of rows.
pub(crate) fn for_each_row(
    file: impl Read,
    path: &Path,
    columns: &[&str],
    mut visit: impl FnMut(&[i64]),
) -> Result<usize, Error> {
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

#[cfg(feature = "parquet")]
fn open_parquet(file: File, meter: Meter) -> Result<Box<dyn Source>, TableProblem> {
    Ok(Box::new(parquet_file::ParquetFile::open(file, meter)?))
}

#[cfg(not(feature = "parquet"))]
fn open_parquet(_: File, _: Meter) -> Result<Box<dyn Source>, TableProblem> {
    Err(TableProblem::NeedsParquet)
}

fn is_binary(path: &Path) -> bool {
    has_ending(path, "parquet")
}

fn is_compressed(path: &Path) -> bool {
    has_ending(path, "gz")
}

fn has_ending(path: &Path, ending: &str) -> bool {
    path.extension().is_some_and(|found| found.eq_ignore_ascii_case(ending))
}

fn table(path: &Path, line: u64, problem: TableProblem) -> Error {
    Error::Table { path: path.to_path_buf(), line, problem }
}

/// How much of a file has been read.
struct Meter {
    progress: Progress,
    what: String,
}

impl Meter {
    fn new(bytes: u64, what: String) -> Self {
        let progress = Progress::new(bytes);
        progress.doing(&what);
        Self { progress, what }
    }

    fn advance(&mut self, bytes: u64) {
        self.progress.advance(bytes, &self.what);
    }
}

/// A file that moves its meter.
struct Metered {
    file: File,
    meter: Meter,
}

impl Read for Metered {
    fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
        let bytes = self.file.read(buffer)?;
        self.meter.advance(bytes as u64);
        Ok(bytes)
    }
}
