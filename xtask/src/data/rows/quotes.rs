//! Quotes of a CSV file, watched while it is read: one that goes astray would swallow the records after it.

use crate::error::TableProblem;
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

/// Text that is handed on as it is, and refused where a quoted cell has no proper end.
pub(super) struct Quotes<R> {
    text: R,
    place: Place,
    /// Bytes so far, up to the three of a byte order mark.
    offset: usize,
    line: u64,
    /// Line of the last quote that began a cell.
    opened: u64,
    wrong: Option<(u64, TableProblem)>,
}

impl<R: Read> Quotes<R> {
    pub(super) fn new(text: R) -> Self {
        Self { text, place: Place::Start, offset: 0, line: 1, opened: 0, wrong: None }
    }

    /// What reading was refused for.
    pub(super) fn wrong(&self) -> Option<(u64, TableProblem)> {
        self.wrong.clone()
    }

    fn watch(&mut self, bytes: &[u8]) -> Result<(), TableProblem> {
        let outside = self.offset == 3 && matches!(self.place, Place::Start | Place::Plain);
        if let (true, Some(last)) = (outside && !bytes.contains(&b'"'), bytes.last()) {
            // Without quotes, which is usual and fast, only the end matters.
            self.line += bytes.split(|byte| *byte == b'\n').count() as u64 - 1;
            self.place = if matches!(last, b',' | b'\n') { Place::Start } else { Place::Plain };
            return Ok(());
        }
        for &byte in bytes {
            self.place = match (self.place, byte) {
                (Place::Start, 0xef | 0xbb | 0xbf) if self.offset < 3 => Place::Start,
                (Place::Start, b'"') => {
                    self.opened = self.line;
                    Place::Quoted
                }
                (Place::Quoted, b'"') => Place::Closed,
                (Place::Closed, b'"') | (Place::Quoted, _) => Place::Quoted,
                (_, b',' | b'\n') => Place::Start,
                // The end of a line may have a carriage return.
                (Place::Closed | Place::Done, b' ' | b'\t' | b'\r') => Place::Done,
                (Place::Closed | Place::Done, _) => return Err(TableProblem::AfterQuote),
                (Place::Start | Place::Plain, _) => Place::Plain,
            };
            self.line += u64::from(byte == b'\n');
            self.offset = (self.offset + 1).min(3);
        }
        Ok(())
    }
}

impl<R: Read> Read for Quotes<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let bytes = self.text.read(buffer)?;
        let open = bytes == 0 && !buffer.is_empty() && self.place == Place::Quoted;
        let watched =
            if open { Err(TableProblem::OpenQuote) } else { self.watch(&buffer[..bytes]) };
        watched.map(|()| bytes).map_err(|problem| {
            let reason = problem.to_string();
            self.wrong = Some((self.opened, problem));
            io::Error::other(reason)
        })
    }
}
