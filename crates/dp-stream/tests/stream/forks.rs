//! Two deciders that go on from one state: shards go on with one of them, and nothing of that is lost.

use dp_stream::{
    Decider, Decision, Event, MonitorPlan, MonitorState, SecureSource, Shard, ShardCounts,
    StreamError,
};

use super::kill::draws_of;
use super::shards::{split, wire};
use super::{plan, rng, shifting};

const USERS: u32 = 400;
const SIZES: [u32; 3] = [150, 50, 200];
const STEPS: u64 = 8;

fn small() -> (MonitorPlan, Vec<Vec<Event>>) {
    (plan(30, USERS, STEPS, 3, 30), shifting(USERS, STEPS, 1500, 30, 2))
}

fn begin(plan: &MonitorPlan) -> (Decider, Vec<Shard>) {
    plan.start_sharded_with(1, &SIZES, &mut SecureSource::new(&mut rng(6))).expect("all users")
}

fn count(shards: &mut [Shard], time: u64, events: &[Event]) -> Vec<ShardCounts> {
    let parts = split(events, &SIZES);
    let count = |(shard, part): (&mut Shard, &Vec<Event>)| {
        shard.add(part).expect("not counted");
        wire(&shard.count(time).expect("in time"))
    };
    shards.iter_mut().zip(&parts).map(count).collect()
}

fn decide(decider: &mut Decider, time: u64, counts: &[ShardCounts]) -> Decision {
    wire(
        &decider
            .decide_with(counts, &mut SecureSource::new(&mut draws_of(time)))
            .expect("its counts"),
    )
}

fn settle(shards: &mut [Shard], decision: &Decision) {
    for shard in shards {
        shard.settle(decision).expect("the first");
    }
}

fn join(decider: &Decider, shards: &[Shard]) -> Result<MonitorState, StreamError> {
    wire(&decider.state()).join(shards.iter().map(Shard::state).collect())
}

fn other(shard: u32, settled: u64) -> StreamError {
    StreamError::OtherDecisions { shard, settled }
}

fn refuse(shards: &mut [Shard], decision: &Decision, settled: u64) {
    for (number, shard) in (0..).zip(shards) {
        let before = shard.state();
        assert_eq!(shard.settle(decision), Err(other(number, settled)));
        assert!(shard.state() == before, "nothing has changed");
    }
}

fn refuse_counts(decider: &mut Decider, counts: &[ShardCounts], error: &StreamError) {
    let before = decider.state();
    assert_eq!(
        decider.decide_with(counts, &mut SecureSource::new(&mut rng(1))).as_ref(),
        Err(error)
    );
    assert!(decider.state() == before, "nothing has changed");
}

/// Before every step once, of the same bytes. The second decider has drawn another decision, or the same
/// one: then only its maker tells it apart.
#[test]
fn shards_go_on_with_the_first_of_two_deciders_and_lose_nothing() {
    let (plan, stream) = small();
    let mut different = 0;
    for fork in 0..STEPS - 1 {
        for (second_first, draws) in [(false, fork), (true, fork), (false, 77), (true, 77)] {
            let (mut decider, mut shards) = begin(&plan);
            let mut whole = plan.start_with(&mut SecureSource::new(&mut rng(6)));
            let mut late = None;
            for (time, events) in (0..).zip(&stream) {
                whole
                    .step_with(time, events, &mut SecureSource::new(&mut draws_of(time)))
                    .expect("in time");
                let counts = count(&mut shards, time, events);
                if time == fork {
                    let twin = || wire(&decider.state()).resume(&plan, time).expect("whole");
                    let (mut first, mut second) = (twin(), twin());
                    let early = second_first.then(|| decide(&mut second, draws, &counts));
                    let decision = decide(&mut first, time, &counts);
                    let unheard = early.unwrap_or_else(|| decide(&mut second, draws, &counts));
                    different += u32::from(unheard.reports() != decision.reports());
                    settle(&mut shards, &decision);
                    refuse(&mut shards, &unheard, time + 1);
                    (decider, late) = (first, Some(second));
                    continue;
                }
                if let Some(second) = &mut late {
                    let error = if time == fork + 1 {
                        other(0, time)
                    } else {
                        StreamError::DeciderBehind { shard: 0, settled: time, decided: fork + 1 }
                    };
                    refuse_counts(second, &counts, &error);
                    *second = wire(&second.state()).resume(&plan, fork).expect("whole");
                    refuse_counts(second, &counts, &error);
                }
                let decision = decide(&mut decider, time, &counts);
                settle(&mut shards, &decision);
            }
            assert_eq!(join(&decider, &shards), Ok(whole.state()));
        }
    }
    assert!(different > 5, "{different} decisions differ: a test about little");
}

/// From states of different ages: the older one can only repeat counts that it is given again, and nobody
/// hears of that.
#[test]
fn a_decider_from_an_older_state_finds_no_shard() {
    let (plan, stream) = small();
    for (old, new) in [(0, 1), (1, 2), (1, 4), (2, 6)] {
        let (mut decider, mut shards) = begin(&plan);
        let (mut whole, mut saved) =
            (plan.start_with(&mut SecureSource::new(&mut rng(6))), decider.state());
        let mut sent = Vec::new();
        for (time, events) in (0..).zip(&stream[..=new]) {
            if time == old {
                saved = wire(&decider.state());
            }
            whole
                .step_with(time, events, &mut SecureSource::new(&mut draws_of(time)))
                .expect("in time");
            sent.push(count(&mut shards, time, events));
            settle(&mut shards, &decide(&mut decider, time, &sent[sent.len() - 1]));
        }
        let settled = new as u64 + 1;
        let mut behind = saved.resume(&plan, old).expect("the publisher has forgotten");
        let again = decide(&mut behind, old, &sent[usize::try_from(old).expect("small")]);
        // Of a step long past, the shards no longer know with what they have settled it.
        for shard in &mut shards {
            assert_eq!(shard.settle(&again), Err(StreamError::AlreadySettled { time: old }));
        }
        let next = &sent[usize::try_from(old).expect("small") + 1];
        refuse_counts(&mut behind, next, &other(0, old + 1));
        let counts = count(&mut shards, settled, &stream[new + 1]);
        let error = StreamError::DeciderBehind { shard: 0, settled, decided: old + 1 };
        refuse_counts(&mut behind, &counts, &error);
        settle(&mut shards, &decide(&mut decider, settled, &counts));
        whole
            .step_with(settled, &stream[new + 1], &mut SecureSource::new(&mut draws_of(settled)))
            .expect("in time");
        assert_eq!(join(&decider, &shards), Ok(whole.state()));
    }
}

/// Shards that have settled different decisions on one step have charged different users: no decider and no
/// session of its own goes on with all of them.
#[test]
fn shards_of_different_deciders_are_not_mixed() {
    let (plan, stream) = small();
    let (mut decider, mut shards) = begin(&plan);
    let counts = count(&mut shards, 0, &stream[0]);
    settle(&mut shards, &decide(&mut decider, 0, &counts));
    let counts = count(&mut shards, 1, &stream[1]);
    let twin = || wire(&decider.state()).resume(&plan, 1).expect("whole");
    let (mut a, mut b) = (twin(), twin());
    let of_a = decide(&mut a, 1, &counts);
    let of_b = decide(&mut b, 77, &counts);
    shards[0].settle(&of_a).expect("its counts");
    settle(&mut shards[1..], &of_b);
    refuse(&mut shards[..1], &of_b, 2);
    assert_eq!(shards[1].settle(&of_a), Err(other(1, 2)));
    assert_eq!(shards[0].settle(&of_a), Err(StreamError::AlreadySettled { time: 1 }));
    assert_eq!(join(&a, &shards), Err(other(1, 2)));
    assert_eq!(join(&b, &shards), Err(other(0, 2)));
    let counts = count(&mut shards, 2, &stream[2]);
    refuse_counts(&mut a, &counts, &other(1, 2));
    refuse_counts(&mut b, &counts, &other(0, 2));
    let message = other(1, 2).to_string();
    assert!(message.contains("two deciders went on from one state"), "{message}");
}

/// The same number, the same coins, and still not the same session.
#[test]
fn a_session_that_is_begun_twice_is_two() {
    let (plan, stream) = small();
    let (mut decider, mut shards) = begin(&plan);
    let counts = count(&mut shards, 0, &stream[0]);
    refuse_counts(&mut begin(&plan).0, &counts, &other(0, 0));
    settle(&mut shards, &decide(&mut decider, 0, &counts));

    let state = join(&decider, &shards).expect("one session");
    let begin_again = || {
        let monitor = wire(&state).resume(&plan, 1).expect("whole");
        monitor.into_shards(1, &SIZES).expect("all users")
    };
    let ((mut decider, mut shards), (mut twin, _)) = (begin_again(), begin_again());
    let last = decider.last_decision().expect("that of the session that was split");
    assert_eq!(shards[0].settle(&last), Err(StreamError::AlreadySettled { time: 0 }));
    let last = twin.last_decision().expect("the same, in another session");
    refuse(&mut shards, &last, 1);
    let counts = count(&mut shards, 1, &stream[1]);
    refuse_counts(&mut twin, &counts, &other(0, 1));
    settle(&mut shards, &decide(&mut decider, 1, &counts));
}

fn taken_over<T>(result: Result<T, StreamError>) {
    assert_eq!(result.err(), Some(StreamError::TakenOver));
}

/// Of all copies of a session in memory the first that goes on is the only one: each further one would be another answer about the same
/// users. From `state()` and two sessions resumed of it, one user used to cost .70, 1.62 and 2.66 of a receipt of .70.
#[test]
fn of_the_copies_of_a_session_in_memory_one_goes_on() {
    let (plan, stream) = small();
    let mut source_of = rng(6);
    let mut draws = SecureSource::new(&mut source_of);
    let mut first = plan.start_with(&mut draws);
    let (early, twin) = (first.state(), first.state());
    first.step_with(0, &stream[0], &mut draws).expect("in time");
    // From before a step that has been taken since.
    taken_over(early.clone().resume(&plan, 0));
    taken_over(twin.resume(&plan, 0));

    let (state, copy) = (first.state(), first.state().clone());
    let unchanged = first.state();
    let mut second = state.resume(&plan, 1).expect("the newest");
    taken_over(copy.resume(&plan, 1));
    // The session that the state was taken of has been left behind with it, and changes nothing more.
    taken_over(first.step_with(1, &stream[1], &mut draws));
    taken_over(first.finish_with(&mut draws));
    assert!(first.state() == unchanged);
    taken_over(first.into_shards(1, &SIZES));
    second.step_with(1, &stream[1], &mut draws).expect("in time");

    // What is split leaves no session, and what is joined no decider.
    let before = second.state();
    let (mut decider, mut shards) = second.into_shards(1, &SIZES).expect("all users");
    taken_over(before.resume(&plan, 2));
    let (old, again) = (decider.state(), decider.state());
    let counts = count(&mut shards, 2, &stream[2]);
    settle(&mut shards, &decide(&mut decider, 2, &counts));
    taken_over(old.resume(&plan, 2));
    let behind = StreamError::DeciderBehind { shard: 0, settled: 3, decided: 2 };
    assert_eq!(again.join(shards.iter().map(Shard::state).collect()), Err(behind));
    let whole = decider.state().join(shards.iter().map(Shard::state).collect()).expect("settled");
    let counts = count(&mut shards, 3, &stream[3]);
    taken_over(decider.decide_with(&counts, &mut draws));
    taken_over(decider.state().resume(&plan, 3));
    taken_over(decider.state().join(shards.iter().map(Shard::state).collect()));
    whole.resume(&plan, 3).expect("the only one left");
}
