//! Quotes of a CSV file, watched while it is read: one that goes astray would swallow the records after it.

use super::TableProblem;
use super::limits::{Limits, Used};
use std::io::{self, Read};

/// Where the byte that comes next is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Place {
    /// At the beginning of a cell.
    Start,
    /// In a cell that does not begin with a quote: quotes mean themselves.
    Plain,
    /// Behind a quote that began a cell.
    Quoted,
    /// Behind a quote in a quoted cell: its end, or the first of two.
    Closed,
    /// Behind white space behind a quoted cell.
    Done,
}

/// Text that is handed on as it is, and refused where a quoted cell has no proper end or a record is too long.
pub(super) struct Quotes<R> {
    text: R,
    delimiter: u8,
    place: Place,
    /// Bytes so far, up to the three of a byte order mark.
    offset: usize,
    line: u64,
    /// Line of the last quote that began a cell.
    opened: u64,
    /// Line on which the current record began.
    began: u64,
    used: Used,
    wrong: Option<(u64, TableProblem)>,
}

impl<R: Read> Quotes<R> {
    pub(super) fn new(text: R, delimiter: u8, limits: Limits) -> Self {
        let (place, used) = (Place::Start, Used::new(limits));
        Self { text, delimiter, place, offset: 0, line: 1, opened: 0, began: 1, used, wrong: None }
    }

    /// What reading was refused for.
    pub(super) fn wrong(&self) -> Option<(u64, TableProblem)> {
        self.wrong.clone()
    }

    fn watch(&mut self, bytes: &[u8]) -> Result<(), (u64, TableProblem)> {
        let outside = self.offset == 3 && matches!(self.place, Place::Start | Place::Plain);
        if let (true, Some(&last)) = (outside && !bytes.contains(&b'"'), bytes.last()) {
            // Without quotes, which is usual and fast, only lines and the end matter.
            for part in bytes.split_inclusive(|byte| *byte == b'\n') {
                self.used.within_record(part.len()).map_err(|problem| (self.began, problem))?;
                if part.ends_with(b"\n") {
                    self.end_record();
                }
            }
            let start = last == b'\n' || last == self.delimiter;
            self.place = if start { Place::Start } else { Place::Plain };
            return Ok(());
        }
        for &byte in bytes {
            self.used.within_record(1).map_err(|problem| (self.began, problem))?;
            self.place = match (self.place, byte) {
                (Place::Start, 0xef | 0xbb | 0xbf) if self.offset < 3 => Place::Start,
                (Place::Start, b'"') => {
                    self.opened = self.line;
                    Place::Quoted
                }
                (Place::Quoted, b'"') => Place::Closed,
                (Place::Closed, b'"') | (Place::Quoted, _) => Place::Quoted,
                (_, byte) if byte == b'\n' || byte == self.delimiter => Place::Start,
                // The end of a line may have a carriage return.
                (Place::Closed | Place::Done, b' ' | b'\t' | b'\r') => Place::Done,
                (Place::Closed | Place::Done, _) => {
                    return Err((self.opened, TableProblem::AfterQuote));
                }
                (Place::Start | Place::Plain, _) => Place::Plain,
            };
            self.offset = (self.offset + 1).min(3);
            match (byte, self.place) {
                (b'\n', Place::Quoted) => self.line += 1,
                (b'\n', _) => self.end_record(),
                _ => {}
            }
        }
        Ok(())
    }

    fn end_record(&mut self) {
        self.line += 1;
        self.began = self.line;
        self.used.next_record();
    }
}

impl<R: Read> Read for Quotes<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let bytes = self.text.read(buffer)?;
        let open = bytes == 0 && !buffer.is_empty() && self.place == Place::Quoted;
        let watched = if open {
            Err((self.opened, TableProblem::OpenQuote))
        } else {
            let limited = self.used.read(bytes).map_err(|problem| (self.line, problem));
            limited.and_then(|()| self.watch(&buffer[..bytes]))
        };
        watched.map(|()| bytes).map_err(|(line, problem)| {
            let reason = problem.to_string();
            self.wrong = Some((line, problem));
            io::Error::other(reason)
        })
    }
}
