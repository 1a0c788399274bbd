//! Which cell each record is in: its nearest centre, a ring around it, and a side of each of a few hyperplanes.

use dp_geometry::{PointsView, PublicBox};
use rayon::prelude::*;

use super::round::LENGTH_SQUARED;
use crate::located::{Located, clip_into};
use crate::residual::clip_residual;
use crate::sized_sum::NO_GROUP;
use crate::table::{rows_per_task, sum_rows};
use dp_geometry::lsh::SignProjections;

/// Rings around a centre; the last ends at the diagonal of the box.
pub(super) const RINGS: usize = 22;

/// The radii at which rings end, ascending.
pub(super) fn ring_radii(public_box: &PublicBox) -> Vec<f64> {
    let diagonal = public_box.diagonal();
    (0..RINGS).rev().map(|halvings| diagonal / (1_u64 << halvings) as f64).collect()
}

/// The cells of one round: released values and public numbers only.
pub(super) struct Layout<'a> {
    pub(super) centres: PointsView<'a>,
    pub(super) radii: &'a [f64],
    pub(super) hyperplanes: &'a SignProjections,
    /// How many hyperplanes cut the rings of each centre.
    pub(super) planes: Vec<usize>,
    /// The first cell of each centre, and the number of all cells.
    pub(super) first: Vec<usize>,
}

impl<'a> Layout<'a> {
    pub(super) fn new(
        centres: PointsView<'a>,
        radii: &'a [f64],
        hyperplanes: &'a SignProjections,
        planes: Vec<usize>,
    ) -> Self {
        let mut first = vec![0];
        first.extend(planes.iter().scan(0, |end, planes| {
            *end += RINGS << planes;
            Some(*end)
        }));
        Self { centres, radii, hyperplanes, planes, first }
    }

    /// The number of cells.
    pub(super) fn len(&self) -> usize {
        self.first[self.planes.len()]
    }

    /// The cells of one ring, next to each other.
    pub(super) fn ring(&self, centre: usize, ring: usize) -> std::ops::Range<usize> {
        let (start, cells) = (self.first[centre], 1 << self.planes[centre]);
        start + ring * cells..start + (ring + 1) * cells
    }

    /// The cell of each record: a function of that record and of released values. Records outside of the box count as moved into it.
    pub(super) fn cells(&self, located: &Located<'_>, public_box: &PublicBox) -> Vec<u32> {
        let Located { points, labels, distances } = located;
        let (dim, rows) = (points.dim(), rows_per_task(points.len()));
        let mut cells = vec![0; points.len()];
        cells
            .par_chunks_mut(rows)
            .zip(labels.par_chunks(rows).zip(distances.par_chunks(rows)))
            .zip(points.coords().par_chunks(rows * dim))
            .for_each(|((cells, (labels, distances)), rows)| {
                let mut residual = vec![0.0; dim];
                let places = labels.iter().zip(distances);
                for ((cell, (&label, &distance)), row) in
                    cells.iter_mut().zip(places).zip(rows.chunks_exact(dim))
                {
                    let centre = label as usize;
                    // Rounding can put a corner of the box beyond its diagonal.
                    let ring = self.radii.partition_point(|&r| r < distance).min(RINGS - 1);
                    let mut code = 0;
                    if self.planes[centre] > 0 {
                        clip_into(public_box, row, &mut residual);
                        for (x, c) in residual.iter_mut().zip(self.centres.row(centre)) {
                            *x -= c;
                        }
                        code = self.hyperplanes.key(&residual, self.planes[centre]) as usize;
                    }
                    #[allow(clippy::cast_possible_truncation, reason = "2^24, or 22 per centre")]
                    {
                        *cell = (self.ring(centre, ring).start + code) as u32;
                    }
                }
            });
        cells
    }
}

/// How many records are in each cell.
pub(super) fn exact_counts(cells: &[u32], number: usize) -> Vec<i64> {
    let mut counts = vec![0; number];
    for &cell in cells {
        counts[cell as usize] += 1;
    }
    counts
}

/// Per group, the sum of residuals in units of `2^-20` of its ring's radius; no record adds more than one radius.
pub(super) fn exact_sums(
    (located, cells): (&Located<'_>, &[u32]),
    public_box: &PublicBox,
    centres: PointsView<'_>,
    group_of_cell: &[u32],
    radii_of_groups: &[f64],
) -> Vec<i64> {
    const { assert!(LENGTH_SQUARED < 1 << 60) };
    let Located { points, labels, distances } = located;
    let dim = points.dim();
    let scratch = || (vec![0.0; dim], vec![0_i32; dim]);
    let size = radii_of_groups.len() * dim;
    sum_rows(*points, size, scratch, |(clipped, units), number, row, sums| {
        let group = group_of_cell[cells[number] as usize];
        if group != NO_GROUP {
            clip_into(public_box, row, clipped);
            let (centre, group) = (centres.row(labels[number] as usize), group as usize);
            clip_residual(clipped, centre, distances[number], radii_of_groups[group], units);
            for (sum, &unit) in sums[group * dim..][..dim].iter_mut().zip(&*units) {
                *sum += i64::from(unit);
            }
        }
    })
}
