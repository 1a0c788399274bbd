//! Some users: who is still active, and what they show in a step.

pub(crate) mod bad_event;
mod by_user;
mod dense;
mod known;
mod standing;
mod table;
mod tail;

use dp_mechanism::Touched;

pub use bad_event::{BadEvent, BadEventKind};
pub(crate) use dense::dense;
pub(crate) use known::{KnownItems, Precedence};
pub(crate) use standing::{Coins, Standing};

use crate::Event;
use by_user::{Shown, SomeUsers, sort_by_user};
use known::Rank;
use table::ItemTable;
use tail::Tail;

/// Not sampled, or in as many reports as a user may be: never counted again.
const GONE: u8 = 255;
/// Events are taken up so many at a time, at most.
const MOST_PORTION: usize = 256;
/// So many items of a user are compared each with each.
const FEW_ITEMS: usize = 8;
/// Has shown an item in the step under way. Between steps no user is busy.
const BUSY: u8 = GONE - 1;

/// From where on counting takes another way. None of it changes what is counted, which claims show by going through all ways.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CountingSizes {
    /// Events taken up at a time, from 1 to 256.
    pub portion: usize,
    /// More events of users who are busy than this, and than were admitted, are looked at before the end of the step.
    pub waiting: usize,
    /// Of the table of items, at first.
    pub slots: usize,
}

impl Default for CountingSizes {
    fn default() -> Self {
        Self { portion: MOST_PORTION, waiting: 1 << 16, slots: 64 }
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
    /// Of each user, or none: see [`Standing`].
    tags: Vec<u32>,
    admission: Admission,
    /// Who counts, for what; unless an item comes that goes before it. Of each user with the charge before the step.
    admitted: Tail<Shown>,
    /// Further events of users who are busy, to be looked at with all that they show at hand.
    more: Tail<Shown>,
    scratch: Tail<Shown>,
    /// Empty until the step is counted.
    table: ItemTable,
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

impl Participants {
    /// Users from this number on, between two steps.
    pub(crate) fn new(admission: Admission, first_user: u32, users: Standing) -> Self {
        let Standing { charges: mut charged, tags } = users;
        charged.reserve_exact(1);
        charged.push(GONE);
        Self {
            first_user,
            charged,
            tags,
            admission,
            admitted: Tail::default(),
            more: Tail::default(),
            scratch: Tail::default(),
            table: ItemTable::new(admission.sizes.slots),
        }
    }

    /// More users, whose numbers follow.
    pub(crate) fn join(&mut self, more: Standing) {
        let nobody = self.charged.pop().expect("one more than users");
        self.charged.extend(more.charges);
        self.charged.push(nobody);
        self.tags.extend(more.tags);
    }

    /// Takes up events of the step under way, whose order of items this is.
    pub(crate) fn add(&mut self, events: &[Event], order: Precedence<'_>) {
        let CountingSizes { portion, waiting, .. } = self.admission.sizes;
        for portion in events.chunks(portion.clamp(1, MOST_PORTION)) {
            self.add_portion(portion);
            if self.more.len() > self.admitted.len().max(waiting) {
                self.choose(order);
            }
        }
    }

    /// Who counts, without a branch that could be guessed wrong.
    fn add_portion(&mut self, portion: &[Event]) {
        let Self { first_user, charged, admission, admitted, more, .. } = self;
        let nobody = charged.len() - 1;
        let mut charges = [GONE; MOST_PORTION];
        let charges = &mut charges[..portion.len()];
        // Nothing here waits for the charge of another event, so many are fetched at a time.
        for (charge, event) in charges.iter_mut().zip(portion) {
            let place = (event.user.wrapping_sub(*first_user) as usize).min(nobody);
            let charged =
                &mut charged[if event.item <= admission.last_item { place } else { nobody }];
            *charge = *charged;
            // Who is gone stays so.
            *charged = (*charged).max(BUSY);
        }
        // Each is written to both, and stays where the next one does not go to its place.
        let (first, further) = (admitted.room(portion.len()), more.room(portion.len()));
        let (mut firsts, mut furthers) = (0, 0);
        for (event, &charge) in portion.iter().zip(&*charges) {
            let user = event.user.wrapping_sub(*first_user);
            let shown = Shown::new(event.item, user, charge);
            first[firsts] = shown;
            firsts += usize::from(charge < BUSY);
            further[furthers] = shown;
            furthers += usize::from(charge == BUSY);
        }
        admitted.keep(firsts);
        more.keep(furthers);
    }

    /// How many users show each item, among those that count. Private: it must not leave the trusted
    /// side. No events come after it in this step.
    pub(crate) fn counts(&mut self, order: Precedence<'_>) -> Touched<'_> {
        self.choose(order);
        self.table.clear();
        self.table.add_all(&self.admitted, |admitted| admitted.item);
        let (cells, counts) = self.table.lists();
        Touched { cells, counts }
    }

    /// Ends the step that was counted: charges every user for each of `reported` items that the user was
    /// counted in.
    pub(crate) fn settle(&mut self, reported: &[u64]) {
        let charging: Vec<u64> =
            reported.iter().copied().filter(|&item| self.table.find(item).is_some()).collect();
        match self.admission.limit {
            Some(limit) if !charging.is_empty() => {
                let mut charge = ItemTable::new(charging.len());
                charge.add_all(&charging, |&item| item);
                for admitted in self.admitted.iter() {
                    let charged = &mut self.charged[admitted.user as usize];
                    // Of several items of one user, the first finds the user busy.
                    let now = if *charged == BUSY { admitted.charge() } else { *charged };
                    let now = now + u8::from(charge.find(admitted.item).is_some());
                    *charged = if now == limit { GONE } else { now };
                }
            }
            _ => {
                for admitted in self.admitted.iter() {
                    self.charged[admitted.user as usize] = admitted.charge();
                }
            }
        }
        self.admitted.truncate(0);
        self.table.clear();
    }

    /// The events that count in the step under way. Given to the same users as of the last step they are
    /// admitted again, each of them. For after [`counts`](Self::counts).
    pub(crate) fn counted(&self) -> Vec<Event> {
        let event =
            |admitted: &Shown| Event { user: self.first_user + admitted.user, item: admitted.item };
        self.admitted.iter().map(event).collect()
    }

    /// The number of users in the sample who have reports left.
    pub(crate) fn active(&self) -> usize {
        self.standing().charges.iter().filter(|charge| **charge != GONE).count()
    }

    /// Everybody as of the last step that was settled.
    pub(crate) fn standing(&self) -> Standing {
        let mut charges = self.charged[..self.users()].to_vec();
        for admitted in self.admitted.iter() {
            charges[admitted.user as usize] = admitted.charge();
        }
        Standing { charges, tags: self.tags.clone() }
    }

    /// What mixes the items of a user: 0 if nothing does.
    pub(crate) fn tag(&self, user: u32) -> u32 {
        let place = user.wrapping_sub(self.first_user) as usize;
        self.tags.get(place).copied().unwrap_or(0)
    }

    pub(crate) fn users(&self) -> usize {
        self.charged.len() - 1
    }

    /// Bytes held by users, tables and buffers.
    pub(crate) fn memory_bytes(&self) -> usize {
        self.charged.capacity()
            + self.tags.capacity() * size_of::<u32>()
            + self.table.memory_bytes()
            + self.admitted.memory_bytes()
            + self.more.memory_bytes()
            + self.scratch.memory_bytes()
    }

    /// Takes what was admitted of these users, and of a few others, in order.
    fn withdraw(&mut self, of: &SomeUsers, withdrawn: &mut Tail<Shown>) {
        let admitted = &mut *self.admitted;
        let mut kept = 0;
        for start in (0..admitted.len()).step_by(MOST_PORTION) {
            let end = admitted.len().min(start + MOST_PORTION);
            let room = withdrawn.room(end - start);
            let mut taken = 0;
            for place in start..end {
                let shown = admitted[place];
                let is_taken = of.may_have(shown.user);
                room[taken] = shown;
                taken += usize::from(is_taken);
                admitted[kept] = shown;
                kept += usize::from(!is_taken);
            }
            withdrawn.keep(taken);
        }
        self.admitted.truncate(kept);
    }

    /// Decides about users who have shown more than one item: those count that come first in the order, as many as there is room
    /// for. What was admitted and comes later makes room.
    fn choose(&mut self, order: Precedence<'_>) {
        if self.more.is_empty() {
            return;
        }
        let mut shown = std::mem::take(&mut self.more);
        let of = SomeUsers::who_show(&shown, self.users());
        self.withdraw(&of, &mut shown);
        let users = self.users();
        sort_by_user(&mut shown, &mut self.scratch, users);
        // No more of them count than there are.
        let admitted = self.admitted.room(shown.len());
        let mut count = 0;
        let mut ranked: Vec<(Rank, u64)> = Vec::new();
        for own in shown.chunk_by(|a, b| a.user == b.user) {
            // Who is busy was admitted, which comes last; of anybody else the charges are unknown, so nothing counts.
            let Some(&last) = own.last().filter(|last| last.charge() != BUSY) else {
                continue;
            };
            let room = self.admission.room(last.charge());
            if own.len() <= room.min(FEW_ITEMS) {
                // All of them count, each item once, and no order decides.
                for (place, shown) in own.iter().enumerate() {
                    admitted[count] = Shown { item: shown.item, ..last };
                    let earlier = own[..place].iter().filter(|earlier| earlier.item == shown.item);
                    count += usize::from(earlier.count() == 0);
                }
                continue;
            }
            ranked.clear();
            let tag = self.tags.get(last.user as usize).copied().unwrap_or(0);
            let rank = |shown: &Shown| (order.rank(tag, shown.item), shown.item);
            ranked.extend(own.iter().map(rank));
            ranked.sort_unstable();
            // No two items have one rank, so what is alike is an item that was shown again.
            ranked.dedup();
            for &(_, item) in ranked.iter().take(room) {
                admitted[count] = Shown { item, ..last };
                count += 1;
            }
        }
        self.admitted.keep(count);
        shown.truncate(0);
        self.more = shown;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{ItemOrder, Report};

    fn users(charges: &[u8]) -> Participants {
        let sizes = CountingSizes::default();
        let admission = Admission { limit: Some(3), items_per_step: 2, last_item: 9, sizes };
        let tags = (7..).take(charges.len()).collect();
        Participants::new(admission, 10, Standing { charges: charges.to_vec(), tags })
    }

    /// Whose charges are unknown does not count, however the event got here.
    #[test]
    fn events_of_users_who_were_not_admitted_count_nothing() {
        let mut users = users(&[0, 2, GONE]);
        let known = KnownItems::none();
        users.add(&[Event { user: 10, item: 1 }], known.precedence(0, ItemOrder::default()));
        for (user, shown) in (0..3).zip(users.more.room(3)) {
            *shown = Shown::new(5, user, BUSY);
        }
        users.more.keep(3);
        let touched = users.counts(known.precedence(0, ItemOrder::default()));
        assert_eq!((touched.cells.len(), touched.counts), (2, &[1, 1][..]));
        users.settle(&[5]);
        assert_eq!(users.standing().charges, [1, 2, GONE]);
    }

    #[test]
    fn room_is_what_is_left_and_never_negative() {
        let sizes = CountingSizes::default();
        let admission = Admission { limit: Some(3), items_per_step: 2, last_item: 9, sizes };
        assert_eq!([0, 1, 2, 3, GONE].map(|before| admission.room(before)), [2, 2, 1, 0, 0]);
    }

    /// However many items a step reports, whoever was counted in one of them is charged.
    #[test]
    fn every_reported_item_charges_its_users() {
        let number = 5_000;
        let sizes = CountingSizes::default();
        let admission = Admission { limit: Some(3), items_per_step: 2, last_item: 9_999, sizes };
        let mut users = Participants::new(admission, 0, {
            Standing { charges: vec![0; number as usize], tags: Vec::new() }
        });
        let known = KnownItems::none();
        let order = known.precedence(0, ItemOrder::default());
        let events: Vec<Event> =
            (0..number).map(|user| Event { user, item: u64::from(2 * user) }).collect();
        users.add(&events, order);
        users.counts(order);
        users.settle(&(0..10_000).collect::<Vec<u64>>());
        assert!(users.standing().charges.iter().all(|&charge| charge == 1));
    }

    #[test]
    fn counted_events_are_admitted_again_as_they_were() {
        counted_again(ItemOrder::ReportedFirst);
        counted_again(ItemOrder::Spread);
    }

    fn counted_again(item_order: ItemOrder) {
        let report = |item| Report { time: 0, item, noisy_count: 1 };
        let mut known = KnownItems::none();
        known.note(&[report(4), report(7)]);
        let order = known.precedence(3, item_order);
        let mut first = users(&[0, 1, 2]);
        let item = |item| move |user| Event { user, item };
        let shown = [item(4), item(4), item(7), item(8)].into_iter();
        first.add(&shown.flat_map(|event| (10..14).map(event)).collect::<Vec<_>>(), order);
        first.counts(order);
        let counted = first.counted();
        assert_eq!(counted.len(), 5, "two, two and one");
        let mut again = users(&first.standing().charges);
        again.add(&counted, order);
        again.counts(order);
        let sorted = |users: &Participants| {
            let mut events = users.counted();
            events.sort_unstable();
            events
        };
        assert_eq!(sorted(&again), sorted(&first));
        for users in [&mut first, &mut again] {
            users.settle(&[4, 7]);
        }
        assert_eq!(again.standing().charges, first.standing().charges);
        if item_order == ItemOrder::ReportedFirst {
            assert_eq!(first.standing().charges, [2, GONE, GONE]);
        }
    }
}
