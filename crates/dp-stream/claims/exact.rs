//! Exact laws of whole streams: every coin, every report, all small data sets.

use dp_accounting::Epsilon;
use dp_audit::{Law, Window, exact_law};
use dp_mechanism::{Mechanism, Source};
use dp_stream::{Budget, Event, Method, MonitorPlan, Report};

use crate::setup::{all_kept, built, pure, shape, stream, thresh_monitor};
use dp_audit::harness::toys::{Side, for_each_one_more, pure_loss_of_one_more};
use dp_audit::harness::{Effort, Found};

const EPSILON: f64 = 0.7;

/// The law of all reports. The window ends `more` above the threshold: noisy counts beyond are one
/// outcome, with all of their mass.
fn law(plan: &MonitorPlan, data: &[Vec<Event>], more: i64) -> Law<Vec<Report>> {
    let window = Window::new(0, plan.threshold() + more);
    exact_law(window, |draws| plan.replay(data, draws).0)
}

/// Data sets of so many users at most, each with one user more; histories have `items * steps` bits.
fn both_ways(plan: &MonitorPlan, items: u64, users: usize, more: i64) -> Found {
    let claimed = plan.receipt().pure().map_or(f64::NAN, Epsilon::get);
    let steps = plan.steps();
    let mut found =
        pure_loss_of_one_more(Side::Both, claimed, (1 << (items * steps), users), |records| {
            law(plan, &stream(records, items, steps), more)
        });
    (found.claimed, found.worst) = (claimed, found.worst * claimed);
    found
}

fn worst_of(cases: impl IntoIterator<Item = Found>) -> Found {
    cases
        .into_iter()
        .reduce(|a, b| {
            let cases = a.cases + b.cases;
            let worse = if b.worst / b.claimed > a.worst / a.claimed { b } else { a };
            Found { cases, ..worse }
        })
        .expect("some cases")
}

/// Three steps of one and two items, all histories, one and two reports per user.
pub(crate) fn three_steps(effort: Effort) -> Found {
    let one_item = [1, 2].map(|k| {
        let plan = crate::setup::thresh_monitor(shape(1, 3, 3), EPSILON, k, 1);
        both_ways(&plan, 1, 2, effort.of(1, 3))
    });
    let two_items = [1, 2].map(|k| {
        let plan = crate::setup::thresh_monitor(shape(2, 1, 3), EPSILON, k, effort.of(1, 2));
        both_ways(&plan, 2, 0, effort.of(1, 2))
    });
    let three_items = effort.deep.then(|| {
        let plan = crate::setup::thresh_monitor(shape(3, 1, 3), EPSILON, 2, 1);
        both_ways(&plan, 3, 0, 0)
    });
    worst_of(one_item.into_iter().chain(two_items).chain(three_items))
}

/// One and two steps in which a user shows up to three items, and may be in one or two reports.
pub(crate) fn several_items(effort: Effort) -> Found {
    let one_step = [1, 2].map(|k| both_ways(&thresh_monitor_of(3, 1, k, 2), 3, 1, effort.of(1, 3)));
    let two_steps =
        [1, 2].map(|k| both_ways(&thresh_monitor_of(2, 2, k, 2), 2, 1, effort.of(0, 2)));
    worst_of(one_step.into_iter().chain(two_steps))
}

fn thresh_monitor_of(items: u64, steps: u64, k: u8, users: usize) -> MonitorPlan {
    crate::setup::thresh_monitor(shape(items, users, steps), EPSILON, k, 1)
}

/// That an item which nobody shows is reported exactly as often as the formula says, whatever others
/// do; the claim is agreement to nine digits.
pub(crate) fn empty_item(_: Effort) -> Found {
    let mut found = Found::claim(1e-9);
    for threshold in [1, 4] {
        let plan = thresh_monitor(shape(2, 2, 2), EPSILON, 2, threshold);
        let expected = (-plan.loss_per_report() * threshold as f64).exp();
        for records in [vec![], vec![0b0001], vec![0b0101, 0b0001]] {
            let law = law(&plan, &stream(&records, 2, 2), 0);
            let unseen = |reports: &[Report]| reports.iter().any(|r| (r.time, r.item) == (1, 1));
            let reported: f64 = law.iter().filter(|(r, _)| unseen(r)).map(|(_, p)| p).sum();
            // What cannot happen at all would be off by everything.
            found.see((reported / expected - 1.0).abs(), || format!("records {records:?}"));
        }
    }
    found
}

/// The delta at the epsilon of the claim, in both directions.
fn delta_of(plan: &MonitorPlan, items: u64, users: usize) -> Found {
    let budget = plan.receipt().budget();
    let claimed = crate::setup::claimed_delta(&plan.receipt());
    let mut found = Found::claim(claimed);
    let steps = plan.steps();
    for_each_one_more(
        (1 << (items * steps), users),
        |records| law(plan, &stream(records, items, steps), 1),
        |without, with, witness| {
            let epsilon = budget.epsilon().get();
            let delta = with.delta(without, epsilon).max(without.delta(with, epsilon));
            found.see(delta, || witness.to_owned());
        },
    );
    found
}

pub(crate) fn seen_items(effort: Effort) -> Found {
    let budget = Budget::new(EPSILON, 0.3).expect("valid");
    let case = |items, steps, users, k, threshold| {
        let shape = shape(items, users + 1, steps);
        delta_of(&built(Method::ThreshMonitorSeen, shape, budget, k, threshold), items, users)
    };
    worst_of([
        case(1, 3, 1, 1, 5),
        case(1, 3, effort.of(1, 2), 2, 8),
        case(2, 2, effort.of(0, 1), 2, 9),
    ])
}

pub(crate) fn target_charging(effort: Effort) -> Found {
    let budget = Budget::new(EPSILON, 0.05).expect("valid");
    let case = |items, steps, users, k, threshold| {
        let shape = shape(items, users + 1, steps);
        delta_of(&built(Method::TargetCharging, shape, budget, k, threshold), items, users)
    };
    worst_of([
        case(1, 3, effort.of(1, 2), 1, 0),
        case(1, 3, 1, 1, 1),
        case(2, 2, effort.of(0, 1), 2, 1),
        case(1, effort.of(6, 8), 0, 1, 1),
    ])
}

pub(crate) fn histograms(effort: Effort) -> Found {
    let plan = |items, steps, per_step| {
        let shape = shape(items, 2, steps);
        built(Method::BasicHistograms, shape, pure(EPSILON), per_step, 1)
    };
    worst_of([
        both_ways(&plan(1, 3, 1), 1, 1, effort.of(1, 3)),
        both_ways(&plan(2, 2, 2), 2, effort.of(0, 1), 1),
        both_ways(&plan(2, 2, 1), 2, effort.of(0, 1), 1),
    ])
}

/// The loss of adding a user to a run on the sample, as a multiple of what a kept user may cost:
/// `run` is a monitor, perhaps a broken one. Histories have `bits` bits.
pub(crate) fn added_loss(
    plan: &MonitorPlan,
    bits: u64,
    others: usize,
    run: impl Fn(&[usize], &mut dyn Source) -> Vec<Report>,
) -> Found {
    let claimed = plan.loss_per_report() * f64::from(plan.limit().expect("charged"));
    let window = Window::new(0, plan.threshold());
    pure_loss_of_one_more(Side::Added, claimed, (1 << bits, others), |records| {
        exact_law(window, |draws| run(records, &mut all_kept(draws)))
    })
}
