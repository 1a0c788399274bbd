//! Ring rounds as a mechanism of their own.

use dp_accounting::{AddRemove, Budget, Receipt, Step};
use dp_geometry::{PointsView, PublicBox};
use dp_mechanism::{Algorithm, Draws, Private};
use serde::{Deserialize, Serialize};

use super::RingRoundsBuilder;
use super::plan::RingPlan;
use crate::{ClusterError, Clustering};

/// A checked and calibrated plan of ring rounds. See the [module](super).
///
/// # Complexity
/// A round takes `O(n d)` for points well inside of their cluster and `O(n k d)` at worst, a draw for each of at most `22 * 1024` cells
/// per centre (about `200 n mu / sqrt(d)` cells in all), and k-means on the groups. `20 n` bytes beyond the input, and
/// `8 d` per group and thread.
///
/// # Shapes and units
/// Points `(n, d)`; at most `k` centres `(k, d)` in the units of the points, inside the public box. There are fewer if there are fewer
/// groups; there is always one.
///
/// # Bad records
/// A coordinate outside of the box counts as on its boundary; NaN counts as the middle of the box.
/// Whether a release succeeds does not depend on the data, which may be empty.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "RingRoundsBuilder", into = "RingRoundsBuilder")]
pub struct RingRounds {
    pub(super) settings: RingRoundsBuilder,
    pub(super) plan: RingPlan,
}

impl RingRounds {
    /// Settings for points in this public box, to be put in `k` clusters within this budget.
    pub fn builder(public_box: PublicBox, k: usize, budget: Budget) -> RingRoundsBuilder {
        RingRoundsBuilder::new(public_box, k, budget)
    }

    /// Standard deviation of the noise in a cell's count, in records.
    pub fn count_standard_deviation(&self) -> f64 {
        self.plan.count_standard_deviation()
    }
}

impl Algorithm for RingRounds {
    type Relation = AddRemove;
    type Data<'a> = PointsView<'a>;
    /// The dimension.
    type Shape = usize;
    type Output = Clustering;
    type Error = ClusterError;

    fn cost(&self) -> Receipt<AddRemove> {
        let spent = Step::sequential("all steps", vec![self.plan.spent()]);
        Receipt::new("ring-rounds", AddRemove, self.settings.budget, spent)
    }

    fn shape(points: &PointsView<'_>) -> usize {
        points.dim()
    }

    /// # Errors
    /// [`ClusterError::Dimension`] if the points do not have the dimension of the public box.
    fn check(&self, &dim: &usize) -> Result<(), ClusterError> {
        self.plan.check(dim)
    }

    fn run(&self, points: Private<PointsView<'_>>, draws: &mut Draws<'_>) -> Clustering {
        self.plan.run(points, draws)
    }
}

impl TryFrom<RingRoundsBuilder> for RingRounds {
    type Error = ClusterError;

    fn try_from(settings: RingRoundsBuilder) -> Result<Self, ClusterError> {
        settings.build()
    }
}

impl From<RingRounds> for RingRoundsBuilder {
    fn from(plan: RingRounds) -> Self {
        plan.settings
    }
}
