//! A session on many machines: users are split into shards, their counts are summed and decided on.

use dp_mechanism::{Private, ReleaseRng, SecureSource, Source, Touched};
use rayon::prelude::*;

use super::decider_state::DeciderState;
use super::line::Last;
use super::messages::{CountsMessage, Decision, ShardCounts};
use super::shard::Shard;
use crate::files::{Content, Turn};
use crate::session::decisions::Decisions;
use crate::{MonitorPlan, Report, StreamError};

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
///   again ([`next_time`](Shard::next_time) names the step), unless counts of it were decided before the
///   crash: a decision holds the random tickets of its counts, and the shard, which counts with a new
///   one, is [refused](StreamError::ShardBehind);
/// - a shard whose state is from after its counts: counts again, the same, or settles the
///   decision if there is one ([`last_decision`](Self::last_decision), as often as wanted);
/// - a decider whose state is from before the decision: nothing of it is out, so it decides anew;
/// - a shard that has missed a decision and cannot settle it: [refused](StreamError::ShardBehind),
///   since it does not know who was charged;
/// - a decider that is behind a shard has forgotten a decision that it sent:
///   [refused](StreamError::DeciderBehind);
/// - a decider that has decided a step anew of which a decision was sent, or two deciders that go on from one
///   state: their decisions name who made them and what they follow, and counts name what
///   was settled, so a shard goes on with the first that reaches it only, and every other one is
///   [refused](StreamError::OtherDecisions). The step at which they part was drawn twice all
///   the same, and publishing both draws spends its budget twice: that is for the caller to exclude. If
///   shards have settled different ones, the session ends there.
///
/// What comes twice, from another session or from another step is refused, and changes nothing.
#[derive(Debug)]
pub struct Decider {
    decisions: Decisions,
    /// The caller's number, the settings and the sizes in one.
    session: u64,
    sizes: Vec<u32>,
    last: Last,
    /// With the last decision.
    history: u64,
    /// What its decisions name as their maker, until it is resumed elsewhere: no two deciders in memory share it.
    incarnation: u64,
    turn: Turn,
}

impl Decider {
    pub(crate) fn new(
        decisions: Decisions,
        session: u64,
        sizes: Vec<u32>,
        (last, incarnation): (Last, u64),
        turn: Turn,
    ) -> Self {
        let history = last.history(session, decisions.progress());
        Self { decisions, session, sizes, last, history, incarnation, turn }
    }

    /// Decides the step that all shards have counted, and steps skipped before it, which had no events.
    ///
    /// Takes one message of every shard, in any order.
    ///
    /// # Errors
    /// [`StreamError`] for messages of another session, for another step, missing or repeated ones, and
    /// shards that are not settled up to this step, or not by decisions of this decider. Nothing has
    /// changed then.
    pub fn decide(
        &mut self,
        counts: &[ShardCounts],
        rng: &mut ReleaseRng,
    ) -> Result<Decision, StreamError> {
        self.decide_with(counts, &mut SecureSource::new(rng))
    }

    /// The one code path of releases and audits: [`decide`](Self::decide) with draws from anywhere, for audits and tests.
    ///
    /// # Errors
    /// As [`decide`](Self::decide).
    pub fn decide_with(
        &mut self,
        counts: &[ShardCounts],
        source: &mut dyn Source,
    ) -> Result<Decision, StreamError> {
        let (time, tickets) = self.check_counts(counts)?;
        self.turn.take()?;
        let sums = sum(counts);
        let touched = sums.as_ref().map(|(items, sums)| Touched { cells: items, counts: sums });
        let plan = self.decisions.shared_plan();
        plan.planned(source, |draws| self.decisions.decide(time, touched, draws).map(drop))?;
        self.last = Last { after: self.history, maker: self.incarnation, tickets };
        let decision = self.last_decision().expect("just decided");
        self.history = decision.0.history();
        Ok(decision)
    }

    /// The step that these counts are of, and their tickets in the order of shards.
    fn check_counts(&self, counts: &[ShardCounts]) -> Result<(u64, Vec<u64>), StreamError> {
        let mut seen = vec![None; self.sizes.len()];
        let time = counts.first().map_or(self.next_time(), ShardCounts::time);
        for ShardCounts(message) in counts {
            let shard = message.shard;
            let place = self.check_message(message, time)?;
            if seen[place].replace(message.ticket).is_some() {
                return Err(StreamError::RepeatedShard { shard });
            }
        }
        self.decisions.check_time(time)?;
        let ticket =
            |(shard, seen): (u32, Option<u64>)| seen.ok_or(StreamError::MissingShard { shard });
        let tickets: Result<Vec<u64>, _> = (0..).zip(seen).map(ticket).collect();
        Ok((time, tickets?))
    }

    /// The place of its shard, if it is of this session and of the step at `expected`.
    fn check_message(&self, message: &CountsMessage, expected: u64) -> Result<usize, StreamError> {
        let &CountsMessage { session: got, shard, from: settled, time, .. } = message;
        if got != self.session {
            return Err(StreamError::ForeignSession { got, expected: self.session });
        }
        let next = self.next_time();
        if time < next {
            return Err(StreamError::TimeBackwards { got: time, next });
        }
        if settled < next {
            return Err(StreamError::ShardBehind { shard, settled, decided: next });
        }
        if settled > next {
            return Err(StreamError::DeciderBehind { shard, settled, decided: next });
        }
        if message.history != self.history {
            return Err(StreamError::OtherDecisions { shard, settled });
        }
        if time != expected {
            return Err(StreamError::OtherTime { shard, got: time, expected });
        }
        let place = usize::try_from(shard).unwrap_or(usize::MAX);
        let fits = |size: &u32| message.fits(*size, self.plan().universe().last());
        match self.sizes.get(place) {
            Some(size) if fits(size) => Ok(place),
            _ => Err(CountsMessage::damaged()),
        }
    }

    /// One step over shards that are all here, each of which has been given its events: counted in
    /// parallel, decided, and settled.
    ///
    /// # Errors
    /// As [`Shard::count`] and [`decide`](Self::decide): no report is made and nobody is charged then.
    pub fn step_shards(
        &mut self,
        time: u64,
        shards: &mut [Shard],
        rng: &mut ReleaseRng,
    ) -> Result<Vec<Report>, StreamError> {
        self.step_shards_with(time, shards, &mut SecureSource::new(rng))
    }

    /// The same with draws from anywhere, for audits and tests.
    ///
    /// # Errors
    /// As [`step_shards`](Self::step_shards).
    pub fn step_shards_with(
        &mut self,
        time: u64,
        shards: &mut [Shard],
        source: &mut dyn Source,
    ) -> Result<Vec<Report>, StreamError> {
        self.decisions.check_time(time)?;
        let counts: Result<Vec<ShardCounts>, _> =
            shards.par_iter_mut().map(|shard| shard.count(time)).collect();
        let decision = self.decide_with(&counts?, source)?;
        shards.par_iter_mut().try_for_each(|shard| shard.settle(&decision))?;
        Ok(decision.0.reports)
    }

    /// The last decision, to be sent to shards that have not settled it, and to be published, once
    /// more after a crash. `None` before the first step.
    pub fn last_decision(&self) -> Option<Decision> {
        self.last.decision(self.session, self.decisions.progress())
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
    /// [`StreamError::OutOfRange`] below the least threshold of the plan or above `2^41`.
    pub fn set_threshold(&mut self, threshold: i64) -> Result<(), StreamError> {
        self.decisions.set_threshold(threshold)
    }

    /// All that is needed to go on elsewhere. Free of secrets: it holds reports and no counts.
    pub fn state(&self) -> DeciderState {
        let (sizes, last) = (self.sizes.clone(), self.last.clone());
        let progress = self.decisions.progress().clone();
        DeciderState::new((self.session, sizes, last), progress, self.turn.clone())
    }

    /// Of all decisions so far: shards begin and go on with the same.
    pub(crate) fn history(&self) -> u64 {
        self.history
    }
}

/// Items in order, each once, with their sums, which are at most the number of users.
fn sum(counts: &[ShardCounts]) -> Private<(Vec<u64>, Vec<u32>)> {
    let mut all = Private::new(()).map(|()| Vec::new());
    for ShardCounts(message) in counts {
        let shown = message.items.private().zip(message.counts.private());
        all = all.zip(shown).map(|(mut all, (items, counts)): (Vec<(u64, u32)>, _)| {
            all.extend(items.iter().copied().zip(counts.iter().copied()));
            all
        });
    }
    all.map(|mut all| {
        // Each message is in order already, which a merging sort makes use of.
        all.sort_by_key(|(item, _)| *item);
        let of_item = |pairs: &[(u64, u32)]| {
            let sum = pairs.iter().fold(0_u32, |sum, (_, count)| sum.saturating_add(*count));
            (pairs[0].0, sum)
        };
        all.chunk_by(|a, b| a.0 == b.0).map(of_item).unzip()
    })
}

#[cfg(test)]
mod tests {
    use rand::SeedableRng;

    use super::*;
    use crate::files::Confidential;
    use crate::{ChaCha20Rng, MonitorSettings, StreamShape, Universe};

    /// With a checksum that matches: what no shard of so many users counts is found all the same.
    #[test]
    fn impossible_counts_are_refused() {
        let shape = StreamShape { universe: Universe::Range { size: 20 }, users: 5, steps: 9 };
        let plan = crate::testing::pure(shape, 1.0, 2, MonitorSettings::default());
        let mut rng = ChaCha20Rng::seed_from_u64(1);
        let mut source = SecureSource::new(&mut rng);
        let started = plan.expect("valid").start_sharded_with(1, &[2, 3], &mut source);
        let (mut decider, mut shards) = started.expect("five users");
        let honest: Result<Vec<ShardCounts>, _> = shards.iter_mut().map(|s| s.count(0)).collect();
        let honest = honest.expect("in time");
        // Of two users and of three, on item 19 of 0 to 19.
        for (shard, item, count, fits) in [
            (0, 19, 3, false),
            (1, 19, 4, false),
            (0, 20, 1, false),
            (0, 19, u32::MAX, false),
            (1, 19, 3, true),
        ] {
            let mut messages = honest.clone();
            messages[shard].0.items = Confidential::new(Private::owned(vec![item]));
            messages[shard].0.counts = Confidential::new(Private::owned(vec![count]));
            let decided = decider.decide_with(&messages, &mut source);
            assert_eq!(decided.is_ok(), fits, "{count} of item {item} in shard {shard}");
        }
        // All users of a shard on one item, twice.
        let mut twice = honest[0].0.clone();
        twice.items = Confidential::new(Private::owned(vec![19, 19]));
        twice.counts = Confidential::new(Private::owned(vec![2, 2]));
        assert_eq!(twice.check(), Err(CountsMessage::damaged()));
    }
}
