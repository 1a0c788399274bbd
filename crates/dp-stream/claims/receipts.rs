//! What is spent, against the budget.

use dp_audit::harness::{Effort, Found};
use dp_mechanism::Mechanism;
use dp_stream::{Budget, Method, MonitorPlan, MonitorSettings, StreamShape, Universe};
use rand::RngExt;

use crate::setup::pure;

/// Random settings of all methods: the receipt never exceeds the budget, and comes close to it.
pub(crate) fn receipts(effort: Effort) -> Found {
    let mut found = Found::claim(1.0);
    let mut rng = effort.rng(70);
    for case in 0..effort.of(24, 150) {
        let epsilon = 10_f64.powf(rng.random_range(-2.0..1.5));
        let delta = 10_f64.powf(rng.random_range(-10.0..-3.0));
        let k = rng.random_range(1..20);
        let steps = 10_f64.powf(rng.random_range(0.0..5.0));
        let shape = StreamShape {
            universe: Universe::Bits64,
            users: 5,
            #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "to 1e5")]
            steps: steps as u64,
        };
        let budget = Budget::new(epsilon, delta).expect("valid");
        let (method, budget) = match case % 4 {
            0 => (Method::ThreshMonitor, pure(epsilon)),
            1 => (Method::ThreshMonitorSeen, budget),
            2 => (Method::TargetCharging, budget),
            _ => (Method::BasicHistograms, pure(epsilon)),
        };
        let settings = MonitorSettings::default();
        let Ok(plan) = MonitorPlan::new(method, shape, budget, k, settings) else { continue };
        let receipt = plan.receipt();
        let spent = receipt.epsilon().map_or(f64::INFINITY, |spent| spent.get() / epsilon);
        found.see(spent, || format!("{} at epsilon {epsilon} and k = {k}", plan.method().id()));
    }
    found
}
