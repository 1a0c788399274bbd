//! On which side of every plane a point lies.

use crate::PointsView;
use crate::error::GeometryError;

/// Planes per block: sixteen running sums are half of the registers of the oldest 64-bit machines.
const LANES: usize = 16;

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
    origin: Vec<f64>,
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
        Ok(Self { lanes, origin: vec![0.0; dim], dim, planes })
    }

    /// How many planes there are.
    pub fn planes(&self) -> usize {
        self.planes
    }

    /// The first `planes` bits of the key. Coordinates that are missing count as zero; a product that is not a number is not positive.
    #[inline]
    pub fn key(&self, point: &[f64], planes: usize) -> u32 {
        self.key_around(&self.origin, point, planes)
    }

    /// The same for planes through another point than the origin: [`key`](Self::key) of the difference.
    #[inline]
    pub fn key_around(&self, centre: &[f64], point: &[f64], planes: usize) -> u32 {
        let planes = planes.min(self.planes);
        let mut key = 0;
        let blocks = self.lanes.chunks_exact(self.dim).zip((0..planes).step_by(LANES));
        for (block, first) in blocks {
            let bits = match planes - first {
                1 | 2 => sides::<2>(centre, point, block),
                3 | 4 => sides::<4>(centre, point, block),
                5 | 6 => sides::<6>(centre, point, block),
                7 | 8 => sides::<8>(centre, point, block),
                9 | 10 => sides::<10>(centre, point, block),
                11 | 12 => sides::<12>(centre, point, block),
                _ => sides::<LANES>(centre, point, block),
            };
            key |= bits << first;
        }
        // A lane more than planes makes an even number.
        if planes < 32 { key & ((1 << planes) - 1) } else { key }
    }

    /// How likely the first `planes` bits of two points are the same, over random normal vectors, if they are seen from the origin at
    /// this angle; one that is not between 0 and pi counts as the nearer of these.
    pub fn collision_probability(angle: f64, planes: usize) -> f64 {
        (1.0 - angle / std::f64::consts::PI).clamp(0.0, 1.0).powf(planes as f64)
    }
}

/// A bit for each of the first planes of a block, set on the side that its normal vector points to.
#[inline]
fn sides<const PLANES: usize>(centre: &[f64], point: &[f64], block: &[[f64; LANES]]) -> u32 {
    let mut sums = [0.0; PLANES];
    for ((x, c), group) in point.iter().zip(centre).zip(block) {
        let x = x - c;
        for (sum, normal) in sums.iter_mut().zip(group) {
            *sum += x * normal;
        }
    }
    (0..).zip(&sums).fold(0, |bits, (lane, sum)| bits | u32::from(*sum > 0.0) << lane)
}
