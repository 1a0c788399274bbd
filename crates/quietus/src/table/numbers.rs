//! Tables of numbers from CSV, plain or compressed; whatever is wrong is named by line and column.

use super::{TableError, TableProblem};
use flate2::read::MultiGzDecoder;
use std::io::Read;
use std::path::Path;

/// Numbers under named columns, row-major.
#[derive(Clone, Debug, PartialEq)]
pub struct Table {
    /// Their names.
    pub columns: Vec<String>,
    /// Row after row.
    pub values: Vec<f64>,
}

impl Table {
    /// How many.
    pub fn rows(&self) -> usize {
        self.values.len() / self.columns.len()
    }

    /// Takes a column of class numbers out of the table, if there is one with this name.
    ///
    /// # Errors
    /// [`TableProblem::NotALabel`].
    pub fn take_labels(&mut self, name: &str, path: &Path) -> Result<Option<Vec<u32>>, TableError> {
        let Some(at) = self.columns.iter().position(|column| column == name) else {
            return Ok(None);
        };
        let width = self.columns.len();
        let mut labels = Vec::with_capacity(self.rows());
        for (row, line) in self.values.chunks_exact(width).zip(2u64..) {
            labels.push(class_number(row[at]).ok_or_else(|| TableError {
                path: path.to_path_buf(),
                line,
                problem: TableProblem::NotALabel {
                    column: at + 1,
                    name: name.to_owned(),
                    cell: row[at].to_string(),
                },
            })?);
        }
        let mut column = 0..self.values.len();
        self.values.retain(|_| column.next().is_some_and(|i| i % width != at));
        self.columns.remove(at);
        Ok(Some(labels))
    }
}

#[allow(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "guarded by the test that the value survives the round trip"
)]
fn class_number(value: f64) -> Option<u32> {
    let number = value as u32;
    (f64::from(number).to_bits() == value.to_bits()).then_some(number)
}

/// Reads a table from the bytes of a file; `path` decides about compression and names it in errors.
///
/// # Errors
/// [`TableError`] at the first cell that is not a finite number.
pub fn parse(bytes: &[u8], path: &Path) -> Result<Table, TableError> {
    let at = |line: u64| {
        let path = path.to_path_buf();
        move |problem: TableProblem| TableError { path, line, problem }
    };
    let text: Box<dyn Read + '_> = if path.extension().is_some_and(|ending| ending == "gz") {
        Box::new(MultiGzDecoder::new(bytes))
    } else {
        Box::new(bytes)
    };
    // Every record ends in a newline and nothing else ends one: so the reader's line, minus one, is
    // the record's own even after blank lines, which are skipped.
    let mut reader = csv::ReaderBuilder::new()
        .flexible(true)
        .has_headers(false)
        .terminator(csv::Terminator::Any(b'\n'))
        .from_reader(text.chain(&b"\n"[..]));
    let mut record = csv::ByteRecord::new();
    let mut read = |record: &mut csv::ByteRecord| match reader.read_byte_record(record) {
        Ok(true) => Ok(Some(reader.position().line().saturating_sub(1))),
        Ok(false) => Ok(None),
        Err(error) => Err(at(0)(TableProblem::Unreadable { reason: error.to_string() })),
    };

    if read(&mut record)?.is_none() {
        return Err(at(0)(TableProblem::Empty));
    }
    let columns: Vec<String> = record.iter().map(text_of).collect();
    if columns.iter().all(|column| column.parse::<f64>().is_ok()) {
        return Err(at(1)(TableProblem::NoHeader));
    }
    let mut values = Vec::new();
    while let Some(line) = read(&mut record)? {
        if record.len() != columns.len() {
            let problem = TableProblem::Ragged { got: record.len(), want: columns.len() };
            return Err(at(line)(problem));
        }
        for (index, cell) in record.iter().enumerate() {
            values.push(number(cell, index, &columns[index]).map_err(at(line))?);
        }
    }
    if values.is_empty() {
        return Err(at(0)(TableProblem::NoRows));
    }
    Ok(Table { columns, values })
}

fn number(cell: &[u8], index: usize, name: &str) -> Result<f64, TableProblem> {
    let (column, name, text) = (index + 1, name.to_owned(), text_of(cell));
    match text.parse::<f64>() {
        Ok(value) if value.is_finite() => Ok(value),
        Ok(_) => Err(TableProblem::NotFinite { column, name, cell: text }),
        Err(_) => Err(TableProblem::NotANumber { column, name, cell: text }),
    }
}

fn text_of(cell: &[u8]) -> String {
    String::from_utf8_lossy(cell).trim().to_owned()
}

#[cfg(test)]
mod tests {
    use super::{Table, parse};
    use std::io::Write;
    use std::path::Path;

    fn refused(text: &str) -> String {
        parse(text.as_bytes(), Path::new("set/a.csv")).unwrap_err().to_string()
    }

    fn compressed(text: &str) -> Vec<u8> {
        let mut writer = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
        writer.write_all(text.as_bytes()).unwrap();
        writer.finish().unwrap()
    }

    #[test]
    fn plain_and_compressed_give_the_same_table() {
        let text = "x,y,label\r\n.5,-1,0\r\n2e3, 3 ,1";
        let want = Table {
            columns: vec!["x".into(), "y".into(), "label".into()],
            values: vec![0.5, -1.0, 0.0, 2000.0, 3.0, 1.0],
        };
        assert_eq!(parse(text.as_bytes(), Path::new("a.csv")).unwrap(), want);
        assert_eq!(parse(&compressed(text), Path::new("a.csv.gz")).unwrap(), want);
    }

    #[test]
    fn labels_leave_the_table() {
        let mut table = parse(b"x,label,y\n1,7,2\n3,0,4\n", Path::new("a.csv")).unwrap();
        let labels = table.take_labels("label", Path::new("a.csv")).unwrap();
        assert_eq!(labels, Some(vec![7, 0]));
        assert_eq!((table.columns.len(), table.values), (2, vec![1.0, 2.0, 3.0, 4.0]));
    }

    #[test]
    fn what_is_wrong_is_named_by_file_line_and_column() {
        insta::assert_snapshot!(refused("x,y\n1,2\n3\n"), @"set/a.csv, line 3: column 2 is missing: 1 cells, the header has 2");
        insta::assert_snapshot!(refused("x,y\n1,2,3\n"), @"set/a.csv, line 2: column 3 is too many: 3 cells, the header has 2");
        insta::assert_snapshot!(refused("x,y\n1,2\n3,four\n"), @"set/a.csv, line 3: column 2 (y): `four` is not a number");
        insta::assert_snapshot!(refused("x,y\n1,\n"), @"set/a.csv, line 2: column 2 (y): `` is not a number");
        insta::assert_snapshot!(refused("x,y\nNaN,2\n"), @"set/a.csv, line 2: column 1 (x): `NaN` is not finite");
        insta::assert_snapshot!(refused("x,y\n1,2\n\n1,-inf\n"), @"set/a.csv, line 4: column 2 (y): `-inf` is not finite");
        insta::assert_snapshot!(refused("x,y\n1,1e999\n"), @"set/a.csv, line 2: column 2 (y): `1e999` is not finite");
        insta::assert_snapshot!(refused(""), @"set/a.csv: the file is empty");
        insta::assert_snapshot!(refused("x,y\n"), @"set/a.csv: there is a header and no data");
        insta::assert_snapshot!(refused("1,2\n3,4\n"), @"set/a.csv, line 1: the first line must name the columns, it holds numbers");
    }

    #[test]
    fn a_label_that_is_not_a_class_is_named() {
        for (cell, shown) in [("1.5", "1.5"), ("-1", "-1"), ("-0", "-0"), ("5e9", "5000000000")] {
            let path = Path::new("a.csv");
            let mut table = parse(format!("x,label\n1,{cell}\n").as_bytes(), path).unwrap();
            let error = table.take_labels("label", path).unwrap_err();
            let want = format!("a.csv, line 2: column 2 (label): `{shown}` is not a class number");
            assert_eq!(error.to_string(), want);
        }
    }

    #[test]
    fn a_compressed_file_cut_short_is_refused() {
        let whole = compressed(&format!("x,y\n{}", "1,2\n".repeat(1000)));
        let error = parse(&whole[..whole.len() / 2], Path::new("a.csv.gz")).unwrap_err();
        assert!(error.to_string().starts_with("a.csv.gz: "), "{error}");
    }
}
