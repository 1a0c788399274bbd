//! The centres: noisy means of the leaves.

use dp_geometry::{FixedPointGrid, Points, PointsView};
use dp_mechanism::{Draws, Private};

use super::Dpm;
use super::bins::cells_per_bin;
use super::plan::Grown;
use super::tree::Leaf;
use crate::Clustering;
use crate::table::sum_rows;

impl Dpm {
    /// Sums the offsets from the middle of each leaf's cell, adds noise to every leaf, empty or
    /// not, divides by the noisy count and clips to the cell.
    pub(super) fn centres(
        &self,
        points: Private<PointsView<'_>>,
        grown: &Grown,
        draws: &mut Draws<'_>,
    ) -> Clustering {
        let Grown { tree, grid, half_intervals } = grown;
        let dim = grid.dim();
        let shapes = Shapes::new(&tree.leaves, dim, cells_per_bin(grid, *half_intervals));
        let sums = points.zip(tree.leaf_of.as_ref());
        let sums = sums.map(|(points, leaf_of)| shapes.sum(points, grid, leaf_of));
        let sums = sums.cells(tree.leaves.len() * dim);
        let mut coords = Vec::with_capacity(sums.len());
        let leaves = tree.leaves.iter().zip(sums.view().chunks(dim));
        for (part, ((leaf, sum), shape)) in (0..).zip(leaves.zip(shapes.of.chunks_exact(dim))) {
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
        let counts = tree.leaves.iter().map(|leaf| leaf.noisy_count).collect();
        Clustering::new(Points::new(coords, dim).expect("one row per leaf"), counts)
    }
}

/// Middle and half-width of every leaf in every dimension, in half-cells of the grid.
struct Shapes {
    of: Vec<Shape>,
    dim: usize,
}

#[derive(Clone, Copy)]
struct Shape {
    middle: i64,
    radius: i64,
}

impl Shapes {
    fn new(leaves: &[Leaf], dim: usize, cells_per_bin: u32) -> Self {
        let shape = |leaf: usize, i| {
            let (middle, radius) = leaves[leaf].cell.middle_and_radius(i, cells_per_bin);
            Shape { middle, radius }
        };
        let of = (0..leaves.len()).flat_map(|leaf| (0..dim).map(move |i| (leaf, i)));
        Self { of: of.map(|(leaf, i)| shape(leaf, i)).collect(), dim }
    }

    /// Per leaf, the sum of its points' offsets from its middle: at most `2^19` half-cells each.
    fn sum(&self, points: PointsView<'_>, grid: &FixedPointGrid, leaf_of: &[u16]) -> Vec<i64> {
        let dim = self.dim;
        sum_rows(
            points,
            self.of.len(),
            || (),
            |(), number, row, sums| {
                let here = usize::from(leaf_of[number]) * dim;
                let (sums, shapes) = (&mut sums[here..][..dim], &self.of[here..][..dim]);
                for (i, (sum, (&x, shape))) in
                    sums.iter_mut().zip(row.iter().zip(shapes)).enumerate()
                {
                    *sum += 2 * i64::from(grid.cell(i, x)) + 1 - shape.middle;
                }
            },
        )
    }
}
