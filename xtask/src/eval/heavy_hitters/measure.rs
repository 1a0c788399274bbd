//! How good reports are, against the true counts.

use dp_stream::Report;
use dp_stream::baselines::exact_heavy_hitters;
use quietus_datasets::sets::heavy_hitters::Stream;
use std::collections::{BTreeMap, BTreeSet};

/// True counts of every (time, item) that anybody shows.
pub(super) fn truth(stream: &Stream) -> BTreeMap<(u64, u64), i64> {
    let all = exact_heavy_hitters(&stream.steps, 1);
    all.into_iter().map(|report| ((report.time, report.item), report.noisy_count)).collect()
}

/// Recall is over items of at least `heavy` users; precision counts reports of at least half of that
/// as right, which is what a promise within a factor of two allows.
pub(super) fn metrics(
    truth: &BTreeMap<(u64, u64), i64>,
    heavy: i64,
    reports: &[Report],
) -> [(&'static str, f64); 6] {
    let reported: BTreeSet<(u64, u64)> = reports.iter().map(|r| (r.time, r.item)).collect();
    let count = |cell: &(u64, u64)| truth.get(cell).copied().unwrap_or(0);
    let right = reported.iter().filter(|cell| 2 * count(cell) >= heavy).count();
    let unseen = reported.iter().filter(|cell| count(cell) == 0).count();
    let wanted: Vec<&(u64, u64)> =
        truth.iter().filter(|(_, count)| **count >= heavy).map(|(cell, _)| cell).collect();
    let found = wanted.iter().filter(|cell| reported.contains(**cell)).count();
    let missed = truth.iter().filter(|(cell, _)| !reported.contains(*cell));
    let largest_missed = missed.map(|(_, count)| *count).max().unwrap_or(0);
    let share = |part: usize, of: usize| if of == 0 { 1.0 } else { part as f64 / of as f64 };
    [
        ("precision", share(right, reported.len())),
        ("recall", share(found, wanted.len())),
        ("heavy_hitters", wanted.len() as f64),
        ("reports", reported.len() as f64),
        ("unseen_reported", unseen as f64),
        // Every item of more users has been found.
        ("smallest_count_found", (largest_missed + 1) as f64),
    ]
}

#[cfg(test)]
mod tests {
    use super::metrics;
    use dp_stream::Report;
    use std::collections::BTreeMap;

    #[test]
    fn shares_are_those_of_a_hand_made_case() {
        let truth = BTreeMap::from([((0, 1), 10), ((0, 2), 6), ((1, 1), 12), ((1, 3), 2)]);
        let report = |time, item| Report { time, item, noisy_count: 0 };
        let reports = [report(0, 1), report(0, 2), report(1, 3), report(1, 9)];
        let expected = [
            ("precision", 0.5),
            ("recall", 0.5),
            ("heavy_hitters", 2.0),
            ("reports", 4.0),
            ("unseen_reported", 1.0),
            ("smallest_count_found", 13.0),
        ];
        assert_eq!(metrics(&truth, 10, &reports), expected);
        assert_eq!(metrics(&truth, 100, &[])[..2], [("precision", 1.0), ("recall", 1.0)]);
    }
}
