//! The centres: noisy means of the leaves.

use dp_geometry::{FixedPointGrid, Points, PointsView};
use dp_mechanism::Draws;
use rayon::prelude::*;

use super::Dpm;
use super::bins::{cells_per_bin, rows_per_piece};
use super::mechanism::Clustering;
use super::plan::Grown;
use super::tree::Tree;

impl Dpm {
    /// Sums the offsets from the middle of each leaf's cell, adds noise to every leaf, empty or
    /// not, divides by the noisy count and clips to the cell.
    pub(super) fn centres(
        &self,
        points: PointsView<'_>,
        grown: &Grown,
        draws: &mut Draws<'_>,
    ) -> Clustering {
        let dim = points.dim();
        let Grown { tree, grid, half_intervals } = grown;
        let shapes = Shapes::new(tree, dim, cells_per_bin(grid, *half_intervals));
        let mut sums = shapes.sum(points, grid, &tree.leaf_of);
        let mut coords = Vec::with_capacity(sums.len());
        for (leaf, (sum, shape)) in
            tree.leaves.iter().zip(sums.chunks_exact_mut(dim).zip(shapes.of.chunks_exact(dim)))
        {
            // Offsets are at most radius - 1 half-cells, since a point is the middle of its cell.
            let length_squared = shape.iter().map(|s| (s.radius - 1).max(0).pow(2)).sum::<i64>();
            let sum = self.sums.release(&*sum, length_squared.unsigned_abs(), draws);
            for (i, (&sum, shape)) in sum.iter().zip(shape).enumerate() {
                let radius = shape.radius as f64;
                let mean = (sum as f64 / leaf.noisy_count as f64).clamp(-radius, radius);
                let centre = grid.coordinate(i, f64::midpoint(shape.middle as f64, mean));
                // The conversion can round to just outside of the box.
                coords.push(grid.public_box().clip_coordinate(i, centre));
            }
        }
        Clustering {
            centres: Points::new(coords, dim).expect("one row per leaf"),
            counts: tree.leaves.iter().map(|leaf| leaf.noisy_count).collect(),
        }
    }
}

/// Middle and half-width of every leaf in every dimension, in half-cells of the grid.
struct Shapes {
    of: Vec<Shape>,
    leaves: usize,
    dim: usize,
}

#[derive(Clone, Copy)]
struct Shape {
    middle: i64,
    radius: i64,
}

impl Shapes {
    fn new(tree: &Tree, dim: usize, cells_per_bin: u32) -> Self {
        let shape = |leaf: usize, i| {
            let (middle, radius) = tree.leaves[leaf].cell.middle_and_radius(i, cells_per_bin);
            Shape { middle, radius }
        };
        let leaves = tree.leaves.len();
        let of = (0..leaves).flat_map(|leaf| (0..dim).map(move |i| (leaf, i)));
        Self { of: of.map(|(leaf, i)| shape(leaf, i)).collect(), leaves, dim }
    }

    /// Per leaf, the sum of its points' offsets from its middle: at most `2^19` half-cells each.
    fn sum(&self, points: PointsView<'_>, grid: &FixedPointGrid, leaf_of: &[u16]) -> Vec<i64> {
        let dim = self.dim;
        let rows_per_piece = rows_per_piece(leaf_of.len());
        points
            .coords()
            .par_chunks(rows_per_piece * dim)
            .zip(leaf_of.par_chunks(rows_per_piece))
            .map(|(coords, leaf_of)| {
                let mut sums = vec![0_i64; self.leaves * dim];
                for (row, &leaf) in coords.chunks_exact(dim).zip(leaf_of) {
                    let here = usize::from(leaf) * dim;
                    let sums = &mut sums[here..here + dim];
                    let shapes = &self.of[here..here + dim];
                    for (i, (sum, (&x, shape))) in
                        sums.iter_mut().zip(row.iter().zip(shapes)).enumerate()
                    {
                        *sum += 2 * i64::from(grid.cell(i, x)) + 1 - shape.middle;
                    }
                }
                sums
            })
            .reduce_with(|mut a, b| {
                a.iter_mut().zip(b).for_each(|(a, b)| *a += b);
                a
            })
            .unwrap_or_else(|| vec![0; self.leaves * dim])
    }
}
