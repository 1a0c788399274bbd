//! A shard at rest.

use std::fmt;

use dp_mechanism::Private;
use serde::{Deserialize, Serialize};

use super::shard::{Part, Shard};
use crate::files::{self as sealed, Checksum, Confidential, Content};
use crate::plan::params::Asked;
use crate::users::{Admission, KnownItems, Participants, Precedence, Standing};
use crate::{Event, StreamError};

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
    pub(crate) asked: Asked,
    pub(crate) session: u64,
    pub(crate) shard: u32,
    pub(crate) first_user: u32,
    pub(crate) next: u64,
    pub(crate) history: u64,
    pub(crate) known: KnownItems,
    pub(crate) counted: Option<Counted>,
    /// How many users there are is public.
    pub(crate) users: Confidential<Standing>,
}

/// A step between its counts and its charges.
#[derive(Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Counted {
    pub(crate) time: u64,
    /// Of the incarnation that has counted it.
    pub(crate) ticket: u64,
    /// Those that count.
    pub(crate) events: Confidential<Vec<Event>>,
}

/// What is public of it; charges and events stay out of logs.
impl fmt::Debug for ShardState {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ShardState")
            .field("session", &self.0.session)
            .field("shard", &self.0.shard)
            .field("first_user", &self.0.first_user)
            .field("users", &self.0.users.public_len())
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

    pub(crate) fn into_users(self) -> Private<Standing> {
        self.0.users.into_private()
    }
}

impl Resting {
    fn resume(self) -> Result<Shard, StreamError> {
        let Self { asked, session, shard, first_user: first, next, history, known, counted, users } =
            self;
        let plan = asked.plan()?;
        let number = u32::try_from(users.public_len()).expect("at most the users of the plan");
        let (admission, own) = (plan.admission(), users.into_private());
        let participants = match &counted {
            Some(step) => own.zip(step.events.private()).map(|(own, events)| {
                let order = known.precedence(next, plan.item_order());
                admitted_again((admission, order), first, own, events)
            }),
            None => own.map(|own| Participants::new(admission, first, own)),
        };
        let part = Part { first, users: number, participants };
        let counted = counted.map(|step| (step.time, step.ticket));
        Ok(Shard::new(plan, (session, shard), (next, history, known), part)?.with_counted(counted))
    }
}

impl Content for Resting {
    const KIND: &'static str = "shard-state";

    fn add_to(&self, sum: &mut Checksum) {
        let Self { asked, session, shard, first_user, next, history, known, counted, users } = self;
        asked.add_to(sum);
        for number in [*session, u64::from(*shard), u64::from(*first_user), *next, *history] {
            sum.number(number);
        }
        known.add_to(sum);
        sum.number(counted.is_some().into());
        if let Some(Counted { time, ticket, events }) = counted {
            sum.number(*time);
            sum.number(*ticket);
            events.add_to(sum, |events, sum| {
                sum.number(events.len() as u64);
                for event in events {
                    sum.number(event.user.into());
                    sum.number(event.item);
                }
            });
        }
        users.add_to(sum, Standing::add_to);
    }

    fn check(&self) -> Result<(), StreamError> {
        let plan = self.asked.clone().plan()?;
        let last = u64::from(self.first_user) + self.users.public_len() as u64;
        let step = |counted: &Counted| {
            let admitted = |events: &Vec<Event>| {
                self.users.could_be(|users| {
                    let (admission, users) = (plan.admission(), users.clone());
                    let order = self.known.precedence(self.next, plan.item_order());
                    let users = admitted_again((admission, order), self.first_user, users, events);
                    users.counted().len() == events.len()
                })
            };
            (self.next..plan.steps()).contains(&counted.time) && counted.events.could_be(admitted)
        };
        let whole = last <= plan.users().into()
            && self.users.could_be(|users| users.is_possible(&plan))
            && self.next <= plan.steps()
            && self.known.is_possible(self.next, plan.universe().last())
            && self.counted.as_ref().is_none_or(step);
        if whole { Ok(()) } else { Err(Self::damaged()) }
    }
}

/// Users as they were, with the events of the step that was counted.
fn admitted_again(
    (admission, order): (Admission, Precedence<'_>),
    first_user: u32,
    users: Standing,
    events: &[Event],
) -> Participants {
    let mut users = Participants::new(admission, first_user, users);
    users.add(events, order);
    users.counts(order);
    users
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{MonitorSettings, StreamShape, Universe};

    /// With a checksum that matches: users that the plan does not have are found all the same.
    #[test]
    fn users_beyond_the_plan_are_refused() {
        let shape = StreamShape { universe: Universe::Range { size: 20 }, users: 3, steps: 9 };
        let plan = crate::testing::pure(shape, 1.0, 2, MonitorSettings::default());
        let asked = plan.expect("valid").asked;
        let read = |first_user: u32, users: usize| {
            let users = Standing { charges: vec![0; users], tags: Vec::new() };
            let users = Confidential::new(Private::owned(users));
            let (asked, known) = (asked.clone(), KnownItems::from(Vec::new()));
            let (session, shard, next, history, counted) = (1, 0, 0, 0, None);
            let state =
                Resting { asked, session, shard, first_user, next, history, known, counted, users };
            state.check().is_ok()
        };
        assert!(read(0, 3) && read(1, 2) && read(3, 0));
        assert!(!read(0, 4) && !read(1, 3) && !read(u32::MAX, 1));
    }
}
