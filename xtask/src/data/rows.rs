//! Whole numbers from CSV, row after row: for files that are larger than memory.

use crate::error::{Error, TableProblem};
use flate2::read::MultiGzDecoder;
use std::io::Read;
use std::path::Path;

/// Calls `visit` with the named columns of every row, in the order of the names. One row is in memory at a time.
///
/// `path` decides about compression and names the file in errors. Returns the number of rows.
pub(crate) fn for_each_row(
    file: impl Read,
    path: &Path,
    columns: &[&str],
    mut visit: impl FnMut(&[i64]),
) -> Result<usize, Error> {
    let at = |line: u64, problem| Error::Table { path: path.to_path_buf(), line, problem };
    let text: Box<dyn Read + '_> = if path.extension().is_some_and(|ending| ending == "gz") {
        Box::new(MultiGzDecoder::new(file))
    } else {
        Box::new(file)
    };
    let unreadable = |error: &csv::Error| TableProblem::Unreadable { reason: error.to_string() };
    let mut reader = csv::Reader::from_reader(text);
    let header = reader.headers().map_err(|error| at(0, unreadable(&error)))?.clone();
    let place = |name: &&str| {
        header.iter().position(|heading| heading.trim() == *name).ok_or_else(|| Error::Unknown {
            what: "column",
            got: (*name).to_owned(),
            known: header.iter().map(str::to_owned).collect(),
        })
    };
    let places: Vec<usize> = columns.iter().map(place).collect::<Result<_, _>>()?;
    let (mut record, mut row, mut rows) = (csv::StringRecord::new(), Vec::new(), 0);
    while reader.read_record(&mut record).map_err(|error| at(0, unreadable(&error)))? {
        row.clear();
        for (&place, &name) in places.iter().zip(columns) {
            let cell = record.get(place).unwrap_or_default().trim();
            row.push(cell.parse::<i64>().map_err(|_| {
                let line = record.position().map_or(0, csv::Position::line);
                let (name, cell) = (name.to_owned(), cell.to_owned());
                at(line, TableProblem::NotANumber { column: place + 1, name, cell })
            })?);
        }
        visit(&row);
        rows += 1;
    }
    Ok(rows)
}

#[cfg(test)]
mod tests {
    use super::for_each_row;
    use std::io::Read;
    use std::path::Path;

    fn rows(text: &str, columns: &[&str]) -> Result<Vec<Vec<i64>>, String> {
        let mut seen = Vec::new();
        for_each_row(text.as_bytes(), Path::new("a.csv"), columns, |row| seen.push(row.to_vec()))
            .map(|rows| assert_eq!(rows, seen.len()))
            .map_err(|error| error.to_string())?;
        Ok(seen)
    }

    #[test]
    fn columns_come_in_the_order_asked_for() {
        assert_eq!(rows("a,b,c\n1,2,3\n4,5,6\n", &["c", "a"]), Ok(vec![vec![3, 1], vec![6, 4]]));
        assert_eq!(rows("a\n", &["a"]), Ok(vec![]));
    }

    #[test]
    fn what_cannot_be_read_is_named_by_line_and_column() {
        let error = rows("a,b\n1,2\n3,x\n", &["b"]).unwrap_err();
        assert!(error.starts_with("a.csv, line 3") && error.contains("`x`"), "{error}");
        let error = rows("a,b\n", &["z"]).unwrap_err();
        assert_eq!(error, "there is no column `z`; these exist: a, b");
        assert!(rows("a,b\n1,2\n3\n", &["a"]).is_err(), "a ragged row");
    }

    /// Rows that are made up while they are read.
    struct Endless {
        left: usize,
    }

    impl Read for Endless {
        fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
            let row = b"123456789,1\n";
            let whole = (buffer.len() / row.len()).min(self.left);
            buffer.chunks_exact_mut(row.len()).take(whole).for_each(|to| to.copy_from_slice(row));
            self.left -= whole;
            Ok(whole * row.len())
        }
    }

    #[test]
    fn rows_are_visited_while_the_file_is_still_being_read() {
        let header: &[u8] = b"person,unit\n";
        let (mut sum, file) = (0, header.chain(Endless { left: 200_000 }));
        let rows = for_each_row(file, Path::new("b.csv"), &["unit"], |row| sum += row[0]).unwrap();
        assert_eq!((rows, sum), (200_000, 200_000));
    }
}
