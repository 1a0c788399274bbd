//! Small plans and streams.

use std::collections::BTreeMap;

use dp_accounting::{AddRemove, AnyRelation, Loss, Receipt, Step};
use dp_audit::Neighbours;
use dp_mechanism::{
    DiscreteGaussian, Geometric, Law, Reported, Source, SparseScores, ThresholdReports, Touched,
};
use dp_stream::{
    Budget, Event, Method, MonitorPlan, MonitorSettings, StreamShape, Threshold, Universe,
};

/// A small stream: items, users, steps.
pub(crate) fn shape(items: u64, users: usize, steps: u64) -> StreamShape {
    let users = u32::try_from(users).expect("small");
    StreamShape { universe: Universe::Range { size: items }, users, steps }
}

/// Each user in `k` reports, from this noisy count on.
pub(crate) fn built(
    method: Method,
    shape: StreamShape,
    budget: Budget,
    k: u8,
    threshold: i64,
) -> MonitorPlan {
    let threshold = Threshold::Count { count: threshold };
    let settings = MonitorSettings { threshold, ..Default::default() };
    MonitorPlan::new(method, shape, budget, k, settings).expect("valid")
}

pub(crate) fn pure(epsilon: f64) -> Budget {
    Budget::new(epsilon, 0.0).expect("valid")
}

pub(crate) fn thresh_monitor(
    shape: StreamShape,
    epsilon: f64,
    k: u8,
    threshold: i64,
) -> MonitorPlan {
    built(Method::ThreshMonitor, shape, pure(epsilon), k, threshold)
}

/// The delta of the only step.
pub(crate) fn claimed_delta(receipt: &Receipt<AddRemove>) -> f64 {
    match receipt.spent() {
        Step::Spend { loss: Loss::Approximate { delta, .. }, .. } => delta.get(),
        other => panic!("no delta in {other:?}"),
    }
}

/// A user's history as a number: bit `step * items + item` says whether the item was shown.
pub(crate) fn stream(records: &[usize], items: u64, steps: u64) -> Vec<Vec<Event>> {
    let shown = |step: u64, item: u64| {
        let user = move |(user, record): (usize, &usize)| {
            let here = record >> (step * items + item) & 1 == 1;
            here.then(|| Event { user: u32::try_from(user).expect("small"), item })
        };
        records.iter().enumerate().filter_map(user)
    };
    (0..steps).map(|step| (0..items).flat_map(|item| shown(step, item)).collect()).collect()
}

/// A record is a user with all that they show, and when.
pub(crate) fn one_user_more<'a>() -> Neighbours<'a, Vec<Vec<Event>>> {
    Neighbours::of_records(AddRemove, |data: &Vec<Vec<Event>>| {
        let mut users: BTreeMap<u32, Vec<(usize, u64)>> = BTreeMap::new();
        for (step, events) in data.iter().enumerate() {
            for event in events {
                users.entry(event.user).or_default().push((step, event.item));
            }
        }
        users.into_iter().collect()
    })
}

/// Under this secret tag and the next one, two items have different orders, in the first step and in the second.
pub(crate) const FIRST_TAG: i64 = 2;

/// Gives users one of these two secret tags instead of one of nearly 2^32.
pub(crate) struct TwoTags<'a>(pub(crate) &'a mut dyn Source);

impl Source for TwoTags<'_> {
    fn promised(&mut self, relation: Option<AnyRelation>) {
        self.0.promised(relation);
    }

    fn charged(&mut self, loss: Option<Loss>) {
        self.0.charged(loss);
    }

    fn draw(&mut self, law: Law<'_>) -> i64 {
        match law {
            Law::SparseChoice { scores, rate } if scores.candidates() == u64::from(u32::MAX) => {
                let scores = &SparseScores::new(2, []);
                FIRST_TAG + self.0.draw(Law::SparseChoice { scores, rate })
            }
            other => self.0.draw(other),
        }
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

/// Answers every secret coin with yes: the mechanism on its sample.
pub(crate) struct AllKept<'a>(pub(crate) &'a mut dyn Source);

impl Source for AllKept<'_> {
    fn promised(&mut self, relation: Option<AnyRelation>) {
        self.0.promised(relation);
    }

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
