//! Whose rows have been seen.

use std::collections::BTreeSet;

/// The rule that of each person the first row counts, and what it met. Without a column of persons every row counts.
///
/// Names that somebody has chosen cannot make it slow.
#[derive(Debug)]
pub(crate) struct Persons {
    /// `None` if there is no column of them.
    seen: Option<BTreeSet<Box<str>>>,
    /// Rows without a person. Private, as all that follows.
    pub(crate) nobodys: u64,
    /// Rows of persons who had one before.
    pub(crate) again: u64,
}

/// Whose a row is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Whose {
    /// Of a person who had none before, or it does not matter.
    First,
    /// Of a person who had one before.
    Again,
    /// Of nobody, where it does matter.
    Nobodys,
}

impl Persons {
    pub(crate) fn new(named: bool) -> Self {
        Self { seen: named.then(BTreeSet::new), nobodys: 0, again: 0 }
    }

    /// Whose the next row is; `name` is asked for if there is a column of persons.
    pub(crate) fn whose<N: AsRef<str>>(&mut self, name: impl FnOnce() -> Option<N>) -> Whose {
        let Some(seen) = &mut self.seen else { return Whose::First };
        let Some(name) = name() else {
            self.nobodys += 1;
            return Whose::Nobodys;
        };
        let name = name.as_ref();
        if !seen.contains(name) && seen.insert(name.into()) {
            return Whose::First;
        }
        self.again += 1;
        Whose::Again
    }
}

#[cfg(test)]
mod tests {
    use super::{Persons, Whose};

    #[test]
    fn of_each_person_the_first_row_counts_and_of_nobody_none() {
        let mut persons = Persons::new(true);
        let rows = [Some("a"), None, Some("b"), Some("a"), Some("a")];
        let whose = rows.map(|name| persons.whose(|| name));
        let (first, again) = (Whose::First, Whose::Again);
        assert_eq!(whose, [first, Whose::Nobodys, first, again, again]);
        assert_eq!((persons.nobodys, persons.again), (1, 2));
        // Names that look alike are those of several persons.
        let mut alike = Persons::new(true);
        let whose =
            ["7", "007", "a", "A", "\u{e4}", "a\u{308}"].map(|name| alike.whose(|| Some(name)));
        assert_eq!(whose, [first; 6]);
        let mut rows_only = Persons::new(false);
        assert_eq!((rows_only.whose(|| None::<&str>), rows_only.nobodys), (first, 0));
    }
}
