//! Quotes of a CSV file, watched while it is read: one that goes astray would swallow the records after it.

use super::TableProblem;
use super::limits::{Limits, Used};
use std::collections::VecDeque;
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

/// What becomes of a record that is too long. One about the columns is always refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Long {
    /// The reading ends.
    Refused,
    /// It is cut, and has more cells than there are columns: whoever is too long is left out, and stops nobody.
    Ragged,
}

/// Text that is handed on as it is, but for records that are too long, and refused where a quoted cell has no proper end.
pub(super) struct Quotes<R> {
    text: R,
    delimiter: u8,
    long: Long,
    place: Place,
    /// Bytes so far, up to the three of a byte order mark.
    offset: usize,
    line: u64,
    /// Line of the last quote that began a cell.
    opened: u64,
    /// Line on which the current record began.
    began: u64,
    used: Used,
    /// Delimiters between the names of columns, and whether all of these have come.
    names: usize,
    named: bool,
    /// Whether the current record has something in it.
    filled: bool,
    /// Where the current record was cut, and how many lines are cut off.
    cut: Option<(Place, usize)>,
    /// What comes before anything else.
    next: VecDeque<u8>,
    wrong: Option<(u64, TableProblem)>,
}

impl<R: Read> Quotes<R> {
    pub(super) fn new(text: R, delimiter: u8, limits: Limits, long: Long) -> Self {
        Self {
            text,
            delimiter,
            long,
            place: Place::Start,
            offset: 0,
            line: 1,
            opened: 0,
            began: 1,
            used: Used::new(limits),
            names: 0,
            named: false,
            filled: false,
            cut: None,
            next: VecDeque::new(),
            wrong: None,
        }
    }

    /// What reading was refused for.
    pub(super) fn wrong(&self) -> Option<(u64, TableProblem)> {
        self.wrong.clone()
    }

    /// Of these bytes, how many are left at their beginning to be handed on; what is to come after them is in `next`.
    fn watch(&mut self, bytes: &mut [u8]) -> Result<usize, (u64, TableProblem)> {
        let outside = self.offset == 3 && matches!(self.place, Place::Start | Place::Plain);
        let plain = outside && self.named && self.cut.is_none() && !bytes.contains(&b'"');
        if let (true, Some(&last)) = (plain && self.all_fit(bytes), bytes.last()) {
            let start = last == b'\n' || last == self.delimiter;
            self.place = if start { Place::Start } else { Place::Plain };
            return Ok(bytes.len());
        }
        let mut kept = 0;
        for at in 0..bytes.len() {
            let byte = bytes[at];
            if let Err(problem) = self.used.within_record(1) {
                if self.long == Long::Refused || !self.named {
                    return Err((self.began, problem));
                }
                self.cut = self.cut.or(Some((self.place, 0)));
            }
            self.follow(byte)?;
            let ends = byte == b'\n' && self.place != Place::Quoted;
            match &mut self.cut {
                None if self.next.is_empty() => {
                    bytes[kept] = byte;
                    kept += 1;
                }
                None => self.next.push_back(byte),
                Some(_) if ends => self.end_what_was_cut(),
                Some((_, lines)) => *lines += usize::from(byte == b'\n'),
            }
            match (byte, ends) {
                (_, true) => self.end_record(),
                (b'\n', false) => self.line += 1,
                (byte, false) => {
                    self.names += usize::from(!self.named && byte == self.delimiter);
                    self.filled |= byte != b'\r';
                }
            }
        }
        Ok(kept)
    }

    /// Without quotes, which is usual and fast, only lines and the end matter. Nothing has changed if a record is too long.
    fn all_fit(&mut self, bytes: &[u8]) -> bool {
        let before = (self.used, self.line, self.began);
        for part in bytes.split_inclusive(|byte| *byte == b'\n') {
            if self.used.within_record(part.len()).is_err() {
                (self.used, self.line, self.began) = before;
                return false;
            }
            if part.ends_with(b"\n") {
                self.end_record();
            }
        }
        true
    }

    /// Goes on by a byte.
    fn follow(&mut self, byte: u8) -> Result<(), (u64, TableProblem)> {
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
        Ok(())
    }

    /// Closes the cell in which a record was cut, and gives it as many cells more as there are columns. Lines are still counted, as far as they
    /// are no more than a record may have.
    fn end_what_was_cut(&mut self) {
        let Some((place, lines)) = self.cut.take() else { return };
        if place == Place::Quoted {
            self.next.extend(std::iter::repeat_n(b'\n', lines.min(self.used.most_record())));
            self.next.push_back(b'"');
        }
        self.next.extend(std::iter::repeat_n(self.delimiter, self.names + 1));
        self.next.push_back(b'\n');
    }

    fn end_record(&mut self) {
        self.line += 1;
        self.began = self.line;
        self.used.next_record();
        self.named |= self.filled;
        self.filled = false;
    }
}

impl<R: Read> Read for Quotes<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        loop {
            if !self.next.is_empty() || buffer.is_empty() {
                return self.next.read(buffer);
            }
            let bytes = self.text.read(buffer)?;
            let watched = if bytes == 0 && self.place == Place::Quoted {
                Err((self.opened, TableProblem::OpenQuote))
            } else {
                let limited = self.used.read(bytes).map_err(|problem| (self.line, problem));
                limited.and_then(|()| self.watch(&mut buffer[..bytes]))
            };
            match watched {
                // All of them were cut off.
                Ok(0) if bytes > 0 => {}
                Ok(kept) => return Ok(kept),
                Err((line, problem)) => {
                    let reason = problem.to_string();
                    self.wrong = Some((line, problem));
                    return Err(io::Error::other(reason));
                }
            }
        }
    }
}
