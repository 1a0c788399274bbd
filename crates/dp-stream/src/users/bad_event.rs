//! Which events of a step are dropped, for whoever may see them.

use std::fmt;

use crate::{Event, MonitorPlan};

/// An event that a step would drop. Private: its position and reason depend on the data.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BadEvent {
    /// In the batch.
    pub position: usize,
    /// What is wrong.
    pub why: BadEventKind,
}

/// What is wrong with an event.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BadEventKind {
    /// The user is not below the bound on users.
    UnknownUser,
    /// The item is not in the universe.
    UnknownItem,
    /// Its user has shown as many other items in this step as count.
    TooManyItems,
}

/// The first event that a step with these events would drop, unless its user is not active anyway.
pub(crate) fn first_dropped(plan: &MonitorPlan, events: &[Event]) -> Option<BadEvent> {
    let bad = |(position, event): (usize, &Event)| {
        let why = if event.user >= plan.users() {
            BadEventKind::UnknownUser
        } else if event.item > plan.universe().last() {
            BadEventKind::UnknownItem
        } else {
            return None;
        };
        Some(BadEvent { position, why })
    };
    let unknown = events.iter().enumerate().find_map(bad);
    // What comes after it does not matter.
    let known = &events[..unknown.map_or(events.len(), |bad| bad.position)];
    let mut order: Vec<usize> = (0..known.len()).collect();
    order.sort_by_key(|&i| (known[i].user, i));
    let most = usize::from(plan.items_per_step());
    let of_users = order.chunk_by(|&a, &b| known[a].user == known[b].user);
    let crowded = of_users.filter_map(|own| first_beyond(most, own, known)).min();
    crowded.map(|position| BadEvent { position, why: BadEventKind::TooManyItems }).or(unknown)
}

/// The first of a user's events that shows an item beyond the first `most`.
fn first_beyond(most: usize, own: &[usize], events: &[Event]) -> Option<usize> {
    let mut shown = Vec::new();
    own.iter().copied().find(|&position| {
        let item = events[position].item;
        let new = !shown.contains(&item);
        if new && shown.len() < most {
            shown.push(item);
            return false;
        }
        new
    })
}

impl fmt::Display for BadEvent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let why = match self.why {
            BadEventKind::UnknownUser => "its user is not below the public bound on users",
            BadEventKind::UnknownItem => "its item is not in the universe",
            BadEventKind::TooManyItems => "its user shows more items in this step than may count",
        };
        write!(f, "event {} of the batch would be dropped: {why}", self.position)
    }
}

impl std::error::Error for BadEvent {}
