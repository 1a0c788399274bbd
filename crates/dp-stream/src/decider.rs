//! A session on many machines: users are split into shards, their counts are summed and decided on.

use serde::{Deserialize, Serialize};

use dp_mechanism::{CryptoRng, Draws, SecureDraws, Touched};
use rayon::prelude::*;

use crate::decisions::{Decisions, Progress};
use crate::messages::{Decided, Decision, ShardCounts};
use crate::monitor::Monitor;
use crate::participants::Participants;
use crate::sealed::{self, Checksum, Content};
use crate::shard::{Shard, ShardState};
use crate::{MonitorPlan, MonitorState, Report, StreamError};

/// The part of a session that decides on the counts of all its [`Shard`]s. It knows no user.
///
/// # A step over machines
/// 1. Every shard: [`add`](Shard::add) events, [`count`](Shard::count), save its state, send its counts.
/// 2. The decider: [`decide`](Self::decide), save its [`state`](Self::state), then send the decision
///    to the shards and publish its reports.
/// 3. Every shard: [`settle`](Shard::settle). Its state must be saved before its next counts leave,
///    which step 1 does.
///
/// # After a crash
/// Every part is resumed from its own state, and the steps are compared when they meet:
/// - a shard whose state is from before its counts: the events of the step in flight are lost, or fed
///   again ([`next_time`](Shard::next_time) names the step);
/// - a shard whose state is from after its counts: counts again, the same, or settles the
///   decision if there is one ([`last_decision`](Self::last_decision), as often as wanted);
/// - a decider whose state is from before the decision: nothing of it is out, so it decides anew;
/// - a shard that has missed a decision and cannot settle it: [refused](StreamError::ShardBehind),
///   since it does not know who was charged;
/// - a decider that is behind a shard has forgotten a decision that it sent:
///   [refused](StreamError::DeciderBehind).
///
/// What comes twice, from another session or from another step is refused, and changes nothing.
#[derive(Debug)]
pub struct Decider {
    decisions: Decisions,
    /// The caller's number, the settings and the sizes in one.
    session: u64,
    sizes: Vec<u32>,
}

impl Decider {
    /// Decides the step that all shards have counted, and steps skipped before it, which had no events.
    ///
    /// Takes one message of every shard, in any order.
    ///
    /// # Errors
    /// [`StreamError`] for messages of another session, for another step, missing or repeated ones, and
    /// shards that are not settled up to this step. Nothing has changed then.
    pub fn decide<R: CryptoRng + ?Sized>(
        &mut self,
        counts: &[ShardCounts],
        rng: &mut R,
    ) -> Result<Decision, StreamError> {
        self.decide_with(counts, &mut SecureDraws::new(rng))
    }

    /// The one code path of releases and audits: [`decide`](Self::decide) with draws from anywhere.
    ///
    /// # Errors
    /// As [`decide`](Self::decide).
    pub fn decide_with(
        &mut self,
        counts: &[ShardCounts],
        draws: &mut dyn Draws,
    ) -> Result<Decision, StreamError> {
        let time = self.check_counts(counts)?;
        let (items, sums) = sum(counts);
        self.decisions.decide(time, Touched { cells: &items, counts: &sums }, draws)?;
        Ok(self.last_decision().expect("just decided"))
    }

    /// The step that these counts are of.
    fn check_counts(&self, counts: &[ShardCounts]) -> Result<u64, StreamError> {
        let next = self.next_time();
        let mut seen = vec![false; self.sizes.len()];
        let time = counts.first().map_or(next, ShardCounts::time);
        for ShardCounts(message) in counts {
            let shard = message.shard;
            if message.session != self.session {
                let (got, expected) = (message.session, self.session);
                return Err(StreamError::ForeignSession { got, expected });
            }
            let place = usize::try_from(shard).unwrap_or(usize::MAX);
            let damaged = StreamError::Damaged { what: "shard-counts" };
            let size = *self.sizes.get(place).ok_or(damaged.clone())?;
            if message.time < next {
                return Err(StreamError::TimeBackwards { got: message.time, next });
            }
            if message.from < next {
                let (settled, decided) = (message.from, next);
                return Err(StreamError::ShardBehind { shard, settled, decided });
            }
            if message.from > next {
                let settled = message.from;
                return Err(StreamError::DeciderBehind { shard, settled, decided: next });
            }
            if message.time != time {
                return Err(StreamError::OtherTime { shard, got: message.time, expected: time });
            }
            let in_universe = message.items.last() <= Some(&self.plan().universe().last());
            if !in_universe || message.counts.iter().any(|count| *count > size) {
                return Err(damaged);
            }
            if std::mem::replace(&mut seen[place], true) {
                return Err(StreamError::RepeatedShard { shard });
            }
        }
        self.decisions.check_time(time)?;
        match (0..).zip(seen).find(|(_, seen)| !seen) {
            Some((shard, _)) => Err(StreamError::MissingShard { shard }),
            None => Ok(time),
        }
    }

    /// One step over shards that are all here, each of which has been given its events: counted in
    /// parallel, decided, and settled.
    ///
    /// # Errors
    /// As [`Shard::count`] and [`decide`](Self::decide): no report is made and nobody is charged then.
    pub fn step_shards<R: CryptoRng + ?Sized>(
        &mut self,
        time: u64,
        shards: &mut [Shard],
        rng: &mut R,
    ) -> Result<Vec<Report>, StreamError> {
        self.decisions.check_time(time)?;
        let counts: Result<Vec<ShardCounts>, _> =
            shards.par_iter_mut().map(|shard| shard.count(time)).collect();
        let decision = self.decide(&counts?, rng)?;
        shards.par_iter_mut().try_for_each(|shard| shard.settle(&decision))?;
        Ok(decision.0.reports)
    }

    /// The last decision, to be sent to shards that have not settled it, and to be published, once
    /// more after a crash. `None` before the first step.
    pub fn last_decision(&self) -> Option<Decision> {
        let Progress { from, next, ref last_reports, .. } = *self.decisions.progress();
        let (session, reports) = (self.session, last_reports.clone());
        Some(Decision(Decided { session, from, time: next.checked_sub(1)?, reports }))
    }

    /// The plan.
    pub fn plan(&self) -> &MonitorPlan {
        self.decisions.plan()
    }

    /// The next time that can be asked for; at the end of the stream, the number of steps.
    pub fn next_time(&self) -> u64 {
        self.decisions.progress().next
    }

    /// From which noisy count on items are reported, in sampled users.
    pub fn threshold(&self) -> i64 {
        self.decisions.progress().threshold
    }

    /// Changes the threshold from the next step on. It may depend on earlier reports and on nothing
    /// else that is private.
    ///
    /// # Errors
    /// [`StreamError::Setting`] below the least threshold of the plan or above `2^41`.
    pub fn set_threshold(&mut self, threshold: i64) -> Result<(), StreamError> {
        self.decisions.set_threshold(threshold)
    }

    /// All that is needed to go on elsewhere. Free of secrets: it holds reports and no counts.
    pub fn state(&self) -> DeciderState {
        let (session, sizes) = (self.session, self.sizes.clone());
        DeciderState(Resting { session, sizes, progress: self.decisions.progress().clone() })
    }
}

/// Items in order, each once, with their sums, which are at most the number of users.
fn sum(counts: &[ShardCounts]) -> (Vec<u64>, Vec<u32>) {
    let pairs = |ShardCounts(message): &ShardCounts| {
        message.items.clone().into_iter().zip(message.counts.clone())
    };
    let mut all: Vec<(u64, u32)> = counts.iter().flat_map(pairs).collect();
    all.sort_unstable();
    let of_item = |pairs: &[(u64, u32)]| {
        let sum = pairs.iter().fold(0_u32, |sum, (_, count)| sum.saturating_add(*count));
        (pairs[0].0, sum)
    };
    all.chunk_by(|a, b| a.0 == b.0).map(of_item).unzip()
}

/// A [`Decider`] at rest. Not confidential, beyond reports that may not have been published yet.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct DeciderState(#[serde(with = "sealed")] Resting);

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Resting {
    session: u64,
    sizes: Vec<u32>,
    progress: Progress,
}

impl DeciderState {
    /// The next step.
    pub fn next_time(&self) -> u64 {
        self.0.progress.next
    }

    /// Goes on where the state was taken; `published` as at [`MonitorState::resume`].
    ///
    /// # Errors
    /// [`StreamError::StateOfAnotherPlan`], [`StreamError::StateTooOld`].
    pub fn resume(self, plan: &MonitorPlan, published: u64) -> Result<Decider, StreamError> {
        let Resting { session, sizes, progress } = self.0;
        Ok(Decider { decisions: progress.resume(plan, published)?, session, sizes })
    }

    /// One session of all shards, between two steps: to split it in another way, or not at all.
    ///
    /// # Errors
    /// [`StreamError`] if they are not all shards of this session, each settled for every step that was
    /// decided: without the charges of a step, users could be reported too often.
    pub fn join(self, mut shards: Vec<ShardState>) -> Result<MonitorState, StreamError> {
        let Resting { session, sizes, progress } = self.0;
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
        let Self { session, sizes, progress } = self;
        sum.number(*session);
        sum.number(sizes.len() as u64);
        sizes.iter().for_each(|size| sum.number((*size).into()));
        progress.add_to(sum);
    }

    fn check(&self) -> Result<(), StreamError> {
        let plan = self.progress.settings.clone().build()?;
        let whole = check_sizes(&plan, &self.sizes).is_ok() && self.progress.is_possible(&plan);
        if whole { Ok(()) } else { Err(Self::damaged()) }
    }
}

fn check_sizes(plan: &MonitorPlan, sizes: &[u32]) -> Result<(), StreamError> {
    let got = sizes.iter().map(|&size| u64::from(size)).sum();
    let expected = plan.users();
    if got == u64::from(expected) { Ok(()) } else { Err(StreamError::Shards { expected, got }) }
}

/// What binds messages to a session: another plan, another split or another number gives another one.
fn binding(plan: &MonitorPlan, session: u64, sizes: &[u32]) -> u64 {
    let mut sum = Checksum::new();
    plan.settings.add_to(&mut sum);
    sum.number(session);
    sizes.iter().for_each(|size| sum.number((*size).into()));
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

impl MonitorPlan {
    /// Begins a stream whose users are split into shards of these sizes, in order of their numbers.
    ///
    /// The secret coins of all users are tossed here; a shard goes to its machine as a
    /// [`state`](Shard::state), with the coins of its own users. `session` is a number that
    /// no other session of the caller has: messages are bound to it.
    ///
    /// # Errors
    /// [`StreamError::Shards`] if the sizes do not add up to the users of the plan.
    pub fn start_sharded<R: CryptoRng + ?Sized>(
        &self,
        session: u64,
        sizes: &[u32],
        rng: &mut R,
    ) -> Result<(Decider, Vec<Shard>), StreamError> {
        self.start_sharded_with(session, sizes, &mut SecureDraws::new(rng))
    }

    /// The one code path of releases and audits: coins from anywhere.
    ///
    /// # Errors
    /// As [`start_sharded`](Self::start_sharded).
    pub fn start_sharded_with(
        &self,
        session: u64,
        sizes: &[u32],
        draws: &mut dyn Draws,
    ) -> Result<(Decider, Vec<Shard>), StreamError> {
        check_sizes(self, sizes)?;
        let session = binding(self, session, sizes);
        let users = |(first, size)| {
            let sample = self.sample.as_ref();
            Participants::sampled(self.admission(), first, size, sample, draws)
        };
        let shards = (0..).zip(ranges(sizes).map(users));
        let shards = shards
            .map(|(number, users)| Shard::new(self.clone(), (session, number), 0, users))
            .collect();
        let decisions = Decisions::new(self.clone());
        Ok((Decider { decisions, session, sizes: sizes.to_vec() }, shards))
    }
}

impl Monitor {
    /// Splits a session between two steps into shards of these sizes. `session` as at
    /// [`MonitorPlan::start_sharded`].
    ///
    /// # Errors
    /// [`StreamError::Shards`] if the sizes do not add up to the users of the plan.
    pub fn into_shards(
        self,
        session: u64,
        sizes: &[u32],
    ) -> Result<(Decider, Vec<Shard>), StreamError> {
        let plan = self.plan().clone();
        check_sizes(&plan, sizes)?;
        let session = binding(&plan, session, sizes);
        let (decisions, charges) = self.into_parts();
        let next = decisions.progress().next;
        let shard = |(number, (first, size)): (u32, (u32, u32))| {
            let charges = charges[first as usize..][..size as usize].to_vec();
            let users = Participants::with_charges(plan.admission(), first, charges);
            Shard::new(plan.clone(), (session, number), next, users)
        };
        let shards = (0..).zip(ranges(sizes)).map(shard).collect();
        Ok((Decider { decisions, session, sizes: sizes.to_vec() }, shards))
    }
}
