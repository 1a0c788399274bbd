//! Users who come by name, from the first of them to the reports of two steps: whoever comes before, everybody's items have the same law.

use dp_accounting::{AddRemove, AnyRelation};
use dp_audit::harness::{Effort, Found};
use dp_audit::{Law, Window, exact_law};
use dp_mechanism::{DiscreteGaussian, Geometric, Law as DrawLaw, Source};
use dp_stream::{
    Event, ItemOrder, Method, MonitorPlan, MonitorSettings, Report, StreamShape, Threshold,
    Universe,
};

use crate::setup::{FIRST_TAG, pure, two_tags};

const EPSILON: f64 = 0.7;
const STEPS: usize = 2;

/// What somebody shows: which of two items in each step.
type Person = [[bool; 2]; STEPS];
const PEOPLE: [Person; 4] = [
    [[true, true], [false, false]],
    [[false, true], [true, false]],
    [[true, false], [true, true]],
    [[false, false], [true, true]],
];

/// A session that takes users in as they come, with numbers by first appearance.
pub(crate) fn as_they_come(effort: Effort) -> Found {
    with_bound(effort, u32::MAX)
}

/// The same for the first so many.
pub(crate) fn with_bound(effort: Effort, most: u32) -> Found {
    added(effort, |people, plan, source| run((people, most), plan, &mut two_tags(source)))
}

/// The same, with secret tags, or with the numbers of users for them.
pub(crate) fn by_number(effort: Effort, by_number: bool) -> Found {
    added(effort, |people, plan, source| {
        if by_number {
            run((people, u32::MAX), plan, &mut Numbered { source, users: 0 })
        } else {
            run((people, u32::MAX), plan, &mut two_tags(source))
        }
    })
}

fn run(
    (people, most): (&[Person], u32),
    plan: &MonitorPlan,
    source: &mut dyn Source,
) -> Vec<Report> {
    let mut monitor = plan.start_with(source);
    let mut numbers: Vec<Option<u32>> = vec![None; people.len()];
    let (mut next, mut reports) = (0, Vec::new());
    for (time, step) in (0..).zip(0..STEPS) {
        let mut events = Vec::new();
        for (number, shown) in numbers.iter_mut().zip(people) {
            for (item, _) in (0..).zip(shown[step]).filter(|(_, shown)| *shown) {
                let user = *number.get_or_insert_with(|| {
                    next += 1;
                    next - 1
                });
                events.push(Event { user, item });
            }
        }
        monitor.grow_to_with(next.min(most), source);
        reports.extend(monitor.step_with(time, &events, source).expect("in time"));
    }
    reports
}

fn added(
    effort: Effort,
    run: impl Fn(&[Person], &MonitorPlan, &mut dyn Source) -> Vec<Report>,
) -> Found {
    let mut found = Found::claim(EPSILON);
    for item_order in [ItemOrder::Spread, ItemOrder::ReportedFirst] {
        let settings = MonitorSettings {
            threshold: Threshold::Count { count: 2 },
            item_order,
            ..Default::default()
        };
        let shape =
            StreamShape { universe: Universe::Range { size: 2 }, users: 0, steps: STEPS as u64 };
        let plan = MonitorPlan::new(Method::ThreshMonitor, shape, pure(EPSILON), 1, settings)
            .expect("valid");
        let law = |people: &[Person]| -> Law<Vec<Report>> {
            let window = Window::new(0, plan.threshold());
            exact_law(window, |source| run(people, &plan, source)).under(AddRemove)
        };
        let others: &[Person] = &PEOPLE[..effort.of(2, 3)];
        let mut of_others = vec![vec![]];
        of_others.extend(others.iter().map(|other| vec![*other]));
        for others in of_others {
            let without = law(&others);
            for (place, own) in (0..=others.len()).flat_map(|at| PEOPLE.map(|own| (at, own))) {
                let mut people = others.clone();
                people.insert(place, own);
                let with = law(&people);
                let loss = with.pure_loss(&without).max(without.pure_loss(&with));
                found.see(loss, || format!("{item_order:?}: {own:?} at {place} of {others:?}"));
            }
        }
    }
    found
}

/// Gives the first user the first tag, the second the second, and so on.
struct Numbered<'a> {
    source: &'a mut dyn Source,
    users: i64,
}

impl Source for Numbered<'_> {
    fn promised(&mut self, relation: Option<AnyRelation>) {
        self.source.promised(relation);
    }

    fn draw(&mut self, law: DrawLaw<'_>) -> i64 {
        if let DrawLaw::SparseChoice { .. } = law {
            self.users += 1;
            return FIRST_TAG + self.users - 1;
        }
        self.source.draw(law)
    }

    fn noisy_vector(&mut self, values: &mut [i64], noise: DiscreteGaussian) {
        self.source.noisy_vector(values, noise);
    }

    fn noisy_max(&mut self, scores: &[i64], noise: Geometric) -> (usize, i64) {
        self.source.noisy_max(scores, noise)
    }
}
