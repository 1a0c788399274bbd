//! Which cell each record is in: its nearest centre, a ring around it, and a side of each of a few hyperplanes.

use dp_geometry::lsh::SignProjections;
use dp_geometry::{PointsView, PublicBox};
use serde::{Deserialize, Serialize};

use super::RingRounds;
use super::round::LENGTH_SQUARED;
use crate::buckets::Buckets;
use crate::inside::Inside;
use crate::located::Located;
use crate::passes::add_up;
use crate::recentring::{Labeller, Labels};
use crate::residual::{UNITS, add_residual};
use crate::sized_sum::NO_GROUP;
use crate::table::sum_rows;

/// Rings around a centre up to the diagonal of the box that nearly all records are in.
pub(super) const RINGS: usize = 22;
/// With those beyond it, up to the diagonal of the public box: a box found has no less than a `2^49`th of its width.
const MOST_RINGS: usize = 80;

/// Most cells of a round, unless there are so many centres that their rings are more: what has to fit memory.
pub(super) const MOST_CELLS: usize = 1 << 24;

/// The radii at which rings end, ascending: halves of a diagonal within which nearly all records are, and twice it and so on up to that of the public box.
pub(super) fn ring_radii(nearly_all: f64, public_box: &PublicBox) -> Vec<f64> {
    let diagonal = public_box.diagonal();
    let near = (0..RINGS).rev().map(|halvings| nearly_all / (1_u64 << halvings) as f64);
    let doubled = std::iter::successors(Some(nearly_all), |radius| Some(2.0 * radius));
    let beyond = doubled.take_while(|radius| *radius < diagonal);
    let beyond = beyond.map(|radius| (2.0 * radius).min(diagonal));
    near.chain(beyond.take(MOST_RINGS - RINGS)).collect()
}

/// How many records are in each cell: released values and public numbers only.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct RingCells {
    pub(crate) labels: Labels,
    /// The diagonal of the box that nearly all records are in.
    pub(super) nearly_all: f64,
    /// Normal vectors of hyperplanes, row-major.
    pub(super) normals: Vec<f64>,
    /// How many of them cut the rings of each centre.
    pub(super) planes: Vec<usize>,
}

impl RingCells {
    pub(crate) fn dim(&self) -> usize {
        self.labels.dim()
    }

    pub(crate) fn entries(&self) -> usize {
        let rings = self.radii().len();
        self.planes.iter().fold(0, |all, &planes| all.saturating_add(cells_of(rings, planes)))
    }

    fn radii(&self) -> Vec<f64> {
        ring_radii(self.nearly_all, &self.labels.public_box)
    }

    /// None if this is no question of a plan.
    pub(crate) fn layout(&self) -> Option<Layout> {
        let (dim, centres) = (self.labels.dim(), self.labels.centres().len());
        let normals = PointsView::new(&self.normals, dim).ok()?;
        let hyperplanes = SignProjections::new(normals).ok()?;
        let most = self.planes.iter().copied().max()?;
        let fits = most == 0 || self.entries() <= MOST_CELLS;
        let are_there = most <= RingRounds::MAX_PLANES.min(hyperplanes.planes());
        let radii = self.radii();
        let is_covered = radii.last() == Some(&self.labels.public_box.diagonal());
        if self.planes.len() != centres || !fits || !are_there || !is_covered {
            return None;
        }
        let rings = radii.len();
        let mut first = vec![0];
        first.extend(self.planes.iter().scan(0, |end, &planes| {
            *end += cells_of(rings, planes);
            Some(*end)
        }));
        Some(Layout {
            dim,
            centres: self.labels.centres().coords().to_vec(),
            ends: Buckets::new(radii),
            hyperplanes,
            planes: self.planes.clone(),
            first,
        })
    }

    pub(crate) fn counter(&self) -> Option<CellCounter> {
        let (labeller, layout) = (self.labels.labeller()?, self.layout()?);
        Some(CellCounter { labeller, layout })
    }

    /// A record is in one cell.
    pub(crate) fn is_possible(rows: u64, entries: &[i64]) -> bool {
        add_up(entries) == Some(rows)
    }
}

/// Cells of one centre whose rings so many hyperplanes cut; more than there may be for more than there are.
fn cells_of(rings: usize, planes: usize) -> usize {
    if planes <= RingRounds::MAX_PLANES { rings << planes } else { usize::MAX }
}

/// Where the cells of one round are.
pub(crate) struct Layout {
    dim: usize,
    centres: Vec<f64>,
    ends: Buckets,
    hyperplanes: SignProjections,
    /// How many hyperplanes cut the rings of each centre.
    pub(super) planes: Vec<usize>,
    /// The first cell of each centre, and the number of all cells.
    first: Vec<usize>,
}

impl Layout {
    /// The number of cells.
    pub(super) fn len(&self) -> usize {
        self.first[self.planes.len()]
    }

    /// Around each centre.
    pub(super) fn rings(&self) -> usize {
        self.radii().len()
    }

    /// The radii at which rings end, ascending.
    pub(super) fn radii(&self) -> &[f64] {
        self.ends.radii()
    }

    pub(super) fn centre(&self, centre: usize) -> &[f64] {
        &self.centres[centre * self.dim..][..self.dim]
    }

    pub(super) fn centres(&self) -> PointsView<'_> {
        PointsView::new(&self.centres, self.dim).expect("whole rows")
    }

    /// The ring of records of the box at this distance from their centre.
    #[inline]
    pub(super) fn ring_at(&self, distance: f64) -> usize {
        // Rounding can put a corner of the box beyond its diagonal.
        self.ends.find(distance).min(self.rings() - 1)
    }

    /// The cells of one ring, next to each other.
    pub(super) fn ring(&self, centre: usize, ring: usize) -> std::ops::Range<usize> {
        let (start, cells) = (self.first[centre], 1 << self.planes[centre]);
        start + ring * cells..start + (ring + 1) * cells
    }

    /// The cells of all rings of each centre.
    pub(super) fn of_centres(&self) -> impl Iterator<Item = std::ops::Range<usize>> {
        self.first.windows(2).map(|ends| ends[0]..ends[1])
    }

    /// The cell of a point of the box of this centre at this distance.
    #[inline]
    pub(crate) fn cell(&self, (centre, distance): (usize, f64), point: &[f64]) -> usize {
        let ring = self.ring_at(distance);
        let code = match self.planes[centre] {
            0 => 0,
            planes => self.hyperplanes.key_around(self.centre(centre), point, planes),
        };
        self.ring(centre, ring).start + code as usize
    }
}

pub(crate) struct CellCounter {
    labeller: Labeller,
    layout: Layout,
}

impl CellCounter {
    /// The centre of a record, the distance to it, and its cell.
    #[inline]
    fn locate(&mut self, row: &[f64]) -> (usize, f64, usize) {
        let (centre, distance) = self.labeller.locate(row);
        (centre, distance, self.layout.cell((centre, distance), self.labeller.clipped()))
    }

    #[inline]
    pub(crate) fn add(&mut self, row: &[f64], entries: &mut [i64]) {
        let (_, _, cell) = self.locate(row);
        entries[cell] += 1;
    }
}

/// How many records are in each cell.
pub(crate) fn exact_counts(cells: &[u32], number: usize) -> Vec<i64> {
    let mut counts = vec![0; number];
    for &cell in cells {
        counts[cell as usize] += 1;
    }
    counts
}

/// Per group of cells, the sum of residuals in units of `2^-20` of its radius; no record adds more than one radius.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct GroupSums {
    pub(crate) cells: RingCells,
    /// [`NO_GROUP`] where a cell is in none.
    pub(super) of_cell: Vec<u32>,
    /// The radius that residuals of each group are clipped to.
    pub(super) radii: Vec<f64>,
}

impl GroupSums {
    pub(crate) fn entries(&self) -> usize {
        self.radii.len().saturating_mul(self.cells.dim())
    }

    pub(crate) fn counter(&self) -> Option<GroupCounter> {
        let (located, groups) = (self.cells.counter()?, self.radii.len());
        let is_one = |&group: &u32| group == NO_GROUP || (group as usize) < groups;
        let fits = self.of_cell.len() == located.layout.len() && self.of_cell.iter().all(is_one);
        let (of_cell, radii) = (self.of_cell.clone(), self.radii.clone());
        fits.then_some(GroupCounter { located, of_cell, radii })
    }

    /// A record adds at most one radius to each coordinate, of one group at most.
    pub(crate) fn is_possible(&self, rows: u64, entries: &[i64]) -> bool {
        let at_least = |sum: &[i64]| {
            let most = sum.iter().map(|units| units.unsigned_abs()).max().unwrap_or(0);
            most.div_ceil(UNITS.unsigned_abs())
        };
        let groups = entries.chunks(self.cells.dim()).map(at_least);
        groups.fold(0_u64, u64::saturating_add) <= rows
    }

    /// The answer of records that have been located.
    pub(crate) fn sums(&self, located: &Located<'_>, inside: &Inside, cells: &[u32]) -> Vec<i64> {
        const { assert!(LENGTH_SQUARED < 1 << 60) };
        let Located { points, labels, distances } = located;
        let (dim, centres) = (points.dim(), self.cells.labels.centres());
        let room = || vec![0.0; dim];
        sum_rows(*points, self.entries(), room, |room, number, row, sums| {
            let group = self.of_cell[cells[number] as usize];
            if group != NO_GROUP {
                let at = (&centres[labels[number] as usize], distances[number]);
                add_row(inside.point(number, row, room), at, (group, &self.radii), sums);
            }
        })
    }
}

pub(crate) struct GroupCounter {
    located: CellCounter,
    of_cell: Vec<u32>,
    radii: Vec<f64>,
}

impl GroupCounter {
    #[inline]
    pub(crate) fn add(&mut self, row: &[f64], entries: &mut [i64]) {
        let (centre, distance, cell) = self.located.locate(row);
        let group = self.of_cell[cell];
        if group != NO_GROUP {
            let clipped = self.located.labeller.clipped();
            let at = (self.located.layout.centre(centre), distance);
            add_row(clipped, at, (group, &self.radii), entries);
        }
    }
}

/// Adds a point of the box to the sum of its group.
#[inline]
fn add_row(
    clipped: &[f64],
    (centre, distance): (&[f64], f64),
    (group, radii): (u32, &[f64]),
    sums: &mut [i64],
) {
    let (group, dim) = (group as usize, clipped.len());
    add_residual(clipped, centre, distance, radii[group], &mut sums[group * dim..][..dim]);
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Each ring ends further out than the one before, and the last at the diagonal, where a distance in the box ends too.
    #[test]
    fn rings_end_at_the_diagonal_however_narrow_the_part_is() {
        for half in [1.0, 1e-60, 1e70] {
            let public_box = PublicBox::cube(3, -half, half).expect("valid");
            let diagonal = public_box.diagonal();
            for part in [1.0, 0.7, 0.5, 0.5_f64.next_down(), 0.026, 1e-9, 2_f64.powi(-49)] {
                let radii = ring_radii(part * diagonal, &public_box);
                assert!(radii.is_sorted_by(|a, b| a < b) && radii.len() < MOST_RINGS);
                assert_eq!(radii.last().map(|last| last.to_bits()), Some(diagonal.to_bits()));
                assert_eq!(radii[RINGS - 1].to_bits(), (part * diagonal).to_bits());
            }
            // No run of a plan asks for more rings.
            assert_eq!(ring_radii(1e-30 * diagonal, &public_box).len(), MOST_RINGS);
        }
    }
}
