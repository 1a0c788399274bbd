//! A service that is killed at any moment, restarts from its last durable state, and publishes.
//!
//! Null: an unbroken run. With draws that follow from the number of the step, the two must agree in
//! everything. 10^7 events in a release build, 10^6 in a debug build; 100 kills in both.

use dp_stream::{ChaCha20Rng, Event, Monitor, MonitorPlan, MonitorState, Report};
use rand::{RngExt, SeedableRng};

use super::{plan, rng, shifting};

const EVENTS: usize = if cfg!(debug_assertions) { 1_000_000 } else { 10_000_000 };
const STEPS: u64 = 500;
const USERS: u32 = 20_000;
const KILLS: usize = 100;

/// Draws of one step: in a service they come fresh from the operating system.
fn draws_of(step: u64) -> ChaCha20Rng {
    ChaCha20Rng::seed_from_u64(0x5eed ^ step)
}

/// When within a step the process dies.
#[derive(Clone, Copy, Debug)]
enum Moment {
    /// Events of the step have been taken up, nothing is durable.
    BeforeItsState,
    /// The state is durable, no report is out.
    BeforeItsReports,
    /// Some of the reports are out.
    AmongItsReports,
    /// All reports are out; the publisher has not yet noted that.
    AfterItsReports,
}

/// What outlives the process.
struct World {
    plan: MonitorPlan,
    /// The durable state, in its file form.
    file: Vec<u8>,
    /// The reader's records, which may hold a report twice.
    published: Vec<Report>,
    /// How many steps the publisher knows to be out.
    published_steps: u64,
}

impl World {
    fn restart(&self) -> Monitor {
        let state: MonitorState = serde_json::from_slice(&self.file).expect("a whole state");
        state.resume(&self.plan, self.published_steps).expect("not too old")
    }

    /// Takes steps until the stream ends or the process is killed within the step `until`.
    fn run(&mut self, stream: &[Vec<Event>], until: Option<(u64, Moment)>) {
        let mut monitor = self.restart();
        // What was durable may not have been out.
        self.publish(monitor.last_reports().to_vec(), monitor.next_time());
        while monitor.next_time() < STEPS {
            let time = monitor.next_time();
            let moment = until.filter(|(step, _)| *step == time).map(|(_, moment)| moment);
            let events = &stream[usize::try_from(time).expect("small")];
            monitor.add(&events[..events.len() / 2]);
            if matches!(moment, Some(Moment::BeforeItsState)) {
                return;
            }
            let rest = &events[events.len() / 2..];
            let reports = monitor.step(time, rest, &mut draws_of(time)).expect("in time");
            // A kill is between two steps of a service that saves each; the file is only looked at then.
            if moment.is_some() {
                self.file = serde_json::to_vec(&monitor.state()).expect("plain data");
            }
            match moment {
                Some(Moment::BeforeItsReports) => return,
                Some(Moment::AmongItsReports) => {
                    self.published.extend(&reports[..reports.len() / 2]);
                    return;
                }
                Some(_) => {
                    self.published.extend(&reports);
                    return;
                }
                None => self.publish(reports, time + 1),
            }
            // Dying before the first line of the next step is dying after this one.
            if until.is_some_and(|(step, _)| step == time + 1) {
                self.file = serde_json::to_vec(&monitor.state()).expect("plain data");
            }
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
    // Unbroken.
    let mut unbroken = plan.start(&mut rng(1));
    let mut expected = Vec::new();
    for (time, events) in (0..).zip(&stream) {
        expected.extend(unbroken.step(time, events, &mut draws_of(time)).expect("in time"));
    }
    assert!(expected.len() > 100, "{} reports make a test about little", expected.len());
    // Killed.
    let mut moments = rng(12);
    let mut kills: Vec<u64> = (0..KILLS).map(|_| moments.random_range(0..STEPS)).collect();
    kills.sort_unstable();
    let file = serde_json::to_vec(&plan.start(&mut rng(1)).state()).expect("plain data");
    let mut world = World { plan: plan.clone(), file, published: Vec::new(), published_steps: 0 };
    for (i, step) in kills.into_iter().enumerate() {
        let moment = match i % 4 {
            0 => Moment::BeforeItsState,
            1 => Moment::BeforeItsReports,
            2 => Moment::AmongItsReports,
            _ => Moment::AfterItsReports,
        };
        // A later kill of the same step finds the step behind it.
        if world.restart().next_time() <= step {
            world.run(&stream, Some((step, moment)));
        }
    }
    world.run(&stream, None);
    // Reports are the same once repetitions within the step in flight are taken out, and every
    // repetition is literally the same record.
    let raw = world.published.len();
    let mut published = world.published.clone();
    published.sort_unstable();
    published.dedup();
    assert_eq!(published, expected);
    assert!(raw > expected.len(), "some kills came between publishing and noting it");
    let state = serde_json::to_value(unbroken.state()).expect("plain data");
    let last: MonitorState = serde_json::from_slice(&world.file).expect("a whole state");
    let resumed = last.resume(&plan, 0).expect("of this plan");
    assert_eq!(resumed.receipt(), unbroken.receipt());
    assert_eq!(state["content"]["progress"]["next"], STEPS);
}

/// The control: a service that publishes first and saves afterwards forgets who was charged, and a
/// crash in between spends twice: the step is decided again, and differently.
#[test]
fn publishing_before_saving_would_spend_twice() {
    let stream = shifting(400, 1, 900, 5, 3);
    let plan = plan(5, 400, 1, 40, 100);
    let mut first = plan.start(&mut rng(1));
    let saved = first.state();
    let published = first.step(0, &stream[0], &mut draws_of(0)).expect("in time");
    // Crash before saving. The publisher has noted the step, so the old state is refused.
    let error = saved.clone().resume(&plan, 1).expect_err("older than what is out").to_string();
    assert!(error.contains("would spend the privacy budget twice"), "{error}");
    // Had it not, the same step would give a second, different answer from the same users.
    let mut again = saved.resume(&plan, 0).expect("nothing was noted");
    let second = again.step(0, &stream[0], &mut draws_of(77)).expect("in time");
    assert!(!published.is_empty() && published != second, "{published:?} {second:?}");
}
