//! A decider and three shards, each on a machine that can die at any moment of a step.
//!
//! Null: an unbroken session without shards, on the events that were not lost.

use std::collections::VecDeque;

use dp_stream::{
    ChaCha20Rng, Decider, DeciderState, Decision, Event, Mechanism, MonitorPlan, Report,
    SecureSource, Shard, ShardCounts, ShardState, StreamError,
};
use rand::RngExt;

use super::disk::Disk;
use super::kill::draws_of;
use super::shards::{split, wire};
use super::{plan, rng, shifting};

const STEPS: u64 = 150;
const SIZES: [u32; 3] = [700, 100, 1_200];
const KILLS: usize = 100;

/// When within a step which part dies.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Moment {
    /// A shard, with half of its events, which can be had again.
    ShardAmongEvents,
    /// A shard, with half of its events, which are lost.
    ShardAmongLostEvents,
    /// A shard that has counted.
    ShardBeforeState,
    /// A shard that is writing its state.
    ShardWithinState,
    /// A shard whose state is durable and whose counts are not sent.
    ShardBeforeSending,
    /// A shard that has sent its counts and waits.
    ShardAfterSending,
    /// The decider, with all counts at hand.
    DeciderBeforeDecision,
    /// The decider, with a decision that is in memory only.
    DeciderBeforeState,
    /// The decider, while it is writing its state.
    DeciderWithinState,
    /// The decider, with a durable decision that nobody has heard of.
    DeciderBeforeSending,
    /// The decider, when the first shard has settled.
    DeciderAmongShards,
    /// A shard that has settled, in memory only.
    ShardAfterSettling,
}

const MOMENTS: [Moment; 12] = [
    Moment::ShardAmongEvents,
    Moment::ShardAmongLostEvents,
    Moment::ShardBeforeState,
    Moment::ShardWithinState,
    Moment::ShardBeforeSending,
    Moment::ShardAfterSending,
    Moment::DeciderBeforeDecision,
    Moment::DeciderBeforeState,
    Moment::DeciderWithinState,
    Moment::DeciderBeforeSending,
    Moment::DeciderAmongShards,
    Moment::ShardAfterSettling,
];

/// A shard's machine.
struct Machine {
    disk: Disk,
    shard: Shard,
}

impl Machine {
    fn new(shard: &Shard) -> Self {
        let mut disk = Disk::default();
        let state: ShardState = wire(&shard.state());
        disk.write(&state);
        Self { disk, shard: state.resume().expect("whole") }
    }

    fn restart(&mut self) {
        let age = |state: &ShardState| (state.next_time(), state.counted_time());
        self.shard = self.disk.newest(age).resume().expect("whole");
    }
}

struct World {
    plan: MonitorPlan,
    decider: Decider,
    disk: Disk,
    machines: Vec<Machine>,
    published: Vec<Report>,
    /// By step, moment and the shard that dies if it is one.
    kills: VecDeque<(u64, Moment, usize)>,
    killed: Vec<(u64, Moment)>,
    moments: ChaCha20Rng,
}

impl World {
    fn dies(&mut self, time: u64, moment: Moment, shard: usize) -> bool {
        let is_it =
            |&(step, m, s): &(u64, Moment, usize)| step <= time && m == moment && s == shard;
        let dies = self.kills.front().is_some_and(is_it);
        if dies {
            self.kills.pop_front();
            self.killed.push((time, moment));
        }
        dies
    }

    fn restart_decider(&mut self) {
        let state: DeciderState = self.disk.newest(DeciderState::next_time);
        self.decider = state.resume(&self.plan, self.published_steps()).expect("not too old");
    }

    fn published_steps(&self) -> u64 {
        self.published.last().map_or(0, |report| report.time + 1)
    }

    /// From its newest state, and with the last decision, if that is not in it.
    fn restart_shard(&mut self, i: usize) {
        self.machines[i].restart();
        if let Some(decision) = self.decider.last_decision() {
            let settled = self.machines[i].shard.settle(&decision);
            let time = decision.time();
            assert!(matches!(settled, Ok(()) | Err(StreamError::AlreadySettled { .. })), "{time}");
        }
    }

    /// Until the counts of a shard are on their way, however often it dies.
    fn counts(&mut self, i: usize, time: u64, events: &mut Vec<Event>) -> ShardCounts {
        loop {
            let machine = &mut self.machines[i];
            assert_eq!(machine.shard.next_time(), time, "nothing but the step in flight is open");
            if machine.shard.state().counted_time().is_none() {
                let (first, rest) = events.split_at(events.len() / 2);
                machine.shard.add(first).expect("not counted");
                let rest = rest.to_vec();
                let lost = self.dies(time, Moment::ShardAmongLostEvents, i);
                if lost || self.dies(time, Moment::ShardAmongEvents, i) {
                    if lost {
                        *events = rest;
                    }
                    self.restart_shard(i);
                    continue;
                }
                self.machines[i].shard.add(&rest).expect("not counted");
            }
            let counts = self.machines[i].shard.count(time).expect("in time");
            if self.dies(time, Moment::ShardBeforeState, i) {
                self.restart_shard(i);
                continue;
            }
            let state = self.machines[i].shard.state();
            if self.dies(time, Moment::ShardWithinState, i) {
                self.machines[i].disk.write_torn(&state, &mut self.moments);
                self.restart_shard(i);
                continue;
            }
            self.machines[i].disk.write(&state);
            if self.dies(time, Moment::ShardBeforeSending, i) {
                self.restart_shard(i);
                continue;
            }
            let sent = wire(&counts);
            if self.dies(time, Moment::ShardAfterSending, i) {
                self.restart_shard(i);
                let again = self.machines[i].shard.count(time).expect("in time");
                assert_eq!(again, sent, "what is sent again is what was sent");
            }
            return sent;
        }
    }

    /// Until a decision is durable, however often the decider dies.
    fn decision(&mut self, time: u64, counts: &[ShardCounts]) -> Decision {
        loop {
            if self.dies(time, Moment::DeciderBeforeDecision, 0) {
                self.restart_decider();
            }
            self.decider
                .decide_with(counts, &mut SecureSource::new(&mut draws_of(time)))
                .expect("all shards");
            if self.dies(time, Moment::DeciderBeforeState, 0) {
                self.restart_decider();
                continue;
            }
            let state = self.decider.state();
            if self.dies(time, Moment::DeciderWithinState, 0) {
                self.disk.write_torn(&state, &mut self.moments);
                self.restart_decider();
                continue;
            }
            self.disk.write(&state);
            if self.dies(time, Moment::DeciderBeforeSending, 0) {
                self.restart_decider();
            }
            return wire(&self.decider.last_decision().expect("decided"));
        }
    }

    fn step(&mut self, time: u64, parts: &mut [Vec<Event>]) {
        let counts: Vec<ShardCounts> =
            (0..).zip(parts).map(|(i, p)| self.counts(i, time, p)).collect();
        let mut decision = self.decision(time, &counts);
        self.published.extend(decision.reports());
        self.machines[0].shard.settle(&decision).expect("its step");
        if self.dies(time, Moment::DeciderAmongShards, 0) {
            self.restart_decider();
            decision = self.decider.last_decision().expect("durable");
            let again = self.machines[0].shard.settle(&decision);
            assert_eq!(
                again,
                Err(StreamError::AlreadySettled { time }),
                "and nobody is charged twice"
            );
        }
        for i in 0..self.machines.len() {
            if i > 0 {
                self.machines[i].shard.settle(&decision).expect("its step");
            }
            if self.dies(time, Moment::ShardAfterSettling, i) {
                self.machines[i].restart();
                assert_eq!(self.machines[i].shard.next_time(), time, "its charges are forgotten");
                let early = self.machines[i].shard.count(time + 1);
                assert_eq!(
                    early,
                    Err(StreamError::StepCounted { time }),
                    "and cannot be passed over"
                );
                let decision = self.decider.last_decision().expect("durable");
                self.machines[i].shard.settle(&decision).expect("made up for");
            }
        }
    }
}

#[test]
fn a_hundred_deaths_of_machines_lose_at_most_events_of_the_step_in_flight() {
    let users: u32 = SIZES.iter().sum();
    let stream = shifting(users, STEPS, 1_500, 300, 21);
    let plan = plan(300, users, STEPS, 20, 120);
    let mut moments = rng(22);
    let mut kills: Vec<(u64, Moment, usize)> = (0..KILLS)
        .map(|i| {
            let moment = MOMENTS[i % 12];
            let of_shard = format!("{moment:?}").starts_with("Shard");
            let shard = if of_shard { moments.random_range(0..3) } else { 0 };
            (moments.random_range(0..STEPS - 12), moment, shard)
        })
        .collect();
    kills.sort_unstable();
    let (decider, shards) =
        plan.start_sharded_with(5, &SIZES, &mut SecureSource::new(&mut rng(2))).expect("all users");
    let mut disk = Disk::default();
    disk.write(&decider.state());
    let machines = shards.iter().map(Machine::new).collect();
    let kills = kills.into();
    let (published, killed) = (Vec::new(), Vec::new());
    let mut world =
        World { plan: plan.clone(), decider, disk, machines, published, kills, killed, moments };
    let mut unbroken = plan.start_with(&mut SecureSource::new(&mut rng(2)));
    let mut expected = Vec::new();
    for (time, events) in (0..).zip(&stream) {
        let mut parts = split(events, &SIZES);
        world.step(time, &mut parts);
        let left = parts.concat();
        let lost = world.killed.contains(&(time, Moment::ShardAmongLostEvents));
        assert_eq!(lost, left.len() < events.len(), "step {time}");
        expected.extend(
            unbroken
                .step_with(time, &left, &mut SecureSource::new(&mut draws_of(time)))
                .expect("in time"),
        );
    }
    assert_eq!(world.killed.len(), KILLS);
    let of = |moment| world.killed.iter().filter(|(_, m)| *m == moment).count();
    assert!(MOMENTS.into_iter().all(|moment| of(moment) >= KILLS / 12));
    assert!(expected.len() > 100, "{} reports make a test about little", expected.len());
    assert_eq!(world.published, expected);
    assert_eq!(world.decider.plan().receipt(), unbroken.receipt());
    let states = world.machines.iter().map(|machine| machine.shard.state()).collect();
    assert_eq!(world.decider.state().join(states), Ok(unbroken.state()));
}
