//! Long histories: runs whose continuation is the same are merged.

use std::cell::RefCell;
use std::collections::BTreeMap;

use dp_accounting::AddRemove;
use dp_audit::{Law, Progress, Window, exact_law_of_steps};
use dp_mechanism::Mechanism;
use dp_stream::{Budget, Event, Method, MonitorPlan, MonitorState};

use crate::setup::{all_kept, built, shape};
use crate::wire::wire;
use dp_audit::harness::{Effort, Found};

/// One user alone on one item, in every step, against nobody: the delta of all reports together.
///
/// While the user is active, all outcomes of a step have one of two likelihood ratios, and after the
/// last charge the laws are equal. A report of 1 or more has the one ratio; silence has the other, and so
/// has a report of 0, which only a threshold of 0 allows. So how many reports of either kind there were
/// while active, and when the last one came, say all that there is to tell. The step is the session's own,
/// kept per state.
pub(crate) fn target_charging(effort: Effort) -> Found {
    let mut worst: Option<Found> = None;
    for (k, delta) in [(1, 0.02), (3, 0.01)] {
        for threshold in 0..effort.of(3, 8) {
            let budget = Budget::new(1.0, delta).expect("valid");
            let shape = shape(1, 1, effort.of(60, 300));
            let plan = built(Method::TargetCharging, shape, budget, k, threshold);
            let (with, without) =
                (law(&plan, true).under(AddRemove), law(&plan, false).under(AddRemove));
            let mut found = Found::claim(crate::setup::claimed_delta(&plan.receipt()));
            let delta = with.delta(&without, 1.0).max(without.delta(&with, 1.0));
            found.see(delta, || format!("k = {k}, threshold {threshold}"));
            let before = worst.take();
            let cases = found.cases + before.as_ref().map_or(0, |found| found.cases);
            let share = |found: &Found| found.worst / found.claimed;
            let worse = match before {
                Some(before) if share(&before) > share(&found) => before,
                _ => found,
            };
            worst = Some(Found { cases, ..worse });
        }
    }
    worst.expect("some cases")
}

/// Steps taken, reports of 0, reports of more.
type State = (u64, u64, u64);

/// The law of the state at the `k`-th report or at the end.
fn law(plan: &MonitorPlan, present: bool) -> Law<State> {
    let k = u64::from(plan.limit().expect("charged"));
    let sessions: RefCell<BTreeMap<State, MonitorState>> = RefCell::default();
    let mut never = Never;
    let start = plan.start_with(&mut all_kept(&mut never)).state();
    sessions.borrow_mut().insert((0, 0, 0), start);
    let events = if present { vec![Event { user: 0, item: 0 }] } else { Vec::new() };
    let window = Window::new(0, plan.threshold().max(1));
    exact_law_of_steps(window, (0, 0, 0), |&(time, zeros, more), draws| {
        let session = wire(&sessions.borrow()[&(time, zeros, more)]);
        let mut monitor = session.resume(plan, time).expect("of this plan");
        let found = monitor.step_with(time, &events, draws).expect("in time");
        let zero = found.iter().filter(|report| report.noisy_count == 0).count() as u64;
        let state = (time + 1, zeros + zero, more + found.len() as u64 - zero);
        sessions.borrow_mut().insert(state, monitor.state());
        let over = state.0 == plan.steps() || state.1 + state.2 == k;
        if over { Progress::Done(state) } else { Progress::Continue(state) }
    })
}

/// A source for what draws nothing.
struct Never;

impl dp_mechanism::Source for Never {
    fn draw(&mut self, _: dp_mechanism::Law<'_>) -> i64 {
        unreachable!("this method tosses no coins")
    }

    fn noisy_vector(&mut self, _: &mut [i64], _: dp_mechanism::DiscreteGaussian) {
        unreachable!("nor adds vectors")
    }

    fn noisy_max(&mut self, _: &[i64], _: dp_mechanism::Geometric) -> (usize, i64) {
        unreachable!("nor chooses")
    }
}
