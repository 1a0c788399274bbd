//! A stream over three machines that exchange bytes only, one of which dies on the way.
//!
//! `cargo run -p dp-stream --example shards`

#![allow(clippy::print_stdout, reason = "an example shows what it does")]

use dp_stream::{
    Budget, Decider, Event, Method, MonitorPlan, MonitorSettings, Shard, ShardCounts, ShardState,
    StreamShape, Threshold, Universe, chacha_from_os,
};

type Failure = Box<dyn std::error::Error>;

/// A shard's machine: it knows its disk and what it is sent.
struct Machine {
    disk: Vec<u8>,
    shard: Shard,
}

impl Machine {
    /// From bytes: the first state comes from where the session was started.
    fn start(disk: Vec<u8>) -> Result<Self, Failure> {
        let state: ShardState = serde_json::from_slice(&disk)?;
        Ok(Self { disk, shard: state.resume()? })
    }

    /// Counts the step, saves, and only then sends.
    fn count(&mut self, time: u64, events: &[Event]) -> Result<Vec<u8>, Failure> {
        self.shard.add(events)?;
        let counts = self.shard.count(time)?;
        self.disk = serde_json::to_vec(&self.shard.state())?;
        Ok(serde_json::to_vec(&counts)?)
    }

    fn settle(&mut self, decision: &[u8]) -> Result<(), Failure> {
        Ok(self.shard.settle(&serde_json::from_slice(decision)?)?)
    }
}

/// The machine that decides: saves, and only then sends and publishes.
struct Head {
    disk: Vec<u8>,
    decider: Decider,
}

impl Head {
    fn decide(&mut self, counts: &[Vec<u8>]) -> Result<Vec<u8>, Failure> {
        let counts: Result<Vec<ShardCounts>, _> =
            counts.iter().map(|bytes| serde_json::from_slice(bytes)).collect();
        let decision = self.decider.decide(&counts?, &mut chacha_from_os()?)?;
        self.disk = serde_json::to_vec(&self.decider.state())?;
        for report in decision.reports() {
            let users = self.decider.plan().estimate(report.noisy_count);
            println!("step {}: item {} has about {users:.0} users", report.time, report.item);
        }
        Ok(serde_json::to_vec(&decision)?)
    }
}

fn plan() -> Result<MonitorPlan, Failure> {
    let shape = StreamShape { universe: Universe::Bits64, users: 30_000, steps: 6 };
    let rarely = Threshold::Rule { beta: 1e-6 };
    let settings = MonitorSettings { threshold: rarely, ..Default::default() };
    Ok(MonitorPlan::new(Method::ThreshMonitor, shape, Budget::new(1.0, 0.0)?, 4, settings)?)
}

/// In step 3 a third of the users show item 7.
fn events(time: u64, users: std::ops::Range<u32>) -> Vec<Event> {
    let item =
        |user: u32| if time == 3 && user.is_multiple_of(3) { 7 } else { 1_000 + u64::from(user) };
    users.map(|user| Event { user, item: item(user) }).collect()
}

fn main() -> Result<(), Failure> {
    let plan = plan()?;
    println!("items of {} users or more are found", plan.smallest_count(1e-6));
    let (decider, shards) = plan.start_sharded(2_026, &[10_000; 3], &mut chacha_from_os()?)?;
    let mut head = Head { disk: serde_json::to_vec(&decider.state())?, decider };
    // Each shard travels as bytes, with the secret coins of its own users: keep them confidential.
    let mut machines = Vec::new();
    for shard in &shards {
        machines.push(Machine::start(serde_json::to_vec(&shard.state())?)?);
    }
    drop(shards);
    for time in 0..6 {
        let mut counts = Vec::new();
        for (i, machine) in (0..).zip(&mut machines) {
            counts.push(machine.count(time, &events(time, i * 10_000..(i + 1) * 10_000))?);
        }
        if time == 3 {
            // A machine dies before it hears of the decision, and comes back from its disk.
            machines[1] = Machine::start(machines[1].disk.clone())?;
            println!("shard 1 is back, in step {:?}", machines[1].shard.next_time());
        }
        let decision = head.decide(&counts)?;
        for machine in &mut machines {
            machine.settle(&decision)?;
        }
        // What comes twice is refused, and changes nothing.
        if time == 4 {
            println!("the counts again: {}", head.decide(&counts).expect_err("decided"));
            println!("the decision again: {}", machines[0].settle(&decision).expect_err("settled"));
        }
    }
    Ok(())
}
