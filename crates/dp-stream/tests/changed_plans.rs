//! Plans as people keep them in files, with changes: each is refused, or releases. None panics.

use dp_audit::hostile::changed_plans;
use dp_mechanism::Mechanism;
use dp_stream::{
    Budget, ChaCha20Rng, Event, Method, MonitorPlan, MonitorSettings, StreamShape, Threshold,
    Universe,
};
use rand::SeedableRng;

/// Users that a plan may ask for here: four thousand million are no fault, and take as many bytes.
const MOST_USERS: u64 = 100_000;

fn released_or_refused(method: Method, universe: Universe, settings: MonitorSettings) {
    let shape = StreamShape { universe, users: 40, steps: 5 };
    let budget = Budget::new(2.0, 1e-6).expect("valid");
    let plan = MonitorPlan::new(method, shape, budget, 3, settings).expect("valid");
    let event = |step: u64, user: u32| Event { user, item: (u64::from(user) * step) % 7 };
    let steps: Vec<Vec<Event>> =
        (0..5).map(|step| (0..60).map(|user| event(step, user)).collect()).collect();

    let mut rng = ChaCha20Rng::seed_from_u64(17);
    let accepted = changed_plans(&plan, 600, &mut rng).expect("a plan is read back");
    let (refused, mut released) = (600 - accepted.len(), 0);
    for (plan, asked) in accepted {
        if asked["shape"]["users"].as_u64().is_some_and(|users| users > MOST_USERS) {
            continue;
        }
        assert!(!format!("{:?}", plan.receipt()).is_empty());
        released += u32::from(plan.simulate(&steps[..], &mut rng).is_ok());
    }
    assert!(released > 20 && refused > 150, "{released} released, {refused} refused");
}

#[test]
fn of_monitors() {
    let names = Universe::BoundedNames { alphabet: "abc".to_owned(), max_bytes: 3 };
    let low = Threshold::Count { count: 4 };
    let settings = MonitorSettings { threshold: low, ..Default::default() };
    released_or_refused(Method::ThreshMonitor, Universe::Range { size: 7 }, settings);
    released_or_refused(Method::ThreshMonitorSeen, Universe::Bits64, MonitorSettings::default());
    released_or_refused(Method::BasicHistograms, names, settings);
}
