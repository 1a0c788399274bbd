//! Strips of equal width across random directions.

use std::f64::consts::{FRAC_1_SQRT_2, PI};

use rand::{Rng, RngExt};

use super::normal_directions;
use crate::error::GeometryError;

/// Each of several random directions is cut into strips of one width; the key of a point has the number of its strip in each,
/// `floor((a x + b) / width)` with `a` standard normal in every coordinate and `b` uniform in `[0, width)`.
///
/// Two points at distance `t` are in the same strip with probability `P(width / t)`, whatever the dimension, where
/// `P(s) = 1 - 2 Phi(-s) - 2 (1 - exp(-s^2 / 2)) / (sqrt(2 pi) s)`, since `a x - a y` is normal with standard deviation `t`.
///
/// # Complexity
/// `O(dim directions)` for a key; no allocation.
///
/// # Example
/// ```
/// use dp_geometry::lsh::StableProjections;
/// use rand::SeedableRng;
///
/// let mut coins = rand::rngs::ChaCha20Rng::seed_from_u64(1); // public
/// let hash = StableProjections::new(2, 6, 8.0, &mut coins)?;
/// let (mut near, mut far) = ([0; 6], [0; 6]);
/// hash.key(&[0.0, 0.0], &mut near);
/// hash.key(&[90.0, -70.0], &mut far);
/// assert_ne!(near, far);
/// assert!(hash.collision_probability(0.5) > 0.7 && hash.collision_probability(50.0) < 1e-5);
/// # Ok::<(), dp_geometry::GeometryError>(())
/// ```
///
/// # Source
/// Datar, Immorlica, Indyk, Mirrokni, Locality-sensitive hashing scheme based on p-stable distributions (2004), for the Euclidean norm.
#[derive(Clone, Debug, PartialEq)]
pub struct StableProjections {
    /// `(count, dim)`, in units of the width.
    directions: Vec<f64>,
    /// In units of the width.
    offsets: Vec<f64>,
    dim: usize,
    width: f64,
}

impl StableProjections {
    /// The most coordinates of all directions together.
    pub const MAX_COORDINATES: usize = 1 << 27;

    /// `count` directions in `dim` dimensions, with strips of this width.
    ///
    /// # Errors
    /// [`GeometryError::ZeroDimension`] without a dimension, [`GeometryError::Width`] unless the width is positive and finite.
    pub fn new<R: Rng + ?Sized>(
        dim: usize,
        count: usize,
        width: f64,
        rng: &mut R,
    ) -> Result<Self, GeometryError> {
        if dim == 0 {
            return Err(GeometryError::ZeroDimension);
        }
        if count.checked_mul(dim).is_none_or(|all| all > Self::MAX_COORDINATES) {
            return Err(GeometryError::Directions { count, dim });
        }
        if !(width > 0.0 && width.is_finite() && width.recip().is_finite()) {
            return Err(GeometryError::Width { got: width });
        }
        let directions = normal_directions(count, dim, rng).into_iter().map(|x| x / width);
        let directions = directions.collect();
        let offsets = (0..count).map(|_| rng.random()).collect();
        Ok(Self { directions, offsets, dim, width })
    }

    /// Numbers in a key: the directions.
    pub fn len(&self) -> usize {
        self.offsets.len()
    }

    /// Whether all keys are empty.
    pub fn is_empty(&self) -> bool {
        self.offsets.is_empty()
    }

    /// Writes the key. Coordinates that are missing count as zero, strips end at the ends of `i64`, and what is not a number is in strip 0.
    #[inline]
    pub fn key(&self, point: &[f64], key: &mut [i64]) {
        let directions = self.directions.chunks_exact(self.dim).zip(&self.offsets);
        for (strip, (direction, offset)) in key.iter_mut().zip(directions) {
            let along = direction.iter().zip(point).fold(*offset, |sum, (a, x)| sum + a * x);
            #[allow(clippy::cast_possible_truncation, reason = "the saturating cast is the rule")]
            {
                *strip = along.floor() as i64;
            }
        }
    }

    /// How likely two points at this distance have the same key, over the directions and offsets.
    pub fn collision_probability(&self, distance: f64) -> f64 {
        let s = self.width / distance;
        // Two points at this distance are apart by |Z| / s strips along a direction, with Z normal, and share a strip with probability
        // (1 - |Z| / s)+ : the mean of it is P(|Z| < s) - E[|Z|; |Z| < s] / s (Datar, Immorlica, Indyk, Mirrokni 2004, section 3.2).
        // Twice the mass beyond s is erfc(s / sqrt(2)).
        let outside = libm::erfc(s * FRAC_1_SQRT_2);
        let across = 2.0 * -(-0.5 * s * s).exp_m1() / ((2.0 * PI).sqrt() * s);
        let one = if distance == 0.0 { 1.0 } else { (1.0 - outside - across).max(0.0) };
        one.powf(self.len() as f64)
    }
}
