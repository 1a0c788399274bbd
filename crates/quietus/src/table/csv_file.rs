//! Comma-separated values, or with another delimiter, plain or in gzip.

use super::limits::Limits;
use super::quotes::{Long, Quotes};
use super::{Cell, Source, TableProblem};
use csv::ByteRecord;
use flate2::read::MultiGzDecoder;
use std::io::Read;

/// What is wrong, after the line where that is known.
type Wrong = (u64, TableProblem);

/// One record in memory at a time.
pub(super) struct CsvFile<'a> {
    reader: csv::Reader<Quotes<Box<dyn Read + 'a>>>,
    header: Vec<String>,
    chosen: Vec<usize>,
    record: ByteRecord,
    line: u64,
}

impl<'a> CsvFile<'a> {
    pub(super) fn open(
        file: impl Read + 'a,
        compressed: bool,
        delimiter: u8,
        limits: Limits,
        long: Long,
    ) -> Result<Self, Wrong> {
        let text: Box<dyn Read + 'a> =
            if compressed { Box::new(MultiGzDecoder::new(file)) } else { Box::new(file) };
        // Every record ends in a newline: so the reader's line tells where the record is even after blank lines.
        let reader = csv::ReaderBuilder::new()
            .delimiter(delimiter)
            .flexible(true)
            .has_headers(false)
            .terminator(csv::Terminator::Any(b'\n'))
            .buffer_capacity(1 << 16)
            .from_reader(Quotes::new(
                Box::new(text.chain(&b"\n"[..])) as Box<dyn Read + 'a>,
                delimiter,
                limits,
                long,
            ));
        let (header, chosen, record) = (Vec::new(), Vec::new(), ByteRecord::new());
        let mut file = Self { reader, header, chosen, record, line: 0 };
        if !file.read()? {
            return Err((0, TableProblem::Empty));
        }
        let trimmed = |name: &[u8]| String::from_utf8_lossy(name).trim().to_owned();
        file.header = file.record.iter().map(trimmed).collect();
        let broken = |(cell, name): (&[u8], &String)| has_line_break(cell) || name.contains('\r');
        // Where lines end in a carriage return alone all of them are in the header, and nothing would be counted.
        if let Some(place) = file.record.iter().zip(&file.header).position(broken) {
            return Err((file.line, TableProblem::LineBreak { column: place + 1, name: None }));
        }
        Ok(file)
    }

    fn read(&mut self) -> Result<bool, Wrong> {
        loop {
            let found = self.reader.read_byte_record(&mut self.record).map_err(|error| {
                let reason = error.to_string();
                let quote = self.reader.get_ref().wrong();
                quote.unwrap_or((0, TableProblem::Unreadable { reason }))
            })?;
            let lines = self.record.as_slice().split(|byte| *byte == b'\n').count();
            self.line = self.reader.position().line().saturating_sub(lines as u64);
            // What is left of a blank line that ends in a carriage return; the reader skips other blank lines.
            if !(found && self.record.len() == 1 && &self.record[0] == b"\r") {
                return Ok(found);
            }
        }
    }
}

fn has_line_break(cell: &[u8]) -> bool {
    cell.contains(&b'\n')
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
        self.read()
    }

    fn shape(&self) -> Option<TableProblem> {
        let (got, want) = (self.record.len(), self.header.len());
        if got != want {
            return Some(TableProblem::Ragged { got, want });
        }
        // Two stray quotes make one cell of all between them.
        let place = *self.chosen.iter().find(|&&place| has_line_break(&self.record[place]))?;
        Some(TableProblem::LineBreak { column: place + 1, name: Some(self.header[place].clone()) })
    }

    fn line(&self) -> u64 {
        self.line
    }

    fn cell(&self, chosen: usize) -> Cell<'_> {
        Cell::Text(self.record.get(self.chosen[chosen]).unwrap_or_default())
    }
}
