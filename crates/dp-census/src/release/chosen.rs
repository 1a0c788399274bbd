//! Shares of levels chosen by a model of the error, from public facts alone.
//!
//! The model follows one size through the tree. Going up, a region is seen by its own noise and by that of its parts, pooled by precision.
//! Going down, a region of `g` groups is expected at its share of its parent, with the parent's error in proportion and a scatter of
//! its own of variance `(1 + c (g - 1)) g / k`; what is seen of it is pooled with that. `c` is how much the groups of a region are alike, which
//! nobody knows before: it is taken to be 0.001, 0.02 or 0.3, and what is minimised is the product of the three errors, each the sum over
//! all levels. Whatever that says, a level above the lowest gets at least 0.7 of its share by the roots of numbers of regions: the model
//! knows sums of regions better than they are known, as these cannot be negative. `k` is a
//! number of sizes among which the groups are divided: 20, or the number of columns if there are fewer.

use std::collections::BTreeMap;

use crate::RegionTree;

/// Likeness of the groups of a region, from hardly any to as much as in zones of a city by hour.
const LIKENESS: [f64; 3] = [0.001, 0.02, 0.3];
/// Sizes that matter.
const SIZES: f64 = 20.0;
/// The lowest level gets no less than that part of what equal shares would give it.
const LEAST: f64 = 0.01;
/// The levels above get no less than that part of what shares by roots would give them.
const LEAST_ABOVE: f64 = 0.7;

/// A hierarchy as the model sees it: regions of a level are alike if their numbers of groups and those of their parents have the same
/// power of two.
pub(super) struct Model {
    sizes: f64,
    /// Whether regions are drawn to the row above, which takes their public numbers of groups.
    draws: bool,
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

impl Model {
    /// For so many groups of each leaf region; if that is not public, for as many in each, and by noise alone.
    pub(super) fn new(
        tree: &RegionTree,
        columns: usize,
        groups: i64,
        region_groups: Option<&[i64]>,
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
        let (sizes, draws) = (SIZES.min(columns as f64), region_groups.is_some());
        Self { sizes, draws, regions, kinds }
    }

    /// Expected sum of absolute errors of each level, in groups, for noise of these variances.
    fn errors(&self, variances: &[f64], likeness: f64) -> Vec<f64> {
        // Of a count there are two cumulative numbers, so that it has twice the variance.
        let mut seen: Vec<f64> =
            variances.iter().map(|variance| 2.0 * variance.max(1e-30)).collect();
        for level in (0..seen.len() - 1).rev() {
            let below = self.regions[level + 1] / self.regions[level] * seen[level + 1];
            seen[level] = 1.0 / (1.0 / seen[level] + 1.0 / below);
        }
        let mut above = vec![0.0];
        let mut errors = Vec::new();
        for (level, kinds) in self.kinds.iter().enumerate() {
            let mut error = 0.0;
            let mut of_level = Vec::with_capacity(kinds.len());
            for kind in kinds {
                let expected = kind.groups / self.sizes;
                let factor = 1.0 + likeness * (kind.groups - 1.0).max(0.0);
                let scatter = match level {
                    0 => f64::INFINITY,
                    _ if !self.draws => f64::INFINITY,
                    _ => kind.share_squared * above[kind.parent] + factor * expected,
                };
                let left = 1.0 / (1.0 / seen[level] + 1.0 / scatter.max(1e-30));
                // Half of the mass of a bell is within 0.8 of its deviation; whole numbers that are seldom wrong are so by one.
                error += kind.regions * self.sizes * left.min(0.8 * left.sqrt());
                of_level.push(left);
            }
            above = of_level;
            errors.push(error);
        }
        errors
    }

    /// Shares of the levels, and for each the expected error in groups, where `variances` gives those of the noise at some shares.
    pub(super) fn shares(&self, variances: impl Fn(&[f64]) -> Vec<f64>) -> Vec<f64> {
        let levels = self.regions.len();
        let cost = |shares: &[f64]| -> f64 {
            let variances = variances(shares);
            let of = |&likeness: &f64| {
                self.errors(&variances, likeness).iter().sum::<f64>().max(1e-300).ln()
            };
            LIKENESS.iter().map(of).sum()
        };
        let roots: f64 = self.regions.iter().map(|regions| regions.sqrt()).sum();
        let least = |(level, regions): (usize, &f64)| {
            if level + 1 == levels {
                LEAST / levels as f64
            } else {
                LEAST_ABOVE * regions.sqrt() / roots
            }
        };
        let least: Vec<f64> = self.regions.iter().enumerate().map(least).collect();
        let normal = |mut shares: Vec<f64>| {
            let total: f64 = shares.iter().sum();
            let least = shares.iter_mut().zip(&least);
            least.for_each(|(share, least)| *share = (*share / total).max(*least));
            let total: f64 = shares.iter().sum();
            shares.into_iter().map(|share| share / total).collect::<Vec<f64>>()
        };
        let by_power = |power: f64| normal(self.regions.iter().map(|n| n.powf(power)).collect());
        let starts = [-1.0, 0.0, 0.25, 0.5, 0.75].map(by_power);
        let costs = starts.iter().map(|shares| cost(shares));
        let start = costs.zip(&starts).min_by(|a, b| a.0.total_cmp(&b.0));
        let (mut least, mut best) = start.map(|(c, s)| (c, s.clone())).expect("there are starts");
        // One share after the other, by smaller and smaller factors.
        for factor in [2.0, 1.4, 1.15] {
            for _ in 0..8 {
                let before = least;
                for level in 0..levels {
                    for by in [factor, 1.0 / factor] {
                        let mut shares = best.clone();
                        shares[level] *= by;
                        let shares = normal(shares);
                        let found = cost(&shares);
                        if found < least {
                            (least, best) = (found, shares);
                        }
                    }
                }
                if least >= before {
                    break;
                }
            }
        }
        best
    }
}
