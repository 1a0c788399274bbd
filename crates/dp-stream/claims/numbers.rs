//! Users who come by name, from the first of them to the reports of a step: whoever comes before, everybody's items have the same law.

use dp_accounting::AddOnly;
use dp_audit::harness::{Effort, Found};
use dp_audit::{Law, Window, exact_law};
use dp_mechanism::{Mechanism as _, Source};
use dp_stream::{
    Event, ItemOrder, Method, MonitorPlan, MonitorSettings, Report, Threshold, UserNumbers,
};

use crate::setup::{AllKept, pure, shape};

/// The public bound, and one more than the users that somebody is added to.
const USERS: u32 = 3;
const EPSILON: f64 = 0.7;

/// Which of two items somebody shows.
type Person = [bool; 2];
const PEOPLE: [Person; 3] = [[true, true], [true, false], [false, true]];

/// Numbers as they are drawn, whoever is added wherever.
pub(crate) fn drawn(effort: Effort) -> Found {
    added(effort, |numbers, _, source| numbers.draw_with(source).expect("below the bound"))
}

/// Numbers by first appearance, or drawn.
pub(crate) fn by_appearance(effort: Effort, by_appearance: bool) -> Found {
    added(effort, |numbers, place, source| {
        let drawn = numbers.draw_with(source).expect("below the bound");
        if by_appearance { place } else { drawn }
    })
}

fn added(effort: Effort, number: impl Fn(&mut UserNumbers, u32, &mut dyn Source) -> u32) -> Found {
    let settings = MonitorSettings {
        threshold: Threshold::Count { count: 2 },
        item_order: ItemOrder::Spread,
        ..Default::default()
    };
    let plan = MonitorPlan::new(Method::ThreshMonitor, shape(2, 3, 1), pure(EPSILON), 1, settings);
    let plan = plan.expect("valid");
    assert_eq!(plan.users(), USERS);
    let law = |people: &[Person]| -> Law<Vec<Report>> {
        exact_law(Window::new(0, plan.threshold() + 1), |source: &mut dyn Source| {
            let mut numbers = UserNumbers::new(&plan);
            let mut events = Vec::new();
            for (place, shown) in (0..).zip(people) {
                let user = number(&mut numbers, place, source);
                let items = (0..).zip(shown).filter(|(_, shown)| **shown);
                events.extend(items.map(|(item, _)| Event { user, item }));
            }
            plan.replay(&[events], &mut AllKept(source)).0
        })
    };
    let mut found = Found::claim(plan.loss_per_report());
    for first in PEOPLE {
        for second in &PEOPLE[..effort.of(1, 3)] {
            let others = [first, *second];
            let without = law(&others).under(AddOnly);
            for (place, own) in (0..=others.len()).flat_map(|at| PEOPLE.map(|own| (at, own))) {
                let mut people = others.to_vec();
                people.insert(place, own);
                let with = law(&people).under(AddOnly);
                found.see(with.pure_loss(&without), || format!("{own:?} at {place} of {others:?}"));
            }
        }
    }
    found
}
