//! A shard that has counted under a wrong time.

use dp_stream::{
    Decider, Event, Monitor, MonitorState, SecureSource, Shard, ShardCounts, StreamError,
};

use super::kill::draws_of;
use super::shards::{split, wire};
use super::{plan, rng, shifting};

const USERS: u32 = 400;
const SIZES: [u32; 3] = [150, 50, 200];
const STEPS: u64 = 9;

/// Three shards, with the unbroken session that they must agree with.
struct Session {
    decider: Decider,
    shards: Vec<Shard>,
    whole: Monitor,
    stream: Vec<Vec<Event>>,
}

impl Session {
    /// After one step.
    fn begin() -> Self {
        let plan = plan(30, USERS, STEPS, 3, 30);
        let stream = shifting(USERS, STEPS, 1500, 30, 2);
        let (decider, shards) = plan
            .start_sharded_with(1, &SIZES, &mut SecureSource::new(&mut rng(6)))
            .expect("all users");
        let whole = plan.start_with(&mut SecureSource::new(&mut rng(6)));
        let mut session = Self { decider, shards, whole, stream };
        let counts = session.count(0, [0; 3]);
        session.decide(0, &counts, 0);
        session
    }

    /// The events of a step, under these times.
    fn count(&mut self, step: usize, times: [u64; 3]) -> Vec<ShardCounts> {
        let parts = split(&self.stream[step], &SIZES);
        let count = |((shard, part), time): ((&mut Shard, &Vec<Event>), u64)| {
            shard.add(part).expect("not counted");
            shard.count(time).expect("in time")
        };
        self.shards.iter_mut().zip(&parts).zip(times).map(count).collect()
    }

    /// Decides, settles, and does the same without shards: the events of the step, at a time.
    fn decide(&mut self, step: usize, counts: &[ShardCounts], time: u64) {
        let decision = self
            .decider
            .decide_with(counts, &mut SecureSource::new(&mut draws_of(time)))
            .expect("all shards");
        assert_eq!(decision.time(), time);
        for shard in &mut self.shards {
            shard.settle(&decision).expect("its counts");
        }
        let reports = self.whole.step_with(
            time,
            &self.stream[step],
            &mut SecureSource::new(&mut draws_of(time)),
        );
        assert_eq!(reports.as_deref(), Ok(decision.reports()));
        assert!(!decision.reports().is_empty(), "nobody is charged: a test about nothing");
        assert_eq!(self.join(), Ok(self.whole.state()));
    }

    fn join(&self) -> Result<MonitorState, StreamError> {
        wire(&self.decider.state()).join(self.shards.iter().map(Shard::state).collect())
    }
}

#[test]
fn counts_under_a_wrong_time_can_be_moved_and_lose_nothing() {
    // Too late, too early for the others, and all of them wrong.
    for (times, right) in [([1, 4, 1], 1), ([1, 3, 3], 3), ([2, 3, 4], 1), ([1, 1, 1], 5)] {
        let mut session = Session::begin();
        let mut counts = session.count(1, times);
        let before = session.decider.state();
        if let Some(stray) = (1..3).find(|&i| times[i] != times[0]) {
            let (shard, got) = (u32::try_from(stray).expect("small"), times[stray]);
            let error = StreamError::OtherTime { shard, got, expected: times[0] };
            assert_eq!(
                session.decider.decide_with(&counts, &mut SecureSource::new(&mut rng(1))),
                Err(error)
            );
            assert!(session.decider.state() == before, "nothing has changed");
        }
        for (shard, counts) in session.shards.iter_mut().zip(&mut counts) {
            let moved = shard.relabel(right).expect("not settled");
            assert_eq!(shard.relabel(right).as_ref(), Ok(&moved), "once more");
            assert_eq!(shard.count(right).as_ref(), Ok(&moved), "and as if it had been right");
            assert_eq!(shard.state().counted_time(), Some(right));
            *shard = wire(&shard.state()).resume().expect("whole");
            *counts = wire(&moved);
        }
        session.decide(1, &counts, right);
        let counts = session.count(2, [7; 3]);
        session.decide(2, &counts, 7);
    }
}

/// Both messages are out. The decider takes either, and not the other one after it, and the shard settles the
/// decision whether or not it remembers that it has sent the one decided.
#[test]
fn of_the_counts_under_two_times_one_is_decided_and_settled() {
    for (first, second) in [(3, 1), (1, 3), (2, 2)] {
        for old_is_decided in [true, false] {
            for resumed_from_old in [true, false] {
                let mut session = Session::begin();
                let mut old = session.count(1, [first; 3]);
                let saved: Vec<_> = session.shards.iter().map(|s| wire(&s.state())).collect();
                let moved = |shard: &mut Shard| shard.relabel(second).expect("not settled");
                let mut new: Vec<ShardCounts> = session.shards.iter_mut().map(moved).collect();
                if resumed_from_old {
                    let resume = |state: dp_stream::ShardState| state.resume().expect("whole");
                    session.shards = saved.into_iter().map(resume).collect();
                }
                let mut decided = first;
                if !old_is_decided {
                    (old, new, decided) = (new, old, second);
                }
                session.decide(1, &old, decided);
                let before = session.decider.state();
                let error = session
                    .decider
                    .decide_with(&new, &mut SecureSource::new(&mut rng(1)))
                    .expect_err("decided");
                let (next, time) = (decided + 1, new[0].time());
                let behind = StreamError::ShardBehind { shard: 0, settled: 1, decided: next };
                let passed = StreamError::TimeBackwards { got: time, next };
                assert_eq!(error, if time < next { passed } else { behind });
                assert!(session.decider.state() == before, "nothing has changed");
            }
        }
    }
}

/// Two deciders from one state, each with the counts under another time: the shards follow the first.
#[test]
fn two_deciders_cannot_have_one_time_each() {
    for (first, second) in [(1, 3), (3, 1)] {
        let mut session = Session::begin();
        let plan = session.decider.plan().clone();
        let mut twin = wire(&session.decider.state()).resume(&plan, 1).expect("whole");
        let counts = session.count(1, [second; 3]);
        let late =
            twin.decide_with(&counts, &mut SecureSource::new(&mut rng(1))).expect("all shards");
        let moved = |shard: &mut Shard| shard.relabel(first).expect("not settled");
        let counts: Vec<ShardCounts> = session.shards.iter_mut().map(moved).collect();
        session.decide(1, &counts, first);
        for shard in &mut session.shards {
            let before = shard.state();
            let error = shard.settle(&late).expect_err("another decider's");
            let passed = matches!(error, StreamError::AlreadySettled { time: 1 });
            let other = matches!(error, StreamError::OtherDecisions { settled, .. } if settled == first + 1);
            assert!(other || passed && first == 3, "{error:?}");
            assert!(shard.state() == before, "nothing has changed");
        }
        assert_eq!(session.join(), Ok(session.whole.state()));
    }
}

#[test]
fn only_unsettled_counts_move_and_only_to_times_that_are_left() {
    let mut session = Session::begin();
    let shard = &mut session.shards[1];
    let error = shard.relabel(2).expect_err("not counted");
    assert_eq!(error, StreamError::NothingCounted { next: 1 });
    assert_eq!(
        error.to_string(),
        "no step has been counted since step 1 began, so none can be moved"
    );
    session.count(1, [1, 4, 1]);
    let shard = &mut session.shards[1];
    let before = shard.state();
    assert_eq!(shard.count(1), Err(StreamError::StepCounted { time: 4 }), "only when asked to");
    let passed = StreamError::TimeBackwards { got: 0, next: 1 };
    assert_eq!(shard.relabel(0), Err(passed));
    assert_eq!(shard.relabel(STEPS), Err(StreamError::TimeBeyondEnd { got: STEPS, steps: STEPS }));
    assert!(shard.state() == before, "nothing has changed");
    shard.relabel(1).expect("not settled");
    let more = shard.add(&[Event { user: 160, item: 1 }]);
    assert_eq!(more, Err(StreamError::StepCounted { time: 1 }), "its events are closed");
}
