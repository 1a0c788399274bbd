//! Some users: who is still active, and what they show in a step.

pub(crate) mod bad_event;
mod groups;
mod table;

use dp_mechanism::{Draws, PoissonSample, Private, Touched};

pub use bad_event::{BadEvent, BadEventKind};

use crate::Event;
use groups::Groups;
use table::ItemTable;

/// Not sampled, or in as many reports as a user may be: never counted again.
const GONE: u8 = 255;
/// Events are taken up so many at a time, at most.
const MOST_PORTION: usize = 256;
/// Has shown an item in the step under way. Between steps no user is busy.
const BUSY: u8 = 254;

/// From where on counting takes another way. None of it changes what is counted, which claims show by going through all ways.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CountingSizes {
    /// Events taken up at a time, from 1 to 256.
    pub portion: usize,
    /// More events of users who are busy than this, and than were admitted, are looked at before the end of the step.
    pub waiting: usize,
    /// Of the table of items, at first.
    pub slots: usize,
    /// Of the table of users who are busy, if two for each event are not more.
    pub group_slots: usize,
}

impl Default for CountingSizes {
    fn default() -> Self {
        Self { portion: MOST_PORTION, waiting: 1 << 16, slots: 64, group_slots: 1 << 16 }
    }
}

/// Users with the counting of their events and with their charges.
///
/// A step is: [`add`](Self::add) events in as many portions as they come, [`counts`](Self::counts), a
/// decision somewhere, [`settle`](Self::settle). Which events count is said at
/// [`MonitorPlan`](crate::MonitorPlan).
///
/// All of it follows from records: whoever has some holds them as a [`Private`].
pub(crate) struct Participants {
    first_user: u32,
    /// Reports that a user was in, or [`GONE`], or [`BUSY`]; and one more who is gone, in whose name
    /// events of unknown users are.
    charged: Vec<u8>,
    admission: Admission,
    table: ItemTable,
    admitted: Vec<Admitted>,
    /// The charge of each admitted event's user before the step.
    before: Vec<u8>,
    /// Events of users who are busy, to be looked at with all of their events at hand.
    more: Vec<Event>,
}

/// Whether users whose limit this is can have these charges between two steps.
pub(crate) fn are_charges(charges: &[u8], limit: Option<u8>) -> bool {
    let limit = limit.unwrap_or(1);
    charges.iter().all(|&charge| charge < limit || charge == GONE)
}

/// Which events count, and what for.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Admission {
    /// In how many reports a user may be; `None` if charges are not counted.
    pub(crate) limit: Option<u8>,
    pub(crate) items_per_step: u8,
    pub(crate) last_item: u64,
    pub(crate) sizes: CountingSizes,
}

impl Admission {
    /// How many items of a step count of a user who was in so many reports.
    fn room(&self, before: u8) -> usize {
        let left = self.limit.map_or(u8::MAX, |limit| limit.saturating_sub(before));
        left.min(self.items_per_step).into()
    }
}

/// An event that counts.
#[derive(Clone, Copy, Debug)]
struct Admitted {
    /// From the first user on.
    user: u32,
    /// Of the item in the table.
    index: u32,
}

impl Participants {
    /// Users `first_user..first_user + users` with fresh secret coins.
    pub(crate) fn sampled(
        admission: Admission,
        first_user: u32,
        users: u32,
        sample: Option<&PoissonSample>,
        draws: &mut Draws<'_>,
    ) -> Private<Self> {
        let users = users as usize;
        let kept = match sample {
            Some(sample) => sample.sample(users, draws),
            None => Private::new(users).map(|users| vec![true; users]),
        };
        kept.map(|kept| {
            let mut charged = Vec::with_capacity(users + 1);
            charged.extend(kept.into_iter().map(|kept| if kept { 0 } else { GONE }));
            Self::with_charges(admission, first_user, charged)
        })
    }

    /// Users with the charges of an earlier step.
    pub(crate) fn with_charges(
        admission: Admission,
        first_user: u32,
        mut charged: Vec<u8>,
    ) -> Self {
        charged.reserve_exact(1);
        charged.push(GONE);
        Self {
            first_user,
            charged,
            admission,
            table: ItemTable::new(admission.sizes.slots),
            admitted: Vec::new(),
            before: Vec::new(),
            more: Vec::new(),
        }
    }

    /// Takes up events of the step under way.
    pub(crate) fn add(&mut self, events: &[Event]) {
        let CountingSizes { portion, waiting, .. } = self.admission.sizes;
        for portion in events.chunks(portion.clamp(1, MOST_PORTION)) {
            self.add_portion(portion);
            if self.more.len() > self.admitted.len().max(waiting) {
                self.admit_more();
            }
        }
    }

    /// First who counts, without a branch that could be guessed wrong, then what they show.
    fn add_portion(&mut self, portion: &[Event]) {
        let nobody = self.charged.len() - 1;
        let mut kept = [(Event { user: 0, item: 0 }, 0); MOST_PORTION];
        let mut count = 0;
        for &event in portion {
            let user = event.user.wrapping_sub(self.first_user);
            let place = (user as usize).min(nobody);
            let before = self.charged[place];
            let counts = before < BUSY && event.item <= self.admission.last_item;
            self.charged[place] = if counts { BUSY } else { before };
            kept[count] = (Event { user, item: event.item }, before);
            count += usize::from(counts);
            if before == BUSY {
                self.more.push(event);
            }
        }
        let kept = &kept[..count];
        self.before.extend(kept.iter().map(|(_, before)| *before));
        let table = &mut self.table;
        let shown = kept
            .iter()
            .map(|(event, _)| Admitted { user: event.user, index: table.add(event.item) });
        self.admitted.extend(shown);
    }

    /// How many users show each item, among those that count. Private: it must not leave the trusted
    /// side.
    pub(crate) fn counts(&mut self) -> Touched<'_> {
        self.admit_more();
        Touched { cells: self.table.items(), counts: self.table.counts() }
    }

    /// Ends the step: charges every user for each of `reported` items (in ascending order) that the
    /// user was counted in.
    pub(crate) fn settle(&mut self, reported: &[u64]) {
        self.admit_more();
        let places = reported.iter().filter_map(|&item| self.table.find(item));
        let mut charge = vec![0; self.table.items().len()];
        match self.admission.limit {
            Some(limit) if places.clone().next().is_some() => {
                places.for_each(|index| charge[index as usize] = 1);
                for (admitted, &before) in self.admitted.iter().zip(&self.before) {
                    let charged = &mut self.charged[admitted.user as usize];
                    // Of several items of one user, the first finds the user busy.
                    let now = if *charged == BUSY { before } else { *charged };
                    let now = now + charge[admitted.index as usize];
                    *charged = if now == limit { GONE } else { now };
                }
            }
            _ => {
                for (admitted, &before) in self.admitted.iter().zip(&self.before) {
                    self.charged[admitted.user as usize] = before;
                }
            }
        }
        self.admitted.clear();
        self.before.clear();
        self.table.clear();
    }

    /// The events that count in the step under way, in the order in which they were admitted. Given to
    /// the same users as of the last step they are admitted again, each of them. For after
    /// [`counts`](Self::counts).
    pub(crate) fn counted(&self) -> Vec<Event> {
        let items = self.table.items();
        let event = |admitted: &Admitted| Event {
            user: self.first_user + admitted.user,
            item: items[admitted.index as usize],
        };
        self.admitted.iter().map(event).collect()
    }

    /// The number of users in the sample who have reports left.
    pub(crate) fn active(&self) -> usize {
        self.charges().iter().filter(|charge| **charge != GONE).count()
    }

    /// The charges as of the last step that was settled.
    pub(crate) fn charges(&self) -> Vec<u8> {
        let mut charges = self.charged[..self.users()].to_vec();
        for (admitted, &before) in self.admitted.iter().zip(&self.before) {
            charges[admitted.user as usize] = before;
        }
        charges
    }

    fn users(&self) -> usize {
        self.charged.len() - 1
    }

    /// Bytes held by users, tables and buffers.
    pub(crate) fn memory_bytes(&self) -> usize {
        self.charged.capacity()
            + self.table.memory_bytes()
            + self.admitted.capacity() * size_of::<Admitted>()
            + self.before.capacity()
            + self.more.capacity() * size_of::<Event>()
    }

    /// Decides about the further events of users who have shown an item already.
    fn admit_more(&mut self) {
        if self.more.is_empty() {
            return;
        }
        let more = std::mem::take(&mut self.more);
        let mut groups = Groups::of(&more, self.first_user, self.admission.sizes.group_slots);
        for (position, admitted) in (0..).zip(&self.admitted) {
            groups.found(admitted.user, position);
        }
        // Which user was last admitted with each item, so that a repeated item is seen.
        let mut last_user = vec![u32::MAX; self.table.items().len()];
        for group in &groups.all {
            let user = group.user;
            let (mut so_far, mut before) = (0, None);
            for position in groups.admitted_of(group) {
                last_user[self.admitted[position].index as usize] = user;
                (so_far, before) = (so_far + 1, Some(self.before[position]));
            }
            // Who is busy was admitted; of anybody else the charges are unknown, so nothing counts.
            let Some(before) = before else { continue };
            let mut room = self.admission.room(before).saturating_sub(so_far);
            for event in groups.events_of(group) {
                let item = more[event].item;
                if room == 0 {
                    break;
                }
                let known = self.table.find(item);
                let repeated = known.is_some_and(|index| last_user[index as usize] == user);
                if repeated || item > self.admission.last_item {
                    continue;
                }
                let index = self.table.add(item);
                last_user.resize(self.table.items().len(), u32::MAX);
                last_user[index as usize] = user;
                self.admitted.push(Admitted { user, index });
                self.before.push(before);
                room -= 1;
            }
        }
        self.more = more;
        self.more.clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn users(charges: &[u8]) -> Participants {
        let sizes = CountingSizes::default();
        let admission = Admission { limit: Some(3), items_per_step: 2, last_item: 9, sizes };
        Participants::with_charges(admission, 10, charges.to_vec())
    }

    /// Whose charges are unknown does not count, however the event got here.
    #[test]
    fn events_of_users_who_were_not_admitted_count_nothing() {
        let mut users = users(&[0, 2, GONE]);
        users.add(&[Event { user: 10, item: 1 }]);
        users.more = (10..13).map(|user| Event { user, item: 5 }).collect();
        let touched = users.counts();
        assert_eq!((touched.cells, touched.counts), (&[1, 5][..], &[1, 1][..]));
        users.settle(&[5]);
        assert_eq!(users.charges(), [1, 2, GONE]);
    }

    #[test]
    fn room_is_what_is_left_and_never_negative() {
        let sizes = CountingSizes::default();
        let admission = Admission { limit: Some(3), items_per_step: 2, last_item: 9, sizes };
        assert_eq!([0, 1, 2, 3, GONE].map(|before| admission.room(before)), [2, 2, 1, 0, 0]);
    }

    #[test]
    fn counted_events_are_admitted_again_as_they_were() {
        let mut first = users(&[0, 1, 2]);
        let item = |item| move |user| Event { user, item };
        let shown = [item(4), item(4), item(7), item(8)].into_iter();
        first.add(&shown.flat_map(|event| (10..14).map(event)).collect::<Vec<_>>());
        first.counts();
        let counted = first.counted();
        assert_eq!(counted.len(), 5, "two, two and one");
        let mut again = users(&first.charges());
        again.add(&counted);
        again.counts();
        assert_eq!(again.counted(), counted);
        for users in [&mut first, &mut again] {
            users.settle(&[4, 7]);
            assert_eq!(users.charges(), [2, GONE, GONE]);
        }
    }
}
