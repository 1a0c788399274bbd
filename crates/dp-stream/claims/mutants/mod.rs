//! The real monitor in the hands of a service that runs it wrongly.

use dp_accounting::AnyRelation;
use dp_audit::{Window, exact_law};
use dp_mechanism::{
    DiscreteGaussian, Draws, Geometric, Grid, Law, Mechanism, Private, Ratio, ReportNoise,
    Reported, Source, ThresholdReports, Touched,
};
use dp_stream::{
    Decider, Event, ItemOrder, Method, MonitorPlan, MonitorSettings, Report, Shard, ShardCounts,
    Threshold,
};

use crate::exact::added_loss;
use crate::setup::{pure, shape, stream, thresh_monitor, two_tags};
use crate::wire::wire;
use dp_audit::harness::toys::{Side, pure_loss_of_one_more};
use dp_audit::harness::{Effort, Found, MutantCheck, MutantCode};

const EPSILON: f64 = 0.7;

pub(crate) fn all() -> Vec<MutantCheck> {
    dp_audit::harness::mutants(include_str!("mutants.toml"), &code())
}

fn code() -> [MutantCode; 11] {
    [
        ("M40", |effort| shards(effort, true), |effort| shards(effort, false)),
        ("M41", |effort| restarts(effort, true), |effort| restarts(effort, false)),
        ("M42", |effort| samples(effort, true), |effort| samples(effort, false)),
        ("M43", |effort| empty_items(effort, true), |effort| empty_items(effort, false)),
        ("M44", |effort| louder_reports(effort, 2), |effort| louder_reports(effort, 1)),
        ("M45", |effort| repeats(effort, true), |effort| repeats(effort, false)),
        ("M46", |effort| restarts_with_note(effort, 0), |effort| restarts_with_note(effort, 1)),
        ("M150", |effort| admission(effort, true), |effort| admission(effort, false)),
        ("M293", |effort| spread(effort, true), |effort| spread(effort, false)),
        (
            "M299",
            |effort| crate::numbers::by_number(effort, true),
            |effort| crate::numbers::by_number(effort, false),
        ),
        (
            "M300",
            |effort| crate::numbers::with_bound(effort, 1),
            |effort| crate::numbers::with_bound(effort, u32::MAX),
        ),
    ]
}

/// One step of three items, on one shard, or on one shard per item: a user then is one user on every shard.
fn shards(effort: Effort, by_item: bool) -> Found {
    let users = effort.of(2, 3);
    let plan = thresh_monitor(shape(3, users, 1), EPSILON, 1, 1);
    let copies = if by_item { 3 } else { 1 };
    let run = thresh_monitor(shape(3, users * copies, 1), EPSILON, 1, 1);
    let users = u32::try_from(users).expect("small");
    added_loss(&plan, 3, effort.of(1, 2), |records, draws| {
        let sizes = vec![users; copies];
        let (mut decider, mut shards) =
            run.start_sharded_with(1, &sizes, draws).expect("all users");
        for event in &stream(records, 3, 1)[0] {
            let shard = if by_item { u32::try_from(event.item).expect("small") } else { 0 };
            let here = Event { user: event.user + shard * users, item: event.item };
            shards[shard as usize].add(&[here]).expect("not counted");
        }
        decided(&mut decider, &mut shards, 0, draws)
    })
}

/// One step over shards, all of whose messages are bytes on the way.
fn decided(
    decider: &mut Decider,
    shards: &mut [Shard],
    time: u64,
    draws: &mut dyn Source,
) -> Vec<Report> {
    let counts: Vec<ShardCounts> =
        shards.iter_mut().map(|shard| wire(&shard.count(time).expect("in time"))).collect();
    let decision = wire(&decider.decide_with(&counts, draws).expect("all shards"));
    for shard in shards {
        shard.settle(&decision).expect("its step");
    }
    decision.reports().to_vec()
}

/// Three steps of one item; the session lives on, or is begun anew in every step.
fn steps(
    plan: &MonitorPlan,
    data: &[Vec<Event>],
    anew: bool,
    draws: &mut dyn Source,
) -> Vec<Report> {
    let mut monitor = plan.start_with(draws);
    let mut reports = Vec::new();
    for (time, events) in (0..).zip(data) {
        if anew && time > 0 {
            // From a state that has nothing but the time: what was charged is not in it.
            monitor = plan.start_with(draws);
            monitor.step_with(time - 1, &[], &mut Silent).expect("in time");
        }
        reports.extend(monitor.step_with(time, events, draws).expect("in time"));
    }
    reports
}

/// Answers for steps that are not part of the law: nothing is reported.
struct Silent;

impl Source for Silent {
    fn draw(&mut self, law: Law<'_>) -> i64 {
        let Law::Report { threshold, .. } = law else { panic!("only reports are drawn") };
        threshold - 1
    }

    fn noisy_vector(&mut self, _: &mut [i64], _: DiscreteGaussian) {
        panic!("only reports are drawn");
    }

    fn noisy_max(&mut self, _: &[i64], _: Geometric) -> (usize, i64) {
        panic!("only reports are drawn");
    }
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
    run: impl Fn(&[Vec<Event>], &mut dyn Source) -> Vec<Report>,
) -> Found {
    let claimed = plan.receipt().pure().expect("pure").get();
    pure_loss_of_one_more(Side::Both, claimed, (1 << 3, others), |records| {
        let window = Window::new(0, plan.threshold());
        exact_law(window, |draws| run(&stream(records, 1, 3), draws))
    })
}

/// Draws that change what a monitor asks for.
struct Meddling<'a> {
    draws: &'a mut dyn Source,
    /// Only cells with a count.
    skip_empty: bool,
    /// Each report at so many times its loss.
    louder: u32,
}

impl Source for Meddling<'_> {
    fn promised(&mut self, relation: Option<AnyRelation>) {
        self.draws.promised(relation);
    }

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

    fn noisy_max(&mut self, scores: &[i64], noise: Geometric) -> (usize, i64) {
        self.draws.noisy_max(scores, noise)
    }

    fn reports(
        &mut self,
        touched: Touched<'_>,
        steps: u64,
        threshold: i64,
        law: &ThresholdReports,
    ) -> Vec<Reported> {
        if !self.skip_empty {
            let mut plain = Plain(self);
            let draws = &mut Draws::unplanned(&mut plain);
            return law.release(Private::new(touched), steps, threshold, draws);
        }
        let seen = ThresholdReports::one_sided(law.each(), Grid::TouchedOnly, threshold)
            .expect("as the law was");
        let mut plain = Plain(self);
        seen.release(Private::new(touched), steps, threshold, &mut Draws::unplanned(&mut plain))
    }
}

/// Passes single draws on, so that grids are gone through cell by cell.
struct Plain<'a, 'b>(&'a mut Meddling<'b>);

impl Source for Plain<'_, '_> {
    fn promised(&mut self, relation: Option<AnyRelation>) {
        self.0.promised(relation);
    }

    fn draw(&mut self, law: Law<'_>) -> i64 {
        self.0.draw(law)
    }

    fn noisy_vector(&mut self, values: &mut [i64], noise: DiscreteGaussian) {
        self.0.noisy_vector(values, noise);
    }

    fn noisy_max(&mut self, scores: &[i64], noise: Geometric) -> (usize, i64) {
        self.0.noisy_max(scores, noise)
    }
}

/// Items that nobody shows are passed over.
fn empty_items(_: Effort, skip_empty: bool) -> Found {
    let plan = thresh_monitor(shape(1, 1, 3), EPSILON, 1, 2);
    both_ways(&plan, 0, |data, draws| {
        plan.replay(data, &mut Meddling { draws, skip_empty, louder: 1 }).0
    })
}

/// The loss of all reports spent on each of two.
fn louder_reports(_: Effort, louder: u32) -> Found {
    let plan = thresh_monitor(shape(1, 2, 3), EPSILON, 2, 2);
    added_loss(&plan, 3, 1, |records, draws| {
        plan.replay(&stream(records, 1, 3), &mut Meddling { draws, skip_empty: false, louder }).0
    })
}

/// One step of one item, whose counts come twice: a decider that does not know shards apart adds them up.
/// The library refuses the second; here it has another number, and users of its own.
fn repeats(effort: Effort, twice: bool) -> Found {
    let users = effort.of(2, 3);
    let plan = thresh_monitor(shape(1, users, 1), EPSILON, 1, 2);
    let copies = if twice { 2 } else { 1 };
    let run = thresh_monitor(shape(1, users * copies, 1), EPSILON, 1, 2);
    let users = u32::try_from(users).expect("small");
    added_loss(&plan, 1, effort.of(1, 2), |records, draws| {
        let sizes = vec![users; copies];
        let (mut decider, mut shards) =
            run.start_sharded_with(1, &sizes, draws).expect("all users");
        for (copy, shard) in (0..).zip(&mut shards) {
            let here = |event: &Event| Event { user: event.user + copy * users, ..*event };
            let events: Vec<Event> = stream(records, 1, 1)[0].iter().map(here).collect();
            shard.add(&events).expect("not counted");
        }
        decided(&mut decider, &mut shards, 0, draws)
    })
}

/// One step of one item, published; then a crash, and a state from before it. With a note of one published
/// step that state is refused; with none the step is decided and published again.
fn restarts_with_note(effort: Effort, noted: u64) -> Found {
    let plan = thresh_monitor(shape(1, effort.of(2, 3), 1), EPSILON, 1, 2);
    added_loss(&plan, 1, effort.of(1, 2), |records, draws| {
        let events = &stream(records, 1, 1)[0];
        let mut monitor = plan.start_with(draws);
        let saved = wire(&monitor.state());
        let mut published = monitor.step_with(0, events, draws).expect("in time");
        if let Ok(mut again) = saved.resume(&plan, noted) {
            published.extend(again.step_with(0, events, draws).expect("in time"));
        }
        published
    })
}

/// One step of two items, of which one counts for a user: the one that most users show, or the one that comes first in the public
/// order. With the first, a user more makes another one count for an item that the user has nothing to do with.
fn admission(_: Effort, by_counts: bool) -> Found {
    let plan = thresh_monitor(shape(2, 2, 1), EPSILON, 1, 3);
    added_loss(&plan, 2, 1, |records, draws| {
        let mut data = stream(records, 2, 1);
        if by_counts {
            let shown = |item| data[0].iter().filter(|event| event.item == item).count();
            let most = u64::from(shown(1) > shown(0));
            let both = |user| (0..2).all(|item| data[0].contains(&Event { user, item }));
            let preferred = |event: &Event| !both(event.user) || event.item == most;
            data[0] = data[0].iter().copied().filter(preferred).collect();
        }
        plan.replay(&data, draws).0
    })
}

/// One step of two items, of which one counts for a user: by a secret tag and the item, or as one generator in the order of
/// the batch says, so that a user more turns the coins of those that come later.
fn spread(_: Effort, one_generator: bool) -> Found {
    let settings = MonitorSettings {
        threshold: Threshold::Count { count: 3 },
        item_order: ItemOrder::Spread,
        ..Default::default()
    };
    let budget = pure(EPSILON);
    let plan = MonitorPlan::new(Method::ThreshMonitor, shape(2, 3, 1), budget, 1, settings);
    let plan = plan.expect("valid");
    added_loss(&plan, 2, 2, |records, draws| {
        let mut data = stream(records, 2, 1);
        if one_generator {
            let mut users: Vec<u32> = data[0].iter().map(|event| event.user).collect();
            users.sort_unstable();
            users.dedup();
            // Of every second user who takes part, the second item.
            let preferred = |event: &Event| {
                let both = (0..2).all(|item| data[0].contains(&Event { item, ..*event }));
                let place = users.iter().position(|user| *user == event.user);
                !both || place.is_some_and(|place| event.item == place as u64 % 2)
            };
            data[0] = data[0].iter().copied().filter(preferred).collect();
        }
        plan.replay(&data, &mut two_tags(draws)).0
    })
}
