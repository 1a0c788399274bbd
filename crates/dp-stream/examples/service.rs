//! A service that monitors search words: it interns users, knows words by number, saves before it
//! publishes, and is restarted in the middle of the day.
//!
//! `cargo run -p dp-stream --example service`

#![allow(clippy::print_stdout, reason = "an example shows what it does")]

use std::collections::BTreeMap;

use dp_stream::{
    Event, Monitor, MonitorPlan, MonitorState, StreamShape, ThreshMonitor, Threshold, Universe,
    chacha_from_os,
};

type Failure = Box<dyn std::error::Error>;

/// Words of up to eight letters; longer ones are nobody's.
fn plan() -> Result<MonitorPlan, Failure> {
    let alphabet = "abcdefghijklmnopqrstuvwxyz".to_owned();
    let universe = Universe::BoundedNames { alphabet, max_bytes: 8 };
    let shape = StreamShape { universe, users: 50_000, steps: 24 };
    let rarely = Threshold::Rule { beta: 1e-6 };
    Ok(ThreshMonitor::builder(shape, 1.0, 3)?.threshold(rarely).build()?)
}

/// Numbers by first appearance. Saved with the state: nobody may get the number of somebody else.
#[derive(Default)]
struct Interner {
    users: BTreeMap<String, u32>,
}

impl Interner {
    fn number(&mut self, name: &str) -> u32 {
        let next = u32::try_from(self.users.len()).unwrap_or(u32::MAX);
        *self.users.entry(name.to_owned()).or_insert(next)
    }
}

/// What people search for in an hour: in the evening, the news.
fn searches(hour: u64) -> Vec<(String, &'static str)> {
    let words = ["weather", "recipe", "unicornfarm"];
    let word = |i: usize| if hour == 19 && i < 2_000 { "election" } else { words[i % 3] };
    let count = if hour == 19 { 2_030 } else { 30 };
    (0..count).map(|i| (format!("user-{i}@example.org"), word(i))).collect()
}

fn main() -> Result<(), Failure> {
    let plan = plan()?;
    println!("words of {} users or more in an hour are found", plan.smallest_count(1e-6));
    let mut interner = Interner::default();
    let mut monitor: Monitor = plan.start(&mut chacha_from_os()?);
    let mut published = 0;
    for hour in 0..24 {
        let mut events = Vec::new();
        for (user, word) in searches(hour) {
            // A word that the universe does not have is a bad record: dropped here, as a step would.
            if let Some(item) = plan.universe().item_of(word) {
                events.push(Event { user: interner.number(&user), item });
            }
        }
        let reports = monitor.step(hour, &events, &mut chacha_from_os()?)?;
        // First durable, then public. A crash in between loses nothing and spends nothing twice.
        let file = serde_json::to_vec(&monitor.state())?;
        for report in &reports {
            let word = plan.universe().name_of(report.item).unwrap_or_default();
            println!(
                "{}:00  {word}, about {:.0} users",
                report.time,
                plan.estimate(report.noisy_count)
            );
        }
        published = hour + 1;
        if hour == 12 {
            let state: MonitorState = serde_json::from_slice(&file)?;
            monitor = state.resume(&plan, published)?;
            println!("restarted before step {}", monitor.next_time());
        }
    }
    println!("{published} hours, {}", monitor.receipt());
    Ok(())
}
