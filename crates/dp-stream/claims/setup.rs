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

/// Answers some draws itself, and has all others from a source.
pub(crate) struct Answering<'a> {
    source: &'a mut dyn Source,
    answer: fn(&mut dyn Source, Law<'_>) -> i64,
}

/// Gives users one of these two secret tags instead of one of nearly 2^32.
pub(crate) fn two_tags(source: &mut dyn Source) -> Answering<'_> {
    let answer = |source: &mut dyn Source, law: Law<'_>| match law {
        Law::SparseChoice { scores, rate } if scores.candidates() == u64::from(u32::MAX) => {
            let scores = &SparseScores::new(2, []);
            FIRST_TAG + source.draw(Law::SparseChoice { scores, rate })
        }
        other => source.draw(other),
    };
    Answering { source, answer }
}

/// Answers every secret coin with yes: the mechanism on its sample.
pub(crate) fn all_kept(source: &mut dyn Source) -> Answering<'_> {
    let answer = |source: &mut dyn Source, law: Law<'_>| match law {
        Law::Keep { .. } => 1,
        other => source.draw(other),
    };
    Answering { source, answer }
}

impl Source for Answering<'_> {
    fn promised(&mut self, relation: Option<AnyRelation>) {
        self.source.promised(relation);
    }

    fn charged(&mut self, loss: Option<Loss>) {
        self.source.charged(loss);
    }

    fn draw(&mut self, law: Law<'_>) -> i64 {
        (self.answer)(&mut *self.source, law)
    }

    fn noisy_vector(&mut self, values: &mut [i64], noise: DiscreteGaussian) {
        self.source.noisy_vector(values, noise);
    }

    fn noisy_max(&mut self, scores: &[i64], noise: Geometric) -> (usize, i64) {
        self.source.noisy_max(scores, noise)
    }

    fn reports(
        &mut self,
        touched: Touched<'_>,
        steps: u64,
        threshold: i64,
        law: &ThresholdReports,
    ) -> Vec<Reported> {
        self.source.reports(touched, steps, threshold, law)
    }
}
