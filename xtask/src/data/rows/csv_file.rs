//! Comma-separated values, plain or in gzip.

use super::{Cell, Source};
use crate::error::TableProblem;
use csv::ByteRecord;
use flate2::read::MultiGzDecoder;
use std::io::Read;

/// What is wrong, after the line where that is known.
type Wrong = (u64, TableProblem);

/// One record in memory at a time.
pub(super) struct CsvFile<'a> {
    reader: csv::Reader<Box<dyn Read + 'a>>,
    header: Vec<String>,
    chosen: Vec<usize>,
    record: ByteRecord,
    line: u64,
}

impl<'a> CsvFile<'a> {
    pub(super) fn open(file: impl Read + 'a, compressed: bool) -> Result<Self, Wrong> {
        let text: Box<dyn Read + 'a> =
            if compressed { Box::new(MultiGzDecoder::new(file)) } else { Box::new(file) };
        // Every record ends in a newline: so the reader's line, minus one, is where the record ends even after blank lines.
        let reader = csv::ReaderBuilder::new()
            .flexible(true)
            .has_headers(false)
            .terminator(csv::Terminator::Any(b'\n'))
            .buffer_capacity(1 << 16)
            .from_reader(Box::new(text.chain(&b"\n"[..])) as Box<dyn Read + 'a>);
        let (header, chosen, record) = (Vec::new(), Vec::new(), ByteRecord::new());
        let mut file = Self { reader, header, chosen, record, line: 0 };
        if !file.read()? {
            return Err((0, TableProblem::Empty));
        }
        let trimmed = |name: &[u8]| String::from_utf8_lossy(name).trim().to_owned();
        file.header = file.record.iter().map(trimmed).collect();
        Ok(file)
    }

    fn read(&mut self) -> Result<bool, Wrong> {
        let unreadable =
            |error: csv::Error| (0, TableProblem::Unreadable { reason: error.to_string() });
        let found = self.reader.read_byte_record(&mut self.record).map_err(unreadable)?;
        self.line = self.reader.position().line().saturating_sub(1);
        Ok(found)
    }
}

impl Source for CsvFile<'_> {
    fn header(&self) -> &[String] {
        &self.header
    }

    fn choose(&mut self, places: &[usize]) -> Result<(), TableProblem> {
        self.chosen = places.to_vec();
        Ok(())
    }

    fn advance(&mut self) -> Result<bool, Wrong> {
        if !self.read()? {
            return Ok(false);
        }
        let (got, want) = (self.record.len(), self.header.len());
        if got == want { Ok(true) } else { Err((self.line, TableProblem::Ragged { got, want })) }
    }

    fn line(&self) -> u64 {
        self.line
    }

    fn cell(&self, chosen: usize) -> Cell<'_> {
        Cell::Text(self.record.get(self.chosen[chosen]).unwrap_or_default())
    }
}
