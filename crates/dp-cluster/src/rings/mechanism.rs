//! Ring rounds as a mechanism of their own.

use dp_accounting::{AddRemove, Receipt, Step};
use dp_geometry::PointsView;
use dp_mechanism::passes::{ByPasses, Counted, Next, TableError};
use dp_mechanism::{Algorithm, Draws, Private};
use serde::{Deserialize, Serialize};

use super::params::Asked;
use super::plan::{RingPlan, RingState};
use crate::passes::{Question, asks, in_memory};
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
#[serde(try_from = "Asked", into = "Asked")]
pub struct RingRounds {
    pub(super) asked: Asked,
    pub(super) plan: RingPlan,
}

impl RingRounds {
    /// Standard deviation of the noise in a cell's count, in records, in the last round.
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
        Receipt::new("ring-rounds", AddRemove, self.asked.budget, spent)
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
        in_memory(points, self.first(), |state, counted| self.answer(state, counted, draws))
    }
}

/// Where a release stands between two questions.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct RingsState(Option<RingState>);

/// One pass for the number of records, and at most two per round.
impl ByPasses for RingRounds {
    type Question = Question;
    type State = RingsState;

    fn identity(&self) -> impl Serialize {
        &self.asked
    }

    fn shape_of(&self, question: &Question, _: u64) -> usize {
        question.dim()
    }

    fn fits(&self, state: &RingsState, question: &Question) -> Result<(), TableError> {
        match &state.0 {
            None => asks(question, &self.first().1),
            Some(state) => self.plan.fits(state, question),
        }
    }

    fn first(&self) -> (RingsState, Question) {
        (RingsState(None), Question::rows(self.asked.public_box.dim()))
    }

    fn answer(
        &self,
        RingsState(state): RingsState,
        counted: &Counted,
        draws: &mut Draws<'_>,
    ) -> Next<RingsState, Question, Clustering> {
        let next = match state {
            None => {
                let (state, question) = self.plan.first(counted.rows, draws);
                Next::Ask(state, question)
            }
            Some(state) => self.plan.answer(state, counted, draws),
        };
        match next {
            Next::Ask(state, question) => Next::Ask(RingsState(Some(state)), question),
            Next::Done(found) => Next::Done(found.clustering),
        }
    }
}

impl TryFrom<Asked> for RingRounds {
    type Error = ClusterError;

    fn try_from(asked: Asked) -> Result<Self, ClusterError> {
        Self::new(asked.public_box, asked.k, asked.budget, asked.settings)
    }
}

impl From<RingRounds> for Asked {
    fn from(plan: RingRounds) -> Self {
        plan.asked
    }
}
