//! A service that monitors search words: it interns users, knows words by number, saves before it
//! publishes, and is restarted in the middle of the day.
//!
//! `cargo run -p dp-stream --example service`

#![allow(clippy::print_stdout, reason = "an example shows what it does")]

use std::collections::BTreeMap;

use dp_stream::{
    Budget, Event, Method, Monitor, MonitorPlan, MonitorSettings, MonitorState, Report,
    StreamShape, Threshold, Universe, chacha_from_os,
};
use serde::{Deserialize, Serialize};

type Failure = Box<dyn std::error::Error>;

/// Words of up to eight letters; longer ones are nobody's.
fn plan() -> Result<MonitorPlan, Failure> {
    let alphabet = "abcdefghijklmnopqrstuvwxyz".to_owned();
    let universe = Universe::BoundedNames { alphabet, max_bytes: 8 };
    let shape = StreamShape { universe, users: 0, steps: 24 };
    let rarely = Threshold::Rule { beta: 1e-6 };
    let settings = MonitorSettings { threshold: rarely, ..Default::default() };
    Ok(MonitorPlan::new(Method::ThreshMonitor, shape, Budget::new(1.0, 0.0)?, 3, settings)?)
}

/// Numbers by first appearance, for as many users as come. Saved with the state: nobody may get the number of somebody else.
#[derive(Default, Serialize, Deserialize)]
struct Interner {
    users: BTreeMap<String, u32>,
}

impl Interner {
    fn number(&mut self, name: &str) -> u32 {
        let next = u32::try_from(self.users.len()).unwrap_or(u32::MAX);
        *self.users.entry(name.to_owned()).or_insert(next)
    }
}

/// All that the service needs after a restart, as confidential as the data. Numbers and charges belong together, so they are one file.
#[derive(Serialize, Deserialize)]
struct Saved {
    state: MonitorState,
    interner: Interner,
}

struct Service {
    plan: MonitorPlan,
    interner: Interner,
    monitor: Monitor,
}

impl Service {
    fn start() -> Result<Self, Failure> {
        let plan = plan()?;
        let monitor = plan.start(&mut chacha_from_os()?);
        Ok(Self { plan, interner: Interner::default(), monitor })
    }

    /// After a crash or an update, with the number of hours that are published.
    fn restart(file: &[u8], published: u64) -> Result<Self, Failure> {
        let Saved { state, interner } = serde_json::from_slice(file)?;
        let plan = plan()?;
        let monitor = state.resume(&plan, published)?;
        Ok(Self { plan, interner, monitor })
    }

    /// The reports of an hour, which may be published once the file is durable. A crash in between loses nothing and spends
    /// nothing twice.
    fn hour(
        &mut self,
        hour: u64,
        searches: &[(String, &str)],
    ) -> Result<(Vec<Report>, Vec<u8>), Failure> {
        let mut events = Vec::new();
        for (user, word) in searches {
            // A word that the universe does not have is a bad record: dropped here, as a step would.
            if let Some(item) = self.plan.universe().item_of(word) {
                events.push(Event { user: self.interner.number(user), item });
            }
        }
        let mut rng = chacha_from_os()?;
        self.monitor.grow_to(u32::try_from(self.interner.users.len())?, &mut rng);
        let reports = self.monitor.step(hour, &events, &mut rng)?;
        Ok((reports, self.file()?))
    }

    fn file(&self) -> Result<Vec<u8>, Failure> {
        let Self { interner, monitor, .. } = self;
        let (state, users) = (monitor.state(), interner.users.clone());
        Ok(serde_json::to_vec(&Saved { state, interner: Interner { users } })?)
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
    let mut service = Service::start()?;
    let smallest = service.plan.smallest_count(1e-6);
    println!("words of {smallest} users or more in an hour are found");
    for hour in 0..24 {
        let (reports, file) = service.hour(hour, &searches(hour))?;
        for report in &reports {
            let word = service.plan.universe().name_of(report.item).unwrap_or_default();
            let users = service.plan.estimate(report.noisy_count);
            println!("{}:00  {word}, about {users:.0} users", report.time);
        }
        if hour == 12 {
            service = Service::restart(&file, hour + 1)?;
            println!("restarted before step {}", service.monitor.next_time());
        }
    }
    println!("{}", service.monitor.receipt());
    Ok(())
}

/// A number that was given to somebody else after a restart would count and charge two users as one, or one as two.
#[test]
fn numbers_survive_a_restart() {
    let day = |user: &str| vec![(user.to_owned(), "weather")];
    let mut service = Service::start().expect("entropy");
    service.hour(0, &day("ada")).expect("in time");
    let (_, file) = service.hour(1, &day("bob")).expect("in time");
    drop(service);
    let mut again = Service::restart(&file, 2).expect("the newest");
    again.hour(2, &day("eve")).expect("in time");
    assert_eq!(["ada", "bob", "eve"].map(|user| again.interner.number(user)), [0, 1, 2]);
}
