//! One noisy number that says which way to spend the loss: how unlike the regions of the lowest level are.
//!
//! Shares of levels are settled before anything is seen, and no public fact says whether regions are alike. So the plan that is never far
//! behind ([`chosen`](super::chosen)) can be far from the best: where regions are alike, the root's row spread is better, and where each has a few
//! sizes of its own, their own rows are. The sum over regions and sizes of what a row differs from its share of the root's row, less what it would differ by chance,
//! changes by six at most when one group changes its size, and is of the order of the number of groups. A few per cent of the loss tell it well.
//!
//! Each case of the model says what the number would be, and what the error of each way. The cases count by how well they agree with the answer, and the way with the
//! least regret over them is taken. All ways cost the same, so that the receipt does not depend on the answer.

use std::num::NonZeroU32;

use dp_mechanism::{Draws, Private};

use super::Privacy;
use super::chosen::{LIKENESS, Model, SIZES};
use super::noise::LevelNoise;
use crate::CensusError;

/// The leaf of the receipt that pays for it.
pub(super) const QUESTION: &str = "how unlike regions are";
/// Ways to go on.
pub(super) const WAYS: usize = 3;
/// The root alone, and its row spread.
pub(super) const SPREAD: usize = 0;
/// By least regret, as without a question.
pub(super) const CHOSEN: usize = 1;
/// Nearly all for the lowest level, whose rows are not drawn to anything.
pub(super) const OWN: usize = 2;

/// The number is counted in this part of a group.
const UNIT: i64 = 1 << 13;
/// Regions up to which it is asked: each rounds twice, so that with more the bound below would be one of rounding, and its square be beyond a `u32`.
const MOST_REGIONS: usize = 3_276;
/// Groups up to which all products below are in range.
const MOST_GROUPS: i64 = 1 << 32;

/// The deviation of the answer's noise that would do, as a share of the number of groups: own rows are recognised by it.
const OF_GROUPS: f64 = 0.28;
/// But no more than that, in groups: noise for a smaller part of a loss is longer than a sampler takes.
const MOST_DEVIATION: f64 = 262_144.0;
/// The same as a share of what alike regions differ by, as they are recognised by it; but not for more than this share of the loss.
const OF_CHANCE: (f64, f64) = (0.2, 0.03);
/// Where it takes more than that share of the loss, nothing is asked.
const MOST_SHARE: f64 = 0.04;
/// Nothing is asked unless the chosen way has this times the error of the best in so many of the cases, and in the geometric mean over all the last.
const WORTH: (f64, usize, f64) = (1.1, 3, 1.16);
/// Nothing is asked where a leaf's cells could have less noise than that, as a variance: at `epsilon` 1, 50 plans of 312 asked, and won nothing.
const LEAST_NOISE: f64 = 8.0;
/// Spreading counts as that much better where regions are alike: what is drawn to noise has more error than the model says.
const SPREAD_IF_ALIKE: f64 = 1.8;
/// Regions are alike as long as the variance of a count of theirs is no more than that share above what it would be by chance.
const ALIKE: f64 = 0.2;
/// Own rows are a way from this share of the largest number that there can be, and from so many deviations of its noise: where regions are alike, they are
/// several times worse than the others.
const OWN_FROM: (f64, f64) = (0.4, 3.5);
/// What the model is taken to know of the number in each case.
const RELATIVE: f64 = 0.2;
/// The power of regrets that is summed.
const POWER: i32 = 4;
/// Likeness of the groups of a region that is thought of when the answer is read.
const CASES: [f64; 8] = [0.0, 1e-3, 3e-3, 0.01, 0.03, 0.1, 0.3, 1.0];

#[derive(Clone, Debug, PartialEq)]
pub(super) struct Question {
    pub(super) noise: LevelNoise,
    groups: i64,
    /// Deviation of the noise in groups.
    deviation: f64,
    cases: Vec<Case>,
}

#[derive(Clone, Debug, PartialEq)]
struct Case {
    /// Whether it has groups on few of the sizes only.
    few: bool,
    /// What the answer would be without noise, in groups.
    number: f64,
    /// Modelled error of each way.
    errors: [f64; WAYS],
}

/// What the share of the loss is settled from. All of it is public.
pub(super) struct Asking<'a> {
    pub(super) model: &'a Model,
    pub(super) privacy: Privacy,
    pub(super) groups: i64,
    pub(super) regions: usize,
    /// Variances of the noise of the levels in each way, with all of the loss.
    pub(super) variances: [Vec<f64>; WAYS],
}

impl Asking<'_> {
    /// Whether there can be a question at all.
    pub(super) fn is_possible(&self) -> bool {
        self.regions <= MOST_REGIONS && (1..=MOST_GROUPS).contains(&self.groups)
    }

    /// The share of the loss that is worth it, if any is.
    pub(super) fn share(&self) -> Option<f64> {
        let of_leaf = self.variances[OWN].last().copied().unwrap_or(0.0);
        if !self.is_possible() || of_leaf < LEAST_NOISE {
            return None;
        }
        let by_chance = self.model.distance(0.0, self.model.sizes(0.75));
        let (of_chance, most_for_it) = OF_CHANCE;
        let least = self.share_for((OF_GROUPS * self.groups as f64).min(MOST_DEVIATION));
        let share = least.max(self.share_for(of_chance * by_chance).min(most_for_it));
        // NaN is not worth anything either.
        (share <= MOST_SHARE && self.is_worth_it()).then_some(share)
    }

    /// The share of the loss for which noise has this deviation, in groups.
    fn share_for(&self, deviation: f64) -> f64 {
        let length = 6.0 / deviation;
        match self.privacy {
            Privacy::Pure { epsilon } => std::f64::consts::SQRT_2 * length / epsilon.get(),
            Privacy::Zcdp { rho, .. } => length * length / (2.0 * rho.get()),
            Privacy::Gaussian { mu, .. } => (length / mu.get()).powi(2),
        }
    }

    fn is_worth_it(&self) -> bool {
        let cases = LIKENESS.iter().flat_map(|(likeness, _)| SIZES.map(|power| (*likeness, power)));
        let ratios: Vec<f64> = cases
            .map(|(likeness, power)| {
                let mut errors = self.errors(likeness, self.model.sizes(power));
                if likeness == 0.0 {
                    errors[SPREAD] /= SPREAD_IF_ALIKE;
                }
                // Own rows are taken only where regions are as unlike as can be.
                let own = if likeness >= 0.3 { errors[OWN] } else { f64::INFINITY };
                errors[CHOSEN] / errors[SPREAD].min(errors[CHOSEN]).min(own)
            })
            .collect();
        let (ratio, number, mean) = WORTH;
        let logarithms: f64 = ratios.iter().map(|ratio| ratio.ln()).sum();
        let worth = ratios.iter().filter(|&&one| one > ratio).count();
        worth >= number && logarithms >= mean.ln() * ratios.len() as f64
    }

    fn errors(&self, likeness: f64, sizes: f64) -> [f64; WAYS] {
        self.variances.each_ref().map(|variances| self.model.error(variances, likeness, sizes))
    }

    /// The question for this part of the promise.
    ///
    /// # Errors
    /// [`CensusError::QuestionNoise`] if so small a part allows no noise.
    pub(super) fn question(&self, part: Privacy) -> Result<Question, CensusError> {
        let noise = LevelNoise::of_number(part, unlikeness_length(self.regions))?;
        let of_a_region = self.groups as f64 / self.regions as f64;
        let of_case = |(likeness, power): (f64, f64)| {
            let sizes = self.model.sizes(power);
            let by_chance = self.model.distance(0.0, sizes);
            let number = self.model.distance(likeness, sizes) - by_chance;
            let mut errors = self.errors(likeness, sizes);
            if likeness * of_a_region <= ALIKE {
                errors[SPREAD] /= SPREAD_IF_ALIKE;
            }
            Case { few: power == SIZES[0], number, errors }
        };
        let cases = SIZES.into_iter().flat_map(|power| CASES.map(|likeness| (likeness, power)));
        Ok(Question {
            noise,
            groups: self.groups,
            deviation: noise.variance().sqrt() / UNIT as f64,
            cases: cases.map(of_case).collect(),
        })
    }
}

impl Question {
    /// Asks: the private number goes from the rows to a draw. `region_groups` are the public numbers of groups of the leaves.
    pub(super) fn ask(
        &self,
        region_groups: &[i64],
        leaves: Private<&[i64]>,
        draws: &mut Draws<'_>,
    ) -> i64 {
        let number = leaves.map(|leaves| vec![unlikeness(region_groups, leaves)]).cells(1);
        let noisy = self.noise.release(number.view(), &mut draws.leaf(QUESTION, 0));
        noisy.first().copied().unwrap_or(0)
    }

    /// The way to go by this answer. After the draw, so free.
    pub(super) fn way(&self, answer: i64) -> usize {
        let answer = answer as f64 / UNIT as f64;
        let fits = |case: &Case| {
            let variance = (RELATIVE * case.number).powi(2) + self.deviation.powi(2) + 1.0;
            -0.5 * ((case.number - answer).powi(2) / variance + variance.ln())
        };
        let likeliest = self.cases.iter().map(fits).fold(f64::NEG_INFINITY, f64::max);
        let (share, deviations) = OWN_FROM;
        let most = 2.0 * self.groups as f64;
        let own = answer > (share * most).max(deviations * self.deviation);
        let ways = if own { &[SPREAD, CHOSEN, OWN][..] } else { &[SPREAD, CHOSEN] };
        let mut regrets = [0.0; WAYS];
        // Rows that are that far from the root's have few sizes of their own.
        for case in self.cases.iter().filter(|case| case.few || !own) {
            let weight = (fits(case) - likeliest).exp();
            let best = ways.iter().map(|&way| case.errors[way]).fold(f64::INFINITY, f64::min);
            for &way in ways {
                regrets[way] += weight * (case.errors[way] / best).powi(POWER);
            }
        }
        let least = ways.iter().copied().min_by(|&a, &b| regrets[a].total_cmp(&regrets[b]));
        least.unwrap_or(CHOSEN)
    }
}

/// By how much [`unlikeness`] changes at most when one group of a leaf region changes its size, for so many leaf regions.
///
/// Let `q` be a region's share of the groups and `u` its share of the root's count of a size in units, rounded down. One group leaves a size of one region and enters
/// another size there, and the root's counts follow. Where a count of the root changes by one, `u` changes by no more than `q UNIT + 1`, so
/// - in other regions the distance changes by no more than that: with all of them, `(1 - q) UNIT + regions - 1`;
/// - in the region itself, row and share go the same way: the distance changes by no more than `UNIT`;
/// - what there would be by chance grows by no more than `2 (q UNIT + 1) + 1` for each more groups there are, and is subtracted: with all of them,
///   it goes against the row by `2 UNIT + 3 regions`, and never beyond.
///
/// The size that is left can add `4 UNIT + 4 regions` so, or take `2 UNIT + regions`, and the size that is entered the reverse. Together that is
/// `6 UNIT + 5 regions` either way.
///
/// ```
/// use dp_census::release::{unlikeness, unlikeness_length};
///
/// // Two regions of two groups each, of sizes 0 and 1; then one group of the first region grows.
/// let before = unlikeness(&[2, 2], &[2, 0, 0, 2]);
/// let after = unlikeness(&[2, 2], &[1, 1, 0, 2]);
/// assert!(before.abs_diff(after) <= unlikeness_length(2).get().into());
/// ```
pub fn unlikeness_length(regions: usize) -> NonZeroU32 {
    let most = (regions as u64).saturating_mul(5).saturating_add(6 * UNIT as u64);
    u32::try_from(most).ok().and_then(NonZeroU32::new).unwrap_or(NonZeroU32::MAX)
}

/// How far the rows of the leaves are from their shares of the root's row by their public numbers of groups, less what they would be by chance, in units.
///
/// A count with mean `m` is off by about the square root of `2 m / pi`; below that, by `2 m`, as it is mostly 0. A unit is the 8,192nd part of a group.
///
/// For tables of at most `2^32` groups; beyond, it saturates. Not private: a plan adds noise to it, [`LevelShares::AfterQuestion`](super::LevelShares::AfterQuestion).
pub fn unlikeness(region_groups: &[i64], leaves: &[i64]) -> i64 {
    let all = region_groups.iter().fold(0_i64, |sum, groups| sum.saturating_add(*groups));
    let columns = leaves.len() / region_groups.len().max(1);
    if all <= 0 || columns == 0 {
        return 0;
    }
    let mut root = vec![0_i64; columns];
    for row in leaves.chunks_exact(columns) {
        root.iter_mut().zip(row).for_each(|(sum, count)| *sum = sum.saturating_add(*count));
    }
    let mut sum = 0_i64;
    for (row, &groups) in leaves.chunks_exact(columns).zip(region_groups) {
        for (&count, &of_root) in row.iter().zip(&root) {
            if of_root == 0 {
                continue; // so is the count, and its share
            }
            let share = share(groups, of_root, all);
            let off = count.saturating_mul(UNIT).saturating_sub(share).saturating_abs();
            sum = sum.saturating_add(off).saturating_sub(by_chance(share));
        }
    }
    sum
}

/// `groups of_root / all` in units, rounded down.
fn share(groups: i64, of_root: i64, all: i64) -> i64 {
    // A wide division takes ten times as long, and is hardly ever needed.
    if let Some(product) = groups.checked_mul(of_root).and_then(|product| product.checked_mul(UNIT))
    {
        return product / all;
    }
    let product = i128::from(groups) * i128::from(of_root);
    let share = product.saturating_mul(UNIT.into()) / i128::from(all);
    i64::try_from(share).unwrap_or(i64::MAX)
}

/// In units, for a share in units; it grows with that, by no more than twice as much, but for rounding down.
fn by_chance(share: i64) -> i64 {
    // 7 / 11 is about 2 / pi.
    let square = share.max(0).saturating_mul(7 * UNIT) / 11;
    square.isqrt().min(share.saturating_mul(2))
}

#[cfg(test)]
mod tests {
    use dp_mechanism::ChaCha20Rng;
    use rand::{RngExt, SeedableRng};

    use super::*;

    fn rows(rng: &mut ChaCha20Rng, regions: usize, columns: usize, most: i64) -> Vec<i64> {
        // Many zeros, as there the bound is nearest.
        (0..regions * columns).map(|_| rng.random_range(-most..=most).max(0)).collect()
    }

    #[test]
    fn one_group_changes_the_number_by_no_more_than_its_length() {
        let mut rng = ChaCha20Rng::seed_from_u64(301);
        let mut worst: f64 = 0.0;
        for round in 0..4_000 {
            let (regions, columns) = (rng.random_range(1..9), rng.random_range(2..6));
            let most = [1, 3, 40, 100_000][round % 4];
            let mut table = rows(&mut rng, regions, columns, most);
            let (region, from) = (rng.random_range(0..regions), rng.random_range(0..columns));
            let to = (from + rng.random_range(1..columns)) % columns;
            table[region * columns + from] += 1;
            let groups: Vec<i64> =
                table.chunks_exact(columns).map(|row| row.iter().sum()).collect();
            let before = unlikeness(&groups, &table);
            table[region * columns + from] -= 1;
            table[region * columns + to] += 1;
            let change = before.abs_diff(unlikeness(&groups, &table)) as f64;
            worst = worst.max(change / f64::from(unlikeness_length(regions).get()));
        }
        assert!(worst <= 1.0 && worst > 0.6, "{worst}");
    }

    #[test]
    fn alike_regions_differ_by_chance_and_others_by_more() {
        let mut rng = ChaCha20Rng::seed_from_u64(302);
        let (regions, columns, groups) = (20, 50, 1_000_i64);
        let mut table = |unlike: bool| {
            let mut table = vec![0; regions * columns];
            for row in table.chunks_exact_mut(columns) {
                let own = rng.random_range(0..columns);
                for _ in 0..groups {
                    row[if unlike { own } else { rng.random_range(0..columns) }] += 1;
                }
            }
            unlikeness(&vec![groups; regions], &table) as f64 / UNIT as f64
        };
        let all = regions as f64 * groups as f64;
        assert!(table(false).abs() < 0.02 * all);
        assert!(table(true) > 1.5 * all);
    }

    #[test]
    fn tables_of_nothing_and_of_far_too_much_have_a_number() {
        assert_eq!(unlikeness(&[], &[]), 0);
        assert_eq!(unlikeness(&[0, 0], &[0; 6]), 0);
        assert_eq!(unlikeness(&[3], &[]), 0);
        // One region is its own share, but for what would be there by chance.
        assert!(unlikeness(&[5], &[2, 3]) < 0);
        for (groups, count) in [(i64::MAX, i64::MAX), (i64::MAX, i64::MIN), (-1, 1)] {
            let _ = unlikeness(&[groups, i64::MAX], &[count; 4]);
        }
        assert_eq!(unlikeness_length(usize::MAX), NonZeroU32::MAX);
    }
}
