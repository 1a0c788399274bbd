//! What shards and the decider refuse from each other, and that nothing changes then.

use dp_stream::{
    ChaCha20Rng, Decider, DeciderState, Decision, Event, MonitorPlan, SecureSource, Shard,
    ShardCounts, ShardState, StreamError,
};

use super::shards::{split, wire};
use super::{plan, rng, shifting};

const USERS: u32 = 400;

/// A decider and three shards that have counted step 2, and the draws.
struct Session {
    plan: MonitorPlan,
    decider: Decider,
    shards: Vec<Shard>,
    counts: Vec<ShardCounts>,
    /// Shard 1, settled for two steps, without events of the third.
    before: ShardState,
    rng: ChaCha20Rng,
}

const SIZES: [u32; 3] = [150, 50, 200];

fn session(number: u64) -> Session {
    let stream = shifting(USERS, 3, 1500, 30, 2);
    let plan = plan(30, USERS, 25, 3, 30);
    let mut rng = rng(9);
    let (mut decider, mut shards) =
        plan.start_sharded_with(number, &SIZES, &mut SecureSource::new(&mut rng)).expect("sizes");
    let mut counts = Vec::new();
    let mut before = shards[1].state();
    for (time, events) in (0..).zip(&stream) {
        before = shards[1].state();
        for (shard, part) in shards.iter_mut().zip(split(events, &SIZES)) {
            shard.add(&part).expect("not counted");
        }
        if time < 2 {
            let reports = decider
                .step_shards_with(time, &mut shards, &mut SecureSource::new(&mut rng))
                .expect("in time");
            assert!(!reports.is_empty(), "somebody is charged");
        } else {
            counts = shards.iter_mut().map(|shard| shard.count(2).expect("in time")).collect();
        }
    }
    Session { plan, decider, shards, counts, before, rng }
}

#[test]
fn stray_repeated_and_foreign_counts_are_refused_and_change_nothing() {
    let Session { plan, mut decider, mut shards, counts, before: at_rest, mut rng } = session(1);
    let before = decider.state();
    let foreign = session(2).counts;
    let mut refused = |messages: &[ShardCounts], message: &str| {
        let error =
            decider.decide_with(messages, &mut SecureSource::new(&mut rng)).expect_err("refused");
        assert_eq!(error.to_string(), message);
        assert_eq!(decider.state(), before);
        error
    };
    let [a, b, c] = <[ShardCounts; 3]>::try_from(counts.clone()).expect("three");
    refused(&[], "shard 0 is missing");
    refused(&[a.clone(), c.clone()], "shard 1 is missing");
    refused(&[a.clone(), b.clone(), a.clone(), c.clone()], "shard 0 is there twice");
    let got = refused(&[a.clone(), foreign[1].clone(), c.clone()], &{
        let StreamError::ForeignSession { got, expected } = session(1)
            .decider
            .decide_with(&foreign, &mut SecureSource::new(&mut super::rng(1)))
            .expect_err("foreign")
        else {
            panic!("another error")
        };
        format!("this belongs to session {got:016x}, not to session {expected:016x}")
    });
    assert!(matches!(got, StreamError::ForeignSession { .. }));
    // One of an earlier step, and one for another step.
    let early = plan
        .start_sharded_with(1, &SIZES, &mut SecureSource::new(&mut super::rng(9)))
        .map(|(_, mut shards)| shards[1].count(0).expect("in time"))
        .expect("sizes");
    refused(&[a.clone(), early, c.clone()], "time 0 has passed, the next step is 2");
    let behind = plan
        .start_sharded_with(1, &SIZES, &mut SecureSource::new(&mut super::rng(9)))
        .map(|(_, mut shards)| shards[1].count(2).expect("in time"))
        .expect("sizes");
    refused(
        &[a.clone(), behind, c.clone()],
        "shard 1 was settled for 0 steps, but 2 were decided: going on without the charges in between \
         would let users be reported too often; settle it with the last decision, or resume it from a \
         newer state",
    );
    let mut other = session(1).shards.swap_remove(1);
    assert_eq!(other.count(3), Err(StreamError::StepCounted { time: 2 }));
    other = at_rest.resume().expect("whole");
    let later = other.count(3).expect("in time");
    refused(&[a.clone(), later, c.clone()], "shard 1 has counted step 3, the first one has step 2");
    // In any order they are fine, once.
    let decision =
        decider.decide_with(&[c, a, b], &mut SecureSource::new(&mut rng)).expect("all shards");
    let again =
        decider.decide_with(&counts, &mut SecureSource::new(&mut rng)).expect_err("decided");
    assert_eq!(again, StreamError::TimeBackwards { got: 2, next: 3 });
    for shard in &mut shards {
        shard.settle(&decision).expect("its step");
    }
}

#[test]
fn stray_repeated_and_foreign_decisions_are_refused_and_change_nothing() {
    let Session { mut decider, mut shards, counts, before: at_rest, mut rng, .. } = session(1);
    let shard = &mut shards[0];
    let earlier = decider.last_decision().expect("two steps were taken");
    let decision =
        decider.decide_with(&counts, &mut SecureSource::new(&mut rng)).expect("all shards");
    let mut other = session(2);
    let foreign = other
        .decider
        .decide_with(&other.counts, &mut SecureSource::new(&mut other.rng))
        .expect("all shards");
    let before = shard.state();
    let refused = |shard: &mut Shard, decision: &Decision, error: &str| {
        assert_eq!(shard.settle(decision).expect_err("refused").to_string(), error);
        assert_eq!(shard.state(), before);
    };
    refused(shard, &earlier, "step 1 has been settled before");
    assert!(matches!(shard.settle(&foreign), Err(StreamError::ForeignSession { .. })));
    let error = shard.add(&[Event { user: 0, item: 1 }]).expect_err("counted");
    assert_eq!(error.to_string(), "step 2 has been counted and must be settled first");
    assert_eq!(shard.state(), before);
    shard.settle(&decision).expect("its step");
    assert_eq!(shard.settle(&decision), Err(StreamError::AlreadySettled { time: 2 }));

    // A shard that has not counted cannot be charged; one that has missed a step can neither.
    let mut uncounted = at_rest.resume().expect("whole");
    let error = uncounted.settle(&decision).expect_err("not counted").to_string();
    assert_eq!(
        error,
        "the shard has lost its counts of step 2, which was decided: its state is older than the decision \
         and cannot settle it; resume it from a newer state"
    );
    assert_eq!(uncounted.count(1), Err(StreamError::TimeBackwards { got: 1, next: 2 }));
    assert_eq!(uncounted.count(25), Err(StreamError::TimeBeyondEnd { got: 25, steps: 25 }));
    let Session { mut decider, mut shards, mut rng, counts, .. } = session(1);
    decider.decide_with(&counts, &mut SecureSource::new(&mut rng)).expect("all shards");
    let missed = decider.last_decision().expect("decided");
    for shard in &mut shards[1..] {
        shard.settle(&missed).expect("its step");
    }
    let counts: Vec<ShardCounts> =
        shards[1..].iter_mut().map(|shard| shard.count(3).expect("in time")).collect();
    let error = shards[0].count(3).expect_err("unsettled").to_string();
    assert_eq!(error, "step 2 has been counted and must be settled first");
    assert_eq!(
        decider.decide_with(&counts, &mut SecureSource::new(&mut rng)),
        Err(StreamError::MissingShard { shard: 0 })
    );
}

/// A shard that comes back without its counts could count none or other events, and let those that were
/// reported go uncharged. Its counts have another ticket then.
#[test]
fn a_shard_that_has_lost_its_counts_cannot_settle_the_decision_on_them() {
    let events = &split(&shifting(USERS, 3, 1500, 30, 2)[2], &SIZES)[1];
    let Session { plan, mut decider, mut shards, counts, before, mut rng } = session(1);
    let after = wire(&shards[1].state());
    let decision =
        decider.decide_with(&counts, &mut SecureSource::new(&mut rng)).expect("all shards");
    assert!(!decision.reports().is_empty(), "somebody is charged");
    let behind = StreamError::ShardBehind { shard: 1, settled: 2, decided: 3 };
    // No events, other events, and even the same events, which the shard cannot know to be the same.
    for fed in [&events[..0], &events[1..], events] {
        let mut forgetful = wire(&before).resume().expect("whole");
        assert_eq!(forgetful.settle(&decision), Err(StreamError::NotCounted { time: 2 }));
        forgetful.add(fed).expect("not counted");
        forgetful.count(2).expect("in time");
        for mut shard in [wire(&forgetful.state()).resume().expect("whole"), forgetful] {
            let counted = shard.state();
            assert_eq!(shard.settle(&decision), Err(behind.clone()));
            assert!(shard.state() == counted, "nothing has changed");
        }
    }
    // One that has its counts can, with the decision as the decider remembers it after a restart.
    let decider = wire(&decider.state()).resume(&plan, 3).expect("whole");
    assert_eq!(decider.last_decision().as_ref(), Some(&decision));
    shards[1] = after.resume().expect("whole");
    for shard in &mut shards {
        shard.settle(&decision).expect("its counts were decided");
    }
    assert!(wire(&decider.state()).join(shards.iter().map(Shard::state).collect()).is_ok());
}

/// If nothing was decided yet, a shard may count again: the decision is on its new counts.
#[test]
fn counts_that_were_not_decided_can_be_replaced() {
    let Session { mut decider, mut shards, mut counts, before, mut rng, .. } = session(1);
    shards[1] = before.resume().expect("whole");
    counts[1] = shards[1].count(2).expect("in time");
    let decision =
        decider.decide_with(&counts, &mut SecureSource::new(&mut rng)).expect("all shards");
    for shard in &mut shards {
        shard.settle(&decision).expect("its counts were decided");
    }
}

/// The decider was resumed from a state that is older than a decision that was sent.
#[test]
fn a_decider_that_has_forgotten_a_decision_is_refused() {
    let Session { plan, mut decider, mut shards, counts, mut rng, .. } = session(1);
    let old = decider.state();
    let decision =
        decider.decide_with(&counts, &mut SecureSource::new(&mut rng)).expect("all shards");
    for shard in &mut shards {
        shard.settle(&decision).expect("its step");
    }
    let mut forgetful = wire(&old).resume(&plan, 2).expect("the publisher knows of two steps");
    let counts: Vec<ShardCounts> =
        shards.iter_mut().map(|shard| shard.count(3).expect("in time")).collect();
    let error =
        forgetful.decide_with(&counts, &mut SecureSource::new(&mut rng)).expect_err("behind");
    assert_eq!(error, StreamError::DeciderBehind { shard: 0, settled: 3, decided: 2 });
    assert!(error.to_string().contains("would spend the privacy budget twice"), "{error}");
    let error = wire(&old).resume(&plan, 3).expect_err("older than what is out");
    assert_eq!(error, StreamError::StateTooOld { next: 2, published: 3 });
    let states = shards.iter().map(Shard::state).collect();
    assert!(matches!(old.join(states), Err(StreamError::DeciderBehind { .. })));
    assert!(decider.decide_with(&counts, &mut SecureSource::new(&mut rng)).is_ok());
}

/// The same plan, number and users, with another split: a shard would count other users under its number.
#[test]
fn another_split_is_another_session() {
    let plan = plan(30, USERS, 10, 3, 30);
    let start = |sizes: &[u32]| {
        plan.start_sharded_with(1, sizes, &mut SecureSource::new(&mut rng(1))).expect("all users")
    };
    let (mut decider, _) = start(&[100, 300]);
    let (_, mut shards) = start(&[300, 100]);
    let counts: Vec<ShardCounts> =
        shards.iter_mut().map(|shard| shard.count(0).expect("in time")).collect();
    let refused = decider.decide_with(&counts, &mut SecureSource::new(&mut rng(2)));
    assert!(matches!(refused, Err(StreamError::ForeignSession { .. })), "{refused:?}");
}

#[test]
fn shards_must_cover_the_users() {
    let plan = plan(30, USERS, 10, 3, 30);
    let error = plan
        .start_sharded_with(1, &[1, 2], &mut SecureSource::new(&mut rng(1)))
        .expect_err("too few")
        .to_string();
    assert_eq!(error, "the plan has 400 users, the shards have 3");
    assert!(
        plan.start_with(&mut SecureSource::new(&mut rng(1))).into_shards(1, &[USERS, 1]).is_err()
    );
    let (decider, shards) = plan
        .start_sharded_with(1, &[200, 200], &mut SecureSource::new(&mut rng(1)))
        .expect("all users");
    let states: Vec<ShardState> = shards.iter().map(Shard::state).collect();
    let join = |states: &[ShardState]| wire(&decider.state()).join(states.to_vec());
    assert_eq!(join(&states[..1]), Err(StreamError::MissingShard { shard: 1 }));
    let twice = [&states[..], &states[1..]].concat();
    assert_eq!(join(&twice), Err(StreamError::RepeatedShard { shard: 1 }));
    let (_, others) = plan
        .start_sharded_with(2, &[200, 200], &mut SecureSource::new(&mut rng(1)))
        .expect("all users");
    let foreign = [states[0].clone(), others[1].state()];
    assert!(matches!(join(&foreign), Err(StreamError::ForeignSession { .. })));
    assert!(join(&states).is_ok());
}

/// Between the decision and the charges there must be no state of the whole to go on from.
#[test]
fn states_without_all_charges_are_refused() {
    let Session { mut decider, mut shards, counts, mut rng, .. } = session(1);
    let decision =
        decider.decide_with(&counts, &mut SecureSource::new(&mut rng)).expect("all shards");
    shards[0].settle(&decision).expect("its step");
    let join = |decider: &Decider, shards: &[Shard]| {
        wire(&decider.state()).join(shards.iter().map(Shard::state).collect())
    };
    let behind = StreamError::ShardBehind { shard: 1, settled: 2, decided: 3 };
    assert_eq!(join(&decider, &shards), Err(behind));
    for shard in &mut shards[1..] {
        shard.settle(&decision).expect("its step");
    }
    assert!(join(&decider, &shards).is_ok());
}

/// A state of one kind is not taken for another.
#[test]
fn kinds_are_told_apart() {
    let Session { decider, shards, counts, .. } = session(1);
    let text = |value: &dyn Fn() -> serde_json::Result<String>| value().expect("plain data");
    let shard = text(&|| serde_json::to_string(&shards[0].state()));
    let message = |error: serde_json::Error| error.to_string();
    let error = serde_json::from_str::<DeciderState>(&shard).expect_err("a shard's state");
    assert!(message(error).starts_with("this is not a decider-state"));
    let counts = text(&|| serde_json::to_string(&counts[0]));
    let error = serde_json::from_str::<Decision>(&counts).expect_err("counts");
    assert!(message(error).starts_with("this is not a decision"));
    let state = text(&|| serde_json::to_string(&decider.state()));
    assert!(serde_json::from_str::<DeciderState>(&state).is_ok());
}

/// How many users have come is private, and sizes of shards are not.
#[test]
fn a_session_that_has_grown_is_not_split() {
    for (users, split) in [(USERS, true), (USERS + 1, false)] {
        let plan = plan(30, USERS, 25, 3, 30);
        let mut monitor = plan.start_with(&mut SecureSource::new(&mut rng(9)));
        monitor.grow_to_with(users, &mut SecureSource::new(&mut rng(10)));
        match monitor.into_shards(1, &SIZES) {
            Ok((_, shards)) => assert!(split && shards.len() == 3),
            Err(error) => {
                assert!(!split && error == StreamError::Grown);
                assert_eq!(
                    error.to_string(),
                    "a session that has grown beyond the users of its plan cannot be split"
                );
            }
        }
    }
}
