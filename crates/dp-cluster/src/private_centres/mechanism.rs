//! The plan and its one code path.

use dp_accounting::{AddRemove, Receipt, Step};
use dp_geometry::PointsView;
use dp_mechanism::{Algorithm, Draws, Private};
use serde::{Deserialize, Serialize};

use super::candidates::CandidatePlan;
use super::params::Asked;
use super::{Candidates, PrivateCentresSettings, ShiftedGrid};
use crate::ClusterError;

/// Releases candidate centres. See the [module](super).
///
/// # Guarantee
/// `(epsilon, delta)`-DP under [`AddRemove`] for the budget given. A record is in one cell of each grid: counts and sums are Gaussian, composed by
/// their exact curve, outside of the mass with which a cell of one record reaches a threshold, which is a tenth of delta over all grids.
///
/// # Utility
/// A candidate is the mean of the records of its cell, off by noise of about `sqrt(d) radius / mu` over their number, `radius` half of the
/// cell's diagonal. A cluster of diameter `s` sides of a cell is whole in one with probability at least `(1 - s)^d`; so with `R` repetitions it has
/// a candidate within the diagonal of such a cell of each of its records except with probability `(1 - (1 - s)^d)^R`, if it has more records
/// than [`threshold`](Self::threshold) and a few deviations of the noise.
///
/// # Complexity
/// For each grid `O(n (d + log n))` and `8 n d` bytes.
///
/// # Shapes and units
/// Points `(n, d)`; any number of candidates, in the units of the points and inside of the public box. None if no cell is full enough.
///
/// # Bad records
/// A coordinate outside of the box counts as on its boundary; NaN counts as the middle of the box.
/// Whether a release succeeds does not depend on the data, which may be empty.
///
/// # What is not protected
/// Running time depends on the data.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "Asked", into = "Asked")]
pub struct PrivateCentres {
    pub(super) asked: Asked,
    pub(super) plan: CandidatePlan,
}

impl PrivateCentres {
    /// The least noisy count of a cell that is kept.
    pub fn threshold(&self) -> i64 {
        self.plan.threshold()
    }

    /// The diagonal of a cell of this level, in the units of the points.
    pub fn cell_diagonal(&self, level: u32) -> f64 {
        ShiftedGrid::side(level) * self.asked.public_box.diagonal()
    }
}

impl Algorithm for PrivateCentres {
    type Relation = AddRemove;
    type Data<'a> = PointsView<'a>;
    /// The dimension.
    type Shape = usize;
    type Output = Candidates;
    type Error = ClusterError;

    fn cost(&self) -> Receipt<AddRemove> {
        let spent = Step::sequential("all steps", vec![self.plan.spent()]);
        Receipt::new("private-centres", AddRemove, self.asked.budget, spent)
    }

    fn shape(points: &PointsView<'_>) -> usize {
        points.dim()
    }

    /// # Errors
    /// [`ClusterError::Dimension`] if the points do not have the dimension of the public box.
    fn check(&self, &dim: &usize) -> Result<(), ClusterError> {
        ClusterError::unless_equal(self.asked.public_box.dim(), dim)
    }

    fn run(&self, points: Private<PointsView<'_>>, draws: &mut Draws<'_>) -> Candidates {
        let PrivateCentresSettings { repetitions, public_seed, .. } = self.asked.settings;
        let found = self.plan.run(points, draws);
        Candidates::new(found, repetitions, self.asked.k, public_seed)
    }
}

impl TryFrom<Asked> for PrivateCentres {
    type Error = ClusterError;

    fn try_from(asked: Asked) -> Result<Self, ClusterError> {
        Self::new(asked.public_box, asked.k, asked.budget, asked.settings)
    }
}

impl From<PrivateCentres> for Asked {
    fn from(plan: PrivateCentres) -> Self {
        plan.asked
    }
}
