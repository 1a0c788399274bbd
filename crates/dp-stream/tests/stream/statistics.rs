//! What is promised about counts, at the size at which it is promised.

use dp_stream::{Event, MonitorSettings, SecureSource, Threshold};

use super::{by, pure, rng, shape};

/// Null: a count of `smallest_count(miss)` is missed with probability `miss`. Of 2,000 runs at
/// `miss = 0.02` at most 79 miss except with probability 1e-6 (binomial tail, 7.4e-7); the control, a count 30 %
/// lower, misses more.
#[test]
fn counts_of_the_promised_size_are_found() {
    let plan = pure(shape(1 << 32, 2_000, 1), 1.0, 4, MonitorSettings::default()).expect("valid");
    let count = u32::try_from(plan.smallest_count(0.02)).expect("small");
    let missed = |count: u32, seed: u64| {
        let mut draws = rng(seed);
        let events: Vec<Event> = (0..count).map(|user| Event { user, item: 77 }).collect();
        (0..2_000)
            .filter(|_| {
                let mut monitor = plan.start_with(&mut SecureSource::new(&mut draws));
                let reports = monitor
                    .step_with(0, &events, &mut SecureSource::new(&mut draws))
                    .expect("in time");
                !reports.iter().any(|report| report.item == 77)
            })
            .count()
    };
    assert!(missed(count, 1) <= 79, "{}", missed(count, 1));
    assert!(missed(count * 7 / 10, 2) > 79);
}

/// Null: items that nobody shows are reported `beta` times per stream on average. Their number over 400
/// streams at `beta = 0.5` is Poisson with mean at most 200, and at most 274 except with
/// probability 5e-7; the control, a threshold lower by two units, has twice as many.
#[test]
fn unseen_items_are_reported_as_rarely_as_the_rule_says() {
    let plan = |lower: i64| {
        let build =
            |threshold| pure(shape(1 << 40, 10, 1_000), 1.0, 4, by(threshold)).expect("valid");
        let rule = build(Threshold::Rule { beta: 0.5 });
        build(Threshold::Count { count: rule.threshold() - lower })
    };
    let unseen = |plan: dp_stream::MonitorPlan| -> usize {
        let mut draws = rng(3);
        let stream = |_| {
            plan.start_with(&mut SecureSource::new(&mut draws))
                .finish_with(&mut SecureSource::new(&mut draws))
                .expect("the end")
                .len()
        };
        (0..400).map(stream).sum()
    };
    let kept = unseen(plan(0));
    assert!((100..=274).contains(&kept), "{kept}");
    assert!(unseen(plan(3)) > 274);
}
