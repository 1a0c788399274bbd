//! Buckets of nearby records: cells of randomly shifted grids.

use std::collections::BTreeMap;

use dp_geometry::{NestedGrid, PointsView, PublicBox};
use rand::RngExt;
use rand::rngs::ChaCha20Rng;
use rayon::prelude::*;

use crate::ClusterError;
use crate::table::rows_per_task;

/// A cell, dimension by dimension.
pub(crate) type Key = Vec<u32>;

/// Grids inside of each other, moved by a public random vector of up to one box.
///
/// Two records that are farther apart than the diagonal of a cell never share one; a ball whose diameter is a share `s` of a cell's side is
/// uncut with probability at least `(1 - s)^d`.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct ShiftedGrid {
    public_box: PublicBox,
    nested: NestedGrid,
}

impl ShiftedGrid {
    /// The finest level: sides of `2^-19` of the box.
    pub(crate) const MAX_LEVEL: u32 = 20;

    /// A grid over a box of twice the size, whose lower corner is up to one box below that of the public box.
    pub(crate) fn new(public_box: PublicBox, rng: &mut ChaCha20Rng) -> Result<Self, ClusterError> {
        let corner = |i: usize, shift: f64| public_box.min(i) - shift * public_box.width(i);
        let shifts: Vec<f64> = (0..public_box.dim()).map(|_| rng.random()).collect();
        let min: Vec<f64> = shifts.iter().enumerate().map(|(i, s)| corner(i, *s)).collect();
        let max = shifts.iter().enumerate().map(|(i, s)| corner(i, s - 2.0)).collect();
        let nested = NestedGrid::new(PublicBox::new(min, max)?)?;
        Ok(Self { public_box, nested })
    }

    /// The side of a cell as a share of the box.
    pub(crate) fn side(level: u32) -> f64 {
        2.0 * 0.5_f64.powi(i32::try_from(level).unwrap_or(i32::MAX))
    }

    /// Half of the diagonal of a cell: no record of it is farther from its middle.
    pub(crate) fn half_diagonal(&self, level: u32) -> f64 {
        0.25 * self.nested.public_box().diagonal() * Self::side(level)
    }

    /// The middle of a cell, which may be outside of the public box.
    pub(crate) fn middle(&self, key: &[u32], level: u32) -> Vec<f64> {
        self.nested.middle(key, level)
    }

    /// The cells of all records at a level, each record moved into the public box first.
    pub(crate) fn keys(&self, points: PointsView<'_>, level: u32) -> Keys {
        let dim = points.dim();
        let mut cells = vec![0; points.coords().len()];
        let rows = rows_per_task(points.len());
        let tasks = cells.par_chunks_mut(rows * dim).zip(points.coords().par_chunks(rows * dim));
        tasks.for_each(|(cells, coords)| {
            let (mut clipped, mut positions) = (vec![0.0; dim], vec![0; dim]);
            for (cell, row) in cells.chunks_exact_mut(dim).zip(coords.chunks_exact(dim)) {
                crate::located::clip_into(&self.public_box, row, &mut clipped);
                self.nested.positions(&clipped, &mut positions);
                self.nested.key(&positions, level, cell);
            }
        });
        Keys { cells, dim }
    }
}

/// The cell of each record.
pub(crate) struct Keys {
    cells: Vec<u32>,
    dim: usize,
}

impl Keys {
    pub(crate) fn row(&self, record: usize) -> &[u32] {
        &self.cells[record * self.dim..][..self.dim]
    }

    fn len(&self) -> usize {
        self.cells.len() / self.dim
    }

    /// How many of the records that count are in each cell.
    pub(crate) fn counts(&self, counted: impl Fn(usize) -> bool) -> BTreeMap<Key, u64> {
        let mut order: Vec<usize> = (0..self.len()).filter(|record| counted(*record)).collect();
        order.par_sort_unstable_by(|&a, &b| self.row(a).cmp(self.row(b)));
        let groups = order.chunk_by(|&a, &b| self.row(a) == self.row(b));
        groups.map(|group| (self.row(group[0]).to_vec(), group.len() as u64)).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{adversarial, rng};

    /// Records of one cell are no farther apart than its diagonal, levels are inside of each other, and every record is counted once.
    #[test]
    fn cells_hold_what_is_near() {
        for dim in [1, 2, 5] {
            let public_box = PublicBox::cube(dim, -10.0, 10.0).expect("valid");
            let grid = ShiftedGrid::new(public_box.clone(), &mut rng(1)).expect("valid");
            for (name, points) in adversarial(dim, 100) {
                for level in [1, 3, ShiftedGrid::MAX_LEVEL] {
                    let keys = grid.keys(points.view(), level);
                    let above = grid.keys(points.view(), level - 1);
                    for (record, row) in points.view().rows().enumerate() {
                        let mut row = row.to_vec();
                        public_box.clip(&mut row).expect("as many coordinates");
                        let middle = grid.middle(keys.row(record), level);
                        let far = crate::nearest::squared_distance(&row, &middle).sqrt();
                        assert!(far <= grid.half_diagonal(level) * (1.0 + 1e-9), "{name}");
                        let up: Key = keys.row(record).iter().map(|k| k >> 1).collect();
                        assert_eq!(above.row(record), up, "{name}");
                    }
                    let counts = keys.counts(|_| true);
                    assert_eq!(counts.values().sum::<u64>(), points.len() as u64, "{name}");
                    assert_eq!(keys.counts(|_| false).len(), 0, "{name}");
                }
            }
        }
    }

    /// A ball whose diameter is a quarter of a side over the dimension stays whole in at least half of all grids: (1 - 1 / 2d)^d.
    #[test]
    fn a_small_ball_is_rarely_cut() {
        let dim = 3;
        let public_box = PublicBox::cube(dim, 0.0, 1.0).expect("valid");
        let radius = ShiftedGrid::side(3) / (4.0 * dim as f64);
        let corners = [0.4 - radius, 0.4 + radius].map(|x| vec![x; dim]).concat();
        let ends = dp_geometry::Points::new(corners, dim).expect("two rows");
        let mut rng = rng(2);
        let whole = (0..400).filter(|_| {
            let grid = ShiftedGrid::new(public_box.clone(), &mut rng).expect("valid");
            let keys = grid.keys(ends.view(), 3);
            keys.row(0) == keys.row(1)
        });
        // (5/6)^3 = .5787, standard deviation .0247; the seed is pinned.
        let share = whole.count() as f64 / 400.0;
        assert!((share - 0.5787).abs() < 0.1, "{share}");
    }
}
