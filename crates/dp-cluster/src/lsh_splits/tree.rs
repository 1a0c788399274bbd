//! The tree: parts of the records are split while their noisy counts are large.

use std::ops::Range;

use dp_mechanism::{Draws, Private};

use super::budget::COUNT;
use super::{Form, LshSplits};
use crate::sized_sum::NO_GROUP;

/// One part of the records.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Part {
    /// Its number among all parts, in the order in which they came up.
    id: usize,
    noisy_count: i64,
}

/// The leaves, and which of them each record is in.
#[derive(Debug)]
pub(super) struct Tree {
    /// [`NO_GROUP`] for records of dropped parts.
    pub(super) leaf_of: Private<Vec<u32>>,
    /// The count that each leaf's part got in the tree.
    pub(super) noisy_counts: Vec<i64>,
    /// Smallest part that is kept.
    pub(super) least_count: i64,
}

impl LshSplits {
    /// Splits level by level. Every part that is wide enough is split by the hyperplane of its level,
    /// and both sides are counted with noise, empty or not; all decisions look at noisy counts only.
    pub(super) fn grow(&self, codes: Private<Vec<u32>>, draws: &mut Draws<'_>) -> Tree {
        let mut records = codes.map(Records::new);
        let mut parts = 0;
        // The parts of a level are disjoint; their numbers, which go on from level to level, tell them apart.
        let mut count = |level: usize, records: &Private<Records>| {
            let size = records.as_ref().map(|records| records.size(parts));
            let draw = &mut draws.part(COUNT, level, parts as u64);
            let noisy_count = self.primitives.counts[level].release(size, draw);
            parts += 1;
            Part { id: parts - 1, noisy_count }
        };
        let root = count(0, &records);
        let least_count = self.least_count(root.noisy_count);
        let (mut open, mut leaves) = (vec![root], Vec::new());
        for level in 0..self.asked.settings.depth {
            let mut next = Vec::with_capacity(2 * open.len());
            for part in open {
                if part.noisy_count < 3 * least_count {
                    leaves.push(part);
                    continue;
                }
                records.update(|records| records.split(part.id, level));
                let (left, right) = (count(level + 1, &records), count(level + 1, &records));
                let kept = [left, right].map(|side| side.noisy_count >= least_count);
                match (kept, self.asked.settings.form) {
                    ([true, true], _) => next.extend([left, right]),
                    ([false, false], _) => leaves.push(part),
                    // Nothing was gained by this hyperplane; the next one may do better.
                    (_, Form::Improved) => next.push(part),
                    ([true, false], Form::Published) => next.push(left),
                    ([false, true], Form::Published) => next.push(right),
                }
            }
            open = next;
        }
        leaves.extend(open);
        let noisy_counts = leaves.iter().map(|part| part.noisy_count).collect();
        Tree { leaf_of: records.map(|records| records.leaves(&leaves)), noisy_counts, least_count }
    }

    /// Large enough that the noise of a centre is a small part of the radius, small enough that
    /// there can be several leaves per cluster.
    #[allow(clippy::cast_possible_truncation, reason = "the saturating cast of a public number")]
    pub(super) fn least_count(&self, noisy_total: i64) -> i64 {
        let dim = self.asked.public_ball.dim() as f64;
        let multiplier = self.primitives.sums.noise_multiplier();
        let for_the_sums = (self.asked.settings.least_leaf * dim.sqrt() * multiplier) as i64;
        let for_k = noisy_total / i64::try_from(2 * self.asked.k).expect("at most 2^25");
        // The bound keeps three times as much within the integers.
        for_the_sums.min(for_k).clamp(1, i64::MAX / 4)
    }
}

/// The records, part by part.
#[derive(Debug)]
struct Records {
    codes: Vec<u32>,
    /// Records of one part are next to each other.
    order: Vec<usize>,
    /// Where each part is in that order.
    parts: Vec<Range<usize>>,
}

impl Records {
    /// All in one part.
    fn new(codes: Vec<u32>) -> Self {
        let all = 0..codes.len();
        Self { order: all.clone().collect(), parts: Vec::from([all]), codes }
    }

    fn size(&self, part: usize) -> u64 {
        self.parts[part].len() as u64
    }

    /// Two parts more: the records of one with a zero bit at a level, and its others.
    fn split(&mut self, part: usize, level: usize) {
        let Range { start, end } = self.parts[part];
        let middle = start + split(&mut self.order[start..end], &self.codes, level);
        self.parts.extend([start..middle, middle..end]);
    }

    /// The place of each record's part among some parts.
    fn leaves(self, leaves: &[Part]) -> Vec<u32> {
        let mut leaf_of = vec![NO_GROUP; self.codes.len()];
        for (leaf, part) in (0..).zip(leaves) {
            for &record in &self.order[self.parts[part.id].clone()] {
                leaf_of[record] = leaf;
            }
        }
        leaf_of
    }
}

/// Moves the records with a zero bit to the front, in place; returns how many these are.
fn split(records: &mut [usize], codes: &[u32], level: usize) -> usize {
    let mut zeros = 0;
    for i in 0..records.len() {
        let is_zero = codes[records[i]] >> level & 1 == 0;
        records.swap(zeros, i);
        zeros += usize::from(is_zero);
    }
    zeros
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_split_moves_records_and_loses_none() {
        for bits in 0_u32..64 {
            let codes: Vec<u32> = (0..6).map(|i| (bits >> i & 1) << 3).collect();
            let mut records: Vec<usize> = (0..6).collect();
            let zeros = split(&mut records, &codes, 3);
            assert_eq!(zeros, 6 - bits.count_ones() as usize);
            assert!(records[..zeros].iter().all(|&record| codes[record] == 0));
            assert!(records[zeros..].iter().all(|&record| codes[record] != 0));
            records.sort_unstable();
            assert!(records.into_iter().eq(0..6));
        }
    }
}
