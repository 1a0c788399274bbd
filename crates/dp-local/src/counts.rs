//! What a server keeps of the messages of a round: how many clients of each class sent each symbol.

use std::fmt;

use crate::LocalError;

/// `GROUP BY class, symbol`: all that decoding needs. Classes are public, and follow from a client's number.
///
/// The order in which messages came leaves no trace, and the counts of two servers add up to those of one.
#[derive(Clone, PartialEq, Eq)]
pub struct SymbolCounts {
    classes: u32,
    symbols: u32,
    /// Row-major, one row per class.
    counts: Vec<u32>,
}

impl fmt::Debug for SymbolCounts {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut shown = f.debug_struct("SymbolCounts");
        shown.field("classes", &self.classes).field("symbols", &self.symbols);
        shown.field("total", &self.total()).finish_non_exhaustive()
    }
}

impl SymbolCounts {
    /// No message yet.
    pub(crate) fn new(classes: u32, symbols: u32) -> Self {
        Self { classes, symbols, counts: vec![0; classes as usize * symbols as usize] }
    }

    /// Counts one message.
    ///
    /// # Errors
    /// [`LocalError::Class`] and [`LocalError::Symbol`] if there are no such ones; nothing is counted then.
    pub fn add(&mut self, class: u32, symbol: u32) -> Result<(), LocalError> {
        if class >= self.classes {
            return Err(LocalError::Class { got: class, classes: self.classes });
        }
        if symbol >= self.symbols {
            return Err(LocalError::Symbol { got: symbol, symbols: self.symbols });
        }
        let place = class as usize * self.symbols as usize + symbol as usize;
        self.counts[place] = self.counts[place].saturating_add(1);
        Ok(())
    }

    /// Adds the messages that another server got.
    ///
    /// # Errors
    /// [`LocalError::Counts`] if it counted for another question; nothing is added then.
    pub fn merge(&mut self, other: &Self) -> Result<(), LocalError> {
        self.expect(other.classes, other.symbols)
            .map_err(|_| LocalError::Counts { expected: self.shape(), got: other.shape() })?;
        for (count, more) in self.counts.iter_mut().zip(&other.counts) {
            *count = count.saturating_add(*more);
        }
        Ok(())
    }

    /// Refuses counts of another question.
    pub(crate) fn expect(&self, classes: u32, symbols: u32) -> Result<(), LocalError> {
        let whole = self.counts.len() == self.classes as usize * self.symbols as usize;
        if whole && self.shape() == (classes, symbols) {
            Ok(())
        } else {
            Err(LocalError::Counts { expected: (classes, symbols), got: self.shape() })
        }
    }

    fn shape(&self) -> (u32, u32) {
        (self.classes, self.symbols)
    }

    /// How many messages were counted.
    pub fn total(&self) -> u64 {
        self.counts.iter().map(|&count| u64::from(count)).sum()
    }

    /// The counts of the symbols of one class after the other.
    pub fn rows(&self) -> impl ExactSizeIterator<Item = &[u32]> {
        self.counts.chunks_exact(self.symbols as usize)
    }

    /// Puts the count of a place of the table that was stored; `None` if there is no such place.
    pub(crate) fn set(&mut self, place: u32, count: u32) -> Option<()> {
        *self.counts.get_mut(place as usize)? = count;
        Some(())
    }

    /// The counts of each of so many equal parts of the classes.
    pub(crate) fn parts(&self, parts: u32) -> Vec<Self> {
        let classes = self.classes / parts;
        let part =
            |counts: &[u32]| Self { classes, symbols: self.symbols, counts: counts.to_vec() };
        self.counts.chunks_exact(classes as usize * self.symbols as usize).map(part).collect()
    }

    /// The same, to be shared among threads.
    pub(crate) fn flat(&self) -> &[u32] {
        &self.counts
    }
}
