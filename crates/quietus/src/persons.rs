//! Whose rows have been seen.

use std::collections::BTreeSet;

/// Persons by name. Names that somebody has chosen cannot make it slow.
#[derive(Debug, Default)]
pub(crate) struct Persons(BTreeSet<Box<str>>);

impl Persons {
    /// Whether this is the first row of a person.
    pub(crate) fn is_new(&mut self, name: &str) -> bool {
        !self.0.contains(name) && self.0.insert(name.into())
    }
}
