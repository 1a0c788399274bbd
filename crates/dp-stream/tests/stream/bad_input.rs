//! What is refused, with what words, and that nothing changes then.

use dp_accounting::{Loss, Step};
use dp_stream::baselines::{CellMethod, CellMonitor};
use dp_stream::{
    BadEventKind, Budget, Event, Mechanism, Method, MonitorPlan, MonitorSettings, SecureSource,
    StreamError, Threshold,
};

use super::shards::wire;
use super::{by, from, plan, pure, rng, shape};

fn refusal(plan: Result<MonitorPlan, StreamError>) -> String {
    plan.expect_err("out of range").to_string()
}

#[test]
fn settings_out_of_range_are_named() {
    let builder =
        |size, users, steps, k| pure(shape(size, users, steps), 1.0, k, MonitorSettings::default());
    let with = |settings| pure(shape(9, 9, 9), 1.0, 3, settings);
    let default = MonitorSettings::default();
    for (refused, message) in [
        (builder(0, 9, 9, 1), "size of the universe must be between 1 and 2^64, got 0"),
        (builder(9, 9, 0, 1), "steps must be between 1 and 2^40, got 0"),
        (builder(9, 9, (1 << 40) + 1, 1), "steps must be between 1 and 2^40, got 1099511627777"),
        (builder(9, 9, 9, 0), "reports_per_user must be between 1 and 254, got 0"),
        (builder(9, 9, 9, 255), "reports_per_user must be between 1 and 254, got 255"),
        (
            with(MonitorSettings { items_per_step: Some(4), ..default }),
            "items_per_step must be between 1 and reports_per_user, got 4",
        ),
        (with(from(-1)), "threshold must be between 0 and 2^41, got -1"),
        (with(by(Threshold::Rule { beta: f64::NAN })), "beta must be above 0 and below 1, got NaN"),
        (
            with(MonitorSettings { least_threshold: Some(6), ..from(5) }),
            "least_threshold must be at most the threshold, got 6",
        ),
        (
            pure(shape(9, 9, 9), f64::NAN, 1, default),
            "epsilon must be finite and > 0 and at most 100, got NaN",
        ),
        (
            MonitorPlan::new(
                Method::TargetCharging,
                shape(9, 9, 9),
                Budget::new(1.0, 0.0).expect("valid"),
                1,
                default,
            ),
            "delta must be above 0 for this method, got 0",
        ),
    ] {
        assert_eq!(refusal(refused), message);
    }
}

/// Also where the threshold follows from delta and beta is not used.
#[test]
fn a_beta_that_is_no_probability_is_refused_for_every_method() {
    let budget = Budget::new(1.0, 1e-6).expect("valid");
    for method in [
        Method::ThreshMonitor,
        Method::ThreshMonitorSeen,
        Method::TargetCharging,
        Method::BasicHistograms,
    ] {
        let with = |beta| {
            MonitorPlan::new(method, shape(9, 9, 9), budget, 2, by(Threshold::Rule { beta }))
        };
        for beta in [f64::NAN, f64::INFINITY, -1.0, -0.0, 0.0, 1.0, 2.0] {
            let message = format!("beta must be above 0 and below 1, got {beta}");
            assert_eq!(refusal(with(beta)), message);
        }
        assert!(with(0.5).is_ok());
    }
}

#[test]
fn a_threshold_of_0_is_for_small_universes_and_one_of_2_to_the_40_is_fine() {
    let at = |size, count| pure(shape(size, 9, 9), 1.0, 1, from(count));
    assert_eq!(
        refusal(at(1 << 32, 0)),
        "at threshold 0 a step would report 4294967296 items that nobody shows; the least threshold \
         with these settings is 7"
    );
    assert!(at(1 << 32, 7).is_ok());
    let plan = at(5, 0).expect("all five, always");
    let mut draws = rng(1);
    let all = plan
        .start_with(&mut SecureSource::new(&mut draws))
        .step_with(0, &[], &mut SecureSource::new(&mut draws))
        .expect("in time");
    assert_eq!(all.iter().map(|r| r.item).collect::<Vec<_>>(), [0, 1, 2, 3, 4]);
    let plan = at(1 << 60, 1 << 40).expect("never");
    assert_eq!(
        plan.start_with(&mut SecureSource::new(&mut draws))
            .finish_with(&mut SecureSource::new(&mut draws)),
        Ok(vec![])
    );
}

#[test]
fn times_that_passed_or_are_not_planned_change_nothing() {
    let plan = plan(4, 6, 10, 2, 2);
    let mut draws = rng(1);
    let mut monitor = plan.start_with(&mut SecureSource::new(&mut draws));
    let events: Vec<Event> = (0..6).map(|user| Event { user, item: 1 }).collect();
    monitor.step_with(3, &events, &mut SecureSource::new(&mut draws)).expect("in time");
    let before = monitor.state();
    for (time, message) in [
        (3, "time 3 has passed, the next step is 4"),
        (0, "time 0 has passed, the next step is 4"),
        (10, "time 10 is beyond the plan, which has the steps 0 to 9"),
        (u64::MAX, "time 18446744073709551615 is beyond the plan, which has the steps 0 to 9"),
    ] {
        let error = monitor
            .step_with(time, &events, &mut SecureSource::new(&mut draws))
            .expect_err("refused");
        assert_eq!(error.to_string(), message);
        assert_eq!(monitor.state(), before, "the state is unchanged");
    }
    assert!(monitor.step_with(4, &events, &mut SecureSource::new(&mut draws)).is_ok());
}

#[test]
fn thresholds_move_within_what_was_planned() {
    let settings = MonitorSettings { least_threshold: Some(5), ..from(9) };
    let plan = pure(shape(4, 6, 10), 1.0, 1, settings).expect("valid");
    let mut monitor = plan.start_with(&mut SecureSource::new(&mut rng(1)));
    assert_eq!(monitor.set_threshold(5), Ok(()));
    let message = monitor.set_threshold(4).expect_err("too low").to_string();
    assert_eq!(message, "threshold must be at least the least threshold of the plan, got 4");
    assert!(monitor.set_threshold((1 << 41) + 1).is_err());
    assert_eq!(monitor.threshold(), 5);
}

#[test]
fn bad_events_are_dropped_by_a_step_and_named_by_a_check() {
    let plan = plan(4, 6, 10, 2, 1);
    let monitor = plan.start_with(&mut SecureSource::new(&mut rng(1)));
    let event = |user, item| Event { user, item };
    let good = [event(0, 1), event(0, 1), event(0, 2), event(5, 3)];
    assert_eq!(monitor.check_batch(&good), Ok(()), "what is repeated counts once and is no error");
    for (bad, why, message) in [
        (
            event(6, 1),
            BadEventKind::UnknownUser,
            "event 4 of the batch would be dropped: its user has no place in this session",
        ),
        (
            event(1, 4),
            BadEventKind::UnknownItem,
            "event 4 of the batch would be dropped: its item is not in the universe",
        ),
    ] {
        let batch = [&good[..], &[bad]].concat();
        let error = monitor.check_batch(&batch).expect_err("bad");
        assert_eq!((error.position, error.why), (4, why));
        assert_eq!(error.to_string(), message);
    }
    // The first step's order of items is 3, 2, 0, 1.
    let crowd = [event(3, 0), event(3, 1), event(3, 2)];
    let error = monitor.check_batch(&crowd).expect_err("three items, two count");
    assert_eq!((error.position, error.why), (1, BadEventKind::TooManyItems));
    assert_eq!(
        error.to_string(),
        "event 1 of the batch would be dropped: its user shows more items in this step than may count"
    );
    // What a step keeps of a user is not complained about: the first of two crowds to lose an event, which is that of item 1.
    let crowds = [
        event(4, 0),
        event(3, 0),
        event(3, 1),
        event(3, 0),
        event(4, 1),
        event(3, 3),
        event(4, 2),
        event(9, 9),
    ];
    let error = monitor.check_batch(&crowds).expect_err("two crowds");
    assert_eq!((error.position, error.why), (2, BadEventKind::TooManyItems));
    let error = monitor.check_batch(&crowds[6..]).expect_err("one unknown user");
    assert_eq!((error.position, error.why), (1, BadEventKind::UnknownUser));
    // The step takes the same batches without complaint, and without counting what is bad.
    let (mut with, mut without) = (rng(4), rng(4));
    let bad = [event(6, 1), event(u32::MAX, 1), event(1, 4), event(1, u64::MAX)];
    let batch = [&bad[..2], &good[..], &bad[2..]].concat();
    let (mut a, mut b) = (
        plan.start_with(&mut SecureSource::new(&mut with)),
        plan.start_with(&mut SecureSource::new(&mut without)),
    );
    assert_eq!(
        a.step_with(0, &batch, &mut SecureSource::new(&mut with)),
        b.step_with(0, &good, &mut SecureSource::new(&mut without))
    );
    assert_eq!(a.state(), b.state());
}

/// Nor do methods of one cell per item: items next to the last one and beyond, and users whom the plan does not have, change nothing.
#[test]
fn cells_are_asked_about_known_users_and_items_only() {
    let budget = Budget::new(1.0, 1e-6).expect("valid");
    let event = |user, item| Event { user, item };
    for method in [
        CellMethod::KaplanStyle { spread: 2 },
        CellMethod::GaussianHistograms,
        CellMethod::SparseVector { reports: 2 },
    ] {
        let plan =
            CellMonitor::new(shape(4, 6, 3), budget, method, 2, Threshold::Count { count: 3 });
        let plan = plan.expect("valid");
        let good: Vec<Event> = (0..6).map(|user| event(user, 3)).collect();
        let odd = [(0, 4), (1, 5), (2, u64::MAX), (6, 3), (7, 0), (u32::MAX, 3)];
        let odd: Vec<Event> = odd.map(|(user, item)| event(user, item)).to_vec();
        let with = [odd.clone(), [&odd[..3], &good[..], &odd[3..]].concat(), odd];
        let without = [vec![], good, vec![]];
        let of = |steps: &[Vec<Event>]| plan.simulate(steps, &mut rng(5)).expect("released").output;
        assert_eq!(of(&with), of(&without), "{method:?}");
    }
}

#[test]
fn data_of_another_length_and_large_universes_for_small_methods_are_refused() {
    let error = plan(4, 6, 10, 2, 1).simulate(&[], &mut rng(1)).expect_err("too short");
    assert_eq!(error.to_string(), "the plan has 10 steps, the data have 0");
    let budget = Budget::new(1.0, 1e-6).expect("valid");
    let cells = |size, method| {
        CellMonitor::new(shape(size, 6, 10), budget, method, 1, Threshold::Rule { beta: 0.1 })
    };
    let message = cells((1 << 20) + 1, CellMethod::GaussianHistograms).expect_err("too large");
    assert_eq!(
        message.to_string(),
        "size of the universe must be at most 2^20 for this method, got 1048577"
    );
    let message = cells(9, CellMethod::SparseVector { reports: 0 }).expect_err("no reports");
    assert_eq!(message.to_string(), "reports of the sparse vector must be at least 1, got 0");
}

/// What `check_batch` names is what a step drops: without it the step is the same, and nothing before it is
/// complained about.
#[test]
fn the_event_that_is_named_is_the_first_to_be_dropped() {
    let plan = plan(9, 12, 40, 3, 1);
    let mut draws = rng(8);
    let mut named = 0;
    for events in super::shifting(13, 40, 30, 10, 5) {
        let monitor = plan.start_with(&mut SecureSource::new(&mut draws));
        let Err(bad) = monitor.check_batch(&events) else { continue };
        named += 1;
        assert_eq!(monitor.check_batch(&events[..bad.position]), Ok(()));
        let mut without = events.clone();
        without.remove(bad.position);
        let after = |events: &[Event]| {
            let mut monitor = wire(&monitor.state()).resume(&plan, 0).expect("whole");
            let reports =
                monitor.step_with(0, events, &mut SecureSource::new(&mut rng(3))).expect("in time");
            (reports, monitor.state())
        };
        assert_eq!(after(&events), after(&without));
    }
    assert!(named > 20, "a test about nothing");
}

/// It is the least threshold that may report too many items which nobody shows.
#[test]
fn a_least_threshold_with_too_many_empty_items_is_refused() {
    let refused = |threshold, least| {
        let budget = Budget::new(1.0, 0.0).expect("valid");
        let settings = MonitorSettings { least_threshold: Some(least), ..from(threshold) };
        let shape = shape(1 << 40, 5, 4);
        MonitorPlan::new(Method::ThreshMonitor, shape, budget, 1, settings).err()
    };
    assert_eq!(refused(90, 90), None);
    assert!(matches!(refused(90, 1), Some(StreamError::TooManyEmpty { threshold: 1, .. })));
}

/// Of a stream of eight times as many steps, a step's items are eight times as likely to be those of one user alone, however many there are.
#[test]
fn a_delta_is_for_all_steps_of_a_long_stream() {
    let delta = |steps| {
        let budget = Budget::new(0.7, 0.3).expect("valid");
        let shape = shape(9, 5, steps);
        let plan = MonitorPlan::new(Method::ThreshMonitorSeen, shape, budget, 2, from(70));
        match plan.expect("valid").receipt().spent() {
            Step::Spend { loss: Loss::Approximate { delta, .. }, .. } => delta.get(),
            other => panic!("{other:?}"),
        }
    };
    for steps in [1 << 10, 1 << 30, 1 << 36] {
        let ratio = delta(8 * steps) / delta(steps);
        assert!((ratio - 8.0).abs() < 1e-6, "{steps}: {ratio}");
    }
}

/// A threshold may go down to the least one, so that is what the delta has to be enough for.
#[test]
fn a_receipt_pays_for_the_least_threshold() {
    let spent = |threshold, least| {
        let budget = Budget::new(0.7, 0.3).expect("valid");
        let settings = MonitorSettings { least_threshold: Some(least), ..from(threshold) };
        let plan = MonitorPlan::new(Method::ThreshMonitorSeen, shape(9, 5, 4), budget, 2, settings);
        plan.expect("valid").receipt().spent().clone()
    };
    assert_eq!(spent(12, 9), spent(9, 9));
    assert_ne!(spent(12, 12), spent(9, 9));
}
