//! A decider at rest, and a session put together from its parts.

use serde::{Deserialize, Serialize};

use dp_mechanism::Private;

use super::check_sizes;
use super::decider::Decider;
use super::line::{Last, fresh_ticket};
use super::shard_state::ShardState;
use crate::files::{self as sealed, Checksum, Confidential, Content, Turn};
use crate::session::decisions::Progress;
use crate::users::Standing;
use crate::{MonitorPlan, MonitorState, StreamError};

/// A [`Decider`] at rest. Not confidential, beyond reports that may not have been published yet.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct DeciderState(#[serde(with = "sealed")] Resting, #[serde(skip)] Turn);

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Resting {
    session: u64,
    sizes: Vec<u32>,
    last: Last,
    progress: Progress,
}

impl DeciderState {
    pub(crate) fn new(
        (session, sizes, last): (u64, Vec<u32>, Last),
        progress: Progress,
        turn: Turn,
    ) -> Self {
        Self(Resting { session, sizes, last, progress }, turn)
    }

    /// The next step.
    pub fn next_time(&self) -> u64 {
        self.0.progress.next
    }

    /// Goes on where the state was taken; `published` as at [`MonitorState::resume`].
    ///
    /// A decider must not go on twice: two of them would draw reports of the same counts twice. In memory the
    /// second is refused. Of two from the same bytes no check can undo that, but every shard refuses to go on with
    /// more than one of them.
    ///
    /// # Errors
    /// [`StreamError::StateOfAnotherPlan`], [`StreamError::StateTooOld`], [`StreamError::TakenOver`],
    /// [`StreamError::NoEntropy`].
    pub fn resume(self, plan: &MonitorPlan, published: u64) -> Result<Decider, StreamError> {
        let Self(Resting { session, sizes, last, progress }, mut turn) = self;
        let decisions = progress.resume(plan, published)?;
        let incarnation = fresh_ticket()?;
        turn.take()?;
        Ok(Decider::new(decisions, session, sizes, (last, incarnation), turn))
    }

    /// One session of all shards, between two steps: to split it in another way, or not at all.
    ///
    /// # Errors
    /// [`StreamError`] if they are not all shards of this session, each settled for every step that was
    /// decided, by the decisions of this decider: without the charges of a step, users could be reported
    /// too often.
    pub fn join(self, mut shards: Vec<ShardState>) -> Result<MonitorState, StreamError> {
        let Self(Resting { session, sizes, last, progress }, mut turn) = self;
        let history = last.history(session, &progress);
        shards.sort_by_key(ShardState::number);
        let mut users = Private::new(()).map(|()| Standing::default());
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
            if shard.history() != history {
                return Err(StreamError::OtherDecisions { shard: number, settled });
            }
            users = users.zip(shard.into_users()).map(|(all, more)| all.and(&more));
        }
        if let Some(more) = shards.next() {
            return Err(StreamError::RepeatedShard { shard: more.number() });
        }
        turn.take()?;
        Ok(MonitorState::new(progress, Confidential::new(users), turn))
    }
}

impl Content for Resting {
    const KIND: &'static str = "decider-state";

    fn add_to(&self, sum: &mut Checksum) {
        let Self { session, sizes, last, progress } = self;
        sum.number(*session);
        sum.number(sizes.len() as u64);
        for size in sizes {
            sum.number((*size).into());
        }
        last.add_to(sum);
        progress.add_to(sum);
    }

    fn check(&self) -> Result<(), StreamError> {
        let plan = self.progress.asked.clone().plan()?;
        let tickets = &self.last.tickets;
        let decided = self.progress.next > 0 && tickets.len() == self.sizes.len();
        let whole = check_sizes(&plan, &self.sizes).is_ok()
            && (tickets.is_empty() || decided)
            && self.progress.is_possible(&plan);
        if whole { Ok(()) } else { Err(Self::damaged()) }
    }
}
