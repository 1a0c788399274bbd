//! Which method is advised, and the numbers that the project promises.

use dp_stream::{Budget, Question, advise};

use super::shape;

fn question(epsilon: f64, delta: f64, k: u8) -> Question {
    Question {
        shape: shape(1 << 32, 1_000_000, 10_000),
        budget: Budget::new(epsilon, delta).expect("valid"),
        reports_per_user: k,
        items_per_step: 1,
        reports_in_all: 1_000,
        beta: 0.1,
        miss: 1e-6,
    }
}

fn smallest(question: &Question, method: &str) -> u64 {
    let advice = advise(question).expect("valid");
    let row = advice.rows.iter().find(|row| row.method == method).expect("listed");
    row.smallest_count
}

/// At epsilon 1, 10^4 steps, 2^32 items, `beta = 0.1`, one miss in a million: the table of the README.
#[test]
fn the_smallest_counts_are_as_small_as_promised() {
    for (k, pure, seen, charging) in
        [(1, 72, 57, 872), (4, 215, 155, 1132), (16, 743, 514, 1659), (64, 2772, 1883, 2763)]
    {
        let question = question(1.0, 1e-6, k);
        assert_eq!(smallest(&question, "thresh-monitor"), pure, "k = {k}");
        assert_eq!(smallest(&question, "thresh-monitor-seen"), seen, "k = {k}");
        assert_eq!(smallest(&question, "target-charging"), charging, "k = {k}");
    }
}

#[test]
fn pure_wins_for_few_reports_per_user_and_charging_for_many() {
    let better = |k| {
        let question = question(1.0, 1e-6, k);
        smallest(&question, "thresh-monitor") < smallest(&question, "target-charging")
    };
    assert!(better(1) && better(16) && better(48));
    assert!(!better(96) && !better(200));
}

#[test]
fn an_advice_reads_well() {
    let advice = advise(&question(1.0, 0.0, 4)).expect("valid").to_string();
    let lines: Vec<&str> = advice.lines().collect();
    assert_eq!(lines.len(), 5, "{advice}");
    assert!(lines[1].starts_with("thresh-monitor         pure                    215"), "{advice}");
    assert!(lines[4].ends_with("no delta was allowed, so only pure methods compete"), "{advice}");
    let short = Question { shape: shape(16, 10, 1), ..question(1.0, 0.0, 200) };
    let advice = advise(&short).expect("valid");
    assert_eq!(advice.rows[0].method, "basic-histograms", "{advice}");
    let bad = Question { miss: 0.0, ..question(1.0, 0.0, 1) };
    let message = advise(&bad).expect_err("out of range").to_string();
    assert_eq!(message, "miss must be above 0 and below 1, got 0");
}
