//! On which side of every plane a point lies.

use crate::PointsView;
use crate::error::GeometryError;

/// Planes per block: eight running sums are four registers of the oldest 64-bit machines.
const LANES: usize = 8;

/// Planes through the origin; the key of a point has a bit for each, set on the positive side.
///
/// Two points at an angle `a` seen from the origin differ in the bit of a plane with a random normal vector with probability `a / pi`.
///
/// # Complexity
/// `O(dim planes)` for a key; no allocation.
///
/// # Example
/// ```
/// use dp_geometry::PointsView;
/// use dp_geometry::lsh::SignProjections;
///
/// let planes = SignProjections::new(PointsView::new(&[1.0, 0.0, 0.0, 1.0], 2)?)?;
/// assert_eq!(planes.key(&[3.0, -1.0], 2), 0b01);
/// assert_eq!(planes.key(&[-3.0, 1.0], 2), 0b10);
/// # Ok::<(), dp_geometry::GeometryError>(())
/// ```
///
/// # Source
/// Charikar, Similarity estimation techniques from rounding algorithms (2002).
#[derive(Clone, Debug, PartialEq)]
pub struct SignProjections {
    /// `(blocks, dim)` groups of [`LANES`] normal vectors' coordinates; unused lanes are zero.
    lanes: Vec<[f64; LANES]>,
    dim: usize,
    planes: usize,
}

impl SignProjections {
    /// Most planes: a key has 32 bits.
    pub const MAX_PLANES: usize = 32;

    /// One plane per normal vector, such as those of [`normal_directions`](super::normal_directions).
    ///
    /// # Errors
    /// [`GeometryError::Projections`] if there are more than [`MAX_PLANES`](Self::MAX_PLANES).
    pub fn new(normals: PointsView<'_>) -> Result<Self, GeometryError> {
        let (planes, dim) = (normals.len(), normals.dim());
        if planes > Self::MAX_PLANES {
            return Err(GeometryError::Projections { got: planes, most: Self::MAX_PLANES });
        }
        let mut lanes = vec![[0.0; LANES]; planes.div_ceil(LANES) * dim];
        for (plane, normal) in normals.rows().enumerate() {
            let block = &mut lanes[plane / LANES * dim..][..dim];
            for (group, &x) in block.iter_mut().zip(normal) {
                group[plane % LANES] = x;
            }
        }
        Ok(Self { lanes, dim, planes })
    }

    /// How many planes there are.
    pub fn planes(&self) -> usize {
        self.planes
    }

    /// The first `planes` bits of the key. Coordinates that are missing count as zero; a product that is not a number is not positive.
    #[inline]
    pub fn key(&self, point: &[f64], planes: usize) -> u32 {
        let planes = planes.min(self.planes);
        let mut key = 0;
        let blocks = self.lanes.chunks_exact(self.dim).take(planes.div_ceil(LANES));
        for (b, block) in blocks.enumerate() {
            // Eight planes at once; one bit each, set on the side that the normal points to.
            let mut sums = [0.0; LANES];
            for (x, group) in point.iter().zip(block) {
                for (sum, normal) in sums.iter_mut().zip(group) {
                    *sum += x * normal;
                }
            }
            for (lane, sum) in sums.iter().enumerate().take(planes - b * LANES) {
                key |= u32::from(*sum > 0.0) << (b * LANES + lane);
            }
        }
        key
    }

    /// How likely the first `planes` bits of two points are the same, over random normal vectors, if they are seen from the origin at
    /// this angle between 0 and pi.
    pub fn collision_probability(angle: f64, planes: usize) -> f64 {
        (1.0 - angle / std::f64::consts::PI).powf(planes as f64)
    }
}
