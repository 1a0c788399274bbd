//! A private step on the farthest records only.

use dp_accounting::AddRemove;
use dp_audit::{Neighbours, compare, multisets};
use dp_mechanism::{SecureSource, Source};

use dp_audit::harness::toys::{count, laplace};
use dp_audit::harness::{Effort, Found};

/// Distances from the nearest centre so far; equal ones are interchangeable.
const DISTANCES: usize = 4;
const FARTHEST: usize = 2;
const EPSILON: f64 = 1.0;

/// A histogram of the farthest records, with noise for `changes` counts that change by one. One
/// record more among the farthest pushes another one out, so there are two.
pub(super) fn histogram(effort: Effort, changes: f64) -> Found {
    let mut found = Found::claim(EPSILON);
    let mut rng = effort.rng(61);
    let noise = laplace(EPSILON / changes);
    let release = |records: &Vec<usize>, draws: &mut dyn Source| -> Vec<i64> {
        let mut sorted = records.clone();
        sorted.sort_unstable();
        let farthest = &sorted[sorted.len().saturating_sub(FARTHEST)..];
        (0..DISTANCES)
            .map(|distance| count(farthest, |&&record| record == distance))
            .map(|n| draws.noisy(n, noise))
            .collect()
    };
    for records in multisets(DISTANCES, effort.of(3, 6)) {
        for added in 0..DISTANCES {
            let with = [records.as_slice(), &[added]].concat();
            let comparison = compare(
                &Neighbours::of_records(AddRemove, Vec::clone).without_receipt(),
                release,
                &records,
                &with,
                &mut SecureSource::new(&mut rng),
            );
            found.see(comparison.pure_loss(), || format!("distances {records:?} and {added} more"));
        }
    }
    found
}
