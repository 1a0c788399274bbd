//! A closed Euclidean ball that everybody may know.

use serde::{Deserialize, Serialize};

use crate::error::GeometryError;
use crate::public_box::PublicBox;

/// The domain `{x : |x - centre| <= radius}` that the data is declared to lie in.
///
/// Like a [`PublicBox`](crate::PublicBox) it is a **public argument**, never computed from the
/// records. A record outside is not dropped: [`clip`](Self::clip) scales its residual
/// `x - centre` down to the radius, which bounds its contribution to a sum and keeps its direction.
///
/// # Shapes
/// `centre` has `dim` coordinates; `radius` is in data units.
///
/// # Example
/// ```
/// use dp_geometry::PublicBall;
///
/// let unit = PublicBall::new(vec![0.0, 0.0], 1.0)?;
/// let mut record = [30.0, 40.0];
/// unit.clip(&mut record)?;
/// assert!((record[0] - 0.6).abs() < 1e-12 && (record[1] - 0.8).abs() < 1e-12);
/// assert!(record[0].hypot(record[1]) <= 1.0);
/// # Ok::<(), dp_geometry::GeometryError>(())
/// ```
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "PublicBallFields")]
pub struct PublicBall {
    centre: Vec<f64>,
    radius: f64,
}

/// The serialised form, before it is checked.
#[derive(Deserialize)]
#[serde(rename = "PublicBall")]
struct PublicBallFields {
    centre: Vec<f64>,
    radius: f64,
}

impl TryFrom<PublicBallFields> for PublicBall {
    type Error = GeometryError;

    fn try_from(fields: PublicBallFields) -> Result<Self, GeometryError> {
        Self::new(fields.centre, fields.radius)
    }
}

impl PublicBall {
    /// Smallest radius. Below it the rounding of subnormal numbers would be visible, and the
    /// argument that [`clip`](Self::clip) never leaves the ball would no longer hold.
    pub const MIN_RADIUS: f64 = 1e-150;

    /// Largest radius. Its square, and a sum of many of them, still fits in an `f64`.
    pub const MAX_RADIUS: f64 = 1e150;

    /// A ball around `centre`.
    ///
    /// # Errors
    /// No dimension, a NaN or infinite coordinate of the centre, or a radius that is not between
    /// [`MIN_RADIUS`](Self::MIN_RADIUS) and [`MAX_RADIUS`](Self::MAX_RADIUS).
    pub fn new(centre: Vec<f64>, radius: f64) -> Result<Self, GeometryError> {
        if centre.is_empty() {
            return Err(GeometryError::ZeroDimension);
        }
        if let Some(dimension) = centre.iter().position(|x| !x.is_finite()) {
            return Err(GeometryError::NonFiniteCentre { dimension, value: centre[dimension] });
        }
        if !(Self::MIN_RADIUS..=Self::MAX_RADIUS).contains(&radius) {
            return Err(GeometryError::Radius { radius });
        }
        Ok(Self { centre, radius })
    }

    /// A ball around a box, the smallest up to rounding outwards. Far from the origin, where the
    /// middle of the box is rounded, it is larger by as much.
    ///
    /// # Errors
    /// As [`PublicBall::new`], for the radius.
    pub fn around(public_box: &PublicBox) -> Result<Self, GeometryError> {
        let dim = public_box.dim();
        let middle: Vec<f64> = (0..dim).map(|i| public_box.middle(i)).collect();
        let reach = |i: usize| (public_box.max(i) - middle[i]).max(middle[i] - public_box.min(i));
        let longest = (0..dim).map(reach).fold(0.0, f64::max);
        // Scaled by the longest, so that squares neither overflow nor vanish.
        let squares: f64 = (0..dim).map(|i| (reach(i) / longest).powi(2)).sum();
        // The margin covers the rounding of all of this.
        let slack = (dim as f64 + 16.0) * f64::EPSILON;
        Self::new(middle, longest * squares.sqrt() * (1.0 + slack))
    }

    /// Number of dimensions.
    #[inline]
    pub fn dim(&self) -> usize {
        self.centre.len()
    }

    /// The centre.
    #[inline]
    pub fn centre(&self) -> &[f64] {
        &self.centre
    }

    /// The radius, in data units.
    #[inline]
    pub fn radius(&self) -> f64 {
        self.radius
    }

    /// Whether the point lies in the ball, as far as `f64` arithmetic can tell.
    ///
    /// The distance is rounded to nearest, so a point less than about `dim` units in the last place
    /// outside may pass. Whatever [`clip`](Self::clip) returns is inside without this proviso. A
    /// point with a NaN or infinite coordinate is outside, and so is one with another number of coordinates.
    pub fn contains(&self, point: &[f64]) -> bool {
        if point.len() != self.dim() {
            return false;
        }
        let residual = Residual::of(point, &self.centre);
        point.iter().all(|x| x.is_finite()) && residual.half_norm() <= 0.5 * self.radius
    }

    /// Moves a point into the ball by scaling `x - centre` down to the radius.
    ///
    /// The rule is total:
    /// - a NaN coordinate becomes the coordinate of the centre, first of all;
    /// - if there are infinite coordinates they alone give the direction, each with weight one by
    ///   its sign, and the finite coordinates become those of the centre (the limit of points that
    ///   run off in these coordinates at the same rate);
    /// - a point that is inside beyond doubt is left as it is, bit for bit;
    /// - any other point goes to distance `radius * (1 - 4 s)`, `s = (dim + 16) 2^-52`, and each
    ///   coordinate is rounded towards the centre.
    ///
    /// # Precision
    /// The exact, real-valued distance of the result from the centre is at most `radius`: the
    /// margin `4 s` exceeds what all roundings of the norm and of the scaling can add up to. A
    /// point on the surface may move inwards by this relative `4 s`. Clipping twice equals clipping
    /// once. A centre so large that `centre + radius` rounds to `centre` receives every point
    /// outside itself.
    ///
    /// # Complexity
    /// `O(dim)`, no allocation.
    ///
    /// # Errors
    /// [`GeometryError::PointLength`], and nothing is moved.
    pub fn clip(&self, point: &mut [f64]) -> Result<(), GeometryError> {
        GeometryError::unless_in(self.dim(), point)?;
        for (x, &c) in point.iter_mut().zip(&self.centre) {
            if x.is_nan() {
                *x = c;
            }
        }
        // Let u = 2^-53. The computed norm is within a factor 1 +- (dim/2 + 5) u of the true one:
        // each residual and each quotient is off by u, a square by another u, the sum by
        // (dim - 1) u, and the root halves all of that. s/2 = (dim + 16) u is larger.
        let slack = (self.dim() as f64 + 16.0) * f64::EPSILON;
        let residual = Residual::of(point, &self.centre);
        if residual.half_norm() * (1.0 + slack) <= 0.5 * self.radius {
            return Ok(());
        }
        let step = self.radius * (1.0 - 4.0 * slack) / residual.norm_over_largest;
        for (x, &c) in point.iter_mut().zip(&self.centre) {
            // Products underflow only where they are below 1e-300 of the radius.
            let move_by = step * residual.direction(*x, c);
            *x = towards(c, move_by);
        }
        Ok(())
    }
}

/// `c + move_by`, rounded towards `c`, so that rounding cannot carry a point out of the ball.
fn towards(c: f64, move_by: f64) -> f64 {
    let x = c + move_by;
    if (x - c).abs() <= move_by.abs() {
        x
    } else if x > c {
        x.next_down()
    } else {
        x.next_up()
    }
}

/// `x - centre` in the form `2 * largest * direction`, where no step can overflow.
struct Residual {
    /// Half of the largest absolute coordinate; infinite if a coordinate is.
    half_largest: f64,
    /// Norm of the direction: between 1 and the root of the dimension, or 0 at the centre.
    norm_over_largest: f64,
}

impl Residual {
    fn of(point: &[f64], centre: &[f64]) -> Self {
        let pairs = || point.iter().zip(centre);
        let half_largest = pairs().map(|(&x, &c)| half_residual(x, c).abs()).fold(0.0, f64::max);
        let mut residual = Self { half_largest, norm_over_largest: 0.0 };
        let squares: f64 = pairs().map(|(&x, &c)| residual.direction(x, c).powi(2)).sum();
        residual.norm_over_largest = squares.sqrt();
        residual
    }

    /// One coordinate of the direction, in `[-1, 1]`.
    fn direction(&self, x: f64, c: f64) -> f64 {
        if self.half_largest == 0.0 {
            0.0
        } else if self.half_largest.is_infinite() {
            if x.is_infinite() { x.signum() } else { 0.0 }
        } else {
            half_residual(x, c) / self.half_largest
        }
    }

    fn half_norm(&self) -> f64 {
        self.half_largest * self.norm_over_largest
    }
}

/// Half of `x - c`: the difference itself overflows for finite numbers at opposite ends.
fn half_residual(x: f64, c: f64) -> f64 {
    0.5 * x - 0.5 * c
}
