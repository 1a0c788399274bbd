//! Which events of a step are dropped, for whoever may see them.

use super::Participants;
use super::known::{Precedence, Rank};
use crate::{Event, MonitorPlan};

/// An event that a step would drop. Private: its position and reason depend on the data.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("event {position} of the batch would be dropped: {why}")]
pub struct BadEvent {
    /// In the batch.
    pub position: usize,
    /// What is wrong.
    pub why: BadEventKind,
}

/// What is wrong with an event.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum BadEventKind {
    /// The user is not below the bound on users, or the number to which the session has grown.
    #[error("its user has no place in this session")]
    UnknownUser,
    /// The item is not in the universe.
    #[error("its item is not in the universe")]
    UnknownItem,
    /// Its user shows as many other items in this step as count, which come first in the order of the step.
    #[error("its user shows more items in this step than may count")]
    TooManyItems,
}

/// The first event that a step with these events would drop, unless its user is not active anyway. This is the order of items
/// in the step.
pub(crate) fn first_dropped(
    plan: &MonitorPlan,
    events: &[Event],
    (users, order): (&Participants, Precedence<'_>),
) -> Option<BadEvent> {
    let why = |event: &Event| {
        if event.user as usize >= users.users() {
            Some(BadEventKind::UnknownUser)
        } else if event.item > plan.universe().last() {
            Some(BadEventKind::UnknownItem)
        } else {
            None
        }
    };
    let unknown = (0..)
        .zip(events)
        .find_map(|(position, event)| Some(BadEvent { position, why: why(event)? }));
    let mut known: Vec<(u32, Rank, usize)> = (0..)
        .zip(events)
        .filter(|(_, event)| why(event).is_none())
        .map(|(position, event)| {
            (event.user, order.rank(users.tag(event.user), event.item), position)
        })
        .collect();
    known.sort_unstable();
    let most = usize::from(plan.items_per_step());
    let beyond = known.chunk_by(|a, b| a.0 == b.0).flat_map(|own| {
        // Each item with all of its events.
        let items = own.chunk_by(|a, b| a.1 == b.1);
        items.skip(most).flatten().map(|&(_, _, position)| position)
    });
    let crowded =
        beyond.min().map(|position| BadEvent { position, why: BadEventKind::TooManyItems });
    [unknown, crowded].into_iter().flatten().min_by_key(|bad| bad.position)
}
