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

/// A relative margin that covers the rounding of a few squared distances in `dim` dimensions.
///
/// One of them is off by a factor of at most `1 +- (dim + 2) 2^-53`. A shortcut through the triangle
/// inequality that leaves this margin cannot change which centre the plain computation picks.
pub fn rounding_slack(dim: usize) -> f64 {
    4.0 * (dim as f64 + 16.0) * f64::EPSILON
}
