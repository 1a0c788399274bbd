//! The tree: parts of the records are split while their noisy counts are large.

use std::ops::Range;

use dp_mechanism::passes::{StateError, TableError};
use dp_mechanism::{Draws, Private};
use rayon::slice::ParallelSliceMut as _;
use serde::{Deserialize, Serialize};

use super::budget::COUNT;
use super::codes::MOST_COUNTED;
use super::{Form, LshSplits};
use crate::passes::is_there;
use crate::sized_sum::NO_GROUP;

/// One part of the records.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Part {
    /// Its number among all parts, in the order in which they came up.
    id: usize,
    noisy_count: i64,
}

/// What became of a part.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
enum Fate {
    Dropped,
    /// The number of its leaf.
    Leaf(u32),
    /// Cut by the hyperplane of a level: the parts of its two sides.
    Cut {
        level: u8,
        sides: [u32; 2],
    },
}

/// Which leaf a code belongs to: released values only.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct Fates(Vec<Fate>);

impl Fates {
    /// [`NO_GROUP`] for codes of dropped parts.
    #[inline]
    pub(super) fn leaf(&self, code: u32) -> u32 {
        let mut part = 0;
        loop {
            match self.0[part] {
                Fate::Dropped => return NO_GROUP,
                Fate::Leaf(leaf) => return leaf,
                Fate::Cut { level, sides } => part = sides[(code >> level & 1) as usize] as usize,
            }
        }
    }

    /// Whether every code ends in one of so many leaves, or nowhere: sides come after what they are of.
    pub(super) fn are_of(&self, leaves: usize) -> bool {
        let fits = |(part, fate): (usize, &Fate)| match *fate {
            Fate::Dropped => true,
            Fate::Leaf(leaf) => (leaf as usize) < leaves,
            Fate::Cut { level, sides } => {
                let are_after = |&side: &u32| (part + 1..self.0.len()).contains(&(side as usize));
                level < 32 && sides.iter().all(are_after)
            }
        };
        !self.0.is_empty() && self.0.iter().enumerate().all(fits)
    }
}

/// The leaves, and which of them each code is in: released values only.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Tree {
    pub(super) fates: Fates,
    /// The count that each leaf's part got in the tree.
    pub(super) noisy_counts: Vec<i64>,
    /// Smallest part that is kept.
    pub(super) least_count: i64,
}

impl Tree {
    /// That it can have been grown. No count has to be above 0.
    pub(super) fn fits(&self) -> Result<(), TableError> {
        let (leaves, parts) = (self.noisy_counts.len(), self.fates.0.len());
        StateError::unless_within("number of leaves", leaves as f64, [1.0, parts as f64])?;
        is_there("parts that follow from each other", self.fates.are_of(leaves))?;
        let least = [1.0, (i64::MAX / 4) as f64];
        StateError::unless_within("smallest part", self.least_count as f64, least)
    }
}

impl LshSplits {
    /// Splits level by level. Every part that is wide enough is split by the hyperplane of its level,
    /// and both sides are counted with noise, empty or not; all decisions look at noisy counts only.
    pub(super) fn grow(&self, mut records: Private<Records>, draws: &mut Draws<'_>) -> Tree {
        let mut fates = Vec::new();
        // The parts of a level are disjoint; their numbers, which go on from level to level, tell them apart.
        let mut count = |level: usize, records: &Private<Records>, fates: &mut Vec<Fate>| {
            let id = fates.len();
            fates.push(Fate::Dropped);
            let size = records.as_ref().map(|records| records.size(id));
            let draw = &mut draws.part(COUNT, level, id as u64);
            Part { id, noisy_count: self.primitives.counts[level].release(size, draw) }
        };
        let root = count(0, &records, &mut fates);
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
                let left = count(level + 1, &records, &mut fates);
                let right = count(level + 1, &records, &mut fates);
                let kept = [left, right].map(|side| side.noisy_count >= least_count);
                let sides = [left, right].map(|side| u32::try_from(side.id).expect("few parts"));
                let cut = Fate::Cut { level: u8::try_from(level).expect("at most 32"), sides };
                match (kept, self.asked.settings.form) {
                    ([true, true], _) => {
                        fates[part.id] = cut;
                        next.extend([left, right]);
                    }
                    ([false, false], _) => leaves.push(part),
                    // Nothing was gained by this hyperplane; the next one may do better.
                    (_, Form::Improved) => next.push(part),
                    ([true, false], Form::Published) => {
                        fates[part.id] = cut;
                        next.push(left);
                    }
                    ([false, true], Form::Published) => {
                        fates[part.id] = cut;
                        next.push(right);
                    }
                }
            }
            open = next;
        }
        leaves.extend(open);
        for (leaf, part) in (0..).zip(&leaves) {
            fates[part.id] = Fate::Leaf(leaf);
        }
        let noisy_counts = leaves.iter().map(|part| part.noisy_count).collect();
        Tree { fates: Fates(fates), noisy_counts, least_count }
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

/// How many records have which code, part by part.
#[derive(Debug)]
pub(super) struct Records {
    /// Codes that records have, with how many; those of one part are next to each other.
    codes: Vec<(u32, u64)>,
    /// Where each part is among them.
    parts: Vec<Range<usize>>,
}

impl Records {
    /// From the code of each record, of so many bits.
    pub(super) fn of_codes(codes: &[u32], bits: usize) -> Self {
        if bits <= MOST_COUNTED && codes.len() >> (bits - bits.min(2)) > 0 {
            let mut counts = vec![0; 1 << bits];
            for &code in codes {
                counts[code as usize] += 1;
            }
            return Self::of_counts(&counts);
        }
        let mut sorted = codes.to_vec();
        sorted.par_sort_unstable();
        let equal = sorted.chunk_by(|a, b| a == b);
        Self::new(equal.map(|equal| (equal[0], equal.len() as u64)).collect())
    }

    /// From the number of records of each code.
    pub(super) fn of_counts(counts: &[i64]) -> Self {
        let some = (0..).zip(counts).filter(|(_, count)| **count > 0);
        Self::new(some.map(|(code, count)| (code, count.unsigned_abs())).collect())
    }

    /// All in one part.
    fn new(codes: Vec<(u32, u64)>) -> Self {
        let all = 0..codes.len();
        Self { codes, parts: Vec::from([all]) }
    }

    fn size(&self, part: usize) -> u64 {
        self.codes[self.parts[part].clone()].iter().map(|(_, count)| count).sum()
    }

    /// Two parts more: the records of one with a zero bit at a level, and its others.
    fn split(&mut self, part: usize, level: usize) {
        let Range { start, end } = self.parts[part];
        let middle = start + split(&mut self.codes[start..end], level);
        self.parts.extend([start..middle, middle..end]);
    }
}

/// Moves the codes with a zero bit to the front, in place; returns how many these are.
fn split(codes: &mut [(u32, u64)], level: usize) -> usize {
    let mut zeros = 0;
    for i in 0..codes.len() {
        let is_zero = codes[i].0 >> level & 1 == 0;
        codes.swap(zeros, i);
        zeros += usize::from(is_zero);
    }
    zeros
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_split_moves_codes_and_loses_none() {
        for bits in 0_u32..64 {
            let mut codes: Vec<(u32, u64)> =
                (0..6).map(|i| ((bits >> i & 1) << 3 | i << 4, u64::from(i))).collect();
            let before = codes.clone();
            let zeros = split(&mut codes, 3);
            assert_eq!(zeros, 6 - bits.count_ones() as usize);
            assert!(codes[..zeros].iter().all(|(code, _)| code >> 3 & 1 == 0));
            assert!(codes[zeros..].iter().all(|(code, _)| code >> 3 & 1 == 1));
            codes.sort_unstable_by_key(|(code, _)| code >> 4);
            assert_eq!(codes, before);
        }
    }

    #[test]
    fn codes_are_counted_from_records_as_from_a_table() {
        for bits in [2, 3, 9, 32] {
            let of_codes = Records::of_codes(&[3, 0, 3, 2, 3], bits);
            assert_eq!(of_codes.codes, [(0, 1), (2, 1), (3, 3)]);
            assert_eq!(of_codes.codes, Records::of_counts(&[1, 0, 1, 3]).codes);
            assert_eq!((of_codes.size(0), Records::of_codes(&[], bits).size(0)), (5, 0));
        }
    }

    #[test]
    fn trees_that_lead_nowhere_are_no_trees() {
        let cut = |sides| Fate::Cut { level: 0, sides };
        let leaves = [Fate::Leaf(0), Fate::Leaf(1)];
        let fates = |first: Fate| Fates([vec![first], leaves.to_vec()].concat());
        assert!(fates(cut([1, 2])).are_of(2) && !fates(cut([1, 2])).are_of(1));
        for wrong in [cut([0, 1]), cut([1, 3]), Fate::Cut { level: 32, sides: [1, 2] }] {
            assert!(!fates(wrong).are_of(2), "{wrong:?}");
        }
        assert!(!Fates(vec![]).are_of(2));
        assert_eq!([0, 1].map(|code| fates(cut([1, 2])).leaf(code)), [0, 1]);
    }
}
