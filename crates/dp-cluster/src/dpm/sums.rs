//! The centres: noisy means of the leaves.

use dp_geometry::Points;
use dp_mechanism::Draws;
use dp_mechanism::passes::Counted;

use super::Dpm;
use super::bins::cells_per_bin;
use super::plan::Grown;
use super::questions::LeafSums;
use crate::Clustering;

/// No offset of a record, and no middle of a leaf, is longer, in half-cells: there are at most `2^17` cells.
pub(super) const LARGEST_OFFSET: i64 = 1 << 18;

/// The offsets of all records from the middles of their leaves' cells.
pub(super) fn leaf_sums(grown: &Grown) -> LeafSums {
    let middles = shapes(grown).iter().map(|shape| shape.middle).collect();
    LeafSums { path: grown.path.clone(), middles }
}

impl Dpm {
    /// Adds noise to the sum of every leaf, empty or not, divides by the noisy count and clips to the cell.
    pub(super) fn centres(
        &self,
        grown: &Grown,
        counted: &Counted,
        draws: &mut Draws<'_>,
    ) -> Clustering {
        let (grid, shapes) = (grown.grid(), shapes(grown));
        let dim = grid.dim();
        let mut coords = Vec::with_capacity(shapes.len());
        let leaves = grown.leaves.iter().zip(counted.entries.view().chunks(dim));
        for (part, ((leaf, sum), shape)) in (0..).zip(leaves.zip(shapes.chunks_exact(dim))) {
            // Offsets are at most radius - 1 half-cells, since a point is the middle of its cell.
            let length_squared = shape.iter().map(|s| (s.radius - 1).max(0).pow(2)).sum::<i64>();
            let draw = &mut draws.part("sum of one leaf", 0, part);
            let sum = self.sums.release(sum, length_squared.unsigned_abs(), draw);
            for (i, (&sum, shape)) in sum.iter().zip(shape).enumerate() {
                let radius = shape.radius as f64;
                let mean = (sum as f64 / leaf.noisy_count as f64).clamp(-radius, radius);
                let centre = grid.coordinate(i, f64::midpoint(shape.middle as f64, mean));
                // The conversion can round to just outside of the box.
                coords.push(grid.public_box().clip_coordinate(i, centre));
            }
        }
        let counts = grown.leaves.iter().map(|leaf| leaf.noisy_count).collect();
        Clustering::of(Points::new(coords, dim).expect("one row per leaf"), counts)
    }
}

/// In one dimension, in half-cells of the grid.
#[derive(Clone, Copy)]
struct Shape {
    middle: i64,
    /// Half of the width.
    radius: i64,
}

/// Of every leaf in every dimension.
fn shapes(grown: &Grown) -> Vec<Shape> {
    let grid = grown.grid();
    let cells_per_bin = cells_per_bin(&grid, grown.path.half_intervals());
    let shape = |leaf: usize, i| {
        let (middle, radius) = grown.leaves[leaf].cell.middle_and_radius(i, cells_per_bin);
        Shape { middle, radius }
    };
    let of = (0..grown.leaves.len()).flat_map(|leaf| (0..grid.dim()).map(move |i| (leaf, i)));
    of.map(|(leaf, i)| shape(leaf, i)).collect()
}
