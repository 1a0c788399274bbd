//! A semi-coreset of every region: counts of the cells of a grid around its centre.

use std::collections::BTreeMap;

use dp_geometry::{Points, PointsView, PublicBox};
use dp_mechanism::{Draws, Private, StableHistogram};

use crate::coreset::PrivateCoreset;
use crate::located::clip_into;

/// Cells of a region per dimension: at most `2^10`.
const MOST_LEVELS: u32 = 10;

/// Regions around released centres, with released or public sizes.
#[derive(Clone, Debug)]
pub(super) struct Regions<'a> {
    pub(super) public_box: &'a PublicBox,
    pub(super) centres: &'a Points,
    /// Records outside of this cube around a centre count as on its boundary: half of its side.
    pub(super) half_side: f64,
    /// Records per region.
    pub(super) sizes: Vec<f64>,
    /// A cell should have so many.
    pub(super) least: f64,
    /// Cells that are wider are not worth counting.
    pub(super) widest: f64,
}

/// A region's cells that reach the threshold, with what they weigh.
pub(super) type Cells = Vec<(Vec<f64>, f64)>;

impl Regions<'_> {
    /// Noisy counts of the cells of all regions at once. `region` says where a record belongs, or that it does to none.
    ///
    /// A record that moves leaves one cell and enters another, of the same region or of another one: `histogram` is for two.
    pub(super) fn release(
        &self,
        points: Private<PointsView<'_>>,
        region: Private<&[Option<u32>]>,
        histogram: &StableHistogram,
        draws: &mut Draws<'_>,
    ) -> BTreeMap<u32, Cells> {
        let counts = points.zip(region).map(|(points, region)| self.counts(points, region));
        let mut regions: BTreeMap<u32, Cells> = BTreeMap::new();
        for ((region, key), count) in histogram.release(counts.as_ref(), draws) {
            let cell = (self.middle(region, &key), count as f64);
            regions.entry(region).or_default().push(cell);
        }
        regions
    }

    /// How finely a region is divided: so that a cell of evenly spread records would have the least number of them. None if that is not worth it.
    pub(super) fn level(&self, region: u32) -> Option<u32> {
        let per_level = (self.public_box.dim() as f64).exp2();
        let mut fewest = self.sizes[region as usize] / per_level;
        let mut width = 0.5 * self.sides(region).fold(0.0, |most: f64, (_, width)| width.max(most));
        let mut level = 1;
        while level < MOST_LEVELS && fewest >= self.least * per_level {
            fewest /= per_level;
            width *= 0.5;
            level += 1;
        }
        (fewest >= self.least && width <= self.widest).then_some(level)
    }

    fn counts(
        &self,
        points: PointsView<'_>,
        region: &[Option<u32>],
    ) -> BTreeMap<(u32, Vec<u32>), u64> {
        let mut counts = BTreeMap::new();
        let mut clipped = vec![0.0; points.dim()];
        for (row, region) in points.rows().zip(region) {
            let Some(region) = *region else { continue };
            let Some(level) = self.level(region) else { continue };
            clip_into(self.public_box, row, &mut clipped);
            let axes = clipped.iter().zip(self.sides(region));
            let key = axes.map(|(x, (low, width))| cell(x - low, width, level)).collect();
            *counts.entry((region, key)).or_insert(0) += 1;
        }
        counts
    }

    /// Per dimension the lower end and the width of what is divided: the cube around the centre, as far as it is in the box.
    fn sides(&self, region: u32) -> impl Iterator<Item = (f64, f64)> {
        let centre = &self.centres[region as usize];
        centre.iter().enumerate().map(|(i, c)| {
            let low = (c - self.half_side).max(self.public_box.min(i));
            (low, (c + self.half_side).min(self.public_box.max(i)) - low)
        })
    }

    fn middle(&self, region: u32, key: &[u32]) -> Vec<f64> {
        let cells = f64::from(1 << self.level(region).unwrap_or(0));
        let sides = key.iter().zip(self.sides(region));
        sides.map(|(k, (low, width))| low + (f64::from(*k) + 0.5) / cells * width).collect()
    }
}

/// Along one axis: the cell that is so far from the lower end. What lies outside counts as on the boundary.
fn cell(from_low: f64, width: f64, level: u32) -> u32 {
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "saturates")]
    let cell = (from_low / width * f64::from(1 << level)) as u32;
    cell.min((1 << level) - 1)
}

/// Weighted points, one after the other.
#[derive(Clone, Debug, Default)]
pub(super) struct Gathered {
    coords: Vec<f64>,
    weights: Vec<f64>,
}

impl Gathered {
    pub(super) fn add(&mut self, point: &[f64], weight: f64) {
        self.coords.extend_from_slice(point);
        self.weights.push(weight);
    }

    /// Cells of a region of this size, which their weights are scaled to.
    pub(super) fn add_scaled(&mut self, cells: &Cells, size: f64) {
        let total: f64 = cells.iter().map(|(_, count)| count).sum();
        for (middle, count) in cells {
            self.add(middle, count * size / total);
        }
    }

    pub(super) fn into_coreset(self, dim: usize) -> PrivateCoreset {
        PrivateCoreset::released(Points::new(self.coords, dim).expect("whole rows"), self.weights)
    }
}
