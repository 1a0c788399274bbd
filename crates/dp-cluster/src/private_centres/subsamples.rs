//! Which subsample a record is in: a public function of the record and of how many like it come before.

use std::cmp::Ordering;

use dp_geometry::PointsView;
use rayon::prelude::*;

/// Spreads records over so many groups, by a hash of their bits and, among equal ones, of their number.
///
/// Equal records are told apart by numbers 0, 1, 2, ..., so one record more, wherever it stands, is one more member of one group: the
/// set of (record, number) has one element more and the others stay. An index of the row would not do: a record more in front moves all others.
pub(crate) fn subsamples(points: PointsView<'_>, groups: usize, public_seed: u64) -> Vec<u32> {
    let mut order: Vec<usize> = (0..points.len()).collect();
    order.par_sort_unstable_by(|&a, &b| compare(&points[a], &points[b]));
    let mut of = vec![0; points.len()];
    let groups = groups.max(1) as u64;
    for equal in order.chunk_by(|&a, &b| compare(&points[a], &points[b]).is_eq()) {
        let hash =
            points[equal[0]].iter().fold(mix(public_seed), |hash, x| mix(hash ^ x.to_bits()));
        for (number, &record) in (0_u64..).zip(equal) {
            #[allow(clippy::cast_possible_truncation, reason = "below the number of groups")]
            let group = (mix(hash ^ mix(number)) % groups) as u32;
            of[record] = group;
        }
    }
    of
}

fn compare(a: &[f64], b: &[f64]) -> Ordering {
    let bits = a.iter().map(|x| x.to_bits());
    bits.cmp(b.iter().map(|x| x.to_bits()))
}

/// The finaliser of `SplitMix64` (Steele, Lea, Flood 2014).
fn mix(x: u64) -> u64 {
    let mut z = x.wrapping_add(0x9e37_79b9_7f4a_7c15);
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

#[cfg(test)]
mod tests {
    use dp_geometry::Points;

    use super::*;

    /// With many equal records, one more is one more member of one group, wherever it stands.
    #[test]
    fn one_record_more_is_one_member_more() {
        let base: Vec<f64> = (0..300).map(|i| f64::from(i % 7) - 3.0).collect();
        let members = |coords: Vec<f64>| {
            let points = Points::new(coords, 1).expect("rows");
            let groups = subsamples(points.view(), 10, 3);
            let pairs = groups.iter().zip(points.view().coords().to_vec());
            let mut pairs: Vec<_> = pairs.map(|(g, x)| (*g, x.to_bits())).collect();
            pairs.sort_unstable();
            pairs
        };
        let before = members(base.clone());
        for (at, added) in [(0, 1.0), (150, -0.0), (300, f64::NAN), (7, 0.0)] {
            let mut more = base.clone();
            more.insert(at, added);
            let mut after = members(more);
            for pair in &before {
                let place = after.binary_search(pair).expect("nobody moves");
                after.remove(place);
            }
            assert_eq!(after.len(), 1);
        }
    }

    #[test]
    fn groups_are_about_equal_also_of_equal_records() {
        let points = Points::new(vec![0.5; 20_000], 2).expect("rows");
        let mut sizes = [0; 8];
        for group in subsamples(points.view(), 8, 0) {
            sizes[group as usize] += 1;
        }
        // 1250 expected, five standard deviations of 33.
        assert!(sizes.iter().all(|&n: &i32| (n - 1250).abs() < 165), "{sizes:?}");
    }
}
