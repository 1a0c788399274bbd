//! Every way to run a session, with every method, on every side of the sizes that counting and jumping have.

use std::fmt::Debug;
use std::iter::successors;

use dp_audit::harness::toys::{Jumping, for_each_one_more};
use dp_audit::harness::{Effort, Found};
use dp_audit::{Law, Window, exact_law};
use dp_mechanism::{JumpSizes, Mechanism, Source};
use dp_stream::{
    Budget, CountingSizes, Decider, Event, ItemOrder, Method, Monitor, MonitorPlan,
    MonitorSettings, Report, Shard, ShardState, Threshold,
};

use crate::setup::{claimed_delta, shape, stream, two_tags};
use crate::wire::wire;

/// How a stream is put through a session.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Way {
    /// In one call.
    Whole,
    /// By the iterator of steps.
    Iterated,
    /// Each event on its own, the last step when the session is finished.
    InPortions,
    /// Every event twice, which counts once.
    Repeated,
    /// From bytes in every step, with events that were taken up before and are given again.
    Resumed,
    /// All of the copies that a service can make in memory, each of which tries to go on; whatever they report is published.
    Forked,
    /// The threshold lowered after a report, and raised after none.
    Adapted,
    /// Over shards that are all here.
    Sharded,
    /// Split into shards before every step, and joined after it.
    SplitAndJoined,
    /// Over shards, with several deciders in memory that went on from one state.
    ForkedDeciders,
}

/// All of them: a new one does not compile without its place here.
fn ways() -> impl Iterator<Item = Way> {
    successors(Some(Way::Whole), |way| match way {
        Way::Whole => Some(Way::Iterated),
        Way::Iterated => Some(Way::InPortions),
        Way::InPortions => Some(Way::Repeated),
        Way::Repeated => Some(Way::Resumed),
        Way::Resumed => Some(Way::Forked),
        Way::Forked => Some(Way::Adapted),
        Way::Adapted => Some(Way::Sharded),
        Way::Sharded => Some(Way::SplitAndJoined),
        Way::SplitAndJoined => Some(Way::ForkedDeciders),
        Way::ForkedDeciders => None,
    })
}

/// All methods: a new one does not compile without its place here.
pub(crate) fn methods() -> impl Iterator<Item = Method> {
    successors(Some(Method::ThreshMonitor), |method| match method {
        Method::ThreshMonitor => Some(Method::ThreshMonitorSeen),
        Method::ThreshMonitorSeen => Some(Method::TargetCharging),
        Method::TargetCharging => Some(Method::BasicHistograms),
        Method::BasicHistograms => None,
    })
}

/// All orders of items: a new one does not compile without its place here.
fn item_orders() -> impl Iterator<Item = ItemOrder> {
    successors(Some(ItemOrder::ReportedFirst), |order| match order {
        ItemOrder::ReportedFirst => Some(ItemOrder::Spread),
        ItemOrder::Spread => None,
    })
}

/// Which sizes the code that takes another way from a size on is given.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Sizes {
    /// Those of a release, over a grid gone through cell by cell.
    CellByCell,
    /// As small as can be asked for.
    Small(u32),
}

impl Sizes {
    const ALL: [Self; 4] = [Self::CellByCell, Self::Small(1), Self::Small(2), Self::Small(3)];

    fn counting(self) -> CountingSizes {
        match self {
            Self::CellByCell => CountingSizes::default(),
            Self::Small(size) => CountingSizes {
                portion: size as usize,
                waiting: size as usize - 1,
                slots: size as usize,
            },
        }
    }

    fn run<O>(self, source: &mut dyn Source, run: impl Fn(&mut dyn Source) -> O) -> O {
        match self {
            Self::CellByCell => run(source),
            Self::Small(size) => {
                let sizes = JumpSizes { own_skeleton: u128::from(size) - 1, scans: size - 1 };
                run(&mut Jumping { source, sizes })
            }
        }
    }
}

fn built(method: Method, shape: (u64, usize, u64), sizes: Sizes) -> MonitorPlan {
    limited(method, shape, (2, 2), ItemOrder::ReportedFirst, sizes)
}

/// Each user in so many reports, and so many items in a step.
fn limited(
    method: Method,
    (items, users, steps): (u64, usize, u64),
    (k, items_per_step): (u8, u8),
    item_order: ItemOrder,
    sizes: Sizes,
) -> MonitorPlan {
    let shape = shape(items, users, steps);
    let (delta, least): (f64, i64) = match method {
        Method::ThreshMonitor => (0.0, 1),
        Method::ThreshMonitorSeen => (0.3, 9),
        Method::TargetCharging => (0.05, 0),
        Method::BasicHistograms => (0.0, 0),
    };
    let budget = Budget::new(0.7, delta).expect("valid");
    let settings = MonitorSettings {
        items_per_step: Some(items_per_step),
        threshold: Threshold::Count { count: least + 1 },
        least_threshold: Some(least),
        item_order,
    };
    let plan = MonitorPlan::new(method, shape, budget, k, settings).expect("valid");
    plan.with_sizes(sizes.counting())
}

/// The first user of every shard is the only one, or there are two.
fn shard_sizes(plan: &MonitorPlan) -> Vec<u32> {
    vec![1; plan.users() as usize]
}

fn run(way: Way, plan: &MonitorPlan, data: &[Vec<Event>], source: &mut dyn Source) -> Vec<Report> {
    let begin = |source: &mut dyn Source| plan.start_with(source);
    match way {
        Way::Whole => plan.replay(data, source).0,
        Way::Iterated => {
            let mut monitor = begin(source);
            let reports = monitor.steps_with((0..).zip(data), source);
            reports.map(|report| report.expect("in time")).collect()
        }
        Way::InPortions => in_portions(begin(source), data, source),
        Way::Repeated => {
            let twice = |events: &Vec<Event>| [&events[..], &events[..]].concat();
            plan.replay(&data.iter().map(twice).collect::<Vec<_>>(), source).0
        }
        Way::Resumed => resumed(plan, begin(source), data, source),
        Way::Forked => forked(plan, begin(source), data, source),
        Way::Adapted => adapted(plan, begin(source), data, source),
        Way::Sharded => {
            let sizes = shard_sizes(plan);
            let (mut decider, mut shards) =
                plan.start_sharded_with(1, &sizes, source).expect("all users");
            let step = |(time, events): (u64, &Vec<Event>)| {
                add(&mut shards, events);
                decider.step_shards_with(time, &mut shards, source).expect("in time")
            };
            (0..).zip(data).flat_map(step).collect()
        }
        Way::SplitAndJoined => split_and_joined(plan, begin(source), data, source),
        Way::ForkedDeciders => forked_deciders(plan, data, source),
    }
}

fn in_portions(mut monitor: Monitor, data: &[Vec<Event>], source: &mut dyn Source) -> Vec<Report> {
    let mut reports = Vec::new();
    for (time, events) in (0..).zip(data) {
        for event in events {
            monitor.add(&[*event]);
        }
        let found = if time + 1 == data.len() as u64 {
            monitor.finish_with(source)
        } else {
            monitor.step_with(time, &[], source)
        };
        reports.extend(found.expect("in time"));
    }
    reports
}

fn resumed(
    plan: &MonitorPlan,
    mut monitor: Monitor,
    data: &[Vec<Event>],
    source: &mut dyn Source,
) -> Vec<Report> {
    let mut reports = Vec::new();
    for (time, events) in (0..).zip(data) {
        monitor.add(events);
        monitor = wire(&monitor.state()).resume(plan, time).expect("whole");
        reports.extend(monitor.step_with(time, events, source).expect("in time"));
    }
    reports
}

/// From the start on: two states, one of them twice, and the session itself.
fn forked(
    plan: &MonitorPlan,
    mut monitor: Monitor,
    data: &[Vec<Event>],
    source: &mut dyn Source,
) -> Vec<Report> {
    let (one, two) = (monitor.state(), monitor.state());
    let again = one.clone();
    let mut published = Vec::new();
    let mut publish = |copy: &mut Monitor| {
        for (time, events) in (0..).zip(data) {
            published.extend(copy.step_with(time, events, source).unwrap_or_default());
        }
    };
    for state in [one, two, again] {
        if let Ok(mut copy) = state.resume(plan, 0) {
            publish(&mut copy);
        }
    }
    publish(&mut monitor);
    published
}

fn adapted(
    plan: &MonitorPlan,
    mut monitor: Monitor,
    data: &[Vec<Event>],
    source: &mut dyn Source,
) -> Vec<Report> {
    let mut reports = Vec::new();
    for (time, events) in (0..).zip(data) {
        let found = monitor.step_with(time, events, source).expect("in time");
        let change = i64::from(found.is_empty());
        monitor.set_threshold(plan.least_threshold() + change).expect("not below the least");
        reports.extend(found);
    }
    reports
}

/// Every shard has one user.
fn add(shards: &mut [Shard], events: &[Event]) {
    for (user, shard) in (0..).zip(shards) {
        let own: Vec<Event> = events.iter().copied().filter(|event| event.user == user).collect();
        shard.add(&own).expect("not counted");
    }
}

fn split_and_joined(
    plan: &MonitorPlan,
    mut monitor: Monitor,
    data: &[Vec<Event>],
    source: &mut dyn Source,
) -> Vec<Report> {
    let mut reports = Vec::new();
    for (time, events) in (0..).zip(data) {
        let (mut decider, mut shards) =
            monitor.into_shards(time, &shard_sizes(plan)).expect("all users");
        add(&mut shards, events);
        reports.extend(decider.step_shards_with(time, &mut shards, source).expect("in time"));
        let states: Vec<ShardState> = shards.iter().map(|shard| wire(&shard.state())).collect();
        let whole = decider.state().join(states).expect("settled");
        monitor = whole.resume(plan, time + 1).expect("the newest");
    }
    reports
}

fn forked_deciders(
    plan: &MonitorPlan,
    data: &[Vec<Event>],
    source: &mut dyn Source,
) -> Vec<Report> {
    let sizes = shard_sizes(plan);
    let (mut decider, mut shards) = plan.start_sharded_with(1, &sizes, source).expect("all users");
    let mut published = Vec::new();
    for (time, events) in (0..).zip(data) {
        add(&mut shards, events);
        let counts: Vec<_> = shards.iter_mut().map(|s| s.count(time).expect("in time")).collect();
        let (state, copy) = (decider.state(), decider.state());
        let mut next: Option<Decider> = None;
        for twin in [state.resume(plan, time).ok(), copy.resume(plan, time).ok(), Some(decider)] {
            let Some(mut twin) = twin else { continue };
            let Ok(decision) = twin.decide_with(&counts, source) else { continue };
            published.extend(decision.reports());
            if next.is_none() {
                for shard in &mut shards {
                    shard.settle(&decision).expect("the first");
                }
                next = Some(twin);
            }
        }
        decider = next.expect("one of them");
    }
    published
}

/// What is lost, as a multiple of what is claimed: by the receipt, and by the proof of the method, which says more about so few steps.
fn excess<O: Ord>(plan: &MonitorPlan, with: &Law<O>, without: &Law<O>) -> f64 {
    let receipt = plan.receipt();
    let (added, removed) = (with.pure_loss(without), without.pure_loss(with));
    if let Some(epsilon) = receipt.pure() {
        return added.max(removed) / epsilon.get();
    }
    let epsilon = receipt.budget().epsilon().get();
    let delta = with.delta(without, epsilon).max(without.delta(with, epsilon));
    let by_proof = match plan.limit() {
        // Reports are likelier by what each costs, of which there are so many, and silence is not likelier.
        Some(hits) if plan.method() == Method::TargetCharging => {
            let tests = plan.steps() as f64 * f64::from(plan.items_per_step());
            let each = plan.loss_per_report();
            (added / (each * f64::from(hits))).max(removed / (each * tests))
        }
        // Removing a user takes no delta.
        _ => removed / epsilon,
    };
    by_proof.max(delta / claimed_delta(&receipt))
}

fn seen<O: Ord>(
    found: &mut Found,
    plan: &MonitorPlan,
    (items, others): (u64, usize),
    name: &dyn Debug,
    law: impl Fn(&[Vec<Event>]) -> Law<O>,
) {
    let steps = plan.steps();
    let kinds = 1 << (items * steps);
    let law = |records: &[usize]| law(&stream(records, items, steps));
    let see = |without: &Law<O>, with: &Law<O>, witness: &str| {
        found.see(excess(plan, with, without), || format!("{name:?}, {witness}"));
    };
    for_each_one_more((kinds, others), law, see);
}

/// One method in every way, with every size: four items in a step of which two count, two that others show too, two in each of two
/// steps, and one in two and in three. In a single step noisy counts are followed further, so that a count of 2 for a user shows.
pub(crate) fn of(method: Method, effort: Effort) -> Found {
    let mut found = Found::claim(1.0);
    for sizes in Sizes::ALL {
        for (items, steps, others) in
            [(4, 1, 0), (2, 1, 1), (2, 2, effort.of(0, 1)), (1, 2, 1), (1, 3, 0)]
        {
            let plan = built(method, (items, others + 1, steps), sizes);
            let window = Window::new(0, plan.threshold() + i64::from(steps == 1));
            for way in ways() {
                let name = (way, sizes, items, steps);
                seen(&mut found, &plan, (items, others), &name, |data| {
                    exact_law(window, |source| {
                        sizes.run(source, |source| run(way, &plan, data, source))
                    })
                });
            }
        }
    }
    found
}

/// Users who show more items than count, over steps that have reports behind them: which of the items count then follows from
/// the reports, or from the user. One of three and one of two items, alone and beside another user, for one report and for two; in
/// every way, order and size.
pub(crate) fn admission(effort: Effort) -> Found {
    let mut found = Found::claim(1.0);
    for (method, order) in
        methods().flat_map(|method| item_orders().map(move |order| (method, order)))
    {
        for sizes in [Sizes::CellByCell, Sizes::Small(1)] {
            for (items, steps, others, k) in [
                (3, 1, effort.of(0, 1), 1),
                (2, 1, 1, 1),
                (2, 2, 0, 1),
                (2, 2, 0, 2),
                (2, 2, effort.of(0, 1), 1),
            ] {
                let plan = limited(method, (items, others + 1, steps), (k, 1), order, sizes);
                let window = Window::new(0, plan.threshold());
                for way in ways() {
                    let name = (method, order, way, sizes, items, steps, k);
                    seen(&mut found, &plan, (items, others), &name, |data| {
                        exact_law(window, |source| {
                            let source = &mut two_tags(source);
                            sizes.run(source, |source| run(way, &plan, data, source))
                        })
                    });
                }
            }
        }
    }
    found
}
