//! How a session is split into shards.

mod decider;
pub(crate) mod decider_state;
mod line;
pub(crate) mod messages;
mod shard;
pub(crate) mod shard_state;

use dp_mechanism::{Private, ReleaseRng, SecureSource, Source};

pub use decider::Decider;
pub use decider_state::DeciderState;
pub use messages::{Decision, ShardCounts};
pub use shard::Shard;
pub use shard_state::ShardState;

use crate::files::{Checksum, Turn};
use crate::session::Monitor;
use crate::session::decisions::Decisions;
use crate::users::{Participants, Standing};
use crate::{MonitorPlan, StreamError};
use line::{Last, fresh_ticket};
use shard::Part;

pub(crate) fn check_sizes(plan: &MonitorPlan, sizes: &[u32]) -> Result<(), StreamError> {
    let got = sizes.iter().map(|&size| u64::from(size)).sum();
    let expected = plan.users();
    if got == u64::from(expected) { Ok(()) } else { Err(StreamError::Shards { expected, got }) }
}

/// What binds messages to a session: another plan, another split or another number gives another one.
fn binding(plan: &MonitorPlan, session: u64, sizes: &[u32]) -> u64 {
    let mut sum = Checksum::new();
    plan.asked.add_to(&mut sum);
    sum.number(session);
    for size in sizes {
        sum.number((*size).into());
    }
    sum.finish()
}

/// First user and size of each shard.
fn ranges(sizes: &[u32]) -> impl Iterator<Item = (u32, u32)> {
    let mut first = 0;
    sizes.iter().map(move |&size| {
        let here = first;
        first += size;
        (here, size)
    })
}

/// The parts of a session with these users. No other decider shares its history with this one, not even one of a session begun with the
/// same number.
fn split(
    decisions: Decisions,
    users: &Private<Standing>,
    session: u64,
    sizes: &[u32],
) -> Result<(Decider, Vec<Shard>), StreamError> {
    let (plan, incarnation) = (decisions.plan().clone(), fresh_ticket()?);
    let (next, known) = (decisions.progress().next, decisions.progress().known.clone());
    let last = (Last::none(incarnation), incarnation);
    let decider = Decider::new(decisions, session, sizes.to_vec(), last, Turn::default());
    let history = decider.history();
    let shard = |(number, (first, size)): (u32, (u32, u32))| {
        let admission = plan.admission();
        let participants = users.as_ref().map(|users| {
            let own = users.of(first as usize..(first + size) as usize);
            Participants::new(admission, first, own)
        });
        let part = Part { first, users: size, participants };
        Shard::new(plan.clone(), (session, number), (next, history, known.clone()), part)
    };
    let shards: Result<Vec<Shard>, _> = (0..).zip(ranges(sizes)).map(shard).collect();
    Ok((decider, shards?))
}

impl MonitorPlan {
    /// Begins a stream whose users are split into shards of these sizes, in order of their numbers.
    ///
    /// The secret coins of all users are tossed here; a shard goes to its machine as a
    /// [`state`](Shard::state), with the coins of its own users. `session` is a number that
    /// no other session of the caller has: messages are bound to it.
    ///
    /// # Errors
    /// [`StreamError::Shards`] if the sizes do not add up to the users of the plan,
    /// [`StreamError::NoEntropy`].
    pub fn start_sharded(
        &self,
        session: u64,
        sizes: &[u32],
        rng: &mut ReleaseRng,
    ) -> Result<(Decider, Vec<Shard>), StreamError> {
        self.start_sharded_with(session, sizes, &mut SecureSource::new(rng))
    }

    /// The one code path of releases and audits: coins from anywhere.
    ///
    /// # Errors
    /// As [`start_sharded`](Self::start_sharded).
    pub fn start_sharded_with(
        &self,
        session: u64,
        sizes: &[u32],
        source: &mut dyn Source,
    ) -> Result<(Decider, Vec<Shard>), StreamError> {
        check_sizes(self, sizes)?;
        let session = binding(self, session, sizes);
        let all = (self.users() as usize).into();
        let users = self.planned(source, |draws| self.coins().toss(all, draws));
        split(Decisions::new(self.clone()), &users, session, sizes)
    }
}

impl Monitor {
    /// Splits a session between two steps into shards of these sizes. `session` as at
    /// [`MonitorPlan::start_sharded`].
    ///
    /// # Errors
    /// [`StreamError::Shards`] if the sizes do not add up to the users of the plan, [`StreamError::Grown`] if there are more,
    /// [`StreamError::NoEntropy`], [`StreamError::TakenOver`].
    pub fn into_shards(
        self,
        session: u64,
        sizes: &[u32],
    ) -> Result<(Decider, Vec<Shard>), StreamError> {
        let plan = self.plan().clone();
        check_sizes(&plan, sizes)?;
        if self.has_grown() {
            return Err(StreamError::Grown);
        }
        let session = binding(&plan, session, sizes);
        let (decisions, users) = self.into_parts()?;
        split(decisions, &users, session, sizes)
    }
}
