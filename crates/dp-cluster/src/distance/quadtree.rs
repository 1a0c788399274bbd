//! More centres than are wanted, and cruder ones: heavy cells of shifted quadtrees.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use dp_geometry::{Points, PointsView, PublicBox};
use dp_mechanism::{Draws, Private, StableHistogram};
use rand::rngs::ChaCha20Rng;

use crate::ClusterError;
use crate::nearest::squared_distance;
use crate::private_centres::ShiftedGrid;

/// Randomly shifted quadtrees over twice the public box, whose coarse cells are counted on noised points and whose fine ones on records.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Quadtrees {
    public_box: PublicBox,
    trees: Vec<ShiftedGrid>,
    /// The last level that is counted on noised points, and the last of all; cells of level 0 have a side of four boxes.
    levels: [u32; 2],
    /// Cells that are taken of every level.
    heaviest: usize,
    /// No two crude centres are nearer to each other.
    spacing: f64,
    /// Of all cells of fine levels in all trees together.
    pub(super) histogram: StableHistogram,
}

/// Which tree and level a cell is of, and where it is.
type Cell = (usize, u32, Vec<u32>);

impl Quadtrees {
    pub(super) const MAX_LEVEL: u32 = ShiftedGrid::MAX_LEVEL;

    /// Of a record that moves, two cells change in every fine level of every tree.
    pub(super) fn keys(repetitions: u32, levels: [u32; 2]) -> u32 {
        2 * repetitions * (levels[1] - levels[0])
    }

    pub(super) fn new(
        public_box: &PublicBox,
        [repetitions, heaviest]: [usize; 2],
        levels: [u32; 2],
        spacing: f64,
        histogram: StableHistogram,
        shifts: &mut ChaCha20Rng,
    ) -> Result<Self, ClusterError> {
        let doubled = twice(public_box)?;
        let trees = (0..repetitions).map(|_| ShiftedGrid::new(doubled.clone(), shifts));
        let trees = trees.collect::<Result<_, _>>()?;
        Ok(Self { public_box: public_box.clone(), trees, levels, heaviest, spacing, histogram })
    }

    /// The middles of the heaviest cells of all levels, moved into the box, without those that are near to another one.
    ///
    /// Where noise is small against a cell, the heaviest are found on noised points, for free; where it is not, on noisy counts of records.
    pub(super) fn release(
        &self,
        points: Private<PointsView<'_>>,
        noised: PointsView<'_>,
        draws: &mut Draws<'_>,
    ) -> Points {
        let [coarse, finest] = self.levels;
        let fine = points.map(|points| self.cells(points, coarse + 1..=finest));
        let kept = self.histogram.release(fine.as_ref(), draws);
        let counted =
            self.cells(noised, 0..=coarse).into_iter().map(|(cell, n)| (cell, n.cast_signed()));
        // From the finest level up: its cells say best where records are.
        let mut levels: BTreeMap<_, Vec<(i64, Vec<u32>)>> = BTreeMap::new();
        for ((tree, level, key), count) in counted.chain(kept) {
            levels.entry((Reverse(level), tree)).or_default().push((count, key));
        }
        let mut centres: Vec<Vec<f64>> = Vec::new();
        for ((Reverse(level), tree), mut cells) in levels {
            cells.sort_by(|a, b| b.0.cmp(&a.0).then_with(|| a.1.cmp(&b.1)));
            for (_, key) in cells.iter().take(self.heaviest) {
                let mut middle = self.trees[tree].middle(key, level);
                self.public_box.clip(&mut middle).expect("as many coordinates");
                let near = self.spacing * self.spacing;
                if centres.iter().all(|centre| squared_distance(centre, &middle) > near) {
                    centres.push(middle);
                }
            }
        }
        Points::new(centres.concat(), self.public_box.dim()).expect("whole rows")
    }

    /// How many of the points are in each cell of these levels.
    fn cells(
        &self,
        points: PointsView<'_>,
        levels: std::ops::RangeInclusive<u32>,
    ) -> BTreeMap<Cell, u64> {
        let mut cells = BTreeMap::new();
        for (number, tree) in self.trees.iter().enumerate() {
            for level in levels.clone() {
                let counts = tree.keys(points, level).counts(|_| true);
                cells.extend(counts.into_iter().map(|(key, n)| ((number, level, key), n)));
            }
        }
        cells
    }
}

/// The box of twice the size around the same middle, in which noised points are.
fn twice(public_box: &PublicBox) -> Result<PublicBox, ClusterError> {
    let bound = |i: usize, from: f64, sign: f64| from + sign * 0.5 * public_box.width(i);
    let dims = 0..public_box.dim();
    let min = dims.clone().map(|i| bound(i, public_box.min(i), -1.0)).collect();
    let max = dims.map(|i| bound(i, public_box.max(i), 1.0)).collect();
    Ok(PublicBox::new(min, max)?)
}
