//! What a state may be that came from bytes: a checksum stops damage, not somebody who makes one that fits.

use super::TableError;

/// Why no run of a plan leaves such a state. Values of states are released or public, so it may say them.
#[derive(Clone, Copy, Debug, PartialEq, thiserror::Error)]
#[error("no run of this plan leaves this state: {what} is {got}, the limit is {limit}")]
#[non_exhaustive]
pub struct StateError {
    /// What is wrong.
    pub what: &'static str,
    /// How much it is.
    pub got: f64,
    /// How much it has to be, or may be at most, or at least.
    pub limit: f64,
}

impl StateError {
    /// Whether a number is within these limits, ends included. One that is no number is not.
    ///
    /// # Errors
    /// Itself, with the limit that is passed.
    pub fn unless_within(
        what: &'static str,
        got: f64,
        [least, most]: [f64; 2],
    ) -> Result<(), TableError> {
        if got >= least && got <= most {
            return Ok(());
        }
        let limit = if got < least { least } else { most };
        Err(TableError::State(Self { what, got, limit }))
    }

    /// Whether there are as many as there have to be.
    ///
    /// # Errors
    /// Itself.
    pub fn unless_equal(what: &'static str, got: usize, want: usize) -> Result<(), TableError> {
        Self::unless_within(what, got as f64, [want as f64; 2])
    }

    /// Whether all of these numbers are within these limits.
    ///
    /// # Errors
    /// Itself, with the first that is not.
    pub fn unless_all_within(
        what: &'static str,
        got: impl IntoIterator<Item = f64>,
        limits: [f64; 2],
    ) -> Result<(), TableError> {
        got.into_iter().try_for_each(|got| Self::unless_within(what, got, limits))
    }
}
