//! Text that ends with an error where it becomes too much for the memory or the patience of a reader.

use super::TableProblem;

/// Most bytes of one record.
pub const MOST_RECORD: u64 = 1 << 20;

/// What a file may hold.
#[derive(Clone, Copy, Debug)]
pub(super) struct Limits {
    pub(super) most_bytes: u64,
    pub(super) most_record: u64,
}

/// How much of both has been used.
#[derive(Clone, Copy, Debug)]
pub(super) struct Used {
    limits: Limits,
    bytes: u64,
    /// Of the record that is being read.
    record: u64,
}

impl Used {
    pub(super) fn new(limits: Limits) -> Self {
        Self { limits, bytes: 0, record: 0 }
    }

    /// The most bytes of one record.
    pub(super) fn most_record(&self) -> usize {
        usize::try_from(self.limits.most_record).unwrap_or(usize::MAX)
    }

    /// So many more bytes of the file.
    pub(super) fn read(&mut self, bytes: usize) -> Result<(), TableProblem> {
        self.bytes = self.bytes.saturating_add(bytes as u64);
        if self.bytes > self.limits.most_bytes {
            return Err(TableProblem::TooManyBytes { most: self.limits.most_bytes });
        }
        Ok(())
    }

    /// So many more bytes of one record.
    pub(super) fn within_record(&mut self, bytes: usize) -> Result<(), TableProblem> {
        self.record = self.record.saturating_add(bytes as u64);
        if self.record > self.limits.most_record {
            return Err(TableProblem::LongRecord { most: self.limits.most_record });
        }
        Ok(())
    }

    /// A record begins.
    pub(super) fn next_record(&mut self) {
        self.record = 0;
    }
}
