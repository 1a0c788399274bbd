//! The nearest centre, found from one that is likely to be it.

use super::{CentreTable, NearestCentre, rounding_slack, squared_distance};
use crate::points::PointsView;

/// Centres, and how far around each of them no other one can be nearer.
///
/// A hint changes the time only: the answer is that of [`NearestCentre::two_nearest`] on all centres, bit for bit. With a good one a point
/// costs one distance where clusters lie apart, and about half of all distances where they touch.
#[derive(Clone, Debug)]
pub struct HintedTable {
    table: CentreTable,
    /// Row-major.
    rows: Vec<f64>,
    dim: usize,
    /// Of each centre, the square of half the way to the next one, less a margin for rounding.
    reach: Vec<f64>,
}

impl HintedTable {
    /// A table of these centres.
    pub fn new(centres: PointsView<'_>) -> Self {
        let (table, dim) = (CentreTable::new(centres), centres.dim());
        let shrink = 0.25 * (1.0 - rounding_slack(dim));
        let reach = |centre| shrink * table.two_nearest(centre).second_squared;
        let reach = centres.rows().map(reach).collect();
        Self { table, rows: centres.coords().to_vec(), dim, reach }
    }

    /// The number of centres.
    pub fn len(&self) -> usize {
        self.reach.len()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.reach.is_empty()
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
        let squared = squared_distance(point, self.centre(hint as usize));
        if squared < self.reach[hint as usize] {
            return (hint, squared);
        }
        // What is infinitely far, or no number, is no better than the first centre at infinity.
        let start = if squared < f64::INFINITY { (hint, squared) } else { (0, f64::INFINITY) };
        self.table.nearest_below(point, start)
    }
}
