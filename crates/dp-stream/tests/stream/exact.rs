//! The guarantee is attained, to nine digits and on both sides: nothing is wasted, nothing is missing.

use dp_accounting::AddRemove;
use dp_audit::{Law, Window, exact_law};
use dp_stream::{Event, Mechanism, MonitorPlan, Report};

use super::{from, pure, shape};

fn law(plan: &MonitorPlan, data: &[Vec<Event>], highest: i64) -> Law<Vec<Report>> {
    exact_law(Window::new(0, highest), |source| plan.replay(data, source).0).under(AddRemove)
}

/// Three steps, two and three items; a user who shows an item in every step, against nobody.
#[test]
fn adding_and_removing_a_user_cost_exactly_epsilon() {
    let epsilon = 0.9;
    for (items, k) in [(2, 1), (2, 2), (3, 1), (3, 2)] {
        let plan = pure(shape(items, 1, 3), epsilon, k, from(1)).expect("valid");
        let user: Vec<Vec<Event>> =
            (0..3).map(|time| vec![Event { user: 0, item: time % items }]).collect();
        // Noisy counts up to one above the threshold on their own, where that is few enough.
        let highest = if items == 2 { 2 } else { 1 };
        let (with, without) = (law(&plan, &user, highest), law(&plan, &vec![vec![]; 3], highest));
        for loss in [with.pure_loss(&without), without.pure_loss(&with)] {
            assert!((loss / epsilon - 1.0).abs() < 1e-9, "{loss} for {items} items and k = {k}");
        }
        let outputs = |law: &Law<Vec<Report>>| law.iter().filter(|(_, p)| *p > 0.0).count();
        assert_eq!(outputs(&with), outputs(&without), "the same reports are possible");
    }
}
