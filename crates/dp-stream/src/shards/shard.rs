//! Some of the users, on a machine of their own.

use std::fmt;

use dp_mechanism::{Private, Touched};

use super::line::fresh_ticket;
use super::messages::{CountsMessage, Decision, ShardCounts};
use super::shard_state::{Counted, Resting, ShardState};
use crate::files::Confidential;
use crate::session::decisions::items_of;
use crate::users::{KnownItems, Participants};
use crate::{Event, MonitorPlan, StreamError};

/// Some of the users of a session: counts their events and keeps their charges.
///
/// # A step
/// [`add`](Self::add) the events of its users, in portions; [`count`](Self::count); save the
/// [`state`](Self::state); send the counts to the [`Decider`](crate::Decider);
/// [`settle`](Self::settle) its decision. A shard draws nothing that a report depends on.
///
/// Feed every event to the shard of its *user*. A split by item would let every shard grant a user the
/// whole number of reports; events of users of other shards are dropped.
///
/// # On another machine, and after a crash
/// A [`ShardState`] is all that a shard needs. The first one holds the secret coins of its own users, a
/// later one also their charges; of the users of other shards it holds nothing. With a state saved
/// between counting and sending, the shard can settle whatever the decider has made of the counts. Counts
/// must not leave before: a shard that comes back without them would charge the wrong users.
///
/// So counts carry a ticket, drawn from the operating system whenever a shard is made or resumed, and
/// kept by states of after the count. The decision names the tickets of the counts that it was made on. A
/// shard that comes back from a state of before its counts, and counts the step again, has another
/// ticket: it settles decisions on its new counts only, and is [refused](StreamError::ShardBehind) for one
/// on those that it has lost (two tickets are equal with probability `2^-64`).
///
/// Resumed from a state of before an earlier decision it is [refused](StreamError::ShardBehind) too. One
/// whose states are all lost cannot be replaced, since nobody else knows who was sampled and charged: the
/// session ends there.
pub struct Shard {
    plan: MonitorPlan,
    session: u64,
    number: u32,
    /// The first step that it has not been settled for.
    next: u64,
    /// Of the decisions that it has been settled with.
    history: u64,
    /// By these decisions.
    known: KnownItems,
    /// The ticket of what it counts until it is resumed elsewhere: no two shards in memory share it.
    incarnation: u64,
    /// The step whose events have been counted and not been settled, with the ticket of the counts, which
    /// may be that of an earlier incarnation.
    counted: Option<(u64, u64)>,
    part: Part,
}

/// Users by their public range, and what is private of them.
pub(crate) struct Part {
    pub(crate) first: u32,
    pub(crate) users: u32,
    pub(crate) participants: Private<Participants>,
}

/// What is public of it; charges and events stay out of logs.
impl fmt::Debug for Shard {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Shard")
            .field("session", &self.session)
            .field("number", &self.number)
            .field("first_user", &self.part.first)
            .field("users", &self.part.users)
            .field("next", &self.next)
            .finish_non_exhaustive()
    }
}

impl Shard {
    pub(crate) fn new(
        plan: MonitorPlan,
        (session, number): (u64, u32),
        (next, history, known): (u64, u64, KnownItems),
        part: Part,
    ) -> Result<Self, StreamError> {
        let incarnation = fresh_ticket()?;
        Ok(Self { plan, session, number, next, history, known, incarnation, counted: None, part })
    }

    /// With the time and the ticket of the step that its users have counted.
    pub(crate) fn with_counted(self, counted: Option<(u64, u64)>) -> Self {
        Self { counted, ..self }
    }

    /// Takes up events of the step under way. Bad events are dropped, see [`MonitorPlan`].
    ///
    /// # Errors
    /// [`StreamError::StepCounted`] after the step was counted: what comes later would be charged
    /// without having counted. Nothing has changed then.
    pub fn add(&mut self, events: &[Event]) -> Result<(), StreamError> {
        if let Some((time, _)) = self.counted {
            return Err(StreamError::StepCounted { time });
        }
        let order = self.known.precedence(self.next, self.plan.item_order());
        let users = self.part.participants.as_mut().zip(Private::new(events));
        let _ = users.map(|(users, events)| users.add(events, order));
        Ok(())
    }

    /// Closes the step: its events are those at `time`, and times skipped before it had none.
    ///
    /// Asked again for the same time, it gives the same counts.
    ///
    /// # Errors
    /// [`StreamError`] for a time that has passed or is not planned, and for another time than one that
    /// was counted and not settled, see [`relabel`](Self::relabel); nothing has changed then.
    pub fn count(&mut self, time: u64) -> Result<ShardCounts, StreamError> {
        self.plan.check_time(time, self.next)?;
        let (counted, ticket) = self.counted.unwrap_or((time, self.incarnation));
        if counted != time {
            return Err(StreamError::StepCounted { time: counted });
        }
        self.counted = Some((time, ticket));
        let order = self.known.precedence(self.next, self.plan.item_order());
        let counts = self.part.participants.as_mut().map(|users| in_order(users.counts(order)));
        let (items, counts) = counts.unzip();
        let (items, counts) = (Confidential::new(items), Confidential::new(counts));
        let Self { session, number: shard, next: from, history, .. } = *self;
        let message = CountsMessage { session, shard, from, time, history, ticket, items, counts };
        Ok(ShardCounts(message))
    }

    /// Moves the step that was counted and not settled to another time: for a shard that has counted
    /// under a wrong one. Gives its counts under the new time, which must not depend on events, as that of
    /// every step.
    ///
    /// The events stay those that were counted, and so do the counts and their ticket. So whichever of the
    /// messages is decided, the one under the old time or the one under the new, the shard
    /// [settles](Self::settle) that decision, and charges the users that it was made on. Both go on from the
    /// same step, so a decider takes one of them and refuses the other.
    ///
    /// # What cannot be corrected
    /// Which events were counted. The counts may be out and decided, by a decision that has not arrived
    /// yet; with other events the shard could not settle it, since it would charge users who were not
    /// counted, and spare some who were. Whoever knows that nothing has been decided can resume the shard from
    /// a state of before its counts, and feed the step again: if it was decided after all, the shard is
    /// [refused](StreamError::ShardBehind), and the session ends unless there is a state with the counts.
    ///
    /// # Errors
    /// [`StreamError::NothingCounted`]; as [`count`](Self::count) for a time that has passed or is not planned.
    /// Nothing has changed then.
    pub fn relabel(&mut self, time: u64) -> Result<ShardCounts, StreamError> {
        self.plan.check_time(time, self.next)?;
        let (_, ticket) = self.counted.ok_or(StreamError::NothingCounted { next: self.next })?;
        self.counted = Some((time, ticket));
        self.count(time)
    }

    /// Charges every user for each reported item that the user was counted in, and ends the step.
    ///
    /// # Errors
    /// [`StreamError::ForeignSession`], [`StreamError::AlreadySettled`] if the decision has been settled
    /// (it may be dropped then), [`StreamError::ShardBehind`] if an earlier one has not, or
    /// if it was made on other counts than this shard has, [`StreamError::OtherDecisions`] if it does not
    /// follow the last one that this shard was settled with, [`StreamError::NotCounted`] if this shard
    /// has counts of the step no more. Nothing has changed then.
    pub fn settle(&mut self, decision: &Decision) -> Result<(), StreamError> {
        let decided = &decision.0;
        if decided.session != self.session {
            let (got, expected) = (decided.session, self.session);
            return Err(StreamError::ForeignSession { got, expected });
        }
        let (shard, settled) = (self.number, self.next);
        let history = decided.history();
        if decided.time < settled && (decided.time + 1 < settled || history == self.history) {
            return Err(StreamError::AlreadySettled { time: decided.time });
        }
        if decided.from > settled {
            return Err(StreamError::ShardBehind { shard, settled, decided: decided.from });
        }
        // On steps that were settled with another decision, or after others.
        if decided.from < settled || decided.after != self.history {
            return Err(StreamError::OtherDecisions { shard, settled });
        }
        let Some((_, ticket)) = self.counted else {
            return Err(StreamError::NotCounted { time: decided.time });
        };
        if decided.ticket_of(shard) != Some(ticket) {
            // Other users may have been counted then: those of this step would be charged for nothing, and
            // those whose counts were decided would not be charged. The ticket says who they were; the time
            // may be one under which they were sent earlier.
            return Err(StreamError::ShardBehind { shard, settled, decided: decided.time + 1 });
        }
        let items = items_of(&decided.reports, decided.time);
        self.part.participants.update(|users| users.settle(&items));
        self.known.note(&decided.reports);
        (self.next, self.history, self.counted) = (decided.time + 1, history, None);
        Ok(())
    }

    /// All that is needed to go on elsewhere. Events of a step that has not been counted are not in it.
    pub fn state(&self) -> ShardState {
        let users = self.part.participants.as_ref();
        let of_step = |(time, ticket)| {
            let events = Confidential::new(users.map(Participants::counted));
            Counted { time, ticket, events }
        };
        let counted = self.counted.map(of_step);
        ShardState::new(Resting {
            asked: self.plan.asked.clone(),
            session: self.session,
            shard: self.number,
            first_user: self.part.first,
            next: self.next,
            history: self.history,
            known: self.known.clone(),
            counted,
            users: Confidential::new(users.map(Participants::standing)),
        })
    }

    /// The first step that it has not been settled for.
    pub fn next_time(&self) -> u64 {
        self.next
    }

    /// The number of users, active or not. Public.
    pub fn users(&self) -> usize {
        self.part.users as usize
    }

    /// Bytes held by users, tables and buffers. Depends on the events of past steps: not for publishing.
    #[expect(clippy::disallowed_methods, reason = "named and documented as not for publishing")]
    pub fn memory_bytes(&self) -> usize {
        self.part.participants.as_ref().map(Participants::memory_bytes).exact()
    }
}

/// The counts of a message: by item, which says nothing about who came first.
fn in_order(touched: Touched<'_>) -> (Vec<u64>, Vec<u32>) {
    let mut pairs: Vec<(u64, u32)> =
        touched.cells.iter().copied().zip(touched.counts.iter().copied()).collect();
    pairs.sort_unstable();
    pairs.into_iter().unzip()
}
