//! The users of one machine: who is still active, and what they show in a step.

use std::fmt;

use dp_mechanism::{Draws, PoissonSample, Touched};

use crate::Event;
use crate::table::ItemTable;

/// Not sampled, or in as many reports as a user may be: never counted again.
pub(crate) const GONE: u8 = 255;
/// Has shown an item in the step under way. Between steps no user is busy.
const BUSY: u8 = 254;

/// Some of the users, with the counting of their events.
///
/// A step is: [`add`](Self::add) events in as many portions as they come, [`counts`](Self::counts), a
/// decision somewhere (of one shard or of the sum of many), [`settle`](Self::settle). Users must not
/// be in two shards: each would grant them the whole number of reports.
///
/// # Which events count
/// Events of users and items that do not exist are dropped. An item that a user shows twice in a step
/// counts once. Of a user who shows more items than may still be charged, the first in order of
/// arrival count: at most [`items_per_step`](crate::MonitorBuilder::items_per_step), and at most as
/// many as reports are left to the user, so that no step can charge more than that.
///
/// # Memory
/// One byte per user. In a step: 9 bytes per counted event, 28 to 76 per distinct item, and up to 16
/// bytes per counted event (or 1 MiB) for items beyond the first of a user.
#[derive(Clone)]
pub struct Shard {
    first_user: u32,
    /// Reports that a user was in, or [`GONE`], or [`BUSY`].
    charged: Vec<u8>,
    admission: Admission,
    table: ItemTable,
    admitted: Vec<Admitted>,
    /// The charge of each admitted event's user before the step.
    before: Vec<u8>,
    /// Events of users who are busy, to be looked at with all of their events at hand.
    more: Vec<Event>,
}

/// What is public of it; charges and events stay out of logs.
impl fmt::Debug for Shard {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Shard")
            .field("first_user", &self.first_user)
            .field("users", &self.charged.len())
            .finish_non_exhaustive()
    }
}

/// Which events count, and what for.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Admission {
    /// In how many reports a user may be; `None` if charges are not counted.
    pub(crate) limit: Option<u8>,
    pub(crate) items_per_step: u8,
    pub(crate) last_item: u64,
}

/// An event that counts.
#[derive(Clone, Copy, Debug)]
struct Admitted {
    /// From the first user of the shard.
    user: u32,
    /// Of the item in the table.
    index: u32,
}

impl Shard {
    /// Users `first_user..first_user + users` with fresh secret coins.
    pub(crate) fn sampled(
        admission: Admission,
        first_user: u32,
        users: u32,
        sample: Option<&PoissonSample>,
        draws: &mut dyn Draws,
    ) -> Self {
        let kept = |draws: &mut dyn Draws| sample.is_none_or(|sample| sample.keeps(draws));
        let coins = (0..users).map(|_| if kept(draws) { 0 } else { GONE });
        Self::with_charges(admission, first_user, coins.collect())
    }

    /// Users with the charges of an earlier step.
    pub(crate) fn with_charges(admission: Admission, first_user: u32, charged: Vec<u8>) -> Self {
        Self {
            first_user,
            charged,
            admission,
            table: ItemTable::new(),
            admitted: Vec::new(),
            before: Vec::new(),
            more: Vec::new(),
        }
    }

    /// Takes up events of the step under way.
    pub fn add(&mut self, events: &[Event]) {
        for &event in events {
            let Event { user, item } = event;
            let user = user.wrapping_sub(self.first_user);
            let Some(charged) = self.charged.get_mut(user as usize) else { continue };
            let before = *charged;
            if before >= BUSY || item > self.admission.last_item {
                if before == BUSY {
                    self.more.push(event);
                }
                continue;
            }
            *charged = BUSY;
            let index = self.table.add(item);
            self.admitted.push(Admitted { user, index });
            self.before.push(before);
        }
        if self.more.len() > self.admitted.len().max(1 << 16) {
            self.admit_more();
        }
    }

    /// How many users show each item, among those that count. Private: it must not leave the trusted
    /// side.
    pub fn counts(&mut self) -> Touched<'_> {
        self.admit_more();
        Touched { cells: self.table.items(), counts: self.table.counts() }
    }

    /// Ends the step: charges every user for each of `reported` items (in ascending order) that the
    /// user was counted in.
    pub fn settle(&mut self, reported: &[u64]) {
        self.admit_more();
        let mut charge = vec![false; self.table.items().len()];
        for index in reported.iter().filter_map(|&item| self.table.find(item)) {
            charge[index as usize] = self.admission.limit.is_some();
        }
        for (admitted, &before) in self.admitted.iter().zip(&self.before) {
            let charged = &mut self.charged[admitted.user as usize];
            let now = if *charged == BUSY { before } else { *charged };
            *charged = if charge[admitted.index as usize] { now + 1 } else { now };
            if self.admission.limit == Some(*charged) {
                *charged = GONE;
            }
        }
        self.admitted.clear();
        self.before.clear();
        self.table.clear();
    }

    /// The charges as of the last step that was settled.
    pub(crate) fn charges(&self) -> Vec<u8> {
        let mut charges = self.charged.clone();
        for (admitted, &before) in self.admitted.iter().zip(&self.before) {
            charges[admitted.user as usize] = before;
        }
        charges
    }

    /// The number of users, active or not. Public.
    pub fn users(&self) -> usize {
        self.charged.len()
    }

    /// Decides about the further events of users who have shown an item already.
    fn admit_more(&mut self) {
        if self.more.is_empty() {
            return;
        }
        let mut more = std::mem::take(&mut self.more);
        more.sort_by_key(|event| event.user); // stable: in order of arrival for each user
        let groups: Vec<&[Event]> = more.chunk_by(|a, b| a.user == b.user).collect();
        let so_far = self.admitted_of(&groups);
        let mut so_far = so_far.chunk_by(|a, b| a.0 == b.0);
        // Which user was last admitted with each item, so that a repeated item is seen.
        let mut last_user = vec![u32::MAX; self.table.items().len()];
        for group in groups {
            let user = group[0].user - self.first_user;
            let admitted = so_far.next().expect("a busy user has been admitted");
            for &(_, position) in admitted {
                last_user[self.admitted[position].index as usize] = user;
            }
            let before = self.before[admitted[0].1];
            let left =
                self.admission.limit.map_or(self.admission.items_per_step, |limit| limit - before);
            let mut room = usize::from(left.min(self.admission.items_per_step)) - admitted.len();
            for event in group {
                if room == 0 {
                    break;
                }
                let known = self.table.find(event.item);
                let repeated = known.is_some_and(|index| last_user[index as usize] == user);
                if repeated || event.item > self.admission.last_item {
                    continue;
                }
                let index = self.table.add(event.item);
                last_user.resize(self.table.items().len(), u32::MAX);
                last_user[index as usize] = user;
                self.admitted.push(Admitted { user, index });
                self.before.push(before);
                room -= 1;
            }
        }
        more.clear();
        self.more = more;
    }

    /// Group and position of all that was admitted of the users of these groups, by group.
    fn admitted_of(&self, groups: &[&[Event]]) -> Vec<(usize, usize)> {
        let group_of = |admitted: &Admitted| {
            let user = admitted.user + self.first_user;
            groups.binary_search_by_key(&user, |group| group[0].user).ok()
        };
        let positions = self.admitted.iter().enumerate();
        let mut found: Vec<(usize, usize)> =
            positions.filter_map(|(i, admitted)| Some((group_of(admitted)?, i))).collect();
        found.sort_unstable();
        found
    }
}
