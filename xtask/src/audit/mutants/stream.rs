//! The real monitor in the hands of a service that runs it wrongly.

use dp_audit::{Window, exact_law};
use dp_mechanism::{
    DiscreteGaussian, Draws, Geometric, Grid, Law, Mechanism, Ratio, ReportNoise, Reported,
    ThresholdReports, Touched,
};
use dp_stream::{Event, MonitorPlan, Report, Shard, merge};

use super::super::check::{Effort, Found};
use super::super::stream::{added_loss, shape, stream, thresh_monitor};
use super::Code;
use super::toys::{Side, pure_loss_of_one_more};

const EPSILON: f64 = 0.7;

pub(super) fn code() -> [Code; 5] {
    [
        ("M40", |effort| shards(effort, true), |effort| shards(effort, false)),
        ("M41", |effort| restarts(effort, true), |effort| restarts(effort, false)),
        ("M42", |effort| samples(effort, true), |effort| samples(effort, false)),
        ("M43", |effort| empty_items(effort, true), |effort| empty_items(effort, false)),
        ("M44", |effort| louder_reports(effort, 2), |effort| louder_reports(effort, 1)),
    ]
}

/// One step of three items, on one shard for all events of a user, or on one shard per item.
fn shards(effort: Effort, by_item: bool) -> Found {
    let plan = thresh_monitor(shape(3, effort.of(2, 3), 1), EPSILON, 1, 1);
    added_loss(&plan, 3, effort.of(1, 2), |records, draws| {
        let events = &stream(records, 3, 1)[0];
        let (mut decider, shard) = start(&plan, draws);
        let mut shards = vec![shard];
        if by_item {
            shards.extend((1..3).map(|_| start(&plan, draws).1));
        }
        for event in events {
            let item = usize::try_from(event.item).expect("small");
            shards[if by_item { item } else { 0 }].add(&[*event]);
        }
        let counts = merge(shards.iter_mut().map(Shard::counts));
        decider.decide_with(0, counts.touched(), draws).expect("the first step")
    })
}

fn start(plan: &MonitorPlan, draws: &mut dyn Draws) -> (dp_stream::Decider, Shard) {
    let (decider, mut shards) = plan.start_sharded_with(&[plan.users()], draws).expect("all users");
    (decider, shards.swap_remove(0))
}

/// Three steps of one item; the shard lives on, or is begun anew in every step.
fn steps(
    plan: &MonitorPlan,
    data: &[Vec<Event>],
    anew: bool,
    draws: &mut dyn Draws,
) -> Vec<Report> {
    let (mut decider, mut shard) = start(plan, draws);
    let mut reports = Vec::new();
    for (time, events) in (0..).zip(data) {
        if anew && time > 0 {
            shard = start(plan, draws).1;
        }
        shard.add(events);
        let found = decider.decide_with(time, shard.counts(), draws).expect("in time");
        let items: Vec<u64> = found.iter().map(|report| report.item).collect();
        shard.settle(&items);
        reports.extend(found);
    }
    reports
}

/// A restart that forgets who has been charged.
fn restarts(effort: Effort, forgetful: bool) -> Found {
    let plan = thresh_monitor(shape(1, effort.of(2, 3), 3), EPSILON, 1, 1);
    added_loss(&plan, 3, effort.of(1, 2), |records, draws| {
        steps(&plan, &stream(records, 1, 3), forgetful, draws)
    })
}

/// A fresh secret sample in every step; users may be in three reports, so charges do not matter.
fn samples(effort: Effort, fresh: bool) -> Found {
    let plan = thresh_monitor(shape(1, effort.of(1, 2), 3), EPSILON, 3, 1);
    both_ways(&plan, effort.of(0, 1), |data, draws| steps(&plan, data, fresh, draws))
}

fn both_ways(
    plan: &MonitorPlan,
    others: usize,
    run: impl Fn(&[Vec<Event>], &mut dyn Draws) -> Vec<Report>,
) -> Found {
    let claimed = plan.receipt().pure().expect("pure").get();
    pure_loss_of_one_more(Side::Both, claimed, (1 << 3, others), |records| {
        let window = Window::new(0, plan.threshold());
        exact_law(window, |draws| run(&stream(records, 1, 3), draws))
    })
}

/// Draws that change what a monitor asks for.
struct Meddling<'a> {
    draws: &'a mut dyn Draws,
    /// Only cells with a count.
    skip_empty: bool,
    /// Each report at so many times its loss.
    louder: u32,
}

impl Draws for Meddling<'_> {
    fn draw(&mut self, law: Law<'_>) -> i64 {
        let Law::Report { value, threshold, noise: ReportNoise::OneSided(noise) } = law else {
            return self.draws.draw(law);
        };
        let factor = Ratio::new(1, self.louder.into()).expect("positive");
        let scale = noise.scale().checked_mul(factor).expect("in range");
        let noise = ReportNoise::OneSided(Geometric::new(scale).expect("positive"));
        self.draws.draw(Law::Report { value, threshold, noise })
    }

    fn noisy_vector(&mut self, values: &mut [i64], noise: DiscreteGaussian) {
        self.draws.noisy_vector(values, noise);
    }

    fn reports(
        &mut self,
        touched: Touched<'_>,
        steps: u64,
        threshold: i64,
        law: &ThresholdReports,
    ) -> Vec<Reported> {
        if !self.skip_empty {
            return law.release(touched, steps, threshold, &mut Plain(self));
        }
        let seen = ThresholdReports::one_sided(law.each(), Grid::TouchedOnly, threshold)
            .expect("as the law was");
        seen.release(touched, steps, threshold, &mut Plain(self))
    }
}

/// Passes single draws on, so that grids are gone through cell by cell.
struct Plain<'a, 'b>(&'a mut Meddling<'b>);

impl Draws for Plain<'_, '_> {
    fn draw(&mut self, law: Law<'_>) -> i64 {
        self.0.draw(law)
    }

    fn noisy_vector(&mut self, values: &mut [i64], noise: DiscreteGaussian) {
        self.0.noisy_vector(values, noise);
    }
}

/// Items that nobody shows are passed over.
fn empty_items(_: Effort, skip_empty: bool) -> Found {
    let plan = thresh_monitor(shape(1, 1, 3), EPSILON, 1, 2);
    both_ways(&plan, 0, |data, draws| {
        plan.run(data, &mut Meddling { draws, skip_empty, louder: 1 })
    })
}

/// The loss of all reports spent on each of two.
fn louder_reports(_: Effort, louder: u32) -> Found {
    let plan = thresh_monitor(shape(1, 2, 3), EPSILON, 2, 2);
    added_loss(&plan, 3, 1, |records, draws| {
        plan.run(&stream(records, 1, 3), &mut Meddling { draws, skip_empty: false, louder })
    })
}
