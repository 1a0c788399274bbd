//! Facility location on a full table of similarities.

use std::fmt;

use super::facility_location::check_sizes;
use super::{Gains, Objective};
use crate::{CombinatorialError, Sizes};

/// [`FacilityLocation`](super::FacilityLocation) with a similarity for every user and element.
///
/// # Complexity
/// The start takes `O(users * elements)`, a pick `O(users)` and `O(elements)` for each user whom it
/// serves better; 4 bytes per user and element, half of them for reading columns.
#[derive(Clone)]
pub struct DenseFacilityLocation {
    elements: usize,
    most_credit: u16,
    /// Users by elements.
    rows: Vec<u16>,
    /// The same, elements by users.
    columns: Vec<u16>,
    users: usize,
    sizes: Sizes,
}

/// What is public of it: users and their similarities stay out of logs.
impl fmt::Debug for DenseFacilityLocation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("DenseFacilityLocation")
            .field("elements", &self.elements)
            .field("most_credit", &self.most_credit)
            .finish_non_exhaustive()
    }
}

impl DenseFacilityLocation {
    /// `similarities` holds a row of `elements` for each user, all of them whole: one entry too few would move the rows of all users after it. What is left over
    /// at the end is dropped. A similarity, and `default(user)`, must follow from that user alone.
    ///
    /// `default(user)` is the similarity to the default centre, 0 if there is none. What exceeds it
    /// counts, up to `most_credit`.
    ///
    /// # Errors
    /// [`CombinatorialError`] if there is no element or if `most_credit` is zero.
    pub fn new(
        elements: usize,
        mut similarities: Vec<u16>,
        default: impl Fn(usize) -> u16,
        most_credit: u16,
    ) -> Result<Self, CombinatorialError> {
        check_sizes(elements, most_credit.into(), u16::MAX.into())?;
        let users = similarities.len() / elements;
        similarities.truncate(users * elements);
        for (user, row) in similarities.chunks_exact_mut(elements).enumerate() {
            let default = default(user);
            for similarity in row {
                *similarity = similarity.saturating_sub(default).min(most_credit);
            }
        }
        let sizes = Sizes::default();
        let columns = transposed(&similarities, users, elements, sizes.square);
        Ok(Self { elements, most_credit, rows: similarities, columns, users, sizes })
    }

    /// The same table, computed with in other ways from other sizes on, for audits.
    #[doc(hidden)]
    #[must_use]
    pub fn with_sizes(self, sizes: Sizes) -> Self {
        let columns = transposed(&self.rows, self.users, self.elements, sizes.square);
        Self { columns, sizes, ..self }
    }

    fn row(&self, user: usize) -> &[u16] {
        &self.rows[user * self.elements..(user + 1) * self.elements]
    }
}

/// In square blocks, so that both sides stay in the cache.
fn transposed(rows: &[u16], users: usize, elements: usize, square: usize) -> Vec<u16> {
    let mut columns = vec![0; rows.len()];
    for first_user in (0..users).step_by(square) {
        for first in (0..elements).step_by(square) {
            for element in first..(first + square).min(elements) {
                for user in first_user..(first_user + square).min(users) {
                    columns[element * users + user] = rows[user * elements + element];
                }
            }
        }
    }
    columns
}

impl Objective for DenseFacilityLocation {
    fn elements(&self) -> usize {
        self.elements
    }

    fn most_credit(&self) -> u64 {
        self.most_credit.into()
    }

    fn records(&self) -> usize {
        self.users
    }

    fn start(&self, kept: &[bool]) -> Box<dyn Gains + '_> {
        assert_eq!(kept.len(), self.records(), "one entry per user");
        let mut sums = Sums::new(self.elements, self.sizes.rows);
        for (user, _) in kept.iter().enumerate().filter(|(_, kept)| **kept) {
            sums.add(self.row(user), |value| value);
        }
        // Nothing serves a user better who does not take part.
        let served = kept.iter().map(|&kept| if kept { 0 } else { u16::MAX }).collect();
        Box::new(Run { table: self, served, gains: sums.finish() })
    }
}

/// Sums of rows: in 32 bits while they fit, since that is twice as fast.
struct Sums {
    narrow: Vec<u32>,
    wide: Vec<i64>,
    rows: usize,
    /// So many at most are added up in 32 bits.
    most_rows: usize,
}

impl Sums {
    fn new(elements: usize, most_rows: usize) -> Self {
        Self { narrow: vec![0; elements], wide: vec![0; elements], rows: 0, most_rows }
    }

    #[inline]
    fn add(&mut self, row: &[u16], part: impl Fn(u16) -> u16) {
        for (sum, &value) in self.narrow.iter_mut().zip(row) {
            *sum += u32::from(part(value));
        }
        self.rows += 1;
        if self.rows == self.most_rows {
            self.flush();
        }
    }

    fn flush(&mut self) {
        for (wide, narrow) in self.wide.iter_mut().zip(&mut self.narrow) {
            *wide += i64::from(std::mem::take(narrow));
        }
        self.rows = 0;
    }

    fn finish(mut self) -> Vec<i64> {
        self.flush();
        self.wide
    }
}

struct Run<'a> {
    table: &'a DenseFacilityLocation,
    /// What each user has got so far.
    served: Vec<u16>,
    gains: Vec<i64>,
}

impl Gains for Run<'_> {
    fn gains(&self) -> &[i64] {
        &self.gains
    }

    fn pick(&mut self, element: usize) {
        let table = self.table;
        let column = &table.columns[element * table.users..(element + 1) * table.users];
        let mut lost = Sums::new(table.elements, table.sizes.rows);
        for (user, (before, &after)) in self.served.iter_mut().zip(column).enumerate() {
            if after > *before {
                let was = std::mem::replace(before, after);
                lost.add(table.row(user), |value| {
                    value.saturating_sub(was) - value.saturating_sub(after)
                });
            }
        }
        for (gain, lost) in self.gains.iter_mut().zip(lost.finish()) {
            *gain -= lost;
        }
    }
}
