//! Sessions over shards, all of whose states and messages are bytes on the way.

use dp_audit::{Law, Window, exact_law};
use dp_mechanism::{Mechanism, Source};
use dp_stream::{DeciderState, Event, MonitorPlan, Report, ShardCounts, ShardState};
use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::setup::{shape, stream, thresh_monitor};
use dp_audit::harness::toys::{Side, pure_loss_of_one_more};
use dp_audit::harness::{Effort, Found};

const EPSILON: f64 = 0.7;

/// What arrives of what was sent.
pub(crate) fn wire<T: Serialize + DeserializeOwned>(sent: &T) -> T {
    let bytes = serde_json::to_vec(sent).expect("plain data");
    serde_json::from_slice(&bytes).expect("as it was sent")
}

/// Every shard is begun and, after counting and after charging, resumed from bytes; so is the decider. The
/// first shard counts under a wrong time at first.
fn run(
    plan: &MonitorPlan,
    sizes: &[u32],
    data: &[Vec<Event>],
    draws: &mut dyn Source,
) -> Vec<Report> {
    let (decider, shards) = plan.start_sharded_with(1, sizes, draws).expect("all users");
    let mut states: Vec<ShardState> = shards.iter().map(|shard| wire(&shard.state())).collect();
    let mut state: DeciderState = wire(&decider.state());
    let mut reports = Vec::new();
    for (time, events) in (0..).zip(data) {
        let (mut counts, mut first) = (Vec::<ShardCounts>::new(), 0);
        for (state, size) in states.iter_mut().zip(sizes) {
            let users = first..first + size;
            first = users.end;
            let own: Vec<Event> =
                events.iter().copied().filter(|event| users.contains(&event.user)).collect();
            let mut shard = state.clone().resume().expect("whole");
            shard.add(&own).expect("not counted");
            let last = data.len() as u64 - 1;
            let counted = if users.start == 0 { last } else { time };
            shard.count(counted).expect("in time");
            shard = wire(&shard.state()).resume().expect("whole");
            counts.push(wire(&shard.relabel(time).expect("not settled")));
            *state = wire(&shard.state());
        }
        let mut decider = state.resume(plan, time).expect("whole");
        let decision = wire(&decider.decide_with(&counts, draws).expect("all shards"));
        state = wire(&decider.state());
        reports.extend(decision.reports());
        for state in &mut states {
            let mut shard = state.clone().resume().expect("whole");
            shard.settle(&decision).expect("its step");
            *state = wire(&shard.state());
        }
    }
    reports
}

fn distance(a: &Law<Vec<Report>>, b: &Law<Vec<Report>>) -> f64 {
    let here: f64 = a.iter().map(|(output, p)| (p - b.probability(output)).abs()).sum();
    let elsewhere = b.iter().filter(|(output, _)| a.probability(output) == 0.0);
    here + elsewhere.map(|(_, p)| p).sum::<f64>()
}

/// The loss of one user more, over all small data sets; infinite if a law is not that of the session without
/// shards, to eleven digits.
pub(crate) fn shards(effort: Effort) -> Found {
    let mut worst = Found::claim(EPSILON);
    for (items, steps, k) in [(1, 2, 1), (2, 1, 2)] {
        let plan = thresh_monitor(shape(items, 2, steps), EPSILON, k, 1);
        let window = Window::new(0, plan.threshold() + effort.of(0, 1));
        let found =
            pure_loss_of_one_more(Side::Both, EPSILON, (1 << (items * steps), 1), |records| {
                let data = stream(records, items, steps);
                let whole = exact_law(window, |draws| plan.replay(&data, draws).0);
                let law = exact_law(window, |draws| run(&plan, &[1, 1], &data, draws));
                if distance(&law, &whole) < 1e-11 {
                    return law;
                }
                // What cannot happen without shards is a loss without bound.
                let stray = Report { time: 9, item: records.len() as u64, noisy_count: 9 };
                exact_law(window, |_| vec![stray])
            });
        worst.cases += found.cases;
        worst.see(found.worst * EPSILON, || found.witness.clone());
    }
    worst
}
