//! Methods that draw for every item.

use dp_stream::baselines::{CellMethod, CellMonitor, exact_heavy_hitters};
use dp_stream::{Budget, Event, Mechanism, Report, Threshold};

use super::{rng, shape, shifting};

fn monitor(method: CellMethod, users: u32, steps: u64) -> CellMonitor {
    let budget = Budget::new(2.0, 1e-6).expect("valid");
    let threshold = Threshold::Rule { beta: 1e-3 };
    CellMonitor::new(shape(8, users, steps), budget, method, 2, threshold).expect("valid")
}

/// Everybody shows item 3 in every step.
fn crowd(users: u32, steps: u64) -> Vec<Vec<Event>> {
    (0..steps).map(|_| (0..users).map(|user| Event { user, item: 3 }).collect()).collect()
}

#[test]
fn a_crowd_is_found_by_every_method_within_its_limits() {
    let stream = crowd(4_000, 5);
    let times = |reports: Vec<Report>| -> Vec<u64> {
        assert!(reports.iter().all(|report| report.item == 3), "beta is 1e-3");
        reports.into_iter().map(|report| report.time).collect()
    };
    for (method, expected) in [
        // Two reports per user, then everybody is gone.
        (CellMethod::KaplanStyle { spread: 3 }, vec![0, 1]),
        (CellMethod::KaplanStyle { spread: 0 }, vec![0, 1]),
        (CellMethod::GaussianHistograms, vec![0, 1, 2, 3, 4]),
        // Three reports in all.
        (CellMethod::SparseVector { reports: 3 }, vec![0, 1, 2]),
    ] {
        let plan = monitor(method, 4_000, 5);
        let release = plan.simulate(&stream, &mut rng(1)).expect("as planned");
        assert_eq!(times(release.output), expected, "{method:?}");
        assert!(release.receipt.within_budget(), "{method:?}");
        let empty = plan.simulate(&vec![Vec::new(); 5], &mut rng(2)).expect("as planned");
        assert_eq!(empty.output, [], "{method:?}");
    }
}

/// It pays for so many reports in all, of which one step may have several: all of 8 items pass in each of 3 steps.
#[test]
fn a_sparse_vector_stops_where_its_reports_end_also_within_a_step() {
    let shown = |user: u32| (0..2).map(move |i| Event { user, item: u64::from(user % 4 * 2 + i) });
    let stream: Vec<Vec<Event>> = (0..3).map(|_| (0..4_000).flat_map(shown).collect()).collect();
    for reports in [1, 2, 3, 7, 8, 9, 20] {
        let plan = monitor(CellMethod::SparseVector { reports }, 4_000, 3);
        let found = plan.simulate(&stream, &mut rng(1)).expect("as planned").output;
        assert_eq!(found.len(), reports as usize);
    }
}

#[test]
fn noisy_counts_come_out_only_where_they_are_free() {
    let stream = crowd(4_000, 5);
    for (method, free) in [
        (CellMethod::GaussianHistograms, true),
        (CellMethod::KaplanStyle { spread: 3 }, false),
        (CellMethod::SparseVector { reports: 3 }, false),
    ] {
        let plan = monitor(method, 4_000, 5);
        let release = plan.simulate(&stream, &mut rng(1)).expect("as planned");
        let counts = release.output.iter().map(|report| report.noisy_count);
        assert_eq!(counts.into_iter().any(|count| count != plan.threshold()), free, "{method:?}");
    }
}

#[test]
fn exact_heavy_hitters_count_users_and_not_events() {
    let stream = shifting(50, 20, 400, 6, 4);
    let reports = exact_heavy_hitters(&stream, 25);
    assert!(reports.is_sorted() && !reports.is_empty());
    for report in &reports {
        let events = &stream[usize::try_from(report.time).expect("small")];
        let mut users: Vec<u32> =
            events.iter().filter(|e| e.item == report.item).map(|e| e.user).collect();
        users.sort_unstable();
        users.dedup();
        assert_eq!(report.noisy_count, i64::try_from(users.len()).expect("small"));
        assert!(users.len() >= 25);
    }
    assert_eq!(exact_heavy_hitters(&stream, 51), []);
}

/// What a plan costs, by its receipt, is within its budget and not far below, over a wide range of settings.
#[test]
fn budgets_are_used_and_never_exceeded() {
    use rand::RngExt;
    let mut rng = rng(5);
    let mut built = [0; 3];
    for case in 0..45 {
        let epsilon = 10_f64.powf(rng.random_range(-2.0..1.5));
        let delta = 10_f64.powf(rng.random_range(-10.0..-3.0));
        let budget = Budget::new(epsilon, delta).expect("valid");
        let k = rng.random_range(1..10);
        let steps = rng.random_range(1..2_000);
        let method = match case % 3 {
            0 => CellMethod::KaplanStyle { spread: 10 },
            1 => CellMethod::GaussianHistograms,
            _ => CellMethod::SparseVector { reports: k.into() },
        };
        let threshold = Threshold::Rule { beta: 0.1 };
        let plan = CellMonitor::new(shape(8, 10, steps), budget, method, k, threshold);
        let spent = plan.expect("in range").receipt().epsilon().expect("finite").get();
        assert!(spent <= epsilon && spent > 0.99 * epsilon, "{method:?}: {spent} of {epsilon}");
        built[case % 3] += 1;
    }
    assert_eq!(built, [15; 3]);
}
