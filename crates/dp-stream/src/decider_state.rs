//! A decider at rest, and a session put together from its parts.

use serde::{Deserialize, Serialize};

use crate::decider::Decider;
use crate::decisions::Progress;
use crate::messages::add_tickets;
use crate::sealed::{self, Checksum, Content};
use crate::shard::ShardState;
use crate::sharding::check_sizes;
use crate::{MonitorPlan, MonitorState, StreamError};

/// A [`Decider`] at rest. Not confidential, beyond reports that may not have been published yet.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct DeciderState(#[serde(with = "sealed")] Resting);

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Resting {
    session: u64,
    sizes: Vec<u32>,
    /// Of the counts of the last decision; none before the first one of the session.
    tickets: Vec<u64>,
    progress: Progress,
}

impl DeciderState {
    pub(crate) fn new(
        session: u64,
        sizes: Vec<u32>,
        tickets: Vec<u64>,
        progress: Progress,
    ) -> Self {
        Self(Resting { session, sizes, tickets, progress })
    }

    /// The next step.
    pub fn next_time(&self) -> u64 {
        self.0.progress.next
    }

    /// Goes on where the state was taken; `published` as at [`MonitorState::resume`].
    ///
    /// # Errors
    /// [`StreamError::StateOfAnotherPlan`], [`StreamError::StateTooOld`].
    pub fn resume(self, plan: &MonitorPlan, published: u64) -> Result<Decider, StreamError> {
        let Resting { session, sizes, tickets, progress } = self.0;
        Ok(Decider::new(progress.resume(plan, published)?, session, sizes, tickets))
    }

    /// One session of all shards, between two steps: to split it in another way, or not at all.
    ///
    /// # Errors
    /// [`StreamError`] if they are not all shards of this session, each settled for every step that was
    /// decided: without the charges of a step, users could be reported too often.
    pub fn join(self, mut shards: Vec<ShardState>) -> Result<MonitorState, StreamError> {
        let Resting { session, sizes, progress, .. } = self.0;
        shards.sort_by_key(ShardState::number);
        let mut charges = Vec::new();
        let mut shards = shards.into_iter().peekable();
        for (number, _) in (0..).zip(&sizes) {
            let shard = shards
                .next_if(|shard| shard.number() == number)
                .ok_or(StreamError::MissingShard { shard: number })?;
            if shard.session() != session {
                let got = shard.session();
                return Err(StreamError::ForeignSession { got, expected: session });
            }
            let (settled, decided) = (shard.next_time(), progress.next);
            if settled < decided {
                return Err(StreamError::ShardBehind { shard: number, settled, decided });
            }
            if settled > decided {
                return Err(StreamError::DeciderBehind { shard: number, settled, decided });
            }
            charges.append(&mut shard.into_charges());
        }
        match shards.next() {
            Some(more) => Err(StreamError::RepeatedShard { shard: more.number() }),
            None => Ok(MonitorState::new(progress, charges)),
        }
    }
}

impl Content for Resting {
    const KIND: &'static str = "decider-state";

    fn add_to(&self, sum: &mut Checksum) {
        let Self { session, sizes, tickets, progress } = self;
        sum.number(*session);
        sum.number(sizes.len() as u64);
        for size in sizes {
            sum.number((*size).into());
        }
        add_tickets(tickets, sum);
        progress.add_to(sum);
    }

    fn check(&self) -> Result<(), StreamError> {
        let plan = self.progress.settings.clone().build()?;
        let decided = self.progress.next > 0 && self.tickets.len() == self.sizes.len();
        let whole = check_sizes(&plan, &self.sizes).is_ok()
            && (self.tickets.is_empty() || decided)
            && self.progress.is_possible(&plan);
        if whole { Ok(()) } else { Err(Self::damaged()) }
    }
}
