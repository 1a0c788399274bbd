//! What is spent, against the budget.

use dp_audit::harness::{Effort, Found};
use dp_mechanism::Mechanism;
use dp_stream::{Budget, Histograms, StreamShape, TargetCharging, ThreshMonitor, Universe};
use rand::RngExt;

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
        let builder = match case % 4 {
            0 => ThreshMonitor::builder(shape, epsilon, k).expect("valid"),
            1 => ThreshMonitor::builder_seen(shape, budget, k),
            2 => TargetCharging::builder(shape, budget, k),
            _ => Histograms::builder(shape, epsilon, k).expect("valid"),
        };
        let Ok(plan) = builder.build() else { continue };
        let receipt = plan.receipt();
        let spent = receipt.epsilon().map_or(f64::INFINITY, |spent| spent.get() / epsilon);
        found.see(spent, || format!("{} at epsilon {epsilon} and k = {k}", plan.method().id()));
    }
    found
}
