//! A closed axis-parallel box that everybody may know.

use serde::{Deserialize, Serialize};

use crate::error::GeometryError;

/// The domain `[min_0, max_0] x ... x [min_(d-1), max_(d-1)]` that the data is declared to lie in.
///
/// It is a **public argument**: chosen from what the columns mean, never computed from the records.
/// The tightest box around the data would publish its extreme records, whatever noise comes later.
///
/// Records outside are moved to the nearest point of the box, one coordinate at a time; see
/// [`clip_coordinate`](Self::clip_coordinate) for NaN and infinities.
///
/// # Shapes
/// `dim` sides, each of positive finite width. The diagonal is finite as well.
///
/// # Example
/// ```
/// use dp_geometry::PublicBox;
///
/// let ages_and_incomes = PublicBox::new(vec![0.0, 0.0], vec![120.0, 1e6])?;
/// let mut record = [131.0, f64::NAN];
/// ages_and_incomes.clip(&mut record)?;
/// assert_eq!(record, [120.0, 500_000.0]);
/// # Ok::<(), dp_geometry::GeometryError>(())
/// ```
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "PublicBoxFields")]
pub struct PublicBox {
    min: Vec<f64>,
    max: Vec<f64>,
}

/// The serialised form, before it is checked.
#[derive(Deserialize)]
#[serde(rename = "PublicBox")]
struct PublicBoxFields {
    min: Vec<f64>,
    max: Vec<f64>,
}

impl TryFrom<PublicBoxFields> for PublicBox {
    type Error = GeometryError;

    fn try_from(fields: PublicBoxFields) -> Result<Self, GeometryError> {
        Self::new(fields.min, fields.max)
    }
}

impl PublicBox {
    /// The most dimensions.
    pub const MAX_DIM: usize = 1 << 24;

    /// A box with its own bounds in each dimension.
    ///
    /// # Errors
    /// No dimension, lengths that differ, a NaN or infinite bound, `min >= max` (a side of zero
    /// width has no cells and is more likely a slip than a wish), or a width or diagonal that
    /// overflows. Each error names the dimension and its bounds.
    pub fn new(min: Vec<f64>, max: Vec<f64>) -> Result<Self, GeometryError> {
        if min.len() != max.len() {
            return Err(GeometryError::BoundsLength { min: min.len(), max: max.len() });
        }
        if min.is_empty() {
            return Err(GeometryError::ZeroDimension);
        }
        if min.len() > Self::MAX_DIM {
            return Err(GeometryError::Dimensions { dim: min.len() });
        }
        for (dimension, (&low, &high)) in min.iter().zip(&max).enumerate() {
            check_side(dimension, low, high)?;
        }
        let built = Self { min, max };
        if built.diagonal().is_infinite() {
            return Err(GeometryError::DiagonalOverflow { dim: built.dim() });
        }
        Ok(built)
    }

    /// The same bounds in every dimension.
    ///
    /// # Errors
    /// As [`PublicBox::new`].
    pub fn cube(dim: usize, min: f64, max: f64) -> Result<Self, GeometryError> {
        // Before so many bounds are written down.
        if dim > Self::MAX_DIM {
            return Err(GeometryError::Dimensions { dim });
        }
        Self::new(vec![min; dim], vec![max; dim])
    }

    /// Number of dimensions.
    #[inline]
    pub fn dim(&self) -> usize {
        self.min.len()
    }

    /// Lower bound in dimension `i`.
    ///
    /// # Panics
    /// If `i >= dim()`, here and in the other functions of one dimension.
    #[inline]
    pub fn min(&self, i: usize) -> f64 {
        self.min[i]
    }

    /// Upper bound in dimension `i`.
    #[inline]
    pub fn max(&self, i: usize) -> f64 {
        self.max[i]
    }

    /// `max - min` in dimension `i`; finite and positive.
    #[inline]
    pub fn width(&self, i: usize) -> f64 {
        self.max[i] - self.min[i]
    }

    /// Middle of side `i`, inside of the box whatever the rounding.
    #[inline]
    pub fn middle(&self, i: usize) -> f64 {
        (self.min[i] + 0.5 * self.width(i)).clamp(self.min[i], self.max[i])
    }

    /// Length of the diagonal, the largest distance between two points of the box.
    ///
    /// `(max - min) * sqrt(dim)` for a cube. Finite and positive.
    pub fn diagonal(&self) -> f64 {
        let widest = (0..self.dim()).map(|i| self.width(i)).fold(0.0, f64::max);
        // Scaled by the widest side, so that squares neither overflow nor vanish.
        let squares: f64 = (0..self.dim()).map(|i| (self.width(i) / widest).powi(2)).sum();
        widest * squares.sqrt()
    }

    /// Moves one coordinate into `[min, max]`.
    ///
    /// The rule is total: NaN becomes the middle of the side, an infinity becomes the nearest bound,
    /// anything else outside becomes the nearest bound.
    ///
    /// # Example
    /// ```
    /// # use dp_geometry::PublicBox;
    /// let domain = PublicBox::cube(1, 0.0, 10.0)?;
    /// assert_eq!(domain.clip_coordinate(0, 3.0), 3.0);
    /// assert_eq!(domain.clip_coordinate(0, f64::NEG_INFINITY), 0.0);
    /// assert_eq!(domain.clip_coordinate(0, f64::NAN), 5.0);
    /// # Ok::<(), dp_geometry::GeometryError>(())
    /// ```
    #[inline]
    pub fn clip_coordinate(&self, i: usize, x: f64) -> f64 {
        if x.is_nan() { self.middle(i) } else { x.clamp(self.min[i], self.max[i]) }
    }

    /// Writes the point of the box that a record counts as: [`clip_coordinate`](Self::clip_coordinate) of each, as far as `to` has room.
    #[inline]
    pub fn clip_to(&self, record: &[f64], to: &mut [f64]) {
        let bounds = self.min.iter().zip(&self.max);
        let mut odd = 0_u64;
        for ((to, &x), (&min, &max)) in to.iter_mut().zip(record).zip(bounds) {
            // Without a branch, so that two are clipped at once; NaN stays what it is.
            let at_least = if x < min { min } else { x };
            *to = if at_least > max { max } else { at_least };
            odd += u64::from(x.is_nan());
        }
        if odd > 0 {
            for (i, (to, &x)) in to.iter_mut().zip(record).enumerate().take(self.dim()) {
                *to = self.clip_coordinate(i, x);
            }
        }
    }

    /// Moves a point into the box, coordinate by coordinate.
    ///
    /// # Errors
    /// [`GeometryError::PointLength`], and nothing is moved.
    pub fn clip(&self, point: &mut [f64]) -> Result<(), GeometryError> {
        GeometryError::unless_in(self.dim(), point)?;
        for (i, x) in point.iter_mut().enumerate() {
            *x = self.clip_coordinate(i, *x);
        }
        Ok(())
    }

    /// Whether the point lies in the box; the bounds belong to it, NaN does not, nor does a point with another number of coordinates.
    pub fn contains(&self, point: &[f64]) -> bool {
        if point.len() != self.dim() {
            return false;
        }
        let sides = self.min.iter().zip(&self.max);
        // All of them, so that two are compared at once.
        let outside = point.iter().zip(sides).filter(|(x, (min, max))| !(*x >= min && x <= max));
        outside.count() == 0
    }
}

pub(crate) fn check_side(dimension: usize, min: f64, max: f64) -> Result<(), GeometryError> {
    if !min.is_finite() || !max.is_finite() {
        Err(GeometryError::NonFiniteBound { dimension, min, max })
    } else if min >= max {
        Err(GeometryError::EmptySide { dimension, min, max })
    } else if (max - min).is_infinite() {
        Err(GeometryError::WidthOverflow { dimension, min, max })
    } else {
        Ok(())
    }
}
