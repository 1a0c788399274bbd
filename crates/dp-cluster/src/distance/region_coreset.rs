//! The algorithm of Epasto, Mirrokni, Narayanan and Zhong.

use std::num::NonZeroU32;

use dp_accounting::{Budget, Delta, Receipt, Step, Within};
use dp_geometry::{Points, PointsView, PublicBox};
use dp_mechanism::{Algorithm, Coordinates, Draws, GaussianSum, Nearby, Private, StableHistogram};
use serde::{Deserialize, Serialize};

use super::NoisedPoints;
use super::quadtree::Quadtrees;
use super::regions::{Gathered, Regions};
use crate::ClusterError;
use crate::coreset::{PrivateCoreset, WeightRule};
use crate::kmeans::KMeans;
use crate::map::{MapRelation, PublicSize};
use crate::nearest::{assign_from, tree_from};
use crate::private_centres::without_thresholds;
use crate::public_coins::{Purpose, public_generator};
use crate::table::count_labels;
use crate::total_rho::total_mu;

/// Steps of the receipt.
const NOISED: &str = "noised points";
const TREES: &str = "cells of the quadtrees";
const FINE: &str = "counts of the fine cells";
const SIZES: &str = "sizes of the regions";
const REGIONS: &str = "cells of the regions";
const CELLS: &str = "counts of the cells of the regions";

/// Of delta, for cells that only one of two neighbours has: in quadtrees, and in regions.
const OUTSIDE: f64 = 0.1;

/// Coarse cells have a side of at least so many lengths of the noise, and so many levels are below.
const NOISES_PER_SIDE: f64 = 4.0;
const FINE_LEVELS: u32 = 5;

/// Where a record belongs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RegionRule {
    /// In the region of its noised point, as in the paper's Algorithm 1. Regions and their sizes are then as public as the noised points.
    #[default]
    NoisedPoint,
    /// In the region that it is itself in, as in the paper's experiments. Then a move across a border changes two regions, and sizes need noise.
    TruePoint,
}

/// Weighted points that stand in for the records: quadtrees find crude centres, and what lies around each is counted on a grid of its own.
///
/// Every record gets noise once. A record whose noised point is far from all crude centres is represented by it; the others are in regions around
/// crude centres, and noisy counts of the cells of a region represent its records. A region with so few records that its cells would be wider than
/// the noise is represented by their noised points. Any solver for k-means or k-median may work on the result, which costs nothing more.
///
/// # Guarantee
/// `(epsilon, delta)`-DP under [`Within`] for the budget given, by the exact curve of one Gaussian mechanism outside of a mass of `delta / 5`:
/// - noised points, drawn once for everything that uses them;
/// - fine cells of the quadtrees: a record that moves changes two cells in each of them;
/// - cells of regions: two change, of one region ([`RegionRule::NoisedPoint`]) or of two;
/// - sizes of regions, where they are not public ([`RegionRule::TruePoint`]): two change.
///
/// # Utility
/// A baseline: the [map](crate::map) costs less, but where `rho` is far below the spacing of its vertices and both come within 1 % of no privacy. Noise on every record with the whole budget costs less, too, while it
/// is short against the clusters; where it is as wide as the box, counts find clusters that it hides.
///
/// # Complexity
/// `O(n (d L + F d))` for `L` trees with levels and `F` crude centres, up to `4 k L`.
///
/// # Shapes and units
/// `n` records `(n, d)`; weighted points in the box of twice the size around the public box, in all about `n`; under [`RegionRule::TruePoint`] possibly
/// none, if no region shows.
///
/// # Bad records
/// A coordinate outside of the box counts as on its boundary, which takes no two records further apart; NaN counts as the middle of its side.
///
/// # Source
/// Epasto, Mirrokni, Narayanan, Zhong (2023), Algorithms 1 and 2 and Appendix E.1. What is different, and why: `docs/errata.md`.
///
/// # Example
/// ```
/// use dp_cluster::distance::{RegionCoreset, RegionCoresetSettings};
/// use dp_cluster::kmedian::{KMedian, KMedianSettings};
/// use dp_cluster::{Budget, Mechanism, Points, PublicBox, chacha_from_os};
/// use dp_mechanism::Nearby;
///
/// let coords = (0..2_000).map(|i| f64::from(i * 7 % 11 + i * i % 23)).collect();
/// let records = Points::new(coords, 2)?;
/// let public_box = PublicBox::cube(2, 0.0, 40.0)?;
/// let (near, budget) = (Nearby::new(0.1)?, Budget::new(1.0, 1e-6)?);
/// let plan = RegionCoreset::new(public_box, near, 1_000, 3, budget, RegionCoresetSettings::default())?;
/// let mut rng = chacha_from_os()?;
/// let coreset = plan.release(records.view(), &mut rng)?.output;
/// let fit = KMedian::new(3, KMedianSettings::default())?.post_fit(&coreset, &mut rng)?; // free
/// assert_eq!(fit.centres.len(), 3);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct RegionCoreset {
    public_box: PublicBox,
    nearby: Nearby<Coordinates>,
    records: u64,
    budget: Budget,
    rule: RegionRule,
    tree_from: usize,
    noised: NoisedPoints,
    trees: Quadtrees,
    sizes: Option<GaussianSum>,
    cells: StableHistogram,
    far: f64,
    least: u64,
}

/// Settings of [`RegionCoreset`]. Nothing here depends on data.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct RegionCoresetSettings {
    /// Where a record belongs. Default: [`RegionRule::NoisedPoint`].
    pub rule: RegionRule,
    /// How many quadtrees, 1 to 100. Default: 5, as in the paper.
    pub repetitions: u32,
    /// The last level that is counted on noised points: cells of level `l` have a side of `2^(2 - l)` of the box. Default: as long as a cell is at least
    /// four lengths of the noise wide.
    pub coarse_level: Option<u32>,
    /// The last level of all, above that one, at most 20. Default: five more.
    pub finest_level: Option<u32>,
    /// Of crude centres that are nearer to each other, one is left. Default: a length of the noise, which mixes the records of nearer ones anyway; for regions of
    /// true points, which it does not mix, a sixteenth of that.
    pub spacing: Option<f64>,
    /// Records whose noised points are farther than this from all crude centres are represented by them. Default: a length that noise rarely has.
    pub far: Option<f64>,
    /// A region is divided so that cells have at least so many records, at least 1, if these were evenly spread. Default: the least count of a cell that shows.
    pub least_cell: Option<u64>,
    /// Decides the shifts of the quadtrees. It hides nothing and may be published. Default: 0.
    pub public_seed: u64,
}

impl Default for RegionCoresetSettings {
    fn default() -> Self {
        Self {
            rule: RegionRule::default(),
            repetitions: 5,
            coarse_level: None,
            finest_level: None,
            spacing: None,
            far: None,
            least_cell: None,
            public_seed: 0,
        }
    }
}

impl RegionCoreset {
    /// For a public number of records in this public box, and `k` clusters: so many cells are looked for, and any number may be made of them.
    ///
    /// Checks every setting and calibrates every step; afterwards nothing can fail.
    ///
    /// # Errors
    /// [`ClusterError`] names the setting, its value and what would be accepted.
    pub fn new(
        public_box: PublicBox,
        nearby: Nearby<Coordinates>,
        records: u64,
        k: usize,
        budget: Budget,
        settings: RegionCoresetSettings,
    ) -> Result<Self, ClusterError> {
        let refuse = |name, got, want| Err(ClusterError::Setting { name, got, want });
        if records == 0 {
            return Err(ClusterError::ZeroSetting { name: "records" });
        }
        if !(1..=KMeans::MAX_CLUSTERS).contains(&k) {
            return Err(ClusterError::ClusterCount { got: k });
        }
        if !(1..=100).contains(&settings.repetitions) {
            return refuse("repetitions", f64::from(settings.repetitions), "between 1 and 100");
        }
        for (name, length) in [("spacing", settings.spacing), ("far", settings.far)] {
            if let Some(got) = length.filter(|length| !(*length > 0.0 && length.is_finite())) {
                return refuse(name, got, "finite and > 0");
            }
        }
        if settings.least_cell == Some(0) {
            return Err(ClusterError::ZeroSetting { name: "least_cell" });
        }
        let (rest, outside) = without_thresholds(budget, 2.0 * OUTSIDE)?;
        let outside = Delta::new(0.5 * outside.get())?;
        // As in the paper a third each; and of the last third, a half for sizes that are private.
        let shares = match settings.rule {
            RegionRule::NoisedPoint => vec![2.0, 2.0, 2.0],
            RegionRule::TruePoint => vec![2.0, 2.0, 1.0, 1.0],
        };
        let losses = total_mu(rest)?.split(&shares)?;
        let noised = NoisedPoints::at(public_box.clone(), nearby, records, budget, losses[0])?;
        let dim = public_box.dim() as f64;
        let deviation = noised.standard_deviation();
        let length = deviation * dim.sqrt();
        let wide = || default_coarse(&public_box, NOISES_PER_SIDE * length);
        let coarse = settings.coarse_level.unwrap_or_else(wide);
        let finest = settings.finest_level.unwrap_or(coarse.saturating_add(FINE_LEVELS));
        if coarse >= finest || finest > Quadtrees::MAX_LEVEL {
            let want = "at most 20, and above the coarse one";
            return refuse("finest_level", f64::from(finest), want);
        }
        let spacing = match settings.rule {
            RegionRule::NoisedPoint => length,
            RegionRule::TruePoint => length / 16.0,
        };
        let keys = Quadtrees::keys(settings.repetitions, [coarse, finest]);
        let keys = NonZeroU32::new(keys).expect("two per fine level");
        let mut shifts = public_generator(settings.public_seed, Purpose::Quadtrees);
        let trees = Quadtrees::new(
            &public_box,
            [settings.repetitions as usize, k.saturating_mul(4)],
            [coarse, finest],
            settings.spacing.unwrap_or(spacing),
            StableHistogram::new(losses[1], outside, keys)?,
            &mut shifts,
        )?;
        let two = NonZeroU32::new(2).expect("not 0");
        let cells = StableHistogram::new(losses[2], outside, two)?;
        let sizes = losses.get(3).map(|mu| GaussianSum::rounded(*mu)).transpose()?;
        // Noise is longer than this for less than one record in all.
        let long = dim.sqrt() + (2.0 * (records.max(2) as f64).ln()).sqrt();
        let far = settings.far.unwrap_or(deviation * long);
        let least = settings.least_cell.unwrap_or(cells.threshold().unsigned_abs());
        Ok(Self {
            rule: settings.rule,
            tree_from: tree_from(public_box.dim()),
            public_box,
            nearby,
            records,
            budget,
            noised,
            trees,
            sizes,
            cells,
            far,
            least,
        })
    }

    /// From how many crude centres on the nearest is looked for in a tree: the release is the same, and a claim compares both ways.
    #[doc(hidden)]
    #[must_use]
    pub fn with_tree_from(mut self, centres: usize) -> Self {
        self.tree_from = centres;
        self
    }

    /// Beyond this distance from all crude centres, a record is represented by its noised point.
    pub fn far(&self) -> f64 {
        self.far
    }

    /// The fewest records of a cell of a region, were they evenly spread.
    pub fn least_cell(&self) -> u64 {
        self.least
    }

    /// The least noisy counts of cells that show: of the quadtrees, and of regions.
    pub fn thresholds(&self) -> [i64; 2] {
        [self.trees.histogram.threshold(), self.cells.threshold()]
    }

    /// The region of every noised point that is near enough to one.
    fn near(&self, noised: PointsView<'_>, centres: &Points) -> Vec<Option<u32>> {
        let found = assign_from(noised, centres.view(), self.tree_from);
        let is_near = |squared: f64| squared <= self.far * self.far;
        let pairs = found.labels.into_iter().zip(found.squared_distances);
        pairs.map(|(label, squared)| is_near(squared).then_some(label)).collect()
    }

    fn regions<'a>(&'a self, centres: &'a Points, sizes: Vec<f64>) -> Regions<'a> {
        let public_box = &self.public_box;
        // A record is as near to its noised point as that is to the centre, but for noise that is longer than is likely.
        let half_side = (2.0 * self.far).min(public_box.diagonal());
        // Where noised points are the other choice, cells must be narrower than their noise.
        let widest = match self.rule {
            RegionRule::NoisedPoint => 2.0 * self.noised.standard_deviation(),
            RegionRule::TruePoint => f64::INFINITY,
        };
        let least = self.least.max(1) as f64;
        Regions { public_box, centres, half_side, sizes, least, widest }
    }

    /// Regions of noised points: who is in which, and how many, follows from what has been released.
    fn by_noised_points(
        &self,
        points: Private<PointsView<'_>>,
        noised: PointsView<'_>,
        centres: &Points,
        draws: &mut Draws<'_>,
    ) -> PrivateCoreset {
        let region = self.near(noised, centres);
        let mut sizes = vec![0.0; centres.len()];
        region.iter().flatten().for_each(|region| sizes[*region as usize] += 1.0);
        let regions = self.regions(centres, sizes);
        let draw = &mut draws.leaf(CELLS, 0);
        let cells = regions.release(points, Private::new(region.as_slice()), &self.cells, draw);
        let mut gathered = Gathered::default();
        for (region, cells) in &cells {
            gathered.add_scaled(cells, regions.sizes[*region as usize]);
        }
        for (row, region) in noised.rows().zip(region) {
            if region.is_none_or(|region| !cells.contains_key(&region)) {
                gathered.add(row, 1.0);
            }
        }
        gathered.into_coreset(centres.dim())
    }

    /// Regions of true points, for all but those that noised points represent.
    fn by_true_points(
        &self,
        points: Private<PointsView<'_>>,
        noised: PointsView<'_>,
        centres: &Points,
        sum: &GaussianSum,
        draws: &mut Draws<'_>,
    ) -> PrivateCoreset {
        let is_near = self.near(noised, centres);
        let region = points.map(|points| {
            let mut inside = points.coords().to_vec();
            inside
                .chunks_exact_mut(points.dim())
                .for_each(|row| self.public_box.clip(row).expect("as many coordinates"));
            let inside = Points::new(inside, points.dim()).expect("as many rows");
            let from = self.tree_from;
            let labels = assign_from(inside.view(), centres.view(), from).labels;
            let of = |(label, near): (u32, &Option<u32>)| near.map(|_| label);
            labels.into_iter().zip(&is_near).map(of).collect::<Vec<Option<u32>>>()
        });
        let sizes = region.as_ref().map(|region| {
            let inside: Vec<u32> = region.iter().flatten().copied().collect();
            let sizes = count_labels(&inside, centres.len());
            sizes.into_iter().map(|n| i64::try_from(n).unwrap_or(i64::MAX)).collect::<Vec<_>>()
        });
        // A record in another region: one size less, another more. Every region gets noise, the empty ones too.
        let sizes = sizes.cells(centres.len());
        let noisy = sum.release(&sizes, TWO_REGIONS, &mut draws.leaf(SIZES, 0));
        let deviation = sum.noise_multiplier() * (TWO_REGIONS as f64).sqrt();
        let regions = self.regions(centres, WeightRule::Threshold.post_weights(&noisy, deviation));
        let draw = &mut draws.leaf(CELLS, 0);
        let region = region.as_ref().map(Vec::as_slice);
        let cells = regions.release(points, region, &self.cells, draw);
        let mut gathered = Gathered::default();
        for (number, (centre, size)) in (0_u32..).zip(centres.view().rows().zip(&regions.sizes)) {
            match cells.get(&number) {
                Some(cells) => gathered.add_scaled(cells, *size),
                None if *size > 0.0 => gathered.add(centre, *size),
                None => {}
            }
        }
        let far = noised.rows().zip(is_near).filter(|(_, near)| near.is_none());
        far.for_each(|(row, _)| gathered.add(row, 1.0));
        gathered.into_coreset(centres.dim())
    }
}

fn default_coarse(public_box: &PublicBox, side: f64) -> u32 {
    let width = (0..public_box.dim()).map(|i| public_box.width(i)).fold(0.0, f64::max);
    let most = f64::from(Quadtrees::MAX_LEVEL - FINE_LEVELS);
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "at most 15")]
    let coarse = (4.0 * width / side).log2().floor().clamp(0.0, most) as u32;
    coarse
}

/// The squared length by which the sizes of all regions change, if a record moves from one to another.
const TWO_REGIONS: u64 = 2;

impl Algorithm for RegionCoreset {
    type Relation = Within;
    type Data<'a> = PointsView<'a>;
    type Shape = PublicSize;
    type Output = PrivateCoreset;
    type Error = ClusterError;

    fn cost(&self) -> Receipt<Within> {
        let mut steps = vec![
            Step::sequential(NOISED, vec![self.noised.cost().spent().clone()]),
            self.trees.histogram.step(TREES, FINE),
        ];
        steps.extend(self.sizes.iter().map(|sizes| Step::spend(SIZES, sizes.loss())));
        steps.push(self.cells.step(REGIONS, CELLS));
        let spent = Step::sequential("all steps", steps);
        let relation = self.nearby.within();
        Receipt::new("region-coreset", relation, self.budget, spent)
    }

    fn shape(points: &PointsView<'_>) -> PublicSize {
        Within::shape(*points)
    }

    /// # Errors
    /// [`ClusterError::Dimension`], [`ClusterError::Records`].
    fn check(&self, shape: &PublicSize) -> Result<(), ClusterError> {
        Within::check(shape, self.public_box.dim(), Some(self.records))
    }

    fn run(&self, points: Private<PointsView<'_>>, draws: &mut Draws<'_>) -> PrivateCoreset {
        let noised = self.noised.run(points, &mut draws.within(NOISED));
        let centres = self.trees.release(points, noised.points(), &mut draws.leaf(FINE, 0));
        match &self.sizes {
            None => self.by_noised_points(points, noised.points(), &centres, draws),
            Some(sizes) => self.by_true_points(points, noised.points(), &centres, sizes, draws),
        }
    }
}
