//! Many shards are one session.

use dp_stream::{Event, StreamError};

use super::{plan, rng, shifting};

const USERS: u32 = 400;

/// Every event to the shard of its user.
fn split(events: &[Event], sizes: &[u32]) -> Vec<Vec<Event>> {
    let mut first = 0;
    let parts = sizes.iter().map(|size| {
        let users = first..first + size;
        first += size;
        events.iter().copied().filter(|event| users.contains(&event.user)).collect()
    });
    parts.collect()
}

#[test]
fn shards_report_what_one_session_reports() {
    let stream = shifting(USERS + 5, 25, 1500, 30, 2);
    let plan = plan(30, USERS, 25, 3, 30);
    for sizes in [vec![USERS], vec![1, 99, 0, 300], vec![100; 4]] {
        let (mut a, mut b) = (rng(6), rng(6));
        let mut whole = plan.start(&mut a);
        let (mut decider, mut shards) = plan.start_sharded(&sizes, &mut b).expect("all users");
        let mut seen = 0;
        for (time, events) in (0..).zip(&stream) {
            for (shard, part) in shards.iter_mut().zip(split(events, &sizes)) {
                shard.add(&part);
            }
            let expected = whole.step(time, events, &mut a).expect("in time");
            let reports = decider.step_shards(time, &mut shards, &mut b).expect("in time");
            assert_eq!(reports, expected, "{sizes:?} at {time}");
            assert_eq!(decider.state(&shards).as_ref(), Ok(&whole.state()));
            seen += reports.len();
        }
        assert!(seen > 10, "a test about nothing");
    }
}

/// One session becomes shards, on any number of threads, and goes on as before.
#[test]
fn a_session_can_be_split_between_two_steps() {
    let stream = shifting(USERS, 10, 1500, 30, 2);
    let plan = plan(30, USERS, 10, 3, 30);
    let (mut a, mut b) = (rng(6), rng(6));
    let (mut whole, mut other) = (plan.start(&mut a), plan.start(&mut b));
    for (time, events) in (0..).zip(&stream[..5]) {
        let expected = whole.step(time, events, &mut a);
        assert_eq!(other.step(time, events, &mut b), expected);
    }
    let sizes = [150, 250];
    let (mut decider, mut shards) = other.into_shards(&sizes).expect("all users");
    for (time, events) in (5..).zip(&stream[5..]) {
        for (shard, part) in shards.iter_mut().zip(split(events, &sizes)) {
            shard.add(&part);
        }
        let expected = whole.step(time, events, &mut a);
        let threads = usize::try_from(time % 7 + 1).expect("small");
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().expect("threads");
        assert_eq!(pool.install(|| decider.step_shards(time, &mut shards, &mut b)), expected);
    }
    let error = decider.step_shards(3, &mut shards, &mut b).expect_err("passed");
    assert_eq!(error, StreamError::TimeBackwards { got: 3, next: 10 }, "or beyond the end");
}

#[test]
fn shards_must_cover_the_users() {
    let plan = plan(30, USERS, 10, 3, 30);
    let error = plan.start_sharded(&[1, 2], &mut rng(1)).expect_err("too few").to_string();
    assert_eq!(error, "the plan has 400 users, the shards have 3");
    assert!(plan.start(&mut rng(1)).into_shards(&[USERS, 1]).is_err());
    let (decider, shards) = plan.start_sharded(&[200, 200], &mut rng(1)).expect("all users");
    assert!(decider.state(&shards[..1]).is_err());
}

/// Each of these would forget who has been charged.
#[test]
fn states_without_all_charges_are_refused() {
    let plan = plan(30, 2, 25, 1, 5);
    let mut rng = rng(7);
    let (mut decider, mut shards) = plan.start_sharded(&[1, 1], &mut rng).expect("all users");
    shards.swap(0, 1);
    let order = StreamError::ShardOrder { expected: 0, got: 1 };
    assert_eq!(decider.state(&shards), Err(order.clone()));
    assert_eq!(decider.step_shards(0, &mut shards, &mut rng), Err(order));
    shards.swap(0, 1);

    // Between the decision and the charges: a crash must find no state to go on from.
    let counts = dp_stream::merge(shards.iter_mut().map(dp_stream::Shard::counts));
    decider.decide(0, counts.touched(), &mut rng).expect("in time");
    let unsettled = StreamError::ShardUnsettled { decided: 1, settled: 0 };
    assert_eq!(decider.state(&shards), Err(unsettled.clone()));
    shards[0].settle(&[]);
    assert_eq!(decider.state(&shards), Err(unsettled));
    shards[1].settle(&[]);
    assert!(decider.state(&shards).is_ok());
}

/// What a foreign engine may hand over must not show in what can be reported.
#[test]
fn counts_that_no_shard_makes_are_cleaned() {
    let plan = plan(30, USERS, 25, 3, 30);
    let decided = |cells: &[u64], counts: &[u32]| {
        let mut rng = rng(8);
        let (mut decider, _) = plan.start_sharded(&[USERS], &mut rng).expect("all users");
        let touched = dp_mechanism::Touched { cells, counts };
        decider.decide(0, touched, &mut rng).expect("in time")
    };
    let clean = decided(&[3, 9], &[300, 60]);
    assert!(!clean.is_empty());
    assert_eq!(decided(&[9, 3, 9, 1 << 40, 5], &[30, 300, 30, 1000, 0]), clean);
}
