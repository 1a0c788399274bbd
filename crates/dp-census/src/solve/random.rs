//! Random small problems for the tests.

use rand::rngs::ChaCha20Rng;
use rand::{RngExt, SeedableRng};

use super::Problem;
use crate::RegionTree;

/// A problem that owns its parts.
#[derive(Debug, Clone)]
pub(crate) struct Case {
    pub(crate) tree: RegionTree,
    pub(crate) bins: usize,
    pub(crate) noisy: Vec<i64>,
    pub(crate) level_weights: Vec<u32>,
    pub(crate) groups: i64,
}

impl Case {
    pub(crate) fn problem(&self) -> Problem<'_> {
        let Self { tree, bins, noisy, level_weights, groups } = self;
        Problem::new(tree, *bins, noisy, level_weights, *groups).expect("a valid case")
    }
}

/// What random cases look like; all ranges start at the smallest legal value.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Shape {
    pub(crate) levels: usize,
    pub(crate) fan_out: usize,
    pub(crate) bins: usize,
    pub(crate) weight: u32,
    pub(crate) groups: i64,
    pub(crate) noise: i64,
}

pub(crate) fn generator(seed: u64) -> ChaCha20Rng {
    ChaCha20Rng::seed_from_u64(seed)
}

/// An uneven tree with `levels` levels.
pub(crate) fn tree(rng: &mut ChaCha20Rng, levels: usize, fan_out: usize) -> RegionTree {
    let mut parents = vec![None];
    let mut level = 0..1_u32;
    for _ in 1..levels {
        for parent in level.clone() {
            let children = rng.random_range(1..=fan_out);
            parents.extend(std::iter::repeat_n(Some(parent), children));
        }
        level = level.end..u32::try_from(parents.len()).expect("small");
    }
    RegionTree::from_parents(&parents).expect("a valid tree")
}

/// A case whose cells are noise around counts of the size of `groups`, with many ties.
pub(crate) fn case(rng: &mut ChaCha20Rng, shape: Shape) -> Case {
    let levels = rng.random_range(1..=shape.levels);
    let tree = tree(rng, levels, shape.fan_out);
    let bins = rng.random_range(1..=shape.bins);
    let groups = rng.random_range(0..=shape.groups);
    let level_weights = (0..levels).map(|_| rng.random_range(1..=shape.weight)).collect();
    let cells = tree.len() * bins;
    let noisy =
        (0..cells).map(|_| rng.random_range(-shape.noise..=groups.min(shape.groups) + shape.noise));
    let noisy = noisy.collect();
    Case { tree, bins, noisy, level_weights, groups }
}

/// Cumulative counts of `groups` groups in random leaves, most of them small, with uniform noise.
pub(crate) fn noisy_cumulative(
    rng: &mut ChaCha20Rng,
    tree: &RegionTree,
    bins: usize,
    groups: i64,
    noise: i64,
) -> Vec<i64> {
    let mut table = vec![0; tree.len() * bins];
    for _ in 0..groups {
        let size = (0..bins - 1).find(|_| rng.random_bool(0.4)).unwrap_or(bins - 1);
        let mut node = Some(rng.random_range(tree.leaves()));
        while let Some(region) = node {
            table[region * bins + size..(region + 1) * bins].iter_mut().for_each(|c| *c += 1);
            node = tree.parent(region);
        }
    }
    table.iter().map(|count| count + rng.random_range(-noise..=noise)).collect()
}
