//! Checks of the monitors for shifting heavy hitters.

mod baselines;
mod exact;
mod histories;
mod transcripts;
mod wire;

use dp_audit::Method;
use dp_mechanism::{DiscreteGaussian, Geometric, Law, Reported, Source, ThresholdReports, Touched};
use dp_stream::{
    Budget, Event, MonitorBuilder, MonitorPlan, StreamShape, ThreshMonitor, Threshold, Universe,
};

use super::check::{Check, Effort, Found};

pub(super) use exact::added_loss;
pub(super) use wire::wire;

pub(super) fn checks() -> Vec<Check> {
    [of_monitors(), of_cells()].into_iter().flatten().collect()
}

fn check(id: &'static str, mechanism: &'static str, run: fn(Effort) -> Found) -> Check {
    let (relation, method, resolution) = ("add-remove", Method::Exact, super::TOLERANCE);
    Check { id, crate_name: "dp-stream", mechanism, relation, method, resolution, run }
}

fn of_monitors() -> Vec<Check> {
    vec![
        check("stream-exact", "MonitorPlan: ThreshMonitor, all draws", exact::three_steps),
        check(
            "stream-several-items",
            "MonitorPlan: ThreshMonitor, several items per step",
            exact::several_items,
        ),
        check(
            "stream-empty",
            "MonitorPlan: ThreshMonitor, an item that nobody shows",
            exact::empty_item,
        ),
        Check {
            relation: "add-only",
            ..check(
                "stream-transcript",
                "Monitor, Decider: reports of a kept user",
                transcripts::kept_user,
            )
        },
        check(
            "stream-seen-delta",
            "MonitorPlan: ThreshMonitor of seen items, delta",
            exact::seen_items,
        ),
        check(
            "stream-charging-delta",
            "MonitorPlan: TargetCharging, delta of all data sets",
            exact::target_charging,
        ),
        check(
            "stream-charging-history",
            "MonitorPlan: TargetCharging, delta of a long history",
            histories::target_charging,
        ),
        check("stream-shards", "Decider, Shard: states and messages as bytes", wire::shards),
        check("stream-histograms", "MonitorPlan: Histograms", exact::histograms),
        Check {
            method: Method::Ledger,
            ..check("stream-receipt", "MonitorPlan, receipt against budget", receipts)
        },
    ]
}

fn of_cells() -> Vec<Check> {
    vec![
        check(
            "stream-kaplan-tests",
            "CellMonitor: Kaplan-style, each test",
            baselines::kaplan_style,
        ),
        check(
            "stream-gaussian-zcdp",
            "CellMonitor: Gaussian histograms, zCDP",
            baselines::gaussian_histograms,
        ),
        check("stream-sparse-vector", "CellMonitor: sparse vector", baselines::sparse_vector),
    ]
}

/// A small stream: items, users, steps.
pub(super) fn shape(items: u64, users: usize, steps: u64) -> StreamShape {
    let users = u32::try_from(users).expect("small");
    StreamShape { universe: Universe::Range { size: items }, users, steps }
}

pub(super) fn built(builder: MonitorBuilder, threshold: i64) -> MonitorPlan {
    builder.threshold(Threshold::Count { count: threshold }).build().expect("valid")
}

pub(super) fn thresh_monitor(
    shape: StreamShape,
    epsilon: f64,
    k: u8,
    threshold: i64,
) -> MonitorPlan {
    built(ThreshMonitor::builder(shape, epsilon, k).expect("valid"), threshold)
}

/// The delta of the plan's only step.
pub(super) fn claimed_delta(plan: &MonitorPlan) -> f64 {
    use dp_accounting::{Loss, Step};
    use dp_mechanism::Mechanism;
    match plan.receipt().spent() {
        Step::Spend { loss: Loss::Approximate { delta, .. }, .. } => delta.get(),
        other => panic!("no delta in {other:?}"),
    }
}

/// A user's history as a number: bit `step * items + item` says whether the item was shown.
pub(super) fn stream(records: &[usize], items: u64, steps: u64) -> Vec<Vec<Event>> {
    let shown = |step: u64, item: u64| {
        let user = move |(user, record): (usize, &usize)| {
            let here = record >> (step * items + item) & 1 == 1;
            here.then(|| Event { user: u32::try_from(user).expect("small"), item })
        };
        records.iter().enumerate().filter_map(user)
    };
    (0..steps).map(|step| (0..items).flat_map(|item| shown(step, item)).collect()).collect()
}

/// Answers every secret coin with yes: the mechanism on its sample.
pub(super) struct AllKept<'a>(pub(super) &'a mut dyn Source);

impl Source for AllKept<'_> {
    fn draw(&mut self, law: Law<'_>) -> i64 {
        if matches!(law, Law::Keep { .. }) { 1 } else { self.0.draw(law) }
    }

    fn noisy_vector(&mut self, values: &mut [i64], noise: DiscreteGaussian) {
        self.0.noisy_vector(values, noise);
    }

    fn noisy_max(&mut self, scores: &[i64], noise: Geometric) -> (usize, i64) {
        self.0.noisy_max(scores, noise)
    }

    fn reports(
        &mut self,
        touched: Touched<'_>,
        steps: u64,
        threshold: i64,
        law: &ThresholdReports,
    ) -> Vec<Reported> {
        self.0.reports(touched, steps, threshold, law)
    }
}

/// Random settings of all methods: the receipt never exceeds the budget, and comes close to it.
fn receipts(effort: Effort) -> Found {
    use dp_mechanism::Mechanism;
    use dp_stream::{Histograms, TargetCharging};
    use rand::RngExt;
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
