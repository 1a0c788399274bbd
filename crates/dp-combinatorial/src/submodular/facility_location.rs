//! Facility location on lists of similarities.

use std::fmt;

use super::levels::{Extension, LevelGains, Levels, Ranked, RankedRecord, ranked_credit};
use super::{Gains, Objective};
use crate::CombinatorialError;

/// How much better the chosen elements serve the users than a public default does, each user by the
/// chosen element that is most similar to it.
///
/// A record is one user with its list of `(element, similarity)`; elements that are not listed serve it
/// no better than the default. A similarity counts from the user's similarity to the default centre on,
/// and up to the public `most_credit`, which a public metric with a central default makes about half of
/// the largest similarity, and with it the noise. An element that is out of range is left out, of an
/// element that is listed twice the larger similarity counts.
///
/// # Complexity
/// A pick takes the sum of the lengths of the lists of those users whom it serves better.
#[derive(Clone)]
pub struct FacilityLocation {
    most_credit: u32,
    by_user: Lists,
    by_element: Lists,
}

/// What is public of it: users and their similarities stay out of logs.
impl fmt::Debug for FacilityLocation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("FacilityLocation")
            .field("elements", &self.by_element.len())
            .field("most_credit", &self.most_credit)
            .finish_non_exhaustive()
    }
}

/// List `i` is the entries `offsets[i]..offsets[i + 1]`.
#[derive(Clone)]
struct Lists {
    offsets: Vec<usize>,
    ids: Vec<u32>,
    values: Vec<u32>,
}

impl Lists {
    fn len(&self) -> usize {
        self.offsets.len() - 1
    }

    fn get(&self, list: usize) -> (&[u32], &[u32]) {
        let range = self.offsets[list]..self.offsets[list + 1];
        (&self.ids[range.clone()], &self.values[range])
    }

    fn transposed(&self, lists: usize) -> Self {
        let mut offsets = vec![0; lists + 1];
        for &id in &self.ids {
            offsets[id as usize + 1] += 1;
        }
        for list in 0..lists {
            offsets[list + 1] += offsets[list];
        }
        let mut next = offsets.clone();
        let (mut ids, mut values) = (vec![0; self.ids.len()], vec![0; self.ids.len()]);
        for (from, list) in (0_u32..).zip(0..self.len()) {
            let (to, of) = self.get(list);
            for (&to, &value) in to.iter().zip(of) {
                let place = &mut next[to as usize];
                (ids[*place], values[*place]) = (from, value);
                *place += 1;
            }
        }
        Self { offsets, ids, values }
    }
}

impl FacilityLocation {
    /// The most that can be credited to a user.
    pub const MOST_CREDIT: u32 = 1 << 24;

    /// Users by their lists of `(element, similarity)`. Users beyond [`u32::MAX`] are left out.
    ///
    /// # Errors
    /// [`CombinatorialError`] if there is no element, or if `most_credit` is zero or above
    /// [`MOST_CREDIT`](Self::MOST_CREDIT).
    pub fn new<'a>(
        elements: u32,
        users: impl IntoIterator<Item = &'a [(u32, u32)]>,
        most_credit: u32,
    ) -> Result<Self, CombinatorialError> {
        Self::beyond_default(elements, users.into_iter().map(|list| (0, list)), most_credit)
    }

    /// The same, with each user's similarity to the default centre in front.
    ///
    /// # Errors
    /// As [`new`](Self::new).
    pub fn beyond_default<'a>(
        elements: u32,
        users: impl IntoIterator<Item = (u32, &'a [(u32, u32)])>,
        most_credit: u32,
    ) -> Result<Self, CombinatorialError> {
        check_sizes(elements as usize, most_credit, Self::MOST_CREDIT)?;
        let mut by_user = Lists { offsets: vec![0], ids: Vec::new(), values: Vec::new() };
        let mut entries = Vec::new();
        for (default, list) in users.into_iter().take(u32::MAX as usize) {
            let value = |similarity: u32| similarity.saturating_sub(default).min(most_credit);
            entries.clear();
            entries.extend(list.iter().map(|&(id, similarity)| (id, value(similarity))));
            entries.retain(|&(id, value)| id < elements && value > 0);
            entries.sort_unstable_by_key(|&(id, value)| (id, std::cmp::Reverse(value)));
            entries.dedup_by_key(|entry| entry.0);
            entries.sort_unstable_by_key(|&(id, value)| (std::cmp::Reverse(value), id));
            by_user.ids.extend(entries.iter().map(|entry| entry.0));
            by_user.values.extend(entries.iter().map(|entry| entry.1));
            by_user.offsets.push(by_user.ids.len());
        }
        let by_element = by_user.transposed(elements as usize);
        Ok(Self { most_credit, by_user, by_element })
    }
}

pub(super) fn check_sizes(
    elements: usize,
    most_credit: u32,
    limit: u32,
) -> Result<(), CombinatorialError> {
    for (name, zero) in [("elements", elements == 0), ("most credit", most_credit == 0)] {
        if zero {
            return Err(CombinatorialError::OutOfRange { name, got: 0, want: "at least 1" });
        }
    }
    if most_credit > limit {
        let (got, most) = (most_credit.into(), limit.into());
        let most_name = "the largest similarity";
        return Err(CombinatorialError::AboveLimit { name: "most credit", got, most_name, most });
    }
    Ok(())
}

impl Objective for FacilityLocation {
    fn elements(&self) -> usize {
        self.by_element.len()
    }

    fn most_credit(&self) -> u64 {
        self.most_credit.into()
    }

    fn records(&self) -> usize {
        self.by_user.len()
    }

    fn start(&self, kept: &[bool]) -> Box<dyn Gains + '_> {
        assert_eq!(kept.len(), self.records(), "one entry per user");
        let mut gains = vec![0; self.elements()];
        for (user, _) in kept.iter().enumerate().filter(|(_, kept)| **kept) {
            let (elements, values) = self.by_user.get(user);
            for (&element, &value) in elements.iter().zip(values) {
                gains[element as usize] += i64::from(value);
            }
        }
        // Nothing serves a user better who does not take part.
        let served = kept.iter().map(|&kept| if kept { 0 } else { u32::MAX }).collect();
        Box::new(Run { lists: self, served, gains })
    }
}

struct Run<'a> {
    lists: &'a FacilityLocation,
    /// What each user has got so far.
    served: Vec<u32>,
    gains: Vec<i64>,
}

impl Gains for Run<'_> {
    fn gains(&self) -> &[i64] {
        &self.gains
    }

    fn pick(&mut self, element: usize) {
        let (users, values) = self.lists.by_element.get(element);
        for (&user, &after) in users.iter().zip(values) {
            let before = self.served[user as usize];
            if after > before {
                self.served[user as usize] = after;
                let (elements, values) = self.lists.by_user.get(user as usize);
                let better = elements.iter().zip(values).take_while(|(_, value)| **value > before);
                for (&element, &value) in better {
                    self.gains[element as usize] -= i64::from(value.min(after) - before);
                }
            }
        }
    }
}

impl Ranked for FacilityLocation {
    fn record(&self, record: usize) -> RankedRecord<'_> {
        let (items, values) = self.by_user.get(record);
        RankedRecord { items, values, value: 0 }
    }

    fn records_of(&self, element: usize) -> &[u32] {
        self.by_element.get(element).0
    }
}

impl Extension for FacilityLocation {
    fn level_credit(&self) -> u64 {
        ranked_credit(self.most_credit())
    }

    fn start_levels(&self, kept: &[bool], steps: u32) -> Box<dyn LevelGains + '_> {
        Box::new(Levels::new(self, kept, steps))
    }
}
