//! A service that is killed at any moment, restarts from its last durable state, and publishes.
//!
//! Null: an unbroken run. With draws that follow from the number of the step, the two must agree in
//! everything. 10^7 events in a release build, 10^6 in a debug build; 100 kills in both.

use std::collections::{BTreeMap, VecDeque};

use dp_stream::{ChaCha20Rng, Event, Monitor, MonitorPlan, MonitorState, Report, SecureSource};
use rand::{RngExt, SeedableRng};

use super::disk::Disk;
use super::shards::wire;
use super::{plan, rng, shifting};

const EVENTS: usize = if cfg!(debug_assertions) { 1_000_000 } else { 10_000_000 };
const STEPS: u64 = 500;
const USERS: u32 = 20_000;
const KILLS: usize = 100;

/// Draws of one step: in a service they come fresh from the operating system.
pub(super) fn draws_of(step: u64) -> ChaCha20Rng {
    ChaCha20Rng::seed_from_u64(0x5eed ^ step)
}

/// When within a step the process dies.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Moment {
    /// Half of the events have been taken up; the source can give them again.
    AmongItsEvents,
    /// Half of the events have been taken up; the source has forgotten them.
    AmongEventsThatAreLost,
    /// The step was decided and users were charged, in memory only.
    BeforeItsState,
    /// Some bytes of its state have been written.
    WithinItsState,
    /// The state is durable, but the service has not heard so, and no report is out.
    BeforeItsReports,
    /// Some of the reports are out.
    AmongItsReports,
    /// All reports are out; the publisher has not yet noted that.
    AfterItsReports,
}

const MOMENTS: [Moment; 7] = [
    Moment::AmongItsEvents,
    Moment::AmongEventsThatAreLost,
    Moment::BeforeItsState,
    Moment::WithinItsState,
    Moment::BeforeItsReports,
    Moment::AmongItsReports,
    Moment::AfterItsReports,
];

/// What outlives the process.
struct World {
    plan: MonitorPlan,
    disk: Disk,
    stream: Vec<Vec<Event>>,
    /// The reader's records, which may hold a report twice.
    published: Vec<Report>,
    /// How many steps the publisher knows to be out.
    published_steps: u64,
    /// Kills to come, by step.
    kills: VecDeque<(u64, Moment)>,
    /// Kills that were carried out: the step in flight, and when.
    killed: Vec<(u64, Moment)>,
    moments: ChaCha20Rng,
}

impl World {
    fn restart(&self) -> Monitor {
        let state: MonitorState = self.disk.newest(MonitorState::next_time);
        state.resume(&self.plan, self.published_steps).expect("not too old")
    }

    /// Whether the process dies now.
    fn dies(&mut self, time: u64, moment: Moment) -> bool {
        let dies = self.kills.front().is_some_and(|&(step, m)| step <= time && m == moment);
        if dies {
            self.kills.pop_front();
            self.killed.push((time, moment));
        }
        dies
    }

    /// Takes steps until the stream ends or the process is killed.
    fn live(&mut self) {
        let mut monitor = self.restart();
        if self.published_steps < monitor.next_time() {
            // What was durable may not have been out, or not all of it.
            self.publish(monitor.last_reports().to_vec(), monitor.next_time());
        }
        while monitor.next_time() < STEPS {
            let time = monitor.next_time();
            let events = &self.stream[usize::try_from(time).expect("small")];
            let (first, rest) = events.split_at(events.len() / 2);
            monitor.add(first);
            let rest = rest.to_vec();
            if self.dies(time, Moment::AmongItsEvents) {
                return;
            }
            if self.dies(time, Moment::AmongEventsThatAreLost) {
                self.stream[usize::try_from(time).expect("small")] = rest;
                return;
            }
            let reports = monitor
                .step_with(time, &rest, &mut SecureSource::new(&mut draws_of(time)))
                .expect("in time");
            if self.dies(time, Moment::BeforeItsState) {
                return;
            }
            if self.dies(time, Moment::WithinItsState) {
                self.disk.write_torn(&monitor.state(), &mut self.moments);
                return;
            }
            self.disk.write(&monitor.state());
            if self.dies(time, Moment::BeforeItsReports) {
                return;
            }
            if self.dies(time, Moment::AmongItsReports) {
                self.published.extend(&reports[..reports.len().div_ceil(2)]);
                return;
            }
            if self.dies(time, Moment::AfterItsReports) {
                self.published.extend(&reports);
                return;
            }
            self.publish(reports, time + 1);
        }
    }

    fn publish(&mut self, reports: Vec<Report>, steps: u64) {
        self.published.extend(reports);
        self.published_steps = self.published_steps.max(steps);
    }
}

#[test]
fn a_hundred_kills_lose_nothing_and_spend_nothing_twice() {
    let per_step = EVENTS / usize::try_from(STEPS).expect("small");
    let stream = shifting(USERS, STEPS, per_step, 5_000, 11);
    let threshold = i64::try_from(per_step / 8).expect("small");
    let plan = plan(5_000, USERS, STEPS, 100, threshold);
    let mut moments = rng(12);
    let mut kills: Vec<(u64, Moment)> =
        (0..KILLS).map(|i| (moments.random_range(0..STEPS - 1), MOMENTS[i % 7])).collect();
    kills.sort_unstable();
    let mut disk = Disk::default();
    disk.write(&plan.start_with(&mut SecureSource::new(&mut rng(1))).state());
    let mut world = World {
        plan: plan.clone(),
        disk,
        stream: stream.clone(),
        published: Vec::new(),
        published_steps: 0,
        kills: kills.into(),
        killed: Vec::new(),
        moments,
    };
    let mut lives = 0;
    while world.published_steps < STEPS {
        world.live();
        lives += 1;
    }
    // All of them were carried out, at every kind of moment, and torn states were really torn.
    assert_eq!((world.killed.len(), lives), (KILLS, KILLS + 1));
    let of = |moment| world.killed.iter().filter(|(_, m)| *m == moment).count();
    assert!(MOMENTS.into_iter().all(|moment| of(moment) >= KILLS / 7));
    assert_eq!(world.disk.torn, of(Moment::WithinItsState));

    // Unbroken, on the events that were not lost. Lost are exactly first halves of steps in flight.
    let mut unbroken = plan.start_with(&mut SecureSource::new(&mut rng(1)));
    let mut expected = Vec::new();
    for (time, events) in (0..).zip(&world.stream) {
        expected.extend(
            unbroken
                .step_with(time, events, &mut SecureSource::new(&mut draws_of(time)))
                .expect("in time"),
        );
        let before = stream[usize::try_from(time).expect("small")].len();
        let lost = world.killed.contains(&(time, Moment::AmongEventsThatAreLost));
        assert_eq!(lost, events.len() < before, "step {time}");
    }
    assert!(expected.len() > 100, "{} reports make a test about little", expected.len());
    // No report is lost or changed, and what came twice is of a step in flight.
    let mut times: BTreeMap<Report, usize> = BTreeMap::new();
    for report in &world.published {
        *times.entry(*report).or_insert(0) += 1;
    }
    assert_eq!(times.keys().copied().collect::<Vec<_>>(), expected);
    let twice: Vec<u64> = times.iter().filter(|(_, n)| **n > 1).map(|(r, _)| r.time).collect();
    assert!(!twice.is_empty(), "some kills came between publishing and noting it");
    let in_flight = |time: &u64| {
        let out = [Moment::AmongItsReports, Moment::AfterItsReports];
        out.into_iter().any(|moment| world.killed.contains(&(*time, moment)))
    };
    assert!(twice.iter().all(in_flight), "{twice:?}");
    // Who was charged is the same, and so is the receipt.
    let last = world.restart();
    assert_eq!(last.receipt(), unbroken.receipt());
    assert_eq!(last.state(), unbroken.state());
    assert_eq!(last.next_time(), STEPS);
}

/// The control: a service that publishes first and saves afterwards forgets who was charged, and a
/// crash in between spends twice: the step is decided again, and differently.
#[test]
fn publishing_before_saving_would_spend_twice() {
    let stream = shifting(400, 1, 900, 5, 3);
    let plan = plan(5, 400, 1, 40, 100);
    let mut first = plan.start_with(&mut SecureSource::new(&mut rng(1)));
    let saved = wire(&first.state());
    let published =
        first.step_with(0, &stream[0], &mut SecureSource::new(&mut draws_of(0))).expect("in time");
    // Crash before saving. The publisher has noted the step, so the old state is refused.
    let error = wire(&saved).resume(&plan, 1).expect_err("older than what is out").to_string();
    assert!(error.contains("would spend the privacy budget twice"), "{error}");
    // Had it not, the same step would give a second, different answer from the same users.
    let mut again = saved.resume(&plan, 0).expect("nothing was noted");
    let second =
        again.step_with(0, &stream[0], &mut SecureSource::new(&mut draws_of(77))).expect("in time");
    assert!(!published.is_empty() && published != second, "{published:?} {second:?}");
}
