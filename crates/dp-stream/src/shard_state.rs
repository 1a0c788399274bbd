//! A shard at rest.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::params::MonitorBuilder;
use crate::participants::{Participants, are_charges};
use crate::sealed::{self, Checksum, Content};
use crate::shard::Shard;
use crate::{Event, MonitorPlan, StreamError};

/// A [`Shard`] at rest or on its way to another machine, as confidential as the data of its users.
///
/// # Integrity
/// As of a [`MonitorState`](crate::MonitorState).
#[derive(Clone, PartialEq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct ShardState(#[serde(with = "sealed")] Resting);

#[derive(Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Resting {
    pub(crate) settings: MonitorBuilder,
    pub(crate) session: u64,
    pub(crate) shard: u32,
    pub(crate) first_user: u32,
    pub(crate) next: u64,
    pub(crate) history: u64,
    pub(crate) counted: Option<Counted>,
    pub(crate) charges: Vec<u8>,
}

/// A step between its counts and its charges.
#[derive(Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Counted {
    pub(crate) time: u64,
    /// Of the incarnation that has counted it.
    pub(crate) ticket: u64,
    /// Those that count.
    pub(crate) events: Vec<Event>,
}

/// What is public of it; charges and events stay out of logs.
impl fmt::Debug for ShardState {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ShardState")
            .field("session", &self.0.session)
            .field("shard", &self.0.shard)
            .field("first_user", &self.0.first_user)
            .field("users", &self.0.charges.len())
            .field("next", &self.0.next)
            .finish_non_exhaustive()
    }
}

impl ShardState {
    pub(crate) fn new(resting: Resting) -> Self {
        Self(resting)
    }

    /// The first step that the shard has not been settled for.
    pub fn next_time(&self) -> u64 {
        self.0.next
    }

    /// The step that was counted and not settled. The shard can count it again, with the same counts,
    /// or settle the decision on it. If there is none, the events of the step in flight are lost, or must
    /// be fed again; if its counts were decided before, the shard cannot go on.
    pub fn counted_time(&self) -> Option<u64> {
        self.0.counted.as_ref().map(|counted| counted.time)
    }

    /// Goes on where the state was taken, on any machine. A shard must not go on twice: of two that
    /// take part in different steps, each would be unaware of what the other was charged for.
    ///
    /// # Errors
    /// [`StreamError::NoEntropy`]; no other one for a state that was read or taken from a shard.
    pub fn resume(self) -> Result<Shard, StreamError> {
        self.0.resume()
    }

    pub(crate) fn session(&self) -> u64 {
        self.0.session
    }

    pub(crate) fn number(&self) -> u32 {
        self.0.shard
    }

    pub(crate) fn history(&self) -> u64 {
        self.0.history
    }

    pub(crate) fn into_charges(self) -> Vec<u8> {
        self.0.charges
    }
}

impl Resting {
    fn resume(self) -> Result<Shard, StreamError> {
        let plan = self.settings.clone().build()?;
        let counted = self.counted.as_ref().map(|step| (step.time, step.ticket));
        let (name, at) = ((self.session, self.shard), (self.next, self.history));
        let users = self.into_users(&plan)?;
        Ok(Shard::new(plan, name, at, users)?.with_counted(counted))
    }

    /// As they were, with the events of the step that was counted.
    fn into_users(self, plan: &MonitorPlan) -> Result<Participants, StreamError> {
        let mut users = Participants::with_charges(plan.admission(), self.first_user, self.charges);
        if let Some(step) = self.counted {
            users.add(&step.events);
            users.counts();
            if users.counted().len() != step.events.len() {
                return Err(Self::damaged());
            }
        }
        Ok(users)
    }
}

impl Content for Resting {
    const KIND: &'static str = "shard-state";

    fn add_to(&self, sum: &mut Checksum) {
        let Self { settings, session, shard, first_user, next, history, counted, charges } = self;
        settings.add_to(sum);
        for number in [*session, u64::from(*shard), u64::from(*first_user), *next, *history] {
            sum.number(number);
        }
        sum.number(counted.is_some().into());
        if let Some(Counted { time, ticket, events }) = counted {
            sum.number(*time);
            sum.number(*ticket);
            sum.number(events.len() as u64);
            for event in events {
                sum.number(event.user.into());
                sum.number(event.item);
            }
        }
        sum.bytes(charges);
    }

    fn check(&self) -> Result<(), StreamError> {
        let plan = self.settings.clone().build()?;
        let last = u64::from(self.first_user) + self.charges.len() as u64;
        let step = |counted: &Counted| (self.next..plan.steps()).contains(&counted.time);
        let whole = last <= plan.users().into()
            && are_charges(&self.charges, plan.limit())
            && self.next <= plan.steps()
            && self.counted.as_ref().is_none_or(step);
        if !whole {
            return Err(Self::damaged());
        }
        self.clone().into_users(&plan).map(drop)
    }
}
