//! Shares of levels chosen by a model of the error, from public facts alone.
//!
//! The model follows one size through the tree. Going up, a region is seen by its own noise and by that of its parts, pooled by precision.
//! Going down, a region of `g` groups is expected at its share of its parent, with the parent's error in proportion and a scatter of
//! its own of variance `(1 + c (g - 1)) g / k`; what is seen of it is pooled with that. Two things nobody knows before: `c`, how much the
//! groups of a region are alike, on all levels or on one between alone, and `k`, the number of sizes among which they are divided. Each pair of some values is a case, of which the
//! *regret* is the expected error, as a sum over all levels, over that of the best of three fixed choices: equal shares, shares by roots of
//! numbers of regions, and all of the loss for the root. What is minimised is the sum of high powers of regrets, so nearly the largest one:
//! shares that are never far behind, whatever the regions are like. Where the noise of leaves with nearly all of the loss is mostly less than
//! half a group, they get that: their rows are rounded then, and added up.
//!
//! A minimum of the product of errors, as stood here before, gives up a case altogether where that helps another one more. Alike regions
//! of few groups lost twice the error of a plain spread of the root's row to it.

use std::collections::BTreeMap;

use crate::RegionTree;
use crate::solve::fitted::are_leaves_rounded;

/// Likeness of the groups of a region, from none to as much as in zones of a city by hour, and what a regret counts there: regions
/// that are as unlike as the last are seldom, and seen from little.
pub(super) const LIKENESS: [(f64, f64); 4] = [(0.0, 1.0), (0.003, 1.0), (0.03, 1.0), (0.3, 0.5)];
/// Sizes that matter, as powers of the number of columns.
pub(super) const SIZES: [f64; 2] = [0.5, 1.0];
/// Levels between root and leaves that are thought of apart from the others: the cases of a question are as many as the product of what is thought of each.
const MOST_BETWEEN: usize = 2;
/// The power of regrets that is summed.
const POWER: i32 = 10;
/// The lowest level gets no less than that part of what equal shares would give it.
const LEAST: f64 = 0.01;
/// The levels above get no less than that part of what shares by roots would give them: the model knows sums of regions better than they
/// are known, as these cannot be negative.
const LEAST_ABOVE: f64 = 0.05;
/// With methods that do not draw regions to the row above, which know sums less well.
const LEAST_ABOVE_UNDRAWN: f64 = 0.7;
/// Starts from which the search goes on.
const STARTS: usize = 2;

/// A hierarchy as the model sees it: regions of a level are alike if their numbers of groups and those of their parents have the same
/// power of two.
pub(super) struct Model {
    columns: f64,
    /// Whether regions are drawn to the row above, which takes their public numbers of groups.
    draws: bool,
    /// Whether the method is the one that rounds leaves where their noise is small, and adds them up.
    rounds: bool,
    cells: usize,
    least_above: f64,
    /// Regions of each level.
    regions: Vec<f64>,
    /// For each level the kinds of its regions.
    kinds: Vec<Vec<Kind>>,
}

#[derive(Clone, Copy, Default)]
struct Kind {
    regions: f64,
    groups: f64,
    /// Mean square of the share of the parent's groups.
    share_squared: f64,
    /// The parent's kind, as its place in the level above.
    parent: usize,
}

impl Kind {
    /// Expected sum over sizes of what counts of this variance are off.
    fn off(&self, variance: f64, sizes: f64) -> f64 {
        // As in `Model::error`; and few groups among many sizes are all off, and their shares besides.
        let of_size = (0.8 * variance.sqrt()).min(2.0 * self.groups / sizes);
        (sizes * of_size).min(2.0 * self.groups)
    }
}

impl Model {
    /// For so many groups of each leaf region; if that is not public, for as many in each. `draws` is whether a method draws regions to the row
    /// above, which takes the public numbers; if not, noise alone says what they are like.
    pub(super) fn new(
        tree: &RegionTree,
        columns: usize,
        groups: i64,
        region_groups: Option<&[i64]>,
        draws: bool,
    ) -> Self {
        let leaves = tree.leaves();
        let mut of_region = vec![0.0; tree.len()];
        for (i, leaf) in leaves.clone().enumerate() {
            let alike = groups as f64 / leaves.len() as f64;
            of_region[leaf] = region_groups.map_or(alike, |groups| groups[i] as f64);
        }
        for region in (1..tree.len()).rev() {
            let parent = tree.parent(region).expect("only the first region has none");
            of_region[parent] += of_region[region];
        }
        let power = |groups: f64| groups.max(1.0).log2().floor().to_bits();
        let mut kinds: Vec<Vec<Kind>> = Vec::new();
        let mut places = vec![0; tree.len()];
        for level in 0..tree.levels() {
            let mut found: BTreeMap<(usize, u64), usize> = BTreeMap::new();
            let mut of_level: Vec<Kind> = Vec::new();
            for region in tree.level(level) {
                let groups = of_region[region];
                let (parent, above) = tree
                    .parent(region)
                    .map_or((0, groups), |parent| (places[parent], of_region[parent]));
                let place = *found.entry((parent, power(groups))).or_insert_with(|| {
                    of_level.push(Kind { parent, ..Kind::default() });
                    of_level.len() - 1
                });
                places[region] = place;
                let kind = &mut of_level[place];
                kind.regions += 1.0;
                kind.groups += groups;
                kind.share_squared += if above > 0.0 { (groups / above).powi(2) } else { 0.0 };
            }
            for kind in &mut of_level {
                kind.groups /= kind.regions;
                kind.share_squared /= kind.regions;
            }
            kinds.push(of_level);
        }
        let regions = (0..tree.levels()).map(|level| tree.level(level).len() as f64).collect();
        let least_above = if draws { LEAST_ABOVE } else { LEAST_ABOVE_UNDRAWN };
        let (rounds, cells) = (draws && tree.levels() > 1, tree.len().saturating_mul(columns));
        let draws = draws && region_groups.is_some();
        Self { columns: columns as f64, draws, rounds, cells, least_above, regions, kinds }
    }

    /// Expected sum of absolute errors over all levels, in groups, for noise of these variances. Of the levels below those that have one, nothing is seen.
    /// `likeness` is that of the groups of a region of each level.
    pub(super) fn error(
        &self,
        variances: &[f64],
        likeness: impl Fn(usize) -> f64,
        sizes: f64,
    ) -> f64 {
        // Of a count there are two cumulative numbers, so that it has twice the variance.
        let mut seen: Vec<f64> =
            variances.iter().map(|variance| 2.0 * variance.max(1e-30)).collect();
        seen.resize(self.regions.len(), f64::INFINITY);
        for level in (0..seen.len() - 1).rev() {
            let below = self.regions[level + 1] / self.regions[level] * seen[level + 1];
            seen[level] = 1.0 / (1.0 / seen[level] + 1.0 / below);
        }
        let (mut above, mut error) = (vec![0.0], 0.0);
        for (level, kinds) in self.kinds.iter().enumerate() {
            let mut of_level = Vec::with_capacity(kinds.len());
            let likeness = likeness(level);
            for kind in kinds {
                let expected = kind.groups / sizes;
                let factor = 1.0 + likeness * (kind.groups - 1.0).max(0.0);
                let scatter = match level {
                    0 => f64::INFINITY,
                    _ if !self.draws => f64::INFINITY,
                    _ => kind.share_squared * above[kind.parent] + factor * expected,
                };
                let left = 1.0 / (1.0 / seen[level] + 1.0 / scatter.max(1e-30));
                // Half of the mass of a bell is within 0.8 of its deviation; whole numbers that are seldom wrong are so by one.
                error += kind.regions * sizes * left.min(0.8 * left.sqrt());
                of_level.push(left);
            }
            above = of_level;
        }
        error.max(1e-300)
    }

    /// Expected distance of the rows of the level `below` from their shares of those of the level `above`, as a sum of absolute differences of counts,
    /// less what it would be if each count were off by chance alone. `likeness` is that of groups which share more than the region of the higher level.
    pub(super) fn unlikeness(
        &self,
        (above, below): (usize, usize),
        likeness: f64,
        sizes: f64,
    ) -> f64 {
        self.of_regions(below, |kind, place| {
            let expected = kind.groups / sizes;
            let apart = 1.0 - self.share((above, below), place);
            let variance = (1.0 + likeness * (kind.groups - 1.0).max(0.0)) * expected * apart;
            kind.off(variance, sizes) - kind.off(expected, sizes)
        })
    }

    /// What the rows of the lowest level would differ by from their share of the root's by chance alone.
    pub(super) fn by_chance(&self, sizes: f64) -> f64 {
        self.of_regions(self.regions.len() - 1, |kind, _| kind.off(kind.groups / sizes, sizes))
    }

    /// The most that the rows of the level `below` can differ by from their shares of those of the level `above`.
    pub(super) fn most(&self, (above, below): (usize, usize)) -> f64 {
        self.of_regions(below, |kind, place| {
            2.0 * kind.groups * (1.0 - self.share((above, below), place))
        })
    }

    /// A sum over the regions of a level, by their kinds and the places of these.
    fn of_regions(&self, level: usize, of_kind: impl Fn(&Kind, usize) -> f64) -> f64 {
        let kinds = self.kinds[level].iter().enumerate();
        kinds.map(|(place, kind)| kind.regions * of_kind(kind, place)).sum()
    }

    /// A region's share of the groups of the one of the level `above` that it is in, by the place of its kind.
    fn share(&self, (above, below): (usize, usize), mut place: usize) -> f64 {
        let mut squared = 1.0;
        for kinds in self.kinds[above + 1..=below].iter().rev() {
            squared *= kinds[place].share_squared;
            place = kinds[place].parent;
        }
        squared.sqrt().min(1.0)
    }

    /// Levels between the root and the lowest that are neither the one nor the other once more: of more than one region, and of fewer than the level below.
    /// Of several, the lowest.
    pub(super) fn between(&self) -> Vec<usize> {
        let last = self.regions.len() - 1;
        let mut between: Vec<usize> = (1..last)
            .filter(|&level| {
                self.regions[level] > 1.0 && self.regions[level] < self.regions[level + 1]
            })
            .collect();
        between.drain(..between.len().saturating_sub(MOST_BETWEEN));
        between
    }

    /// How many sizes matter if these do, as a power of the number of columns.
    pub(super) fn sizes(&self, power: f64) -> f64 {
        self.columns.powf(power)
    }

    /// Shares of the levels, where `variances` gives those of the noise at some shares.
    pub(super) fn shares(&self, variances: impl Fn(&[f64]) -> Vec<f64>) -> Vec<f64> {
        let levels = self.regions.len();
        let by_power = |power: f64| -> Vec<f64> {
            let of_level = self.regions.iter().map(|n| n.powf(power));
            let total: f64 = of_level.clone().sum();
            of_level.map(|share| share / total).collect()
        };
        let roots = by_power(0.5);
        // The noise of a share of 0 has no variance.
        let mixed = |parts: &[(usize, f64)]| {
            let mut shares = vec![1e-9; levels];
            for &(level, share) in parts {
                shares[level] += share;
            }
            shares
        };
        let fixed = [by_power(0.0), roots.clone(), mixed(&[(0, 1.0)])];
        // The same on all levels, or on one level between alone: regions below it are like it.
        let between = self.between();
        let likenesses = LIKENESS.into_iter().flat_map(|(likeness, counts)| {
            let on_one = between.iter().filter(move |_| likeness > 0.0).map(move |&one| {
                let of_level = |level| if level == one { likeness } else { 0.0 };
                ((0..levels).map(of_level).collect(), counts)
            });
            std::iter::once((vec![likeness; levels], counts)).chain(on_one)
        });
        let cases: Vec<(Vec<f64>, f64, f64)> = likenesses
            .flat_map(|of_case| SIZES.map(|power| (of_case.clone(), self.sizes(power))))
            .map(|((likeness, counts), sizes)| {
                let error = |shares: &Vec<f64>| {
                    self.error(&variances(shares), |level| likeness[level], sizes)
                };
                let best = fixed.iter().map(error).fold(f64::INFINITY, f64::min);
                (likeness, sizes, counts / best)
            })
            .collect();
        let cost = |shares: &[f64]| -> f64 {
            let variances = variances(shares);
            let regret = |(likeness, sizes, scale): &(Vec<f64>, f64, f64)| {
                (scale * self.error(&variances, |level| likeness[level], *sizes)).powi(POWER)
            };
            cases.iter().map(regret).sum()
        };
        let least: Vec<f64> =
            (roots.iter().enumerate())
                .map(|(level, root)| {
                    if level + 1 == levels {
                        LEAST / levels as f64
                    } else {
                        self.least_above * root
                    }
                })
                .collect();
        let normal = |mut shares: Vec<f64>| {
            let total: f64 = shares.iter().sum();
            let least = shares.iter_mut().zip(&least);
            least.for_each(|(share, least)| *share = (*share / total).max(*least));
            let total: f64 = shares.iter().sum();
            shares.into_iter().map(|share| share / total).collect::<Vec<f64>>()
        };
        // Leaves that are rounded and added up are all that is looked at.
        let lowest = normal(mixed(&[(levels - 1, 1.0)]));
        let of_leaf = variances(&lowest)[levels - 1];
        if self.rounds && are_leaves_rounded(self.cells, of_leaf) {
            return lowest;
        }
        // The cost has many valleys: a level that is seen well makes those around it superfluous.
        let mut starts: Vec<Vec<f64>> = [0.5, 0.0, 0.25, 0.75, -1.0].map(by_power).to_vec();
        for level in 0..levels {
            starts.push(mixed(&[(level, 1.0)]));
            let with =
                |other| [0.2, 0.5, 0.8].map(|part| mixed(&[(level, part), (other, 1.0 - part)]));
            starts.extend((0..level).flat_map(with));
        }
        let mut starts: Vec<(f64, Vec<f64>)> =
            starts.into_iter().map(normal).map(|shares| (cost(&shares), shares)).collect();
        starts.sort_by(|a, b| a.0.total_cmp(&b.0));
        starts.truncate(STARTS);
        let found = starts.into_iter().map(|start| descend(start, &cost, &normal));
        found
            .min_by(|a, b| a.0.total_cmp(&b.0))
            .map(|(_, shares)| shares)
            .expect("there are starts")
    }
}

/// One share after the other changed, and a part of one given to another, in smaller and smaller steps.
fn descend(
    (mut least, mut best): (f64, Vec<f64>),
    cost: &dyn Fn(&[f64]) -> f64,
    normal: &dyn Fn(Vec<f64>) -> Vec<f64>,
) -> (f64, Vec<f64>) {
    let levels = best.len();
    for factor in [2.0, 1.4, 1.15, 1.05] {
        for _ in 0..12 {
            let before = least;
            for level in 0..levels {
                let mut attempt = |change: &dyn Fn(&mut [f64])| {
                    let mut shares = best.clone();
                    change(&mut shares);
                    let shares = normal(shares);
                    let found = cost(&shares);
                    if found < least {
                        (least, best) = (found, shares);
                    }
                };
                attempt(&|shares| shares[level] *= factor);
                attempt(&|shares| shares[level] /= factor);
                for other in (0..levels).filter(|&other| other != level) {
                    attempt(&|shares| {
                        let rest = shares[level] / factor;
                        shares[other] += shares[level] - rest;
                        shares[level] = rest;
                    });
                }
            }
            if least >= before * (1.0 - 1e-3) {
                break;
            }
        }
    }
    (least, best)
}
