//! The largest plans and the lowest and highest thresholds.

use approx::assert_abs_diff_eq;
use dp_stream::{
    Budget, Event, Mechanism, Method, MonitorPlan, MonitorSettings, SecureSource, StreamError,
    StreamShape, Threshold, Universe,
};

use super::{by, from, pure, rng, shape};

/// 2^104 cells, nearly all of them skipped in one call: a few thousand draws instead of 2^40. At the threshold
/// of `beta = 0.9`, 110, the reports of unseen items in 300 streams are Poisson with mean 260.3: from 185 to
/// 343 of them except with probability 4.2e-7 on either side. (A threshold lower by one doubles the mean.)
#[test]
fn the_longest_stream_over_the_largest_universe_can_be_skipped() {
    let shape = StreamShape { universe: Universe::Bits64, users: 1_000, steps: 1 << 40 };
    let plan = pure(shape, 1.0, 2, by(Threshold::Rule { beta: 0.9 })).expect("valid");
    assert_eq!(plan.threshold(), 110);
    let mut draws = rng(4);
    let events: Vec<Event> = (0..1_000).map(|user| Event { user, item: u64::MAX }).collect();
    let mut unseen = 0;
    for run in 0..300_u64 {
        let mut monitor = plan.start_with(&mut SecureSource::new(&mut draws));
        let time = (1 << 40) - 1 - run % 2;
        let reports =
            monitor.step_with(time, &events, &mut SecureSource::new(&mut draws)).expect("in time");
        let crowd = reports.iter().filter(|r| (r.time, r.item) == (time, u64::MAX)).count();
        assert_eq!(crowd, 1, "a crowd is found after the longest skip");
        assert!(reports.is_sorted() && reports.iter().all(|report| report.time <= time));
        unseen += reports.len() - 1
            + monitor.finish_with(&mut SecureSource::new(&mut draws)).expect("the end").len();
    }
    assert!((185..=343).contains(&unseen), "{unseen}");
}

#[test]
fn a_skip_without_end_is_refused_and_changes_nothing() {
    // At threshold 0 every item is reported in every step.
    let plan = pure(shape(3, 5, 1 << 40), 1.0, 1, from(0)).expect("valid");
    let mut draws = rng(4);
    let mut monitor = plan.start_with(&mut SecureSource::new(&mut draws));
    let before = monitor.state();
    let error =
        monitor.finish_with(&mut SecureSource::new(&mut draws)).expect_err("3 * 2^40 reports");
    assert_eq!(
        error.to_string(),
        "1099511627775 steps cannot be skipped at once: they would report 3298534883325 items that \
         nobody shows; take them in portions"
    );
    assert!(matches!(error, StreamError::TooManySkipped { .. }));
    assert_eq!(monitor.state(), before);
    let reports =
        monitor.step_with(999, &[], &mut SecureSource::new(&mut draws)).expect("a portion");
    assert_eq!(reports.len(), 3_000, "certain");
    assert_eq!((reports[0].time, reports[2_999].time), (0, 999));
}

#[test]
fn thresholds_of_zero_and_of_the_largest_count() {
    let build = |steps, count| pure(shape(1 << 10, 5, steps), 1.0, 254, from(count));
    let mut draws = rng(4);
    let everything = build(2, 0).expect("1,024 reports per step");
    let mut monitor = everything.start_with(&mut SecureSource::new(&mut draws));
    let reports = monitor
        .step_with(0, &[Event { user: 0, item: 3 }], &mut SecureSource::new(&mut draws))
        .expect("in time");
    assert!(reports.iter().map(|report| report.item).eq(0..1 << 10));
    for count in [1 << 40, 1 << 41] {
        let nothing = build(1 << 40, count).expect("up to the largest threshold");
        let mut monitor = nothing.start_with(&mut SecureSource::new(&mut draws));
        assert_eq!(monitor.finish_with(&mut SecureSource::new(&mut draws)), Ok(vec![]));
    }
    assert!(build(1, (1 << 41) + 1).is_err());
    let error =
        pure(shape(1 << 32, 5, 1), 1.0, 1, from(0)).expect_err("2^32 reports per step").to_string();
    assert!(error.starts_with("at threshold 0 a step would report 4294967296 items"), "{error}");
}

/// Nonsense has an answer too, and so has a promise about 2^41 sampled users; none takes long.
#[test]
fn smallest_counts_of_any_miss_have_an_answer() {
    let pure = |count| pure(shape(9, 9, 9), 0.01, 2, from(count)).expect("valid");
    let budget = Budget::new(1.0, 0.0).expect("valid");
    let settings = MonitorSettings::default();
    let two_sided = MonitorPlan::new(Method::BasicHistograms, shape(9, 9, 9), budget, 2, settings)
        .expect("valid");
    for plan in [pure(0), pure(50), pure(1 << 41), two_sided] {
        for never in [0.0, -0.0, -1.0, f64::NEG_INFINITY, f64::NAN] {
            assert_eq!(plan.smallest_count(never), u64::MAX);
        }
        for any in [1.0, 2.0, f64::INFINITY] {
            assert_eq!(plan.smallest_count(any), 0);
        }
        let counts = [0.9, 0.1, 1e-6, 1e-300].map(|miss| plan.smallest_count(miss));
        assert!(counts.is_sorted() && counts[2] < 1 << 60, "{counts:?}");
    }
    // Of all users about 1 % are sampled; noise of scale 400 hardly matters.
    let count = pure(1 << 41).smallest_count(0.5) as f64;
    assert_abs_diff_eq!(count * pure(0).sampling_rate() / 2_f64.powi(41), 1.0, epsilon = 1e-3);
}

/// Over all that a budget can be: more epsilon is never more noise, and what cannot be had is named.
#[test]
fn target_charging_is_calibrated_for_every_budget() {
    let build = |epsilon, delta, k| {
        let budget = Budget::new(epsilon, delta).map_err(StreamError::from)?;
        let settings = MonitorSettings::default();
        MonitorPlan::new(Method::TargetCharging, shape(9, 9, 9), budget, k, settings)
    };
    for (delta, k) in
        [1e-12, 1e-6, 0.5].into_iter().flat_map(|delta| [1, 16, 254].map(|k| (delta, k)))
    {
        let mut last = 0.0;
        for epsilon in [1e-3, 0.1, 1.0, 8.0, 10.0, 20.0, 31.0, 60.0, 100.0] {
            let plan = build(epsilon, delta, k)
                .unwrap_or_else(|error| panic!("{error} for {epsilon}, {delta:e}, {k}"));
            assert!(plan.receipt().within_budget());
            let each = plan.loss_per_report();
            assert!(each > last && each < epsilon, "{each} for {epsilon}, {delta:e}, {k}");
            last = each;
        }
    }
    let refused =
        |epsilon, delta, k| build(epsilon, delta, k).map(drop).expect_err("refused").to_string();
    let too_large = refused(100.1, 1e-6, 1);
    assert_eq!(too_large, "epsilon must be finite and > 0 and at most 100, got 100.1");
    let too_small = refused(1e-9, 1e-12, 254);
    assert_eq!(too_small, "epsilon must be large enough to leave 1e-9 to a test, got 1e-9");
    let error = refused(1.0, 1e-41, 1);
    assert!(error.starts_with("delta must be at least 1e-39"), "{error}");
    assert!(build(1.0, 1e-41, 2).is_ok(), "a limit of more hits reaches further");
}
