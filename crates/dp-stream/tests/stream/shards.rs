//! Many shards are one session, also when all they say crosses a wire.

use dp_stream::{Event, MonitorPlan, SecureSource, Shard, ShardState, StreamError};
use serde::Serialize;
use serde::de::DeserializeOwned;

use super::charges::in_both_orders;
use super::{plan, rng, shifting};

const USERS: u32 = 400;

/// Every event to the shard of its user.
pub(super) fn split(events: &[Event], sizes: &[u32]) -> Vec<Vec<Event>> {
    let mut first = 0;
    let parts = sizes.iter().map(|size| {
        let users = first..first + size;
        first += size;
        events.iter().copied().filter(|event| users.contains(&event.user)).collect()
    });
    parts.collect()
}

/// As bytes, and back on the other side.
pub(super) fn wire<T: Serialize + DeserializeOwned>(sent: &T) -> T {
    let bytes = serde_json::to_vec(sent).expect("plain data");
    serde_json::from_slice(&bytes).expect("as it was sent")
}

#[test]
fn shards_report_what_one_session_reports() {
    let stream = shifting(USERS + 5, 25, 1500, 30, 2);
    let [shared, spread] = in_both_orders(30, USERS, 25, 3, 30);
    for (plan, sizes) in [
        (&shared, vec![USERS]),
        (&shared, vec![1, 99, 0, 300]),
        (&spread, vec![1, 99, 0, 300]),
        (&spread, vec![100; 4]),
    ] {
        let (mut a, mut b) = (rng(6), rng(6));
        let mut whole = plan.start_with(&mut SecureSource::new(&mut a));
        let (mut decider, mut shards) =
            plan.start_sharded_with(1, &sizes, &mut SecureSource::new(&mut b)).expect("all users");
        let mut seen = 0;
        for (time, events) in (0..).zip(&stream) {
            for (shard, part) in shards.iter_mut().zip(split(events, &sizes)) {
                shard.add(&part).expect("not counted");
            }
            let expected =
                whole.step_with(time, events, &mut SecureSource::new(&mut a)).expect("in time");
            let reports = decider
                .step_shards_with(time, &mut shards, &mut SecureSource::new(&mut b))
                .expect("in time");
            assert_eq!(reports, expected, "{sizes:?} at {time}");
            let states = shards.iter().map(Shard::state).rev().collect();
            assert_eq!(wire(&decider.state()).join(states).as_ref(), Ok(&whole.state()));
            seen += reports.len();
        }
        assert!(seen > 10, "a test about nothing");
    }
}

/// Every shard is begun from bytes, its counts and the decision are bytes, and after every step all
/// parts are put to rest and taken up again.
#[test]
fn shards_on_other_machines_report_what_one_session_reports() {
    for plan in in_both_orders(30, USERS, 25, 3, 30) {
        on_other_machines(&plan);
    }
}

fn on_other_machines(plan: &MonitorPlan) {
    let stream = shifting(USERS, 25, 1500, 30, 2);
    let sizes = [150, 50, 200];
    let (mut a, mut b) = (rng(6), rng(6));
    let mut whole = plan.start_with(&mut SecureSource::new(&mut a));
    let (decider, shards) =
        plan.start_sharded_with(1, &sizes, &mut SecureSource::new(&mut b)).expect("all users");
    let mut decider_file = decider.state();
    let mut files: Vec<ShardState> = shards.iter().map(|shard| wire(&shard.state())).collect();
    drop((decider, shards));
    for (time, events) in (0..).zip(&stream) {
        let mut messages = Vec::new();
        for (file, part) in files.iter_mut().zip(split(events, &sizes)) {
            let mut shard = file.clone().resume().expect("whole");
            shard.add(&part).expect("not counted");
            let counts = shard.count(time).expect("in time");
            assert_eq!(shard.count(time).as_ref(), Ok(&counts), "the same when asked again");
            messages.push(wire(&counts));
            *file = wire(&shard.state());
        }
        let mut decider = wire(&decider_file).resume(plan, time).expect("whole");
        let decision = wire(
            &decider.decide_with(&messages, &mut SecureSource::new(&mut b)).expect("all shards"),
        );
        decider_file = decider.state();
        assert_eq!(
            decision.reports(),
            whole.step_with(time, events, &mut SecureSource::new(&mut a)).expect("in time")
        );
        for file in &mut files {
            assert_eq!(file.counted_time(), Some(time));
            let mut shard = file.clone().resume().expect("whole");
            shard.settle(&decision).expect("its step");
            *file = wire(&shard.state());
        }
    }
    assert_eq!(decider_file.join(files).as_ref(), Ok(&whole.state()));
}

/// One session becomes shards, on any number of threads, and goes on as before.
#[test]
fn a_session_can_be_split_between_two_steps() {
    let stream = shifting(USERS, 10, 1500, 30, 2);
    let plan = plan(30, USERS, 10, 3, 30);
    let (mut a, mut b) = (rng(6), rng(6));
    let (mut whole, mut other) = (
        plan.start_with(&mut SecureSource::new(&mut a)),
        plan.start_with(&mut SecureSource::new(&mut b)),
    );
    for (time, events) in (0..).zip(&stream[..5]) {
        let expected = whole.step_with(time, events, &mut SecureSource::new(&mut a));
        assert_eq!(other.step_with(time, events, &mut SecureSource::new(&mut b)), expected);
    }
    let sizes = [150, 250];
    let (mut decider, mut shards) = other.into_shards(1, &sizes).expect("all users");
    for (time, events) in (5..).zip(&stream[5..]) {
        for (shard, part) in shards.iter_mut().zip(split(events, &sizes)) {
            shard.add(&part).expect("not counted");
        }
        let expected = whole.step_with(time, events, &mut SecureSource::new(&mut a));
        let threads = usize::try_from(time % 7 + 1).expect("small");
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().expect("threads");
        assert_eq!(
            pool.install(|| decider.step_shards_with(
                time,
                &mut shards,
                &mut SecureSource::new(&mut b)
            )),
            expected
        );
    }
    let error = decider
        .step_shards_with(3, &mut shards, &mut SecureSource::new(&mut b))
        .expect_err("passed");
    assert_eq!(error, StreamError::TimeBackwards { got: 3, next: 10 });
}

/// Times without events are skipped over by all parts, also when a shard dies in between.
#[test]
fn shards_skip_steps_as_one_session_does() {
    let plan = plan(3, USERS, 900, 3, 4);
    let sizes = [150, 250];
    let stream = shifting(USERS, 4, 1500, 3, 2);
    let (mut a, mut b) = (rng(6), rng(6));
    let mut whole = plan.start_with(&mut SecureSource::new(&mut a));
    let (mut decider, mut shards) =
        plan.start_sharded_with(1, &sizes, &mut SecureSource::new(&mut b)).expect("all users");
    let mut skipped = 0;
    for (time, events) in [3, 4, 400, 899].into_iter().zip(&stream) {
        let expected =
            whole.step_with(time, events, &mut SecureSource::new(&mut a)).expect("in time");
        let mut counts = Vec::new();
        for (shard, part) in shards.iter_mut().zip(split(events, &sizes)) {
            shard.add(&part).expect("not counted");
            counts.push(shard.count(time).expect("in time"));
        }
        shards[1] = wire(&shards[1].state()).resume().expect("whole");
        let decision =
            decider.decide_with(&counts, &mut SecureSource::new(&mut b)).expect("all shards");
        assert_eq!((decision.time(), decision.reports()), (time, &expected[..]));
        skipped += expected.iter().filter(|report| report.time < time).count();
        for shard in &mut shards {
            shard.settle(&decision).expect("its step");
        }
    }
    assert!(skipped > 0, "a test about nothing");
    let states = shards.iter().map(Shard::state).collect();
    assert_eq!(wire(&decider.state()).join(states), Ok(whole.state()));
}
