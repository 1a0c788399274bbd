//! The radius within which most points lie, chosen privately.

use crate::buckets::Buckets;

/// Radii per factor of two, and factors of two below the diagonal of the box.
const PER_OCTAVE: i32 = 8;
const OCTAVES: i32 = 20;

/// The number of points that the radius aims at: a share of released counts.
pub(super) fn target(quantile: f64, counts: impl Iterator<Item = f64>) -> i64 {
    #[allow(clippy::cast_possible_truncation, reason = "saturates: a start may report any count")]
    let target = (quantile * counts.sum::<f64>()).round() as i64;
    target
}

/// The radii to choose from, ascending up to the longest.
pub(super) fn radii(longest: f64) -> Vec<f64> {
    let steps = (0..=PER_OCTAVE * OCTAVES).rev();
    steps.map(|i| longest * 2_f64.powf(-f64::from(i) / f64::from(PER_OCTAVE))).collect()
}

/// Steps that a search takes among all radii: each halves those left.
pub(super) const SEARCH_STEPS: usize = steps_among((PER_OCTAVE * OCTAVES + 1) as usize);

/// Steps that a search takes among so many radii, of which there is one at least.
pub(super) const fn steps_among(radii: usize) -> usize {
    radii.ilog2() as usize + 1
}

/// A search that noise would lead astray chooses among few radii: from one on down, so many, by factors of root 2.
const FEW: usize = 10;

/// The places of these few among all radii, ascending: released values and public numbers only.
pub(super) fn few_within(radii: &[f64], reach: f64) -> Vec<usize> {
    let step = (PER_OCTAVE / 2) as usize;
    let most = radii.partition_point(|&r| r < reach).min(radii.len() - 1);
    let few = (0..FEW).rev().filter_map(|down| most.checked_sub(down * step));
    few.collect()
}

/// Between each two radii and beyond the last, how many points there are: a record changes one of these counts, by 1.
pub(crate) fn buckets(radii: &[f64], distances: &[f64]) -> Vec<i64> {
    let (mut buckets, table) = (vec![0; radii.len() + 1], Buckets::new(radii.to_vec()));
    for &distance in distances {
        buckets[table.find(distance)] += 1;
    }
    buckets
}

/// Per radius, how many points lie within it: a record changes each by at most 1.
pub(super) fn within(buckets: &[i64]) -> Vec<u64> {
    let radii = &buckets[..buckets.len().saturating_sub(1)];
    let mut count = 0;
    let within = radii.iter().map(|here| {
        count += here.unsigned_abs();
        count
    });
    within.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// One point more, wherever it is, is counted once from some radius on: no count changes by more than 1.
    #[test]
    fn one_point_moves_each_count_by_at_most_one() {
        let radii = radii(3_f64.sqrt());
        let distances: Vec<f64> = (0..40).map(|i| f64::from(i).powi(3) * 3e-5).collect();
        let within = |distances: &[f64]| super::within(&buckets(&radii, distances));
        let here = within(&distances);
        for added in [0.0, 1e-9, 0.01, 0.1, 0.5, 1.7, 1.8, f64::INFINITY, f64::NAN] {
            let there = within(&[distances.as_slice(), &[added]].concat());
            let first = here.iter().zip(&there).position(|(a, b)| a != b).unwrap_or(here.len());
            assert_eq!(radii[first..].len(), radii.iter().filter(|&&r| r >= added).count());
            assert!(here[first..].iter().zip(&there[first..]).all(|(a, b)| a + 1 == *b), "{added}");
        }
    }

    /// Wherever most records are seen, there are radii to choose from, none of them above it but by a step.
    #[test]
    fn few_radii_are_near_where_records_are_seen() {
        let radii = radii(2_f64.sqrt());
        for reach in [0.0, 1e-9, 1e-5, 0.2, 1.0, 9.0, f64::INFINITY, f64::NAN] {
            let few = few_within(&radii, reach);
            assert!((1..=FEW).contains(&few.len()) && few.is_sorted(), "{reach}: {few:?}");
            let most = radii[*few.last().expect("one at least")];
            assert!(reach.is_nan() || most <= 1.1 * reach.max(radii[0]), "{reach}: {most}");
            assert!(steps_among(few.len()) <= SEARCH_STEPS);
        }
    }

    #[test]
    fn a_start_may_report_any_counts() {
        assert_eq!(target(0.8, [3.0, 7.0].into_iter()), 8);
        assert_eq!(target(0.8, [i64::MAX as f64; 3].into_iter()), i64::MAX);
    }
}
