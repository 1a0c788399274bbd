//! Which of some public centres is nearest to a point: exactly, and the same whichever way it is found.

mod hinted;
mod table;
#[cfg(test)]
mod tests;
mod tree;

pub use hinted::HintedTable;
pub use table::CentreTable;
pub use tree::CentreTree;

/// Exact search for the nearest centre.
///
/// Whatever implements this gives the same answers, bit for bit: each distance is one sum of squares in
/// the order of the dimensions ([`squared_distance`]), and ties go to the lowest index. A point with a
/// NaN or an infinite coordinate is infinitely far from all centres and belongs to the first; a centre
/// with one is never the nearest.
///
/// A private algorithm may use the label of one record relative to public centres, and nothing else of
/// what this returns.
///
/// # Example
/// ```
/// use dp_geometry::nearest::{CentreTable, CentreTree, NearestCentre};
/// use dp_geometry::Points;
///
/// let centres = Points::new(vec![0.0, 10.0], 1)?;
/// let found = CentreTable::new(centres.view()).two_nearest(&[5.0]); // a tie
/// assert_eq!((found.label, found.squared, found.second_squared), (0, 25.0, 25.0));
/// assert_eq!(CentreTree::new(centres.view()).two_nearest(&[5.0]), found);
/// # Ok::<(), dp_geometry::GeometryError>(())
/// ```
pub trait NearestCentre {
    /// The number of centres.
    fn len(&self) -> usize;

    /// Whether there is none.
    fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The nearest centre and the distance of the second nearest. Without centres the label is 0 and
    /// both distances are infinite.
    ///
    /// Coordinates beyond the dimension of the centres are not looked at.
    ///
    /// # Panics
    /// If the point has fewer coordinates than the centres.
    fn two_nearest(&self, point: &[f64]) -> TwoNearest;
}

/// The nearest centre, and how far away the runner-up is.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct TwoNearest {
    /// Index of the nearest centre, the lowest in a tie.
    pub label: u32,
    /// Squared distance to it.
    pub squared: f64,
    /// Squared distance to the second nearest.
    pub second_squared: f64,
}

impl TwoNearest {
    /// Before any centre was seen.
    const NONE: Self = Self { label: 0, squared: f64::INFINITY, second_squared: f64::INFINITY };
}

/// Squared distance of two points, summed in the order of the dimensions.
#[inline]
pub fn squared_distance(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).fold(0.0, |sum, (x, y)| sum + (x - y) * (x - y))
}

/// The same of four pairs, so that the processor does not wait for one sum while it could work on another.
///
/// All of them end where the shortest of these points ends.
#[inline]
pub fn four_squared_distances(a: [&[f64]; 4], b: [&[f64]; 4]) -> [f64; 4] {
    let ([a0, a1, a2, a3], [b0, b1, b2, b3]) = (a, b);
    let two = a0.iter().zip(b0).zip(a1.iter().zip(b1));
    let others = a2.iter().zip(b2).zip(a3.iter().zip(b3));
    let mut sums = [0.0; 4];
    for (((x0, y0), (x1, y1)), ((x2, y2), (x3, y3))) in two.zip(others) {
        for (sum, difference) in sums.iter_mut().zip([x0 - y0, x1 - y1, x2 - y2, x3 - y3]) {
            *sum += difference * difference;
        }
    }
    sums
}

/// A relative margin that covers the rounding of a few squared distances in `dim` dimensions.
///
/// One of them is off by a factor of at most `1 +- (dim + 2) 2^-53`. A shortcut through the triangle
/// inequality that leaves this margin cannot change which centre the plain computation picks.
pub fn rounding_slack(dim: usize) -> f64 {
    4.0 * (dim as f64 + 16.0) * f64::EPSILON
}
