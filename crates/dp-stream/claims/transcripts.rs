//! Streams too large for their law: the same reports forced on a neighbour, draw by draw.

use dp_audit::compare;
use dp_mechanism::{Mechanism, SecureSource, Source};
use dp_stream::{Event, MonitorPlan};
use rand::RngExt;

use crate::setup::{all_kept, one_user_more, shape, thresh_monitor};
use dp_audit::harness::{Effort, Found};

/// Random streams with one user more, who shows what is heavy: what the reports that were made cost,
/// all steps together, as a share of what a kept user may cost.
pub(crate) fn kept_user(effort: Effort) -> Found {
    let mut found = Found::claim(1.0);
    let mut rng = effort.rng(72);
    for case in 0..effort.of(60, 3_000) {
        let (items, users, steps) = (6, 12, 8);
        let k = rng.random_range(1..4);
        let plan = thresh_monitor(shape(items, users, steps), 1.5, k, rng.random_range(1..5));
        let claimed = plan.loss_per_report() * f64::from(k);
        let mut event = |user: u32| Event { user, item: rng.random_range(0..items) };
        let without: Vec<Vec<Event>> =
            (0..steps).map(|_| (0..16).map(|i| event(i % 11)).collect()).collect();
        let mut with = without.clone();
        for events in &mut with {
            events.extend((0..3).map(|_| event(11)));
        }
        let run = |data: &Vec<Vec<Event>>, draws: &mut dyn Source| {
            plan.replay(data, &mut all_kept(draws)).0
        };
        let comparison =
            compare(&one_user_more(), run, &with, &without, &mut SecureSource::new(&mut rng));
        let spent = |plan: &MonitorPlan| format!("stream {case}, k = {:?}", plan.limit());
        let loss: f64 = comparison.steps.iter().map(|step| step.forward).sum();
        let failed = comparison.diverged.is_some() || !comparison.outputs_equal;
        let loss = if failed || comparison.steps.is_empty() { f64::INFINITY } else { loss };
        found.see(loss / claimed, || spent(&plan));
    }
    found
}
