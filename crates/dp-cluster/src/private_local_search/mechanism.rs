//! The plan and its one code path.

use dp_accounting::{AddRemove, Receipt, Step};
use dp_geometry::PointsView;
use dp_mechanism::{Algorithm, Draws, NoisyCount, Private};
use serde::{Deserialize, Serialize};

use super::choices::SwapPlan;
use super::params::Asked;
use crate::clustering::sizes;
use crate::{ClusterError, Clustering};

/// Chooses centres among candidates. See the [module](super).
///
/// # Guarantee
/// Under [`AddRemove`], `(epsilon, delta)`-DP for the budget given, and `epsilon`-DP if delta is zero. A record adds between nothing and the cost of the
/// box's diagonal to the cost of every set, so a choice has a bounded range: with `exp(eta cost / range)` it is `eta`-DP, half of what a
/// sensitivity of either sign would cost, and `eta^2 / 8`-zCDP. Choices compose as pure losses without a delta, and as zCDP with one.
/// Candidates must be public or released already; what they cost comes on top.
///
/// # Utility
/// Every choice stays within [`forecast`](Self::forecast) of the best swap. Without noise, a local optimum costs at most 5 times the best `k` of the
/// candidates for sums of distances and 25 times for sums of squares.
///
/// # Complexity
/// `O(n m d)` for each swap over `m` candidates; `8 (k + 1) m` bytes per thread.
///
/// # Shapes and units
/// Records `(n, d)`, candidates `(m, d)`, moved into the box; `k` centres and noisy sizes, or `m` if that is less.
///
/// # Bad records
/// A coordinate outside of the box counts as on its boundary; NaN counts as the middle of the box.
/// Whether a release succeeds does not depend on the data, which may be empty.
///
/// # Precision
/// Costs are integers of `2^-20` of that of the diagonal.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "Asked", into = "Asked")]
pub struct PrivateLocalSearch {
    pub(super) asked: Asked,
    pub(super) start: Vec<usize>,
    pub(super) plan: SwapPlan,
    pub(super) sizes: NoisyCount,
}

/// The step of the receipt that pays for one size.
pub(crate) const SIZE: &str = "size of one cluster";

impl PrivateLocalSearch {
    /// By how much what one choice results in may cost more than the best swap would, except with probability `beta`; without end if that is no
    /// number above 0.
    pub fn forecast(&self, beta: f64) -> f64 {
        self.plan.forecast(self.asked.candidates.len(), beta)
    }
}

impl Algorithm for PrivateLocalSearch {
    type Relation = AddRemove;
    type Data<'a> = PointsView<'a>;
    /// The dimension.
    type Shape = usize;
    type Output = Clustering;
    type Error = ClusterError;

    fn cost(&self) -> Receipt<AddRemove> {
        let sizes = Step::parallel("sizes", vec![Step::spend(SIZE, self.sizes.loss())]);
        let spent = Step::sequential("all steps", vec![self.plan.spent(), sizes]);
        Receipt::new("private-local-search", AddRemove, self.asked.budget, spent)
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
        let candidates = self.asked.candidates.view();
        let centres = self.plan.run(points, candidates, self.start.clone(), draws);
        sizes(points, centres, &self.asked.public_box, &self.sizes, SIZE, draws)
    }
}

impl TryFrom<Asked> for PrivateLocalSearch {
    type Error = ClusterError;

    fn try_from(asked: Asked) -> Result<Self, ClusterError> {
        Self::new(asked.candidates, asked.public_box, asked.k, asked.budget, asked.settings)
    }
}

impl From<PrivateLocalSearch> for Asked {
    fn from(plan: PrivateLocalSearch) -> Self {
        plan.asked
    }
}
