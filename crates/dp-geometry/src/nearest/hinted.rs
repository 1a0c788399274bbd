//! The nearest centre, found from one that is likely to be it.

use super::{CentreTable, NearestCentre, four_squared_distances, rounding_slack, squared_distance};
use crate::points::PointsView;

/// Of each centre, so many others are known by how near they are.
const NEIGHBOURS: usize = 16;

/// From so many centres on, a hint that is far off leads to a better one by way of neighbours, before all are looked at.
const MANY: usize = 8 * NEIGHBOURS;

/// Another centre, and the square of half the way to it, less a margin for rounding: it is farther than the first from every point nearer
/// to that one than this.
#[derive(Clone, Copy, Debug)]
struct Neighbour {
    reach: f64,
    label: u32,
}

/// Of no centre.
const NOBODY: Neighbour = Neighbour { reach: f64::INFINITY, label: 0 };

/// Centres, and which others are around each of them.
///
/// A hint changes the time only: the answer is that of [`NearestCentre::two_nearest`] on all centres, bit for bit. With a good one a point
/// costs one distance where clusters lie apart, and a few where they touch.
#[derive(Clone, Debug)]
pub struct HintedTable {
    table: CentreTable,
    /// Row-major.
    rows: Vec<f64>,
    dim: usize,
    /// Ascending by reach.
    neighbours: Vec<[Neighbour; NEIGHBOURS]>,
}

impl HintedTable {
    /// A table of these centres, in `O(k^2 d)`.
    pub fn new(centres: PointsView<'_>) -> Self {
        let dim = centres.dim();
        let shrink = 0.25 * (1.0 - rounding_slack(dim));
        let table = CentreTable::new(centres);
        let mut squares = vec![0.0; table.padded_len()];
        let of_one = |(own, centre): (usize, &[f64])| {
            table.distances([centre], &mut squares);
            let mut nearest = [NOBODY; NEIGHBOURS];
            let others = (0..).zip(squares.iter().enumerate()).take(centres.len());
            for (label, (_, squared)) in others.filter(|(_, (place, _))| *place != own) {
                // A square that overflows is at least the largest number; a very small one may be all rounding, which no margin in proportion covers.
                let reach = shrink * squared.min(f64::MAX);
                let reach = if reach < f64::MIN_POSITIVE / f64::EPSILON { 0.0 } else { reach };
                if reach < nearest[NEIGHBOURS - 1].reach {
                    let at = nearest.partition_point(|known| known.reach <= reach);
                    nearest[at..].rotate_right(1);
                    nearest[at] = Neighbour { reach, label };
                }
            }
            nearest
        };
        let neighbours = centres.rows().enumerate().map(of_one).collect();
        Self { table, rows: centres.coords().to_vec(), dim, neighbours }
    }

    /// The number of centres.
    pub fn len(&self) -> usize {
        self.table.len()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.table.is_empty()
    }

    /// A centre.
    ///
    /// # Panics
    /// If there is no such centre.
    #[inline]
    pub fn centre(&self, label: usize) -> &[f64] {
        &self.rows[label * self.dim..][..self.dim]
    }

    /// The nearest centre, the lowest index in a tie, and its squared distance.
    ///
    /// # Panics
    /// If the hint is no centre, or the point has another number of coordinates.
    ///
    /// # Example
    /// ```
    /// use dp_geometry::nearest::HintedTable;
    /// use dp_geometry::Points;
    ///
    /// let centres = HintedTable::new(Points::new(vec![0.0, 10.0, 40.0], 1)?.view());
    /// for hint in 0..3 {
    ///     assert_eq!(centres.nearest_from(&[8.0], hint), (1, 4.0));
    /// }
    /// # Ok::<(), dp_geometry::GeometryError>(())
    /// ```
    #[inline]
    pub fn nearest_from(&self, point: &[f64], hint: u32) -> (u32, f64) {
        let point = &point[..self.dim];
        self.nearest_known(point, hint, squared_distance(point, self.centre(hint as usize)))
    }

    /// The same where the [squared distance](squared_distance) of the hint is known.
    ///
    /// # Panics
    /// If the hint is no centre, or the point has another number of coordinates.
    #[inline]
    pub fn nearest_known(&self, point: &[f64], hint: u32, squared: f64) -> (u32, f64) {
        let neighbours = &self.neighbours[hint as usize];
        if squared < neighbours[NEIGHBOURS - 1].reach {
            self.nearest_around(point, neighbours, (hint, squared))
        } else {
            self.nearest_far_off(point, (hint, squared))
        }
    }

    /// Where no centre but a neighbour can be nearer.
    #[inline]
    fn nearest_around(
        &self,
        point: &[f64],
        neighbours: &[Neighbour],
        own: (u32, f64),
    ) -> (u32, f64) {
        let mut best = own;
        for neighbour in neighbours.iter().take_while(|neighbour| own.1 >= neighbour.reach) {
            let squared = squared_distance(point, self.centre(neighbour.label as usize));
            if squared < best.1 || (squared <= best.1 && neighbour.label < best.0) {
                best = (neighbour.label, squared);
            }
        }
        best
    }

    /// Where any centre can be.
    fn nearest_far_off(&self, point: &[f64], mut own: (u32, f64)) -> (u32, f64) {
        while self.len() >= MANY {
            let nearer = self.nearest_neighbour(point, own);
            if nearer.1 >= own.1 || nearer.1.is_nan() {
                break;
            }
            own = nearer;
            let neighbours = &self.neighbours[own.0 as usize];
            if own.1 < neighbours[NEIGHBOURS - 1].reach {
                return self.nearest_around(point, neighbours, own);
            }
        }
        // What is infinitely far, or no number, is no better than the first centre at infinity.
        let start = if own.1 < f64::INFINITY { own } else { (0, f64::INFINITY) };
        self.table.nearest_below(point, start)
    }

    /// The nearest of a centre and its neighbours.
    fn nearest_neighbour(&self, point: &[f64], own: (u32, f64)) -> (u32, f64) {
        let mut best = own;
        for four in self.neighbours[own.0 as usize].as_chunks::<4>().0 {
            let rows = four.map(|neighbour| self.centre(neighbour.label as usize));
            let squared = four_squared_distances([point; 4], rows);
            for (neighbour, squared) in four.iter().zip(squared) {
                if squared < best.1 {
                    best = (neighbour.label, squared);
                }
            }
        }
        best
    }
}
