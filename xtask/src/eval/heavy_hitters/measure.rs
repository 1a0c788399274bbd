//! How good reports are, against the true counts.

use crate::eval::heavy_hitters::data::Stream;
use dp_stream::Report;
use dp_stream::baselines::exact_heavy_hitters;
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
) -> BTreeMap<String, f64> {
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
    BTreeMap::from([
        ("precision".to_owned(), share(right, reported.len())),
        ("recall".to_owned(), share(found, wanted.len())),
        ("heavy_hitters".to_owned(), wanted.len() as f64),
        ("reports".to_owned(), reported.len() as f64),
        ("unseen_reported".to_owned(), unseen as f64),
        // Every item of more users has been found.
        ("smallest_count_found".to_owned(), (largest_missed + 1) as f64),
    ])
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
        let found = metrics(&truth, 10, &reports);
        let expected = [
            ("heavy_hitters", 2.0),
            ("precision", 0.5),
            ("recall", 0.5),
            ("reports", 4.0),
            ("smallest_count_found", 13.0),
            ("unseen_reported", 1.0),
        ];
        let expected = expected.map(|(name, value)| (name.to_owned(), value));
        assert_eq!(found, BTreeMap::from(expected));
        let nothing = metrics(&truth, 100, &[]);
        assert_eq!((nothing.get("precision"), nothing.get("recall")), (Some(&1.0), Some(&1.0)));
    }
}
