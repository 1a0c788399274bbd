//! Noisy numbers that say which way to spend the loss: how unlike the regions of the lowest level are.
//!
//! Shares of levels are settled before anything is seen, and no public fact says whether regions are alike. So the plan that is never far
//! behind ([`chosen`](super::chosen)) can be far from the best: where regions are alike, the root's row spread is better, and where each has a few
//! sizes of its own, their own rows are; and where those of a level between are unlike, and the ones below like them, the rows of that level are what counts.
//! The sum over regions and sizes of what a row differs from its share of the row above, less what it would differ by chance,
//! changes by four and a half at most when one group changes its size, and is of the order of the number of groups. A few per cent of the loss tell it well.
//! There is one such number for the lowest level, and one for each of the levels between whose rows may be spread: how far its rows are from those of the next such level above, or of the root.
//!
//! Each case of the model says what the numbers would be, and what the error of each way. The cases count by how well they agree with the answers, and the way with the
//! least regret over them is taken. All ways cost the same, so that the receipt does not depend on the answers.

use std::num::NonZeroU32;
use std::ops::Range;

use dp_mechanism::{Draws, Private};

use super::Privacy;
use super::chosen::{LIKENESS, Model, SIZES};
use super::noise::LevelNoise;
use crate::{CensusError, RegionTree};

/// The leaf of the receipt that pays for it.
pub(super) const QUESTION: &str = "how unlike regions are";
/// The root alone, and its row spread.
pub(super) const SPREAD: usize = 0;
/// By least regret, as without a question.
pub(super) const CHOSEN: usize = 1;
/// Nearly all for the lowest level, whose rows are not drawn to anything.
pub(super) const OWN: usize = 2;
/// Most for the lowest level, whose rows are drawn.
pub(super) const MOST: usize = 3;
/// The first of those that give nearly all to a level between, and spread its rows; in the order of levels.
pub(super) const BETWEEN: usize = 4;

/// The numbers are counted in this part of a group.
const UNIT: i64 = 1 << 13;
/// What a number changes by at most, in groups, but for rounding; see [`unlikeness_length`].
const LENGTH: f64 = 4.5;
/// Regions up to which it is asked: each rounds twice, so that with more the bound below would be one of rounding.
const MOST_REGIONS: usize = 3_276;
/// Groups up to which all products below are in range.
const MOST_GROUPS: i64 = 1 << 32;

/// The deviation of the answer's noise that would do, as a share of the number of groups: own rows are recognised by it.
const OF_GROUPS: f64 = 0.28;
/// But no more than that, in groups: noise for a smaller part of a loss is longer than a sampler takes.
const MOST_DEVIATION: f64 = 262_144.0;
/// The same as a share of what alike regions differ by, as they are recognised by it; but not for more than this share of the loss.
const OF_CHANCE: (f64, f64) = (0.2, 0.03);
/// Where that would cost more than an answer is worth, a fainter one is bought as long as its deviation is at most this share of the number of groups, for the second
/// share of the loss. It still tells regions of a few sizes each from others.
const FAINT: (f64, f64) = (0.5, 0.06);
/// When it is worth asking for one number, and for several.
const ONE: Worth = Worth { most: 0.04, cases: 0.375, mean: 1.16 };
const SEVERAL: Worth = Worth { most: 0.06, cases: 0.25, mean: 1.1 };
/// From where on the chosen way counts as behind the best one.
const BEHIND: f64 = 1.1;
/// Nothing is asked where a leaf's cells could have less noise than that, as a variance: at `epsilon` 1 an answer wins 2 % on average, and costs most plans up to as much.
const LEAST_NOISE: f64 = 8.0;
/// Spreading counts as that much better where regions are alike: what is drawn to noise has more error than the model says.
const SPREAD_IF_ALIKE: f64 = 1.8;
/// Regions are alike as long as the variance of a count of theirs is no more than that share above what it would be by chance.
const ALIKE: f64 = 0.2;
/// Own rows are a way from this share of the largest number that there can be, and from so many deviations of its noise, of what leaves differ from the root's
/// row by: where regions are alike, they are several times worse than the others.
const OWN_FROM: (f64, f64) = (0.4, 3.5);
/// And from these, of what they differ from the row of the lowest level between by, as it may be that which is unlike.
const OWN_BELOW: (f64, f64) = (0.4, 2.5);
/// Most for the lowest level is a way from these on, of what leaves differ from the root's row by and of what they differ from that of the lowest level between by. Below, levels above lose more than the sum over all levels says: counties of a
/// nation, which are .08 of the most from their states, would have a tenth less error, and the states twice as much. Taxi zones by hour are .1 from their boroughs.
const MOST_FROM: (f64, f64) = (0.09, 2.0);
/// And only if more than this share of the former is what leaves differ by from the level above them, which has little of the loss then.
const MOST_OF: f64 = 0.5;
/// Rows of a level between are a way only if they are seen to be unlike the root's: by so many deviations, whatever the share of the most.
const UNLIKE_ABOVE: (f64, f64) = (0.0, 2.0);
/// Of several levels, regions that are all alike are one case of many; so each level on which they are counts as much.
const ALIKE_WEIGHT: f64 = 3.0;
/// What the model is taken to know of the number in each case.
const RELATIVE: f64 = 0.2;
/// Likeness of the groups of a region that is thought of when the answer is read.
const CASES: [f64; 8] = [0.0, 1e-3, 3e-3, 0.01, 0.03, 0.1, 0.3, 1.0];
/// Where leaves are that unlike, they are also thought to have that power of the number of columns as sizes: zones that are mostly empty by hour have a few, and
/// their own rows are far closer than noise in all columns says.
const FEWEST: (f64, f64) = (0.1, 0.25);

/// When it is worth asking.
struct Worth {
    /// Up to this share of the loss.
    most: f64,
    /// If the chosen way is [`BEHIND`] in this share of the cases.
    cases: f64,
    /// And has this times the error of the best, in the geometric mean over all.
    mean: f64,
}

#[derive(Clone, Debug, PartialEq)]
pub(super) struct Question {
    pub(super) noise: LevelNoise,
    /// For each number the level from whose rows others are told, and that of these.
    levels: Vec<(usize, usize)>,
    /// The most that rows of the lowest level can differ by from the root's, and from those of the last level above that is asked about. Infinite where the
    /// numbers do not tell what they differ from, so that own rows and most for the lowest level are no ways.
    most: [f64; 2],
    /// Deviation of the noise in groups.
    deviation: f64,
    cases: Vec<Case>,
}

#[derive(Clone, Debug, PartialEq)]
struct Case {
    /// Whether it has groups on few of the sizes only.
    few: bool,
    /// How much it counts before anything is known.
    weight: f64,
    /// What the answers would be without noise, in groups.
    numbers: Vec<f64>,
    /// Modelled error of each way.
    errors: Vec<f64>,
}

/// What the share of the loss is settled from. All of it is public.
pub(super) struct Asking<'a> {
    pub(super) tree: &'a RegionTree,
    pub(super) model: &'a Model,
    pub(super) privacy: Privacy,
    pub(super) groups: i64,
    /// Levels between root and leaves whose rows may be spread.
    pub(super) between: Vec<usize>,
    /// Variances of the noise of the levels in each way, with all of the loss.
    pub(super) variances: Vec<Vec<f64>>,
}

/// Whether there can be a question at all.
pub(super) fn is_possible(regions: usize, groups: i64) -> bool {
    regions <= MOST_REGIONS && (1..=MOST_GROUPS).contains(&groups)
}

impl Asking<'_> {
    /// For each number the level from whose rows others are to be told, and that of these.
    fn levels(&self) -> Vec<(usize, usize)> {
        let last = self.tree.levels() - 1;
        let above = std::iter::once(0).chain(self.between.iter().copied());
        above.zip(self.between.iter().copied().chain([last])).collect()
    }

    /// The share of the loss that is worth it, if any is.
    pub(super) fn share(&self) -> Option<f64> {
        let of_leaf = self.variances[OWN].last().copied().unwrap_or(0.0);
        if of_leaf < LEAST_NOISE {
            return None;
        }
        let worth = if self.between.is_empty() { &ONE } else { &SEVERAL };
        let by_chance = self.model.by_chance(self.model.sizes(0.75));
        let (of_chance, most_for_it) = OF_CHANCE;
        let least = self.share_for((OF_GROUPS * self.groups as f64).min(MOST_DEVIATION));
        let share = least.max(self.share_for(of_chance * by_chance).min(most_for_it));
        let (of_groups, for_it) = FAINT;
        let faint = self.share_for((of_groups * self.groups as f64).min(MOST_DEVIATION));
        // NaN is not worth anything either.
        let share =
            if share <= worth.most { Some(share) } else { (faint <= for_it).then_some(for_it) };
        share.filter(|_| self.is_worth_it(worth))
    }

    /// The share of the loss for which the noise of every number has this deviation, in groups.
    fn share_for(&self, deviation: f64) -> f64 {
        let numbers = (self.between.len() + 1) as f64;
        let length = LENGTH / deviation;
        match self.privacy {
            Privacy::Pure { epsilon } => {
                std::f64::consts::SQRT_2 * numbers * length / epsilon.get()
            }
            Privacy::Zcdp { rho, .. } => numbers * length * length / (2.0 * rho.get()),
            Privacy::Gaussian { mu, .. } => numbers * (length / mu.get()).powi(2),
        }
    }

    /// Whether the numbers tell leaves with rows of their own from leaves that are like the level above, where that is unlike the root.
    fn tells_own_rows(&self) -> bool {
        !self.between.is_empty() || self.model.between().is_empty()
    }

    fn is_worth_it(&self, worth: &Worth) -> bool {
        let cases = self.cases(&LIKENESS.map(|(likeness, _)| likeness));
        let ratios: Vec<f64> = cases
            .iter()
            .map(|(likeness, power)| {
                let errors =
                    self.errors(likeness, self.model.sizes(*power), |likeness| likeness == 0.0);
                // Own rows are taken only where regions are as unlike as can be. Most for the lowest level does not count: asking for its sake cost more than it won.
                let unlike = likeness.last().is_some_and(|&likeness| likeness >= 0.3);
                let own = unlike && self.tells_own_rows();
                let ways = errors
                    .iter()
                    .enumerate()
                    .filter(|&(way, _)| if way == OWN { own } else { way != MOST });
                let best = ways.map(|(_, &error)| error).fold(f64::INFINITY, f64::min);
                errors[CHOSEN] / best
            })
            .collect();
        let all = ratios.len() as f64;
        let logarithms: f64 = ratios.iter().map(|ratio| ratio.ln()).sum();
        let behind = ratios.iter().filter(|&&one| one > BEHIND).count() as f64;
        behind >= worth.cases * all && logarithms >= worth.mean.ln() * all
    }

    /// Cases of these values: one likeness for the levels down to each of those between and one for those below, and a power of the number of columns.
    fn cases(&self, values: &[f64]) -> Vec<(Vec<f64>, f64)> {
        let mut all: Vec<Vec<f64>> = vec![Vec::new()];
        for _ in 0..=self.between.len() {
            let with = |case: &Vec<f64>| {
                let case = case.clone();
                values.iter().map(move |&value| [&case[..], &[value]].concat())
            };
            all = all.iter().flat_map(with).collect();
        }
        let with = |power| all.iter().map(move |likeness| (likeness.clone(), power));
        SIZES.into_iter().flat_map(with).collect()
    }

    /// Modelled error of each way, where `is_alike` says which likeness is next to none.
    fn errors(&self, likeness: &[f64], sizes: f64, is_alike: impl Fn(f64) -> bool) -> Vec<f64> {
        let of_level = |level: usize| {
            likeness[self.between.iter().filter(|&&between| between < level).count()]
        };
        let error = |variances: &Vec<f64>| self.model.error(variances, of_level, sizes);
        let mut errors: Vec<f64> = self.variances.iter().map(error).collect();
        // What is spread from the root, and from each level between, takes all below for alike.
        for (below, way) in std::iter::once(SPREAD).chain(BETWEEN..errors.len()).enumerate() {
            if likeness[below..].iter().all(|&likeness| is_alike(likeness)) {
                errors[way] /= SPREAD_IF_ALIKE;
            }
        }
        errors
    }

    /// The question for this part of the promise.
    ///
    /// # Errors
    /// [`CensusError::QuestionNoise`] if so small a part allows no noise.
    pub(super) fn question(&self, part: Privacy) -> Result<Question, CensusError> {
        let levels = self.levels();
        let length = |&(above, below): &(usize, usize)| {
            let regions = self.tree.within(above, below).into_iter().map(|regions| regions.len());
            unlikeness_length(regions.max().unwrap_or(0))
        };
        let noise = LevelNoise::of_numbers(part, &levels.iter().map(length).collect::<Vec<_>>())?;
        let of_a_region = self.groups as f64 / self.tree.leaves().len() as f64;
        let of_case = |(likeness, power): (Vec<f64>, f64)| {
            let sizes = self.model.sizes(power);
            let of_levels = levels.iter().zip(&likeness);
            let numbers = of_levels
                .map(|(&levels, &likeness)| self.model.unlikeness(levels, likeness, sizes))
                .collect();
            let errors = self.errors(&likeness, sizes, |one| one * of_a_region <= ALIKE);
            let alike = likeness.iter().filter(|&&one| likeness.len() > 1 && one == 0.0);
            let weight = alike.map(|_| ALIKE_WEIGHT).product();
            Case { few: power <= SIZES[0], weight, numbers, errors }
        };
        let (from, fewest) = FEWEST;
        let cases = self.cases(&CASES);
        let are_unlike = |likeness: &[f64]| likeness.last().is_some_and(|&one| one >= from);
        let of_few =
            cases.iter().filter(|(likeness, power)| *power == SIZES[0] && are_unlike(likeness));
        let of_few: Vec<_> = of_few.map(|(likeness, _)| (likeness.clone(), fewest)).collect();
        let cases = cases.into_iter().chain(of_few).map(of_case).collect();
        let last = self.tree.levels() - 1;
        let above = self.between.last().copied().unwrap_or(0);
        let most = if self.tells_own_rows() {
            [0, above].map(|above| self.model.most((above, last)))
        } else {
            [f64::INFINITY; 2]
        };
        let deviation = noise.variance().sqrt() / UNIT as f64;
        Ok(Question { noise, levels, most, deviation, cases })
    }
}

impl Question {
    /// Asks: the private numbers go from the rows to a draw. `region_groups` are the public numbers of groups of the leaves.
    pub(super) fn ask(
        &self,
        tree: &RegionTree,
        region_groups: &[i64],
        leaves: Private<&[i64]>,
        draws: &mut Draws<'_>,
    ) -> Vec<i64> {
        let numbers = leaves.map(|leaves| {
            let number =
                |&levels: &(usize, usize)| unlikeness_between(tree, levels, region_groups, leaves);
            self.levels.iter().map(number).collect()
        });
        let numbers = numbers.cells(self.levels.len());
        self.noise.release(numbers.view(), &mut draws.leaf(QUESTION, 0))
    }

    /// The way to go by these answers. After the draw, so free.
    pub(super) fn way(&self, answers: &[i64]) -> usize {
        let answers: Vec<f64> = answers.iter().map(|&answer| answer as f64 / UNIT as f64).collect();
        let fits = |case: &Case| -> f64 {
            let of_number = |(number, answer): (&f64, &f64)| {
                let variance = (RELATIVE * number).powi(2) + self.deviation.powi(2) + 1.0;
                -0.5 * ((number - answer).powi(2) / variance + variance.ln())
            };
            case.numbers.iter().zip(&answers).map(of_number).sum()
        };
        let likeliest = self.cases.iter().map(fits).fold(f64::NEG_INFINITY, f64::max);
        let is_far = |answers: &[f64], most: f64, (share, deviations): (f64, f64)| {
            let deviation = self.deviation * (answers.len() as f64).sqrt();
            answers.iter().sum::<f64>() > (share * most).max(deviations * deviation)
        };
        let [from_root, from_above] = self.most;
        // Rows are no farther from the root's than the sum says, and what they are from those of the level above is told by the last number.
        let lowest = &answers[answers.len().saturating_sub(1)..];
        let are_far = |from, from_last| {
            is_far(&answers, from_root, from) && is_far(lowest, from_above, from_last)
        };
        let own = are_far(OWN_FROM, OWN_BELOW);
        let number = self.cases.first().map_or(0, |case| case.errors.len());
        let is_seen = |way: usize| match way {
            OWN => own,
            MOST => {
                are_far(MOST_FROM, MOST_FROM)
                    && lowest.iter().sum::<f64>() > MOST_OF * answers.iter().sum::<f64>()
            }
            BETWEEN.. => is_far(&answers[..=way - BETWEEN], 0.0, UNLIKE_ABOVE),
            _ => true,
        };
        let ways: Vec<usize> = (0..number).filter(|&way| is_seen(way)).collect();
        let mut regrets = vec![0.0; number];
        // Rows that are that far from those above have few sizes of their own.
        for case in self.cases.iter().filter(|case| case.few || !own) {
            let weight = case.weight * (fits(case) - likeliest).exp();
            let best = ways.iter().map(|&way| case.errors[way]).fold(f64::INFINITY, f64::min);
            for &way in &ways {
                regrets[way] += weight * case.errors[way] / best;
            }
        }
        let least = ways.into_iter().min_by(|&a, &b| regrets[a].total_cmp(&regrets[b]));
        least.unwrap_or(CHOSEN)
    }
}

/// By how much [`unlikeness`] changes at most when one group of a leaf region changes its size, for so many leaf regions.
///
/// Let `n` be the root's count of a size, `q` a region's share of the groups, `u` its share of `n` in units, rounded down, and `b` what a count with that share is off by
/// by chance: in groups, and but for rounding, `f(n q)` with `f(m)` the smaller of `2 m` and the square root of `7 m / 11`, which is the former up to `m = 7 / 44` and grows by no more than
/// `m` from there. One group leaves a size of one region, and enters another size there. Take the size that is left: `n` falls by one. Every `u` falls by `q UNIT`, give or
/// take less than 1, and `b` by at least 0 and at most twice as much as `u`. So the number
/// - **falls** by no more than `2 UNIT + regions`: the distance of other regions falls by no more than `u` does, `(1 - q) UNIT + regions - 1` in all if `q` is that of the region itself; there row and
///   share go the same way, and it falls by no more than `(1 - q) UNIT + 1`;
/// - **grows** by no more than `5/2 UNIT + 3 regions`. Regions without a group of that size are as far off as `u`, which falls, so that with `b` they add no more than `u` falls by. The others are farther off by no more than what `u` falls by,
///   and the region itself by `(1 - q) UNIT + 1`; together with those before that is `2 (1 - q) UNIT + regions`. And the others add what `b` falls by, `d = f(n q) - f((n - 1) q)` groups, and 2 units each for rounding.
///   - If `n` is 1, the region itself is the only one, and `d = f(q)` is no more than `2 q`.
///   - Else these are at most `n` regions, as each has a group. `d` is `2 q` up to `q = 7 / (44 n)`, falls from there as long as `(n - 1) q` is below `7 / 44`, and is then
///     `sqrt(7 q / 11) (sqrt(n) - sqrt(n - 1))`: never more than the larger of that and `7 / (22 n)`. If `t n` of the regions have no more than the latter, they have `7 t / 22` together. The roots of the shares of the others, at most
///     `(1 - t) n` that add up to no more than 1, are at most `sqrt((1 - t) n)` together; and `n - sqrt(n (n - 1))` is at most `2 - sqrt(2)`. So all of them have no more than
///     `7 t / 22 + sqrt(7 / 11) (2 - sqrt(2)) sqrt(1 - t)`, which is at most `.4898`, for `t` next to `.46`.
///
/// The size that is entered is the reverse, with the tables exchanged. Together that is `9/2 UNIT + 4 regions` either way. A table has been found with `.956` of it.
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
    let most = (regions as u64).saturating_mul(4).saturating_add(9 * UNIT as u64 / 2);
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

/// [`unlikeness`] of the rows of the second of two levels within each region of the first, added up: how far they are from their shares of the rows of that.
///
/// A group is in one region of either level, so that the sum changes by no more than [`unlikeness_length`] of the most regions of the second level that one of the first has.
///
/// # Panics
/// If the tree has not both levels, in this order, or there is not one number of groups for each leaf.
pub fn unlikeness_between(
    tree: &RegionTree,
    (above, below): (usize, usize),
    region_groups: &[i64],
    leaves: &[i64],
) -> i64 {
    let columns = leaves.len() / region_groups.len().max(1);
    let sum = |sum: &mut i64, count: &i64| *sum = sum.saturating_add(*count);
    let (mut groups, mut rows) = (Vec::new(), Vec::new());
    for below in tree.within(below, tree.levels() - 1) {
        let mut row = vec![0; columns];
        for leaf in below.clone() {
            let leaf = &leaves[leaf * columns..(leaf + 1) * columns];
            row.iter_mut().zip(leaf).for_each(|(all, count)| sum(all, count));
        }
        let mut all = 0;
        region_groups[below].iter().for_each(|count| sum(&mut all, count));
        groups.push(all);
        rows.append(&mut row);
    }
    let within = |regions: Range<usize>| {
        let cells = regions.start * columns..regions.end * columns;
        unlikeness(&groups[regions], &rows[cells])
    };
    tree.within(above, below).into_iter().map(within).fold(0, i64::saturating_add)
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

    /// With tables of up to 4 billion groups, whose shares leave 64 bits on the way.
    #[test]
    fn one_group_changes_the_number_by_no_more_than_its_length() {
        let mut rng = ChaCha20Rng::seed_from_u64(301);
        let mut worst: f64 = 0.0;
        for round in 0..5_000 {
            let (regions, columns) = (rng.random_range(1..9), rng.random_range(2..6));
            let most = [1, 3, 40, 100_000, 100_000_000][round % 5];
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
        assert!(worst <= 1.0 && worst > 0.8, "{worst}");
    }

    #[test]
    fn a_share_is_the_same_in_64_and_in_128_bits() {
        let mut rng = ChaCha20Rng::seed_from_u64(303);
        let mut wide = 0;
        for _ in 0..10_000 {
            let most = MOST_GROUPS >> rng.random_range(0..24);
            let all = rng.random_range(1..=most);
            let [groups, of_root] = [0, 0].map(|least| rng.random_range(least..=all));
            let product = i128::from(groups) * i128::from(of_root) * i128::from(UNIT);
            wide += usize::from(product > i128::from(i64::MAX));
            assert_eq!(i128::from(share(groups, of_root, all)), product / i128::from(all));
        }
        assert!((1_000..9_000).contains(&wide), "{wide}");
    }

    /// What its length is computed from: twice as much for a share that is more by one, but for rounding down.
    #[test]
    fn what_chance_does_grows_by_no_more_than_twice_its_share() {
        for share in (0..100_000).chain([UNIT << 20, UNIT << 32]) {
            let [chance, next] = [share, share + 1].map(by_chance);
            assert!((0..=2 * share).contains(&chance), "{share}: {chance}");
            assert!((0..=2).contains(&(next - chance)), "{share}: {chance}, then {next}");
        }
    }

    /// Most for the lowest level is the best way, if it is one: rows are far enough from the root's, and most of that from the level above; and own rows are one only if these are
    /// far enough from the level above, too.
    #[test]
    fn ways_are_those_that_the_answers_allow() {
        let privacy = Privacy::pure(1.0).expect("valid");
        let noise = LevelNoise::of_numbers(privacy, &[unlikeness_length(9); 2]).expect("valid");
        let errors = vec![5.0, 4.0, 1.5, 1.0, 2.0];
        let cases = vec![Case { few: true, weight: 1.0, numbers: vec![0.0; 2], errors }];
        let (levels, most) = (vec![(0, 1), (1, 2)], [1_000.0; 2]);
        let question = Question { noise, levels, most, deviation: 10.0, cases };
        let way = |answers: [i64; 2]| question.way(&answers.map(|answer| answer * UNIT));
        assert_eq!(way([0, 300]), MOST);
        assert_eq!(way([0, 80]), CHOSEN);
        assert_eq!(way([80, 75]), BETWEEN);
        assert_eq!(way([310, 300]), BETWEEN);
    }

    /// Of 87 regions one has the most groups of the size that is entered, and each has a single one of the size that is left. Found by climbing.
    #[test]
    fn a_table_on_which_the_bound_is_nearly_reached() {
        let number = |[left, entered]: [i64; 2]| {
            let mut groups = vec![10_091; 87];
            groups[0] = 10_512;
            let mut table: Vec<i64> = groups.iter().flat_map(|all| [1, 20, all - 21]).collect();
            table[..3].copy_from_slice(&[left, entered, 10_512 - left - entered]);
            unlikeness(&groups, &table)
        };
        let change = number([1, 8_738]).abs_diff(number([0, 8_739])) as f64;
        let share = change / f64::from(unlikeness_length(87).get());
        assert!(share <= 1.0 && share > 0.95, "{share}");
    }

    /// What chance alone does grows like a root, fastest from zero on: a size that nobody has gets a share in each of many regions, all at
    /// once.
    #[test]
    fn a_size_that_is_new_in_many_regions_changes_the_number_by_no_more_than_its_length() {
        for regions in [9, 100, 3_000] {
            let mut table = [0, 1_000].repeat(regions);
            let groups = vec![1_000; regions];
            let before = unlikeness(&groups, &table);
            table[..2].copy_from_slice(&[1, 999]);
            let change = before.abs_diff(unlikeness(&groups, &table)) as f64;
            let share = change / f64::from(unlikeness_length(regions).get());
            assert!(share <= 1.0, "{regions}: {share}");
        }
    }

    #[test]
    fn between_levels_there_is_a_number_within_each_region() {
        let parents = [None, Some(0), Some(0), Some(1), Some(1), Some(2), Some(2), Some(2)];
        let tree = RegionTree::from_parents(&parents).expect("valid");
        let groups = [7, 9, 4, 40, 1];
        let table = [3, 4, 0, 9, 1, 3, 30, 10, 1, 0];
        let between = |above, below| unlikeness_between(&tree, (above, below), &groups, &table);
        assert_eq!(between(0, 2), unlikeness(&groups, &table));
        assert_eq!(between(0, 1), unlikeness(&[16, 45], &[3, 13, 32, 13]));
        let parts = unlikeness(&groups[..2], &table[..4]) + unlikeness(&groups[2..], &table[4..]);
        assert_eq!(between(1, 2), parts);
        // Each leaf is its own share.
        assert!(between(2, 2) < 0);
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
