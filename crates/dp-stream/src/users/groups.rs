//! Events of the same users brought together.

use crate::Event;

/// The users of some events, each with those events in order and with positions found later.
///
/// Lists are chains in flat arrays and users are looked up by open addressing, so the work is linear in
/// the events and a user who is not here costs one look.
#[derive(Debug)]
pub(crate) struct Groups {
    /// In order of first appearance.
    pub(crate) all: Vec<Group>,
    /// Places in `all`, plus 1; 0 is empty.
    slots: Vec<u32>,
    /// Of each event, the next of the same user, plus 1.
    next_event: Vec<u32>,
    /// Positions found, each with the next of the same user, plus 1.
    positions: Vec<(u32, u32)>,
}

/// One user.
#[derive(Debug)]
pub(crate) struct Group {
    /// From the first user on.
    pub(crate) user: u32,
    first_event: u32,
    last_event: u32,
    /// Plus 1.
    first_position: u32,
}

impl Groups {
    pub(crate) fn of(events: &[Event], first_user: u32, most_slots: usize) -> Self {
        // Many look for users who are not here: few users, many slots, and most find an empty one.
        let sparse = (8 * events.len()).min(most_slots);
        let slots = vec![0; sparse.max(2 * events.len()).next_power_of_two()];
        let mut groups = Self {
            all: Vec::new(),
            slots,
            next_event: vec![0; events.len()],
            positions: Vec::new(),
        };
        for (i, event) in (0..).zip(events) {
            let user = event.user - first_user;
            let slot = groups.slot_of(user);
            if let Some(place) = groups.slots[slot].checked_sub(1) {
                let group = &mut groups.all[place as usize];
                groups.next_event[group.last_event as usize] = i + 1;
                group.last_event = i;
            } else {
                let (first_event, last_event) = (i, i);
                groups.all.push(Group { user, first_event, last_event, first_position: 0 });
                groups.slots[slot] = u32::try_from(groups.all.len()).expect("fewer than events");
            }
        }
        groups
    }

    /// Remembers a position if its user is here.
    #[inline]
    pub(crate) fn found(&mut self, user: u32, position: u32) {
        if let Some(place) = self.slots[self.slot_of(user)].checked_sub(1) {
            let group = &mut self.all[place as usize];
            self.positions.push((position, group.first_position));
            group.first_position =
                u32::try_from(self.positions.len()).expect("32 bits of positions");
        }
    }

    /// In order.
    pub(crate) fn events_of(&self, group: &Group) -> impl Iterator<Item = usize> {
        std::iter::successors(Some(group.first_event), |&event| {
            self.next_event[event as usize].checked_sub(1)
        })
        .map(|event| event as usize)
    }

    /// In no particular order.
    pub(crate) fn admitted_of(&self, group: &Group) -> impl Iterator<Item = usize> {
        let at = |link: u32| link.checked_sub(1).map(|link| self.positions[link as usize]);
        std::iter::successors(at(group.first_position), move |&(_, next)| at(next))
            .map(|(position, _)| position as usize)
    }

    /// Where the user is, or would be.
    #[inline]
    fn slot_of(&self, user: u32) -> usize {
        let mask = self.slots.len() - 1;
        let mut slot = (u64::from(user).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 32) as usize & mask;
        while let Some(place) = self.slots[slot].checked_sub(1) {
            if self.all[place as usize].user == user {
                break;
            }
            slot = (slot + 1) & mask;
        }
        slot
    }
}
