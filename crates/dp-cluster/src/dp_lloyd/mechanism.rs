//! The plan and its one code path.

use dp_accounting::{AddRemove, Receipt};
use dp_geometry::{Points, PointsView};
use dp_mechanism::{Algorithm, Draws, Private};
use serde::{Deserialize, Serialize};

use super::budget::Primitives;
use super::params::Asked;
use crate::clustering::records;
use crate::nearest::{CentreTable, NearestCentre};
use crate::sized_sum::box_residual;
use crate::table::sum_rows;
use crate::{ClusterError, Clustering};

/// A checked and calibrated DP-Lloyd plan. See the [module](super).
///
/// # Complexity
/// `O(n k d)` per iteration; per thread `8 k (d + 2)` bytes beyond the input.
///
/// # Shapes and units
/// Points `(n, d)`; `k` centres `(k, d)` in the units of the points, inside the public box. A cluster
/// whose noisy size is within its noise keeps its centre, so there are always `k`.
///
/// # Bad records
/// A coordinate outside of the box counts as on its boundary; NaN counts as the middle of the box.
/// Whether a release succeeds does not depend on the data, which may be empty.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "Asked", into = "Asked")]
pub struct DpLloyd {
    pub(super) asked: Asked,
    pub(super) primitives: Primitives,
    pub(super) start: Points,
}

impl DpLloyd {
    /// The number of iterations.
    pub fn iterations(&self) -> usize {
        self.primitives.iterations
    }

    /// The centres of the start, which do not depend on any record.
    pub fn start(&self) -> &Points {
        &self.start
    }

    /// Assigns every record to its nearest centre and sums per cluster. Centres are relative to the
    /// middle of the box, as the sums are.
    fn sums(&self, points: PointsView<'_>, centres: &[f64]) -> Vec<i64> {
        let (public_box, sized) = (&self.asked.public_box, &self.primitives.sized);
        let (dim, width) = (points.dim(), sized.width());
        let table = CentreTable::new(PointsView::new(centres, dim).expect("whole rows"));
        let residual = || vec![0.0; dim];
        sum_rows(points, self.asked.k * width, residual, |residual, _, row, sums| {
            box_residual(public_box, row, residual);
            let label = table.two_nearest(residual).label as usize;
            sized.add(residual, &mut sums[label * width..][..width]);
        })
    }
}

impl Algorithm for DpLloyd {
    type Relation = AddRemove;
    type Data<'a> = PointsView<'a>;
    /// The dimension.
    type Shape = usize;
    /// The counts are those before the last move of the centres.
    type Output = Clustering;
    type Error = ClusterError;

    fn cost(&self) -> Receipt<AddRemove> {
        Receipt::new("dp-lloyd", AddRemove, self.asked.budget, self.primitives.spent())
    }

    fn shape(points: &PointsView<'_>) -> usize {
        points.dim()
    }

    /// # Errors
    /// [`ClusterError::Dimension`] if the points do not have the dimension of the public box.
    fn check(&self, &dim: &usize) -> Result<(), ClusterError> {
        ClusterError::unless_equal(self.asked.public_box.dim(), dim)
    }

    fn run(&self, points: Private<PointsView<'_>>, draws: &mut Draws<'_>) -> Clustering {
        let (public_box, sized) = (&self.asked.public_box, &self.primitives.sized);
        let dim = public_box.dim();
        let half = |i| 0.5 * public_box.width(i);
        let mut centres = self.start.view().coords().to_vec();
        for centre in centres.chunks_exact_mut(dim) {
            centre.iter_mut().enumerate().for_each(|(i, x)| *x -= public_box.middle(i));
        }
        let mut sizes = vec![0.0; self.asked.k];
        // Below this, a mean would be mostly noise.
        let least = (2.0 * self.primitives.size_standard_deviation()).max(1.0);
        for iteration in 0..self.primitives.iterations {
            let sums = points.map(|points| self.sums(points, &centres));
            let sums = sums.cells(self.asked.k * sized.width());
            let clusters = sums.view().chunks(sized.width()).zip(&mut sizes);
            let moved = clusters.zip(centres.chunks_exact_mut(dim));
            for (cluster, ((sum, size), centre)) in (0..).zip(moved) {
                let noisy = self.primitives.release((iteration, cluster), sum, draws);
                *size = noisy.1;
                if *size >= least {
                    for (i, (x, &units)) in centre.iter_mut().zip(&noisy.0).enumerate() {
                        *x = (sized.length(units) / *size).clamp(-half(i), half(i));
                    }
                }
            }
        }
        let back = |(at, x): (usize, &f64)| {
            let i = at % dim;
            public_box.clip_coordinate(i, public_box.middle(i) + x)
        };
        let coords = centres.iter().enumerate().map(back).collect();
        let counts = sizes.into_iter().map(records).collect();
        Clustering::of(Points::new(coords, dim).expect("whole rows"), counts)
    }
}

impl TryFrom<Asked> for DpLloyd {
    type Error = ClusterError;

    fn try_from(asked: Asked) -> Result<Self, ClusterError> {
        Self::new(asked.public_box, asked.k, asked.budget, asked.settings)
    }
}

impl From<DpLloyd> for Asked {
    fn from(plan: DpLloyd) -> Self {
        plan.asked
    }
}
