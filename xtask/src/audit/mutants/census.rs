//! Cumulative counts of groups by size, in an order that mixes regions or in one that does not.

use dp_audit::{compare, multisets};
use dp_mechanism::{Draws, SecureDraws};

use super::super::check::{Effort, Found};
use super::toys::{count, laplace};

const REGIONS: usize = 3;
const SIZES: usize = 4;
const EPSILON: f64 = 1.0;

/// A group is its position in the order by size and then by region.
fn size(group: usize) -> usize {
    group / REGIONS
}

fn region(group: usize) -> usize {
    group % REGIONS
}

/// How many groups stand at or before each position of the order over all regions.
pub(super) fn along_the_chain(groups: &[usize]) -> Vec<i64> {
    (0..SIZES * REGIONS).map(|position| count(groups, |&&group| group <= position)).collect()
}

/// For each region by itself, how many groups have at most each size.
pub(super) fn at_most_each_size(groups: &[usize]) -> Vec<i64> {
    let positions = 0..SIZES * REGIONS;
    let at_most = |p| count(groups, |&&group| region(group) == region(p) && group <= p);
    positions.map(at_most).collect()
}

/// For each region by itself, how many groups have at least each size.
pub(super) fn at_least_each_size(groups: &[usize]) -> Vec<i64> {
    let positions = 0..SIZES * REGIONS;
    let at_least = |p| count(groups, |&&group| region(group) == region(p) && group >= p);
    positions.map(at_least).collect()
}

/// Noise of scale `1 / EPSILON` for counts that one person is said to change by one in all, over
/// all pairs in which one person joins a group, or, if they `may_appear`, forms a new one.
pub(super) fn cumulative(
    effort: Effort,
    counts: fn(&[usize]) -> Vec<i64>,
    may_appear: bool,
) -> Found {
    let mut found = Found::claim(EPSILON);
    let mut rng = effort.rng(60);
    let release = |groups: &Vec<usize>, draws: &mut dyn Draws| -> Vec<i64> {
        counts(groups).into_iter().map(|n| draws.noisy(n, laplace(EPSILON))).collect()
    };
    for groups in multisets(SIZES * REGIONS, effort.of(2, 3)) {
        let grown = (0..groups.len()).filter(|&i| size(groups[i]) + 1 < SIZES).map(|i| {
            let mut more = groups.clone();
            more[i] += REGIONS;
            more
        });
        let formed =
            (0..REGIONS).filter(|_| may_appear).map(|r| [groups.as_slice(), &[r]].concat());
        for more in grown.chain(formed) {
            let comparison = compare(release, &groups, &more, &mut SecureDraws::new(&mut rng));
            found.see(comparison.pure_loss(), || {
                let show = |group: &usize| (size(*group) + 1, region(*group));
                let [a, b] = [&groups, &more].map(|g| g.iter().map(show).collect::<Vec<_>>());
                format!("groups as (size, region): {a:?} and {b:?}")
            });
        }
    }
    found
}
