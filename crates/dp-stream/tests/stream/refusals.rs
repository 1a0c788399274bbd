//! More wrong arguments of plans and advice, and what is said about them.

use dp_stream::baselines::{CellMethod, CellMonitor};
use dp_stream::{
    Budget, Method, MonitorPlan, MonitorSettings, Question, StreamShape, Threshold, Universe,
    Wanted, advise, advise_settings,
};

use super::{by, from, plan, pure, rng, shape};

fn said<T, E: std::fmt::Display>(outcome: Result<T, E>) -> String {
    outcome.map_or_else(|error| error.to_string(), |_| "accepted".to_owned())
}

fn names(alphabet: &str, max_bytes: u32) -> StreamShape {
    let universe = Universe::BoundedNames { alphabet: alphabet.to_owned(), max_bytes };
    StreamShape { universe, users: 9, steps: 9 }
}

#[test]
#[allow(clippy::too_many_lines, reason = "one entry for each refusal")]
fn wrong_arguments_are_refused_with_value_and_limit() {
    let default = MonitorSettings::default();
    let at = |epsilon| pure(shape(9, 9, 9), epsilon, 1, default);
    let with = |settings| pure(shape(9, 9, 9), 1.0, 2, settings);
    let by_method =
        |method, budget, k| MonitorPlan::new(method, shape(9, 9, 9), budget, k, default);
    let budget = |epsilon, delta| Budget::new(epsilon, delta).expect("in range");
    let (one, some) = (budget(1.0, 0.0), budget(1.0, 1e-6));
    let of = |shape| pure(shape, 1.0, 1, default);
    let cells = |method, k, threshold| CellMonitor::new(shape(9, 9, 9), some, method, k, threshold);
    let sparse = |reports| CellMethod::SparseVector { reports };
    let question = || Question {
        shape: shape(9, 9, 9),
        budget: one,
        reports_per_user: 2,
        items_per_step: 1,
        reports_in_all: 3,
        beta: 0.1,
        miss: 0.1,
    };
    let wanted = || Wanted {
        shape: shape(9, 9, 9),
        budget: one,
        users: 9,
        items_of_a_user: 2,
        within: 1,
        reports_of_a_user: 1,
        beta: 0.1,
    };
    let rule = |beta| Threshold::Rule { beta };
    let sharded = |sizes: &[u32]| {
        plan(4, 6, 9, 1, 2).start_sharded_with(
            1,
            sizes,
            &mut dp_stream::SecureSource::new(&mut rng(1)),
        )
    };
    for (said, expected) in [
        (said(at(0.0)), "epsilon must be finite and > 0 and at most 100, got 0"),
        (said(at(-0.0)), "epsilon must be finite and > 0 and at most 100, got -0"),
        (said(at(-1.0)), "epsilon must be finite and > 0 and at most 100, got -1"),
        (said(at(f64::INFINITY)), "epsilon must be finite and > 0 and at most 100, got inf"),
        (said(at(1e300)), "epsilon must be finite and > 0 and at most 100, got 1e300"),
        (
            said(at(1e-300)),
            "epsilon of a sample = 1e-300 asks for more noise than 64-bit integers can carry; allow a larger loss or a smaller sensitivity",
        ),
        (
            said(at(5e-324)),
            "epsilon of a sample = 5e-324 asks for more noise than 64-bit integers can carry; allow a larger loss or a smaller sensitivity",
        ),
        (said(at(100.5)), "epsilon must be finite and > 0 and at most 100, got 100.5"),
        (
            said(of(names("", 9))),
            "there are more than 2^64 names of up to 9 bytes over 256 symbols",
        ),
        (
            said(of(names("", u32::MAX))),
            "there are more than 2^64 names of up to 4294967295 bytes over 256 symbols",
        ),
        (said(of(names("aa", 2))), "every byte of an alphabet must be there once, got 0x61 twice"),
        (
            said(of(names("abca", u32::MAX))),
            "every byte of an alphabet must be there once, got 0x61 twice",
        ),
        (
            said(of(names("ab", 64))),
            "there are more than 2^64 names of up to 64 bytes over 2 symbols",
        ),
        (
            said(of(names("ab", u32::MAX))),
            "there are more than 2^64 names of up to 4294967295 bytes over 2 symbols",
        ),
        (
            said(pure(shape(9, 9, u64::MAX), 1.0, 1, default)),
            "steps must be between 1 and 2^40, got 18446744073709551615",
        ),
        (
            said(pure(shape(9, u32::MAX, 9), 1.0, 255, default)),
            "reports_per_user must be between 1 and 254, got 255",
        ),
        (
            said(by_method(Method::ThreshMonitorSeen, one, 1)),
            "delta must be above 0 for this method, got 0",
        ),
        (
            said(by_method(Method::ThreshMonitorSeen, budget(1e-300, 1e-300), 1)),
            "epsilon of a sample = 1e-300 asks for more noise than 64-bit integers can carry; allow a larger loss or a smaller sensitivity",
        ),
        (
            said(by_method(Method::TargetCharging, budget(1.0, 1e-300), 0)),
            "reports_per_user must be between 1 and 254, got 0",
        ),
        (
            said(by_method(Method::TargetCharging, budget(1e-300, 1e-6), 1)),
            "epsilon of a report = 5e-301 asks for more noise than 64-bit integers can carry; allow a larger loss or a smaller sensitivity",
        ),
        (said(at(f64::NAN)), "epsilon must be finite and > 0 and at most 100, got NaN"),
        (
            said(MonitorPlan::new(
                Method::BasicHistograms,
                shape(9, 9, 1 << 40),
                budget(1e-300, 0.0),
                1,
                default,
            )),
            "epsilon of a report = 9.09494701773e-313 asks for more noise than 64-bit integers can carry; allow a larger loss or a smaller sensitivity",
        ),
        (
            said(by_method(Method::BasicHistograms, one, 0)),
            "reports_per_user must be between 1 and 254, got 0",
        ),
        (
            said(with(MonitorSettings { items_per_step: Some(0), ..default })),
            "items_per_step must be between 1 and reports_per_user, got 0",
        ),
        (
            said(with(MonitorSettings { items_per_step: Some(255), ..default })),
            "items_per_step must be between 1 and reports_per_user, got 255",
        ),
        (
            said(with(from(i64::MAX))),
            "threshold must be between 0 and 2^41, got 9223372036854775807",
        ),
        (
            said(with(from(i64::MIN))),
            "threshold must be between 0 and 2^41, got -9223372036854775808",
        ),
        (
            said(with(MonitorSettings { least_threshold: Some(i64::MIN), ..default })),
            "least_threshold must be between 0 and 2^41, got -9223372036854775808",
        ),
        (
            said(with(MonitorSettings { least_threshold: Some(i64::MAX), ..default })),
            "least_threshold must be at most the threshold, got 9223372036854775807",
        ),
        (
            said(with(by(rule(5e-324)))),
            "threshold by the rule must be between 0 and 2^41, got 9223372036854775807",
        ),
        (
            said(cells(sparse(0), 1, rule(0.1))),
            "reports of the sparse vector must be at least 1, got 0",
        ),
        (
            said(cells(sparse(u32::MAX), 1, rule(0.1))),
            "scale of Laplace noise = 4294968920.49872 asks for more noise than 64-bit integers can carry; allow a larger loss or a smaller sensitivity",
        ),
        (
            said(cells(CellMethod::GaussianHistograms, 0, rule(0.1))),
            "reports_per_user must be between 1 and 254, got 0",
        ),
        (
            said(cells(CellMethod::GaussianHistograms, 255, rule(0.1))),
            "reports_per_user must be between 1 and 254, got 255",
        ),
        (
            said(cells(CellMethod::GaussianHistograms, 1, rule(0.0))),
            "beta must be above 0 and below 1, got 0",
        ),
        (
            said(cells(CellMethod::GaussianHistograms, 1, rule(f64::NAN))),
            "beta must be above 0 and below 1, got NaN",
        ),
        (
            said(cells(CellMethod::GaussianHistograms, 1, Threshold::Count { count: -1 })),
            "threshold must be between 0 and 2^41, got -1",
        ),
        (
            said(cells(CellMethod::GaussianHistograms, 1, Threshold::Count { count: i64::MAX })),
            "threshold must be between 0 and 2^41, got 9223372036854775807",
        ),
        (
            said(CellMonitor::new(
                shape(9, 9, 9),
                one,
                CellMethod::GaussianHistograms,
                1,
                rule(0.1),
            )),
            "delta must be above 0 for this method, got 0",
        ),
        (
            said(CellMonitor::new(shape(1 << 40, 9, 9), some, sparse(1), 1, rule(0.1))),
            "size of the universe must be at most 2^20 for this method, got 1099511627776",
        ),
        (
            said(CellMonitor::new(shape(9, 0, 9), some, sparse(1), 1, rule(0.1))),
            "users must be at least 1, got 0",
        ),
        (
            said(CellMonitor::new(shape(9, 9, 0), some, sparse(1), 1, rule(0.1))),
            "steps must be between 1 and 2^40, got 0",
        ),
        (
            said(CellMonitor::new(shape(9, 9, u64::MAX), some, sparse(1), 1, rule(0.1))),
            "steps must be between 1 and 2^40, got 18446744073709551615",
        ),
        (
            said(CellMonitor::new(shape(9, 9, 9), budget(1e-300, 0.0), sparse(1), 1, rule(0.1))),
            "scale of Laplace noise = 2.0000000000000197e300 asks for more noise than 64-bit integers can carry; allow a larger loss or a smaller sensitivity",
        ),
        (
            said(CellMonitor::new(
                shape(9, 9, 9),
                budget(1e-300, 1e-300),
                CellMethod::GaussianHistograms,
                1,
                rule(0.1),
            )),
            "epsilon must be so large, with this delta, that Gaussian noise of some width is enough, got 1e-300",
        ),
        (
            said(CellMonitor::new(
                shape(9, 9, 9),
                budget(1e-300, 1e-300),
                CellMethod::KaplanStyle { spread: 2 },
                1,
                rule(0.1),
            )),
            "delta must be at least 1e-39 for tests that are charged by so few hits, got 1e-300",
        ),
        (
            said(advise(&Question { beta: 0.0, ..question() })),
            "beta must be above 0 and below 1, got 0",
        ),
        (
            said(advise(&Question { beta: f64::NAN, ..question() })),
            "beta must be above 0 and below 1, got NaN",
        ),
        (
            said(advise(&Question { miss: 1.0, ..question() })),
            "miss must be above 0 and below 1, got 1",
        ),
        (
            said(advise(&Question { miss: f64::INFINITY, ..question() })),
            "miss must be above 0 and below 1, got inf",
        ),
        (
            said(advise(&Question { shape: shape(0, 9, 9), ..question() })),
            "size of the universe must be between 1 and 2^64, got 0",
        ),
        (
            said(advise(&Question { reports_per_user: 0, ..question() })),
            "reports_per_user must be between 1 and 254, got 0",
        ),
        (
            said(advise(&Question { reports_per_user: 255, ..question() })),
            "reports_per_user must be between 1 and 254, got 255",
        ),
        (
            said(advise(&Question { items_per_step: 0, ..question() })),
            "items_per_step must be between 1 and reports_per_user, got 0",
        ),
        (
            said(advise(&Question { items_per_step: 3, ..question() })),
            "items_per_step must be between 1 and reports_per_user, got 3",
        ),
        (
            said(advise_settings(&Wanted { beta: 2.0, ..wanted() })),
            "beta must be above 0 and below 1, got 2",
        ),
        (
            said(advise_settings(&Wanted { beta: f64::NAN, ..wanted() })),
            "beta must be above 0 and below 1, got NaN",
        ),
        (
            said(advise_settings(&Wanted { reports_of_a_user: 0, ..wanted() })),
            "reports_per_user must be between 1 and 254, got 0",
        ),
        (
            said(advise_settings(&Wanted { reports_of_a_user: 255, ..wanted() })),
            "reports_per_user must be between 1 and 254, got 255",
        ),
        (
            said(advise_settings(&Wanted { budget: budget(1e-300, 1e-300), ..wanted() })),
            "epsilon of a sample = 1e-300 asks for more noise than 64-bit integers can carry; allow a larger loss or a smaller sensitivity",
        ),
        (
            said(advise_settings(&Wanted { shape: shape(9, 9, 0), ..wanted() })),
            "steps must be between 1 and 2^40, got 0",
        ),
        (said(sharded(&[])), "the plan has 6 users, the shards have 0"),
        (said(sharded(&[5])), "the plan has 6 users, the shards have 5"),
        (said(sharded(&[u32::MAX, u32::MAX])), "the plan has 6 users, the shards have 8589934590"),
    ] {
        assert_eq!(said, expected);
    }
}

/// What somebody else has written, with the value and the limit, or what is missing.
#[test]
fn wrong_files_are_refused_with_value_and_limit() {
    let whole = serde_json::to_string(&plan(4, 6, 9, 1, 2)).expect("plain fields");
    let with = |from: &str, to: &str| {
        assert!(whole.contains(from), "{from} in {whole}");
        said(serde_json::from_str::<MonitorPlan>(&whole.replacen(from, to, 1)))
    };
    for (said, wanted) in [
        (with("\"users\":6", "\"users\":-1"), "invalid value: integer `-1`"),
        (with("\"users\":6", "\"users\":6.5"), "invalid type: floating point `6.5`"),
        (with("\"users\":6", "\"users\":4294967296"), "invalid value: integer `4294967296`"),
        (with("\"users\":6", "\"people\":6"), "unknown field `people`"),
        (with("\"steps\":9", "\"steps\":0"), "steps must be between 1 and 2^40, got 0"),
        (
            with("\"steps\":9", "\"steps\":18446744073709551615"),
            "steps must be between 1 and 2^40, got 18446744073709551615",
        ),
        (
            with("\"size\":4", "\"size\":0"),
            "size of the universe must be between 1 and 2^64, got 0",
        ),
        (
            with("\"epsilon\":", "\"epsilon\":-"),
            "epsilon must be finite and > 0 and at most 100, got -4",
        ),
        (with("\"epsilon\":", "\"epsilon\":1e999,\"x\":"), "number out of range"),
        (with("\"delta\":0.0", "\"delta\":1.0"), "delta must be"),
        (with("\"delta\":0.0", "\"delta\":-0.5"), "delta must be"),
        (with("thresh-monitor", "thresh"), "unknown variant `thresh`"),
    ] {
        assert!(said.contains(wanted), "{said}, not {wanted}");
    }
}

/// What takes any number answers with one that means something.
#[test]
fn odd_numbers_have_answers() {
    let plan = plan(4, 6, 9, 1, 2);
    for miss in [f64::NAN, f64::NEG_INFINITY, -1.0, 0.0, 5e-324, 1.0, f64::INFINITY] {
        let counts = [
            plan.smallest_count(miss),
            plan.smallest_count_within(0, 0, miss),
            plan.smallest_count_within(u32::MAX, u64::MAX, miss),
        ];
        // Never missing is promised to no count; missing always to all.
        let never = miss.is_nan() || miss <= 0.0;
        assert!(!never || counts == [u64::MAX; 3], "{miss}: {counts:?}");
        assert!(never || miss < 1.0 || counts[0] == 0 && counts[2] == 0, "{miss}: {counts:?}");
    }
    for (users, items, steps) in [(0, 0, 0), (u64::MAX, 1, 1), (1, u32::MAX, u64::MAX), (6, 1, 0)] {
        let share = plan.found_within(users, items, steps);
        assert!((0.0..=1.0).contains(&share), "{users} {items} {steps}: {share}");
    }
    for count in [i64::MIN, -1, 0, i64::MAX] {
        assert!(plan.estimate(count).is_finite(), "{count}");
    }
    let names = Universe::BoundedNames { alphabet: "ab".to_owned(), max_bytes: 3 };
    for name in ["c", "abab", "\u{e9}", "a b"] {
        assert_eq!(names.item_of(name), None, "{name}");
    }
    for item in [u64::try_from(names.size()).expect("few names"), u64::MAX] {
        assert_eq!(names.name_of(item), None, "{item}");
    }
}
